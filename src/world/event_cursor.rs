//! A reader of events outside of systems.

use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use crate::store::ReaderPosition;

use super::events::Events;
use super::world::{World, WorldId};

/// Reads each event of a world once, outside of systems: in the main loop, in a test, in a closure
/// recorded with [`CommandBuffer::run`](crate::CommandBuffer::run). Made by
/// [`World::event_cursor`].
///
/// While a cursor exists, events that it has not read are kept; see
/// [`EventWriter`](crate::EventWriter).
///
/// ```
/// # use phalanx::prelude::*;
/// struct Sound(&'static str);
///
/// fn shoot(mut sounds: EventWriter<Sound>) {
///     sounds.send(Sound("bang"));
/// }
///
/// let mut world = World::new();
/// let mut sounds = world.event_cursor::<Sound>();
/// let mut schedule = Schedule::new();
/// schedule.add(shoot);
/// for _ in 0..3 {
///     schedule.run(&mut world)?;
///     let played: Vec<_> = sounds.read(&world).iter().map(|sound| sound.0).collect();
///     assert_eq!(played, ["bang"]);
/// }
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct EventCursor<E: Send + Sync + 'static> {
    world: WorldId,
    position: ReaderPosition,
    /// Invariant in `E`: a subtype of it is another type of event.
    event: PhantomData<fn(E) -> E>,
}

impl World {
    /// Makes a reader of events of type `E` for use outside of systems. It reads the events that
    /// are kept at the moment, and all later ones.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut cursor = world.event_cursor::<u32>();
    /// world.send(7u32);
    /// assert_eq!(*cursor.read(&world), [7]);
    /// assert!(cursor.read(&world).is_empty());
    /// ```
    #[must_use]
    pub fn event_cursor<E: Send + Sync + 'static>(&mut self) -> EventCursor<E> {
        let (world, position) = (self.id(), self.add_event_reader::<E>());
        EventCursor { world, position, event: PhantomData }
    }
}

impl<E: Send + Sync + 'static> EventCursor<E> {
    /// All unread events, in the order in which they were sent. They count as read from now on.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.send_batch(["a", "b"]);
    /// let mut cursor = world.event_cursor::<&str>();
    /// for text in cursor.read(&world).iter() {
    ///     println!("{text}");
    /// }
    /// ```
    pub fn read<'w>(&mut self, world: &'w World) -> Events<'w, E> {
        let unread = self.unread(world);
        self.position.store(unread.end(), Ordering::Relaxed);
        unread
    }

    /// The number of events that were [dropped](World::keep_events) unread since the last
    /// [`read`](EventCursor::read), because they exceeded the bound on memory.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let cursor = world.event_cursor::<u32>();
    /// world.keep_events::<u32>(10 * size_of::<u32>());
    /// world.send_batch([7u32; 100]);
    /// assert_eq!(cursor.missed(&world), 0);
    /// world.age_events();
    /// assert_eq!(cursor.missed(&world), 90);
    /// ```
    #[must_use]
    pub fn missed(&self, world: &World) -> u64 {
        self.unread(world).missed()
    }

    fn unread<'w>(&self, world: &'w World) -> Events<'w, E> {
        assert!(self.world == world.id(), "the cursor was made by another world");
        Events::since(world, self.position.load(Ordering::Relaxed))
    }
}

impl<E: Send + Sync + 'static> fmt::Debug for EventCursor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventCursor").field("position", &self.position).finish_non_exhaustive()
    }
}
