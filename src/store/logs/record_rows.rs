//! Logs rows before a structural change takes components from them, and after a change adds some.
//!
//! A structural change that takes components from rows calls one of these methods before it moves
//! or frees the rows, while the values exist; a change that adds components calls one at its end.
//! In a world without readers each of these calls is one branch.
//!
//! | change | calls |
//! | --- | --- |
//! | `despawn`, `despawn_batch`, `retain`, despawns of a command buffer | `record_despawn` |
//! | `remove`, `exchange`, `ReflectMut::remove`, changes of a command buffer | `record_move` |
//! | the latter, if many rows move together | `record_moves` |
//! | `Matching::despawn` | `record_chunks` |
//! | `World::move_from`, in the world that loses the entities | `record_chunks`, `record_despawn` |
//! | `World::clear` | `record_clear` |
//! | `Matching::remove`, and `Matching::insert`, which moves chunks as well | `record_moved_chunks` |
//! | every spawn | `record_spawned`, afterwards |
//! | `insert`, `exchange`, `ReflectMut::insert`, changes of a command buffer | `record_arrived`, afterwards |
//! | `Matching::insert`, `World::merge`, `World::move_from` | `RowLogs::record_entities`, afterwards |

use crate::archetype::EdgeId;
use crate::entity::{ArchetypeId, Location, RowIndex};
use crate::storage::ChunkSet;

use super::super::store::Store;

impl Store {
    /// Records a row that is about to be removed with its entity.
    #[inline]
    pub(in crate::store) fn record_despawn(&mut self, place: Location) {
        if self.logs.lost.is_read() {
            self.record_row(place, None);
        }
    }

    /// Records a row that is about to move along an edge.
    #[inline]
    pub(in crate::store) fn record_move(&mut self, place: Location, edge: EdgeId) {
        if self.logs.lost.is_read() {
            self.record_row(place, Some(edge));
        }
    }

    /// Records rows of one archetype that are about to move along an edge, in their order.
    pub(in crate::store) fn record_moves(
        &mut self,
        source: ArchetypeId,
        rows: &[RowIndex],
        edge: EdgeId,
    ) {
        if self.logs.lost.is_read() {
            rows.iter().for_each(|&row| self.record_row(Location::new(source, row), Some(edge)));
        }
    }

    /// Records chunks before all their entities are despawned.
    pub(in crate::store) fn record_chunks(&mut self, source: ArchetypeId, chunks: &ChunkSet) {
        if self.logs.lost.is_read() {
            self.record_all(source, None, chunks);
        }
    }

    /// Records all rows before their entities are despawned.
    pub(in crate::store) fn record_clear(&mut self) {
        let archetypes = u32::try_from(self.archetypes.len()).expect("ids of archetypes are u32");
        (0..archetypes).for_each(|id| self.record_chunks(ArchetypeId(id), &ChunkSet::All));
    }

    /// Records chunks before all their rows move along an edge.
    pub(in crate::store) fn record_moved_chunks(
        &mut self,
        source: ArchetypeId,
        edge: EdgeId,
        chunks: &ChunkSet,
    ) {
        if self.logs.lost.is_read() {
            self.record_all(source, Some(edge), chunks);
        }
    }

    /// Records the last `rows` rows of an archetype, which were spawned.
    #[inline]
    pub(in crate::store) fn record_spawned(&mut self, archetype: ArchetypeId, rows: usize) {
        if self.logs.gained.is_read() {
            self.record_last(archetype, None, rows);
        }
    }

    /// Records the last `rows` rows of an archetype, which came from `source`.
    #[inline]
    pub(in crate::store) fn record_arrived(
        &mut self,
        archetype: ArchetypeId,
        source: ArchetypeId,
        rows: usize,
    ) {
        if self.logs.gained.is_read() {
            self.record_last(archetype, Some(source), rows);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_last(&mut self, archetype: ArchetypeId, source: Option<ArchetypeId>, rows: usize) {
        let Self { archetypes, logs, .. } = self;
        let source = source.map(|source| archetypes.get(source));
        let archetype = archetypes.get(archetype);
        logs.gained.record_from(archetype, source, archetype.len() - rows);
    }

    #[cold]
    #[inline(never)]
    fn record_row(&mut self, place: Location, edge: Option<EdgeId>) {
        let Self { archetypes, graph, logs, .. } = self;
        let source = archetypes.get(place.archetype());
        let target = edge.map(|edge| archetypes.get(graph.edge(edge).target));
        let at = source.list().split(place.row());
        let row = at.row as usize;
        logs.lost.record(source, target, (at.chunk, row..row + 1));
    }

    #[cold]
    fn record_all(&mut self, source: ArchetypeId, edge: Option<EdgeId>, chunks: &ChunkSet) {
        let Self { archetypes, graph, logs, .. } = self;
        let source = archetypes.get(source);
        let target = edge.map(|edge| archetypes.get(graph.edge(edge).target));
        for chunk in chunks.iter(source.list().chunk_len()) {
            logs.lost.record(source, target, (chunk, 0..source.list().rows(chunk) as usize));
        }
    }
}
