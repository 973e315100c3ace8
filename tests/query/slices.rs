//! Slices of several chunks and columns live side by side, as long as the world is borrowed.

use phalanx::prelude::*;

use crate::common::components::{Four, Tag, Twelve, sound};

#[test]
fn slices_of_all_chunks_and_columns_live_side_by_side_and_can_all_be_written() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..600).map(|i| (Four(i), Twelve([i; 3]))));
    world.spawn_batch((600..900).map(|i| (Four(i), Tag)));
    let mut all: Vec<_> =
        world.query_mut::<(&mut Four, Option<&mut Twelve>)>().padded().into_iter().collect();
    assert!(all.len() > 2, "several chunks");
    for round in 0..2 {
        for (four, twelve) in &mut all {
            for f in four.iter_mut() {
                f.0 = f.0.wrapping_add(1 + round);
            }
            for t in twelve.iter_mut().flat_map(|t| t.iter_mut()) {
                t.0[2] = t.0[2].wrapping_add(1 + round);
            }
        }
    }
    sound(&world);
    let sum: u64 = world.query::<&Four>().iter().flatten().map(|f| u64::from(f.0)).sum();
    assert_eq!(sum, (0..900u64).map(|i| i + 3).sum::<u64>());
}

#[test]
fn tag_slices_of_all_chunks_live_side_by_side() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = 2 * 4096 + 5;
    world.spawn_batch((0..rows).map(|_| Tag));
    let mut all: Vec<&mut [Tag]> = world.query_mut::<&mut Tag>().padded().into_iter().collect();
    assert_eq!(all.iter().map(|s| s.len()).collect::<Vec<_>>(), [4096, 4096, 16]);
    all.iter_mut().for_each(|slice| slice.fill(Tag));
}

#[test]
#[expect(clippy::forget_non_drop, reason = "nothing is dropped today; the promise is for ever")]
fn a_query_that_is_leaked_half_way_does_no_harm() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..2_000).map(Four));
    let mut slices = world.query_mut::<&mut Four>().into_iter();
    slices.next().expect("a chunk")[0].0 = 7;
    std::mem::forget(slices);
    let mut rows = world.query_mut::<(Entity, &mut Four)>().rows();
    rows.next().expect("a row").1.0 += 1;
    std::mem::forget(rows);
    sound(&world);
    assert_eq!(world.query::<&Four>().iter().flatten().next(), Some(&Four(8)));
}

#[test]
fn a_body_that_keeps_its_slices_keeps_valid_ones() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..2_500).map(Four));
    let mut kept = Vec::new();
    world.query_mut::<&mut Four>().for_each_chunk(|four| {
        kept.push(four);
        Modified::No
    });
    assert_eq!(kept.len(), 3);
    kept.iter_mut().flat_map(|four| four.iter_mut()).for_each(|four| four.0 += 1);
    let sum: u32 = world.query::<&Four>().iter().flatten().map(|f| f.0).sum();
    assert_eq!(sum, (0..2_500).map(|i| i + 1).sum());
}
