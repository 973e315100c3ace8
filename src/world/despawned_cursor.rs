//! A reader of despawned entities outside of systems.

use core::fmt;
use core::sync::atomic::Ordering;

use crate::entity::Entity;
use crate::store::{ReaderPosition, UnreadRows};

use super::world::{World, WorldId};

/// Reads each despawned entity once, outside of systems: in the main loop, in a test, in a closure
/// recorded with [`CommandBuffer::run`](crate::CommandBuffer::run). Made by
/// [`World::despawned_cursor`].
///
/// While a cursor exists, despawned entities are recorded for it; see [`Removed`](crate::Removed).
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let mut despawned = world.despawned_cursor();
/// let entities = world.spawn_batch([(); 3]).to_vec();
/// world.despawn_batch(&entities[..2]);
/// assert_eq!(despawned.read(&world), &entities[..2]);
/// world.clear();
/// assert_eq!(despawned.read(&world), &entities[2..]);
/// ```
pub struct DespawnedCursor {
    world: WorldId,
    position: ReaderPosition,
}

impl World {
    /// Makes a reader of despawned entities for use outside of systems. It reads entities that are
    /// despawned from now on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let orc = world.spawn(());
    /// let mut despawned = world.despawned_cursor();
    /// world.despawn(orc)?;
    /// assert_eq!(despawned.read(&world), [orc]);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub fn despawned_cursor(&mut self) -> DespawnedCursor {
        let (world, position) = (self.id(), self.add_despawned_reader());
        DespawnedCursor { world, position }
    }
}

impl DespawnedCursor {
    /// All unread entities, in the order in which they were despawned. They count as read from now
    /// on.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut despawned = world.despawned_cursor();
    /// assert!(despawned.read(&world).is_empty());
    /// ```
    pub fn read<'w>(&mut self, world: &'w World) -> &'w [Entity] {
        let UnreadRows { entities, end, .. } = self.unread(world);
        self.position.store(end, Ordering::Relaxed);
        entities
    }

    /// The number of entities that were [dropped](World::keep_despawned) unread since the last
    /// [`read`](DespawnedCursor::read), because they exceeded the bound on memory.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let despawned = world.despawned_cursor();
    /// world.keep_despawned(10 * size_of::<Entity>());
    /// world.spawn_batch([(); 100]);
    /// world.clear();
    /// assert_eq!(despawned.missed(&world), 0);
    /// world.age_events();
    /// assert_eq!(despawned.missed(&world), 90);
    /// ```
    #[must_use]
    pub fn missed(&self, world: &World) -> u64 {
        self.unread(world).missed
    }

    fn unread<'w>(&self, world: &'w World) -> UnreadRows<'w, ()> {
        assert!(self.world == world.id(), "the cursor was made by another world");
        world.store.departures.despawned().unread(self.position.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for DespawnedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DespawnedCursor").field("position", &self.position).finish_non_exhaustive()
    }
}
