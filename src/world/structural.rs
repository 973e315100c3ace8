//! Structural changes by entity: of one, of a list, or of all. `store` makes them.

use crate::archetype::{Bundle, assert_distinct};
use crate::component::{
    AnyComponent, ColumnVisitor, Component, Shape as _, SparseComponent, SparseVisitor,
};
use crate::entity::Entity;
use crate::store::EntityError;

use super::world::World;

/// Tells whether an entity has all columns of a component, or a sparse one.
struct HasAll<'w> {
    world: &'w World,
    entity: Entity,
    all: bool,
}

impl ColumnVisitor for HasAll<'_> {
    #[inline]
    fn visit<C: Component>(&mut self) {
        // Looked up without a row, too: the registry refuses a second type of one name.
        let id = self.world.store.registry().id::<C>();
        let place = self.world.store.entities().locate(self.entity);
        self.all &= place.is_ok_and(|place| self.world.archetype(place).set().contains(id));
    }
}

impl SparseVisitor for HasAll<'_> {
    #[inline]
    fn visit_sparse<S: SparseComponent>(&mut self) {
        self.all &= self.world.store.has_sparse::<S>(self.entity);
    }
}

/// # Despawning, and changes of one entity
impl World {
    /// Despawns an entity. The last row of its archetype takes its place: O(components). For many
    /// entities see [`despawn_batch`](World::despawn_batch).
    ///
    /// If it has [cleanup components](crate::component#cleanup-components) it is
    /// [`Gone`](crate::Gone) from now on, and its id is freed when the last of them is removed.
    ///
    /// # Errors
    ///
    /// If the entity is not alive; so a second `despawn` of one id has no effect. Or if a
    /// [relation](crate::sparse::relation) to it, or to an entity that it would take along, has
    /// `on_delete = refuse`: no entity is despawned.
    ///
    /// # Panics
    ///
    /// If a destructor of its [sparse components](crate::component#sparse-components) panics. The
    /// entity is despawned before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert!(world.despawn(entity).is_ok());
    /// assert!(world.despawn(entity).is_err());
    /// ```
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> Result<(), EntityError> {
        self.flush();
        self.store.despawn(entity)
    }

    /// Despawns entities in the given order, and returns their number. Ids that are not alive are
    /// skipped, so an id that is named twice counts once. Reserved ids are alive. [Cleanup
    /// components](crate::component#cleanup-components) are kept.
    ///
    /// The order of rows and the order in which ids are used again are the same as after a loop of
    /// [`despawn`](World::despawn). But the whole batch has one version, or none if no entity was
    /// alive, so the [`hash`](World::hash) differs. Scattered entities despawn several times as
    /// fast, because the batch prefetches their rows. O(entities), and O(components) for each live
    /// entity.
    ///
    /// Sources of a [relation](crate::sparse::relation) with `on_delete = despawn` go as well, and
    /// are counted. They go after all entities of the batch, so that the order of rows and ids
    /// differs from a loop, where they follow their target at once. If a relation with
    /// `on_delete = refuse` keeps any entity, because its source is not in the batch, no entity is
    /// despawned, and the number is 0. A batch that names both ends goes through in any order; a
    /// loop is refused at a target that comes before its source.
    ///
    /// To despawn the rows that a kernel finds dead, see
    /// [`Matching::retain`](crate::Matching::retain).
    ///
    /// # Panics
    ///
    /// If a destructor of [sparse components](crate::component#sparse-components) panics. All
    /// entities are despawned before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..100).map(|i| Health(i as f32))).to_vec();
    /// assert_eq!(world.despawn_batch(&entities[..60]), 60);
    /// assert_eq!(world.despawn_batch(&entities), 40, "the others are not alive");
    /// assert!(world.is_empty());
    /// ```
    pub fn despawn_batch(&mut self, entities: &[Entity]) -> usize {
        self.flush();
        self.store.despawn_batch(entities.len(), |i| entities[i]).unwrap_or(0)
    }

    /// Inserts the components of `bundle` into an entity. Components that it already has are
    /// overwritten in place, and enabled if they were disabled. Moves one row: O(components).
    ///
    /// # Errors
    ///
    /// If the entity is not alive, the resulting row does not fit a chunk, or a
    /// [relation](crate::sparse::relation) is refused: its target is not alive, or a tree would get
    /// a cycle. The entity is unchanged.
    ///
    /// # Panics
    ///
    /// If a destructor of a replaced [sparse component](crate::component#sparse-components) panics.
    /// All components are inserted before the panic goes on. Or if a new type is
    /// [refused](crate::error::NameTaken#new-types): the entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// world.insert(entity, (Frozen, Health(2.0)))?;
    /// assert_eq!(world.get::<Health>(entity).unwrap().0, 2.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), EntityError> {
        const { assert_distinct(B::NAMES) };
        self.flush();
        self.store.insert(entity, bundle)
    }

    /// Removes the components of `B` from an entity and returns them. Moves one row: O(components).
    /// Removing the last cleanup component of an entity that is [`Gone`](crate::Gone) frees its id.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks one of them. The entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.remove::<Health>(entity)?, Health(1.0));
    /// assert!(world.remove::<Health>(entity).is_err());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<B, EntityError> {
        const { assert_distinct(B::NAMES) };
        self.flush();
        self.store.remove(entity)
    }

    /// Removes the components of `R` from an entity and inserts the components of `added`, in one
    /// move of one row: O(components).
    ///
    /// # Errors
    ///
    /// If the entity is not alive, lacks a component of `R`, the resulting row does not fit a
    /// chunk, or a [relation](crate::sparse::relation) is refused. The entity is unchanged.
    ///
    /// # Panics
    ///
    /// If a destructor of a replaced [sparse component](crate::component#sparse-components) panics.
    /// All components are inserted, and the removed ones dropped, before the panic goes on. Or if a
    /// new type is [refused](crate::error::NameTaken#new-types): the entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Walking(f32);
    /// # #[component] struct Flying(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Walking(1.0));
    /// assert_eq!(world.exchange::<Walking, _>(entity, Flying(9.0))?, Walking(1.0));
    /// assert!(world.has::<Flying>(entity) && !world.has::<Walking>(entity));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn exchange<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        added: A,
    ) -> Result<R, EntityError> {
        const { assert_distinct(R::NAMES) };
        const { assert_distinct(A::NAMES) };
        self.flush();
        self.store.exchange(entity, added)
    }

    /// Returns `true` if the entity is alive, or [`Gone`](crate::Gone), and has `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn(Frozen);
    /// assert!(world.has::<Frozen>(entity));
    /// ```
    #[must_use]
    pub fn has<C: AnyComponent>(&self, entity: Entity) -> bool {
        let mut has = HasAll { world: self, entity, all: true };
        C::Shape::visit_all(&mut has);
        has.all
    }

    /// Despawns all entities, including entities that are [`Gone`](crate::Gone), and keeps no
    /// cleanup components: to clean up first, despawn by [`matching`](World::matching). Archetypes,
    /// resources and events stay, memory returns to the world's pool: O(archetypes + chunks +
    /// indices of ids so far), so that indices are used again from the lowest on.
    ///
    /// # Panics
    ///
    /// If a destructor of [sparse components](crate::component#sparse-components) panics. The world
    /// is empty before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.clear();
    /// assert!(world.is_empty() && !world.contains(entity));
    /// ```
    pub fn clear(&mut self) {
        self.flush();
        self.store.clear();
    }
}
