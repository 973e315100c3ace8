//! Side values: data of entities that is not plain, outside of the chunks.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use crate::entity::{Entity, NoSuchEntity};
use crate::store::{Living, ReadGuard, SideTable, SideTableInfo, SplitStore};

use super::world::World;

/// # Side values
impl World {
    /// Gives an entity a *side value*: a `String`, an `Arc`, a handle with a destructor, or any
    /// other `Send + Sync` value, which need not be plain data. Returns the value of this type that
    /// it replaces.
    ///
    /// Components lie in chunks and are [`Plain`](crate::Plain). A side value lies outside of the
    /// chunks, in a table of its type: it is not a component, so queries do not find it, and it
    /// does not move when its entity does. An entity has at most one value of each type; a wrapper
    /// struct names its purpose, as for a resource.
    ///
    /// The value is dropped when its entity is despawned, in any way, even if the entity has
    /// [cleanup components](crate::component#cleanup-components), or when the world is cleared or
    /// dropped. If one call despawns several entities, the values are dropped after the last
    /// despawn: for each type, in the order of its first use, in the order of the entities. If a
    /// destructor panics, the call finishes first; if several panic, the first panic goes on.
    ///
    /// [`instantiate`](World::instantiate) copies no side values, and [`hash`](World::hash) does
    /// not cover them. [Snapshots](crate::snapshot::Snapshot) contain only the types named by
    /// [`keep_in_snapshots`](SideMut::keep_in_snapshots).
    ///
    /// In a system, use [`SideMut`]; for an entity that the system spawns by a command, record
    /// [`commands.run(|world| …)`](crate::CommandBuffer::run), as in the example of [`SideMut`].
    ///
    /// Amortised O(1). A world with side values of any type makes a look-up in each table for each
    /// despawned entity.
    ///
    /// # Errors
    ///
    /// If the entity is not alive. The value is dropped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Name(String);
    ///
    /// let mut world = World::new();
    /// let hero = world.spawn(());
    /// world.insert_side(hero, Name("Ada".to_owned()))?;
    /// assert_eq!(world.side::<Name>().get(hero).unwrap().0, "Ada");
    /// world.despawn(hero)?; // drops the name
    /// assert!(world.side::<Name>().is_empty());
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn insert_side<T: Send + Sync + 'static>(
        &mut self,
        entity: Entity,
        value: T,
    ) -> Result<Option<T>, NoSuchEntity> {
        self.flush();
        if !self.store.living().contains(entity) {
            return Err(NoSuchEntity { entity });
        }
        Ok(self.store.sides_mut().get_or_add().insert(entity, value))
    }

    /// Takes the [side value](World::insert_side) of type `T` from an entity; `None` if it has none
    /// or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_side(entity, String::from("Ada"))?;
    /// assert_eq!(world.remove_side::<String>(entity).unwrap(), "Ada");
    /// assert_eq!(world.remove_side::<String>(entity), None);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn remove_side<T: Send + Sync + 'static>(&mut self, entity: Entity) -> Option<T> {
        self.store.sides_mut().get_mut()?.remove(entity)
    }

    /// The tables of side values.
    pub(crate) fn side_tables(&self) -> impl Iterator<Item = SideTableInfo> {
        self.store.sides().infos()
    }

    /// The [side values](World::insert_side) of type `T`, for reading.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_side(entity, String::from("Ada"))?;
    /// let names = world.side::<String>();
    /// assert_eq!(names.get(entity).unwrap(), "Ada");
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub fn side<T: Send + Sync + 'static>(&self) -> Side<'_, T> {
        self.store.note_guard();
        Side { table: self.store.sides().read().map(ReadGuard::Lock), value: PhantomData }
    }

    /// The [side values](World::insert_side) of type `T`, for writing.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entities = world.spawn_batch([(); 3]).to_vec();
    /// let mut names = world.side_mut::<String>();
    /// for entity in entities {
    ///     names.insert(entity, format!("orc {entity}"))?;
    /// }
    /// assert_eq!(names.len(), 3);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub fn side_mut<T: Send + Sync + 'static>(&mut self) -> SideMut<'_, T> {
        self.flush();
        let (table, living) = self.store.side_mut();
        SideMut { table, living }
    }
}

/// The side values of type `T`, for reading; see [`World::insert_side`]. As a parameter of a system
/// it declares that the system reads them.
///
/// A guard that is forgotten ([`mem::forget`](core::mem::forget)) blocks no later call: its lock is
/// renewed when the world is borrowed exclusively.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// struct Name(String);
///
/// fn obituaries(patients: Query<(Entity, &Health)>, names: Side<Name>) {
///     for (entity, health) in patients.rows() {
///         if health.0 <= 0.0 && let Some(name) = names.get(entity) {
///             println!("{} is no more", name.0);
///         }
///     }
/// }
/// # let mut world = World::new();
/// # let entity = world.spawn(Health(0.0));
/// # world.insert_side(entity, Name("Ada".to_owned())).unwrap();
/// # let mut schedule = Schedule::new();
/// # schedule.add(obituaries);
/// # schedule.run(&mut world)?;
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct Side<'w, T: Send + Sync + 'static> {
    /// `None` if the world has no table of `T`.
    table: Option<ReadGuard<'w, SideTable<T>>>,
    /// Invariant in `T`: a subtype of it is another type.
    value: PhantomData<fn(T) -> T>,
}

impl<'w, T: Send + Sync + 'static> Side<'w, T> {
    /// The values for one run of a system.
    pub(crate) fn granted(granted: &'w SideReadGrant<'_, T>) -> Self {
        let table = granted.table.as_deref().map(ReadGuard::Granted);
        Self { table, value: PhantomData }
    }

    /// The value of an entity; `None` if it has none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_side(entity, String::from("Ada"))?;
    /// assert_eq!(world.side::<String>().get(entity).unwrap(), "Ada");
    /// assert_eq!(world.side::<String>().get(Entity::NULL), None);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, entity: Entity) -> Option<&T> {
        self.table.as_ref()?.get(entity)
    }

    /// Returns `true` if the entity has a value. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert!(!world.side::<String>().contains(entity));
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
    /// assert_eq!(World::new().side::<String>().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.as_ref().map_or(0, |table| table.len())
    }

    /// Returns `true` if no entity has a value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// assert!(World::new().side::<String>().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values with their entities, in the order of their insertion until one is removed: the
    /// last value takes the place of a removed one. The order is the same for the same calls.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_side(entity, String::from("Ada"))?;
    /// for (entity, name) in world.side::<String>().iter() {
    ///     println!("{entity} is {name}");
    /// }
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &T)> {
        self.table.iter().flat_map(|table| table.iter())
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> fmt::Debug for Side<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The side values of type `T`, for writing; see [`World::insert_side`]. Systems that name the same
/// type do not run at the same time.
///
/// A system can give a value to any entity that is alive while it runs. An entity that it spawns by
/// a command is not alive yet, so its value is inserted by a command as well. If a command of
/// another system despawns an entity at the next sync point, its value is dropped there.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// struct Name(String);
///
/// fn name(patients: Query<(Entity, &Health)>, mut names: SideMut<Name>, mut commands: Commands) {
///     for (entity, _) in patients.rows() {
///         let name = Name(format!("number {}", names.len()));
///         names.insert(entity, name).expect("the rows of a query are alive");
///     }
///     let ghost = commands.spawn(());
///     commands.run(move |world| {
///         // It may be despawned by then, and the value is dropped.
///         let _ = world.insert_side(ghost, Name("nobody".to_owned()));
///     });
/// }
///
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(2.0)]);
/// let mut schedule = Schedule::new();
/// schedule.add(name);
/// schedule.run(&mut world)?;
/// assert_eq!(world.side::<Name>().len(), 3);
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct SideMut<'w, T: Send + Sync + 'static> {
    table: &'w mut SideTable<T>,
    living: Living<'w>,
}

impl<'w, T: Send + Sync + 'static> SideMut<'w, T> {
    /// The values for one run of a system.
    pub(crate) fn granted(granted: &'w mut SideGrant<'_, T>) -> Self {
        let living = granted.living;
        Self { table: &mut granted.table, living }
    }

    /// The value of an entity, for reading; `None` if it has none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert_eq!(world.side_mut::<String>().get(Entity::NULL), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, entity: Entity) -> Option<&T> {
        self.table.get(entity)
    }

    /// The value of an entity, for writing; `None` if it has none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_side(entity, String::from("Ada"))?;
    /// world.side_mut::<String>().get_mut(entity).unwrap().push_str(" Lovelace");
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut T> {
        self.table.get_mut(entity)
    }

    /// Gives an entity a value, and returns the one that it replaces. Amortised O(1).
    ///
    /// # Errors
    ///
    /// If the entity is not alive. The value is dropped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// let mut names = world.side_mut::<String>();
    /// assert_eq!(names.insert(entity, String::from("Ada"))?, None);
    /// assert!(names.insert(Entity::NULL, String::from("nobody")).is_err());
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn insert(&mut self, entity: Entity, value: T) -> Result<Option<T>, NoSuchEntity> {
        if self.living.contains(entity) {
            Ok(self.table.insert(entity, value))
        } else {
            Err(NoSuchEntity { entity })
        }
    }

    /// Takes the value from an entity; `None` if it has none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert_eq!(world.side_mut::<String>().remove(Entity::NULL), None);
    /// ```
    pub fn remove(&mut self, entity: Entity) -> Option<T> {
        self.table.remove(entity)
    }

    /// Returns `true` if the entity has a value. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert!(!world.side_mut::<String>().contains(Entity::NULL));
    /// ```
    #[inline]
    #[must_use]
    pub fn contains(&self, entity: Entity) -> bool {
        self.table.contains(entity)
    }

    /// The number of values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert_eq!(world.side_mut::<String>().len(), 0);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns `true` if no entity has a value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert!(world.side_mut::<String>().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values with their entities, in the order of [`Side::iter`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert_eq!(world.side_mut::<String>().iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &T)> {
        self.table.iter()
    }

    /// Makes the [side values](World::insert_side) of type `T` part of [`Snapshot`]s that are taken
    /// from now on, so that [`World::restore`] restores them as well: the values of entities that
    /// come back, and values that were replaced or removed. Call it once for each type; a world
    /// that [takes over](World::merge) values of a world that keeps them keeps them too.
    ///
    /// A snapshot clones all values of the type if any was written, inserted or removed since the
    /// last snapshot, and a restore clones them if any was since the snapshot: O(values of the
    /// type), otherwise O(1). [`SideMut::get_mut`] and [`SideMut::iter_mut`] count as writes.
    /// Changes through `&T`, as in an atomic number or inside an `Arc`, are not noticed: such
    /// values are not state of the world.
    ///
    /// [`Snapshot::to_bytes`](crate::snapshot::Snapshot::to_bytes) leaves them out: save them
    /// beside it, under [`Entity::to_bits`], and insert them after the restore.
    ///
    /// [`Snapshot`]: crate::snapshot::Snapshot
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone)]
    /// struct Name(String);
    ///
    /// let mut world = World::new();
    /// world.side_mut::<Name>().keep_in_snapshots();
    /// let hero = world.spawn(());
    /// world.insert_side(hero, Name("Ada".to_owned()))?;
    ///
    /// let before = world.snapshot()?;
    /// world.despawn(hero)?;
    /// world.restore(&before)?;
    /// assert_eq!(world.side::<Name>().get(hero).unwrap().0, "Ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_in_snapshots(&mut self)
    where
        T: Clone,
    {
        self.table.keep();
    }

    /// All values with their entities, for writing, in the order of [`Side::iter`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// for (_, name) in world.side_mut::<String>().iter_mut() {
    ///     name.make_ascii_uppercase();
    /// }
    /// ```
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Entity, &mut T)> {
        self.table.iter_mut()
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> fmt::Debug for SideMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The right of a system to read the side values of type `T`, for one run.
#[derive(Debug)]
pub struct SideReadGrant<'w, T> {
    /// `None` if the world has no table of `T`.
    table: Option<RwLockReadGuard<'w, SideTable<T>>>,
}

impl<'w, T: Send + Sync + 'static> SideReadGrant<'w, T> {
    /// # Panics
    ///
    /// If another system writes the values.
    pub(crate) fn new(split: &SplitStore<'w>) -> Self {
        Self { table: split.sides().read() }
    }
}

/// The right of a system to write the side values of type `T`, for one run.
#[derive(Debug)]
pub struct SideGrant<'w, T> {
    table: RwLockWriteGuard<'w, SideTable<T>>,
    living: Living<'w>,
}

impl<'w, T: Send + Sync + 'static> SideGrant<'w, T> {
    /// # Panics
    ///
    /// If another system accesses the values.
    pub(crate) fn new(split: &SplitStore<'w>) -> Self {
        let table = split.sides().write();
        let table = table.unwrap_or_else(|| panic!("no table of `{}` was bound", type_name::<T>()));
        Self { table, living: split.living() }
    }
}
