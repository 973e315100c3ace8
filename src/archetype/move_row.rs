//! A row's move along an edge.

use crate::entity::Entity;
use crate::storage::{ChunkRow, Pool, RowReader, RowWriter};
use crate::version::Version;

use super::archetype::Archetype;
use super::graph::Edge;

/// What a row's move did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedRow<T> {
    /// The row's new place.
    pub(crate) to: ChunkRow,
    /// The entity that took its old place.
    pub(crate) swapped: Option<Entity>,
    /// What the exchange of values gave.
    pub(crate) exchanged: T,
}

/// Copies the kept columns of an entity's row to a new row of `target`, which is made live, and
/// removes the row from `source`. `exchange` may read the removed bundle and must write the added
/// one.
///
/// Kept columns keep their stamps: a chunk's stamp is raised to the newer of its own and the one
/// the row brings, so a move alone changes nothing. The added columns are stamped. ChangeLog one row:
/// O(columns).
#[inline(always)]
pub(crate) fn move_row<T>(
    (source, target): (&mut Archetype, &mut Archetype),
    (entity, at): (Entity, ChunkRow),
    edge: &Edge,
    (pool, now): (&mut Pool, Version),
    exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
) -> MovedRow<T> {
    let gap = source.list.gap(at);
    let last = gap.last();
    let next = target.list.next_row(pool);
    let to = next.at();
    target.entities.push(entity);
    let exchanged = edge.cells.shift(&gap, next, exchange);
    target.grow_stamps(to);
    let columns = (edge.cells.columns(), edge.added());
    let from = (&source.stamps, at.chunk as usize);
    target.stamps.take_row(to.chunk as usize, from, columns, now);
    let swapped = source.close_gap(at, last, pool, now);
    MovedRow { to, swapped, exchanged }
}
