//! The way down a tree: the children of the rows of a query, for passes over a part of them.

use core::iter::repeat_n;
use core::ops::Range;

use rustc_hash::FxHashMap;

use super::filter::Filter;
use super::level_runs::{LevelRuns, Parents};
use super::query::Query;
use super::row_tree::narrow;
use super::terms::Terms;

/// Finds the children of [entries](super::level_runs), and the entries of the rows of another
/// query.
#[derive(Debug, Default)]
pub(super) struct LevelIndex {
    /// The first child of each entry in `children`, and the end of the last.
    firsts: Vec<u32>,
    /// The entries of the children of each entry, in the order of the entries.
    children: Vec<u32>,
    /// The numbers of the parts of each chunk list, by its key.
    lists: FxHashMap<u64, Range<usize>>,
}

impl LevelIndex {
    /// O(rows).
    pub(super) fn of(rows: &LevelRuns) -> Self {
        let entry = |run: u32, place: &u32| Some(rows.runs[run as usize].first + place);
        let mut parents = Vec::with_capacity(rows.parents.len());
        for run in &rows.runs {
            match rows.parents_of(run, run.entries()) {
                Parents::None => parents.extend(repeat_n(None, run.len as usize)),
                Parents::InOne { run, places } => {
                    parents.extend(places.iter().map(|place| entry(run, place)));
                }
                Parents::InSeveral { runs, places } => {
                    parents.extend(runs.iter().zip(places).map(|(&run, place)| entry(run, place)));
                }
            }
        }
        let mut firsts = vec![0; parents.len() + 1];
        parents.iter().flatten().for_each(|&parent| firsts[parent as usize + 1] += 1);
        (1..firsts.len()).for_each(|entry| firsts[entry] += firsts[entry - 1]);
        let mut ends = firsts.clone();
        let mut children = vec![0; parents.iter().flatten().count()];
        for (entry, parent) in (0u32..).zip(parents) {
            let Some(parent) = parent else { continue };
            let end = &mut ends[parent as usize];
            children[*end as usize] = entry;
            *end += 1;
        }
        let mut lists = FxHashMap::default();
        let mut first = 0;
        for parts in rows.parts.chunk_by(|one, next| one.list == next.list) {
            lists.insert(parts[0].list, first..first + parts.len());
            first += parts.len();
        }
        Self { firsts, children, lists }
    }

    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.firsts.capacity() + self.children.capacity()) * size_of::<u32>()
            + self.lists.capacity() * size_of::<(u64, Range<usize>)>()
    }

    /// The entries of the rows that another query sees, in any order: each range is in one run.
    pub(super) fn entries_of<Q: Terms, F: Filter>(
        &self,
        rows: &LevelRuns,
        query: &Query<'_, Q, F>,
    ) -> Vec<Range<u32>> {
        let mut entries = Vec::new();
        query.for_each_run(|_, archetype, chunk, run| {
            let Some(parts) = self.lists.get(&archetype.list().key()) else { return };
            let parts = &rows.parts[parts.clone()];
            let first =
                parts.partition_point(|part| (part.chunk, part.end()) <= (chunk, run.start));
            let parts = &parts[first..];
            for part in parts.iter().take_while(|part| (part.chunk, part.start) < (chunk, run.end))
            {
                let row = |at: u32| part.first + (at.clamp(part.start, part.end()) - part.start);
                rows.push_entries(row(run.start)..row(run.end), &mut entries);
            }
        });
        entries
    }

    /// Some entries of one level and all that are below them: ranges in ascending order, which do
    /// not overlap. O(found entries + ranges log ranges).
    pub(super) fn below(&self, rows: &LevelRuns, mut some: Vec<Range<u32>>) -> Vec<Range<u32>> {
        some.sort_unstable_by_key(|range| range.start);
        let mut some = some.into_iter().peekable();
        let (mut all, mut level) = (Vec::new(), Vec::new());
        while let Some(first) = level.first().or(some.peek()) {
            let number = rows.level_of(first.start);
            while let Some(range) = some.next_if(|range| rows.level_of(range.start) == number) {
                level.push(range);
            }
            level.sort_unstable_by_key(|range| range.start);
            level.dedup_by(|next, kept| {
                let joins = next.start <= kept.end;
                kept.end = if joins { kept.end.max(next.end) } else { kept.end };
                joins
            });
            let below = level.iter().flat_map(|range| self.children_of(range)).collect();
            all.append(&mut level);
            level = below;
        }
        all
    }

    /// The entries of the children of some entries.
    fn children_of(&self, entries: &Range<u32>) -> impl Iterator<Item = Range<u32>> {
        let [first, end] = [entries.start, entries.end].map(|entry| self.firsts[entry as usize]);
        let children = &self.children[first as usize..end as usize];
        children
            .chunk_by(|one, next| one + 1 == *next)
            .map(|run| run[0]..run[0] + narrow(run.len()))
    }
}
