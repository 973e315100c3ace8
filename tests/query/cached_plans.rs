//! Queries keep addresses from one run to the next, and update them after any change that moves
//! rows.

use phalanx::prelude::*;

use crate::common::components::{Four, Other, Tag, Third, Twelve, sound};
use crate::common::world;

/// The results of the kept plans of three queries. One is of a shared world, one writes.
fn seen(world: &mut World) -> (u32, u32, usize) {
    let mut written = 0;
    for four in world.query_mut::<&mut Four>() {
        four.iter_mut().for_each(|f| f.0 += 1);
        written += four.iter().map(|f| f.0 - 1).sum::<u32>();
    }
    let read = world.query::<(Entity, &Four)>().iter().flat_map(|(_, f)| f).map(|f| f.0 - 1).sum();
    let entities =
        world.query::<(Entity, Option<&Tag>)>().into_iter().map(|(entities, _)| entities);
    let alive = entities.flatten().filter(|&&entity| world.contains(entity)).count();
    (written, read, alive)
}

/// Asserts that the queries find the same rows as a walk over the entities.
#[track_caller]
fn assert_seen(world: &mut World, entities: &[Entity]) {
    assert_rows_seen(world, entities);
    sound(world);
}

/// [`assert_seen`] of a world that is sound.
#[track_caller]
fn assert_rows_seen(world: &mut World, entities: &[Entity]) {
    let alive: Vec<_> = entities.iter().copied().filter(|&e| world.contains(e)).collect();
    let sum = alive.iter().filter_map(|&e| world.get::<Four>(e).ok()).map(|f| f.0).sum::<u32>();
    assert_eq!(seen(world), (sum, sum, alive.len()));
}

const FEW: u32 = if cfg!(miri) { 5 } else { 100 };
const SOME: usize = if cfg!(miri) { 10 } else { 900 };
const MANY: u32 = if cfg!(miri) { 280 } else { 5_000 };

#[test]
#[expect(clippy::too_many_lines, reason = "a table of changes")]
fn whatever_moves_rows_between_two_queries_is_seen() {
    type Change = fn(&mut World, &mut Vec<Entity>);
    let changes: [(&str, Change); 23] = [
        ("nothing", |_, _| ()),
        ("spawn", |world, all| all.push(world.spawn(Four(1)))),
        ("spawn into a new archetype", |world, all| all.push(world.spawn((Four(2), Third)))),
        ("batch", |world, all| all.extend(world.spawn_batch((0..FEW).map(Four)))),
        ("columns", |world, all| {
            all.extend(world.spawn_columns(&[Four(3); FEW as usize][..]).expect("room"));
        }),
        ("insert", |world, all| world.insert(all[0], Tag).expect("alive")),
        ("insert a value that is there", |world, all| {
            world.insert(all[1], Four(50)).expect("alive")
        }),
        ("exchange", |world, all| {
            world.exchange::<Four, _>(all[2], Other).expect("alive");
        }),
        ("remove", |world, all| {
            world.remove::<Tag>(all[0]).expect("there");
        }),
        ("despawn", |world, all| world.despawn(all[3]).expect("alive")),
        ("spawn where one died", |world, all| all.push(world.spawn(Four(4)))),
        ("write a value", |world, all| world.get_mut::<Four>(all[0]).expect("alive").0 = 70),
        ("reserve ids", |world, all| {
            all.extend(world.reserve_entities(3).expect("room"));
            world.spawn(());
            all.extend(
                world.query::<Entity>().without::<Four>().without::<Other>().iter().flatten(),
            );
            all.sort();
            all.dedup();
        }),
        ("insert a tag by query", |world, _| {
            world.matching::<&Four>().insert(Other).expect("a tag fits");
        }),
        ("insert a column by query", |world, _| {
            world.matching::<&Four>().insert(Twelve([1; 3])).expect("it fits");
        }),
        ("overwrite by query", |world, _| {
            world.matching::<Entity>().with::<Tag>().insert(Four(8)).expect("it is there");
        }),
        ("remove by query", |world, _| {
            world.matching::<&Four>().remove::<(Twelve, Other, Third)>();
        }),
        ("scatter", |world, _| {
            let mut fours = world.query::<&Four>().copies().gather();
            fours.iter_mut().for_each(|four| four.0 += 5);
            world.query_mut::<&mut Four>().scatter(&fours).expect("one a row");
        }),
        ("instantiate", |world, all| {
            all.extend_from_slice(world.instantiate(all[0], SOME).expect("alive"));
        }),
        ("despawn by query", |world, _| {
            world.matching::<&Four>().with::<Tag>().despawn();
        }),
        ("compact", |world, _| {
            world.memory_mut().compact(usize::MAX);
        }),
        ("grow past a chunk", |world, all| all.extend(world.spawn_batch((0..MANY).map(Four)))),
        ("clear", |world, _| world.clear()),
    ];
    let mut world = world();
    let mut entities = world.spawn_batch((0..10).map(Four)).to_vec();
    entities.extend(world.spawn_batch((0..10).map(|i| (Four(i), Other))));
    assert_seen(&mut world, &entities);
    for (name, change) in changes {
        change(&mut world, &mut entities);
        println!("after: {name}");
        assert_seen(&mut world, &entities);
        // Once more without a change between: the kept addresses are used.
        assert_rows_seen(&mut world, &entities);
    }
    entities = world.spawn_batch((0..10).map(Four)).to_vec();
    assert_seen(&mut world, &entities);
}

#[test]
fn a_plan_that_slept_through_many_changes_is_right_again() {
    let mut world = world();
    let mut entities = vec![world.spawn(Four(1))];
    assert_seen(&mut world, &entities);
    for round in 0..200 {
        // Another plan runs in between, so that each change is noted again.
        entities.push(world.spawn((Four(round), Tag)));
        assert!(world.query::<&Tag>().iter().count() > 0);
        let oldest = entities.remove(0);
        world.despawn(oldest).expect("alive");
    }
    assert_seen(&mut world, &entities);
}

#[test]
fn a_chunk_that_is_cut_ahead_of_time_is_stamped_like_any_other() {
    let mut world = world();
    world.spawn_batch((0..10).map(Four));
    world.spawn_batch((0..10).map(|i| (Four(i), Tag)));
    for _ in 0..2 {
        let before = world.version();
        assert_eq!(world.query_mut::<&mut Four>().with::<Tag>().iter_mut().count(), 1);
        assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 1);
        let before = world.version();
        assert_eq!(world.query_mut::<(&Four, Entity)>().iter_mut().count(), 2);
        assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 0);
    }
    sound(&world);
}

#[test]
fn a_world_that_moves_takes_its_addresses_along() {
    let mut first = world();
    let mut second = world();
    let entities = first.spawn_batch((0..10).map(Four)).to_vec();
    let others = second.spawn_batch((100..105).map(Four)).to_vec();
    assert_seen(&mut first, &entities);
    assert_seen(&mut second, &others);
    core::mem::swap(&mut first, &mut second);
    assert_seen(&mut second, &entities);
    let mut moved = vec![first, second];
    assert_seen(&mut moved[0], &others);
    moved.remove(1);
    assert_seen(&mut moved[0], &others);
}

#[test]
fn swapping_two_worlds_under_a_finished_query_mixes_nothing() {
    let (mut a, mut b) = (world(), world());
    a.spawn_batch((0..100).map(Four));
    b.spawn_batch((0..50).map(|i| (Twelve([i; 3]), Four(i + 1000))));
    let sum = |w: &World| w.query::<&Four>().iter().flatten().map(|f| f.0 as usize).sum::<usize>();
    for _ in 0..3 {
        let grown = [&a, &b].map(|w| sum(w) + w.len());
        for world in [&mut a, &mut b] {
            world.query_mut::<&mut Four>().iter_mut().flatten().for_each(|f| f.0 += 1);
        }
        std::mem::swap(&mut a, &mut b);
        assert_eq!([&b, &a].map(sum), grown);
        sound(&a);
        sound(&b);
    }
}
