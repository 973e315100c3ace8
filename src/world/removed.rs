//! The system parameter that reads lost components.

use core::fmt;
use core::marker::PhantomData;
use core::mem::take;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::Component;
use crate::entity::Entity;
use crate::store::{ReaderPosition, RowLog, SplitStore, UnreadRows};

use super::world::World;

/// Reads the entities that lost component `C`, with the values: each loss once, as two slices. For
/// objects outside of the world that belong to a component: a body in a physics engine, a voice, a
/// texture, an entry in an index.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Voice(u32);
/// struct Mixer(Vec<u32>);
///
/// fn silence(mut removed: Removed<Voice>, mut mixer: ResMut<Mixer>) {
///     let (_, voices) = removed.read();
///     for voice in voices {
///         mixer.0.retain(|playing| *playing != voice.0);
///     }
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Mixer(vec![7, 8, 9]));
/// let orcs: Vec<_> = [7, 8, 9].map(|voice| world.spawn(Voice(voice))).into();
/// let mut schedule = Schedule::new();
/// schedule.add(silence);
/// schedule.run(&mut world)?; // it reads from its first run on
/// world.despawn(orcs[0])?;
/// world.remove::<Voice>(orcs[1])?;
/// schedule.run(&mut world)?;
/// assert_eq!(world.resource::<Mixer>().unwrap().0, [9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Which losses count
///
/// An entity loses a component when it is removed or exchanged for another, in any way, and when
/// the entity is despawned or the world is cleared. The value is the last one. A [split
/// component](crate::component#split-components), which is several columns, has no reader.
///
/// A component that is overwritten is not lost, nor is a component whose entity gains or loses
/// others. [`flip`](World::flip), [`compact`](World::compact) and
/// [`retire_archetypes`](World::retire_archetypes) cause no loss. Commands count with their
/// combined effect: a buffer that removes a component and inserts it again has overwritten it, and
/// an entity that the same commands spawn and despawn causes no loss, unless it has [cleanup
/// components](crate::component#cleanup-components). The entities that
/// [`Despawned`](crate::Despawned) reads are included if they had a `C`; a cleanup component is
/// lost later, when it is removed from the entity that is [`Gone`](crate::Gone).
///
/// An entity may be alive, may have a new `C`, and may be listed several times. The id of a
/// despawned entity is not used for a later entity, unless [`spawn_at`](World::spawn_at) does so.
///
/// # Order
///
/// Losses are in the order of the calls and commands that cause them. Within one call, they are in
/// the order of its entities or of its query. So the order depends neither on threads nor on
/// [`Schedule::shuffle`](crate::Schedule::shuffle).
///
/// No row changes while systems run. So these readers conflict with no other system: they run
/// beside any. They see the effects of all sync points before them, and the effects of later sync
/// points in their next run. To read the losses that a system's commands cause in the same run,
/// order the reader [`after`](crate::schedule::SystemEntry::after) it.
///
/// If you only need the chunks that lost rows, use [`Reordered`](crate::Reordered), which needs no
/// reader. It does not report chunks without rows; `Removed` does.
///
/// # How long losses are kept
///
/// A reader sees what is lost after it was made: a system is a reader from the beginning of the
/// first run of its schedule on, also if a condition skips it. A loss stays until every reader has
/// read it, however many runs of this or other schedules lie between, and is dropped when the next
/// run of any schedule begins. Only if unread losses take more than 64 MiB ([`World::keep_removed`]
/// sets another bound) are the oldest dropped; [`Removed::missed`] counts them. A world that runs
/// no schedule drops losses as the list grows, or by [`World::age_events`].
///
/// # Cost
///
/// Without readers of losses or despawns, one branch for each structural change. With readers, an
/// entity and a value of `C` are copied for each loss, and each row that changes its components
/// costs a look-up for each component that has readers.
pub struct Removed<'s, C: Component> {
    unread: UnreadRows<'s, C>,
    position: &'s AtomicU64,
    /// Invariant in `C`: a subtype of it is another component.
    component: PhantomData<fn(C) -> C>,
}

impl<'s, C: Component> Removed<'s, C> {
    /// The losses that a system has not read yet.
    pub(crate) fn granted(split: &SplitStore<'s>, position: &'s ReaderPosition) -> Self {
        let log = split.departures().removed::<C>().expect("the log of a reader was not added");
        Self::new(log, position)
    }

    fn new(log: &'s RowLog<C>, position: &'s AtomicU64) -> Self {
        let unread = log.unread(position.load(Ordering::Relaxed));
        Self { unread, position, component: PhantomData }
    }

    /// All unread losses, in their order: the entities, and the last value of each. They count as
    /// read from now on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(Debug)] struct Shield(f32);
    /// fn print(mut shields: Removed<Shield>) {
    ///     let (entities, values) = shields.read();
    ///     for (entity, shield) in entities.iter().zip(values) {
    ///         println!("{entity} had {shield:?}");
    ///     }
    ///     assert!(shields.read().0.is_empty());
    /// }
    /// # let mut world = World::new();
    /// # let mut schedule = Schedule::new();
    /// # schedule.add(print);
    /// # schedule.run(&mut world)?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[inline]
    pub fn read(&mut self) -> (&'s [Entity], &'s [C]) {
        let UnreadRows { entities, values, end, .. } = &mut self.unread;
        self.position.store(*end, Ordering::Relaxed);
        (take(entities), take(values))
    }

    /// The number of unread losses.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// fn in_batches(mut shields: Removed<Shield>) {
    ///     if shields.len() >= 100 {
    ///         println!("{} shields", shields.read().0.len());
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

    /// Returns `true` if no loss is unread.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// fn nothing(shields: Removed<Shield>) {
    ///     assert!(shields.is_empty());
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

    /// The number of losses that were [dropped](World::keep_removed) unread since the last
    /// [`read`](Removed::read) before this run, because they exceeded the bound on memory.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// fn update_index(mut shields: Removed<Shield>) {
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
        self.unread.missed
    }
}

/// Writes the unread entities.
impl<C: Component> fmt::Debug for Removed<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Removed").field(&self.unread.entities).finish()
    }
}

impl World {
    /// Sets the most bytes of losses of component `C`, entities and values, that are kept for a
    /// [`Removed<C>`](Removed) that has not read them. The default is 64 MiB. See
    /// [`World::keep_events`].
    ///
    /// # Panics
    ///
    /// If `bytes` is zero, or another type of the world has the name of `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// let mut world = World::new();
    /// world.keep_removed::<Shield>(1_200); // 100 entities of 8 bytes, and values of 4
    /// let shields = world.removed_cursor::<Shield>();
    /// world.spawn_batch([Shield(1.0); 101]);
    /// world.clear();
    /// Schedule::new().run(&mut world)?;
    /// assert_eq!(shields.missed(&world), 1);
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn keep_removed<C: Component>(&mut self, bytes: usize) {
        assert!(
            bytes > 0,
            "with `keep_removed(0)` no loss would reach a reader: give room for some"
        );
        let id = self.store.registry.register::<C>().unwrap_or_else(|taken| taken.refuse());
        self.store.departures.removed_mut::<C>(id).keep(bytes);
    }

    /// Makes the position of a new reader.
    pub(crate) fn add_removed_reader<C: Component>(&mut self) -> ReaderPosition {
        let id = self.store.registry.register::<C>().unwrap_or_else(|taken| taken.refuse());
        self.store.departures.add_removed_reader::<C>(id)
    }
}
