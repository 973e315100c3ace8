//! Guards that are forgotten: calls that borrow the world exclusively ignore them.

#![expect(clippy::forget_non_drop, reason = "nothing is dropped today; the promise is for ever")]

use std::mem::forget;

use phalanx::prelude::*;

#[component]
#[derive(Debug, PartialEq)]
struct Health(u32);

#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Score(u32);

#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Name(String);

/// A world with a resource, an event and a sparse component, and their entity.
fn filled() -> (World, Entity) {
    let mut world = World::new();
    let entity = world.spawn(Health(1));
    world.insert_resource(Score(1));
    world.sparse_mut().insert(entity, Name("Ada".into())).unwrap();
    world.send(7_u32);
    (world, entity)
}

/// Forgets a guard of each type.
fn forget_all(world: &World) {
    forget(world.resource::<Score>().unwrap());
    forget(world.sparse::<Name>());
    forget(world.events::<u32>());
}

#[test]
fn exclusive_calls_take_what_a_forgotten_guard_holds() {
    let (mut world, entity) = filled();
    let mut cursor = world.cursor::<Events<u32>>();
    for round in 1..4 {
        forget_all(&world);
        forget(cursor.read(&world));
        assert_eq!(*world.resource::<Score>().unwrap(), Score(round));
        world.resource_mut::<Score>().unwrap().0 += 1;
        forget(world.resource_mut::<Score>().unwrap());
        world.resource_mut::<Score>().unwrap();
        world.sparse_mut::<Name>().get_mut(entity).unwrap().0.push('!');
        forget(world.sparse_mut::<Name>());
        world.sparse_mut().insert(entity, Name(format!("{round}"))).unwrap();
        world.send(round);
        forget(world.lookup::<Health>());
        forget(world.lookup_mut::<Health>());
        forget(world.query_mut::<&mut Health>().into_iter());
        world.get_mut::<Health>(entity).unwrap().0 += 1;
        assert_eq!(*cursor.read(&world), [round]);
    }
    forget_all(&world);
    assert_eq!(world.insert_resource(Score(9)), Some(Score(4)));
    forget_all(&world);
    assert_eq!(world.remove_resource::<Score>(), Some(Score(9)));
    assert_eq!(world.sparse_mut::<Name>().remove(entity), Some(Name("3".into())));
    world.insert_resource(Score(0));
    forget_all(&world);
    world.memory_mut().age_logs();
    world.despawn(entity).unwrap();
    forget_all(&world);
    world.clear();
    assert_eq!(world.check(), Ok(()));
}

fn write(
    mut score: ResMut<Score>,
    mut names: SparseMut<Name>,
    rows: Query<(Entity, &mut Health)>,
    mut sent: EventWriter<u32>,
) {
    score.0 += 1;
    for (entity, health) in rows.rows() {
        health.0 += 1;
        names.insert(entity, Name(health.0.to_string())).unwrap();
    }
    sent.send(score.0);
}

fn read(mut events: EventReader<u32>, mut total: ResMut<Vec<u32>>) {
    total.extend_from_slice(events.read());
}

#[test]
fn a_run_takes_what_guards_of_the_world_hold() {
    let (mut world, entity) = filled();
    world.insert_resource(Vec::<u32>::new());
    let mut schedule = Schedule::new();
    schedule.add((write, read));
    for _ in 0..3 {
        forget_all(&world);
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<Vec<u32>>().unwrap(), [7, 2, 3, 4]);
    assert_eq!(*world.resource::<Score>().unwrap(), Score(4));
    assert_eq!(world.sparse::<Name>().get(entity), Some(&Name("4".into())));
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn a_stage_takes_what_systems_and_commands_before_it_hold() {
    fn careless(
        score: Res<Score>,
        optional: Option<Res<Score>>,
        names: Sparse<Name>,
        events: EventReader<u32>,
        health: Query<&Health>,
        lookup: Lookup<Health>,
    ) {
        assert_eq!(score.0, optional.as_ref().unwrap().0);
        assert!(names.len() < 2);
        forget((score, optional, names, events));
        forget((health.iter(), health.lookup(), lookup));
    }
    fn careless_writer(
        score: ResMut<Score>,
        names: SparseMut<Name>,
        events: EventWriter<u32>,
        mut health: Query<&mut Health>,
    ) {
        forget(health.iter_mut());
        forget(health.lookup_mut());
        forget((score, names, events, health));
    }
    fn optional_writer(score: Option<ResMut<Score>>, mut commands: Commands) {
        forget(score);
        commands.run(|world| forget_all(world));
    }
    let (mut world, entity) = filled();
    world.insert_resource(Vec::<u32>::new());
    let mut schedule = Schedule::new();
    schedule.add((careless, careless_writer, optional_writer)).chain();
    schedule.sync();
    schedule.add((write, careless, write, read)).chain();
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<Score>().unwrap(), Score(7));
    assert_eq!(world.get::<Health>(entity), Ok(&Health(7)));
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn sparse_components_that_come_from_another_world_are_writable() {
    let (mut world, _) = filled();
    let (mut other, entity) = filled();
    other.sparse_mut().insert(entity, Score(3)).unwrap();
    forget(other.sparse::<Score>());
    forget(other.sparse::<Name>());
    let merged = world.merge(other).unwrap();
    let mut schedule = Schedule::new();
    schedule
        .add(|mut scores: SparseMut<Score>| scores.iter_mut().for_each(|(_, score)| score.0 += 1));
    schedule.add(|mut names: SparseMut<Name>| assert_eq!(names.iter_mut().count(), 2));
    schedule.run(&mut world).unwrap();
    let entity = merged.get(entity).unwrap();
    assert_eq!(world.sparse::<Score>().get(entity), Some(&Score(4)));
}
