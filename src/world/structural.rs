//! Changing what entities are made of: one move of a row along an edge of the graph.

use crate::archetype::{ArchetypeId, Change, ChangeKind, EdgeId, move_row};
use crate::bundle::{Bundle, assert_distinct};
use crate::component::{Component, ComponentId};
use crate::entity::{Entity, Location, NoSuchEntity};
use crate::query::Store;
use crate::storage::{LayoutError, RowReader, RowWriter};

use super::error::{ComponentError, ExchangeError, InsertError, MissingComponent};
use super::world::{World, archetype_of, location, position_of};

impl World {
    /// Ends an entity's life. The last row of its archetype takes its place: O(components).
    ///
    /// # Errors
    ///
    /// If the entity does not live; so a second `despawn` of one id frees nothing.
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
        self.despawn_flushed(entity)
    }

    /// [`World::despawn`] where no reserved id waits.
    #[inline]
    pub(crate) fn despawn_flushed(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        let place = self.store.entities.free(entity)?;
        let now = self.store.source.tick();
        let archetype = self.store.source.archetypes.get_mut(archetype_of(place));
        let at = archetype.list().split(position_of(place));
        if let Some(moved) = archetype.remove(at, &mut self.store.pool, now) {
            self.store.entities.set_location(moved.index(), place);
        }
        Ok(())
    }

    /// Gives an entity the components of `bundle`, in one move; those it has already are
    /// overwritten in place. Moves one row: O(components).
    ///
    /// # Errors
    ///
    /// If the entity does not live or the resulting row fits no chunk; the entity is as it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Health, Frozen);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// world.insert(entity, (Frozen, Health(2.0)))?;
    /// assert_eq!(world.get::<Health>(entity).unwrap().0, 2.0);
    /// # Ok::<(), phalanx::InsertError>(())
    /// ```
    #[inline]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), InsertError> {
        const { assert_distinct::<B>() };
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let source = archetype_of(place);
        let edge = match self.store.graph.last_edge::<B>(ChangeKind::Insert, source) {
            Some(edge) => edge,
            None => match self.find_edge::<B>(ChangeKind::Insert, source, |store| {
                Change::Insert(store.bundles.id::<B>(&mut store.source.registry))
            })? {
                Ok(edge) => edge,
                Err(_) => unreachable!("an insertion requires no component"),
            },
        };
        self.take_edge::<(), B>(entity, place, edge, bundle);
        Ok(())
    }

    /// Takes the components of `B` from an entity, in one move, and returns them. Moves one row:
    /// O(components).
    ///
    /// # Errors
    ///
    /// If the entity does not live or lacks one of them; the entity is as it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable, PartialEq, Debug)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.remove::<Health>(entity)?, Health(1.0));
    /// assert!(world.remove::<Health>(entity).is_err());
    /// # Ok::<(), phalanx::ComponentError>(())
    /// ```
    #[inline]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<B, ComponentError> {
        const { assert_distinct::<B>() };
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let source = archetype_of(place);
        let edge = match self.store.graph.last_edge::<B>(ChangeKind::Remove, source) {
            Some(edge) => edge,
            None => match self.find_edge::<B>(ChangeKind::Remove, source, |store| {
                Change::Remove(store.bundles.id::<B>(&mut store.source.registry))
            }) {
                Ok(Ok(edge)) => edge,
                Ok(Err(missing)) => return Err(self.missing(entity, missing).into()),
                Err(_) => unreachable!("a row of fewer components fits where it was"),
            },
        };
        Ok(self.take_edge(entity, place, edge, ()))
    }

    /// Takes the components of `R` from an entity and gives it those of `added`, in one move.
    /// Moves one row: O(components).
    ///
    /// # Errors
    ///
    /// If the entity does not live, lacks a component of `R`, or the resulting row fits no chunk;
    /// the entity is as it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable, PartialEq, Debug)] #[repr(C)] struct Walking(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Flying(f32);
    /// # component!(Walking, Flying);
    /// let mut world = World::new();
    /// let entity = world.spawn(Walking(1.0));
    /// assert_eq!(world.exchange::<Walking, _>(entity, Flying(9.0))?, Walking(1.0));
    /// assert!(world.has::<Flying>(entity) && !world.has::<Walking>(entity));
    /// # Ok::<(), phalanx::ExchangeError>(())
    /// ```
    #[inline]
    pub fn exchange<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        added: A,
    ) -> Result<R, ExchangeError> {
        const { assert_distinct::<R>() };
        const { assert_distinct::<A>() };
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let source = archetype_of(place);
        let edge = match self.store.graph.last_edge::<(R, A)>(ChangeKind::Exchange, source) {
            Some(edge) => edge,
            None => match self.find_edge::<(R, A)>(ChangeKind::Exchange, source, |store| {
                let removed = store.bundles.id::<R>(&mut store.source.registry);
                let added = store.bundles.id::<A>(&mut store.source.registry);
                Change::Exchange { removed, added }
            })? {
                Ok(edge) => edge,
                Err(missing) => return Err(self.missing(entity, missing).into()),
            },
        };
        Ok(self.take_edge(entity, place, edge, added))
    }

    /// Whether the entity lives and has `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Frozen);
    /// let mut world = World::new();
    /// let entity = world.spawn(Frozen);
    /// assert!(world.has::<Frozen>(entity));
    /// ```
    #[must_use]
    pub fn has<C: Component>(&self, entity: Entity) -> bool {
        let id = self.store.source.registry.id::<C>();
        self.store
            .entities
            .locate(entity)
            .is_ok_and(|place| self.archetype(place).set().contains(id))
    }

    /// Ends the life of all entities. Archetypes stay, memory goes back to the world's pool:
    /// O(entities + chunks).
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
        self.store.source.tick();
        for archetype in self.store.source.archetypes.all_mut() {
            archetype.clear(&mut self.store.pool);
        }
        self.store.entities.clear();
    }

    #[cold]
    fn missing(&self, entity: Entity, id: ComponentId) -> MissingComponent {
        MissingComponent { entity, component: self.store.source.registry.info(id).name() }
    }

    /// The edge for a bundle type that the verb did not take last, and takes now.
    #[inline(never)]
    fn find_edge<B: 'static>(
        &mut self,
        verb: ChangeKind,
        source: ArchetypeId,
        change: impl FnOnce(&mut Store) -> Change,
    ) -> Result<Result<EdgeId, ComponentId>, LayoutError> {
        let change = change(&mut self.store);
        let edge = self.store.edge(source, change)?;
        if let Ok(edge) = edge {
            self.store.graph.remember_edge::<B>(verb, source, edge);
        }
        Ok(edge)
    }

    /// Moves a row along an edge, writes the added bundle, and returns the removed one.
    #[inline(always)]
    fn take_edge<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        place: Location,
        edge: EdgeId,
        added: A,
    ) -> R {
        let Store { source, entities, pool, graph, .. } = &mut self.store;
        let now = source.tick();
        let edge = graph.edge(edge);
        let from = archetype_of(place);
        let exchange = |old: &mut RowReader<'_>, new: &mut RowWriter<'_>| {
            let removed = R::fetch(&mut |value| old.take(value));
            added.store(&mut |value| new.put(value));
            removed
        };
        if edge.target == from {
            let archetype = source.archetypes.get_mut(from);
            return archetype.overwrite_row(edge, position_of(place), now, exchange);
        }
        let (archetype, target) = source.archetypes.pair_mut(from, edge.target);
        let at = archetype.list().split(position_of(place));
        let moved = move_row((archetype, target), (entity, at), edge, (pool, now), exchange);
        let there = location(edge.target, target.list().position(moved.to));
        entities.follow_move(entity, there, moved.swapped);
        moved.exchanged
    }
}
