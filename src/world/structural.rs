//! Structural changes of one entity: one move of a row along an edge of the graph.

use crate::archetype::{Bundle, Change, ChangeKind, EdgeId, assert_distinct, move_row};
use crate::component::{ColumnVisitor, Columnar, Component, ComponentSet, Registry, Shape as _};
use crate::entity::ArchetypeId;
use crate::entity::{Entity, Location, NoSuchEntity};
use crate::storage::{RowReader, RowWriter};
use crate::store::{EdgeError, Store};
use crate::version::Version;

use super::error::EntityError;
use super::world::World;

/// Tells whether a set has all columns of a component. Without a set it has none.
struct Has<'a> {
    registry: &'a Registry,
    set: Option<&'a ComponentSet>,
    all: bool,
}

impl ColumnVisitor for Has<'_> {
    #[inline]
    fn visit<C: Component>(&mut self) {
        // Looked up without a set, too: the registry refuses a second type of one name.
        let id = self.registry.id::<C>();
        self.all &= self.set.is_some_and(|set| set.contains(id));
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
    /// If the entity is not alive; so a second `despawn` of one id has no effect.
    ///
    /// # Panics
    ///
    /// If a destructor of its [side values](World::insert_side) panics. The entity is despawned
    /// before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert!(world.despawn(entity).is_ok());
    /// assert!(world.despawn(entity).is_err());
    /// ```
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        self.flush();
        self.store.despawn_row(entity)?;
        if !self.store.sides.is_empty() {
            self.store.sides.end_one(entity);
        }
        Ok(())
    }

    /// Inserts the components of `bundle` into an entity. Components that it already has are
    /// overwritten in place. Moves one row: O(components).
    ///
    /// # Errors
    ///
    /// If the entity is not alive or the resulting row does not fit a chunk. The entity is
    /// unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// world.insert(entity, (Frozen, Health(2.0)))?;
    /// assert_eq!(world.get::<Health>(entity).unwrap().0, 2.0);
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), EntityError> {
        const { assert_distinct::<B>() };
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let source = place.archetype();
        let edge = match self.store.graph.last_edge::<B>(ChangeKind::Insert, source) {
            Some(edge) => edge,
            None => self.find_edge::<B>(ChangeKind::Insert, entity, source, |store| {
                Change::Insert(store.bundles.id::<B>(&mut store.registry))
            })?,
        };
        let now = self.store.advance_clock();
        self.store.take_edge::<(), B>(entity, place, edge, bundle, now);
        Ok(())
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
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<B, EntityError> {
        const { assert_distinct::<B>() };
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let source = place.archetype();
        let edge = match self.store.graph.last_edge::<B>(ChangeKind::Remove, source) {
            Some(edge) => edge,
            None => self.find_edge::<B>(ChangeKind::Remove, entity, source, |store| {
                Change::Remove(store.bundles.id::<B>(&mut store.registry))
            })?,
        };
        let now = self.store.advance_clock();
        let removed = self.store.take_edge(entity, place, edge, (), now);
        self.store.end_cleanup();
        Ok(removed)
    }

    /// Removes the components of `R` from an entity and inserts the components of `added`, in one
    /// move of one row: O(components).
    ///
    /// # Errors
    ///
    /// If the entity is not alive, lacks a component of `R`, or the resulting row does not fit a
    /// chunk. The entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Walking(f32);
    /// # #[component] struct Flying(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Walking(1.0));
    /// assert_eq!(world.exchange::<Walking, _>(entity, Flying(9.0))?, Walking(1.0));
    /// assert!(world.has::<Flying>(entity) && !world.has::<Walking>(entity));
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[inline]
    pub fn exchange<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        added: A,
    ) -> Result<R, EntityError> {
        const { assert_distinct::<R>() };
        const { assert_distinct::<A>() };
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let source = place.archetype();
        let edge = match self.store.graph.last_edge::<(R, A)>(ChangeKind::Exchange, source) {
            Some(edge) => edge,
            None => self.find_edge::<(R, A)>(ChangeKind::Exchange, entity, source, |store| {
                let removed = store.bundles.id::<R>(&mut store.registry);
                let added = store.bundles.id::<A>(&mut store.registry);
                Change::Exchange { removed, added }
            })?,
        };
        let now = self.store.advance_clock();
        Ok(self.store.take_edge(entity, place, edge, added, now))
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
    pub fn has<C: Columnar>(&self, entity: Entity) -> bool {
        let place = self.store.entities.locate(entity).ok();
        let set = place.map(|place| self.archetype(place).set());
        let mut has = Has { registry: &self.store.registry, set, all: true };
        C::Shape::visit(&mut has);
        has.all
    }

    /// Despawns all entities, including entities that are [`Gone`](crate::Gone), and keeps no
    /// cleanup components: to clean up first, despawn by [`matching`](World::matching). Archetypes,
    /// resources and events stay, memory returns to the world's pool: O(entities + chunks).
    ///
    /// # Panics
    ///
    /// If a destructor of [side values](World::insert_side) panics. The world is empty before the
    /// panic goes on.
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
        self.store.advance_clock();
        self.store.record_clear();
        for archetype in self.store.archetypes.all_mut() {
            archetype.clear(&mut self.store.pool);
        }
        self.store.entities.clear();
        self.store.sides.clear();
    }

    /// The error of a change that has no edge.
    #[cold]
    pub(super) fn refused(&self, entity: Entity, error: EdgeError) -> EntityError {
        match error {
            EdgeError::Gone => NoSuchEntity { entity }.into(),
            EdgeError::Missing(id) => self.lacking(entity, self.store.registry.info(id).name()),
            EdgeError::Layout(error) => error.into(),
        }
    }

    /// The edge for a bundle type other than that of the last change of this kind.
    #[inline(never)]
    fn find_edge<B: 'static>(
        &mut self,
        kind: ChangeKind,
        entity: Entity,
        source: ArchetypeId,
        change: impl FnOnce(&mut Store) -> Change,
    ) -> Result<EdgeId, EntityError> {
        let change = change(&mut self.store);
        let edge = self.store.edge(source, change);
        let edge = edge.map_err(|error| self.refused(entity, error))?;
        self.store.graph.remember_edge::<B>(kind, source, edge);
        Ok(edge)
    }
}

impl Store {
    /// Moves a row along an edge, writes the added bundle, and returns the removed one.
    #[inline(always)]
    pub(super) fn take_edge<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        place: Location,
        edge: EdgeId,
        added: A,
        now: Version,
    ) -> R {
        self.record_move(place, edge);
        let Self { archetypes, entities, pool, graph, .. } = self;
        let edge = graph.edge(edge);
        let from = place.archetype();
        let exchange = |old: &mut RowReader<'_>, new: &mut RowWriter<'_>| {
            let removed = R::fetch(old);
            added.store(&mut |value| new.put(value));
            removed
        };
        if edge.target == from {
            let archetype = archetypes.get_mut(from);
            return archetype.overwrite_row(edge, place.row(), now, exchange);
        }
        let (archetype, target) = archetypes.pair_mut(from, edge.target);
        let at = archetype.list().split(place.row());
        let moved = move_row((archetype, target), (entity, at), edge, (pool, now), exchange);
        let there = Location::new(edge.target, target.list().position(moved.to));
        entities.follow_move(entity, there, moved.swapped);
        self.record_arrived(there.archetype(), from, 1);
        moved.exchanged
    }
}
