//! A reader of gained components outside of systems.

use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use crate::component::Component;
use crate::entity::Entity;
use crate::store::{ReaderPosition, UnreadRows};

use super::world::{World, WorldId};

/// Reads each gain of component `C` once, outside of systems: in the main loop, in a test, in a
/// closure recorded with [`CommandBuffer::run`](crate::CommandBuffer::run). Made by
/// [`World::inserted_cursor`].
///
/// While a cursor exists, gains are recorded for it; see [`Inserted`](crate::Inserted).
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Voice(u32);
/// let mut world = World::new();
/// let mut voices = world.inserted_cursor::<Voice>();
/// let callers = world.spawn_batch([Voice(1), Voice(2)]).to_vec();
/// let (entities, values) = voices.read(&world);
/// assert_eq!((entities, values[0].0, values[1].0), (&callers[..], 1, 2));
/// assert!(voices.read(&world).0.is_empty());
/// ```
pub struct InsertedCursor<C: Component> {
    world: WorldId,
    position: ReaderPosition,
    /// Invariant in `C`: a subtype of it is another component.
    component: PhantomData<fn(C) -> C>,
}

impl World {
    /// Makes a reader of the entities that get component `C`, for use outside of systems. It reads
    /// gains from now on.
    ///
    /// # Panics
    ///
    /// If another type of the world has the name of `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// let mut world = World::new();
    /// let orc = world.spawn(());
    /// let mut shields = world.inserted_cursor::<Shield>();
    /// world.insert(orc, Shield(1.0))?;
    /// world.insert(orc, Shield(2.0))?; // it had one
    /// assert_eq!(shields.read(&world).0, [orc]);
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[must_use]
    pub fn inserted_cursor<C: Component>(&mut self) -> InsertedCursor<C> {
        let (world, position) = (self.id(), self.add_inserted_reader::<C>());
        InsertedCursor { world, position, component: PhantomData }
    }
}

impl<C: Component> InsertedCursor<C> {
    /// All unread gains, in their order: the entities, and the value of each. They count as read
    /// from now on.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// let mut world = World::new();
    /// let mut shields = world.inserted_cursor::<Shield>();
    /// let (entities, values) = shields.read(&world);
    /// assert!(entities.is_empty() && values.is_empty());
    /// ```
    pub fn read<'w>(&mut self, world: &'w World) -> (&'w [Entity], &'w [C]) {
        let UnreadRows { entities, values, end, .. } = self.unread(world);
        self.position.store(end, Ordering::Relaxed);
        (entities, values)
    }

    /// The number of gains that were [dropped](World::keep_inserted) unread since the last
    /// [`read`](InsertedCursor::read), because they exceeded the bound on memory.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// let mut world = World::new();
    /// let shields = world.inserted_cursor::<Shield>();
    /// world.keep_inserted::<Shield>(12); // an entity and its value
    /// world.spawn_batch([Shield(1.0), Shield(2.0)]);
    /// world.age_events();
    /// assert_eq!(shields.missed(&world), 1);
    /// ```
    #[must_use]
    pub fn missed(&self, world: &World) -> u64 {
        self.unread(world).missed
    }

    fn unread<'w>(&self, world: &'w World) -> UnreadRows<'w, C> {
        assert!(self.world == world.id(), "the cursor was made by another world");
        let log = world.store.arrivals.get::<C>().expect("the log of a cursor is missing");
        log.unread(self.position.load(Ordering::Relaxed))
    }
}

impl<C: Component> fmt::Debug for InsertedCursor<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InsertedCursor").field("position", &self.position).finish_non_exhaustive()
    }
}
