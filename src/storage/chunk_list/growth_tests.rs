//! The places of a list's chunks while it grows, shrinks, is taken apart and is compacted.

use proptest::prelude::*;

use super::ChunkList;
use crate::storage::access::{BundleCells, DistinctColumns};
use crate::storage::chunk_set::ChunkSet;
use crate::storage::chunk_size::ChunkSize;
use crate::storage::layout::{ColumnShape, ListLayout};
use crate::storage::pool::Pool;

/// Rows of a chunk of 4 KiB: four times a line and 15 lines fill it exactly.
const CHUNK_ROWS: usize = 4;

fn pool(extent_chunks_max: u32) -> Pool {
    Pool::new(ChunkSize::KIB_4, extent_chunks_max)
}

fn list() -> ChunkList {
    let shapes = [("number", 64, 4), ("rest", 960, 4)];
    let shapes = shapes.map(|(name, size, align)| ColumnShape::plain(name, size, align));
    let layout = ListLayout::new(ChunkSize::KIB_4, shapes.to_vec()).expect("it fits");
    assert_eq!(layout.chunk().capacity() as usize, CHUNK_ROWS);
    ChunkList::new(layout)
}

fn push(list: &mut ChunkList, number: u32, pool: &mut Pool) {
    let cells = BundleCells::new(list, DistinctColumns::new(vec![0, 1]));
    cells.write(list.next_row(pool), |row| {
        row.put(bytemuck::bytes_of(&[number; 16]));
        row.put(&[number.to_le_bytes()[0]; 960]);
    });
}

fn filled(rows: usize, pool: &mut Pool) -> ChunkList {
    let mut list = list();
    (0..).take(rows).for_each(|number| push(&mut list, number, pool));
    list
}

fn remove(list: &mut ChunkList, row: usize, pool: &mut Pool) {
    let at = list.split(list.position_of(row));
    list.begin_removal(at).remove(pool);
}

/// The numbers of all rows. Asserts that the other columns have the bytes of these numbers.
#[track_caller]
fn numbers(list: &ChunkList) -> Vec<u32> {
    assert!(list.is_consistent());
    let mut numbers = Vec::new();
    for chunk in 0..list.chunk_len() {
        let [first, rest] = [0, 1].map(|column| list.column_bytes(column, chunk));
        for (number, rest) in first.chunks(64).zip(rest.chunks(960)) {
            let number: [u32; 16] = bytemuck::pod_read_unaligned(number);
            assert_eq!(number, [number[0]; 16]);
            assert_eq!(rest, [number[0].to_le_bytes()[0]; 960], "the columns of a row differ");
            numbers.push(number[0]);
        }
    }
    assert_eq!(numbers.len(), list.len());
    numbers
}

fn ascending(rows: usize) -> Vec<u32> {
    (0..).take(rows).collect()
}

/// The number of allocated chunks of the last extent that are not used yet. The list grew row by
/// row.
fn unused(list: &ChunkList, pool: &mut Pool) -> usize {
    let last = list.blocks().last().expect("the list has rows");
    if last.extent_chunks() == 1 {
        return 0;
    }
    let used = pool.extents().used(last).count_ones();
    (last.extent_chunks() - used) as usize
}

#[test]
fn extents_grow_with_the_list_and_at_most_three_chunks_or_an_eighth_of_it_are_unused() {
    let (mut pool, mut list) = (pool(64), list());
    let all = if cfg!(miri) { 160 } else { 400 };
    for row in 0..all * CHUNK_ROWS {
        push(&mut list, u32::try_from(row).expect("few rows"), &mut pool);
        if row % CHUNK_ROWS == 0 {
            let chunks = list.blocks().len();
            assert!(unused(&list, &mut pool) <= (chunks / 8).max(3), "of {chunks} chunks");
        }
    }
    // Chunks of their own up to 4, extents of 4 up to 128, extents of 16.
    let runs = 4 + (128 - 4) / 4 + (all - 128) / 16;
    assert_eq!(list.runs(), runs);
    // It is not scattered: compaction leaves it as it is, but for an extent in a sparse slab.
    let held = pool.slab_bytes();
    assert!(list.compact(usize::MAX, &mut pool) <= 64 * CHUNK_ROWS);
    pool.trim();
    assert!(pool.slab_bytes() <= held && list.runs() <= runs);
    assert_eq!(numbers(&list), ascending(all * CHUNK_ROWS));
}

#[test]
fn a_world_without_extents_has_chunks_of_their_own() {
    let mut pool = pool(1);
    let chunks = if cfg!(miri) { 40 } else { 100 };
    let list = filled(chunks * CHUNK_ROWS, &mut pool);
    assert_eq!((list.runs(), pool.extents().allocated()), (chunks, 0));
}

#[test]
fn a_batch_is_in_as_few_extents_as_fit_its_chunks() {
    let (mut pool, mut list) = (pool(64), list());
    let (chunks, extents): (_, &[usize]) = match cfg!(miri) {
        true => (44, &[16, 16, 4, 4, 4]),
        false => (300, &[64, 64, 64, 64, 16, 16, 4, 4, 4]),
    };
    let rows = chunks * CHUNK_ROWS;
    list.reserve(rows, &mut pool);
    let held = pool.allocated();
    (0..).take(rows).for_each(|number| push(&mut list, number, &mut pool));
    assert_eq!((held, pool.allocated()), (chunks, chunks), "the batch used what was reserved");
    assert_eq!(list.runs(), extents.len());
    assert_eq!(numbers(&list), ascending(rows));
}

#[test]
fn a_list_that_shrinks_frees_its_extents() {
    let mut pool = pool(64);
    let all = if cfg!(miri) { 40 } else { 100 } * CHUNK_ROWS;
    let mut list = filled(all, &mut pool);
    for rows in (0..all).rev() {
        remove(&mut list, rows / 2, &mut pool);
        if rows % 256 == 0 {
            assert_eq!(numbers(&list).len(), rows);
        }
    }
    assert_eq!(pool.allocated(), 0);
    pool.trim();
    assert_eq!(pool.slab_bytes(), 0);
}

/// Detaches every `step`-th chunk of a list and attaches them to a new one.
fn take_apart(list: &mut ChunkList, step: usize) -> ChunkList {
    let which = ChunkSet::Some((0..list.chunk_len()).step_by(step).collect());
    let (mut detached, _) = list.detach(&which);
    let mut other = self::list();
    other.attach(&mut detached, list);
    other
}

#[test]
fn chunks_change_owner_without_a_copy_and_free_places_are_used_again() {
    let mut pool = pool(64);
    let mut ours = filled(64 * CHUNK_ROWS, &mut pool);
    let held = pool.slab_bytes();
    let mut theirs = take_apart(&mut ours, 2);
    let mut all = [numbers(&ours), numbers(&theirs)].concat();
    all.sort_unstable();
    assert_eq!(all, ascending(64 * CHUNK_ROWS));
    theirs.clear(&mut pool);
    assert_eq!(pool.allocated(), 32);
    for number in 0..(32 * CHUNK_ROWS) {
        push(&mut ours, u32::try_from(number).expect("few rows"), &mut pool);
    }
    assert_eq!((pool.slab_bytes(), pool.allocated()), (held, 64), "no place is lost");
    assert_eq!(numbers(&ours).len(), 64 * CHUNK_ROWS);
}

#[test]
fn compaction_fills_extents_and_brings_scattered_chunks_together() {
    let mut pool = pool(64);
    let mut ours = filled(200 * CHUNK_ROWS, &mut pool);
    let mut theirs = take_apart(&mut ours, 2);
    let before = [numbers(&ours), numbers(&theirs)];
    assert!(ours.runs() > 40, "{} runs", ours.runs());
    assert_eq!(ours.compact(0, &mut pool), 0, "no budget");
    // A budget for a part of them ends as well.
    while ours.compact(10 * CHUNK_ROWS, &mut pool) > 0 {}
    while ours.compact(usize::MAX, &mut pool) + theirs.compact(usize::MAX, &mut pool) > 0 {}
    assert_eq!([numbers(&ours), numbers(&theirs)], before);
    for list in [&ours, &theirs] {
        assert_eq!(list.runs(), [64, 16, 16, 4].len());
        assert!(
            list.blocks()
                .iter()
                .all(|block| { pool.extents().used(block).count_ones() == block.extent_chunks() })
        );
    }
    theirs.clear(&mut pool);
    for _ in 0..90 * CHUNK_ROWS {
        remove(&mut ours, 0, &mut pool);
    }
    while ours.compact(usize::MAX, &mut pool) > 0 {}
    pool.trim();
    assert!(pool.slab_bytes() <= 2 << 20, "ten chunks hold {} bytes", pool.slab_bytes());
}

#[test]
#[cfg_attr(miri, ignore = "three thousand chunks")]
fn compaction_empties_slabs_whose_extents_are_full() {
    let mut pool = pool(4);
    let mut lists: Vec<_> = (0..32).map(|_| list()).collect();
    // In turn, so that each slab has extents of all lists.
    for chunk in 0..96 {
        for list in &mut lists {
            for row in chunk * CHUNK_ROWS..(chunk + 1) * CHUNK_ROWS {
                push(list, u32::try_from(row).expect("few rows"), &mut pool);
            }
        }
    }
    let (mut kept, gone) = (lists.remove(7), lists);
    for mut list in gone {
        list.clear(&mut pool);
    }
    pool.trim();
    let sparse = pool.slab_bytes();
    while kept.compact(31 * CHUNK_ROWS, &mut pool) > 0 {
        pool.trim();
    }
    assert_eq!(numbers(&kept), ascending(96 * CHUNK_ROWS));
    let (live, dense) = (96 * 4096, pool.slab_bytes());
    // One slab of blocks of their own, and one of extents.
    let slabs = (2 << 20) + (512 << 10);
    assert!(dense <= live + slabs && sparse > 4 * dense, "{dense} of {sparse} for {live}");
}

#[test]
fn a_single_chunk_at_the_end_of_an_extent_comes_and_goes_without_a_search() {
    let mut pool = pool(64);
    let mut list = filled(36 * CHUNK_ROWS, &mut pool);
    for _ in 0..3 {
        push(&mut list, 1, &mut pool);
        assert_eq!(list.gaps_from, u32::MAX);
        let last = list.len() - 1;
        remove(&mut list, last, &mut pool);
        assert_eq!(list.gaps_from, u32::MAX);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    Reserve(usize),
    Remove(Vec<usize>),
    TakeApart(usize),
    Compact(usize),
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1usize..20 * CHUNK_ROWS).prop_map(Step::Push),
        1 => (1usize..40 * CHUNK_ROWS).prop_map(Step::Reserve),
        4 => proptest::collection::vec(any::<usize>(), 1..8 * CHUNK_ROWS).prop_map(Step::Remove),
        3 => (1usize..5).prop_map(Step::TakeApart),
        2 => prop_oneof![Just(usize::MAX), 0..30 * CHUNK_ROWS].prop_map(Step::Compact),
        1 => Just(Step::Clear),
    ]
}

const STEPS: usize = if cfg!(miri) { 14 } else { 40 };

proptest! {
    #[test]
    fn lists_that_share_extents_keep_their_own_rows(
        most in 0u32..7,
        steps in proptest::collection::vec((0usize..3, step()), 1..STEPS),
    ) {
        let mut pool = pool(1 << most);
        let mut lists = vec![(list(), Vec::<u32>::new())];
        let mut next = 0;
        for (which, step) in steps {
            let which = which % lists.len();
            let (list, rows) = &mut lists[which];
            match step {
                Step::Push(count) => for _ in 0..count {
                    push(list, next, &mut pool);
                    rows.push(next);
                    next += 1;
                },
                Step::Reserve(count) => list.reserve(count, &mut pool),
                Step::Remove(some) => for row in some.into_iter().take(rows.len()) {
                    let row = row % rows.len();
                    remove(list, row, &mut pool);
                    rows.swap_remove(row);
                },
                Step::TakeApart(step) => {
                    list.leave_first_block(&mut pool);
                    // Without reserved and written blocks, as the callers of `attach` have it.
                    list.abandon(&mut pool);
                    let other = take_apart(list, step);
                    *rows = numbers(list);
                    let theirs = numbers(&other);
                    lists.push((other, theirs));
                }
                Step::Compact(rows_max) => {
                    let moved = list.compact(rows_max, &mut pool);
                    prop_assert!(moved <= rows_max);
                }
                Step::Clear => {
                    list.clear(&mut pool);
                    rows.clear();
                }
            }
            for (list, rows) in &lists {
                prop_assert_eq!(&numbers(list), rows);
            }
            let held: usize = lists.iter().map(|(list, _)| list.block_len()).sum();
            prop_assert_eq!(held, pool.allocated());
        }
        for (list, _) in &mut lists {
            list.clear(&mut pool);
        }
        prop_assert_eq!(pool.allocated(), 0);
        pool.trim();
        prop_assert_eq!(pool.slab_bytes(), 0);
    }
}
