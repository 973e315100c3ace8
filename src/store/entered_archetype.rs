//! An archetype that a pass visits by its own list of chunks.

use crate::archetype::ChunkMeta;
use crate::storage::ChunkIter;

/// An archetype with rows. Its chunks are taken from its own list.
#[derive(Debug)]
pub(crate) struct EnteredArchetype<'w> {
    pub(crate) chunks: ChunkIter<'w>,
    pub(crate) beside: ChunkMeta<'w>,
    /// The archetype's number.
    pub(crate) archetype: usize,
    /// The index of its entry in the plan.
    pub(crate) entry: usize,
}
