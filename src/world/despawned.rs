//! The system parameter that reads despawned entities.

use core::fmt;
use core::mem::take;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::entity::Entity;
use crate::store::{ReaderPosition, SplitStore, UnreadRows};

use super::world::World;

/// Reads each despawned entity once, as a slice. For tables outside of the world that are keyed by
/// entity.
///
/// It reads every entity, with any components, that was despawned in any way, including the
/// entities of a cleared world. [`Removed<C>`](crate::Removed) reads only entities that had a `C`,
/// with its value. Its documentation defines which losses count, their order, and how long they are
/// kept; here [`World::keep_despawned`] sets how long. A reader of despawned entities conflicts
/// with no other system.
///
/// ```
/// # use phalanx::prelude::*;
/// use std::collections::HashMap;
///
/// fn forget(mut despawned: Despawned, mut scores: ResMut<HashMap<Entity, u32>>) {
///     for entity in despawned.read() {
///         scores.remove(entity);
///     }
/// }
///
/// let mut world = World::new();
/// let players = world.spawn_batch([(); 3]).to_vec();
/// world.insert_resource(HashMap::from([(players[0], 5u32), (players[1], 7)]));
/// let mut schedule = Schedule::new();
/// schedule.add(forget);
/// schedule.run(&mut world)?; // it reads from its first run on
/// world.despawn_batch(&players[1..]);
/// schedule.run(&mut world)?;
/// assert_eq!(*world.resource::<HashMap<Entity, u32>>().unwrap(), HashMap::from([(players[0], 5)]));
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct Despawned<'s> {
    unread: UnreadRows<'s, ()>,
    position: &'s AtomicU64,
}

impl<'s> Despawned<'s> {
    /// The entities that a system has not read yet.
    pub(crate) fn granted(split: &SplitStore<'s>, position: &'s ReaderPosition) -> Self {
        let unread = split.departures().despawned().unread(position.load(Ordering::Relaxed));
        Self { unread, position }
    }

    /// All unread entities, in the order in which they were despawned. They count as read from now
    /// on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn print(mut despawned: Despawned) {
    ///     for entity in despawned.read() {
    ///         println!("{entity}");
    ///     }
    ///     assert!(despawned.read().is_empty());
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(print);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    pub fn read(&mut self) -> &'s [Entity] {
        self.position.store(self.unread.end, Ordering::Relaxed);
        take(&mut self.unread.entities)
    }

    /// The number of unread entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn in_batches(mut despawned: Despawned) {
    ///     if despawned.len() >= 100 {
    ///         println!("{} entities", despawned.read().len());
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
        self.unread.entities.len()
    }

    /// Returns `true` if no entity is unread.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn nothing(despawned: Despawned) {
    ///     assert!(despawned.is_empty());
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

    /// The number of entities that were [dropped](World::keep_despawned) unread since the last
    /// [`read`](Despawned::read) before this run, because they exceeded the bound on memory.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// fn forget(mut despawned: Despawned) {
    ///     if despawned.missed() > 0 {
    ///         // … look at all entries …
    ///     }
    ///     for entity in despawned.read() {
    ///         // …
    ///     }
    /// }
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(forget);
    /// # schedule.run(&mut World::new())?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.unread.missed
    }
}

/// Writes the unread entities.
impl fmt::Debug for Despawned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Despawned").field(&self.unread.entities).finish()
    }
}

impl World {
    /// Sets the most bytes of despawned entities, of eight bytes each, that are kept for a
    /// [`Despawned`] that has not read them. The default is 64 MiB. See [`World::keep_events`].
    ///
    /// # Panics
    ///
    /// If `bytes` is zero.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.keep_despawned(800);
    /// let despawned = world.despawned_cursor();
    /// world.spawn_batch([(); 101]);
    /// world.clear();
    /// world.age_events(); // as a run of a schedule does
    /// assert_eq!(despawned.missed(&world), 1);
    /// ```
    #[track_caller]
    pub fn keep_despawned(&mut self, bytes: usize) {
        assert!(bytes > 0, "with `keep_despawned(0)` no reader would see any: give room for some");
        self.store.departures.despawned_mut().keep(bytes);
    }

    /// Makes the position of a new reader.
    pub(crate) fn add_despawned_reader(&mut self) -> ReaderPosition {
        self.store.departures.add_despawned_reader()
    }
}
