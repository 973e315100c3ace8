//! Random writes by place.

use core::fmt;

use crate::component::Component;
use crate::entity::Entity;
use crate::query::{Chunk, Terms};
use crate::storage::{ColumnViewsMut, PlaceTable, RowPlace};
use crate::store::EntityError;

use super::lookup::{LookupMut, refused};
use super::place_error::PlaceError;
use super::place_lookup::{absent, places_of};

impl<'w, C: Component> LookupMut<'w, C> {
    /// The same view, which finds the places of rows, and reads and writes by place: see
    /// [`Lookup::by_place`]. O(archetypes + chunks).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Charge(f32);
    /// let mut world = World::new();
    /// let [from, to] = [9.0, 1.0].map(|charge| world.spawn(Charge(charge)));
    /// let mut charges = world.lookup_mut::<Charge>().by_place();
    /// let [from, to] = [charges.place(from)?, charges.place(to)?];
    /// for _ in 0..4 {
    ///     charges.at_mut(from)?.0 -= 1.0;
    ///     charges.at_mut(to)?.0 += 1.0;
    /// }
    /// assert_eq!(charges.at(to)?.0, charges.at(from)?.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// [`Lookup::by_place`]: crate::Lookup::by_place
    #[must_use]
    pub fn by_place(self) -> PlaceLookupMut<'w, C> {
        let Self { columns, log } = self;
        let places = log.places(|| columns.numbers());
        let table = columns.place_table(places.first(), places.numbers());
        PlaceLookupMut { columns, table }
    }
}

/// Random reads and writes of one component by entity and by place; see [`LookupMut::by_place`].
pub struct PlaceLookupMut<'w, C: Component> {
    columns: ColumnViewsMut<'w, C>,
    table: PlaceTable<'w, u32>,
}

impl<C: Component> PlaceLookupMut<'_, C> {
    /// The component at a place, for reading. Does not stamp.
    ///
    /// # Errors
    ///
    /// If rows of the world have moved since the place was found, or the row lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let healths = world.lookup_mut::<Health>().by_place();
    /// assert_eq!(healths.at(healths.place(entity)?)?.0, 1.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn at(&self, place: RowPlace) -> Result<&C, PlaceError> {
        self.columns.at(&self.table, place).ok_or_else(|| absent::<C, _>(&self.table, place))
    }

    /// The component at a place, for writing. Stamps its column in its chunk, or only its row, as
    /// [`LookupMut::get_mut`].
    ///
    /// # Errors
    ///
    /// If rows of the world have moved since the place was found, or the row lacks the component.
    /// No chunk is stamped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let place = world.lookup::<Health>().by_place().place(entity)?;
    /// let before = world.version();
    /// world.lookup_mut::<Health>().by_place().at_mut(place)?.0 -= 0.5;
    /// let changed = world.query::<&Health>().changed_since(before).rows().next();
    /// assert_eq!(changed.unwrap().0, 0.5);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn at_mut(&mut self, place: RowPlace) -> Result<&mut C, PlaceError> {
        let table = &self.table;
        self.columns.at_mut(table, place).ok_or_else(|| absent::<C, _>(table, place))
    }

    /// The component of an entity, for reading: [`LookupMut::get`].
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
    /// assert_eq!(world.lookup_mut::<Health>().by_place().get(entity)?.0, 1.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Result<&C, EntityError> {
        self.columns.get(entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// The place of the row of an entity: [`PlaceLookup::place`](super::PlaceLookup::place).
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
    /// let place = world.lookup_mut::<Health>().by_place().place(entity)?;
    /// assert_eq!(world.lookup::<Health>().by_place().place(entity)?, place);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn place(&self, entity: Entity) -> Result<RowPlace, EntityError> {
        self.columns.place(&self.table, entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// The places of the rows of a chunk of another query that is open at the same time, in their
    /// order: [`PlaceLookup::places_of`](super::PlaceLookup::places_of).
    ///
    /// # Errors
    ///
    /// If the entities of the chunk lack the component.
    ///
    /// # Panics
    ///
    /// If the rows of the chunk's entities do not follow each other in this world, as for a chunk
    /// of another world. Where entities with these ids do so here, these are the places of theirs.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Place(f32);
    /// # #[component] struct Charge(f32);
    /// fn charge(places: Query<&Place, With<Charge>>, charges: LookupMut<Charge>) {
    ///     let mut charges = charges.by_place();
    ///     let Some(chunk) = places.chunks().next() else { return };
    ///     let Ok(rows) = charges.places_of(&chunk) else { return };
    ///     for (row, place) in rows.zip(chunk.slices()) {
    ///         if let Ok(charge) = charges.at_mut(row) {
    ///             charge.0 += place.0;
    ///         }
    ///     }
    /// }
    /// # let mut world = World::new();
    /// let entity = world.spawn((Place(2.0), Charge(1.0)));
    /// world.run(charge);
    /// assert_eq!(world.get::<Charge>(entity)?.0, 3.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn places_of<Q: Terms>(
        &self,
        chunk: &Chunk<'_, Q>,
    ) -> Result<impl ExactSizeIterator<Item = RowPlace> + use<C, Q>, EntityError> {
        places_of(&self.table, chunk.entities(), &|entity| self.place(entity))
    }
}

impl<C: Component> fmt::Debug for PlaceLookupMut<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaceLookupMut").field("component", &core::any::type_name::<C>()).finish()
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::storage::ChunkSize;
    use crate::world::World;

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct A(u64);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Mark;
    crate::impl_component!(A as "A", Mark as "Mark");

    /// For Miri as well: references to several cells at a time, reads between writes, and places
    /// that another numbering or another world has.
    #[test]
    fn cells_of_places_are_read_and_written_through_one_view() {
        for archetypes in [1, 2] {
            let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
            let mut all = world.spawn_batch((0..600).map(A)).to_vec();
            let bare = world.spawn(Mark);
            if archetypes == 2 {
                all.extend_from_slice(world.spawn_batch((600..1_200).map(|i| (A(i), Mark))));
            }
            let picked: Vec<usize> = (0..all.len()).rev().step_by(67).collect();
            let marks = world.lookup::<Mark>().by_place();
            let mut other = World::new();
            let foreign = other.spawn(A(1));
            let foreign = other.lookup::<A>().by_place().place(foreign).expect("alive");
            let [lacks, old] = [marks.place(bare).expect("marked"), foreign];

            let mut view = world.lookup_mut::<A>().by_place();
            let places: Vec<_> = picked.iter().map(|&i| view.place(all[i]).expect("A")).collect();
            for (&place, &i) in places.iter().zip(&picked) {
                view.at_mut(place).expect("no row has moved").0 += 1;
                let cells = [view.at(place), view.at(places[0])].map(|cell| cell.expect("A"));
                assert_eq!(cells.map(|cell| cell.0), [i, picked[0]].map(|i| i as u64 + 1));
            }
            assert_eq!(view.at_mut(lacks), Err(PlaceError::Missing("A")));
            assert_eq!(view.at_mut(old), Err(PlaceError::Moved));
            let view = world.lookup::<A>().by_place();
            let cells: Vec<_> = places.iter().map(|&place| view.at(place).expect("A")).collect();
            assert!(cells.iter().zip(&picked).all(|(cell, &i)| cell.0 == i as u64 + 1));
            assert_eq!(view.at(lacks), Err(PlaceError::Missing("A")));
            assert_eq!(view.at(old), Err(PlaceError::Moved));
        }
    }
}
