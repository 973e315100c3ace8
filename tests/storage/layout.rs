//! The layout of rows in chunks: width, alignment, colour, growth.

use phalanx::LINE_BYTES;
use phalanx::error::{EntityError, LayoutError, SpawnError};
use phalanx::prelude::*;

use crate::common::components::{
    Byte, Four, Hundred, Page, Quarter, Tag, Third, Twelve, capacity, sound,
};
use crate::common::world;

fn small_world() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

#[test]
fn a_row_that_fits_exactly_once_has_a_chunk_for_itself() {
    let mut world = small_world();
    let entities: Vec<_> = (0..4).map(|i| world.spawn((Page([i; 4096]), Tag))).collect();
    let archetype = world.reflect().archetypes().next().expect("one");
    assert_eq!((archetype.capacity(), archetype.chunk_len(), archetype.len()), (1, 4, 4));
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(world.get::<Page>(entity), Ok(&Page([i; 4096])));
    }
    assert!(world.query::<&Page>().padded().iter().all(|p| p.len() == 1), "no room for padding");
    world.despawn(entities[0]).expect("alive");
    assert_eq!(world.get::<Page>(entities[3]), Ok(&Page([3; 4096])));
    sound(&world);
}

#[test]
fn fewer_rows_than_a_vector_are_padded_to_the_capacity() {
    let mut world = small_world();
    world.spawn_batch((0..9).map(|i| Quarter([i; 1024])));
    assert_eq!(capacity(&world), 4);
    let lens: Vec<_> = world.query::<&Quarter>().padded().iter().map(<[_]>::len).collect();
    assert_eq!(lens, [4, 4, 4]);
    let lens: Vec<_> = world.query::<&Quarter>().iter().map(<[_]>::len).collect();
    assert_eq!(lens, [4, 4, 1]);
    let tail = world.query::<&Quarter>().padded().into_iter().last().expect("a chunk");
    assert!(tail[1..].iter().all(|q| q.0 == [0; 1024]), "padding was never a row");
}

#[test]
fn a_row_too_wide_is_an_error_and_world_and_entity_are_as_they_were() {
    let mut world = small_world();
    let entity = world.spawn((Quarter([7; 1024]), Four(1)));
    let before = world.version();
    let wide = |error| matches!(error, LayoutError::RowTooWide { chunk_bytes: 4096, .. });
    match world.insert(entity, Page([1; 4096])).expect_err("5,124 bytes in 4,096") {
        EntityError::Layout(error) => {
            assert!(wide(error) && error.to_string().contains("Page"), "{error}");
        }
        other => panic!("{other}"),
    }
    match world.try_spawn((Page([1; 4096]), Byte(1))).expect_err("4,097 bytes") {
        SpawnError::Layout(error) => assert!(wide(error), "{error}"),
        other => panic!("{other}"),
    }
    assert!(world.try_spawn_batch([(Page([1; 4096]), Byte(1))]).is_err());
    assert!(world.spawn_columns((&[Page([1; 4096])][..], &[Byte(1)][..])).is_err());
    assert!(world.spawn_at(Entity::from_bits(5 << 32 | 1), (Page([1; 4096]), Byte(1))).is_err());
    assert!(world.reserve::<(Page, Byte)>(1).is_err());
    assert!(world.exchange::<Four, _>(entity, Page([1; 4096])).is_err());
    assert_eq!(world.len(), 1);
    assert_eq!(world.reflect().archetypes().count(), 1, "no archetype was made");
    assert!(world.has::<Four>(entity) && !world.has::<Page>(entity));
    assert_eq!(world.get::<Quarter>(entity), Ok(&Quarter([7; 1024])));
    assert_eq!(world.query::<&Quarter>().changed_since(before).iter().count(), 0);
    assert_eq!(world.query::<&Quarter>().filter_since::<Arrived>(before).iter().count(), 0);
    sound(&world);
    // A component that fits only in place of another needs an exchange.
    assert!(world.exchange::<(Quarter, Four), _>(entity, Page([1; 4096])).is_ok());
    sound(&world);
}

#[test]
#[should_panic(expected = "cannot spawn: a row needs")]
fn spawning_a_row_too_wide_panics_with_the_reason() {
    small_world().spawn((Page([1; 4096]), Byte(1)));
}

macro_rules! aligned {
    ($($name:ident $align:literal $test:ident),*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C, align($align))]
        struct $name([u8; $align]);
        impl_component!($name);

        #[test]
        fn $test() {
            for size in [ChunkSize::KIB_4, ChunkSize::KIB_16, ChunkSize::KIB_256] {
                let mut world = World::builder().chunk_size(size).build();
                let rows = if cfg!(miri) { 3 } else { 2 * size.bytes() / $align + 3 };
                let value = |i: usize| $name([i.to_le_bytes()[0]; $align]);
                let entities = world.spawn_batch((0..rows).map(|i| (value(i), Tag))).to_vec();
                // With a column that is not a whole number of lines, if both fit.
                if world.reserve::<(Byte, $name, Four)>(0).is_ok() {
                    world.spawn_batch((0..rows.min(50)).map(|i| (Byte(1), value(i), Four(2))));
                }
                for slice in world.query::<&$name>() {
                    assert!(slice.as_ptr().addr().is_multiple_of($align.max(LINE_BYTES)));
                }
                for slice in world.query_mut::<&mut $name>().padded() {
                    assert!(slice.as_ptr().addr().is_multiple_of($align.max(LINE_BYTES)));
                }
                let [first] = world.get_disjoint_mut::<$name, 1>([entities[0]]).expect("alive");
                assert!(std::ptr::from_ref(first).addr().is_multiple_of($align));
                for (i, &entity) in entities.iter().enumerate() {
                    assert_eq!(world.get::<$name>(entity), Ok(&value(i)));
                }
                world.memory_mut().compact(usize::MAX);
                assert_eq!(world.lookup::<$name>().get(entities[0]).ok(), Some(&value(0)));
                assert_eq!(world.remove::<$name>(entities[0]), Ok(value(0)));
                sound(&world);
            }
        }
    )*};
}

aligned! {
    Align1 1 columns_aligned_to_1_byte_start_on_lines,
    Align2 2 columns_aligned_to_2_bytes_start_on_lines,
    Align4 4 columns_aligned_to_4_bytes_start_on_lines,
    Align8 8 columns_aligned_to_8_bytes_start_on_lines,
    Align16 16 columns_aligned_to_16_bytes_start_on_lines,
    Align32 32 columns_aligned_to_32_bytes_start_on_lines,
    Align64 64 columns_aligned_to_64_bytes_start_on_lines,
    Align128 128 columns_aligned_to_128_bytes_are,
    Align256 256 columns_aligned_to_256_bytes_are,
    Align512 512 columns_aligned_to_512_bytes_are,
    Align1024 1024 columns_aligned_to_1024_bytes_are,
    Align2048 2048 columns_aligned_to_2048_bytes_are,
    Align4096 4096 columns_aligned_to_4096_bytes_are
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8192))]
struct Align8192([u8; 8192]);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8192))]
struct Tag8192;
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Tag4096;
impl_component!(Align8192, Tag8192, Tag4096);

#[test]
fn an_alignment_of_8192_is_refused_with_the_reason() {
    for size in [ChunkSize::KIB_4, ChunkSize::KIB_256] {
        let mut world = World::builder().chunk_size(size).build();
        let entity = world.spawn(Four(1));
        let error = world.insert(entity, Align8192([0; 8192])).expect_err("refused");
        let layout = |error| matches!(error, LayoutError::AlignTooLarge { align: 8192, .. });
        assert!(matches!(error, EntityError::Layout(error) if layout(error)), "{error}");
        assert!(world.reserve::<Align8192>(1).is_err());
        assert!(world.try_spawn(Tag8192).is_err(), "a tag is aligned too");
        assert!(world.insert(entity, Tag8192).is_err());
        assert_eq!(world.get::<Four>(entity), Ok(&Four(1)));
        sound(&world);
    }
}

#[test]
fn a_tag_with_an_alignment_is_handed_out_aligned() {
    let mut world = world();
    let entity = world.spawn((Four(1), Tag4096));
    let tags = world.query::<&Tag4096>().into_iter().next().expect("a chunk");
    assert!(tags.as_ptr().is_aligned() && std::ptr::from_ref(&tags[0]).is_aligned());
    let alone = world.spawn(Tag4096);
    for entity in [entity, alone] {
        assert!(std::ptr::from_ref(world.get::<Tag4096>(entity).expect("there")).is_aligned());
        assert!(world.lookup::<Tag4096>().get(entity).is_ok());
        assert_eq!(world.remove::<Tag4096>(entity), Ok(Tag4096));
    }
    sound(&world);
}

#[test]
fn tags_take_no_column_room() {
    let (mut bare, mut tagged) = (world(), world());
    let rows = if cfg!(miri) { 300 } else { 5_000 };
    bare.spawn_batch((0..rows).map(Four));
    tagged.spawn_batch((0..rows).map(|i| (Tag, Four(i), Third)));
    assert_eq!(capacity(&bare), capacity(&tagged));
    assert_eq!(bare.memory().block_bytes, tagged.memory().block_bytes);
    assert_eq!(
        tagged.query::<(&Tag, &Third)>().iter().map(|(t, _)| t.len()).sum::<usize>(),
        rows as usize
    );
}

#[cfg(not(miri))] // Rows without bytes: Miri would only count them.
#[test]
fn archetypes_of_tags_only_own_no_block_however_many_rows_they_have() {
    let mut world = small_world();
    let rows = 3 * 4096 + 7;
    let entities = world.spawn_batch((0..rows).map(|_| (Tag, Third))).to_vec();
    let memory = world.memory();
    assert_eq!((memory.row_bytes, memory.block_bytes, memory.slab_bytes), (0, 0, 0));
    assert_eq!(world.reflect().archetypes().next().expect("one").chunk_len(), 4);
    for &entity in entities.iter().step_by(3) {
        world.remove::<Third>(entity).expect("there");
    }
    let last = entities[entities.len() - 1];
    world.despawn(last).expect("alive");
    sound(&world);
    let (both, one) = (world.query::<&Third>(), world.query::<&Tag>().without::<Third>());
    assert_eq!(both.rows().count() + one.rows().count(), rows - 1);
    world.insert(entities[0], Four(1)).expect("room");
    assert_eq!(world.remove::<Four>(entities[0]), Ok(Four(1)));
    world.clear();
    sound(&world);
}

#[cfg(not(miri))] // Rows without bytes: Miri would only count them.
#[test]
fn entities_of_nothing_fill_more_than_one_chunk() {
    let mut world = small_world();
    let rows = 2 * 4096 + 3;
    let entities = world.spawn_batch(std::iter::repeat_n((), rows)).to_vec();
    assert_eq!(world.query::<Entity>().iter().flatten().copied().collect::<Vec<_>>(), entities);
    for &entity in &entities[..20] {
        world.despawn(entity).expect("alive");
    }
    let mut left: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    left.sort_unstable();
    assert_eq!(left, entities[20..]);
    sound(&world);
}

#[test]
fn columns_start_on_lines_and_rows_lie_without_gaps() {
    let mut world = world();
    let rows = if cfg!(miri) { 100 } else { 20_000 };
    world.spawn_batch((0..rows).map(|i| (Byte(1), Four(i), Twelve([i; 3]), Tag)));
    for (one, four, twelve) in world.query::<(&Byte, &Four, &Twelve)>() {
        let starts = [one.as_ptr().addr(), four.as_ptr().addr(), twelve.as_ptr().addr()];
        assert!(starts.iter().all(|start| start.is_multiple_of(LINE_BYTES)), "{starts:x?}");
        let ends = [one.len(), 4 * four.len(), 12 * twelve.len()];
        let mut ranges: Vec<_> = starts.into_iter().zip(ends).collect();
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|r| r[0].0 + r[0].1 <= r[1].0), "disjoint: {ranges:x?}");
        assert_eq!((one.len(), four.len()), (twelve.len(), one.len()));
    }
}

#[cfg(not(miri))]
#[test]
fn consecutive_chunks_do_not_start_at_equal_offsets_of_a_page() {
    for size in [ChunkSize::KIB_4, ChunkSize::KIB_16, ChunkSize::KIB_256] {
        let mut world = World::builder().chunk_size(size).extent_chunks_max(1).build();
        world.spawn_batch((0..).take(40 * size.bytes() / 4).map(Four));
        let offsets: Vec<_> =
            world.query::<&Four>().iter().map(|four| four.as_ptr().addr() % 4096).collect();
        // A slab begins at any free place of the allocator: its start may meet the end of the one
        // before.
        let equal = offsets.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(equal <= 1, "two slabs meet once: {offsets:?}");
        // Sixteen blocks of the first slab have sixteen colours.
        let mut first: Vec<_> = offsets[1..15].to_vec();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 14, "{offsets:?}");
    }
}

#[test]
fn full_chunks_stay_where_they_are_while_the_archetype_grows() {
    let mut world = small_world();
    let mut kept: Vec<*const Hundred> = Vec::new();
    let (row, rows) = (Hundred([7; 25]), 32);
    let chunks = if cfg!(miri) { 3 } else { 300 };
    // The first block is small and moves once, so the first full chunk is the first to be kept.
    for _ in 0..chunks {
        let room = rows - world.len() % rows;
        for i in 0..room {
            if i % 2 == 0 {
                world.spawn(row);
            } else {
                world.spawn_batch([row]);
            }
        }
        let full: Vec<_> = world.query::<&Hundred>().iter().map(<[Hundred]>::as_ptr).collect();
        assert_eq!(full[..kept.len()], kept);
        assert_eq!(capacity(&world), rows);
        kept = full;
    }
    assert_eq!(kept.len(), chunks);
}

#[cfg(not(miri))] // Arithmetic, at length.
#[test]
fn capacity_follows_the_width_of_the_row() {
    let mut world = World::new();
    world.spawn_batch((0..10_000).map(|i| (Four(i), Twelve([i; 3]))));
    let narrow = capacity(&world);
    assert_eq!(narrow, 16_384 / 16);
    let mut wide = World::new();
    wide.spawn_batch(
        (0..1_000).map(|i| (Four(i), Twelve([i; 3]), crate::common::components::Big([i; 250]))),
    );
    assert_eq!(capacity(&wide), 16, "as many as fit, in whole vectors of 16");
    assert!(narrow.is_multiple_of(VECTOR_ROWS), "whole vectors");
}

#[test]
fn a_type_too_large_for_any_chunk_is_an_error_not_an_overflow() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(transparent)]
    struct Huge<const N: usize>([u8; N]);
    // Where pointers have 32 bits, the sum of three overflows; where they have 64, types end
    // sooner.
    const BYTES: usize = if usize::BITS == 32 { 0x7fff_fff0 } else { 1 << 44 };
    impl_component!(Huge<BYTES>, Huge<{ BYTES + 1 }>, Huge<{ BYTES + 2 }>);
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
