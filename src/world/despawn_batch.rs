//! Despawns many entities whose rows are scattered.
//!
//! A despawn loads the slot of its entity, its row in every column (which the last row fills), and
//! the slot of the moved row's entity. If the entities are scattered over more memory than the
//! caches hold, each of the three is a cache miss. So the batch prefetches the slots of entities
//! some steps ahead, and their rows a few steps ahead, when the slots have arrived.

use crate::archetype::DespawnAction;
use crate::entity::{Entity, Location, NoSuchEntity};
use crate::store::Store;
use crate::version::Version;

use super::structural_bytes::RowValues;
use super::world::World;

/// The number of steps by which the prefetch of a slot precedes its use.
const SLOTS_AHEAD: usize = 32;
/// The number of steps by which the prefetch of a row precedes its use.
const ROWS_AHEAD: usize = 16;

/// # Many entities, and copies
impl World {
    /// Despawns entities in the given order, and returns their number. Ids that are not alive are
    /// skipped, so an id that is named twice counts once. Reserved ids are alive. [Cleanup
    /// components](crate::component#cleanup-components) are kept.
    ///
    /// The order of rows and the order in which ids are used again are the same as after a loop of
    /// [`despawn`](World::despawn). But the whole batch has one version, or none if no entity was
    /// alive, so the [`hash`](World::hash) differs. Scattered entities despawn several times as
    /// fast, because the batch prefetches their rows. O(entities), and O(components) for each live
    /// entity.
    ///
    /// To despawn the rows that a kernel finds dead, see
    /// [`Matching::retain`](crate::Matching::retain).
    ///
    /// # Panics
    ///
    /// If a destructor of [side values](World::insert_side) panics. All entities are despawned
    /// before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..100).map(|i| Health(i as f32))).to_vec();
    /// assert_eq!(world.despawn_batch(&entities[..60]), 60);
    /// assert_eq!(world.despawn_batch(&entities), 40, "the others are not alive");
    /// assert!(world.is_empty());
    /// ```
    pub fn despawn_batch(&mut self, entities: &[Entity]) -> usize {
        self.flush();
        self.store.despawn_batch(entities.len(), |i| entities[i])
    }
}

impl Store {
    /// [`World::despawn_batch`] of the entities `entity(0..len)`. No id may be reserved.
    pub(crate) fn despawn_batch(&mut self, len: usize, entity: impl Fn(usize) -> Entity) -> usize {
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
        if !self.sides.is_empty() {
            // Entities that were not alive have no values.
            self.sides.end(len, &entity);
        }
        despawned
    }

    /// Frees the id of an entity and removes its row. No id may be reserved. The caller drops its
    /// side values.
    #[inline]
    pub(crate) fn despawn_row(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        if self.has_cleanup() {
            return self.end_one_row(entity);
        }
        let place = self.entities.free(entity)?;
        let now = self.advance_clock();
        self.remove_row(place, now);
        Ok(())
    }

    /// [`Store::despawn_row`] in a world that has cleanup components.
    #[cold]
    fn end_one_row(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        self.end_row(entity, &mut None)
    }

    /// [`Store::end_one_row`]. `now` is set if the entity is alive.
    #[cold]
    fn end_row(&mut self, entity: Entity, now: &mut Option<Version>) -> Result<(), NoSuchEntity> {
        match self.despawn_action(entity)? {
            DespawnAction::AlreadyGone => return Err(NoSuchEntity { entity }),
            DespawnAction::Free => {
                let place = self.entities.free(entity)?;
                let now = *now.get_or_insert_with(|| self.clock.advance());
                self.remove_row(place, now);
            }
            DespawnAction::KeepCleanup => {
                let place = self.entities.locate(entity)?;
                let edge = self.despawn_edge(place.archetype());
                let now = *now.get_or_insert_with(|| self.clock.advance());
                let tag = RowValues { bytes: &[], starts: &[0] };
                self.merge_along(edge, (entity, place), now, tag);
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
    pub(crate) fn look_ahead(&self, i: usize, len: usize, entity: impl Fn(usize) -> Entity) {
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
}
