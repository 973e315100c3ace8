//! `MemoryMut::compact`: chunks are gathered in fewer slabs, in steps of the size that the caller
//! chooses.

use phalanx::prelude::*;

use crate::common::components::{Big, Four, sound};
#[cfg(not(miri))]
use crate::common::components::{Other, Tag, Third};
use crate::structural::filled;

#[cfg(not(miri))]
#[test]
fn compaction_that_says_it_is_finished_has_nothing_left_to_move() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    // Several slabs, shared by two archetypes that lose most of their rows.
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..1_500 {
        a.extend_from_slice(world.spawn_batch((0..4).map(|_| (Big([i; 250]), Tag))));
        b.extend_from_slice(world.spawn_batch((0..4).map(|_| (Big([i; 250]), Other))));
    }
    for keep in [5, 25, 125, 1_000] {
        for list in [&mut a, &mut b] {
            let (kept, gone): (Vec<_>, Vec<_>) = list.iter().partition(|e| e.index() % keep == 0);
            gone.into_iter().for_each(|e| world.despawn(e).expect("alive"));
            *list = kept;
        }
        let mut calls = 0;
        while !world.memory_mut().compact(100).finished {
            calls += 1;
            assert!(calls < 10_000, "compaction ends");
            sound(&world);
        }
        let again = world.memory_mut().compact(usize::MAX);
        assert_eq!((again.rows_moved, again.finished), (0, true), "keeping one of {keep}");
        sound(&world);
    }
}

#[cfg(not(miri))]
#[test]
fn compaction_is_not_finished_while_another_call_would_move_rows() {
    use crate::common::components::Page;

    // One row a chunk; 16 chunks in the first slab, 504 in each of the next three.
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let page = |i: usize| Page([i.to_le_bytes()[0]; 4096]);
    let a = world.spawn_batch((0..520).map(|i| (page(i), Tag))).to_vec();
    let b = world.spawn_batch((0..504).map(|i| (page(i), Other))).to_vec();
    let c = world.spawn_batch((0..504).map(|i| (page(i), Third))).to_vec();
    // Chunks are freed from the end: each slab keeps blocks of one archetype.
    for &entity in a[116..].iter().chain(&b[50..]).chain(&c[300..]) {
        world.despawn(entity).expect("alive");
    }
    let mut calls = 0;
    while !world.memory_mut().compact(1_000).finished {
        calls += 1;
        assert!(calls < 1_000, "compaction ends");
    }
    assert_eq!(world.memory_mut().compact(1_000).rows_moved, 0, "it said that it was finished");
    sound(&world);
}

#[cfg(not(miri))]
#[test]
fn compaction_with_a_budget_smaller_than_a_chunk_ends() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    // Some hundred chunks of 1,024 rows over several slabs, with most rows removed.
    let a = world.spawn_batch((0..520 * 1_024).map(|i| (Four(i), Tag))).to_vec();
    let b = world.spawn_batch((0..504 * 1_024).map(|i| (Four(i), Other))).to_vec();
    for &entity in a[300 * 1_024..].iter().chain(&b[100 * 1_024..]) {
        world.despawn(entity).expect("alive");
    }
    // The first call returns the spare slab.
    world.memory_mut().compact(100);
    let mut calls = 0;
    while !world.memory_mut().compact(100).finished {
        calls += 1;
        assert!(
            calls < 20_000,
            "`while !world.memory_mut().compact(100).finished {{}}` is what the docs say"
        );
    }
    sound(&world);
}

#[test]
fn compaction_moves_no_more_rows_than_it_may() {
    let (mut world, entities) = filled(if cfg!(miri) { 600 } else { 2_000 });
    for (i, &entity) in entities.iter().enumerate() {
        if i % 19 != 0 {
            world.despawn(entity).expect("alive");
        }
    }
    let kept: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    let before = world.version();
    for rows_max in [0, 1, 15, 100, usize::MAX] {
        assert!(world.memory_mut().compact(rows_max).rows_moved <= rows_max, "{rows_max}");
        sound(&world);
    }
    assert_eq!(world.version(), before, "no version changes");
    assert_eq!(
        world.query::<Entity>().iter().flatten().copied().collect::<Vec<_>>(),
        kept,
        "no order does"
    );
}

#[test]
fn compaction_between_all_other_calls_keeps_every_byte() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = if cfg!(miri) { 20 } else { 400 };
    let mut entities: Vec<_> = (0..rows).map(|i| world.spawn((Big([i; 250]), Four(i)))).collect();
    let mut i = 0;
    while entities.len() > 2 {
        entities.swap_remove((i * 7) % entities.len()).pipe(|e| world.despawn(e)).expect("alive");
        i += 1;
        if i % 5 == 0 {
            world.memory_mut().compact(if i % 2 == 0 { usize::MAX } else { 9 });
            sound(&world);
        }
        let entity = entities[i % entities.len()];
        let four = *world.get::<Four>(entity).expect("alive");
        assert_eq!(world.get::<Big>(entity), Ok(&Big([four.0; 250])));
    }
}

trait Pipe: Sized {
    fn pipe<T>(self, f: impl FnOnce(Self) -> T) -> T {
        f(self)
    }
}

impl Pipe for Entity {}

#[test]
fn nothing_is_left_to_do_after_a_compaction_that_has_finished() {
    #[component]
    struct Bit0;
    #[component]
    struct Bit1;
    #[component]
    struct Bit2;
    #[component]
    struct Bit3;
    #[component]
    struct Bit4;
    #[component]
    struct Bit5;
    #[component]
    struct Bit6;

    // Archetypes of one row each, whose small first blocks share slabs.
    for kept in [1, 7, 16, 17, 33] {
        let mut world = World::new();
        let entities: Vec<_> = (0..128).map(|i| world.spawn(Four(i))).collect();
        for (i, &entity) in entities.iter().enumerate() {
            let mut insert = |bit: usize, f: fn(&mut World, Entity)| {
                if i >> bit & 1 == 1 {
                    f(&mut world, entity);
                }
            };
            insert(0, |world, entity| world.insert(entity, Bit0).expect("alive"));
            insert(1, |world, entity| world.insert(entity, Bit1).expect("alive"));
            insert(2, |world, entity| world.insert(entity, Bit2).expect("alive"));
            insert(3, |world, entity| world.insert(entity, Bit3).expect("alive"));
            insert(4, |world, entity| world.insert(entity, Bit4).expect("alive"));
            insert(5, |world, entity| world.insert(entity, Bit5).expect("alive"));
            insert(6, |world, entity| world.insert(entity, Bit6).expect("alive"));
        }
        for (_, &entity) in entities.iter().enumerate().filter(|(i, _)| i % kept != 0) {
            world.despawn(entity).expect("alive");
        }
        while !world.memory_mut().compact(usize::MAX).finished {}
        let again = world.memory_mut().compact(usize::MAX);
        assert_eq!((again.rows_moved, again.bytes_freed), (0, 0), "one of {kept} rows was kept");
        sound(&world);
    }
}

#[test]
fn a_compaction_in_every_frame_copies_no_table_in_every_frame() {
    let (rows, frames) = if cfg!(miri) { (500, 5) } else { (20_000, 200) };
    let mut world = World::new();
    world.spawn_batch((0..rows).map(Four));
    let bytes = |world: &mut World| {
        world.spawn(Four(1));
        world.memory_mut().compact(100);
        world.memory().bookkeeping_bytes
    };
    let first = bytes(&mut world);
    let mut last = first;
    let mut changes = 0;
    for _ in 0..frames {
        let now = bytes(&mut world);
        changes += usize::from(now != std::mem::replace(&mut last, now));
    }
    assert!(changes <= frames / 20, "the memory has changed in {changes} of {frames} frames");
    sound(&world);
}
