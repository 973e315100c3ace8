//! The sparse components that are part of snapshots.
//!
//! Values of any type have neither bytes nor versions of their own. So a set is cloned as a
//! whole, unless it is unchanged since the last clone.

use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::saved_set::SavedSet;
use super::sparse_set::HasValues;
use super::sparse_sets::SparseSets;

/// Copies of the sparse sets of types that are part of snapshots.
#[derive(Debug, Default)]
pub(crate) struct SparseImage {
    copies: SparseSets,
}

impl Clone for SparseImage {
    fn clone(&self) -> Self {
        let mut copies = SparseSets::default();
        self.copies.copy_to(&mut copies);
        Self { copies }
    }
}

impl SparseImage {
    /// Makes this the image of the sets. It must be new, or an earlier image of the same sets.
    /// If a clone panics, the image has to be dropped. O(sets + values of the sets that
    /// changed).
    pub(in crate::store) fn follow(&mut self, sets: &SparseSets) {
        sets.copy_to(&mut self.copies);
    }

    /// The copies.
    pub(in crate::store) const fn sets(&self) -> &SparseSets {
        &self.copies
    }

    /// Becomes the image of a state that was read as the difference from this one. Returns the
    /// former values.
    pub(in crate::store) fn become_read(&mut self, sets: Vec<SavedSet>) -> Self {
        Self { copies: self.copies.become_read(sets) }
    }

    /// Clones the values that [`SparseImage::restore`] needs, because a clone may panic.
    pub(in crate::store) fn prepare(&self, sets: &SparseSets) -> SparseSets {
        self.copies.copies_for(sets)
    }

    /// Gives the sets the values of the image, cloned in `prepared`. Sets of other types keep only
    /// the values of entities that are alive. The values have the version `now`.
    pub(in crate::store) fn restore(
        &self,
        (sets, mut prepared): (&mut SparseSets, SparseSets),
        is_alive: HasValues<'_>,
        now: Version,
        panic: &mut FirstPanic,
    ) {
        sets.swap_restored((&mut prepared, now), &self.copies, is_alive, panic);
    }
}
