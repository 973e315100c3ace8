//! The rows that a query matches, as the target of a structural change.

use crate::entity::{ArchetypeId, Entity};
use crate::storage::ChunkSet;

/// The matches of a query: whole chunks, or rows if the query does not see all rows of each chunk.
/// Operations on all of them keep the order of the query.
#[derive(Debug)]
pub(crate) struct Matches {
    pub(crate) chunks: Vec<MatchedChunks>,
    pub(crate) rows: Vec<MatchedRows>,
}

impl Matches {
    /// Keeps the rows of archetypes for which `keep` returns `true`.
    pub(crate) fn retain(&mut self, keep: impl Fn(ArchetypeId) -> bool) {
        self.chunks.retain(|matched| keep(matched.archetype));
        self.rows.retain(|matched| keep(matched.archetype));
    }

    /// The archetypes of all rows.
    pub(crate) fn archetypes(&self) -> impl Iterator<Item = ArchetypeId> {
        self.parts().map(|(archetype, _)| archetype)
    }

    /// The rows of each archetype.
    pub(super) fn parts(&self) -> impl Iterator<Item = (ArchetypeId, SelectedRows<'_>)> {
        let chunks = self
            .chunks
            .iter()
            .map(|MatchedChunks { archetype, chunks }| (*archetype, SelectedRows::Chunks(chunks)));
        chunks.chain(self.rows.iter().map(|MatchedRows { archetype, entities }| {
            (*archetype, SelectedRows::Entities(entities))
        }))
    }
}

/// Some rows of one archetype.
#[derive(Clone, Copy, Debug)]
pub(super) enum SelectedRows<'m> {
    /// The rows of whole chunks.
    Chunks(&'m ChunkSet),
    /// The rows of some entities.
    Entities(&'m [Entity]),
}

/// The chunks of one archetype that a query matches: at least one.
#[derive(Clone, Debug)]
pub(crate) struct MatchedChunks {
    pub(crate) archetype: ArchetypeId,
    pub(crate) chunks: ChunkSet,
}

/// The entities of one archetype that a query sees: at least one.
#[derive(Clone, Debug)]
pub(crate) struct MatchedRows {
    pub(crate) archetype: ArchetypeId,
    pub(crate) entities: Vec<Entity>,
}
