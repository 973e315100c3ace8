//! Changing what entities are made of: one move of a row along an edge of the graph.

use crate::archetype::{Archetype, Change, EdgeId, move_row};
use crate::bundle::Bundle;
use crate::component::{Component, ComponentId};
use crate::entity::{Entity, Location, NoSuchEntity};
use crate::storage::{DistinctColumns, Reader, Run, Spot, Writer};
use crate::version::Version;

use super::error::{ComponentError, ExchangeError, InsertError, MissingComponent};
use super::state::{World, archetype_of, location, position_of};

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
        let place = self.store.entities.free(entity)?;
        let now = self.store.source.tick();
        let archetype = self.store.source.catalog.get_mut(archetype_of(place));
        let at = archetype.list.split(position_of(place));
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
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let added = self.store.bundles.id::<B>(&mut self.store.source.registry);
        let edge = self.store.edge(archetype_of(place), Change::Insert(added))?;
        let Ok(edge) = edge else { unreachable!("an insertion requires no component") };
        self.take_edge(entity, place, edge, bundle);
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
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let removed = self.store.bundles.id::<B>(&mut self.store.source.registry);
        match self.store.edge(archetype_of(place), Change::Remove(removed)) {
            Ok(Ok(edge)) => Ok(self.take_edge_reading(entity, place, edge, ())),
            Ok(Err(missing)) => Err(self.missing(entity, missing).into()),
            Err(_) => unreachable!("a row of fewer components fits where it was"),
        }
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
        self.flush();
        let place = self.store.entities.locate(entity)?;
        let removed = self.store.bundles.id::<R>(&mut self.store.source.registry);
        let added_id = self.store.bundles.id::<A>(&mut self.store.source.registry);
        let change = Change::Exchange { removed, added: added_id };
        match self.store.edge(archetype_of(place), change)? {
            Ok(edge) => Ok(self.take_edge_reading(entity, place, edge, added)),
            Err(missing) => Err(self.missing(entity, missing).into()),
        }
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
        for archetype in self.store.source.catalog.all_mut() {
            archetype.clear(&mut self.store.pool);
        }
        self.store.entities.clear();
    }

    #[cold]
    fn missing(&self, entity: Entity, id: ComponentId) -> MissingComponent {
        MissingComponent { entity, component: self.store.source.registry.info(id).name() }
    }

    /// Reads the removed bundle, then takes the edge.
    #[inline]
    fn take_edge_reading<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        place: Location,
        edge: EdgeId,
        added: A,
    ) -> R {
        let columns = &self.store.graph.edge(edge).removed;
        let list = &self.archetype(place).list;
        let removed = R::read(&mut Reader::new(list, columns, position_of(place)));
        self.take_edge(entity, place, edge, added);
        removed
    }

    /// Moves a row along an edge and writes the added bundle.
    #[inline]
    fn take_edge<A: Bundle>(&mut self, entity: Entity, place: Location, edge: EdgeId, added: A) {
        let now = self.store.source.tick();
        let edge = self.store.graph.edge(edge);
        let source = archetype_of(place);
        if edge.target == source {
            let archetype = self.store.source.catalog.get_mut(source);
            let at = archetype.list.split(position_of(place));
            write_row(archetype, &edge.added, at, added, now);
            return;
        }
        let (source, target) = self.store.source.catalog.pair_mut(source, edge.target);
        let at = source.list.split(position_of(place));
        let (target_at, swapped) = move_row((source, target), at, edge, &mut self.store.pool, now);
        if let Some(swapped) = swapped {
            self.store.entities.set_location(swapped.index(), place);
        }
        let target_place = location(edge.target, target.list.position(target_at));
        self.store.entities.set_location(entity.index(), target_place);
        write_row(target, &edge.added, target_at, added, now);
    }
}

/// Overwrites a bundle's columns of a live row, and stamps them.
#[inline]
fn write_row<A: Bundle>(
    archetype: &mut Archetype,
    columns: &DistinctColumns,
    Spot { chunk, row }: Spot,
    added: A,
    now: Version,
) {
    let mut writer = Writer::new(&mut archetype.list, columns, chunk, row..row + 1);
    added.write(&mut A::cells(&mut writer), 0);
    for &column in columns.as_slice() {
        archetype.stamps.touch(Run::column(column), chunk as usize, now);
    }
}
