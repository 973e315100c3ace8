//! The system parameter that reads gained components.

use core::fmt;
use core::marker::PhantomData;
use core::mem::take;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::Component;
use crate::entity::Entity;
use crate::store::{ReaderPosition, RowLog, SplitStore, UnreadRows};

use super::world::World;

/// Reads the entities that got component `C`, with the values: each gain once, as two slices. A
/// system with this parameter does the work of a hook or an observer: it runs at its place in the
/// schedule, after the commands that have inserted the components, for all of them at once.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Voice(u32);
/// struct Mixer(Vec<u32>);
///
/// fn play(mut inserted: Inserted<Voice>, mut mixer: ResMut<Mixer>) {
///     let (_, voices) = inserted.read();
///     mixer.0.extend(voices.iter().map(|voice| voice.0));
/// }
///
/// fn silence(mut removed: Removed<Voice>, mut mixer: ResMut<Mixer>) {
///     let (_, voices) = removed.read();
///     mixer.0.retain(|playing| voices.iter().all(|voice| voice.0 != *playing));
/// }
///
/// fn call(mut commands: Commands, mut calls: Local<u32>) {
///     commands.spawn(Voice(*calls));
///     *calls += 1;
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Mixer(vec![]));
/// let mut schedule = Schedule::new();
/// schedule.add(call);
/// schedule.add((play, silence)).after(call); // after the commands of this run
/// schedule.run(&mut world)?;
/// schedule.run(&mut world)?;
/// assert_eq!(world.resource::<Mixer>().unwrap().0, [0, 1]);
/// world.clear();
/// schedule.run(&mut world)?;
/// assert_eq!(world.resource::<Mixer>().unwrap().0, [2]);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// # Which gains count
///
/// An entity gets a component when it is spawned with it, copied with it, or given it in any way,
/// if it had none before. The value is the value at that moment. Overwriting a component is not a
/// gain. The rules of [`Removed`](crate::Removed) for merged commands, for the order, for readers,
/// and for how long losses are kept hold for gains as well; [`World::keep_inserted`] sets another
/// bound.
///
/// By the time of the read, an entity may have lost the component again or be despawned. To keep a
/// table of the entities that have a `C`, first read [`Removed`](crate::Removed) and take out its
/// entities, and afterwards add the entities of `Inserted` that still have one, checked with
/// [`Lookup`](crate::Lookup).
///
/// # Commands of a hook
///
/// No code runs in the middle of a structural change. The commands of a hook are applied at the
/// next sync point, as for any system, and hooks after it read the components that they insert: at
/// the latest in the next run. So hooks that insert components for each other take one step for
/// each sync point, and a cycle of such hooks never makes a run endless.
///
/// # Cost
///
/// Without readers of any `Inserted`, one branch for each spawn and each move. With readers, an
/// entity and a value of `C` are copied for each gain, and each row that is spawned or changes its
/// components costs a look-up for each component that has readers.
pub struct Inserted<'s, C: Component> {
    unread: UnreadRows<'s, C>,
    position: &'s AtomicU64,
    /// Invariant in `C`: a subtype of it is another component.
    component: PhantomData<fn(C) -> C>,
}

impl<'s, C: Component> Inserted<'s, C> {
    /// The gains that a system has not read yet.
    pub(crate) fn granted(split: &SplitStore<'s>, position: &'s ReaderPosition) -> Self {
        let log = split.arrivals().get::<C>().expect("the log of a reader was not added");
        Self::new(log, position)
    }

    fn new(log: &'s RowLog<C>, position: &'s AtomicU64) -> Self {
        let unread = log.unread(position.load(Ordering::Relaxed));
        Self { unread, position, component: PhantomData }
    }

    /// All unread gains, in their order: the entities, and the value of each. They count as read
    /// from now on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(Debug)] struct Shield(f32);
    /// fn print(mut shields: Inserted<Shield>) {
    ///     let (entities, values) = shields.read();
    ///     for (entity, shield) in entities.iter().zip(values) {
    ///         println!("{entity} has {shield:?}");
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

    /// The number of unread gains.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// fn in_batches(mut shields: Inserted<Shield>) {
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

    /// Returns `true` if no gain is unread.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// fn nothing(shields: Inserted<Shield>) {
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

    /// The number of gains that were [dropped](World::keep_inserted) unread since the last
    /// [`read`](Inserted::read) before this run, because they exceeded the bound on memory.
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
        self.unread.missed
    }
}

/// Writes the unread entities.
impl<C: Component> fmt::Debug for Inserted<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inserted").field(&self.unread.entities).finish()
    }
}

/// # Logs of gained and lost components, and of despawned entities
impl World {
    /// Sets the most bytes of gains of component `C`, entities and values, that are kept for an
    /// [`Inserted<C>`](Inserted) that has not read them. The default is 64 MiB. See
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
    /// world.keep_inserted::<Shield>(1_200); // 100 entities of 8 bytes, and values of 4
    /// let shields = world.inserted_cursor::<Shield>();
    /// world.spawn_batch([Shield(1.0); 101]);
    /// world.age_events(); // as a run of a schedule does
    /// assert_eq!(shields.missed(&world), 1);
    /// ```
    #[track_caller]
    pub fn keep_inserted<C: Component>(&mut self, bytes: usize) {
        assert!(
            bytes > 0,
            "with `keep_inserted(0)` no gain would reach a reader: give room for some"
        );
        let id = self.store.registry.register::<C>().unwrap_or_else(|taken| taken.refuse());
        self.store.arrivals.get_or_add::<C>(id).keep(bytes);
    }

    /// Makes the position of a new reader.
    pub(crate) fn add_inserted_reader<C: Component>(&mut self) -> ReaderPosition {
        let id = self.store.registry.register::<C>().unwrap_or_else(|taken| taken.refuse());
        self.store.arrivals.add_reader::<C>(id)
    }
}
