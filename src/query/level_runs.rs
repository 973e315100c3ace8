//! The rows of a query, cut into runs by their level in a tree.
//!
//! A run has rows that follow each other, of one level and one part: the rows of a chunk that a
//! pass yields at once. Runs are sorted by level:
//!
//! ```text
//!  part    │ a b │ c d e f │ g h │      a, b: roots; c d e: children of a; f: of b
//!  runs      0       1        2         g, h: children of c, f
//!  above             0 0 0 1  2 5       the rows of the parents: places in the run above, if the
//!                                       number of its first row is taken away
//! ```
//!
//! Runs are made again after a change of the tree. Levels and parents are read in the order of the
//! rows, without a look-up by entity. They are equal or ascend where the rows lie by level.

use core::ops::Range;

use super::row_numbers::{NONE, narrow};
use super::row_tree::RowTree;

/// The runs of the rows of a query, level after level.
#[derive(Debug, Default)]
pub(super) struct LevelRuns {
    /// Level after level, each in the order of the rows.
    pub(super) runs: Vec<LevelRun>,
    /// The numbers of the runs in the order of the rows.
    pub(super) by_row: Vec<u32>,
    /// The parents of each row, for runs of rows with parents in several runs.
    mixed: Vec<Parent>,
}

/// Rows of one part and one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelRun {
    /// The number of its first row.
    pub(super) start: u32,
    pub(super) len: u32,
    /// The parent of the first row: its run is [`NONE`] if the rows are roots.
    above: Parent,
    /// The first entry in the list of parents, or [`NONE`] if all parents are in one run.
    mixed: u32,
    /// Whether each parent is in the row after the one before it.
    pub(super) in_order: bool,
}

/// The place of a parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    pub(super) run: u32,
    /// The rows of the run before it.
    pub(super) place: u32,
}

impl Parent {
    const NONE: Self = Self { run: NONE, place: 0 };
}

/// The parents of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parents<'r> {
    /// The rows are roots.
    None,
    /// All are in the run of this one, which is the parent of the first row.
    InOne(Parent),
    InSeveral(&'r [Parent]),
}

impl LevelRun {
    /// The numbers of its rows.
    pub(super) const fn rows(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

impl LevelRuns {
    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        self.by_row.capacity() * size_of::<u32>()
            + self.mixed.capacity() * size_of::<Parent>()
            + self.runs.capacity() * size_of::<LevelRun>()
    }

    /// The parents of a run.
    #[inline]
    pub(super) fn parents_of(&self, run: &LevelRun) -> Parents<'_> {
        match (run.above, run.mixed) {
            (Parent { run: NONE, .. }, _) => Parents::None,
            (first, NONE) => Parents::InOne(first),
            (_, mixed) => Parents::InSeveral(&self.mixed[mixed as usize..][..run.len as usize]),
        }
    }

    /// Makes the runs of a tree. O(rows).
    pub(super) fn make(&mut self, tree: &RowTree) {
        self.cut(tree);
        // The run of each row, and the number of its first row.
        let mut run_of = vec![(NONE, 0); tree.levels.len()];
        for &number in &self.by_row {
            let run = &self.runs[number as usize];
            run_of[run.rows()].fill((number, run.start));
        }
        let parent = |row: u32| {
            let (run, start) = run_of[row as usize];
            Parent { run, place: row - start }
        };
        self.mixed.clear();
        for number in 0..self.runs.len() {
            let run = &self.runs[number];
            let rows = &tree.above[run.rows()];
            // Roots have no parent, and all other rows have one.
            if rows[0] == NONE {
                continue;
            }
            let above = parent(rows[0]);
            // Scattered rows are mostly alone.
            let (mut are_in_one, mut follow) = (true, true);
            if let [_, rest @ ..] = rows
                && !rest.is_empty()
            {
                let (start, len) = (rows[0] - above.place, self.runs[above.run as usize].len);
                for (next, &row) in (rows[0] + 1..).zip(rest) {
                    are_in_one &= row.wrapping_sub(start) < len;
                    follow &= row == next;
                }
            }
            let run = &mut self.runs[number];
            (run.above, run.in_order) = (above, are_in_one && follow);
            if !are_in_one {
                run.mixed = narrow(self.mixed.len());
                self.mixed.extend(rows.iter().map(|&row| parent(row)));
            }
        }
    }

    /// Cuts the rows into runs, and sorts them by level. The parents are not known yet.
    fn cut(&mut self, tree: &RowTree) {
        // The first run of each level, from a count of the runs of each.
        let mut firsts: Vec<u32> = vec![0];
        for_each_run(tree, |level, _, _| {
            if firsts.len() <= level as usize + 1 {
                firsts.resize(level as usize + 2, 0);
            }
            firsts[level as usize + 1] += 1;
        });
        (1..firsts.len()).for_each(|level| firsts[level] += firsts[level - 1]);
        let none = LevelRun { start: 0, len: 0, above: Parent::NONE, mixed: NONE, in_order: true };
        self.runs.clear();
        self.runs.resize(firsts[firsts.len() - 1] as usize, none);
        self.by_row.clear();
        for_each_run(tree, |level, start, len| {
            let at = &mut firsts[level as usize];
            self.runs[*at as usize] = LevelRun { start, len, ..none };
            self.by_row.push(*at);
            *at += 1;
        });
    }
}

/// Calls `f` with the level, the first row and the length of each run, in the order of the rows.
#[inline(always)]
fn for_each_run(tree: &RowTree, mut f: impl FnMut(u32, u32, u32)) {
    for part in &tree.numbers.parts {
        let (mut start, mut level) = (part.first, tree.levels[part.first as usize]);
        let levels = &tree.levels[part.first as usize..part.end() as usize];
        for (row, &next) in (part.first..).zip(levels) {
            if next != level {
                f(level, start, row - start);
                (start, level) = (row, next);
            }
        }
        f(level, start, part.end() - start);
    }
}
