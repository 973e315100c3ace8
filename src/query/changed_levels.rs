//! A pass over some rows of a query and all rows below them in a tree, level after level.
//!
//! The rows to visit are known before the pass: they follow from the tree alone. The slices of each
//! part are cut at their ends. Rows between them are read as parents, and are not stamped.

use core::ops::Range;

use crate::component::Component;

use super::filter::Filter;
use super::level_runs::LevelRuns;
use super::level_terms::LevelTerms;
use super::query::Query;

/// The rows that a pass visits, cut into runs.
#[derive(Debug)]
pub(super) struct ChangedLevels<'a> {
    rows: &'a LevelRuns,
    /// Level after level.
    runs: Vec<ChangedRun>,
    /// The numbers of the runs in the order of the rows.
    by_row: Vec<u32>,
}

/// Rows of one run of the plan.
#[derive(Debug)]
struct ChangedRun {
    /// The number of the run.
    run: u32,
    /// The entry of its first row.
    first: u32,
    /// The number of its first row, in the order of the query.
    start: u32,
    len: u32,
}

/// Values of the rows of one part that follow each other.
struct Piece<'w, G> {
    /// The number of the first row.
    start: u32,
    values: &'w mut [G],
}

/// For each run the number of its piece, and the slices of the other terms.
type Cuts<O> = Vec<Option<(usize, O)>>;

impl<G> Piece<'_, G> {
    fn value(&self, row: u32) -> Option<&G> {
        self.values.get(row.checked_sub(self.start)? as usize)
    }
}

impl<'a> ChangedLevels<'a> {
    /// `entries` are ranges in ascending order that do not overlap.
    pub(super) fn new(rows: &'a LevelRuns, entries: &[Range<u32>]) -> Self {
        let mut runs = Vec::new();
        for range in entries {
            let mut first = range.start;
            while first < range.end {
                let number = rows.run_of(first);
                let run = &rows.runs[number as usize];
                let (place, left) = (first - run.first, range.end - first);
                let len = left.min(run.len - place);
                runs.push(ChangedRun { run: number, first, start: run.start + place, len });
                first += len;
            }
        }
        let mut by_row: Vec<_> = (0u32..).take(runs.len()).collect();
        by_row.sort_unstable_by_key(|&number| runs[number as usize].start);
        Self { rows, runs, by_row }
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
        let mut gathered = Vec::new();
        // The piece of the last parent.
        let mut last = 0;
        for (run, cut) in self.runs.iter().zip(&mut cuts) {
            let (piece, others) = cut.take().expect("a run is cut once and visited once");
            let above = &self.rows.runs[run.run as usize];
            gathered.clear();
            gathered.extend((run.first..run.first + run.len).map(|entry| {
                let Some(row) = self.rows.parent_row(above, entry as usize) else { return *root };
                if pieces[last].value(row).is_none() {
                    last = pieces.partition_point(|piece: &Piece<'_, G>| piece.start <= row) - 1;
                }
                *pieces[last].value(row).expect("a parent is in a part of the query")
            }));
            // A parent is in another level, so in another piece.
            body(&mut *pieces[piece].values, others, &gathered);
        }
    }

    /// Cuts the slices of a pass at the ends of the runs. Returns all pieces in the order of the
    /// rows, and for each run the number of its piece and the slices of the other terms.
    fn cut<'w, G: Component, Q: LevelTerms<G>, F: Filter>(
        &self,
        query: Query<'w, Q, F>,
    ) -> (Vec<Piece<'w, G>>, Cuts<Q::Others<'w>>) {
        let (mut pieces, mut cuts) = (Vec::new(), Cuts::new());
        cuts.resize_with(self.runs.len(), || None);
        let mut parts = self.rows.parts.iter();
        let mut by_row = self.by_row.iter().map(|&number| number as usize).peekable();
        query.into_iter().for_each_unstamped(|mut slices, stamp| {
            let part = parts.next().expect("the plan fits the query");
            let (mut row, end) = (part.first, part.first + part.len);
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
