//! The events of a system's run, before other systems see them.

use core::fmt;

use crate::query::OneRecorder;
use crate::spare::{IdleRuns, vec_bytes};
use crate::store::{EventQueues, FirstPanic};
use crate::version::Version;

/// Events in the order in which they were sent, by one system or, in
/// [`ParChunks::record`](crate::chunks::ParChunks::record), for one chunk; see
/// [`EventWriter`](super::EventWriter).
pub struct EventBuffer<E> {
    events: Vec<E>,
    /// One buffer for each chunk of a parallel pass. They are empty between passes.
    parts: Vec<Self>,
    idle: IdleRuns,
    one_recorder: OneRecorder,
}

impl<E> EventBuffer<E> {
    /// Sends an event. Amortised O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Hit(Entity);
    ///
    /// fn collide(rows: Query<Entity>, mut hits: EventWriter<Hit>) {
    ///     hits.send(Hit(rows.into_iter().next().unwrap()[0]));
    /// }
    /// # let mut world = World::new();
    /// # world.spawn(());
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(collide);
    /// # schedule.run(&mut world)?;
    /// # assert_eq!(world.events::<Hit>().len(), 1);
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    pub fn send(&mut self, event: E) {
        self.events.push(event);
    }

    /// Sends all events of an iterator, which must be finite. If the iterator panics, the events
    /// before the panic are sent, unless the panic leaves the system.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn dice(mut rolls: EventWriter<u8>) {
    ///     rolls.extend([3, 6]);
    /// }
    /// # let mut world = World::new();
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(dice);
    /// # schedule.run(&mut world)?;
    /// # assert_eq!(*world.events::<u8>(), [3, 6]);
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    pub fn extend(&mut self, events: impl IntoIterator<Item = E>) {
        self.events.extend(events);
    }

    /// The number of events sent in this run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn dice(mut rolls: EventWriter<u8>) {
    ///     while rolls.len() < 3 {
    ///         rolls.send(6);
    ///     }
    /// }
    /// # let mut world = World::new();
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(dice);
    /// # schedule.run(&mut world)?;
    /// # assert_eq!(*world.events::<u8>(), [6; 3]);
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns `true` if no event was sent in this run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn dice(mut rolls: EventWriter<u8>) {
    ///     assert!(rolls.is_empty());
    ///     rolls.send(6);
    ///     assert!(!rolls.is_empty());
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(dice);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A buffer for each chunk of a parallel pass.
    pub(crate) fn split(&mut self, chunks: usize) -> EventBuffers<'_, E> {
        if self.parts.len() < chunks {
            self.parts.resize_with(chunks, Self::default);
        }
        EventBuffers { buffer: self, chunks }
    }

    /// Moves the events to their queue, for a run with version `now`; or drops them, if the run has
    /// panicked.
    pub(crate) fn finish(&mut self, queues: &EventQueues, now: Version, is_sent: bool)
    where
        E: Send + Sync + 'static,
    {
        let used = self.events.len() * size_of::<E>();
        match queues.get() {
            Some(queue) if is_sent => queue.take(now, &mut self.events),
            _ => self.discard(),
        }
        let mut idle = core::mem::take(&mut self.idle);
        if idle.end_run(used, || self.memory_bytes()) {
            self.compact();
        }
        self.idle = idle;
    }

    /// The allocated memory, without memory that the events own. O(chunks of a parallel pass).
    pub(crate) fn memory_bytes(&self) -> usize {
        let parts = self.parts.iter().map(Self::memory_bytes).sum::<usize>();
        vec_bytes(&self.events) + vec_bytes(&self.parts) + parts
    }

    /// Frees unused memory.
    pub(crate) fn compact(&mut self) {
        self.events.shrink_to_fit();
        self.parts.retain(|part| !part.is_empty());
        self.parts.iter_mut().for_each(Self::compact);
        self.parts.shrink_to_fit();
    }

    /// Drops the events, and ignores the panics of their destructors.
    fn discard(&mut self) {
        let mut panic = FirstPanic::default();
        let mut events = self.events.drain(..);
        panic.catch(|| events.by_ref().for_each(drop));
        drop(events);
        self.parts.iter_mut().for_each(Self::discard);
    }
}

impl<E> Default for EventBuffer<E> {
    fn default() -> Self {
        let (events, parts) = (Vec::new(), Vec::new());
        let (idle, one_recorder) = (IdleRuns::default(), OneRecorder::default());
        Self { events, parts, idle, one_recorder }
    }
}

/// Writes the number of events.
impl<E> fmt::Debug for EventBuffer<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBuffer").field("events", &self.len()).finish_non_exhaustive()
    }
}

/// The buffers of a parallel pass, one for each chunk. Dropping it appends their events to the
/// system's buffer, chunk by chunk.
#[derive(Debug)]
pub struct EventBuffers<'b, E> {
    buffer: &'b mut EventBuffer<E>,
    chunks: usize,
}

impl<E> EventBuffers<'_, E> {
    pub(crate) fn as_mut_slice(&mut self) -> &mut [EventBuffer<E>] {
        &mut self.buffer.parts[..self.chunks]
    }
}

impl<E> Drop for EventBuffers<'_, E> {
    fn drop(&mut self) {
        let EventBuffer { events, parts, .. } = &mut *self.buffer;
        let parts = &mut parts[..self.chunks];
        events.reserve(parts.iter().map(EventBuffer::len).sum());
        parts.iter_mut().for_each(|part| events.append(&mut part.events));
    }
}
