//! Attempts to break the library from safe code. Under Miri these are the tests that matter.

use phalanx::prelude::*;

use crate::common::world;
use crate::components::{Big, Four, One, Page, Tag, Twelve, sound};

/// Reads every byte of every padded slice, which under Miri finds the ones never written.
fn read_padding(world: &World) -> u64 {
    let mut sum = 0;
    for (four, twelve) in world.query::<(Option<&Four>, Option<&Twelve>)>().padded() {
        for byte in bytemuck_bytes(four).chain(bytemuck_bytes(twelve)) {
            sum += u64::from(byte);
        }
    }
    sum
}

fn bytemuck_bytes<C: Component>(slice: Option<&[C]>) -> impl Iterator<Item = u8> {
    let bytes: &[u8] = slice.map_or(&[], bytemuck::cast_slice);
    bytes.iter().copied()
}

#[test]
fn padding_is_zero_after_a_batch_of_one_row_behind_whole_vectors() {
    // Another archetype of the same size leaves its bytes in the block.
    let mut world = world();
    world.spawn_batch((0..60).map(|_| Twelve([u32::MAX; 3])));
    world.clear();
    for rows in [16, 32] {
        let left = rows - world.len();
        world.spawn_batch((0..left).map(|_| Four(0)));
        world.spawn_batch([Four(0)]);
        sound(&world);
        assert_eq!(read_padding(&world), 0, "{} rows", world.len());
        let last = world.query::<Entity>().iter().flatten().last().copied().expect("a row");
        world.despawn(last).expect("it lives");
    }
}

#[test]
fn padding_is_zero_after_columns_of_one_row_behind_whole_vectors() {
    let mut world = world();
    world.spawn_batch((0..60).map(|_| Twelve([u32::MAX; 3])));
    world.clear();
    world.spawn_columns(&[Four(0); 16][..]).expect("room");
    world.spawn_columns(&[Four(0); 1][..]).expect("room");
    sound(&world);
    assert_eq!(read_padding(&world), 0);
}

#[test]
fn padding_of_a_block_that_was_never_used_is_initialised() {
    // Miri says so; elsewhere fresh memory happens to be zero.
    let (mut batch, mut columns) = (world(), world());
    for rows in [16, 1, 15, 1] {
        batch.spawn_batch(std::iter::repeat_n(Four(0), rows));
        columns.spawn_columns(&vec![Four(0); rows][..]).expect("room");
        assert_eq!((read_padding(&batch), read_padding(&columns)), (0, 0));
    }
}

#[test]
fn padding_is_initialised_whatever_mixture_of_spawns_and_removals_came_before() {
    let (firsts, seconds): (&[usize], &[usize]) = if cfg!(miri) {
        (&[0, 16], &[1, 17])
    } else {
        (&[0, 1, 15, 16, 17, 33], &[0, 1, 2, 15, 16, 17])
    };
    for &first in firsts {
        for &second in seconds {
            let mut world = world();
            world.spawn_batch((0..40).map(|_| Twelve([u32::MAX; 3])));
            world.clear();
            let entities = world.spawn_batch((0..first).map(|_| (Four(0), Tag))).to_vec();
            for _ in 0..second {
                world.spawn((Four(0), Tag));
            }
            world
                .spawn_columns((&vec![Four(0); second][..], &vec![Tag; second][..]))
                .expect("even");
            for &entity in entities.iter().step_by(2) {
                world.despawn(entity).expect("it lives");
            }
            for &entity in entities.iter().skip(1).step_by(2) {
                world.remove::<Tag>(entity).expect("it has one");
            }
            sound(&world);
            assert_eq!(read_padding(&world), 0, "{first} then {second}");
        }
    }
}

#[test]
fn a_chunk_reused_by_another_archetype_shows_no_byte_of_the_old() {
    let mut world = world();
    let rows = if cfg!(miri) { 40 } else { 5_000 };
    for _ in 0..3 {
        world.spawn_batch((0..rows).map(|_| (Twelve([u32::MAX; 3]), One(255))));
        world.clear();
        for left in [1, 17, rows] {
            world.spawn_batch((0..left).map(|_| (Four(0), One(0))));
            assert_eq!(read_padding(&world), 0, "{left} rows by batch");
            world.clear();
            world.spawn_batch((0..rows).map(|_| (Twelve([u32::MAX; 3]), One(255))));
            world.clear();
            for _ in 0..left {
                world.spawn((Four(0), One(0)));
            }
            assert_eq!(read_padding(&world), 0, "{left} rows one by one");
            world.clear();
        }
    }
}

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

#[test]
fn a_type_too_large_for_any_chunk_is_an_error_not_an_overflow() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(transparent)]
    struct Huge<const N: usize>([u8; N]);
    // Where pointers have 32 bits, the sum of three overflows; where they have 64, types end sooner.
    const BYTES: usize = if usize::BITS == 32 { 0x7fff_fff0 } else { 1 << 44 };
    component!(Huge<BYTES>, Huge<{ BYTES + 1 }>, Huge<{ BYTES + 2 }>);
    type A = Huge<BYTES>;
    type B = Huge<{ BYTES + 1 }>;
    type C = Huge<{ BYTES + 2 }>;
    let mut world = world();
    assert!(world.reserve::<A>(1).is_err());
    assert!(world.reserve::<(A, B, C)>(0).is_err());
    assert_eq!(world.query::<(&A, &B)>().iter().count(), 0);
    assert_eq!(world.query_mut::<(&mut A, &C)>().iter_mut().count(), 0);
    sound(&world);
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

#[test]
fn a_world_and_its_query_can_be_printed() {
    let mut world = world();
    world.spawn_batch((0..40).map(|i| (Four(i), Tag)));
    assert!(format!("{world:?}").contains("World"));
    let mut query = world.query_mut::<(&mut Four, Entity)>();
    assert!(format!("{query:?}").contains("Four"), "{query:?}");
    let mut iter = query.iter_mut();
    iter.next();
    assert!(format!("{iter:?}").contains("Four"), "{iter:?}");
    let chunk = world.query::<&Four>().chunks().next().expect("a chunk");
    assert!(format!("{chunk:?}").contains("len: 40"));
}

#[test]
fn wide_rows_survive_a_storm_of_moves() {
    // One row a chunk: every removal and every move crosses blocks.
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let page = |i: u8| Page([i; 4096]);
    let rows = if cfg!(miri) { 6 } else { 60 };
    let mut entities: Vec<_> = (0..rows).map(|i| world.spawn(page(i))).collect();
    for i in (0..rows).step_by(3) {
        world.insert(entities[usize::from(i)], Tag).expect("tags have no bytes");
    }
    assert!(world.insert(entities[0], Four(1)).is_err(), "nothing else fits");
    for (i, &entity) in (0u8..).zip(&entities) {
        assert_eq!(world.get::<Page>(entity), Ok(&page(i)));
    }
    while let Some(entity) = entities.pop() {
        assert_eq!(
            world.remove::<Page>(entity),
            Ok(page(u8::try_from(entities.len()).expect("few")))
        );
        sound(&world);
    }
    assert_eq!(world.query::<Entity>().iter().flatten().count(), usize::from(rows));
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
            world.compact(if i % 2 == 0 { usize::MAX } else { 9 });
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
