//! Events: values that are sent, kept for a while, and read once by each reader.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use std::sync::RwLockReadGuard;

use crate::store::{EventQueueInfo, KeptEvents};

use super::world::World;

impl World {
    /// Sends an event, after all events sent before: for input, between runs of a schedule, or in a
    /// closure recorded with [`CommandBuffer::run`](crate::CommandBuffer::run). In a system use
    /// [`EventWriter`](crate::EventWriter), which explains events.
    ///
    /// A queue for a type is made when the type is used for the first time. Amortised O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Key(char);
    ///
    /// fn listen(mut keys: EventReader<Key>) {
    ///     assert_eq!(keys.read()[0].0, 'w');
    /// }
    ///
    /// let mut world = World::new();
    /// world.send(Key('w'));
    /// let mut schedule = Schedule::new();
    /// schedule.add(listen);
    /// schedule.run(&mut world)?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn send<E: Send + Sync + 'static>(&mut self, event: E) {
        self.send_batch([event]);
    }

    /// Sends all events of an iterator, which must be finite; see [`World::send`]. If the iterator
    /// panics, the events before the panic are sent.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.send_batch(1..=3);
    /// assert_eq!(*world.events::<i32>(), [1, 2, 3]);
    /// ```
    pub fn send_batch<E: Send + Sync + 'static>(&mut self, events: impl IntoIterator<Item = E>) {
        self.store.events.get_or_add().extend(events);
    }

    /// All events of type `E` that are kept, read or not, as a slice: after a run of a schedule,
    /// the events of that run and older events that some reader has not read yet. To see each event
    /// once, use an [`EventReader`](crate::EventReader) in a system and an
    /// [`EventCursor`](crate::EventCursor) elsewhere.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// assert!(world.events::<u32>().is_empty());
    /// world.send(7u32);
    /// assert_eq!(*world.events::<u32>(), [7]);
    /// assert_eq!(world.events::<u32>().len(), 1);
    /// ```
    #[must_use]
    pub fn events<E: Send + Sync + 'static>(&self) -> Events<'_, E> {
        Events::since(self, 0)
    }

    /// Sets the number of whole runs for which events of type `E` are kept for readers that do not
    /// read them. The default is 64.
    ///
    /// # Panics
    ///
    /// If `runs` is zero.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Key(char);
    ///
    /// let mut world = World::new();
    /// world.keep_events::<Key>(1);
    /// let keys = world.event_cursor::<Key>();
    /// world.send(Key('w'));
    /// let mut schedule = Schedule::new();
    /// schedule.run(&mut world)?;
    /// assert_eq!(world.events::<Key>().len(), 1);
    /// schedule.run(&mut world)?;
    /// assert_eq!((world.events::<Key>().len(), keys.missed(&world)), (0, 1));
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn keep_events<E: Send + Sync + 'static>(&mut self, runs: u32) {
        assert!(runs > 0, "with `keep_events(0)` no event would reach a reader: give at least 1");
        self.store.events.get_or_add::<E>().keep(runs);
    }

    /// Drops events that all readers have read or that are too old, and likewise the records of
    /// [`Inserted`](crate::Inserted), [`Removed`](crate::Removed) and
    /// [`Despawned`](crate::Despawned). Each run of a schedule does so when it begins; only a
    /// program that runs no schedule needs to call it, once a frame. O(types × readers + kept
    /// events and records).
    ///
    /// # Panics
    ///
    /// If the destructor of an event panics. All these events are dropped before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut cursor = world.event_cursor::<u32>();
    /// world.send(7u32);
    /// world.age_events();
    /// assert_eq!(*cursor.read(&world), [7]);
    /// world.age_events();
    /// assert!(world.events::<u32>().is_empty());
    /// ```
    pub fn age_events(&mut self) {
        // This comes first, because a destructor of an event may panic.
        self.store.departures.age();
        self.store.arrivals.age();
        self.store.events.age();
    }

    /// The queues of events.
    pub(crate) fn event_queues(&self) -> impl Iterator<Item = EventQueueInfo> {
        self.store.events.infos()
    }
}

/// A slice of events; see [`World::events`] and [`EventCursor::read`](crate::EventCursor::read).
///
/// A guard that is forgotten ([`mem::forget`](core::mem::forget)) blocks no later call: its lock is
/// renewed when the world is borrowed exclusively.
pub struct Events<'w, E: Send + Sync + 'static> {
    /// `None` if the world has no queue of `E`.
    kept: Option<RwLockReadGuard<'w, KeptEvents<E>>>,
    /// The number of the first event of the slice.
    since: u64,
    /// Invariant in `E`: a subtype of it is another type of event.
    event: PhantomData<fn(E) -> E>,
}

impl<'w, E: Send + Sync + 'static> Events<'w, E> {
    /// The events from a position on.
    pub(super) fn since(world: &'w World, since: u64) -> Self {
        world.store.lent.note();
        let kept = world.store.events.get().map(|queue| queue.read());
        Self { kept, since, event: PhantomData }
    }

    /// The position after the last event.
    pub(super) fn end(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.end())
    }

    /// The events that were dropped since the position.
    pub(super) fn missed(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.unread(self.since).1)
    }
}

impl<E: Send + Sync + 'static> Deref for Events<'_, E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        self.kept.as_ref().map_or(&[], |kept| kept.unread(self.since).0)
    }
}

impl<E: fmt::Debug + Send + Sync + 'static> fmt::Debug for Events<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
