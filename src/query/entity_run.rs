//! The entities of a chunk.

use crate::entity::Entity;

/// The entities of a chunk's live rows. The slice is cut only if a term asks for it.
#[derive(Clone, Copy, Debug)]
pub struct EntityRun<'w> {
    all: &'w [Entity],
    start: usize,
    len: usize,
}

impl<'w> EntityRun<'w> {
    /// The entities of `len` rows from row `start` of an archetype that has `all` entities.
    #[inline]
    pub(super) const fn new(all: &'w [Entity], start: usize, len: usize) -> Self {
        Self { all, start, len }
    }

    #[inline]
    pub(super) const fn all(all: &'w [Entity]) -> Self {
        Self::new(all, 0, all.len())
    }

    #[inline]
    pub(super) fn slice(self) -> &'w [Entity] {
        &self.all[self.start..self.start + self.len]
    }
}
