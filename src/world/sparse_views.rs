//! The values of one sparse component, as views and as parameters of systems.

use core::fmt;
use core::marker::PhantomData;

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use crate::component::SparseComponent;
use crate::entity::{Entity, NoSuchEntity};
use crate::store::{
    EntityStates, FirstPanic, MemberRows, ReadGuard, SetRows, SparseSet, SplitStore,
};
use crate::version::Version;

/// The values of a [sparse component](crate::component#sparse-components), for reading. As a
/// parameter of a system it declares that the system reads them.
///
/// A guard that is forgotten ([`mem::forget`](core::mem::forget)) blocks no later call: its lock is
/// renewed when the world is borrowed exclusively.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// #[component(sparse)]
/// struct Name(String);
///
/// fn obituaries(patients: Query<(Entity, &Health)>, names: Sparse<Name>) {
///     for (entity, health) in patients.rows() {
///         if health.0 <= 0.0 && let Some(name) = names.get(entity) {
///             println!("{} is no more", name.0);
///         }
///     }
/// }
/// # let mut world = World::new();
/// # let entity = world.spawn(Health(0.0));
/// # world.insert(entity, Name("Ada".to_owned())).unwrap();
/// # let mut schedule = Schedule::new();
/// # schedule.add(obituaries);
/// # schedule.run(&mut world)?;
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct Sparse<'w, S: SparseComponent> {
    /// `None` if the world has no set of `S`.
    pub(super) set: Option<ReadGuard<'w, SparseSet<S>>>,
    pub(super) rows: SetRows<'w>,
    /// The version up to which the system has seen changes.
    pub(super) last_run: Version,
    /// Invariant in `S`: a subtype of it is another type.
    value: PhantomData<fn(S) -> S>,
}

impl<'w, S: SparseComponent> Sparse<'w, S> {
    pub(super) const fn new(set: Option<ReadGuard<'w, SparseSet<S>>>, rows: SetRows<'w>) -> Self {
        Self { set, rows, last_run: Version::NEVER, value: PhantomData }
    }

    /// The values for one run of a system that has seen the changes up to a version.
    pub(crate) fn granted(granted: &'w SparseGrant<'_, S>, last_run: Version) -> Self {
        Self { last_run, ..Self::new(granted.set(), granted.rows) }
    }

    /// The value of an entity; `None` if it has none. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// let mut world = World::new();
    /// let entity = world.spawn(Name("Ada".to_owned()));
    /// assert_eq!(world.sparse::<Name>().get(entity).unwrap().0, "Ada");
    /// assert!(world.sparse::<Name>().get(Entity::NULL).is_none());
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, entity: Entity) -> Option<&S> {
        self.set.as_ref()?.get(entity)
    }

    /// Returns `true` if the entity has a value. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert!(!world.sparse::<Name>().contains(entity));
    /// ```
    #[inline]
    #[must_use]
    pub fn contains(&self, entity: Entity) -> bool {
        self.get(entity).is_some()
    }

    /// The number of values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// assert_eq!(World::new().sparse::<Name>().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.as_ref().map_or(0, |set| set.len())
    }

    /// Returns `true` if no entity has a value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// assert!(World::new().sparse::<Name>().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values with their entities, in the order of their insertion until one is removed, when
    /// the last value takes its place, or [`sort_by_key`](SparseMut::sort_by_key) gives them
    /// another order. It is the same for the same calls.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// let mut world = World::new();
    /// let entity = world.spawn(Name("Ada".to_owned()));
    /// for (entity, name) in world.sparse::<Name>().iter() {
    ///     println!("{entity} is {}", name.0);
    /// }
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &S)> {
        self.set.iter().flat_map(|set| set.iter())
    }
}

impl<S: SparseComponent + fmt::Debug> fmt::Debug for Sparse<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The values of a [sparse component](crate::component#sparse-components), for writing. Systems
/// that name the same component do not run at the same time.
///
/// A system can give a value to any entity that is alive while it runs, without a command. An
/// entity that it spawns by a command is not alive yet: its value is a part of the spawned bundle.
/// If a command of another system despawns an entity at the next sync point, its value is dropped
/// there. Queries that choose rows by the component see an insertion after the next sync point, as
/// if it were a command, and a removal at once; outside of systems they see both at once.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// #[component(sparse)]
/// struct Name(String);
///
/// fn name(patients: Query<(Entity, &Health)>, mut names: SparseMut<Name>, mut commands: Commands)
/// {
///     for (entity, _) in patients.rows() {
///         let name = Name(format!("number {}", names.len()));
///         names.insert(entity, name).expect("the rows of a query are alive");
///     }
///     commands.spawn(Name("nobody".to_owned()));
/// }
///
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(2.0)]);
/// let mut schedule = Schedule::new();
/// schedule.add(name);
/// schedule.run(&mut world)?;
/// assert_eq!(world.sparse::<Name>().len(), 3);
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct SparseMut<'w, S: SparseComponent> {
    pub(super) set: &'w mut SparseSet<S>,
    /// The number of the component in the world.
    pub(super) number: u16,
    pub(super) rows: ViewedRows<'w>,
    /// The version of changes.
    pub(super) now: Version,
    /// The version up to which the system has seen changes.
    pub(super) last_run: Version,
}

/// The rows of the entities whose values are written.
#[derive(Debug)]
pub(super) enum ViewedRows<'w> {
    /// Of a world that is borrowed exclusively.
    Own(MemberRows<'w>),
    /// Of a world that systems share: new members are noted in the set.
    Shared(EntityStates<'w>, SetRows<'w>),
}

impl ViewedRows<'_> {
    /// The states of the entities with values in a set of this number. `None` if none is hidden.
    #[inline]
    pub(super) fn hidden<S: SparseComponent>(
        &self,
        set: (&SparseSet<S>, u16),
    ) -> Option<EntityStates<'_>> {
        match self {
            Self::Own(rows) => rows.hidden(set),
            Self::Shared(_, rows) => rows.hidden(set.0),
        }
    }
}

impl<'w, S: SparseComponent> SparseMut<'w, S> {
    pub(super) const fn new(
        (set, number): (&'w mut SparseSet<S>, u16),
        rows: MemberRows<'w>,
        now: Version,
    ) -> Self {
        Self { set, number, rows: ViewedRows::Own(rows), now, last_run: Version::NEVER }
    }

    /// The values for one run of a system that has seen the changes up to a version.
    pub(crate) fn granted(granted: &'w mut SparseMutGrant<'_, S>, last_run: Version) -> Self {
        let SparseMutGrant { set, number, states, rows, now } = granted;
        let rows = ViewedRows::Shared(*states, *rows);
        Self { set, number: *number, rows, now: *now, last_run }
    }

    /// The value of an entity, for reading; `None` if it has none. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert!(world.sparse_mut::<Name>().get(Entity::NULL).is_none());
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, entity: Entity) -> Option<&S> {
        self.set.get(entity)
    }

    /// The value of an entity, for writing; `None` if it has none. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Name("Ada".to_owned()));
    /// world.sparse_mut::<Name>().get_mut(entity).unwrap().0.push_str(" Lovelace");
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut S> {
        self.set.get_mut(entity, self.now)
    }

    /// Gives an entity a value, and returns the one that it replaces. Amortised O(1).
    ///
    /// # Errors
    ///
    /// If the entity is not alive. The value is dropped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// let mut names = world.sparse_mut::<Name>();
    /// assert!(names.insert(entity, Name("Ada".to_owned()))?.is_none());
    /// assert!(names.insert(Entity::NULL, Name("nobody".to_owned())).is_err());
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[inline]
    pub fn insert(&mut self, entity: Entity, value: S) -> Result<Option<S>, NoSuchEntity> {
        let set = (&mut *self.set, self.number);
        match &mut self.rows {
            ViewedRows::Own(rows) => rows.insert(set, (entity, value), self.now),
            ViewedRows::Shared(states, _) => states.insert(set.0, (entity, value), self.now),
        }
    }

    /// Takes the value from an entity; `None` if it has none. O(1).
    ///
    /// An entity that is [`Gone`](crate::Gone) has values of cleanup components. If the last one is
    /// taken here, the entity ends at the next sync point, or when commands are applied, such a
    /// component is removed by another call, or this view is made again.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert!(world.sparse_mut::<Name>().remove(Entity::NULL).is_none());
    /// ```
    #[inline]
    pub fn remove(&mut self, entity: Entity) -> Option<S> {
        let set = (&mut *self.set, self.number);
        match &mut self.rows {
            ViewedRows::Own(rows) => rows.remove(set, entity, self.now),
            ViewedRows::Shared(states, _) => states.remove(set, entity, self.now),
        }
    }

    /// Takes the values for which the closure returns `false`, as [`remove`](Self::remove) does,
    /// and drops them. O(values). If the closure panics, all stay; if destructors do, all others
    /// are called before the first panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Burning { ticks: u32 }
    /// # let mut world = World::new();
    /// world.spawn_batch((0..4).map(|ticks| Burning { ticks }));
    /// world.sparse_mut::<Burning>().retain(|_, fire| fire.ticks > 0);
    /// assert_eq!(world.sparse::<Burning>().len(), 3);
    /// ```
    pub fn retain(&mut self, mut keeps: impl FnMut(Entity, &S) -> bool) {
        let ended = self.iter().filter(|&(entity, value)| !keeps(entity, value));
        let ended: Vec<_> = ended.map(|(entity, _)| entity).collect();
        let (mut ended, mut panic) = (ended.into_iter(), FirstPanic::default());
        panic.catch(|| ended.by_ref().for_each(|entity| drop(self.remove(entity))));
        panic.resume();
    }

    /// Returns `true` if the entity has a value. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert!(!world.sparse_mut::<Name>().contains(Entity::NULL));
    /// ```
    #[inline]
    #[must_use]
    pub fn contains(&self, entity: Entity) -> bool {
        self.set.contains(entity)
    }

    /// The number of values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert_eq!(world.sparse_mut::<Name>().len(), 0);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.set.len()
    }

    /// Returns `true` if no entity has a value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert!(world.sparse_mut::<Name>().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values with their entities, in the order of [`Sparse::iter`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert_eq!(world.sparse_mut::<Name>().iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &S)> {
        self.set.iter()
    }

    /// Makes the values part of [`Snapshot`]s that are taken from now on, so that
    /// [`World::restore`](crate::World::restore) restores them as well: the values of entities that
    /// come back, and values that were replaced or removed. [`Plain`](crate::Plain) values and
    /// relations are part of them without this call. Call it once for each other component; a world
    /// that [takes over](crate::World::merge) values of a world that keeps them keeps them too.
    ///
    /// A snapshot clones all values of the component if any was written, inserted or removed since
    /// the last snapshot, and a restore clones them if any was since the snapshot: O(values),
    /// otherwise O(1). All that hands out `&mut S` counts as a write: [`SparseMut::get_mut`],
    /// [`SparseMut::iter_mut`], blocks, and terms of queries. Changes through `&S`, as in an atomic
    /// number or inside an `Arc`, are not noticed: such values are not state of the world.
    ///
    /// [`Snapshot::to_bytes`](crate::snapshot::Snapshot::to_bytes) leaves out values that are not
    /// plain: save them beside it, under [`Entity::to_bits`], and insert them after the restore.
    ///
    /// [`Snapshot`]: crate::snapshot::Snapshot
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone)]
    /// #[component(sparse)]
    /// struct Name(String);
    ///
    /// let mut world = World::new();
    /// world.sparse_mut::<Name>().keep_in_snapshots();
    /// let hero = world.spawn(());
    /// world.insert(hero, Name("Ada".to_owned()))?;
    ///
    /// let before = world.snapshot()?;
    /// world.despawn(hero)?;
    /// world.restore(&before)?;
    /// assert_eq!(world.sparse::<Name>().get(hero).unwrap().0, "Ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_in_snapshots(&mut self)
    where
        S: Clone,
    {
        self.set.keep();
    }

    /// All values with their entities, for writing, in the order of [`Sparse::iter`].
    ///
    /// The call marks all values as changed, whatever is taken of them: [`Changed`](crate::Changed)
    /// reports each. [`blocks_mut`](Self::blocks_mut) marks what it hands out, and has slices. A
    /// pass over [`rows`](crate::Query::rows) of `&mut S` marks the block of each
    /// row that it passes, and [`get_mut`](Self::get_mut) that of one value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// for (_, name) in world.sparse_mut::<Name>().iter_mut() {
    ///     name.0.make_ascii_uppercase();
    /// }
    /// ```
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Entity, &mut S)> {
        self.set.iter_mut(self.now)
    }
}

impl<S: SparseComponent + fmt::Debug> fmt::Debug for SparseMut<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The right of a system to read a sparse component, for one run.
#[derive(Debug)]
pub struct SparseGrant<'w, S> {
    /// `None` if the world has no set of `S`.
    set: Option<RwLockReadGuard<'w, SparseSet<S>>>,
    rows: SetRows<'w>,
}

impl<'w, S: SparseComponent> SparseGrant<'w, S> {
    /// The set for one run of a system.
    pub(super) fn set(&self) -> Option<ReadGuard<'_, SparseSet<S>>> {
        self.set.as_deref().map(ReadGuard::Granted)
    }

    /// # Panics
    ///
    /// If another system writes the values.
    pub(crate) fn new(split: &SplitStore<'w>) -> Self {
        Self { set: split.sparse().read(), rows: split.set_rows() }
    }
}

/// The right of a system to write a sparse component, for one run.
#[derive(Debug)]
pub struct SparseMutGrant<'w, S> {
    set: RwLockWriteGuard<'w, SparseSet<S>>,
    number: u16,
    states: EntityStates<'w>,
    rows: SetRows<'w>,
    now: Version,
}

impl<'w, S: SparseComponent> SparseMutGrant<'w, S> {
    /// # Panics
    ///
    /// If another system accesses the values.
    pub(crate) fn new(split: &SplitStore<'w>, now: Version) -> Self {
        let set = split.sparse().write();
        let number = split.sparse().member_number::<S>();
        let bound = set.zip(number);
        let (set, number) = bound.unwrap_or_else(|| panic!("no set of `{}` was bound", S::NAME));
        Self { set, number, states: split.entity_states(), rows: split.set_rows(), now }
    }
}
