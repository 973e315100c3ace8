//! Moves a row along an edge, or overwrites it if the edge leads back to its archetype.

use crate::entity::{Entity, RowIndex};
use crate::storage::{ChunkRow, Pool, RowReader, RowWriter};
use crate::version::Version;

use super::archetype::Archetype;
use super::graph::Edge;
use super::marks::Marks;

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
    target.entities.push(entity);
    target.grow_to(to.chunk, now);
    // Most archetypes have no marks, and are tested only once.
    let is_marked = target.marks.is_some();
    if is_marked {
        target.open_lines(to.chunk);
    }
    target.record_arrivals((source, at.chunk), to.chunk, edge, now);
    if is_marked {
        target.follow_marks((source, at), to, edge, now);
    }
    let swapped = source.finish_removal(at, last, pool, now);
    MovedRow { to, swapped, exchanged }
}

impl Archetype {
    /// Begins a change of some rows of a chunk. Each run of the rows must be
    /// [closed](Archetype::close_arrival).
    #[inline]
    pub(super) fn open_lines(&self, chunk: u32) {
        if let Some(lines) = self.lines() {
            lines.open(&self.stamps, chunk);
        }
    }

    /// Stamps a chunk, whose lines must be open, for rows that came from a chunk of `source` along
    /// an edge.
    #[inline(always)]
    pub(super) fn record_arrivals(
        &mut self,
        (source, from): (&Self, u32),
        to: u32,
        edge: &Edge,
        now: Version,
    ) {
        let columns = (edge.cells.columns(), edge.added());
        self.stamps.record_arrival(to as usize, (&source.stamps, from as usize), columns, now);
    }

    /// Gives a row that came from `source` its enable bits and the versions of its lines there.
    #[cold]
    fn follow_marks(
        &mut self,
        (source, from): (&Self, ChunkRow),
        to: ChunkRow,
        edge: &Edge,
        now: Version,
    ) {
        if let (Some(ours), Some(theirs)) = (Marks::bits_mut(&mut self.marks), source.bits()) {
            ours.follow_row(to, (theirs, from), edge.cells.columns());
        }
        self.close_arrival((source, from), (to, 1), edge, now);
    }

    /// Gives adjacent rows that came from `source` the versions of their lines there.
    #[inline(always)]
    pub(super) fn close_arrival(
        &self,
        (source, from): (&Self, ChunkRow),
        (to, rows): (ChunkRow, u32),
        edge: &Edge,
        now: Version,
    ) {
        if let Some(lines) = self.lines() {
            let theirs = (source.lines(), &source.stamps, from);
            lines.close_arrival((&self.stamps, to), theirs, (rows, edge.cells.columns()), now);
        }
    }

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
        for &column in edge.added() {
            self.beside().touch_rows(column, at.chunk, at.row..at.row + 1, now);
            if let Some(bits) = self.bits() {
                bits.enable(column, at.chunk, at.row..at.row + 1);
            }
        }
        exchanged
    }
}
