//! Random access: from an entity to one of its components.

use core::fmt;

use crate::archetype::{Archetypes, ChangeLog};
use crate::component::{AnyComponent, Component};
use crate::entity::{Entity, NoSuchEntity};
use crate::query::assert_enableable;
use crate::storage::{Absent, ColumnViews, ColumnViewsMut};
use crate::store::EntityError;

use super::cell_shape::{Cell, CellMut, CellShape};
use super::world::World;

/// # Components by entity
impl World {
    /// Component `C` of an entity, for reading: two cache misses, the directory's and the value's.
    ///
    /// Each call looks up the type. A view looks it up once: make one for more than 40 reads.
    /// Instructions of a release build on x86-64, for one component in a world of three archetypes
    /// of one chunk each:
    ///
    /// | call | to make it | a read |
    /// | --- | ---: | ---: |
    /// | `world.get::<C>(entity)` | | 73 |
    /// | [`world.lookup::<C>()`](World::lookup) and `get` | 1,320 | 34 |
    /// | [`query.get(entity)`](crate::Query::get) | | 179 |
    /// | [`query.lookup()`](crate::Query::lookup) and `get` | 1,480 | 52 |
    ///
    /// A second component adds 10 instructions to a row of `query.lookup()`, and a whole read to
    /// other calls. An entity without such a row takes the view of a query two to seven times as
    /// long, because the error gives the reason.
    ///
    /// The result is a `&C`. If `C` is a [split component](crate::component#split-components),
    /// whose fields lie in separate columns, the result is a `C`. If it is a [sparse
    /// component](crate::component#sparse-components), the result is a
    /// [`SparseRef`](crate::sparse::SparseRef), which derefs to `C`.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks `C`. The remaining components of an entity that is
    /// [`Gone`](crate::Gone) are found.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.get::<Health>(entity)?.0, 1.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn get<C: AnyComponent<Shape: CellShape<C>>>(
        &self,
        entity: Entity,
    ) -> Result<Cell<'_, C>, EntityError> {
        C::Shape::get(self, entity)
    }

    /// Component `C` of an entity, for writing. Stamps its column in its chunk, or only its row if
    /// the component tracks lines. For many writes make a [`World::lookup_mut`]; see
    /// [`World::get`].
    ///
    /// The result is a `&mut C`. If `C` is a [split component](crate::component#split-components),
    /// the result is a [`SplitMut`](crate::SplitMut), which writes the fields back when it is
    /// dropped. If it is [sparse](crate::component#sparse-components), it is a `&mut C`, and the
    /// block of the value is stamped. If it is a relation to many, the result is a
    /// [`TargetsMut`](crate::sparse::TargetsMut). A relation with one target does not compile:
    /// insert another one.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks `C`. The remaining components of an entity that is
    /// [`Gone`](crate::Gone) are found.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// world.get_mut::<Health>(entity)?.0 -= 0.5;
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn get_mut<C: AnyComponent<Shape: CellShape<C>>>(
        &mut self,
        entity: Entity,
    ) -> Result<CellMut<'_, C>, EntityError> {
        self.flush();
        C::Shape::get_mut(self, entity)
    }

    /// A view for many random reads of component `C`: each read hashes nothing and looks up no
    /// type. Making a view is O(archetypes + chunks).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..100).map(|i| Health(i as f32))).to_vec();
    /// let health = world.lookup::<Health>();
    /// let sum: f32 = entities.iter().rev().map(|&e| health.get(e).map_or(0.0, |h| h.0)).sum();
    /// assert_eq!(sum, 4950.0);
    /// ```
    #[must_use]
    pub fn lookup<C: Component>(&self) -> Lookup<'_, C> {
        let (columns, archetypes) = self.store.views();
        Lookup { columns, archetypes }
    }

    /// A view for many random writes of component `C`, which looks up the type once instead of at
    /// each [`World::get_mut`]. Making a view is O(archetypes + chunks), and advances the clock
    /// once.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..100).map(|i| Health(i as f32))).to_vec();
    /// let mut health = world.lookup_mut::<Health>();
    /// for &[target, healer] in entities.as_chunks().0 {
    ///     let gift = health.get(healer).map_or(0.0, |health| health.0 / 2.0);
    ///     if let Ok(health) = health.get_mut(target) {
    ///         health.0 += gift;
    ///     }
    /// }
    /// assert_eq!(world.get::<Health>(entities[98])?.0, 98.0 + 99.0 / 2.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn lookup_mut<C: Component>(&mut self) -> LookupMut<'_, C> {
        self.flush();
        let (columns, log) = self.store.views_mut();
        LookupMut { columns, log }
    }
}

/// The error of a lookup.
#[cold]
pub(super) fn refused<C: Component>(absent: Absent, entity: Entity) -> EntityError {
    match absent {
        Absent::Component => EntityError::Missing { entity, component: C::NAME },
        Absent::Entity => NoSuchEntity { entity }.into(),
    }
}

/// Random reads of one component; see [`World::lookup`].
pub struct Lookup<'w, C: Component> {
    pub(super) columns: ColumnViews<'w, C>,
    /// All archetypes, which have the places of rows.
    pub(super) archetypes: &'w Archetypes,
}

impl<'w, C: Component> Lookup<'w, C> {
    /// The component of an entity, [hidden](crate::component#hidden-components) or not.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component. The remaining components of an entity
    /// that is [`Gone`](crate::Gone) are found.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.lookup::<Health>().get(entity)?.0, 1.0);
    /// assert!(world.lookup::<Health>().get(Entity::NULL).is_err());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Result<&'w C, EntityError> {
        self.columns.get(entity).map_err(|absent| refused::<C>(absent, entity))
    }
}

impl<C: Component> Lookup<'_, C> {
    /// Whether the component of an entity is enabled: see
    /// [`World::set_enabled`](crate::World::set_enabled).
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// let mut world = World::new();
    /// let entity = world.spawn(Awake);
    /// assert!(world.lookup::<Awake>().is_enabled(entity)?);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn is_enabled(&self, entity: Entity) -> Result<bool, EntityError> {
        const { assert_enableable::<C>() };
        self.columns.is_enabled(entity).map_err(|absent| refused::<C>(absent, entity))
    }
}

impl<C: Component> fmt::Debug for Lookup<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("component", &core::any::type_name::<C>()).finish()
    }
}

/// Random writes of one component; see [`World::lookup_mut`]. As a parameter of a system it gives
/// access to component `C` of every entity.
///
/// The closure of a parallel pass cannot write through it, because two threads may find one entity:
/// the compiler says that it is "a captured variable in a `Fn` closure". It can read, by
/// [`get`](Self::get). A pass over other rows collects entities with their new values and writes
/// after it, or records commands by [`ParChunks::record`](crate::chunks::ParChunks::record); its
/// own rows are written by the term `&mut C`.
pub struct LookupMut<'w, C: Component> {
    pub(super) columns: ColumnViewsMut<'w, C>,
    /// The log of the world's places.
    pub(super) log: &'w ChangeLog,
}

impl<C: Component> LookupMut<'_, C> {
    /// The component of an entity, for reading. Does not stamp.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.lookup_mut::<Health>().get(entity)?.0, 1.0);
    /// assert!(world.lookup_mut::<Health>().get(Entity::NULL).is_err());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Result<&C, EntityError> {
        self.columns.get(entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// The component of an entity, for writing. Stamps its column in its chunk, or only its row.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let before = world.version();
    /// world.lookup_mut::<Health>().get_mut(entity)?.0 -= 0.5;
    /// let changed = world.query::<&Health>().changed_since(before).rows().next();
    /// assert_eq!(changed.unwrap().0, 0.5);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline(always)]
    pub fn get_mut(&mut self, entity: Entity) -> Result<&mut C, EntityError> {
        self.columns.get_mut(entity).map_err(|absent| refused::<C>(absent, entity))
    }
}

impl<C: Component> LookupMut<'_, C> {
    /// Whether the component of an entity is enabled: see
    /// [`World::set_enabled`](crate::World::set_enabled).
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// let mut world = World::new();
    /// let entity = world.spawn(Awake);
    /// assert!(world.lookup_mut::<Awake>().is_enabled(entity)?);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn is_enabled(&self, entity: Entity) -> Result<bool, EntityError> {
        const { assert_enableable::<C>() };
        self.columns.is_enabled(entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// Enables or disables the component of an entity, and stamps its chunk if that changes it:
    /// see [`World::set_enabled`](crate::World::set_enabled). Returns whether it was enabled
    /// before.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// let mut world = World::new();
    /// let all = world.spawn_batch([Awake; 100]).to_vec();
    /// let mut awake = world.lookup_mut::<Awake>();
    /// for entity in all.iter().step_by(2) {
    ///     assert!(awake.set_enabled(*entity, false)?);
    /// }
    /// assert_eq!(world.query::<&Awake>().count_rows(), 50);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn set_enabled(&mut self, entity: Entity, enabled: bool) -> Result<bool, EntityError> {
        const { assert_enableable::<C>() };
        match self.columns.set_enabled(entity, enabled) {
            Ok(switched) => Ok(enabled != switched),
            Err(absent) => Err(refused::<C>(absent, entity)),
        }
    }
}

impl<C: Component> fmt::Debug for LookupMut<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupMut").field("component", &core::any::type_name::<C>()).finish()
    }
}
