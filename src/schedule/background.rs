//! Runs of a schedule in the background, while the caller goes on.

use core::fmt;

use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use crate::world::World;

use super::schedule::Schedule;
use super::schedule_error::ScheduleError;

/// A run of a schedule on a thread of its own. See [`Schedule::start`].
///
/// Dropping it waits for the end of the run, and drops the world and the schedule.
#[must_use = "dropping it waits for the run and drops the world"]
pub struct BackgroundRun {
    /// Taken by `join`.
    thread: Option<JoinHandle<Finished>>,
}

/// The result of a run in the background.
#[derive(Debug)]
pub struct Finished {
    /// The schedule.
    pub schedule: Schedule,
    /// The world.
    pub world: World,
    /// The result of the run.
    pub result: Result<(), ScheduleError>,
}

impl Schedule {
    /// Begins a run on a new thread and returns at once. The run owns the schedule and the world
    /// until it is joined, so no other code can access them. Systems run on the schedule's threads,
    /// as in [`Schedule::run`].
    ///
    /// To run with a world that is only borrowed, call [`Schedule::run`] on a thread of
    /// [`std::thread::scope`].
    ///
    /// # Panics
    ///
    /// If no thread can be started.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Age(u32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(Age));
    /// let mut schedule = Schedule::new();
    /// schedule.add(|ages: Query<&mut Age>| ages.rows().for_each(|age| age.0 += 1));
    /// let run = schedule.start(world);
    /// // … draw the last frame meanwhile …
    /// let finished = run.join();
    /// finished.result?;
    /// assert_eq!(finished.world.query::<&Age>().rows().map(|age| age.0).max(), Some(1000));
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn start(mut self, mut world: World) -> BackgroundRun {
        let run = move || {
            let result = self.run(&mut world);
            Finished { schedule: self, world, result }
        };
        let thread = thread::Builder::new().name("phalanx run".to_owned()).spawn(run);
        match thread {
            Ok(thread) => BackgroundRun { thread: Some(thread) },
            Err(error) => panic!("cannot start a thread, call `run` instead of `start`: {error}"),
        }
    }
}

impl BackgroundRun {
    /// Returns `true` if [`BackgroundRun::join`] would return at once.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let run = Schedule::new().start(World::new());
    /// while !run.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// run.join().result?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the run, and returns the schedule, the world and the result.
    ///
    /// # Panics
    ///
    /// With the panic of a system, if one panicked. The world and the schedule are dropped: to keep
    /// them, catch the panic in the system.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let finished = Schedule::new().start(World::new()).join();
    /// assert_eq!(finished.result, Ok(()));
    /// ```
    pub fn join(mut self) -> Finished {
        let thread = self.thread.take().expect("only `join` and `drop` take the thread");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for BackgroundRun {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // The thread has reported a system's panic, and the panic ends with it.
            drop(thread.join());
        }
    }
}

impl fmt::Debug for BackgroundRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_finished = self.is_finished();
        f.debug_struct("BackgroundRun").field("is_finished", &is_finished).finish()
    }
}
