//! The log of events: values that are sent, kept for a while, and read once by each reader.

use core::any::{TypeId, type_name};
use core::marker::PhantomData;
use std::sync::RwLockReadGuard;

use crate::store::{EventQueueInfo, KeptEvents, Logs, ReaderPosition};
use crate::world::World;

use super::event_slice::EventSlice;
use super::log::{Log, LogAccess, sealed};
use super::log_reader::LogReader;

/// The log of the events of type `E`: any values that systems send with an
/// [`EventWriter`](super::EventWriter), and a program with [`World::send`].
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let mut cursor = world.cursor::<Events<u32>>();
/// world.send(7u32);
/// assert_eq!(*cursor.read(&world), [7]);
/// assert!(cursor.read(&world).is_empty());
/// ```
#[derive(Debug)]
pub struct Events<E>(PhantomData<fn(E) -> E>);

/// Reads each event of type `E` once: the events that systems before it have sent in this run, and
/// the events of systems after it from their last run. [`EventWriter`](super::EventWriter) explains
/// this, [`LogReader`] has the methods.
///
/// Systems that read one type may run in parallel.
///
/// ```
/// # use phalanx::prelude::*;
/// struct Hit { damage: f32 }
///
/// fn total(mut hits: EventReader<Hit>, mut total: ResMut<f32>) {
///     *total += hits.read().iter().map(|hit| hit.damage).sum::<f32>();
/// }
///
/// let mut world = World::new();
/// world.insert_resource(0.0f32);
/// world.send_batch([1.0, 2.5].map(|damage| Hit { damage }));
/// let mut schedule = Schedule::new();
/// schedule.add(total);
/// schedule.run(&mut world)?;
/// schedule.run(&mut world)?;
/// assert_eq!(*world.resource::<f32>().unwrap(), 3.5);
/// # Ok::<(), ScheduleError>(())
/// ```
pub type EventReader<'s, E> = LogReader<'s, Events<E>>;

impl<E: Send + Sync + 'static> sealed::Sealed for Events<E> {}
impl<E: Send + Sync + 'static> Log for Events<E> {
    type Items<'w> = &'w [E];
    type Held<'w> = EventSlice<'w, E>;
    type Kept = KeptEvents<E>;
    type Guard<'w> = RwLockReadGuard<'w, KeptEvents<E>>;
    const BEGINS_LATER: bool = false;

    fn access() -> LogAccess {
        LogAccess::Events { id: TypeId::of::<E>(), name: type_name::<E>() }
    }

    fn add_reader(world: &mut World) -> ReaderPosition {
        world.store.logs_mut().events.get_or_add::<E>().add_reader()
    }

    fn keep(world: &mut World, bytes: usize) {
        world.store.logs_mut().events.get_or_add::<E>().keep(bytes);
    }

    fn guard(logs: &Logs) -> RwLockReadGuard<'_, KeptEvents<E>> {
        logs.events.get().expect("the queue of a reader was not added").read()
    }

    fn items(kept: &KeptEvents<E>, since: u64) -> &[E] {
        kept.unread(since)
    }

    fn hold(world: &World, since: u64) -> (EventSlice<'_, E>, u64) {
        let events = EventSlice::since(world, since);
        let end = events.end();
        (events, end)
    }
}

/// # Events
impl World {
    /// Sends an event, after all events sent before: for input, between runs of a schedule, or in a
    /// closure recorded with [`CommandBuffer::run`](crate::CommandBuffer::run). In a system use
    /// [`EventWriter`](super::EventWriter), which explains events.
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
        self.store.logs_mut().events.get_or_add().extend(events);
    }

    /// All events of type `E` that are kept, read or not, as a slice: after a run of a schedule,
    /// the events of that run and older events that some reader has not read yet. Where there are
    /// many, events that all have read may be gone after the next call that sends, or
    /// [`World::run`]. To see each event once, use an [`EventReader`] in a system and a
    /// [cursor](World::cursor) elsewhere.
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
    pub fn events<E: Send + Sync + 'static>(&self) -> EventSlice<'_, E> {
        EventSlice::since(self, 0)
    }

    /// The queues of events.
    pub(crate) fn event_queues(&self) -> impl Iterator<Item = EventQueueInfo> {
        self.store.logs().events.infos()
    }
}
