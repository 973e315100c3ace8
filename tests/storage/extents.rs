//! Chunks in extents behave like other chunks in passes, versions and changes.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Hundred, Odd, Tag, Twelve, sound};

const SIZES: &[ChunkSize] =
    if cfg!(miri) { &[ChunkSize::KIB_4] } else { &[ChunkSize::KIB_4, ChunkSize::KIB_16] };
const EXTENTS: [u32; 3] = [1, 4, 64];

fn empty(size: ChunkSize, extent: u32) -> World {
    World::builder().chunk_size(size).extent_chunks_max(extent).build()
}

/// A world with a first archetype of `chunks` full chunks and one row more. Rows are added one by
/// one and in a batch.
fn long(size: ChunkSize, extent: u32, chunks: usize) -> World {
    let mut world = empty(size, extent);
    let row = |i: u32| (Four(i), Twelve([i; 3]), Hundred([i; 25]));
    // More rows than a first block holds.
    world.spawn_batch((0..200).map(row));
    let capacity = world.reflect().archetypes().find(|a| !a.is_empty()).expect("rows").capacity();
    let rows = u32::try_from(chunks * capacity + 1).expect("few rows");
    if cfg!(miri) {
        // Few chunks are in extents only if they were reserved.
        world.reserve::<(Four, Twelve, Hundred)>(rows as usize).expect("memory");
    }
    world.spawn_batch((200..rows / 2).map(row));
    for i in world.len()..rows as usize {
        world.spawn(row(u32::try_from(i).expect("few rows")));
    }
    // An archetype of one chunk, and one without bytes.
    world.spawn_batch((0..9).map(|i| (Four(rows + i), Tag)));
    world.spawn_batch([(Tag, ()); 3].map(|(tag, ())| tag));
    sound(&world);
    world
}

const CHUNKS: usize = if cfg!(miri) { 12 } else { 150 };

fn fours(world: &World) -> Vec<u32> {
    world.query::<&Four>().rows().map(|four| four.0).collect()
}

#[test]
fn passes_of_every_kind_see_the_same_chunks() {
    for &size in SIZES {
        let mut hashes = Vec::new();
        for extent in EXTENTS {
            let mut world = long(size, extent, CHUNKS);
            let lens: Vec<_> = world.query::<&Four>().chunks().map(|chunk| chunk.len()).collect();
            assert_eq!(lens.len(), CHUNKS + 1 + 1);
            let each: Vec<_> = world.query::<&Four>().iter().map(<[_]>::len).collect();
            assert_eq!(each, lens, "{extent}");
            let padded: Vec<_> =
                world.query::<&Four>().padded().into_iter().map(<[_]>::len).collect();
            assert!(
                padded.iter().zip(&lens).all(|(padded, len)| padded.next_multiple_of(16) >= *len)
            );
            let numbers = fours(&world);
            assert!(numbers.iter().zip(0..).all(|(&four, i)| four == i), "the order of rows");
            let mut sum = 0;
            for (entities, four, twelve, tag) in
                world.query_mut::<(Entity, &mut Four, Option<&Twelve>, Option<&Tag>)>()
            {
                assert_eq!(entities.len(), four.len());
                assert!(twelve.is_none_or(|twelve| twelve.len() == four.len()));
                assert_eq!(tag.is_some(), twelve.is_none());
                assert!(twelve.is_none_or(|twelve| twelve[0].0[2] == four[0].0));
                sum += four.iter().map(|four| u64::from(four.0)).sum::<u64>();
            }
            assert_eq!(sum, numbers.iter().map(|&i| u64::from(i)).sum::<u64>());
            for entity in world.query::<Entity>().copies().entities().into_iter().step_by(37) {
                let four = world.get::<Four>(entity).map(|four| four.0);
                assert_eq!(world.lookup::<Four>().get(entity).map(|four| four.0).ok(), four.ok());
            }
            hashes.push(world.hash());
        }
        assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
    }
}

#[test]
fn an_extent_is_one_slice_and_each_of_its_chunks_is_stamped() {
    for &size in SIZES {
        for extent in EXTENTS {
            let mut world = long(size, extent, CHUNKS);
            let chunks = world.query::<&Four>().iter().count();
            let since = world.version();
            let mut rows = Vec::new();
            let mut extents = 0;
            for (entities, four) in world.query_mut::<(Entity, &mut Four)>().contiguous_chunks() {
                assert_eq!(entities.len(), four.len());
                rows.extend(four.iter().map(|four| four.0));
                extents += 1;
            }
            assert_eq!(rows, fours(&world));
            match extent {
                1 => assert_eq!(extents, chunks),
                _ => assert!(extents <= 40 + chunks / 3, "{extents} of {chunks}"),
            }
            let changed = world.query::<&Four>().changed_since::<Four>(since).iter().count();
            assert_eq!(changed, chunks);
            let each =
                world.query::<&Four>().changed_since::<Four>(since).contiguous_chunks().count();
            assert_eq!(each, chunks, "a filter by version selects single chunks");
        }
    }
}

#[test]
fn a_pass_that_ends_early_stamps_what_it_handed_out() {
    let size = ChunkSize::KIB_4;
    for extent in EXTENTS {
        let mut world = long(size, extent, CHUNKS);
        for turns in [0, 1, 2, CHUNKS - 3, CHUNKS] {
            for kind in 0..4 {
                let since = world.version();
                let query = world.query_mut::<(&mut Twelve, &Four, &mut Hundred)>();
                let pass = |query: Query<'_, _>| match kind {
                    0 => query.into_iter().take(turns).count(),
                    1 => {
                        let mut rows = query.rows();
                        (0..turns).map(|_| rows.by_ref().nth(9).map_or(0, |_| 1)).sum()
                    }
                    2 => query.into_iter().take(turns).fold(0, |n, _| n + 1),
                    _ => query.chunks().take(turns).count(),
                };
                assert_eq!(pass(query), turns);
                // Ten rows a chunk of its thirty-two, if the pass is by row.
                let capacity =
                    world.reflect().archetypes().find(|a| a.len() > 100).expect("long").capacity();
                let handed_out = if kind == 1 { (10 * turns).div_ceil(capacity) } else { turns };
                let changed = |world: &World| -> Vec<usize> {
                    let chunks = world.query::<&Hundred>().changed_since::<Hundred>(since).chunks();
                    chunks.map(|chunk| chunk.index()).collect()
                };
                assert_eq!(changed(&world), (0..handed_out).collect::<Vec<_>>(), "kind {kind}");
                assert_eq!(world.query::<&Four>().changed_since::<Four>(since).iter().count(), 0);
            }
        }
    }
}

#[test]
fn chunks_that_change_owner_by_query_and_come_back_keep_their_rows() {
    for &size in SIZES {
        let mut hashes = Vec::new();
        for extent in EXTENTS {
            let mut world = long(size, extent, CHUNKS);
            let mut wanted = fours(&world);
            wanted.sort_unstable();
            for step in [2, 3, 5] {
                // Whole chunks, each `step`-th: the chunks that were written since.
                let since = world.version();
                let mut number = 0;
                world.query_mut::<&mut Twelve>().for_each_chunk(|_| {
                    number += 1;
                    if number % step == 0 { Modified::Yes } else { Modified::No }
                });
                world
                    .matching::<&Twelve>()
                    .changed_since::<Twelve>(since)
                    .insert(Byte(7))
                    .expect("room");
                sound(&world);
                let extents = world
                    .query::<&Four>()
                    .contiguous_chunks()
                    .map(|four| four.len())
                    .sum::<usize>();
                assert_eq!(extents, wanted.len());
                let mut now = fours(&world);
                now.sort_unstable();
                assert_eq!(now, wanted);
                world.matching::<&Twelve>().with::<Byte>().remove::<Byte>();
                world.memory_mut().compact(if step == 3 { usize::MAX } else { 100 });
                sound(&world);
            }
            hashes.push((world.hash(), fours(&world)));
            while !world.memory_mut().compact(usize::MAX).finished {}
            let (chunks, extents) = (
                world.query::<&Four>().iter().count(),
                world.query::<&Four>().contiguous_chunks().count(),
            );
            assert!(extent == 1 || extents < chunks / 2 + 10, "{extents} of {chunks}");
            assert_eq!(world.hash(), hashes.last().expect("pushed").0, "compaction moves no row");
            world.clear();
            while !world.memory_mut().compact(usize::MAX).finished {}
            assert_eq!((world.memory().slab_bytes, world.check()), (0, Ok(())));
        }
        assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "extents change an outcome");
    }
}

#[test]
fn rows_that_do_not_end_on_lines_lie_in_chunks_of_their_own() {
    let mut world = empty(ChunkSize::KIB_4, 64);
    // 64 rows would be whole lines, and 32 fit.
    world.spawn_batch(
        (0..if cfg!(miri) { 200 } else { 4_000 }).map(|i| (Hundred([i; 25]), Byte(1))),
    );
    let chunks = world.query::<&Byte>().iter().count();
    assert_eq!(world.query::<&Byte>().contiguous_chunks().count(), chunks);
    // If it costs less than an eighth of the rows, they end there.
    let mut world = empty(ChunkSize::KIB_4, 64);
    if cfg!(miri) {
        // Few chunks are in extents only if they were reserved.
        world.reserve::<(Four, Odd)>(60_000).expect("memory");
    }
    world.spawn_batch((0..if cfg!(miri) { 4_000 } else { 60_000 }).map(|i| (Four(i), Odd([1; 3]))));
    let capacity = world.reflect().archetypes().find(|a| !a.is_empty()).expect("rows").capacity();
    assert!(capacity.is_multiple_of(64), "{capacity}");
    let chunks = world.query::<&Odd>().iter().count();
    assert!(world.query::<&Odd>().contiguous_chunks().count() < chunks);
    for odd in world.query::<&Odd>() {
        assert!(odd.as_ptr().addr().is_multiple_of(64), "a column starts on a line");
    }
}

#[test]
fn reserved_memory_is_in_extents_and_is_what_the_rows_use() {
    const ROWS: u32 = if cfg!(miri) { 200 } else { 5_000 };
    for extent in EXTENTS {
        let mut world = empty(ChunkSize::KIB_4, extent);
        world.reserve::<(Four, Hundred)>(ROWS as usize).expect("memory");
        let held = world.memory();
        world.spawn_batch((0..ROWS).map(|i| (Four(i), Hundred([i; 25]))));
        assert_eq!(world.memory().slab_bytes, held.slab_bytes);
        sound(&world);
        assert_eq!(fours(&world), (0..ROWS).collect::<Vec<_>>());
    }
}
