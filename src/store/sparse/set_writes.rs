//! The values of a sparse set as slices, and the right to mark blocks of them as written.

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::storage::SetBlocks;
use crate::version::Version;

use super::set_version::SetVersion;
use super::sparse_set::SparseSet;

/// Marks blocks of a sparse set as written, while its values are borrowed.
#[derive(Debug)]
pub(crate) struct SetWrites<'s> {
    blocks: &'s SetBlocks,
    version: &'s mut SetVersion,
    /// The version of written values.
    now: Version,
}

impl<'s> SetWrites<'s> {
    pub(crate) const fn blocks(&self) -> &'s SetBlocks {
        self.blocks
    }

    /// Gives the block of a position of a set of `T` the version of the pass. Threads that mark
    /// blocks do so with one version. The set must [change](Self::change) as well.
    #[inline]
    pub(crate) fn touch<T>(&self, position: usize) {
        self.blocks.touch::<T>(position, self.now);
    }

    /// Gives the set a version that it never had.
    #[inline]
    pub(crate) fn change(&mut self) {
        self.version.change();
    }
}

impl<T: SparseComponent> SparseSet<T> {
    /// The versions of blocks, and the entities and values in their order.
    pub(crate) fn slices(&self) -> (&SetBlocks, &[Entity], &[T]) {
        (&self.blocks, &self.entities, &self.values)
    }

    /// The entities and values in their order, for writing. No block is marked yet.
    pub(crate) fn slices_mut(&mut self, now: Version) -> (SetWrites<'_>, &[Entity], &mut [T]) {
        let Self { blocks, entities, values, version, .. } = self;
        (SetWrites { blocks, version, now }, entities, values)
    }
}
