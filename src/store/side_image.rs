//! The side values that are part of snapshots.
//!
//! Values of any type have neither bytes nor versions of their own. So a table is cloned as a
//! whole, unless it is unchanged since the last clone.

use crate::entity::Entity;

use super::first_panic::FirstPanic;
use super::side_tables::SideTables;

/// Copies of the side tables of types that are part of snapshots.
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
    /// Makes this the image of the tables. It must be new, or an earlier image of the same tables.
    /// If a clone panics, the image has to be dropped. O(tables + values of the tables that
    /// changed).
    pub(super) fn follow(&mut self, tables: &SideTables) {
        tables.copy_to(&mut self.copies);
    }

    /// Clones the values that [`SideImage::restore`] needs, because a clone may panic.
    pub(super) fn prepare(&self, tables: &SideTables) -> SideTables {
        self.copies.copies_for(tables)
    }

    /// Gives the tables the values of the image, cloned in `prepared`. Tables of other types keep
    /// only the values of entities that are alive.
    pub(super) fn restore(
        &self,
        (tables, mut prepared): (&mut SideTables, SideTables),
        is_alive: &dyn Fn(Entity) -> bool,
        panic: &mut FirstPanic,
    ) {
        tables.exchange_for(&mut prepared, &self.copies, is_alive, panic);
    }
}
