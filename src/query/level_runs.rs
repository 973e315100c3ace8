//! The rows of a query, cut into runs by their level in a tree.
//!
//! A run has rows that follow each other, of one level and one part: the rows of a chunk that a
//! pass yields at once. Runs are sorted by level, and so are the *entries*, one for each row:
//!
//! ```text
//!  part    │ a b │ c d e f │ g h │      a, b: roots; c d e: children of a; f: of b
//!  runs      0       1        2         g, h: children of c, f
//!  entries  0 1   2 3 4 5    6 7
//!  parents           0 0 0 1  0 3       the places in the run above
//! ```

use core::iter::repeat_n;
use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::TreeRelation;
use crate::storage::StampKind;
use crate::store::SparseSet;
use crate::version::Version;

use super::filter::Filter;
use super::query::Query;
use super::row_tree::{NONE, RowTree, narrow};
use super::terms::Terms;

/// The runs of the rows of a query, level after level.
#[derive(Debug, Default)]
pub(super) struct LevelRuns {
    /// In the order of the rows.
    pub(super) parts: Vec<PassPart>,
    /// Level after level, each in the order of the rows.
    pub(super) runs: Vec<LevelRun>,
    /// The numbers of the runs in the order of the rows.
    pub(super) by_row: Vec<u32>,
    /// The place of the parent of each row in its run, in the order of the entries.
    pub(super) parents: Vec<u32>,
    /// The runs of the parents of each row, for runs of rows with parents in several of them.
    above: Vec<u32>,
}

/// Rows that a pass yields at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PassPart {
    /// The key of the chunk list, which is unique among all worlds.
    pub(super) list: u64,
    order: Version,
    pub(super) chunk: u32,
    /// The first row of the part in its chunk.
    pub(super) start: u32,
    pub(super) len: u32,
    /// The number of its first row, in the order of the query.
    pub(super) first: u32,
}

/// Rows of one part and one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelRun {
    level: u32,
    /// The number of its first row, in the order of the query.
    pub(super) start: u32,
    pub(super) len: u32,
    /// The run of the parent of the first row, or [`NONE`].
    pub(super) above: u32,
    /// The first entry in the list of parents' runs, or [`NONE`] if all parents are in one.
    mixed: u32,
    /// The entry of its first row.
    pub(super) first: u32,
    /// Whether each parent is in the row after the one before it.
    pub(super) in_order: bool,
}

/// The parents of neighbours in a run, by their places in the runs above.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parents<'r> {
    /// The rows are roots.
    None,
    InOne {
        run: u32,
        places: &'r [u32],
    },
    /// The run of each parent, beside its place.
    InSeveral {
        runs: &'r [u32],
        places: &'r [u32],
    },
}

impl LevelRun {
    /// The entries of its rows.
    pub(super) const fn entries(&self) -> Range<usize> {
        self.first as usize..self.first as usize + self.len as usize
    }

    /// The number of the row after its last.
    const fn end(&self) -> u32 {
        self.start + self.len
    }
}

impl LevelRuns {
    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.by_row.capacity() + self.parents.capacity() + self.above.capacity())
            * size_of::<u32>()
            + self.parts.capacity() * size_of::<PassPart>()
            + self.runs.capacity() * size_of::<LevelRun>()
    }

    /// Whether a pass of the query would visit the rows of the runs. O(chunks).
    pub(super) fn are_of<Q: Terms, F: Filter>(&self, query: &Query<'_, Q, F>) -> bool {
        let (mut parts, mut first, mut fits) = (self.parts.iter(), 0, true);
        query.for_each_run(|_, archetype, chunk, rows| {
            let part = PassPart::of(archetype, (chunk, rows), first);
            first += part.len;
            fits &= parts.next() == Some(&part);
        });
        fits && parts.next().is_none()
    }

    /// The parents of some entries of a run.
    pub(super) fn parents_of(&self, run: &LevelRun, entries: Range<usize>) -> Parents<'_> {
        let places = &self.parents[entries.clone()];
        match (run.above, run.mixed) {
            (NONE, _) => Parents::None,
            (run, NONE) => Parents::InOne { run, places },
            (_, mixed) => {
                let first = mixed as usize + (entries.start - run.first as usize);
                Parents::InSeveral { runs: &self.above[first..][..places.len()], places }
            }
        }
    }

    /// The number of the run of an entry.
    pub(super) fn run_of(&self, entry: u32) -> u32 {
        narrow(self.runs.partition_point(|run| run.first <= entry) - 1)
    }

    /// The level of an entry: 0 is that of the roots.
    pub(super) fn level_of(&self, entry: u32) -> u32 {
        self.runs[self.run_of(entry) as usize].level
    }

    /// Adds the entries of rows that follow each other, run by run.
    pub(super) fn push_entries(&self, rows: Range<u32>, entries: &mut Vec<Range<u32>>) {
        let run = |number: u32| &self.runs[number as usize];
        let first = self.by_row.partition_point(|&number| run(number).end() <= rows.start);
        let runs = self.by_row[first..].iter().map(|&number| run(number));
        for run in runs.take_while(|run| run.start < rows.end) {
            let [from, to] = [rows.start, rows.end]
                .map(|row| run.first + (row.clamp(run.start, run.end()) - run.start));
            entries.push(from..to);
        }
    }

    /// Makes the runs of the rows of a query. O(relations + rows).
    pub(super) fn make<R: TreeRelation, Q: Terms, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: &Query<'_, Q, F>,
    ) {
        self.parts.clear();
        let mut entities = Vec::new();
        query.for_each_run(|_, archetype, chunk, rows| {
            let first = narrow(entities.len());
            let run = rows.start as usize..rows.end as usize;
            entities.extend_from_slice(&archetype.entities_of_chunk(chunk)[run]);
            self.parts.push(PassPart::of(archetype, (chunk, rows), first));
        });
        let tree = RowTree::of(set, &entities);
        self.runs.clear();
        self.parents.clear();
        self.parents.reserve(entities.len());
        self.above.clear();
        let mut run_of = vec![NONE; tree.above.len()];
        // The end of the part of the last row.
        let mut end = 0;
        for row in tree.by_level() {
            let (parent, level) = (tree.above[row as usize], tree.levels[row as usize]);
            let above = if parent == NONE { NONE } else { run_of[parent as usize] };
            let place = self.runs.get(above as usize).map_or(0, |above| parent - above.start);
            let first = narrow(self.parents.len());
            self.parents.push(place);
            match self.runs.last_mut() {
                Some(run) if (run.level, run.start + run.len) == (level, row) && row < end => {
                    if run.mixed == NONE && run.above != above {
                        run.mixed = narrow(self.above.len());
                        self.above.extend(repeat_n(run.above, run.len as usize));
                    }
                    if run.mixed != NONE {
                        self.above.push(above);
                    }
                    let next = self.parents[run.first as usize] + run.len;
                    run.in_order &= run.mixed == NONE && place == next;
                    run.len += 1;
                }
                _ => {
                    let part = &self.parts[self.part_of(row)];
                    end = part.first + part.len;
                    let (start, len, mixed, in_order) = (row, 1, NONE, true);
                    let run = LevelRun { level, start, len, above, mixed, first, in_order };
                    self.runs.push(run);
                }
            }
            run_of[row as usize] = narrow(self.runs.len() - 1);
        }
        self.by_row.clear();
        let mut row = 0;
        while let Some(&number) = run_of.get(row) {
            self.by_row.push(number);
            row += self.runs[number as usize].len as usize;
        }
    }

    /// The number of the part of a row.
    fn part_of(&self, row: u32) -> usize {
        self.parts.partition_point(|part| part.first <= row) - 1
    }
}

impl PassPart {
    /// The row after the last of the part, in its chunk.
    pub(super) const fn end(&self) -> u32 {
        self.start + self.len
    }

    /// Whether both are parts of one chunk.
    pub(super) fn is_in_chunk_of(&self, other: &Self) -> bool {
        (self.list, self.chunk) == (other.list, other.chunk)
    }

    fn of(archetype: &Archetype, (chunk, rows): (u32, Range<u32>), first: u32) -> Self {
        Self {
            list: archetype.list().key(),
            order: archetype.stamps().get(StampKind::ORDER, chunk as usize),
            chunk,
            start: rows.start,
            len: rows.end - rows.start,
            first,
        }
    }
}
