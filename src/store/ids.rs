//! Ids without rows: on loan to command buffers, in the queue of a stage, and not yet in use.

use std::sync::Arc;

use crate::entity::{Entity, IdShare, OutOfIds, ReserveError, ReturnedIds, Seat};

use super::store::Store;

impl Store {
    /// Lets [`Store::spawn_at`] skip any number of indices below `indices`.
    ///
    /// # Errors
    ///
    /// If there are fewer ids, or too little memory.
    pub(crate) fn grow_indices(&mut self, indices: u32) -> Result<(), ReserveError> {
        self.entities.grow_indices(indices)
    }

    /// Stamps the changes of ids, before the differences from an image are written.
    pub(crate) fn settle_ids(&mut self) {
        self.entities.settle();
    }

    /// The ids that dropped command buffers return.
    pub(crate) fn returned_ids(&mut self) -> Arc<ReturnedIds> {
        self.entities.returned_ids()
    }

    /// Puts `n` ids on loan, and appends them to `out`.
    ///
    /// # Errors
    ///
    /// If fewer are left. The store is unchanged.
    pub(crate) fn loan_ids(&mut self, n: u32, out: &mut Vec<Entity>) -> Result<(), OutOfIds> {
        self.entities.loan(n, out)
    }

    /// [`Store::loan_ids`] of `n` ids, or of all if fewer are left.
    pub(crate) fn loan_ids_at_most(&mut self, n: u32, out: &mut Vec<Entity>) {
        self.entities.loan_at_most(n, out);
    }

    /// Ends a loan. Returns `false` if the id is not on loan.
    pub(crate) fn end_loan(&mut self, entity: Entity) -> bool {
        self.entities.end_loan(entity)
    }

    /// Divides the remaining ids into shares, one for each seat, until
    /// [`Store::close_id_queue`].
    pub(crate) fn open_id_queue(&mut self, seats: &[Option<Seat>]) -> Vec<IdShare> {
        self.entities.open_queue(seats)
    }

    /// Puts the ids that were claimed on loan, and frees the others. Ends entities that have lost
    /// their last cleanup component in between.
    pub(crate) fn close_id_queue(&mut self) {
        self.entities.close_queue();
        self.end_kept();
    }
}
