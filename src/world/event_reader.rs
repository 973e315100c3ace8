//! The system parameter that reads events.

use core::fmt;
use core::marker::PhantomData;
use core::mem::take;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::RwLockReadGuard;

use crate::store::{KeptEvents, ReaderPosition, SplitStore};

use super::world::World;

/// Reads each event of type `E` once: the events that systems before it have sent in this run, and
/// the events of systems after it from their last run. [`EventWriter`](crate::EventWriter) explains
/// this and how long events are kept.
///
/// Every reader has its own position, even two readers in one system. Systems that read one type
/// may run in parallel.
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
///
/// If a system does not call [`read`](EventReader::read), its events wait for its next run. Events
/// that were read count as read, even if the system panics afterwards.
pub struct EventReader<'s, E: Send + Sync + 'static> {
    unread: &'s [E],
    missed: u64,
    position: &'s AtomicU64,
    /// The position after the last event.
    end: u64,
    /// Invariant in `E`: a subtype of it is another type of event.
    event: PhantomData<fn(E) -> E>,
}

impl<'s, E: Send + Sync + 'static> EventReader<'s, E> {
    /// All unread events, in the order in which they were sent. They count as read from now on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn print(mut lines: EventReader<String>) {
    ///     for line in lines.read() {
    ///         println!("{line}");
    ///     }
    ///     assert!(lines.read().is_empty());
    /// }
    /// # let mut world = World::new();
    /// # world.send("line".to_owned());
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(print);
    /// # schedule.run(&mut world)?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    pub fn read(&mut self) -> &'s [E] {
        self.position.store(self.end, Ordering::Relaxed);
        take(&mut self.unread)
    }

    /// The number of unread events.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn in_batches(mut jobs: EventReader<u32>) {
    ///     if jobs.len() >= 100 {
    ///         println!("{} jobs", jobs.read().len());
    ///     }
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(in_batches);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.unread.len()
    }

    /// Returns `true` if no event is unread.
    ///
    /// For a condition use [`on_event`](crate::schedule::on_event), which reads: a condition that
    /// only asks sees the same unread events in each run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn nothing(lines: EventReader<String>) {
    ///     assert!(lines.is_empty());
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(nothing);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of events that were [dropped](World::keep_events) unread since the last
    /// [`read`](EventReader::read) before this run, because they exceeded the bound on memory.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Moved(Entity);
    ///
    /// fn update_index(mut moves: EventReader<Moved>) {
    ///     if moves.missed() > 0 {
    ///         // … build the index anew …
    ///     }
    ///     for moved in moves.read() {
    ///         // …
    ///     }
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(update_index);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }
}

impl<E: fmt::Debug + Send + Sync + 'static> fmt::Debug for EventReader<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventReader").field(&self.unread).finish()
    }
}

impl World {
    /// Makes the position of a new reader.
    pub(crate) fn add_event_reader<E: Send + Sync + 'static>(&mut self) -> ReaderPosition {
        self.store.events.get_or_add::<E>().add_reader()
    }
}

/// The right of a system to read the events of type `E`, for one run.
#[derive(Debug)]
pub struct EventGrant<'r, E> {
    kept: RwLockReadGuard<'r, KeptEvents<E>>,
    position: &'r AtomicU64,
}

impl<'r, E: Send + Sync + 'static> EventGrant<'r, E> {
    /// Joins the events that were sent so far.
    pub(crate) fn new(split: &SplitStore<'r>, position: &'r ReaderPosition) -> Self {
        let queue = split.events().get().expect("the queue of a reader was not added");
        Self { kept: queue.read(), position }
    }

    pub(crate) fn reader(&self) -> EventReader<'_, E> {
        let (unread, missed) = self.kept.unread(self.position.load(Ordering::Relaxed));
        let (position, end) = (self.position, self.kept.end());
        EventReader { unread, missed, position, end, event: PhantomData }
    }
}
