//! A row's move along an edge.

use crate::entity::Entity;
use crate::storage::{Pool, Run, Spot};
use crate::version::Version;

use super::graph::Edge;
use super::rows::Archetype;

/// Copies the kept columns of a row to a new row of `target`, which is made live, and removes the
/// row from `source`. Returns the new position, and the entity that took the row's old place.
///
/// Kept columns keep their stamps: a chunk's stamp is raised to the newer of its own and the one
/// the row brings, so a move alone changes nothing. The added columns are the caller's to write
/// and to stamp. Moves one row: O(columns).
#[inline]
pub(crate) fn move_row(
    (source, target): (&mut Archetype, &mut Archetype),
    at: Spot,
    edge: &Edge,
    pool: &mut Pool,
    now: Version,
) -> (Spot, Option<Entity>) {
    let target_at = target.list.room_for_one(pool);
    edge.kept.copy((&source.list, at), (&mut target.list, target_at));
    let entity = source.entities[source.list.index_of(at)];
    target.push(target_at.chunk, entity, now);

    for cell in edge.kept.cells() {
        let stamp = source.stamps.get(Run::column(cell.from), at.chunk as usize);
        target.stamps.raise(Run::column(cell.to), target_at.chunk as usize, stamp);
    }
    (target_at, source.remove(at, pool, now))
}
