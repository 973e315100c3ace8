//! Moves a row along an edge, overwrites it if the edge leads back to its archetype, or removes it.

use crate::entity::{Entity, RowIndex};
use crate::storage::{ChunkRow, Pool, RowReader, RowWriter};
use crate::version::Version;

use super::archetype::Archetype;
use super::graph::Edge;

/// The result of a row's move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedRow<T> {
    /// The row's new chunk and number.
    pub(crate) to: ChunkRow,
    /// The entity whose row took the old place.
    pub(crate) swapped: Option<Entity>,
    /// The result of the exchange of values.
    pub(crate) exchanged: T,
}

/// Copies the kept columns of an entity's row to a new row of `target`, which becomes live, and
/// removes the row from `source`. `exchange` may read the removed bundle and must write the added
/// one.
///
/// Kept columns keep their stamps: a chunk's stamp is raised to the stamp of the row's old chunk,
/// so a move alone does not count as a change. The added columns are stamped. Moves one row:
/// O(columns).
#[inline(always)]
pub(crate) fn move_row<T>(
    (source, target): (&mut Archetype, &mut Archetype),
    (entity, at): (Entity, ChunkRow),
    edge: &Edge,
    (pool, now): (&mut Pool, Version),
    exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
) -> MovedRow<T> {
    let removed = source.list.begin_removal(at);
    let last = removed.last();
    let next = target.list.next_row(pool);
    let to = next.at();
    let exchanged = edge.cells.move_cells(&removed, next, exchange);
    removed.remove(pool);
    target.entities.push(entity);
    target.grow_to(to.chunk, now);
    target.row_arrived((source, at), to, edge, now);
    let swapped = source.finish_removal(at, last, now);
    MovedRow { to, swapped, exchanged }
}

impl Archetype {
    /// Overwrites, enables and stamps cells of a live row. The row stays in place.
    ///
    /// # Panics
    ///
    /// If the edge belongs to another archetype, or the row is not live.
    #[inline]
    pub(crate) fn overwrite_row<T>(
        &mut self,
        edge: &Edge,
        at: RowIndex,
        now: Version,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        let at = self.list.split(at);
        let exchanged = edge.cells.exchange(&mut self.list, at, exchange);
        self.rows_written(edge.added(), (at.chunk, at.row..at.row + 1), now);
        exchanged
    }

    /// Removes a row. If the list's last row took its place, returns the entity of that row.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: ChunkRow, pool: &mut Pool, now: Version) -> Option<Entity> {
        let removed = self.list.begin_removal(at);
        let last = removed.last();
        removed.remove(pool);
        self.finish_removal(at, last, now)
    }

    /// Removes the rest of a row after its cells: the `last` row takes its place. Returns the
    /// entity of the last row if it has moved.
    #[inline(always)]
    fn finish_removal(&mut self, at: ChunkRow, last: ChunkRow, now: Version) -> Option<Entity> {
        self.row_removed(at, last, now);
        if last.row == 0 {
            self.drop_chunks(last.chunk as usize);
        }
        let moved = self.entities.pop()?;
        if at == last {
            return None;
        }
        self.entities[self.list.index_of(at)] = moved;
        Some(moved)
    }
}
