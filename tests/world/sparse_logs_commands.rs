//! Logs of sparse components that commands change, against the logs of a column.

use phalanx::prelude::*;

use crate::common::components::sound;
use crate::common::world;

use super::relations::ChildOf;

#[component(sparse, plain)]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Points(u32);

#[component]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Column(u32);

#[test]
fn a_gain_by_commands_has_the_value_of_their_combined_effect() {
    let mut world = world();
    let entity = world.spawn(());
    let mut sparse = world.cursor::<Insertions<Points>>();
    let mut column = world.cursor::<Insertions<Column>>();
    let mut buffer = world.command_buffer(1).unwrap();
    buffer.insert(entity, (Column(1), Points(1)));
    buffer.insert(entity, (Column(2), Points(2)));
    let new = buffer.spawn((Column(3), Points(3)));
    buffer.insert(new, (Column(4), Points(4)));
    world.apply(&mut buffer).unwrap();
    assert_eq!(column.read(&world), (&[entity, new][..], &[2, 4].map(Column)[..]));
    assert_eq!(sparse.read(&world), (&[entity, new][..], &[2, 4].map(Points)[..]));
}

#[test]
fn a_gain_has_the_value_of_the_commands_before_the_barrier() {
    let mut world = world();
    let entity = world.spawn(());
    let mut gained = world.cursor::<Insertions<Points>>();
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.insert(entity, Points(1));
    buffer.insert(entity, Points(2));
    buffer.run(|_| ());
    buffer.insert(entity, Points(3));
    world.apply(&mut buffer).unwrap();
    assert_eq!(gained.read(&world), (&[entity][..], &[Points(2)][..]));
}

#[test]
fn a_relation_gained_by_commands_has_the_target_that_it_has_after_them() {
    let mut world = world();
    let [one, other] = [(); 2].map(|()| world.spawn(()));
    let mut gained = world.cursor::<Insertions<ChildOf>>();
    let mut buffer = world.command_buffer(1).unwrap();
    let child = buffer.spawn(ChildOf::of(one));
    buffer.insert(child, ChildOf::of(other));
    world.apply(&mut buffer).unwrap();
    assert_eq!(gained.read(&world), (&[child][..], &[ChildOf::of(other)][..]));
}

#[test]
fn a_loss_by_commands_has_a_value_that_the_entity_had() {
    for has_relations in [false, true] {
        for is_despawn in [false, true] {
            let mut world = world();
            if has_relations {
                let [child, parent] = [(); 2].map(|()| world.spawn(()));
                world.insert(child, ChildOf::of(parent)).unwrap();
            }
            let entity = world.spawn(Points(1));
            let mut lost = world.cursor::<Removals<Points>>();
            let mut buffer = world.command_buffer(0).unwrap();
            buffer.insert(entity, Points(2));
            match is_despawn {
                true => buffer.despawn(entity),
                false => buffer.remove::<Points>(entity),
            }
            world.apply(&mut buffer).unwrap();
            let (entities, values) = lost.read(&world);
            assert_eq!(entities, [entity]);
            assert!([Points(1), Points(2)].contains(&values[0]), "{values:?}");
        }
    }
}

#[test]
fn an_entity_of_commands_alone_causes_no_entry_even_if_it_is_gone() {
    #[component(cleanup)]
    struct Handle(u32);

    for has_relations in [false, true] {
        let mut world = world();
        if has_relations {
            let parent = world.spawn(());
            world.spawn(ChildOf::of(parent));
        }
        let mut gained = world.cursor::<Insertions<Points>>();
        let mut lost = world.cursor::<Removals<Points>>();
        let mut handles = world.cursor::<Insertions<Handle>>();
        let mut buffer = world.command_buffer(1).unwrap();
        let entity = buffer.spawn((Handle(1), Points(1)));
        buffer.despawn(entity);
        world.apply(&mut buffer).unwrap();
        assert_eq!(handles.read(&world).0, [entity]);
        assert!(gained.read(&world).0.is_empty() && lost.read(&world).0.is_empty());
        sound(&world);
    }
}

#[test]
fn a_reader_after_a_system_with_a_view_sees_it_in_the_same_run() {
    #[derive(Default)]
    struct Seen(Vec<Vec<Entity>>);
    fn award(rows: Query<(Entity, &Column)>, mut points: SparseMut<Points>) {
        for (entity, column) in rows.rows() {
            points.insert(entity, Points(column.0)).unwrap();
        }
    }
    fn see(mut gained: Inserted<Points>, mut seen: ResMut<Seen>) {
        seen.0.push(gained.read().0.to_vec());
    }
    let mut world = world();
    let entity = world.spawn(Column(1));
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(award);
    schedule.add(see).after(award);
    schedule.run(&mut world).unwrap();
    assert_eq!(world.resource::<Seen>().unwrap().0, [vec![entity]]);
}

fn next(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *state >> 8
}

/// Gives the buffer some commands, of which each treats both components alike.
fn command(buffer: &mut CommandBuffer, mut ids: Vec<Entity>, state: &mut u32) -> Vec<u32> {
    let steps = 0..2 + next(state) % 6;
    let calls = steps.map(|step| {
        let id = ids[next(state) as usize % ids.len()];
        let call = next(state) % 7;
        match call {
            0 | 1 => buffer.insert(id, (Column(step), Points(step))),
            2 => buffer.remove::<(Column, Points)>(id),
            3 => buffer.despawn(id),
            4 => ids.push(buffer.spawn((Column(step), Points(step)))),
            5 => buffer.run(|_| ()),
            _ => buffer.spawn_batch([(Column(step), Points(step))]),
        }
        call
    });
    calls.collect()
}

/// The entries of a log, in the order of the entities.
fn sorted<V>(rows: (&[Entity], &[V]), number: impl Fn(&V) -> u32) -> Vec<(Entity, u32)> {
    let mut entries: Vec<_> = rows.0.iter().copied().zip(rows.1.iter().map(number)).collect();
    entries.sort_unstable();
    entries
}

#[test]
fn commands_cause_the_entries_of_columns() {
    let mut state = 7;
    for round in 0..500 {
        let mut world = world();
        let ids = vec![
            world.spawn((Column(90), Points(90))),
            world.spawn(()),
            world.spawn((Column(91), Points(91))),
        ];
        let mut gained = world.cursor::<Insertions<Points>>();
        let mut gained_columns = world.cursor::<Insertions<Column>>();
        let mut lost = world.cursor::<Removals<Points>>();
        let mut lost_columns = world.cursor::<Removals<Column>>();
        let mut buffer = world.command_buffer(8).unwrap();
        buffer.on_dead_entity(DeadEntityPolicy::Ignore);
        let calls = command(&mut buffer, ids, &mut state);
        world.apply(&mut buffer).unwrap();
        let text = format!("round {round}: {calls:?}");
        let gains = sorted(gained.read(&world), |value| value.0);
        assert_eq!(gains, sorted(gained_columns.read(&world), |value| value.0), "{text}");
        let losses = sorted(lost.read(&world), |_| 0);
        assert_eq!(losses, sorted(lost_columns.read(&world), |_| 0), "{text}");
        sound(&world);
    }
}
