//! The reader of a log outside of systems.

use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use crate::store::{Kept, ReaderPosition};
use crate::world::{World, WorldId};

use super::log::Log;

/// Reads each entry of log `L` once, outside of systems: in the main loop, in a test, in a closure
/// recorded with [`CommandBuffer::run`](crate::CommandBuffer::run). Made by [`World::cursor`].
///
/// While a cursor exists, entries that it has not read are kept; see [`logs`](crate::logs).
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
/// let mut sounds = world.cursor::<Events<Sound>>();
/// let mut schedule = Schedule::new();
/// schedule.add(shoot);
/// for _ in 0..3 {
///     schedule.run(&mut world)?;
///     let played: Vec<_> = sounds.read(&world).iter().map(|sound| sound.0).collect();
///     assert_eq!(played, ["bang"]);
/// }
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct LogCursor<L: Log> {
    world: WorldId,
    position: ReaderPosition,
    /// Invariant in `L`: a subtype of it is another log.
    log: PhantomData<fn(L) -> L>,
}

/// # Logs
impl World {
    /// Makes a reader of log `L` for use outside of systems. It reads the rows that come or go from
    /// now on, or the events that are kept at the moment and all later ones. The
    /// [logs](crate::logs) are [`Events`](crate::logs::Events),
    /// [`Insertions`](crate::logs::Insertions), [`Removals`](crate::logs::Removals) and
    /// [`Despawns`](crate::logs::Despawns).
    ///
    /// # Panics
    ///
    /// If another type of the world has the name of the log's component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(Debug, PartialEq)] struct Shield(f32);
    /// let mut world = World::new();
    /// let orc = world.spawn(());
    /// let mut gained = world.cursor::<Insertions<Shield>>();
    /// let mut lost = world.cursor::<Removals<Shield>>();
    /// let mut despawned = world.cursor::<Despawns>();
    /// world.insert(orc, Shield(1.0))?;
    /// world.insert(orc, Shield(2.0))?; // it had one
    /// world.despawn(orc)?;
    /// assert_eq!(gained.read(&world), (&[orc][..], &[Shield(1.0)][..]));
    /// assert_eq!(lost.read(&world), (&[orc][..], &[Shield(2.0)][..]));
    /// assert_eq!(despawned.read(&world), [orc]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn cursor<L: Log>(&mut self) -> LogCursor<L> {
        let (world, position) = (self.id(), L::add_reader(self));
        LogCursor { world, position, log: PhantomData }
    }
}

impl<L: Log> LogCursor<L> {
    /// All unread entries, in their order: for events a [guard](super::EventSlice) of `[E]`, for
    /// components `(&[Entity], &[C])`, with `()` for values of sparse components that are not
    /// `plain`, for despawned entities `&[Entity]`. They count as read from now on.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.send_batch(["a", "b"]);
    /// let mut cursor = world.cursor::<Events<&str>>();
    /// for text in cursor.read(&world).iter() {
    ///     println!("{text}");
    /// }
    /// assert!(cursor.read(&world).is_empty());
    /// ```
    pub fn read<'w>(&mut self, world: &'w World) -> L::Held<'w> {
        self.ensure_made_by(world);
        let (entries, end) = L::hold(world, self.position.load(Ordering::Relaxed));
        self.position.store(end, Ordering::Relaxed);
        entries
    }

    /// The number of entries that were [dropped](crate::memory::MemoryMut::keep_log) unread since
    /// the last [`read`](LogCursor::read), because they exceeded the bound on memory or the world
    /// was restored. A cursor that had read all entries gets no sign of a restore.
    ///
    /// # Panics
    ///
    /// If the cursor was made by another world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let cursor = world.cursor::<Despawns>();
    /// world.memory_mut().keep_log::<Despawns>(10 * size_of::<Entity>());
    /// world.spawn_batch([(); 100]);
    /// world.clear();
    /// assert_eq!(cursor.missed(&world), 0);
    /// world.memory_mut().age_logs();
    /// assert_eq!(cursor.missed(&world), 90);
    /// ```
    #[must_use]
    pub fn missed(&self, world: &World) -> u64 {
        self.ensure_made_by(world);
        L::guard(world.store.logs()).missed(self.position.load(Ordering::Relaxed))
    }

    fn ensure_made_by(&self, world: &World) {
        assert!(self.world == world.id(), "the cursor was made by another world");
    }
}

impl<L: Log> fmt::Debug for LogCursor<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogCursor").field("position", &self.position).finish_non_exhaustive()
    }
}
