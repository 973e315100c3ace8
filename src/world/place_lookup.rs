//! Random reads by place: from the place of a row to one of its components.

use core::fmt;
use core::ops::Range;

use crate::component::Component;
use crate::entity::Entity;
use crate::query::{Chunk, Terms};
use crate::storage::{ColumnViews, PlaceTable, RowPlace};
use crate::store::EntityError;

use super::lookup::{Lookup, refused};
use super::place_error::PlaceError;

impl<'w, C: Component> Lookup<'w, C> {
    /// The same view, which finds the places of rows, and reads by place: without the directory,
    /// which is one of the two cache misses of a read by entity. O(archetypes + chunks).
    ///
    /// For neighbours that are found once and read often, such as those of a flock or of a fluid.
    /// If rows lie in the order of their cells of space ([`Matching::sort_by`]), neighbours are
    /// nearby, and reads of them hit the caches as well. Sums over eight neighbours of each of a
    /// million rows took 14 to 16 ns a row by place, 67 to 113 by entity and 7 to 9 by index in a
    /// `Vec`, with rows in Morton order; in random order 101, 186 and 24 to 33 (Zen 4, the rows
    /// `neighbours` of the benchmarks). A read by place has become a third shorter since: on a Xeon
    /// 8.4 ns a row instead of 12.0 among 20,000 rows, where a `Vec` took 4.4.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::rows::RowPlace;
    ///
    /// # #[component] struct Height(f32);
    /// # #[component] struct Speed(f32);
    /// let mut world = World::new();
    /// let ring = world.spawn_batch((0..100).map(|i| (Height(i as f32), Speed(1.0)))).to_vec();
    ///
    /// // Once a frame: the place of the neighbour of each row.
    /// let heights = world.lookup::<Height>().by_place();
    /// let neighbours: Vec<RowPlace> = (1..=100)
    ///     .map(|next| heights.place(ring[next % 100]))
    ///     .collect::<Result<_, _>>()?;
    ///
    /// // Any number of passes, over any of the components.
    /// let speeds = world.lookup::<Speed>().by_place();
    /// let mut flow = 0.0;
    /// for (own, &next) in world.query::<&Height>().rows().zip(&neighbours) {
    ///     flow += (heights.at(next)?.0 - own.0) * speeds.at(next)?.0;
    /// }
    /// assert_eq!(flow, 0.0, "once around");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// [`Matching::sort_by`]: crate::Matching::sort_by
    #[must_use]
    pub fn by_place(self) -> PlaceLookup<'w, C> {
        let Self { columns, archetypes } = self;
        let places = archetypes.places();
        let table = columns.place_table(places.first(), places.numbers());
        PlaceLookup { columns, table }
    }
}

/// Random reads of one component by entity and by place; see [`Lookup::by_place`].
pub struct PlaceLookup<'w, C: Component> {
    columns: ColumnViews<'w, C>,
    table: PlaceTable<'w, &'w [C]>,
}

impl<'w, C: Component> PlaceLookup<'w, C> {
    /// The component at a place, whether it is enabled or not, and whether the entity is hidden or
    /// not, as for [`Lookup::get`].
    ///
    /// # Errors
    ///
    /// If rows of the world have moved since the place was found, or the row lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::PlaceError;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let healths = world.lookup::<Health>().by_place();
    /// let place = healths.place(entity)?;
    /// assert_eq!(healths.at(place)?.0, 1.0);
    ///
    /// world.get_mut::<Health>(entity)?.0 = 2.0;
    /// assert_eq!(world.lookup::<Health>().by_place().at(place)?.0, 2.0);
    ///
    /// world.spawn(Health(3.0));
    /// let moved = world.lookup::<Health>().by_place().at(place).map(|health| health.0);
    /// assert_eq!(moved, Err(PlaceError::Moved));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn at(&self, place: RowPlace) -> Result<&'w C, PlaceError> {
        self.table.cell(place).ok_or_else(|| absent::<C, _>(&self.table, place))
    }

    /// The component of an entity: [`Lookup::get`].
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
    /// assert_eq!(world.lookup::<Health>().by_place().get(entity)?.0, 1.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Result<&'w C, EntityError> {
        self.columns.get(entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// The place of the row of an entity. Takes as long as [`Lookup::get`], without the read of the
    /// component.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or lacks the component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let [one, other] = [1.0, 2.0].map(|health| world.spawn(Health(health)));
    /// let healths = world.lookup::<Health>().by_place();
    /// assert!(healths.place(one)? < healths.place(other)?, "its row lies before the other");
    /// assert!(healths.place(Entity::NULL).is_err());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn place(&self, entity: Entity) -> Result<RowPlace, EntityError> {
        self.columns.place(&self.table, entity).map_err(|absent| refused::<C>(absent, entity))
    }

    /// The places of the rows of a chunk, in their order. O(1), and one addition a row.
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
    /// # #[component] struct Height(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..5000).map(|i| Height(i as f32)));
    /// let heights = world.lookup::<Height>().by_place();
    /// let mut below = vec![None; 5000];
    /// for chunk in world.query::<&Height>().chunks() {
    ///     for (place, height) in heights.places_of(&chunk)?.zip(chunk.slices()) {
    ///         if let Some(below) = below.get_mut(height.0 as usize + 1) {
    ///             *below = Some(place);
    ///         }
    ///     }
    /// }
    /// assert_eq!(heights.at(below[4999].unwrap())?.0, 4998.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn places_of<Q: Terms>(
        &self,
        chunk: &Chunk<'_, Q>,
    ) -> Result<impl ExactSizeIterator<Item = RowPlace> + use<C, Q>, EntityError> {
        places_of(&self.table, chunk.entities(), &|entity| self.place(entity))
    }
}

impl<C: Component> fmt::Debug for PlaceLookup<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaceLookup").field("component", &core::any::type_name::<C>()).finish()
    }
}

/// The places of entities whose rows follow each other in a chunk.
pub(super) fn places_of<T: Copy>(
    table: &PlaceTable<'_, T>,
    entities: &[Entity],
    place: &dyn Fn(Entity) -> Result<RowPlace, EntityError>,
) -> Result<NeighbourPlaces, EntityError> {
    let ends = match entities {
        [] => None,
        [first, .., last] => Some((place(*first)?, place(*last)?)),
        [one] => place(*one).map(|place| Some((place, place)))?,
    };
    if let Some((first, last)) = ends {
        let follows = table.are_in_one_chunk(first, last)
            && last.distance(first) == entities.len() as u64 - 1;
        assert!(follows, "the chunk is of another world: its rows do not follow each other here");
    }
    Ok(NeighbourPlaces { first: ends.map(|(first, _)| first), rows: 0..entities.len() })
}

/// The places of rows that follow each other in a chunk.
pub(super) struct NeighbourPlaces {
    /// The place of the first row, if there is one.
    first: Option<RowPlace>,
    rows: Range<usize>,
}

impl Iterator for NeighbourPlaces {
    type Item = RowPlace;

    fn next(&mut self) -> Option<RowPlace> {
        Some(self.first?.after(self.rows.next()? as u64))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl ExactSizeIterator for NeighbourPlaces {}

/// The error of a place.
#[cold]
pub(super) fn absent<C: Component, T: Copy>(
    table: &PlaceTable<'_, T>,
    place: RowPlace,
) -> PlaceError {
    if table.knows(place) { PlaceError::Missing(C::NAME) } else { PlaceError::Moved }
}
