//! Events: values that are sent, kept for a while, and read once by each reader.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use std::sync::RwLockReadGuard;

use crate::store::{EventQueueInfo, KeptEvents};

use super::world::World;

/// # Events
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

    /// Sets the most bytes of events of type `E` that are kept for readers that have not read them.
    /// The default is 64 MiB.
    ///
    /// An event stays until every reader has read it. The bound is for a reader that never comes,
    /// and should be far above the use of a reader that comes rarely. At the beginning of a run of
    /// any schedule, the oldest events over the bound are dropped, and the readers count them as
    /// missed. The bytes are those of the type itself, without memory that its values own; an event
    /// without a size counts as one byte.
    ///
    /// # Panics
    ///
    /// If `bytes` is zero.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Key(char);
    ///
    /// let mut world = World::new();
    /// world.keep_events::<Key>(2 * size_of::<Key>());
    /// let keys = world.event_cursor::<Key>();
    /// world.send_batch(['w', 'a', 's'].map(Key));
    /// Schedule::new().run(&mut world)?;
    /// assert_eq!((world.events::<Key>().len(), keys.missed(&world)), (2, 1));
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn keep_events<E: Send + Sync + 'static>(&mut self, bytes: usize) {
        assert!(
            bytes > 0,
            "with `keep_events(0)` no event would reach a reader: give room for some"
        );
        self.store.events.get_or_add::<E>().keep(bytes);
    }

    /// Drops events that all readers have read, and unread ones over their
    /// [bound](World::keep_events), as each run of a schedule does when it begins; in the same way
    /// the records for [`Inserted`](crate::Inserted), [`Removed`](crate::Removed) and
    /// [`Despawned`](crate::Despawned). A program that runs no schedule may call it once a frame.
    /// O(types × readers + kept events).
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
