//! A view of a query for rows of single entities: by entity, and by place.

use core::fmt;
use core::marker::PhantomData;

use crate::cold::cold_fn;
use crate::entity::Entity;
use crate::storage::{CellRow, RowCells, RowCellsMut, RowPlace};

use super::chunk_rows::ChunkRows;
use super::filter::Filter;
use super::plan_rows::PlanRows;
use super::query_iter::Invariant;
use super::query_type::is_by_cells;
use super::row_error::RowError;
use super::terms::{OpenOf, ReadTerms, Terms};

/// The rows of entities and places, by a query. See
/// [`Query::lookup`](crate::Query::lookup) and [`Query::lookup_mut`](crate::Query::lookup_mut).
///
/// It finds the rows that a pass of the query would visit: no
/// [hidden](crate::component#hidden-components) entities, unless the query names them. An entity
/// with a [reserved](crate::World::reserve_entity) id has no components yet.
pub struct RowLookup<'w, Q: Terms, F: Filter = ()> {
    rows: PlanRows<'w, Q, F>,
    /// The cells of all rows, in a view for reading many rows of a query that [`is_by_cells`].
    cells: Option<RowCells<'w>>,
    /// The same, in each view of such a query that writes. Then the rows are for stamps and errors.
    written: Option<RowCellsMut<'w>>,
    /// Invariant in both, as the query is.
    types: Invariant<(Q, F)>,
}

impl<'w, Q: Terms, F: Filter> RowLookup<'w, Q, F> {
    /// A view for reading many rows, whose cells are found in advance if the query
    /// [`is_by_cells`]. O(archetypes + chunks).
    pub(super) fn with_cells(rows: PlanRows<'w, Q, F>) -> Self
    where
        Q: ReadTerms,
    {
        let cells = if is_by_cells::<Q, F>() { Some(rows.cells()) } else { None };
        Self { rows, cells, written: None, types: PhantomData }
    }

    /// A view for many rows, one at a time. As [`RowLookup::with_cells`] if the query writes.
    pub(super) fn with_cells_mut(rows: PlanRows<'w, Q, F>) -> Self {
        if !Self::WRITES_CELLS {
            return Self { rows, cells: None, written: None, types: PhantomData };
        }
        let (cells, rows) = rows.into_cells();
        Self { rows, cells: None, written: Some(cells), types: PhantomData }
    }

    const WRITES_CELLS: bool = Q::WRITES && is_by_cells::<Q, F>();

    /// The row of an entity, if it matches.
    ///
    /// # Errors
    ///
    /// If the entity is not alive, or the query excludes it; the error gives the reason.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let [alive, other] = [world.spawn(Health(3.0)), world.spawn(())];
    /// let query = world.query::<&Health>();
    /// let lookup = query.lookup();
    /// assert_eq!(lookup.get(alive)?.0, 3.0);
    /// assert!(lookup.get(other).is_err());
    /// # Ok::<(), phalanx::rows::RowError>(())
    /// ```
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Result<Q::Row<'_>, RowError>
    where
        Q: ReadTerms,
    {
        if !is_by_cells::<Q, F>() {
            return self.rows.get(entity);
        }
        let Some(cells) = &self.cells else { return self.row_by_plan(entity) };
        match self.row_by_cells(cells, entity) {
            Some(row) => Ok(row),
            None => row_or_reason(&self.rows, entity),
        }
    }

    /// [`RowLookup::get`] in a view without cells. Not inlined beside the loop by cells.
    #[inline(never)]
    fn row_by_plan(&self, entity: Entity) -> Result<Q::Row<'_>, RowError>
    where
        Q: ReadTerms,
    {
        self.rows.get(entity)
    }

    #[inline(always)]
    fn row_by_cells<'r>(&'r self, cells: &'r RowCells<'w>, entity: Entity) -> Option<Q::Row<'r>>
    where
        Q: ReadTerms,
    {
        let (row, (archetype, at)) = cells.find(entity, Q::ByRow::COLUMNS)?;
        Some(cut_row::<Q>(row, self.rows.entity_at(archetype, at), self.rows.sets()))
    }

    /// The row of an entity, if it matches, writable for `&mut` terms. Stamps the columns that it
    /// hands out as `&mut` in the chunk of the entity.
    ///
    /// # Errors
    ///
    /// As for [`RowLookup::get`]. No chunk is stamped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let hit = [3.0, 4.0].map(|health| world.spawn(Health(health)));
    /// let mut query = world.query_mut::<&mut Health>();
    /// let mut lookup = query.lookup_mut();
    /// for entity in hit {
    ///     lookup.get_mut(entity)?.0 -= 1.0;
    /// }
    /// assert!(query.rows().map(|health| health.0).eq([2.0, 3.0]));
    /// # Ok::<(), phalanx::rows::RowError>(())
    /// ```
    #[inline(always)]
    pub fn get_mut(&mut self, entity: Entity) -> Result<Q::Row<'_>, RowError> {
        if !Self::WRITES_CELLS {
            return self.rows.get_mut(entity);
        }
        let Self { rows, written: Some(cells), .. } = self else { unreachable!("{NO_CELLS}") };
        let stamp = || stamp_of(rows, entity);
        let Some((row, (archetype, at))) = cells.find(entity, Q::ByRow::COLUMNS, stamp)? else {
            return Ok(Q::ByRow::bare_row(entity).expect("a required component is not required"));
        };
        Ok(cut_row::<Q>(row, rows.entity_at(archetype, at), rows.sets_mut()))
    }

    /// The row at a place, if it matches. All filters of the query apply. Reads no slot of the
    /// directory. O(log archetypes), and O(archetypes) once after each structural change.
    ///
    /// Places are found by a [`PlaceLookup`](crate::rows::PlaceLookup) of any component. An entity
    /// with a reserved id has none.
    ///
    /// # Errors
    ///
    /// If rows of the world have moved since the place was found, or the query excludes the entity;
    /// the error gives the reason.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::RowError;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Armour(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// let knight = world.spawn((Health(8.0), Armour(2.0)));
    /// let statue = world.spawn((Health(1.0), Armour(9.0), Frozen));
    /// let healths = world.lookup::<Health>().by_place();
    /// let [knight, statue] = [healths.place(knight)?, healths.place(statue)?];
    ///
    /// let awake = world.query::<(&Health, &Armour)>().without::<Frozen>();
    /// let rows = awake.lookup();
    /// let (health, armour) = rows.at(knight)?;
    /// assert_eq!(health.0 + armour.0, 10.0);
    /// assert!(matches!(rows.at(statue), Err(RowError::Excluded { .. })));
    ///
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.query::<&Health>().lookup().at(knight).err(), Some(RowError::Moved));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn at(&self, place: RowPlace) -> Result<Q::Row<'_>, RowError>
    where
        Q: ReadTerms,
    {
        self.rows.at(place)
    }

    /// The row at a place, if it matches, writable for `&mut` terms. Stamps as
    /// [`RowLookup::get_mut`] does. See [`RowLookup::at`].
    ///
    /// # Errors
    ///
    /// As for [`RowLookup::at`]. No chunk is stamped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Charge(f32);
    /// # #[component] struct Node;
    /// # let mut world = World::new();
    /// let node = world.spawn((Charge(1.0), Node));
    /// let place = world.lookup::<Node>().by_place().place(node)?;
    /// world.query_mut::<&mut Charge>().with::<Node>().lookup_mut().at_mut(place)?.0 += 1.0;
    /// assert_eq!(world.get::<Charge>(node)?.0, 2.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn at_mut(&mut self, place: RowPlace) -> Result<Q::Row<'_>, RowError> {
        if !Self::WRITES_CELLS {
            return self.rows.at_mut(place);
        }
        let Self { rows, written: Some(cells), .. } = self else { unreachable!("{NO_CELLS}") };
        let found = cells.row(rows.stamp_at(place)?, Q::ByRow::COLUMNS);
        let (row, (archetype, at)) = found.expect("a row that matches has no cells");
        Ok(cut_row::<Q>(row, rows.entity_at(archetype, at), rows.sets_mut()))
    }
}

const NO_CELLS: &str = "a view that writes has no cells";

/// The items of a row by its cells. The entity is read only by a term of entities.
#[inline(always)]
fn cut_row<'r, Q: Terms>(
    mut columns: CellRow<'r, 'r>,
    entity: &'r [Entity],
    sets: OpenOf<'r, Q>,
) -> Q::Row<'r> {
    let slices = Q::ByRow::cut(&mut columns, ChunkRows::of_entities(entity), sets);
    Q::ByRow::rows(slices, 1).next().expect("a slice of one row has none")
}

cold_fn! {
    /// [`RowLookup::get`] of an entity without a row in the cells: its id is reserved, or there is
    /// a reason. No code of a user runs here, so only a defect of this crate could panic.
    fn row_or_reason ['r, 'w, Q: ReadTerms, F: Filter] (rows: &'r PlanRows<'w, Q, F>, entity: Entity)
        -> Result<Q::Row<'r>, RowError> {
        rows.get(entity)
    }

    /// Stamps the chunk of an entity's row, if the row is one of the query. As above, no code of a
    /// user runs here.
    fn stamp_of ['w, Q: Terms, F: Filter] (rows: &mut PlanRows<'w, Q, F>, entity: Entity)
        -> Result<(), RowError> {
        rows.stamp_of(entity)
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for RowLookup<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = core::any::type_name::<Q>();
        f.debug_struct("RowLookup").field("terms", &terms).finish_non_exhaustive()
    }
}
