//! The system parameter that reads a log.

use core::fmt;
use core::mem::replace;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::store::{Kept, Logs, ReaderPosition};

use super::log::Log;

/// Reads each entry of log `L` once: a parameter of systems. The [module](crate::logs) explains
/// readers, the order of entries, and how long they are kept.
///
/// The logs have short names: [`EventReader`](super::EventReader), [`Inserted`](super::Inserted),
/// [`Removed`](super::Removed) and [`Despawned`](super::Despawned). A function that is generic over
/// the log names the type itself:
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::logs::{Log, LogReader};
///
/// # #[component] struct Shield(f32);
/// /// A run condition.
/// fn any<L: Log>(mut entries: LogReader<L>) -> bool {
///     let any = !entries.is_empty();
///     entries.read();
///     any
/// }
///
/// let mut world = World::new();
/// let mut schedule = Schedule::new();
/// schedule.add(|| println!("shields!")).run_if(any::<Insertions<Shield>>);
/// schedule.run(&mut world)?;
/// assert!(!schedule.timings().systems[0].ran);
/// world.spawn(Shield(1.0));
/// schedule.run(&mut world)?;
/// assert!(schedule.timings().systems[0].ran);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// If a system does not call [`read`](LogReader::read), its entries wait for its next run. Entries
/// that were read count as read, even if the system panics afterwards.
pub struct LogReader<'s, L: Log> {
    /// A reference to a type of `L`, so that the reader is covariant in `'s` and invariant in `L`:
    /// a subtype of it is another log.
    kept: &'s L::Kept,
    position: &'s AtomicU64,
    /// The number of the first unread entry.
    since: u64,
    missed: u64,
}

impl<'s, L: Log> LogReader<'s, L> {
    /// All unread entries, in their order: for events `&[E]`, for components `(&[Entity], &[C])`,
    /// with `()` for values of sparse components that are not `plain`, for despawned entities
    /// `&[Entity]`. They count as read from now on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(Debug)] struct Shield(f32);
    /// fn print(mut shields: Removed<Shield>, mut lines: EventReader<String>) {
    ///     let (entities, values) = shields.read();
    ///     for (entity, shield) in entities.iter().zip(values) {
    ///         println!("{entity} had {shield:?}");
    ///     }
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
    pub fn read(&mut self) -> L::Items<'s> {
        let end = self.kept.end();
        self.position.store(end, Ordering::Relaxed);
        L::items(self.kept, replace(&mut self.since, end))
    }

    /// The number of unread entries.
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
    pub fn len(&self) -> usize {
        self.kept.unread_len(self.since)
    }

    /// Returns `true` if no entry is unread.
    ///
    /// A condition that only asks sees the same unread entries in each run, so it must
    /// [`read`](LogReader::read); for events [`on_event`](crate::schedule::on_event) is such a
    /// condition.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn nothing(lines: EventReader<String>, despawned: Despawned) {
    ///     assert!(lines.is_empty() && despawned.is_empty());
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(nothing);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries that were [dropped](crate::memory::MemoryMut::keep_log) unread since
    /// the last [`read`](LogReader::read) before this run, because they exceeded the bound on
    /// memory or the world was restored. A reader that had read all entries gets no sign of a
    /// restore: its tables are made again by the code that restores.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// fn update_index(mut shields: Inserted<Shield>) {
    ///     if shields.missed() > 0 {
    ///         // … build the index anew …
    ///     }
    ///     for entity in shields.read().0 {
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

/// Writes the number of unread entries.
impl<L: Log> fmt::Debug for LogReader<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogReader").field("unread", &self.len()).finish_non_exhaustive()
    }
}

/// The right of a system to read a log, for one run.
pub struct LogGrant<'r, L: Log> {
    guard: L::Guard<'r>,
    position: &'r AtomicU64,
}

impl<'r, L: Log> LogGrant<'r, L> {
    /// Makes the entries of all systems that have ended visible.
    pub(crate) fn new(logs: &'r Logs, position: &'r ReaderPosition) -> Self {
        Self { guard: L::guard(logs), position }
    }

    pub(crate) fn reader(&self) -> LogReader<'_, L> {
        let (kept, position) = (&*self.guard, self.position);
        let since = position.load(Ordering::Relaxed);
        LogReader { kept, position, since, missed: kept.missed(since) }
    }
}

impl<L: Log> fmt::Debug for LogGrant<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogGrant").field("position", &self.position).finish_non_exhaustive()
    }
}
