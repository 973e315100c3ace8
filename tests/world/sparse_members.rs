//! The bits of members of sparse components: their memory, and the changes after it is freed.

use phalanx::prelude::*;

use crate::common::components::{Four, Nth, Number, Tag, Text, sound};
use crate::common::world;

/// Compacts the world. Returns the number of freed bytes.
fn compact(world: &mut World) -> usize {
    let compacted = world.memory_mut().compact(usize::MAX);
    sound(world);
    compacted.bytes_freed
}

/// The entities with and without each of two sparse components, in the order of their ids.
fn members(world: &World) -> [Vec<Entity>; 4] {
    let all = || world.query::<Entity>();
    [
        all().with::<Number>().rows().collect(),
        all().without::<Number>().rows().collect(),
        all().with::<Text>().rows().collect(),
        all().without::<Text>().rows().collect(),
    ]
    .map(|mut entities: Vec<_>| {
        entities.sort_unstable();
        entities
    })
}

/// Asserts that the world has the bits of `arrays` sparse components for all its rows.
#[track_caller]
fn assert_bits(world: &World, before: usize, arrays: usize) {
    // The last chunk is not full, and the plans of queries have some entries more, or fewer.
    const SLACK: usize = 1 << 10;
    let bytes = world.memory().bookkeeping_bytes + SLACK - before;
    let bits = arrays * world.len() / 8;
    let expected = bits..bits * 3 / 2 + 2 * SLACK;
    assert!(expected.contains(&bytes), "{bytes} bytes, not {expected:?}");
}

#[test]
#[cfg_attr(miri, ignore = "the bytes of many rows")]
fn the_bits_of_an_archetype_are_freed_after_its_last_member() {
    let mut world = world();
    let all = world.spawn_batch((0..100_000).map(Four)).to_vec();
    assert_eq!(members(&world)[1], all);
    compact(&mut world);
    let before = world.memory().bookkeeping_bytes;
    let far = all[all.len() - 7];
    world.insert(far, Number(5)).expect("it is alive");
    compact(&mut world);
    assert_bits(&world, before, 1);
    assert_eq!(members(&world)[0], [far]);

    // The bits of the second component take the place of the first ones.
    world.insert(all[3], Text::from("three")).expect("it is alive");
    assert_eq!(members(&world)[2], [all[3]]);
    world.remove::<Number>(far).expect("it has one");
    assert_bits(&world, before, 2);
    assert!(compact(&mut world) >= all.len() / 8);
    assert_bits(&world, before, 1);
    let [with, without, text, others] = members(&world);
    assert_eq!((with.len(), without.len(), others.len()), (0, all.len(), all.len() - 1));
    assert_eq!(text, [all[3]]);

    world.despawn(all[3]).expect("it is alive");
    assert_bits(&world, before, 1);
    compact(&mut world);
    assert_bits(&world, before, 0);
    assert_eq!(members(&world).map(|list| list.len()), [0, all.len() - 1, 0, all.len() - 1]);
}

#[test]
fn rows_that_move_after_bits_were_freed_stay_members() {
    let mut world = world();
    let [a, b, c] = [0, 1, 2].map(|i| world.spawn(Four(i)));
    // Both archetypes have the bits, and both edges know it.
    world.insert(a, Number(1)).expect("it is alive");
    world.insert(a, Tag).expect("it is alive");
    world.remove::<Tag>(a).expect("it has one");
    // The tagged archetype has none, then both have those of another component.
    compact(&mut world);
    world.insert(a, Tag).expect("it is alive");
    sound(&world);
    assert_eq!(members(&world)[0], [a]);
    world.remove::<Number>(a).expect("it has one");
    compact(&mut world);
    world.insert(b, Text::from("b")).expect("it is alive");
    world.insert(b, Tag).expect("it is alive");
    sound(&world);
    assert_eq!(members(&world), [vec![], vec![a, b, c], vec![b], vec![a, c]]);
    // By chunks, by commands and by a view of a system.
    world.insert(c, Number(3)).expect("it is alive");
    compact(&mut world);
    assert_eq!(world.matching::<&Four>().remove::<Tag>(), 2);
    sound(&world);
    assert_eq!(members(&world), [vec![c], vec![a, b], vec![b], vec![a, c]]);
    world.remove::<Text>(b).expect("it has one");
    compact(&mut world);
    world.run(move |mut texts: SparseMut<'_, Text>| texts.insert(a, Text::from("a")).is_ok());
    let mut buffer = world.command_buffer(0).expect("room");
    buffer.insert(b, (Tag, Text::from("b")));
    buffer.insert(c, Tag);
    world.apply(&mut buffer).expect("all are alive");
    sound(&world);
    assert_eq!(members(&world), [vec![c], vec![a, b], vec![a, b], vec![c]]);
}

#[test]
fn a_schedule_finds_members_after_bits_were_freed() {
    fn count(with: Query<'_, Entity, With<Number>>, mut seen: ResMut<'_, Vec<usize>>) {
        seen.push(with.rows().count());
    }
    let mut world = world();
    world.insert_resource(Vec::<usize>::new());
    let all = world.spawn_batch((0..9).map(Four)).to_vec();
    let mut schedule = Schedule::new();
    schedule.add(count);
    for entity in all {
        world.insert(entity, (Number(1), Text::from("one"))).expect("it is alive");
        schedule.run(&mut world).expect("no system fails");
        world.remove::<Number>(entity).expect("it has one");
        schedule.run(&mut world).expect("no system fails");
        compact(&mut world);
        schedule.run(&mut world).expect("no system fails");
    }
    assert_eq!(*world.resource::<Vec<usize>>().expect("it is there"), [1, 0, 0].repeat(9));
}

#[test]
fn members_of_an_early_archetype_are_found_after_those_of_a_late_one_are_gone() {
    let mut world = world();
    let early = world.spawn(Tag);
    // More archetypes than a plan files in one word of labels.
    world.spawn(Nth::<0>(0));
    world.spawn(Nth::<1>(0));
    world.spawn(Nth::<2>(0));
    world.spawn(Nth::<3>(0));
    world.spawn(Nth::<4>(0));
    world.spawn(Nth::<5>(0));
    world.spawn(Nth::<6>(0));
    world.spawn(Nth::<7>(0));
    let late = world.spawn(Nth::<8>(0));
    let numbered = |world: &World| {
        let query = world.query::<(Entity, &Number)>();
        let by_entity = [early, late].map(|entity| query.get(entity).is_ok());
        (query.rows().map(|(entity, _)| entity).collect::<Vec<_>>(), by_entity)
    };
    world.insert(late, Number(1)).expect("it is alive");
    assert_eq!(numbered(&world), (vec![late], [false, true]));
    world.remove::<Number>(late).expect("it has one");
    // The late archetype loses its bits, and with them its entry in the plan.
    compact(&mut world);
    assert_eq!(numbered(&world), (vec![], [false, false]));
    world.insert(early, Number(2)).expect("it is alive");
    sound(&world);
    assert_eq!(numbered(&world), (vec![early], [true, false]));
    world.insert(late, Number(3)).expect("it is alive");
    sound(&world);
    assert_eq!(numbered(&world), (vec![early, late], [true, true]));
}
