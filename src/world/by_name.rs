//! Components by name, with their values as bytes.

use crate::archetype::Bundle;
use crate::component::{
    Component as _, ComponentId, ComponentInfo, ComponentSet, Gone, HasSparseCleanup,
};
use crate::entity::Entity;
use crate::nearest::nearest;
use crate::store::{ComponentRef, EntityError, RowValues};

use super::bytes_error::BytesError;
use super::component_key::ComponentKey;
use super::world::World;

/// # Components without their types
impl World {
    /// Registers the names of a bundle's components, without a spawn. Those of
    /// [sparse components](crate::component#sparse-components) are taken, too: states that are read
    /// from bytes need them, but calls by name have no values of them, except of pairs.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// assert!(world.reflect().component("health").is_none());
    /// world.register::<(Health, Frozen)>();
    /// assert_eq!(world.reflect().component("health").unwrap().size(), 4);
    /// ```
    pub fn register<B: Bundle>(&mut self) {
        let store = &mut self.store;
        store.check_sets::<B::Sparse>();
        store.bundle_id::<B::Columns>();
        store.add_sets::<B::Sparse>();
    }

    /// The types and the archetypes of the world, without a type at the call.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn(Health(1.0));
    /// assert_eq!(world.reflect().component("health").unwrap().size(), 4);
    /// assert_eq!(world.reflect().archetypes().count(), 1);
    /// ```
    pub const fn reflect(&self) -> Reflect<'_> {
        Reflect { world: self }
    }

    /// Changes of entities that name components by text, with their values as bytes.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// # world.register::<Health>();
    /// let entity = world.spawn(());
    /// world.reflect_mut().insert(entity, [("health", &9u16.to_ne_bytes()[..])])?;
    /// assert_eq!(world.get::<Health>(entity), Ok(&Health(9)));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub const fn reflect_mut(&mut self) -> ReflectMut<'_> {
        ReflectMut { world: self }
    }
}

/// The types and the archetypes of a world; made by [`World::reflect`].
#[derive(Clone, Copy, Debug)]
#[must_use = "its methods return what is asked for"]
pub struct Reflect<'w> {
    pub(super) world: &'w World,
}

impl<'w> Reflect<'w> {
    /// The component type of this name, if the world knows it and it is not
    /// [sparse](crate::component#sparse-components): from a spawn, an insertion, a query
    /// that borrowed the world exclusively, a system that ran with it in a parameter,
    /// [`World::register`], or [`register_layout`](ReflectMut::register_layout).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn(Health(1.0));
    /// assert_eq!(world.reflect().component("health").unwrap().align(), 4);
    /// ```
    #[must_use]
    pub fn component(self, name: &str) -> Option<&'w ComponentInfo> {
        let registry = self.world.store.registry();
        registry.id_of_name(name).map(|id| registry.info(id))
    }

    /// All component types that the world knows, in the order in which it learnt of them, but
    /// [sparse ones](crate::component#sparse-components), which
    /// [`explain`](crate::World::explain) lists.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.register::<(Health, Frozen)>();
    /// let names: Vec<_> = world.reflect().components().map(|info| info.name()).collect();
    /// assert_eq!(names, ["health", "frozen"]);
    /// ```
    pub fn components(self) -> impl ExactSizeIterator<Item = &'w ComponentInfo> + use<'w> {
        let infos = self.world.store.registry().infos().iter();
        infos.filter(|info| !info.is_shared()).collect::<Vec<_>>().into_iter()
    }
}

impl Reflect<'_> {
    /// The component that has a name and bytes.
    pub(super) fn known(self, name: &str) -> Result<ComponentId, BytesError> {
        let registry = self.world.store.registry();
        registry.id_of_name(name).ok_or_else(|| match registry.is_sparse(name) {
            true => BytesError::Sparse { name: name.to_owned() },
            false => self.unknown(name, []),
        })
    }

    /// The component of a key, sparse or not.
    pub(super) fn component_ref(self, key: &ComponentKey<'_>) -> Result<ComponentRef, BytesError> {
        let registry = self.world.store.registry();
        let Some(one) = ComponentRef::of_name(registry, key.name()) else {
            return Err(self.unknown_key(key, registry.sparse_names()));
        };
        let is_meant = match one.is_sparse {
            true => registry.pair_info(one.name).is_some_and(|info| key.means(info)),
            false => key.means(registry.info(one.id)),
        };
        match key.is_name() || is_meant {
            true => Ok(one),
            false => Err(BytesError::OtherComponent { name: key.name().to_owned() }),
        }
    }

    /// The component of a key that has bytes.
    pub(super) fn column_ref(self, key: &ComponentKey<'_>) -> Result<ComponentRef, BytesError> {
        match self.component_ref(key) {
            Ok(one) if one.is_sparse => Err(BytesError::Sparse { name: one.name.to_owned() }),
            Err(BytesError::UnknownName { .. }) => Err(self.unknown_key(key, [])),
            other => other,
        }
    }

    /// The error for a component that the world does not know. Only a name can be misspelt.
    fn unknown_key(
        self,
        key: &ComponentKey<'_>,
        others: impl IntoIterator<Item = &'static str>,
    ) -> BytesError {
        match key.is_name() {
            true => self.unknown(key.name(), others),
            false => BytesError::UnknownName { name: key.name().to_owned(), nearest: None },
        }
    }

    /// The component that has a name and bytes, and that calls may insert and remove.
    pub(super) fn changeable(self, name: &str) -> Result<ComponentId, BytesError> {
        if name == Gone::NAME || name == HasSparseCleanup::NAME {
            return Err(BytesError::Gone);
        }
        self.known(name)
    }

    /// The error for a name that the world does not know. It may propose `others`, too.
    pub(super) fn unknown(
        self,
        name: &str,
        others: impl IntoIterator<Item = &'static str>,
    ) -> BytesError {
        let mut known: Vec<_> = self.components().map(ComponentInfo::name).collect();
        known.extend(others);
        BytesError::UnknownName { name: name.to_owned(), nearest: nearest(name, &known) }
    }
}

/// Changes of entities by the names of components; made by [`World::reflect_mut`].
#[derive(Debug)]
#[must_use = "its methods do the work"]
pub struct ReflectMut<'w> {
    pub(super) world: &'w mut World,
}

impl ReflectMut<'_> {
    /// Spawns an entity with components by name, with their values as bytes. Either it has all of
    /// them, or none is spawned. Names and bytes are checked as those of
    /// [`insert`](Self::insert) are. O(components).
    ///
    /// # Errors
    ///
    /// If a name is unknown or named twice, or one of a sparse component or of [`Gone`], if bytes
    /// are not a value of their type, if only a part of a split component is named, if ids or
    /// memory run out, or if the row would not fit a chunk. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(name = "health")]
    /// #[derive(Debug, PartialEq)] struct Health(u16);
    /// #[component(name = "frozen")]
    /// struct Frozen;
    /// let mut world = World::new();
    /// world.register::<(Health, Frozen)>();
    /// let values = [("health", &500u16.to_ne_bytes()[..]), ("frozen", &[])];
    /// let entity = world.reflect_mut().spawn(values)?;
    /// assert_eq!(world.get::<Health>(entity), Ok(&Health(500)));
    /// assert!(world.has::<Frozen>(entity));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn spawn<'b>(
        &mut self,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Result<Entity, BytesError> {
        let values = NamedValues::new(Reflect { world: self.world }, values)?;
        self.ensure_whole(values.ids(), None)?;
        self.world.flush();
        let store = &mut self.world.store;
        let bundle = store.set_id(values.ids());
        let spawned = store.spawn_strided(bundle, 1, values.row(), 0)?;
        Ok(spawned[0])
    }

    /// [`ReflectMut::spawn`] of the entity of an id on loan.
    pub(crate) fn spawn_loaned<'b>(
        &mut self,
        entity: Entity,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Result<(), BytesError> {
        let values = NamedValues::new(Reflect { world: self.world }, values)?;
        self.ensure_whole(values.ids(), None)?;
        self.world.flush();
        let store = &mut self.world.store;
        let bundle = store.set_id(values.ids());
        Ok(store.spawn_loaned(entity, bundle, values.row())?)
    }

    /// Inserts components by name, with their values as bytes, in one move. Components that the
    /// entity already has are overwritten. Either all are inserted or none.
    ///
    /// The bytes are checked: their number must be the size of the component, and they must be a
    /// value of its type (a `bool` is 0 or 1). They are in the byte order of the machine, as
    /// [`EntityView`](crate::reflect::EntityView) returns them. O(components).
    ///
    /// Each field of a [split component](crate::component#split-components) counts as a component
    /// here: either all of them are named, or the entity has the others.
    ///
    /// # Errors
    ///
    /// If a name is unknown or named twice, or one of a sparse component or of [`Gone`], if bytes
    /// are not a value of their type, if the entity would have only a part of a split component, if
    /// it is not alive, or if its row would not fit a chunk. The entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(name = "health")]
    /// #[derive(Debug, PartialEq)] struct Health(u16);
    /// let mut world = World::new();
    /// world.register::<Health>();
    /// let entity = world.spawn(());
    /// world.reflect_mut().insert(entity, [("health", &500u16.to_ne_bytes()[..])])?;
    /// assert_eq!(world.get::<Health>(entity), Ok(&Health(500)));
    /// let error = world.reflect_mut().insert(entity, [("health", &[1][..])]).unwrap_err();
    /// assert_eq!(error.to_string(), "a value of `health` has 2 bytes, and 1 was given");
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn insert<'b>(
        &mut self,
        entity: Entity,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Result<(), BytesError> {
        self.insert_values(entity, values).map(drop)
    }

    /// [`ReflectMut::insert`]. Returns `true` if the row has moved.
    pub(crate) fn insert_values<'b>(
        &mut self,
        entity: Entity,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Result<bool, BytesError> {
        let values = NamedValues::new(Reflect { world: self.world }, values)?;
        self.world.flush();
        let place = self.world.store.entities().locate(entity).map_err(EntityError::from)?;
        self.ensure_whole(values.ids(), Some(self.world.archetype(place).set()))?;
        let added = (self.world.store.set_id(&[]), self.world.store.set_id(values.ids()));
        Ok(self.world.store.exchange_bytes(entity, added, values.row())?)
    }

    /// Removes components by name in one move. Components that the entity lacks are skipped.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or one of a sparse component or of [`Gone`], if some fields of a
    /// [split component](crate::component#split-components) are named without the others, or if the
    /// entity is not alive. The entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(name = "health")]
    /// struct Health(u16);
    /// #[component(name = "frozen")]
    /// struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(500), Frozen));
    /// world.reflect_mut().remove(entity, ["frozen"])?;
    /// assert!(!world.has::<Frozen>(entity) && world.has::<Health>(entity));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn remove<'n>(
        &mut self,
        entity: Entity,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), BytesError> {
        self.remove_names(entity, names).map(drop)
    }

    /// [`ReflectMut::remove`]. Returns `true` if the row has moved.
    pub(crate) fn remove_names<'n>(
        &mut self,
        entity: Entity,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<bool, BytesError> {
        let mut ids = Vec::new();
        for name in names {
            ids.push(Reflect { world: self.world }.changeable(name)?);
        }
        ids.sort_unstable();
        ids.dedup();
        self.ensure_whole(&ids, None)?;
        self.world.flush();
        // Before the bundle is made, which the world keeps.
        self.world.store.entities().locate(entity).map_err(EntityError::from)?;
        let removed = (self.world.store.set_id(&ids), self.world.store.set_id(&[]));
        let no_values = RowValues { bytes: &[], starts: &[] };
        Ok(self.world.store.exchange_bytes(entity, removed, no_values)?)
    }

    /// Checks that if `ids` has a column of a split component, `ids` and `present` have all of
    /// them.
    fn ensure_whole(
        &self,
        ids: &[ComponentId],
        present: Option<&ComponentSet>,
    ) -> Result<(), BytesError> {
        let registry = self.world.store.registry();
        let is_there = |column: &ComponentId| {
            ids.contains(column) || present.is_some_and(|set| set.contains(*column))
        };
        for info in ids.iter().map(|&id| registry.info(id)) {
            let lacks = |column: &&&str| registry.id_of_name(column).filter(is_there).is_none();
            if let Some(missing) = info.split_columns().iter().find(lacks) {
                return Err(BytesError::Part {
                    name: info.name().to_owned(),
                    missing: (*missing).to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// The values of one row, by the names of their components: checked, and in the order of a bundle.
struct NamedValues {
    /// In ascending order.
    ids: Vec<ComponentId>,
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl NamedValues {
    /// Checks the names and the bytes of values. O(components), and the bytes are copied once.
    ///
    /// # Errors
    ///
    /// If a name is unknown or named twice, or if bytes are not a value of their type.
    fn new<'b>(
        reflect: Reflect<'_>,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Result<Self, BytesError> {
        let mut named = Vec::new();
        for (name, bytes) in values {
            named.push((checked(reflect, name, bytes)?, bytes));
        }
        named.sort_unstable_by_key(|&(id, _)| id);
        if let Some(pair) = named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let name = reflect.world.store.registry().info(pair[0].0).name();
            return Err(BytesError::Repeated { name: name.to_owned() });
        }
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for (_, value) in &named {
            starts.push(bytes.len());
            bytes.extend_from_slice(value);
        }
        Ok(Self { ids: named.iter().map(|&(id, _)| id).collect(), bytes, starts })
    }

    /// The components, in ascending order.
    fn ids(&self) -> &[ComponentId] {
        &self.ids
    }

    /// The values in the order of [`ids`](Self::ids).
    fn row(&self) -> RowValues<'_> {
        RowValues { bytes: &self.bytes, starts: &self.starts }
    }
}

/// The component with a name, if these bytes are a value of it.
fn checked(reflect: Reflect<'_>, name: &str, bytes: &[u8]) -> Result<ComponentId, BytesError> {
    let id = reflect.changeable(name)?;
    check_value(reflect.world.store.registry().info(id), bytes)?;
    Ok(id)
}

/// Checks that these bytes are a value of a component, or of the pairs of a relation.
pub(super) fn check_value(info: &ComponentInfo, bytes: &[u8]) -> Result<(), BytesError> {
    let name = || info.name().to_owned();
    if bytes.len() != info.size() {
        return Err(BytesError::Size { name: name(), size: info.size(), len: bytes.len() });
    }
    if !info.values().accept(bytes) {
        return Err(BytesError::Value { name: name(), field: info.refused_field(bytes) });
    }
    Ok(())
}
