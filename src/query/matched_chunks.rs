//! The chunks that a query matches, found without a pass: for operations on whole chunks.

use core::ops::Range;

use crate::archetype::Archetype;
use crate::entity::ArchetypeId;
use crate::storage::{ChunkSet, RowMask};
use crate::store::{MatchedChunks, MatchedRows, Matches, Plan, QueryParts, Store};

use super::filter::{Filter, StampAt};
use super::open_filter::{OpenFilter, seen_rows};
use super::query::Query;
use super::query_type::{is_by_row, query_type};
use super::tagged::next_entry;
use super::terms::Terms;

/// The matches of terms and filters in an exclusive store. Stamps no chunk.
pub(crate) fn matches_in<Q: Terms, F: Filter>(store: &mut Store, filter: &F) -> Matches {
    let QueryParts { plan, archetypes, sparse, .. } = store.query_parts(query_type::<Q, F>());
    let filter = OpenFilter::new(*filter).with_sets(sparse);
    let archetypes = archetypes.as_slice();
    if !is_by_row::<Q, F>() {
        return Matches { chunks: matches(plan, archetypes, filter), rows: Vec::new() };
    }
    // All at once: a test of chunks is called once for each.
    let seen = entries(plan, archetypes, filter).map(|(entry, number, archetype)| {
        let masks: Vec<_> = masks::<Q, F>(plan, entry, archetype, filter).collect();
        (number, archetype, masks)
    });
    let seen: Vec<_> = seen.filter(|(_, _, masks)| !masks.is_empty()).collect();
    if seen.iter().all(|(_, _, masks)| masks.iter().all(RowMask::all)) {
        let chunks = seen.into_iter().map(|(archetype, _, masks)| {
            let chunks = masks.iter().map(RowMask::chunk).collect();
            MatchedChunks { archetype, chunks: ChunkSet::Some(chunks) }
        });
        return Matches { chunks: chunks.collect(), rows: Vec::new() };
    }
    Matches { chunks: Vec::new(), rows: seen.into_iter().map(rows_of).collect() }
}

/// Calls `f` with each chunk that terms and filters match in an exclusive store, and the rows that
/// they see, after all tests of chunks, which may panic. Stamps no chunk.
pub(crate) fn masks_in<Q: Terms, F: Filter>(
    store: &mut Store,
    filter: &F,
    mut f: impl FnMut(ArchetypeId, &Archetype, RowMask<'_>),
) {
    let QueryParts { plan, archetypes, sparse, .. } = store.query_parts(query_type::<Q, F>());
    let filter = OpenFilter::new(*filter).with_sets(sparse);
    let mut all = Vec::new();
    for (entry, id, archetype) in entries(plan, archetypes.as_slice(), filter) {
        let masks = masks::<Q, F>(plan, entry, archetype, filter);
        all.extend(masks.map(|mask| (id, archetype, mask)));
    }
    all.into_iter().for_each(|(id, archetype, mask)| f(id, archetype, mask));
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// The number of rows of a query that chooses chunks or rows.
    pub(super) fn count_by_chunk(&self) -> usize {
        let (view, filter) = (self.view(), self.viewed_filter());
        let (store, plan) = (view.store(), view.plan(query_type::<Q, F>()));
        let all = entries(plan, store.archetypes().as_slice(), filter);
        let rows = |(entry, _, archetype)| {
            masks::<Q, F>(plan, entry, archetype, filter).map(|mask| mask.count()).sum::<usize>()
        };
        all.map(rows).sum()
    }

    /// Calls `f` with each run of rows that a pass would visit, in its order. Stamps no chunk.
    pub(super) fn for_each_run(&self, mut f: impl FnMut(&Store, &Archetype, u32, Range<u32>)) {
        self.for_each_numbered_run(|store, (_, archetype), chunk, rows| {
            f(store, archetype, chunk, rows);
        });
    }

    /// [`Query::for_each_run`] with the numbers of the archetypes.
    pub(super) fn for_each_numbered_run(
        &self,
        mut f: impl FnMut(&Store, (ArchetypeId, &Archetype), u32, Range<u32>),
    ) {
        let (view, filter) = (self.view(), self.viewed_filter());
        let (store, plan) = (view.store(), view.plan(query_type::<Q, F>()));
        for (entry, id, archetype) in entries(plan, store.archetypes().as_slice(), filter) {
            for mask in masks::<Q, F>(plan, entry, archetype, filter) {
                if !is_by_row::<Q, F>() {
                    f(store, (id, archetype), mask.chunk(), 0..mask.rows());
                    continue;
                }
                let mut runs = mask.runs();
                while let Some(run) = runs.next_run() {
                    f(store, (id, archetype), mask.chunk(), run);
                }
            }
        }
    }
}

/// The entities of the rows that a query sees in an archetype.
fn rows_of((number, archetype, masks): (ArchetypeId, &Archetype, Vec<RowMask<'_>>)) -> MatchedRows {
    let mut entities = Vec::new();
    for mask in masks {
        let in_chunk = archetype.entities_of_chunk(mask.chunk());
        mask.runs().for_each(|run| entities.extend_from_slice(&in_chunk[run]));
    }
    MatchedRows { archetype: number, entities }
}

/// The archetypes with rows that a plan lists, with the numbers of their entries. A filter by tags
/// keeps the archetypes that it chooses.
pub(super) fn entries<'p, F: Filter>(
    plan: &'p Plan,
    archetypes: &'p [Archetype],
    filter: OpenFilter<'p, F>,
) -> impl Iterator<Item = (usize, ArchetypeId, &'p Archetype)> {
    let mut from = 0;
    let all = core::iter::from_fn(move || {
        let entry = next_entry::<F>(plan, &filter, from)?;
        from = entry + 1;
        let (number, _) = plan.column_map().get(entry)?;
        Some((entry, ArchetypeId(number), &archetypes[number as usize]))
    });
    all.filter(|(_, _, archetype)| !archetype.is_empty())
}

/// The chunks that a pass would visit, in its order, if the query does not choose rows.
fn matches<'p, F: Filter>(
    plan: &'p Plan,
    archetypes: &'p [Archetype],
    filter: OpenFilter<'p, F>,
) -> Vec<MatchedChunks> {
    let matched = entries(plan, archetypes, filter).filter_map(|(entry, number, archetype)| {
        let chunks = match F::BY_CHUNK {
            false => ChunkSet::All,
            true => ChunkSet::Some(passing(plan, entry, archetype, filter).collect()),
        };
        let some = chunks.len(archetype.list().chunk_len()) > 0;
        some.then_some(MatchedChunks { archetype: number, chunks })
    });
    matched.collect()
}

/// The chunks of one archetype that pass the filter. `entry` is its entry in the plan.
pub(super) fn passing<'p, F: Filter>(
    plan: &'p Plan,
    entry: usize,
    archetype: &'p Archetype,
    filter: OpenFilter<'p, F>,
) -> impl Iterator<Item = u32> {
    let watched = plan.watched(entry);
    let passes = move |at| !F::BY_CHUNK || filter.passes(archetype.beside(), &mut { watched }, at);
    let count = if passes(StampAt::Newest) { archetype.list().chunk_len() } else { 0 };
    (0..count).filter(move |&chunk| passes(StampAt::Chunk(chunk as usize)))
}

/// The chunks of one archetype that pass the filter and have visible rows, with these rows.
pub(super) fn masks<'p, Q: Terms, F: Filter>(
    plan: &'p Plan,
    entry: usize,
    archetype: &'p Archetype,
    filter: OpenFilter<'p, F>,
) -> impl Iterator<Item = RowMask<'p>> {
    let (rules, watched) = (plan.rows(entry), plan.watched(entry));
    let mask = move |chunk| {
        let list = archetype.list();
        let rows = list.rows(chunk);
        match is_by_row::<Q, F>() {
            false => RowMask::all_of(chunk, rows),
            true => {
                let in_chunk = ((chunk, rows), list.capacity() as usize);
                seen_rows(&filter, (rules, watched), archetype.beside(), in_chunk)
            }
        }
    };
    let all = passing(plan, entry, archetype, filter).map(mask);
    all.filter(|mask| !is_by_row::<Q, F>() || !mask.none())
}
