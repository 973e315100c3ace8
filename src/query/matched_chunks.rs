//! The chunks that a query matches, found without a pass: for operations on whole chunks.

use crate::archetype::Archetype;
use crate::entity::ArchetypeId;
use crate::storage::ChunkSet;
use crate::store::{Plan, Store};

use super::filter::{Filter, StampAt};
use super::query::Query;
use super::query_type::query_type;
use super::terms::Terms;

/// The chunks of one archetype that a query matches: at least one.
#[derive(Clone, Debug)]
pub(crate) struct MatchedChunks {
    pub(crate) archetype: ArchetypeId,
    pub(crate) chunks: ChunkSet,
}

/// The chunks of an exclusive store that terms and filters match. Stamps nothing.
pub(crate) fn matches_in<Q: Terms, F: Filter>(store: &mut Store, filter: &F) -> Vec<MatchedChunks> {
    let Store { archetypes, registry, plans, .. } = store;
    let plan = plans.get_mut(&query_type::<Q, F>(), registry, archetypes);
    matches(plan, archetypes.as_slice(), filter)
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// The chunks that match. Stamps nothing.
    pub(super) fn matches(&self) -> (&Store, Vec<MatchedChunks>) {
        let (store, plan) = self.borrow.plan(&query_type::<Q, F>());
        (store, matches(plan, store.archetypes.as_slice(), &self.filter))
    }
}

/// The chunks that a pass would visit, in its order.
fn matches<F: Filter>(plan: &Plan, archetypes: &[Archetype], filter: &F) -> Vec<MatchedChunks> {
    let entries = plan.column_map().labels().enumerate();
    let matched = entries.filter_map(|(entry, number)| {
        let archetype = &archetypes[number as usize];
        if archetype.is_empty() {
            return None;
        }
        let chunks = match F::BY_CHUNK {
            false => ChunkSet::All,
            true => ChunkSet::Some(passing(plan, entry, archetype, filter)),
        };
        let some = chunks.len(archetype.list().chunk_len()) > 0;
        some.then_some(MatchedChunks { archetype: ArchetypeId(number), chunks })
    });
    matched.collect()
}

/// The chunks of one archetype that pass the filter. `entry` is its entry in the plan.
pub(super) fn passing<F: Filter>(
    plan: &Plan,
    entry: usize,
    archetype: &Archetype,
    filter: &F,
) -> Vec<u32> {
    let watched = plan.watched(entry);
    let passes = |at| !F::BY_CHUNK || filter.passes(archetype.stamps(), &mut { watched }, at);
    let count = if passes(StampAt::Newest) { archetype.list().chunk_len() } else { 0 };
    (0..count).filter(|&chunk| passes(StampAt::Chunk(chunk as usize))).collect()
}
