//! The way down a tree: the children of the rows of a query, for passes over a part of them.
//!
//! The lists of sources give the children, with a look-up for each. An index of all rows needs no
//! look-ups, but is made in O(rows), and is void after a change of the tree. So it is made when the
//! look-ups since the last change, of visited rows and of their children, are an eighth of all
//! rows.

use core::ops::Range;

use rustc_hash::FxHashSet;

use crate::component::TreeRelation;

use super::row_finder::RowFinder;
use super::row_numbers::{NONE, narrow};
use super::row_tree::RowTree;

/// Finds the children of rows.
#[derive(Debug, Default)]
pub(super) struct LevelIndex {
    /// The first child of each number in `children`, and the end of the last; empty if the index is
    /// not made.
    firsts: Vec<u32>,
    /// The rows of the children of each row, in the order of the rows.
    children: Vec<u32>,
    /// Look-ups since the tree changed: one for each row, and one for each child.
    looked_up: usize,
}

impl LevelIndex {
    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.firsts.capacity() + self.children.capacity()) * size_of::<u32>()
    }

    /// Forgets all children, after a change of the tree.
    pub(super) fn clear(&mut self) {
        self.firsts.clear();
        self.children.clear();
        self.looked_up = 0;
    }

    /// Makes the index if the look-ups since the tree changed are enough to pay for it.
    fn make_if_it_pays(&mut self, tree: &RowTree) {
        if self.firsts.is_empty() && self.looked_up > tree.above.len() / 8 {
            self.make(tree);
        }
    }

    /// O(numbers).
    fn make(&mut self, tree: &RowTree) {
        let Self { firsts, children, .. } = self;
        firsts.clear();
        firsts.resize(tree.above.len() + 1, 0);
        let parents = tree.above.iter().filter(|&&row| row != NONE);
        parents.for_each(|&row| firsts[row as usize + 1] += 1);
        (1..firsts.len()).for_each(|row| firsts[row] += firsts[row - 1]);
        let mut ends = firsts.clone();
        children.clear();
        children.resize(firsts.last().map_or(0, |&all| all as usize), 0);
        for (row, &parent) in (0u32..).zip(&tree.above).filter(|&(_, &parent)| parent != NONE) {
            let end = &mut ends[parent as usize];
            children[*end as usize] = row;
            *end += 1;
        }
    }

    /// Some rows and all rows below them, in ranges: level after level, and ascending in each
    /// level. The ranges do not overlap, and each has rows of one level. `some` has ranges of rows
    /// of any levels, in any order. O(found rows + ranges log ranges).
    pub(super) fn below<R: TreeRelation>(
        &mut self,
        tree: &RowTree,
        some: &[Range<u32>],
        finder: &RowFinder<'_, R>,
    ) -> Vec<Range<u32>> {
        let level_of = |range: &Range<u32>| tree.levels[range.start as usize];
        let mut some: Vec<_> = some.iter().flat_map(|range| levels_of(tree, range)).collect();
        some.sort_unstable_by_key(|range| (level_of(range), range.start));
        let mut some = some.into_iter().peekable();
        let (mut all, mut level) = (Vec::new(), Vec::new());
        while let Some(first) = level.first().or(some.peek()) {
            let number = level_of(first);
            while let Some(range) = some.next_if(|range| level_of(range) == number) {
                level.push(range);
            }
            level.sort_unstable_by_key(|range: &Range<u32>| range.start);
            level.dedup_by(|next, kept| {
                let joins = next.start <= kept.end;
                kept.end = if joins { kept.end.max(next.end) } else { kept.end };
                joins
            });
            let mut below = Vec::new();
            for range in &level {
                self.make_if_it_pays(tree);
                self.add_children(range, finder, &mut below);
            }
            all.append(&mut level);
            level = below;
        }
        all
    }

    /// Adds the children of some rows, in ranges.
    fn add_children<R: TreeRelation>(
        &mut self,
        rows: &Range<u32>,
        finder: &RowFinder<'_, R>,
        ranges: &mut Vec<Range<u32>>,
    ) {
        if !self.firsts.is_empty() {
            let [first, end] = [rows.start, rows.end].map(|row| self.firsts[row as usize]);
            return add_ranges(&self.children[first as usize..end as usize], ranges);
        }
        let (mut walked, mut children) = (FxHashSet::default(), Vec::new());
        for row in rows.clone() {
            finder.add_below(finder.entity(row), &mut walked, &mut children);
        }
        self.looked_up += rows.len() + children.len();
        add_ranges(&children, ranges);
    }
}

/// Adds rows as ranges of rows that follow each other.
fn add_ranges(rows: &[u32], ranges: &mut Vec<Range<u32>>) {
    let runs = rows.chunk_by(|one, next| one + 1 == *next);
    ranges.extend(runs.map(|run| run[0]..run[0] + narrow(run.len())));
}

/// Cuts a range of rows into ranges of one level.
fn levels_of<'t>(tree: &'t RowTree, rows: &Range<u32>) -> impl Iterator<Item = Range<u32>> + 't {
    let levels = &tree.levels[rows.start as usize..rows.end as usize];
    let mut start = rows.start;
    levels.chunk_by(|one, next| one == next).map(move |run| {
        let range = start..start + narrow(run.len());
        start = range.end;
        range
    })
}
