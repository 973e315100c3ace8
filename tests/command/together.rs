//! Changes of one kind, each of another entity: rows move together, and the result equals the
//! result of the same calls one by one, except for the order of rows.

use std::collections::HashSet;
use std::ops::Range;

use phalanx::prelude::*;
use phalanx::{Version, command::CommandErrorKind};

use crate::common::components::{Big, Byte, Four, Hundred, Line, Page, Serial, Tag, Third, Twelve};
use crate::fixtures::{apply, errors, world_and_buffer};

/// Enough rows for several chunks of small rows.
const ROWS: u32 = if cfg!(miri) { 40 } else { 6000 };

/// The selections that are tried.
const WHICH: Range<usize> = if cfg!(miri) { 3..4 } else { 0..5 };

/// Pseudo-random numbers, the same in every run.
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// `ROWS` entities of three archetypes in turn, with their numbers as values.
fn spawn_mixed(world: &mut World) -> Vec<Entity> {
    let spawn = |n: u32| match n % 7 {
        0 => world.spawn((Four(n), Tag)),
        1 => world.spawn((Four(n), Twelve([n; 3]))),
        _ => world.spawn(Four(n)),
    };
    (0..ROWS).map(spawn).collect()
}

/// Entities in the order of their rows, in any order, in order with gaps, and from the last on.
fn selections(all: &[Entity]) -> [Vec<Entity>; 5] {
    let mut number = numbers(3);
    let mut shuffled = all.to_vec();
    shuffled.sort_by_cached_key(|_| number());
    let gaps = all.iter().filter(|_| !number().is_multiple_of(3)).copied().collect();
    let some = shuffled.iter().filter(|_| !number().is_multiple_of(2)).copied().collect();
    [all.to_vec(), shuffled, gaps, some, all.iter().rev().copied().collect()]
}

#[test]
fn changes_together_are_those_of_calls_one_by_one() {
    for which in WHICH {
        let (mut world, mut buffer) = world_and_buffer(0);
        let all = spawn_mixed(&mut world);
        let chosen = &selections(&all)[which];
        let number = |entity: Entity| world.get::<Four>(entity).expect("all have one").0;
        let chosen: Vec<_> = chosen.iter().map(|&entity| (entity, number(entity))).collect();
        chosen
            .iter()
            .for_each(|&(entity, n)| buffer.insert(entity, (Byte(n.to_le_bytes()[0]), Tag)));
        let applied = apply(&mut world, &mut buffer);
        assert_eq!(applied.moved, chosen.len());
        let is_chosen: HashSet<_> = chosen.iter().map(|pair| pair.0).collect();
        for (n, &entity) in (0..ROWS).zip(&all) {
            let byte = world.get::<Byte>(entity).ok().copied();
            assert_eq!(
                byte,
                is_chosen.contains(&entity).then_some(Byte(n.to_le_bytes()[0])),
                "entity {n}"
            );
            assert_eq!(world.get::<Four>(entity), Ok(&Four(n)));
            assert_eq!(world.get::<Twelve>(entity).is_ok(), n % 7 == 1);
            assert_eq!(world.has::<Tag>(entity), n % 7 == 0 || is_chosen.contains(&entity));
        }
        // And back: in another order, with a component that some of them never had.
        chosen.iter().rev().for_each(|&(entity, _)| buffer.remove::<(Byte, Twelve)>(entity));
        assert_eq!(apply(&mut world, &mut buffer).moved, chosen.len());
        for (n, &entity) in (0..ROWS).zip(&all) {
            let is_chosen = is_chosen.contains(&entity);
            assert_eq!(world.get::<Four>(entity), Ok(&Four(n)));
            assert!(!world.has::<Byte>(entity));
            assert_eq!(world.get::<Twelve>(entity).is_ok(), n % 7 == 1 && !is_chosen);
        }
    }
}

#[test]
fn rows_that_move_together_are_in_the_order_of_their_commands() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let all = world.spawn_batch((0..ROWS).map(Four)).to_vec();
    for chosen in selections(&all) {
        chosen.iter().for_each(|&entity| buffer.insert(entity, Tag));
        apply(&mut world, &mut buffer);
        let tagged: Vec<_> = world.query::<Entity>().with::<Tag>().rows().collect();
        assert_eq!(tagged, chosen);
        chosen.iter().for_each(|&entity| buffer.remove::<Tag>(entity));
        apply(&mut world, &mut buffer);
    }
}

#[test]
fn values_of_rows_that_are_overwritten_together_are_those_of_the_commands() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let all = world.spawn_batch((0..ROWS).map(Four)).to_vec();
    let before = world.version();
    (0..ROWS).zip(&all).rev().for_each(|(n, &entity)| buffer.insert(entity, Four(n * 2)));
    assert_eq!(apply(&mut world, &mut buffer).moved, 0);
    assert!((0..).zip(&all).all(|(n, &entity)| world.get::<Four>(entity) == Ok(&Four(n * 2))));
    assert_eq!(world.query::<&Four>().changed_since(before).count_rows(), all.len());
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(before).count_rows(), 0);
}

/// The entities of the chunks in which `Four` has changed since the version.
fn changed(world: &World, since: Version) -> HashSet<Entity> {
    let changed = world.query::<(Entity, &Four)>().changed_since::<Four>(since);
    changed.rows().map(|(entity, _)| entity).collect()
}

#[test]
fn a_move_together_is_no_change_and_hides_none() {
    for which in WHICH {
        let (mut world, mut buffer) = world_and_buffer(0);
        let all = world.spawn_batch((0..ROWS).map(Four)).to_vec();
        let written_since = world.version();
        let written: Vec<_> = all[all.len() / 2..].iter().step_by(97).copied().collect();
        for &entity in &written {
            world.get_mut::<Four>(entity).expect("all have one").0 += 1;
        }
        let moved_since = world.version();
        let chosen = &selections(&all)[which];
        chosen.iter().for_each(|&entity| buffer.insert(entity, Byte(1)));
        apply(&mut world, &mut buffer);
        assert_eq!(changed(&world, moved_since), HashSet::new(), "no value has changed");
        let changed = changed(&world, written_since);
        assert!(written.iter().all(|entity| changed.contains(entity)), "a change is missed");
        let arrived = world.query::<&Byte>().filter_since::<Arrived>(moved_since).count_rows();
        assert_eq!(arrived, chosen.len(), "those that moved have arrived");
        let bytes = world.query::<&Byte>().changed_since(moved_since).count_rows();
        assert_eq!(bytes, chosen.len(), "the added component is new");
    }
}

#[test]
fn one_version_for_all_of_them() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let all = world.spawn_batch((0..ROWS).map(Four)).to_vec();
    let before = world.version();
    all.iter().for_each(|&entity| buffer.insert(entity, Byte(1)));
    apply(&mut world, &mut buffer);
    assert_eq!(world.version().to_bits(), before.to_bits() + 1);
}

#[test]
fn those_that_cannot_change_are_reported_and_the_others_change() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let all: Vec<_> = (0..40)
        .map(|n| {
            if n % 10 == 5 {
                world.spawn((Four(n), Hundred([n; 25])))
            } else {
                world.spawn(Four(n))
            }
        })
        .collect();
    let dead: Vec<_> = all.iter().skip(3).step_by(10).copied().collect();
    for &entity in &dead {
        world.despawn(entity).expect("alive");
    }
    all.iter().for_each(|&entity| buffer.insert(entity, Byte(7)));
    let errors = errors(&mut world, &mut buffer);
    assert_eq!(errors.len(), dead.len(), "{errors:?}");
    for (error, &entity) in errors.iter().zip(&dead) {
        assert_eq!(error.entity, entity);
        assert!(matches!(error.fault, CommandErrorKind::NoSuchEntity(_)), "{error:?}");
    }
    let has = |entity: &&Entity| world.get::<Byte>(**entity) == Ok(&Byte(7));
    assert_eq!(all.iter().filter(has).count(), all.len() - dead.len());
}

#[test]
fn rows_that_are_too_large_are_reported_one_by_one() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut buffer = world.command_buffer(0).expect("no ids");
    let all: Vec<_> = (0..20)
        .map(|n| if n < 10 { world.spawn(Tag) } else { world.spawn((Tag, Big([n; 250]))) })
        .collect();
    all.iter().for_each(|&entity| buffer.insert(entity, Page([3; 4096])));
    let errors = errors(&mut world, &mut buffer);
    let refused: Vec<_> = errors.iter().map(|error| error.entity).collect();
    assert_eq!(refused, all[10..], "these do not fit");
    assert!(errors.iter().all(|error| matches!(error.fault, CommandErrorKind::Layout(_))));
    assert!(all.iter().all(|&entity| world.has::<Page>(entity) != world.has::<Big>(entity)));
    world.check().expect("sound");
}

/// The last rows of an archetype, in order, with the values that `bundle` gives them.
fn last_rows_move_in_order<B: Bundle>(
    bundle: impl Fn(u32) -> B,
    has: impl Fn(&World, Entity, u32) -> bool,
) {
    for moved in [1, 2, ROWS / 3, ROWS - 1, ROWS] {
        let (mut world, mut buffer) = world_and_buffer(0);
        let all = world.spawn_batch((0..ROWS).map(&bundle)).to_vec();
        let last = &all[(ROWS - moved) as usize..];
        let before = world.version();
        last.iter().for_each(|&entity| buffer.insert(entity, Tag));
        assert_eq!(apply(&mut world, &mut buffer).moved, moved as usize);
        assert!(world.query::<Entity>().with::<Tag>().rows().eq(last.iter().copied()));
        let left = &all[..(ROWS - moved) as usize];
        assert!(world.query::<Entity>().without::<Tag>().rows().eq(left.iter().copied()));
        assert!((0..).zip(&all).all(|(n, &entity)| has(&world, entity, n)));
        assert!(changed(&world, before).is_empty(), "no value was written");
        // Rows come after those that stayed, also where these left a part of a chunk.
        world.spawn_batch((0..10).map(&bundle));
        last.iter().for_each(|&entity| buffer.remove::<Tag>(entity));
        assert_eq!(apply(&mut world, &mut buffer).moved, moved as usize);
        assert_eq!(world.query::<Entity>().without::<Tag>().count_rows(), ROWS as usize + 10);
        assert!((0..).zip(&all).all(|(n, &entity)| has(&world, entity, n)));
    }
}

#[test]
fn the_last_rows_of_an_archetype_move_in_order() {
    // With versions of lines, which follow rows one by one, and without.
    last_rows_move_in_order(Four, |world, entity, n| world.get::<Four>(entity) == Ok(&Four(n)));
    last_rows_move_in_order(
        |n| (Serial(n), Line([n; 16])),
        |world, entity, n| {
            world.get::<Serial>(entity) == Ok(&Serial(n))
                && world.get::<Line>(entity) == Ok(&Line([n; 16]))
        },
    );
    last_rows_move_in_order(|_| Third, |world, entity, _| world.has::<Third>(entity));
}

#[test]
fn despawns_among_other_commands_end_each_entity_once() {
    let (mut world, mut buffer) = world_and_buffer(ROWS / 100 + 1);
    let all = spawn_mixed(&mut world);
    let (mut left, mut number) = (Vec::new(), numbers(5));
    for (n, &entity) in all.iter().enumerate() {
        match number() % 5 {
            0 => buffer.insert(entity, Tag),
            1..3 => {
                buffer.despawn(entity);
                continue;
            }
            3 if n % 100 == 3 => _ = buffer.spawn(Byte(1)),
            _ => {}
        }
        left.push(entity);
    }
    let spawned = world.len();
    let applied = apply(&mut world, &mut buffer);
    assert_eq!(applied.despawned, spawned - left.len());
    assert_eq!(world.len(), left.len() + applied.spawned);
    assert!(left.iter().all(|&entity| world.contains(entity)));
    // An entity that is despawned twice, in two runs.
    let (first, second) = (left[0], left[1]);
    for entity in [first, second] {
        buffer.despawn(entity);
    }
    buffer.insert(left[2], Byte(2));
    buffer.despawn(first);
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.despawned, world.contains(first)), (2, false));
}
