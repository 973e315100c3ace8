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
    if !is_by_row::<Q, F>() {
        let QueryParts { plan, archetypes, sparse, .. } = store.query_parts(query_type::<Q, F>());
        let filter = OpenFilter::new(*filter).with_sets(sparse);
        return Matches { chunks: matches(plan, archetypes.as_slice(), filter), rows: Vec::new() };
    }
    let seen = masks_in::<Q, F>(store, filter);
    let by_archetype = seen.chunk_by(|(a, ..), (b, ..)| a == b);
    if seen.iter().all(|(.., mask)| mask.all()) {
        let chunks = by_archetype.map(|seen| {
            let chunks = seen.iter().map(|(.., mask)| mask.chunk()).collect();
            MatchedChunks { archetype: seen[0].0, chunks: ChunkSet::Some(chunks) }
        });
        return Matches { chunks: chunks.collect(), rows: Vec::new() };
    }
    Matches { chunks: Vec::new(), rows: by_archetype.map(rows_of).collect() }
}

/// The chunks that terms and filters match in an exclusive store, in the order of a pass, with the
/// rows that they see. All tests of chunks are made, once for each. Stamps no chunk.
pub(crate) fn masks_in<'s, Q: Terms, F: Filter>(
    store: &'s mut Store,
    filter: &F,
) -> Vec<(ArchetypeId, &'s Archetype, RowMask<'s>)> {
    let QueryParts { plan, archetypes, sparse, .. } = store.query_parts(query_type::<Q, F>());
    let filter = OpenFilter::new(*filter).with_sets(sparse);
    let mut all = Vec::new();
    for (entry, id, archetype) in entries(plan, archetypes.into_shared().as_slice(), filter) {
        let masks = masks::<Q, F>(plan, entry, archetype, filter);
        all.extend(masks.map(|mask| (id, archetype, mask)));
    }
    all
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

/// The entities of the rows that a query sees in an archetype, in at least one chunk.
fn rows_of(seen: &[(ArchetypeId, &Archetype, RowMask<'_>)]) -> MatchedRows {
    let mut entities = Vec::new();
    for (_, archetype, mask) in seen {
        let in_chunk = archetype.entities_of_chunk(mask.chunk());
        mask.runs().for_each(|run| entities.extend_from_slice(&in_chunk[run]));
    }
    MatchedRows { archetype: seen[0].0, entities }
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
