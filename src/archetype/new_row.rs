//! The row after an archetype's last one, from its place to the entity that has it.

use crate::entity::{Entity, RowIndex};
use crate::storage::{BundleCells, NextRow, Pool, RowWriter, Stamps};
use crate::version::Version;

use super::archetype::Archetype;
use super::arrive::{push_chunk, rows_added};
use super::extras::Extras;

impl Archetype {
    /// Makes room for one more row.
    #[inline]
    pub(crate) fn next_row(&mut self, pool: &mut Pool) -> NewRow<'_> {
        let Self { list, entities, stamps, extras, .. } = self;
        NewRow { row: list.next_row(pool), entities, stamps, extras }
    }
}

/// The row after an archetype's last one, before it is written.
#[derive(Debug)]
#[must_use = "write the row, or abandon it"]
pub(crate) struct NewRow<'w> {
    row: NextRow<'w>,
    entities: &'w mut Vec<Entity>,
    stamps: &'w mut Stamps,
    extras: &'w mut Option<Box<Extras>>,
}

impl NewRow<'_> {
    /// The row's position in the list.
    #[inline]
    pub(crate) const fn position(&self) -> RowIndex {
        self.row.position()
    }

    /// Calls `put` to write every cell of the row, in the order of `cells`, makes the row live for
    /// `entity`, and stamps all its columns.
    ///
    /// # Panics
    /// If `cells` are not all cells of a row, or `put` leaves one unwritten.
    #[inline(always)]
    pub(crate) fn push(
        self,
        cells: &BundleCells,
        entity: Entity,
        now: Version,
        put: impl FnOnce(&mut RowWriter<'_>),
    ) {
        let Self { row, entities, stamps, extras } = self;
        let at = row.at();
        let chunk = at.chunk as usize;
        cells.write(row, put);
        entities.push(entity);
        if chunk == stamps.chunk_len() {
            push_chunk(stamps, extras, now);
        }
        rows_added(stamps, extras, (at.chunk, at.row..at.row + 1), now);
    }

    /// Frees the block if it was allocated for this row.
    pub(crate) fn abandon(self, pool: &mut Pool) {
        self.row.abandon(pool);
    }
}
