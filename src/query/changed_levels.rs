//! A pass over some rows of a query and all rows below them in a tree, level after level.
//!
//! The rows to visit are known before the pass: they follow from the tree alone. The slices of each
//! part are cut at their ends. Rows between them are read as parents, and are not stamped. Chunks
//! without a row to visit and without a parent are passed over before their slices are made.

use core::cell::Cell;
use core::ops::Range;

use crate::component::Component;

use super::filter::Filter;
use super::level_terms::LevelTerms;
use super::query::Query;
use super::row_numbers::NONE;
use super::row_tree::RowTree;

/// The rows that a pass visits, cut into runs.
#[derive(Debug)]
pub(super) struct ChangedLevels<'a> {
    tree: &'a RowTree,
    /// Level after level.
    runs: Vec<ChangedRun>,
    /// The numbers of the runs in the order of the rows.
    by_row: Vec<u32>,
}

/// Rows of one part and one level, which follow each other.
#[derive(Debug)]
struct ChangedRun {
    /// The number of its first row.
    start: u32,
    len: u32,
}

impl ChangedRun {
    /// The rows of the parents: [`NONE`] for roots.
    fn parents<'a>(&self, tree: &'a RowTree) -> &'a [u32] {
        &tree.above[self.start as usize..self.start as usize + self.len as usize]
    }
}

/// Values of the rows of one part that follow each other.
struct Piece<'w, G> {
    /// The number of the first row.
    start: u32,
    values: &'w mut [G],
}

/// For each run the number of its piece, and the slices of the other terms.
type Cuts<O> = Vec<Option<(usize, O)>>;

/// Copies the values of some rows. `last` is the number of the piece that has the last one. Not
/// inlined, so that the loop has its own registers.
#[inline(never)]
fn copy_values<G: Copy>(
    pieces: &[Piece<'_, G>],
    last: &mut usize,
    rows: impl Iterator<Item = u32>,
    copies: &mut [G],
) {
    // The first row of a piece, and its values.
    let of = |number: usize| (pieces[number].start, &*pieces[number].values);
    let (mut start, mut values) = of(*last);
    for (copy, row) in copies.iter_mut().zip(rows) {
        let mut value = values.get(row.wrapping_sub(start) as usize);
        if value.is_none() {
            *last = pieces.partition_point(|piece| piece.start <= row) - 1;
            (start, values) = of(*last);
            value = values.get((row - start) as usize);
        }
        *copy = *value.expect("a parent is in a part of the query");
    }
}

impl<'a> ChangedLevels<'a> {
    /// The ranges of `rows` do not overlap. Each has rows of one level; they come level after
    /// level, and ascend in each level.
    pub(super) fn new(tree: &'a RowTree, rows: &[Range<u32>]) -> Self {
        let mut runs = Vec::new();
        for range in rows {
            let mut start = range.start;
            let mut part = tree.numbers.part_of(start);
            while start < range.end {
                let len = range.end.min(tree.numbers.parts[part].end()) - start;
                runs.push(ChangedRun { start, len });
                (start, part) = (start + len, part + 1);
            }
        }
        let mut by_row: Vec<_> = (0u32..).take(runs.len()).collect();
        by_row.sort_unstable_by_key(|&number| runs[number as usize].start);
        Self { tree, runs, by_row }
    }

    /// Calls `body` with the slices of each run, and the values of the parents: `root` for rows
    /// without one.
    pub(super) fn pass<G: Component, Q: LevelTerms<G>, F: Filter>(
        &self,
        query: Query<'_, Q, F>,
        root: &G,
        mut body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        let (mut pieces, mut cuts) = self.cut(query);
        let mut parents = Vec::new();
        // The piece of the last parent.
        let mut last = 0;
        for (run, cut) in self.runs.iter().zip(&mut cuts) {
            let (piece, others) = cut.take().expect("a run is cut once and visited once");
            parents.clear();
            parents.resize(run.len as usize, *root);
            // Roots are a level of their own.
            let rows = run.parents(self.tree);
            if rows[0] != NONE {
                copy_values(&pieces, &mut last, rows.iter().copied(), &mut parents);
            }
            // A parent is in another level, so in another piece.
            body(&mut *pieces[piece].values, others, &parents);
        }
    }

    /// A row of each run, and of each part with parents, in ascending order.
    fn needed_rows(&self) -> Vec<u32> {
        let mut rows: Vec<_> =
            self.by_row.iter().map(|&number| self.runs[number as usize].start).collect();
        let numbers = &self.tree.numbers;
        // The part of the last parent.
        let mut part = 0..0;
        for parents in self.runs.iter().map(|run| run.parents(self.tree)) {
            for &row in parents.iter().filter(|&&row| row != NONE) {
                if !part.contains(&row) {
                    let of = &numbers.parts[numbers.part_of(row)];
                    part = of.first..of.end();
                    rows.push(row);
                }
            }
        }
        // Not an unstable one: the rows of a level ascend, which it makes use of.
        rows.sort();
        rows
    }

    /// Cuts the slices of a pass at the ends of the runs, without chunks that have no row of a run
    /// and no parent. Returns the pieces in the order of the rows, and for each run the number of
    /// its piece and the slices of the other terms.
    fn cut<'w, G: Component, Q: LevelTerms<G>, F: Filter>(
        &self,
        query: Query<'w, Q, F>,
    ) -> (Vec<Piece<'w, G>>, Cuts<Q::Others<'w>>) {
        let (mut pieces, mut cuts) = (Vec::new(), Cuts::new());
        cuts.resize_with(self.runs.len(), || None);
        let parts = &self.tree.numbers.parts;
        // The number of the next part.
        let next = Cell::new(0);
        let mut needed = self.needed_rows().into_iter().peekable();
        let is_needed = || {
            let rest = &parts[next.get()..];
            let own = rest.iter().take_while(|part| part.is_in_chunk_of(&rest[0])).count();
            let end = rest[own - 1].end();
            let is_needed = needed.peek().is_some_and(|&row| row < end);
            if !is_needed {
                next.set(next.get() + own);
            }
            while needed.next_if(|&row| row < end).is_some() {}
            is_needed
        };
        let mut by_row = self.by_row.iter().map(|&number| number as usize).peekable();
        query.into_iter().for_each_unstamped(is_needed, |mut slices, stamp| {
            let part = &parts[next.replace(next.get() + 1)];
            let (mut row, end) = (part.first, part.end());
            let mut cut_to = |row: &mut u32, to: u32| {
                let (values, others) = Q::first(Q::split_off(&mut slices, (to - *row) as usize));
                pieces.push(Piece { start: *row, values });
                *row = to;
                (pieces.len() - 1, others)
            };
            while let Some(number) = by_row.next_if(|&number| self.runs[number].start < end) {
                let run = &self.runs[number];
                if row < run.start {
                    cut_to(&mut row, run.start);
                }
                let first = part.start + (row - part.first);
                stamp(first..first + run.len);
                cuts[number] = Some(cut_to(&mut row, run.start + run.len));
            }
            if row < end {
                cut_to(&mut row, end);
            }
        });
        (pieces, cuts)
    }
}
