//! Records the notes of the sparse sets in the logs.
//!
//! Each call that changes sets calls one of these methods at its end, before a panic of a
//! destructor goes on. In a world without readers of sparse components it is one branch.
//!
//! | change | calls |
//! | --- | --- |
//! | spawns, `insert`, `remove`, despawns, `clear`, merges, copies | `record_sets` |
//! | `exchange` | `record_combined_sets` |
//! | commands between two barriers | `hold_set_notes`, then `record_combined_sets` |
//! | `SparseMut` of a world, `TargetsMut::remove` | `SparseSet::record_notes`, after each change |
//! | `SparseMut` of systems | `record_sets`, after their stage |
//! | `restore` | `forget_set_notes` |

use crate::component::SparseComponent;

use super::super::store::Store;

impl Store {
    /// Takes notes of the values of `S` that come and go, for readers.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    pub(crate) fn note_sparse<S: SparseComponent>(&mut self) {
        self.add_sets::<S>();
        self.sparse.begin_notes::<S>();
    }

    /// Records the values that came to sparse sets or went since the last call.
    #[inline]
    pub(crate) fn record_sets(&mut self) {
        let Self { sparse, logs, .. } = self;
        if !sparse.are_held {
            sparse.each_noted(|set| set.record_notes(logs));
        }
    }

    /// Records no change before [`Store::record_combined_sets`].
    pub(crate) const fn hold_set_notes(&mut self) {
        self.sparse.are_held = true;
    }

    /// [`Store::record_sets`] of the combined effect on each entity. Ends the entities that are
    /// gone and have lost their last sparse cleanup component.
    #[inline]
    pub(crate) fn record_combined_sets(&mut self) {
        let Self { sparse, logs, .. } = self;
        sparse.are_held = false;
        sparse.each_noted(|set| {
            set.combine_notes();
            set.record_notes(logs)
        });
        self.end_kept();
    }

    /// Records no change since the last call.
    pub(in crate::store) fn forget_set_notes(&mut self) {
        self.sparse.each_noted(|set| set.clear_notes());
    }
}
