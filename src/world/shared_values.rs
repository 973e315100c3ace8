//! Inserts, removes and reads values that entities share.
//!
//! A shared value is represented by a tag at run time, so each change moves a row along an edge of
//! the graph: the edge removes the tag of the old value and adds the marker and the tag of the new
//! one.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashSet;

use crate::archetype::Change;
use crate::component::{SharedCodec, SharedMap, SharedRow, SharedValue};
use crate::entity::{Entity, NoSuchEntity};
use crate::query::{Filter, Terms, matches_in};
use crate::storage::LayoutError;
use crate::store::EntityError;

use super::matching::Matching;
use super::world::World;

/// # Shared values
impl World {
    /// Gives an entity a [shared value](crate::shared::Shared) of type `T`, which replaces its
    /// previous one. Moves one row: O(components), after one hash of the value and a comparison
    /// with an equal one. If the entity already has an equal value, the world does not change. If
    /// the world has an equal value, the entity gets that one, and this one is dropped.
    ///
    /// For all entities of a query see [`Matching::insert_shared`].
    ///
    /// # Errors
    ///
    /// If the entity is not alive, or a row does not fit a chunk. The entity is unchanged, and the
    /// value is dropped.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of 65,535 component types and shared values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let [ada, bob] = [world.spawn(()), world.spawn(())];
    /// world.insert_shared(ada, String::from("red"))?;
    /// world.insert_shared(bob, String::from("red"))?;
    /// assert_eq!(world.shared::<String>().iter().count(), 1, "equal values are one");
    /// world.insert_shared(bob, String::from("blue"))?;
    /// assert_eq!(world.shared::<String>().get(bob)?, "blue");
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn insert_shared<T: SharedValue>(
        &mut self,
        entity: Entity,
        value: T,
    ) -> Result<(), EntityError> {
        self.flush();
        let source = self.store.entities().locate(entity)?.archetype();
        if self.store.archetypes().get(source).is_gone() {
            return Err(NoSuchEntity { entity }.into());
        }
        let row = self.store.registry_mut().share(value);
        if self.store.archetypes().get(source).set().contains(row.tag) {
            return Ok(());
        }
        self.store.change_tags(entity, row.change(), (Tag, Tag))
    }

    /// Takes the [shared value](crate::shared::Shared) of type `T` from an entity. Moves one row:
    /// O(components).
    ///
    /// # Errors
    ///
    /// If the entity is not alive, or has no such value. The entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_shared(entity, String::from("red"))?;
    /// world.remove_shared::<String>(entity)?;
    /// assert!(world.remove_shared::<String>(entity).is_err());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn remove_shared<T: SharedValue>(&mut self, entity: Entity) -> Result<(), EntityError> {
        self.flush();
        let source = self.store.entities().locate(entity)?.archetype();
        let marker = self.store.registry().shared_marker::<T>();
        if !self.store.archetypes().get(source).set().contains(marker) {
            return Err(self.lacking(entity, type_name::<T>()));
        }
        self.store.change_tags(entity, Change::Unshare(marker), ())
    }

    /// The [shared values](crate::shared::Shared) of type `T`, for reading.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_shared(entity, String::from("red"))?;
    /// assert_eq!(world.shared::<String>().get(entity)?, "red");
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub const fn shared<T: SharedValue>(&self) -> SharedValues<'_, T> {
        SharedValues { world: self, value: PhantomData }
    }

    /// The type `T` of [shared values](crate::shared::Shared): how its values become bytes, and how
    /// their ids are replaced.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// world.shared_mut().map_entities(|&owner: &Entity, id| id(owner));
    /// ```
    pub const fn shared_mut<T: SharedValue>(&mut self) -> SharedValuesMut<'_, T> {
        SharedValuesMut { world: self, value: PhantomData }
    }
}

/// The shared values of type `T`, for reading; made by [`World::shared`].
pub struct SharedValues<'w, T> {
    world: &'w World,
    /// Invariant in `T`: a subtype of it is another type.
    value: PhantomData<fn(T) -> T>,
}

impl<'w, T: SharedValue> SharedValues<'w, T> {
    /// The [shared value](crate::shared::Shared) of type `T` of an entity. O(1).
    ///
    /// # Errors
    ///
    /// If the entity is not alive, or has no such value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert!(world.shared::<String>().get(entity).is_err());
    /// world.insert_shared(entity, String::from("red"))?;
    /// assert_eq!(world.shared::<String>().get(entity)?, "red");
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn get(&self, entity: Entity) -> Result<&'w T, EntityError> {
        let place = self.world.store.entities().locate(entity).ok();
        let shared = place.and_then(|place| self.world.archetype(place).shared());
        let value = shared.and_then(|shared| shared.get());
        value.ok_or_else(|| self.world.lacking(entity, type_name::<T>()))
    }

    /// Returns `true` if an entity is alive and has a [shared value](crate::shared::Shared) of type
    /// `T`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert!(!world.shared::<String>().contains(entity));
    /// ```
    #[must_use]
    pub fn contains(&self, entity: Entity) -> bool {
        self.get(entity).is_ok()
    }

    /// The distinct [shared values](crate::shared::Shared) of type `T` that entities have, hidden
    /// ones included, in the order in which their first archetypes were created. O(archetypes).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// for team in [1_u8, 2, 1, 1] {
    ///     let soldier = world.spawn(());
    ///     world.insert_shared(soldier, team)?;
    /// }
    /// assert!(world.shared::<u8>().iter().eq(&[1, 2]));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &'w T> + use<'w, T> {
        let archetypes = self.world.store.archetypes().as_slice().iter();
        let mut seen = FxHashSet::default();
        archetypes
            .filter_map(|archetype| archetype.shared()?.tagged::<T>())
            .filter(move |&(tag, _)| seen.insert(tag))
            .map(|(_, value)| value)
    }
}

impl<T: SharedValue + fmt::Debug> fmt::Debug for SharedValues<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The type `T` of shared values, to be described to a world; made by [`World::shared_mut`].
#[must_use = "its methods do the work"]
pub struct SharedValuesMut<'w, T> {
    world: &'w mut World,
    /// Invariant in `T`: a subtype of it is another type.
    value: PhantomData<fn(T) -> T>,
}

impl<T: SharedValue> SharedValuesMut<'_, T> {
    /// Sets the encoding of [shared values](crate::shared::Shared) of type `T`, so that they are
    /// part of states as bytes: of [`Snapshot::to_bytes`](crate::snapshot::Snapshot::to_bytes),
    /// [`Snapshot::delta`](crate::snapshot::Snapshot::delta), and the functions that read these. A
    /// state is encoded with the functions that were set when it was taken, so call this before; a
    /// state with shared values of a type without an encoding is an error.
    ///
    /// * The name represents the type in the bytes, as [`Component::NAME`](crate::Component::NAME)
    ///   does for a component: it stays the same if the type is renamed or moved.
    /// * `encode` appends a value as bytes, of any length. Equal values should have equal bytes, so
    ///   that equal states do. It is called once for each value that entities have, and for a delta
    ///   once for each value that the base lacks.
    /// * `decode` returns the value of the bytes, or `None` if the bytes, which may be arbitrary,
    ///   are not a valid value. Two values that were written must decode to two values, or the
    ///   state is refused.
    ///
    /// Both may be closures, for example to resolve a handle. They are neither part of a state nor
    /// taken over by another world: call this once for each world. If it is called again, later
    /// states use the later functions.
    ///
    /// # Panics
    ///
    /// If another shared type of this world has the name, if the type has another name, or if the
    /// world has its maximum of 65,535 component types and shared values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[derive(Debug, PartialEq, Eq, Hash)]
    /// struct Mesh(String);
    ///
    /// fn tell(world: &mut World) {
    ///     world.shared_mut().encode(
    ///         "mesh",
    ///         |mesh: &Mesh, to| to.extend_from_slice(mesh.0.as_bytes()),
    ///         |bytes| Some(Mesh(String::from_utf8(bytes.to_vec()).ok()?)),
    ///     );
    /// }
    /// let [mut world, mut other] = [World::new(), World::new()];
    /// tell(&mut world);
    /// tell(&mut other);
    /// let tree = world.spawn(());
    /// world.insert_shared(tree, Mesh("oak".into()))?;
    ///
    /// let state = other.read_snapshot(&world.snapshot()?.to_bytes()?)?;
    /// other.restore(&state)?;
    /// assert_eq!(other.shared::<Mesh>().get(tree)?.0, "oak");
    /// assert_eq!(other.hash(), world.hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode(
        &mut self,
        name: &'static str,
        encode: impl Fn(&T, &mut Vec<u8>) + Send + Sync + 'static,
        decode: impl Fn(&[u8]) -> Option<T> + Send + Sync + 'static,
    ) {
        self.world.store.registry_mut().encode_shared::<T>(SharedCodec::new(name, encode, decode));
    }

    /// Sets how ids of entities in [shared values](crate::shared::Shared) of type `T` are replaced
    /// when their entities go to another world: `map` makes a value like the old one, in which each
    /// [`Entity`] is replaced by the result of its second argument. Ids carry no world, so without
    /// it [`merge`](World::merge) and [`move_from`](World::move_from) refuse values that have ids.
    ///
    /// The ids of a value are found by its `Hash`, which calls the one of every [`Entity`] in it:
    /// types without ids need no function. A hash that skips an id hides it: such a value keeps its
    /// old ids.
    ///
    /// The world that takes over uses its own function, or else the function of the other world.
    /// The function is not taken over: call this once for each world; a later call replaces the
    /// function. Values that are equal with their new ids become one.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of 65,535 component types and shared values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[derive(Debug, PartialEq, Eq, Hash)]
    /// struct Owner(Entity);
    ///
    /// let (mut world, mut level) = (World::new(), World::new());
    /// world.spawn(());
    /// let [ada, house] = [level.spawn(()), level.spawn(())];
    /// level.insert_shared(house, Owner(ada))?;
    ///
    /// world.shared_mut().map_entities(|owner: &Owner, id| Owner(id(owner.0)));
    /// let merged = world.merge(level)?;
    /// let [ada, house] = [ada, house].map(|old| merged.get(old).unwrap());
    /// assert_eq!(world.shared::<Owner>().get(house)?, &Owner(ada));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn map_entities(
        &mut self,
        map: impl Fn(&T, &mut dyn FnMut(Entity) -> Entity) -> T + Send + Sync + 'static,
    ) {
        self.world.store.registry_mut().map_shared::<T>(SharedMap::new(map));
    }
}

impl<T: SharedValue + fmt::Debug> fmt::Debug for SharedValuesMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.world.shared::<T>().fmt(f)
    }
}

impl SharedRow {
    /// The change that gives the value.
    const fn change(&self) -> Change {
        Change::Share { marker: self.marker, tag: self.tag }
    }
}

impl<'w, Q: Terms, F: Filter> Matching<'w, Q, F> {
    /// Gives every entity that matches a [shared value](crate::shared::Shared) of type `T`, which
    /// replaces its previous one, and returns the number of these entities. Entities that already
    /// have an equal value are not counted.
    ///
    /// Chunks change owner, and no component is copied: O(entities), 20 bytes each for id and
    /// location, and O(chunks × columns) for versions.
    ///
    /// # Errors
    ///
    /// If a row does not fit a chunk. No entity is changed.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of 65,535 component types and shared values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Health(1.0)));
    /// assert_eq!(world.matching::<&Health>().insert_shared("orc")?, 1000);
    /// assert_eq!(world.matching::<&Health>().insert_shared("orc")?, 0);
    /// let orcs = world.matching::<&Health>().where_shared(&"orc");
    /// assert_eq!(orcs.insert_shared("goblin")?, 1000);
    /// assert!(world.shared::<&str>().iter().eq(&["goblin"]));
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    pub fn insert_shared<T: SharedValue>(self, value: T) -> Result<usize, LayoutError> {
        let (store, filter) = self.into_parts();
        let mut matches = matches_in::<Q, F>(store, &filter);
        // Entities that are gone accept no value.
        matches.retain(|archetype| !store.archetypes().get(archetype).is_gone());
        if matches.archetypes().next().is_none() {
            return Ok(0);
        }
        let row = store.registry_mut().share(value);
        for archetype in matches.archetypes() {
            store.ensure_fits(archetype, row.change())?;
        }
        Ok(store.change_matches(&matches, row.change(), (Tag, Tag)))
    }

    /// Takes the [shared value](crate::shared::Shared) of type `T` from every entity that matches,
    /// and returns the number of entities that had one.
    ///
    /// Chunks change owner, and no component is copied: O(entities), 20 bytes each for id and
    /// location, and O(chunks × columns) for versions.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Health(1.0)));
    /// world.matching::<&Health>().insert_shared("orc")?;
    /// assert_eq!(world.matching::<&Health>().remove_shared::<&str>(), 1000);
    /// assert_eq!(world.shared::<&str>().iter().count(), 0);
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    pub fn remove_shared<T: SharedValue>(self) -> usize {
        let (store, filter) = self.into_parts();
        let matches = matches_in::<Q, F>(store, &filter);
        let change = Change::Unshare(store.registry().shared_marker::<T>());
        store.change_matches(&matches, change, ())
    }
}

/// The value of a marker or a tag, which has no bytes. No world registers it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Tag;

crate::impl_component!(Tag as "phalanx::Tag");
