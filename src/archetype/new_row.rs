//! A row after an archetype's last one: its place, its id, its cells, its stamps.

use crate::entity::{Entity, RowIndex};
use crate::storage::{BundleCells, Pool, RowWriter};
use crate::version::Version;

use super::archetype::Archetype;

impl Archetype {
    /// Appends a row for the entity that `alloc` gives for its position. Calls `put` to write every
    /// cell of the row, in the order of `cells`, makes the row live, and stamps all its columns.
    ///
    /// # Errors
    ///
    /// If `alloc` fails. The archetype is unchanged.
    ///
    /// # Panics
    ///
    /// If `cells` are not all cells of a row, or `put` leaves one unwritten.
    #[inline(always)]
    pub(crate) fn push_row<E>(
        &mut self,
        cells: &BundleCells,
        (pool, now): (&mut Pool, Version),
        alloc: impl FnOnce(RowIndex) -> Result<Entity, E>,
        put: impl FnOnce(&mut RowWriter<'_>),
    ) -> Result<Entity, E> {
        let row = self.list.next_row(pool);
        let at = row.at();
        let entity = match alloc(row.position()) {
            Ok(entity) => entity,
            Err(error) => {
                row.abandon(pool);
                return Err(error);
            }
        };
        cells.write(row, put);
        self.entities.push(entity);
        self.grow_to(at.chunk, now);
        self.row_added(at, now);
        Ok(entity)
    }
}
