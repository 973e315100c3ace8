//! Random access: `get`, `lookup` and `get_disjoint_mut` agree, at every row of every chunk.

use phalanx::prelude::*;

use crate::common::components::{Four, Page, Tag, Twelve, capacity, sound};
use crate::common::world;

/// Spawns rows until this many chunks are exactly full, and looks all of them up.
fn full_chunks_are_found<B: Bundle, C: Component + PartialEq + std::fmt::Debug>(
    size: ChunkSize,
    chunks: usize,
    make: impl Fn() -> B,
) {
    let mut world = World::builder().chunk_size(size).build();
    // More rows than a small first block holds, so that the capacity is the one of a full chunk.
    world.spawn(make());
    while world.reflect().archetypes().next().expect("one").chunk_len() < 2 {
        let left = capacity(&world) - world.len() % capacity(&world);
        world.spawn_batch((0..left).map(|_| make()));
        world.spawn(make());
    }
    let rows = chunks * capacity(&world);
    while world.len() > rows {
        let last = world.query::<Entity>().iter().flatten().last().copied().expect("a row");
        world.despawn(last).expect("it lives");
    }
    world.spawn_batch((world.len()..rows).map(|_| make()));
    let lookup = world.lookup::<C>();
    let entities: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    assert_eq!(entities.len(), rows);
    let step = if cfg!(miri) { 97 } else { 1 };
    for &entity in entities.iter().step_by(step).chain(entities.last()) {
        let found = lookup.get(entity).ok() == world.get::<C>(entity).ok();
        assert!(found, "{entity} of {rows} rows, {chunks} chunks");
    }
}

#[test]
fn a_lookup_finds_the_rows_of_one_two_three_and_four_full_chunks() {
    for chunks in if cfg!(miri) { 2..=2 } else { 1..=4 } {
        full_chunks_are_found::<_, Four>(ChunkSize::KIB_4, chunks, || Four(1));
        full_chunks_are_found::<_, Twelve>(ChunkSize::KIB_4, chunks, || Twelve([1; 3]));
    }
}

#[cfg(not(miri))] // Rows without bytes: Miri would only count them.
#[test]
fn a_lookup_finds_tags_in_one_two_three_and_four_full_chunks() {
    for chunks in 1..=4 {
        full_chunks_are_found::<_, Tag>(ChunkSize::KIB_4, chunks, || Tag);
    }
}

#[test]
fn a_lookup_finds_rows_that_fill_a_chunk_each() {
    for chunks in 1..=4 {
        full_chunks_are_found::<_, Page>(ChunkSize::KIB_4, chunks, || Page([1; 4096]));
    }
}

#[test]
fn a_lookup_answers_none_for_the_dead_the_foreign_and_the_made_up() {
    let mut world = world();
    let entities = world.spawn_batch((0..100).map(Four)).to_vec();
    let bare = world.spawn(Tag);
    let reserved = world.reserve_entity().expect("room");
    let lookup = world.lookup::<Four>();
    assert_eq!(lookup.get(bare).ok(), None);
    assert_eq!(lookup.get(reserved).ok(), None);
    for bits in [0, 2, u64::MAX, 1 << 63, 0x0000_0001_0000_0002, 0xffff_ffff_0000_0001] {
        assert_eq!(lookup.get(Entity::from_bits(bits)).ok(), None, "{bits:#x}");
    }
    world.despawn(entities[99]).expect("alive");
    assert_eq!(world.lookup::<Four>().get(entities[99]).ok(), None);
    assert_eq!(world.lookup::<Twelve>().get(entities[0]).ok(), None);
    sound(&world);
}
