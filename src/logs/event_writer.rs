//! The system parameter that sends events.

use core::ops::{Deref, DerefMut};

use super::event_buffer::EventBuffer;

/// Sends events of type `E`, any `Send + Sync` type: a system's own [`EventBuffer`], as a
/// parameter. Each [`EventReader<E>`](super::EventReader) of any schedule reads each of them once,
/// as slices.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// struct Died(Entity);
///
/// fn wither(patients: Query<(Entity, &mut Health)>, mut deaths: EventWriter<Died>) {
///     for (entity, health) in patients.rows() {
///         health.0 -= 1.0;
///         if health.0 == 0.0 {
///             deaths.send(Died(entity));
///         }
///     }
/// }
///
/// fn bury(mut deaths: EventReader<Died>, mut commands: Commands) {
///     for died in deaths.read() {
///         commands.despawn(died.0);
///     }
/// }
///
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(2.0), Health(1.0)]);
/// let mut schedule = Schedule::new();
/// schedule.add((wither, bury)); // in this order: one reads what the other sends
/// schedule.run(&mut world)?;
/// assert_eq!(world.len(), 1);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// # Order
///
/// Systems that send the same type may run in parallel. Readers and writers of a type conflict,
/// like readers and writers of a resource, so they run in the order in which they were added, or in
/// the requested order. A reader sees the events of all systems before it without a sync point, and
/// the events of the systems after it in its next run. A system may have a writer and readers of
/// one type: it reads its own events in its next run.
///
/// Events are in the order of the schedule: stage by stage, within a stage system by system, within
/// a system parameter by parameter, with the events of its conditions first. So the order depends
/// neither on threads nor on [`Schedule::shuffle`](crate::Schedule::shuffle).
///
/// Events reach the queue when their system has ended. If a system or one of its conditions panics
/// or returns an error, its events are dropped, as its commands are. If a condition returns
/// `false`, the events that its conditions have sent are kept.
///
/// # Parallel passes
///
/// The closure of [`ParChunks::for_each_chunk`](crate::chunks::ParChunks::for_each_chunk) cannot
/// send: threads would decide the order. [`ParChunks::record`](crate::chunks::ParChunks::record)
/// gives each chunk a writer of its own, and its events are in the order of the chunks.
///
/// # How long events are kept
///
/// As the entries of any [log](crate::logs#how-long-entries-are-kept): an event stays until every
/// reader has read it, and without readers for one whole run.
///
/// # Cost
///
/// Sending is a push to a vector, which keeps its memory from run to run. Events are moved once
/// more if there are several writers, and are read in place.
#[derive(Debug)]
pub struct EventWriter<'s, E> {
    buffer: &'s mut EventBuffer<E>,
}

impl<'s, E> EventWriter<'s, E> {
    pub(crate) const fn new(buffer: &'s mut EventBuffer<E>) -> Self {
        Self { buffer }
    }
}

impl<E> Deref for EventWriter<'_, E> {
    type Target = EventBuffer<E>;

    #[inline]
    fn deref(&self) -> &EventBuffer<E> {
        self.buffer
    }
}

impl<E> DerefMut for EventWriter<'_, E> {
    #[inline]
    fn deref_mut(&mut self) -> &mut EventBuffer<E> {
        self.buffer
    }
}
