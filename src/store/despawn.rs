//! Despawns entities: one, many that are scattered, whole chunks, or all.
//!
//! A despawn loads the slot of its entity, its row in every column (which the last row fills), and
//! the slot of the moved row's entity. If the entities are scattered over more memory than the
//! caches hold, each of the three is a cache miss. So a batch prefetches the slots of entities some
//! steps ahead, and their rows a few steps ahead, when the slots have arrived.

use rustc_hash::FxHashMap;

use crate::archetype::{DespawnAction, MoveContext};
use crate::component::{Gone, HasSparseCleanup};
use crate::entity::{ArchetypeId, Entity, Location, NoSuchEntity};
use crate::storage::ChunkSet;
use crate::version::Version;

use super::change_row::RowChange;
use super::entity_error::EntityError;
use super::first_panic::FirstPanic;
use super::matches::{MatchedChunks, Matches};
use super::relations::RelationError;
use super::store::Store;

/// The number of steps by which the prefetch of a slot precedes its use.
const SLOTS_AHEAD: usize = 32;
/// The number of steps by which the prefetch of a row precedes its use.
const ROWS_AHEAD: usize = 16;

impl Store {
    /// Despawns an entity with its sparse components, and the entities that follow it. No id may be
    /// reserved.
    ///
    /// # Errors
    ///
    /// If the entity is not alive, or a relation refuses the despawn.
    ///
    /// # Panics
    ///
    /// If a destructor of its sparse components panics. The entity is despawned.
    #[inline]
    pub(crate) fn despawn(&mut self, entity: Entity) -> Result<(), EntityError> {
        if self.sparse.has_relations() {
            return self.despawn_related(entity);
        }
        if self.has_cleanup() {
            self.end_one_row(entity)?;
        } else {
            let place = self.entities.free(entity)?;
            let now = self.advance_clock();
            self.remove_row(place, now);
        }
        if !self.sparse.is_empty() {
            self.end_sparse_one(entity);
        }
        Ok(())
    }

    /// [`Store::despawn`] in a world with relations.
    #[cold]
    fn despawn_related(&mut self, entity: Entity) -> Result<(), EntityError> {
        match self.despawn_batch(1, |_| entity)? {
            0 => Err(NoSuchEntity { entity }.into()),
            _ => Ok(()),
        }
    }

    /// Despawns the entities `entity(0..len)` in this order, and after them those that follow, with
    /// one version. Returns the number of all. Ids that are not alive are skipped. No id may be
    /// reserved.
    ///
    /// # Errors
    ///
    /// If a relation refuses the despawn of one. No entity is despawned.
    ///
    /// # Panics
    ///
    /// If a destructor of sparse components panics. All entities are despawned.
    pub(crate) fn despawn_batch(
        &mut self,
        len: usize,
        entity: impl Fn(usize) -> Entity,
    ) -> Result<usize, RelationError> {
        if self.has_despawn_rules(len, &entity) {
            let all = self.plan_despawn((0..len).map(entity))?;
            return Ok(self.despawn_all(all.len(), |i| all[i]));
        }
        Ok(self.despawn_all(len, entity))
    }

    /// Despawns entities as far as relations do not refuse it, and those that follow. Returns the
    /// number of all, and why others are kept.
    ///
    /// # Panics
    ///
    /// If a destructor of sparse components panics. The entities are despawned.
    pub(crate) fn despawn_most(
        &mut self,
        named: &[Entity],
        refused: &mut FxHashMap<Entity, RelationError>,
    ) -> usize {
        if !self.has_despawn_rules(named.len(), &|i| named[i]) {
            return self.despawn_all(named.len(), |i| named[i]);
        }
        let (all, kept) = self.settle_despawns(named);
        *refused = kept;
        self.despawn_all(all.len(), |i| all[i])
    }

    /// [`Store::despawn_batch`] of entities that no relation keeps.
    fn despawn_all(&mut self, len: usize, entity: impl Fn(usize) -> Entity) -> usize {
        self.update_cleanup();
        let (mut despawned, mut now) = (0, None);
        for i in 0..len {
            self.look_ahead(i, len, &entity);
            // The branch is inside the loop: a second loop takes ten instructions more for each
            // entity.
            if self.has_cleanup() {
                despawned += usize::from(self.end_row(entity(i), &mut now).is_ok());
            } else if let Ok(place) = self.entities.free(entity(i)) {
                let now = *now.get_or_insert_with(|| self.clock.advance());
                self.remove_row(place, now);
                despawned += 1;
            }
        }
        if !self.sparse.is_empty() {
            // Entities that were not alive have no values.
            self.end_sparse(len, &entity);
        }
        despawned
    }

    /// Drops the sparse components of entities that are not alive any more, and the relations to
    /// them.
    fn end_sparse(&mut self, len: usize, entity: &dyn Fn(usize) -> Entity) {
        let mut panic = FirstPanic::default();
        let now = self.clock;
        let (sets, mut rows) = self.sets_and_rows();
        sets.end_targets(len, entity, now, &mut |sources, number| rows.clear(sources, number));
        sets.end(len, entity, now, &mut panic);
        self.record_sets();
        panic.resume();
    }

    /// [`Store::end_sparse`] of one entity in a world without relations.
    #[cold]
    #[inline(never)]
    fn end_sparse_one(&mut self, entity: Entity) {
        self.end_sparse(1, &|_| entity);
    }

    /// Removes the row of an entity in a world that has cleanup components, or keeps them.
    #[cold]
    fn end_one_row(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        self.end_row(entity, &mut None)
    }

    /// [`Store::end_one_row`]. `now` is set if the entity is alive.
    #[cold]
    fn end_row(&mut self, entity: Entity, now: &mut Option<Version>) -> Result<(), NoSuchEntity> {
        let with_values = self.sparse.has_cleanup_value(entity);
        match self.despawn_action(entity)? {
            DespawnAction::AlreadyGone => return Err(NoSuchEntity { entity }),
            DespawnAction::Free if !with_values => {
                let place = self.entities.free(entity)?;
                let now = *now.get_or_insert_with(|| self.clock.advance());
                self.remove_row(place, now);
            }
            DespawnAction::Free | DespawnAction::KeepCleanup => {
                let place = self.entities.locate(entity)?;
                let edge = self.despawn_edge(place.archetype(), with_values);
                let now = *now.get_or_insert_with(|| self.clock.advance());
                let change = RowChange { entity, place, edge, now };
                match with_values {
                    false => self.exchange_along::<(), _>(change, Gone),
                    true => self.exchange_along::<(), _>(change, (Gone, HasSparseCleanup)),
                }
            }
        }
        Ok(())
    }

    /// Removes the row of an entity with a freed id. The last row takes its place.
    #[inline]
    fn remove_row(&mut self, place: Location, now: Version) {
        self.record_despawn(place);
        let archetype = self.archetypes.get_mut(place.archetype());
        let at = archetype.list().split(place.row());
        if let Some(moved) = archetype.remove(at, &mut self.pool, now) {
            self.entities.set_location(moved.index(), place);
        }
    }

    /// Prefetches the memory that later steps load. Called at step `i` of `len` steps, each of
    /// which changes the structure of `entity(step)`.
    #[inline]
    fn look_ahead(&self, i: usize, len: usize, entity: impl Fn(usize) -> Entity) {
        if i + SLOTS_AHEAD < len {
            self.entities.prefetch(entity(i + SLOTS_AHEAD));
        }
        if i + ROWS_AHEAD >= len {
            return;
        }
        let Ok(place) = self.entities.locate(entity(i + ROWS_AHEAD)) else { return };
        let archetype = self.archetypes.get(place.archetype());
        archetype.prefetch(archetype.list().split(place.row()));
        // The last row fills the gap, so its entity is the one that moves.
        let last = archetype.len().saturating_sub(ROWS_AHEAD);
        if let Some(&moving) = archetype.entities().get(last) {
            self.entities.prefetch(moving);
        }
    }

    /// Despawns all entities that match and those that follow them, and returns their number.
    ///
    /// # Errors
    ///
    /// If a relation refuses the despawn of one. No entity is despawned.
    ///
    /// # Panics
    ///
    /// If a destructor of sparse components panics. All entities are despawned.
    pub(crate) fn despawn_matches(&mut self, matches: &Matches) -> Result<usize, RelationError> {
        let Matches { chunks, rows } = matches;
        if !rows.is_empty() {
            let rows: Vec<_> = rows.iter().flat_map(|matched| &matched.entities).collect();
            return self.despawn_batch(rows.len(), |i| *rows[i]);
        }
        if chunks.is_empty() {
            return Ok(0);
        }
        let with_sparse = if self.sparse.is_empty() { vec![] } else { self.entities_of(chunks) };
        if self.has_despawn_rules(with_sparse.len(), &|i| with_sparse[i]) {
            let all = self.plan_despawn(with_sparse.iter().copied())?;
            if all.len() > with_sparse.len() {
                return Ok(self.despawn_all(all.len(), |i| all[i]));
            }
        }
        self.update_cleanup();
        let now = self.advance_clock();
        let ended = chunks.iter().map(|matched| self.despawn_matched(matched, now)).sum();
        if !with_sparse.is_empty() {
            self.end_sparse(with_sparse.len(), &|i| with_sparse[i]);
        }
        Ok(ended)
    }

    /// Despawns the entities of chunks that are not gone. Returns their number.
    fn despawn_matched(&mut self, matched: &MatchedChunks, now: Version) -> usize {
        let MatchedChunks { archetype: id, chunks } = matched;
        if self.keeps_values(*id) {
            let entities = self.entities_of(core::slice::from_ref(matched));
            let mut now = Some(now);
            return entities.iter().filter(|&&one| self.end_row(one, &mut now).is_ok()).count();
        }
        if self.archetypes.get(*id).despawn_action() == DespawnAction::KeepCleanup {
            let edge = self.despawn_edge(*id, false);
            return self.move_chunks(matched, edge, Gone, now);
        }
        self.remove_chunks(*id, chunks, now)
    }

    /// Removes the rows of chunks and frees the ids of their entities, in their order. Returns the
    /// number of rows.
    pub(super) fn remove_chunks(
        &mut self,
        id: ArchetypeId,
        chunks: &ChunkSet,
        now: Version,
    ) -> usize {
        self.record_chunks(id, chunks);
        let Self { archetypes, entities, pool, .. } = self;
        let archetype = archetypes.get_mut(id);
        let rows = archetype.rows_of(chunks);
        archetype.despawn_chunks(id, chunks, &mut MoveContext { entities, pool, now });
        rows
    }

    /// Despawns all entities, including entities that are gone, and keeps no cleanup components.
    ///
    /// # Panics
    ///
    /// If a destructor of sparse components panics. No entity is left.
    pub(crate) fn clear(&mut self) {
        self.advance_clock();
        self.record_clear();
        for archetype in self.archetypes.all_mut() {
            archetype.clear(&mut self.pool);
        }
        self.entities.clear();
        let panic = self.sparse.clear_caught();
        self.record_sets();
        panic.resume();
    }
}
