//! Random access: from an entity to one of its components.

use core::fmt;

use crate::component::Component;
use crate::entity::{Entity, Location, NoSuchEntity};
use crate::storage::{Absent, ColumnViews, ColumnViewsMut};
use crate::store::Store;

use super::error::{EntityError, MissingComponent};
use super::world::World;

impl World {
    /// Component `C` of an entity, for reading: two cache misses, the directory's and the value's.
    /// For many reads of one component use [`World::lookup`], which looks up the type once.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.get::<Health>(entity)?.0, 1.0);
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn get<C: Component>(&self, entity: Entity) -> Result<&C, EntityError> {
        let place =
            self.store.entities.locate(entity).or_else(|dead| self.reserved::<C>(entity, dead))?;
        let archetype = self.archetype(place);
        match archetype.column(self.store.registry.id::<C>()) {
            Some(column) => Ok(archetype.list().cell(usize::from(column), place.row())),
            None => Err(MissingComponent::new::<C>(entity).into()),
        }
    }

    /// A reserved id counts as alive, but has no components and no row yet.
    #[cold]
    fn reserved<C: Component>(
        &self,
        entity: Entity,
        dead: NoSuchEntity,
    ) -> Result<Location, EntityError> {
        Err(if self.contains(entity) {
            MissingComponent::new::<C>(entity).into()
        } else {
            dead.into()
        })
    }

    /// Component `C` of an entity, for writing. Stamps its column in its chunk.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// world.get_mut::<Health>(entity)?.0 -= 0.5;
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn get_mut<C: Component>(&mut self, entity: Entity) -> Result<&mut C, EntityError> {
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let id = self.store.registry.id::<C>();
        let Store { archetypes, clock, .. } = &mut self.store;
        let archetype = archetypes.get_columns_mut(place.archetype());
        let Some(column) = archetype.column(id) else {
            return Err(MissingComponent::new::<C>(entity).into());
        };
        // Only now, because an error leaves the world unchanged.
        *clock = clock.next();
        let now = *clock;
        Ok(archetype.cell(column, place.row(), now))
    }

    /// A view for many random reads of component `C`: no hash, no look-up of the type. Making one
    /// is O(archetypes + chunks).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..100).map(|i| Health(i as f32))).to_vec();
    /// let health = world.lookup::<Health>();
    /// let sum: f32 = entities.iter().rev().map(|&e| health.get(e).map_or(0.0, |h| h.0)).sum();
    /// assert_eq!(sum, 4950.0);
    /// ```
    #[must_use]
    pub fn lookup<C: Component>(&self) -> Lookup<'_, C> {
        Lookup { columns: self.store.views() }
    }

    /// A view for many random writes of component `C`: what [`World::get_mut`] looks up each
    /// time is looked up once. Making one is O(archetypes + chunks), and the clock advances once.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
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
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[must_use]
    pub fn lookup_mut<C: Component>(&mut self) -> LookupMut<'_, C> {
        self.flush();
        LookupMut { columns: self.store.views_mut() }
    }
}

/// The error of a lookup.
#[cold]
fn refused<C: Component>(absent: Absent, entity: Entity) -> EntityError {
    match absent {
        Absent::Component => MissingComponent::new::<C>(entity).into(),
        Absent::Entity => NoSuchEntity { entity }.into(),
    }
}

/// Random reads of one component; see [`World::lookup`].
pub struct Lookup<'w, C: Component> {
    pub(super) columns: ColumnViews<'w, C>,
}

impl<'w, C: Component> Lookup<'w, C> {
    /// The component of an entity.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.lookup::<Health>().get(entity)?.0, 1.0);
    /// assert!(world.lookup::<Health>().get(Entity::NULL).is_err());
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn get(&self, entity: Entity) -> Result<&'w C, EntityError> {
        self.columns.get(entity).map_err(|absent| refused::<C>(absent, entity))
    }
}

impl<C: Component> fmt::Debug for Lookup<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("component", &core::any::type_name::<C>()).finish()
    }
}

/// Random writes of one component; see [`World::lookup_mut`]. As a parameter of a system it is the
/// right to component `C` of every entity.
pub struct LookupMut<'w, C: Component> {
    pub(super) columns: ColumnViewsMut<'w, C>,
}

impl<C: Component> LookupMut<'_, C> {
    /// The component of an entity, for reading. Stamps nothing.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.lookup_mut::<Health>().get(entity)?.0, 1.0);
    /// assert!(world.lookup_mut::<Health>().get(Entity::NULL).is_err());
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn get(&self, entity: Entity) -> Result<&C, EntityError> {
        self.columns.get(entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// The component of an entity, for writing. Stamps the column of its chunk.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let before = world.version();
    /// world.lookup_mut::<Health>().get_mut(entity)?.0 -= 0.5;
    /// let changed = world.query::<&Health>().changed_since(before).rows().next();
    /// assert_eq!(changed.unwrap().0, 0.5);
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Result<&mut C, EntityError> {
        self.columns.get_mut(entity).map_err(|absent| refused::<C>(absent, entity))
    }
}

impl<C: Component> fmt::Debug for LookupMut<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupMut").field("component", &core::any::type_name::<C>()).finish()
    }
}
