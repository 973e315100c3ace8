//! A pass on several threads that records commands or sends events.

use core::fmt;
use std::collections::VecDeque;

use crate::query::{Filter, Job, ParChunks, ParSlices, Terms, share};

use super::par_target::ParTarget;

/// The chunk of a pass, and the writer that it records to.
struct Recording<S, W> {
    slices: S,
    writer: W,
    rows: usize,
    row_bytes: usize,
}

impl<S, W> fmt::Debug for Recording<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<S: Send, W: Send> Job for Recording<S, W> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// A chunk has one writer and stays whole.
    fn split_off(&mut self, _: usize) -> Option<Self> {
        None
    }
}

/// # Commands and events
impl<'w, Q: Terms, F: Filter> ParChunks<'w, Q, F> {
    /// Calls `body` with the slices of each chunk, on several threads, and with a writer that
    /// records commands or sends events, or with a tuple of writers ([`ParTarget`]). Commands and
    /// events are in the order of the chunks, whichever thread recorded them.
    ///
    /// The work is shared as by [`for_each_chunk`](crate::chunks::ParChunks::for_each_chunk), in
    /// whole chunks. All of them are stamped. A panic in the body reaches the caller when the other
    /// threads have finished; commands and events recorded before that stay in the buffer.
    /// Allocates one entry per chunk, and memory for the events of each chunk, which is kept for
    /// the next pass.
    ///
    /// # Panics
    ///
    /// As [`CommandBuffer::par_writers`](crate::CommandBuffer::par_writers).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// fn wither(living: Query<(Entity, &mut Health)>, mut commands: Commands) {
    ///     living.par().record(&mut commands, |(entities, health), commands| {
    ///         for (&entity, health) in entities.iter().zip(health) {
    ///             health.0 -= 1.0;
    ///             if health.0 <= 0.0 {
    ///                 commands.despawn(entity);
    ///             }
    ///         }
    ///     });
    /// }
    ///
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health((i % 2) as f32 + 0.5)));
    /// let mut schedule = Schedule::new();
    /// schedule.add(wither);
    /// schedule.run(&mut world)?;
    /// assert_eq!(world.len(), 5_000);
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    ///
    /// A spawn returns no id, because ids are given in the order of the chunks, at playback: spawn
    /// the whole bundle at once.
    ///
    /// Commands and events in one pass:
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// struct Died(Entity);
    ///
    /// fn bury(living: Query<(Entity, &Health)>, mut commands: Commands, mut deaths: EventWriter<Died>) {
    ///     let writers = (&mut commands, &mut deaths);
    ///     living.par().record(writers, |(entities, health), (commands, deaths)| {
    ///         for (&entity, health) in entities.iter().zip(health) {
    ///             if health.0 <= 0.0 {
    ///                 commands.despawn(entity);
    ///                 deaths.send(Died(entity));
    ///             }
    ///         }
    ///     });
    /// }
    ///
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health((i % 2) as f32)));
    /// let mut schedule = Schedule::new();
    /// schedule.add(bury);
    /// schedule.run(&mut world)?;
    /// assert_eq!((world.len(), world.events::<Died>().len()), (5_000, 5_000));
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn record<T: ParTarget>(
        self,
        mut target: T,
        body: impl Fn(Q::Slices<'w>, T::Writer<'_>) + Send + Sync,
    ) where
        Q::Slices<'w>: ParSlices,
    {
        let chunks = self.query.sized_chunks();
        let mut writers = target.open(chunks.len());
        let jobs = chunks.into_iter().zip(T::each(&mut writers)).map(|(chunk, writer)| Recording {
            slices: chunk.slices,
            writer,
            rows: chunk.rows,
            row_bytes: chunk.row_bytes,
        });
        share(jobs.collect::<VecDeque<_>>(), |job| body(job.slices, job.writer));
    }
}
