//! The side values that are part of snapshots.
//!
//! Values of any type have neither bytes nor versions of their own. So a table is cloned as a
//! whole, unless it did not change since it was cloned last.

use crate::entity::Entity;

use super::first_panic::FirstPanic;
use super::side_tables::SideTables;

/// Copies of the side tables whose types are part of snapshots.
#[derive(Debug, Default)]
pub(crate) struct SideImage {
    copies: SideTables,
}

impl Clone for SideImage {
    fn clone(&self) -> Self {
        let mut copies = SideTables::default();
        self.copies.copy_to(&mut copies);
        Self { copies }
    }
}

impl SideImage {
    /// Makes this the image of the tables of which it was one before, or of any if it is new. If a
    /// clone panics, the image has to be dropped. O(tables + values of those that changed).
    pub(super) fn follow(&mut self, tables: &SideTables) {
        tables.copy_to(&mut self.copies);
    }

    /// Clones what [`SideImage::restore`] needs, since a clone may panic.
    pub(super) fn prepare(&self, tables: &SideTables) -> SideTables {
        self.copies.copies_for(tables)
    }

    /// Gives the tables the values of the image, of which `prepared` has clones, and those of other
    /// types only the values of entities that are alive.
    pub(super) fn restore(
        &self,
        (tables, mut prepared): (&mut SideTables, SideTables),
        is_alive: &dyn Fn(Entity) -> bool,
        panic: &mut FirstPanic,
    ) {
        tables.exchange_for(&mut prepared, &self.copies, is_alive, panic);
    }
}
