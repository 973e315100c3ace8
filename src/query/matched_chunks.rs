//! What a query matches, chunk by chunk, without starting it: for changes of whole chunks.

use crate::archetype::{Archetype, ArchetypeId};
use crate::storage::ChunkSet;

use super::filter::{Filter, StampAt};
use super::plan::Plan;
use super::query::Query;
use super::source::Source;
use super::store::Store;
use super::terms::Terms;

/// The chunks of one archetype that a query matches: at least one.
#[derive(Clone, Debug)]
pub(crate) struct MatchedChunks {
    pub(crate) archetype: ArchetypeId,
    pub(crate) chunks: ChunkSet,
}

impl Store {
    /// What terms and filters match. Nothing is handed out, so nothing is stamped.
    pub(crate) fn matches<Q: Terms, F: Filter>(&mut self, filter: &F) -> Vec<MatchedChunks> {
        let Source { archetypes, registry, plans, .. } = &mut self.source;
        let plan = plans.get_mut::<Q, F>(registry, archetypes);
        matches(plan, archetypes.as_slice(), filter)
    }
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// The chunks that match.
    pub(super) fn matches(&self) -> (&Source, Vec<MatchedChunks>) {
        let (source, plan) = self.borrow.planned::<Q, F>();
        (source, matches(plan, source.archetypes.as_slice(), &self.filter))
    }
}

/// The chunks that a plan's walk would visit, in its order.
fn matches<F: Filter>(plan: &Plan, archetypes: &[Archetype], filter: &F) -> Vec<MatchedChunks> {
    let entries = plan.table().labels().enumerate();
    let matched = entries.filter_map(|(entry, number)| {
        let archetype = &archetypes[number as usize];
        if archetype.is_empty() {
            return None;
        }
        let chunks = match F::BY_CHUNK {
            false => ChunkSet::All,
            true => ChunkSet::Some(passing(plan, entry, archetype, filter)),
        };
        let some = chunks.len(archetype.list().chunk_count()) > 0;
        some.then_some(MatchedChunks { archetype: ArchetypeId(number), chunks })
    });
    matched.collect()
}

/// The chunks that pass the filter, of the archetype of one row of the plan's tables.
pub(super) fn passing<F: Filter>(
    plan: &Plan,
    entry: usize,
    archetype: &Archetype,
    filter: &F,
) -> Vec<u32> {
    let watched = plan.watched(entry);
    let passes = |at| !F::BY_CHUNK || filter.passes(archetype.stamps(), &mut { watched }, at);
    let count = if passes(StampAt::Newest) { archetype.list().chunk_count() } else { 0 };
    (0..count).filter(|&chunk| passes(StampAt::Chunk(chunk as usize))).collect()
}
