//! The rows of single entities by a query's plan: the entry of the archetype, the chunk there, and
//! each column.

use crate::archetype::Archetype;
use crate::component::{Component as _, Gone};
use crate::entity::{DirectoryView, Entity, Location, NoSuchEntity, RowIndex};
use crate::storage::{ChunkRow, RowCells, RowCellsMut, RowMask, RowPlace};
use crate::store::{Obstacle, Plan, SparseSets, TermSets as _, WatchedSets as _};
use crate::version::Version;

use super::chunk_rows::ChunkRows;
use super::chunk_run::stamp_columns;
use super::filter::{Filter, StampAt};
use super::lookup_source::LookupSource;
use super::open_filter::{OpenFilter, seen_rows};
use super::query_type::{is_by_cells, is_by_row, query_type};
use super::row_error::{Exclusion, RowError};
use super::store_borrow::Mode as _;
use super::terms::{BorrowOf, HeldOf, OpenOf, ReadTerms, Terms};

/// The rows of entities and places by a plan. O(1) to make.
pub(crate) struct PlanRows<'w, Q: Terms, F: Filter> {
    directory: DirectoryView<'w>,
    plan: &'w Plan,
    archetypes: LookupSource<'w>,
    held: HeldOf<'w, Q>,
    filter: OpenFilter<'w, F>,
}

impl<'w, Q: Terms, F: Filter> PlanRows<'w, Q, F> {
    /// # Panics
    ///
    /// If the query asks for more than its access allows.
    #[inline]
    pub(super) fn new(
        borrow: BorrowOf<'w, Q>,
        held: HeldOf<'w, Q>,
        filter: OpenFilter<'w, F>,
    ) -> Self {
        let borrow = Q::Mode::begin(borrow);
        let whole = borrow.whole();
        let (directory, plan, archetypes, sets) = LookupSource::new(borrow, query_type::<Q, F>());
        let mut sets = sets.filter(|_| Q::Sets::ANY || F::Sets::ANY).map(SparseSets::each);
        let held = Q::Mode::resolve::<Q::Sets>(held, sets.as_mut());
        let filter = filter.with_store::<Q>(&held, sets.as_mut());
        let filter = if whole.is_some() { filter.with_shared(whole) } else { filter };
        Self { directory, plan, archetypes, held, filter }
    }

    /// The cells of all rows. O(archetypes + chunks).
    pub(super) fn cells(&self) -> RowCells<'w>
    where
        Q: ReadTerms,
    {
        self.archetypes.cells(self.directory, self.plan)
    }

    /// The cells of all rows, which alone write from now on. O(archetypes + chunks).
    pub(super) fn into_cells(self) -> (RowCellsMut<'w>, Self) {
        let (cells, archetypes) = self.archetypes.into_cells(self.directory, self.plan);
        (cells, Self { archetypes, ..self })
    }

    /// Stamps the chunk of an entity's row for a query that writes by cells, if the row passes the
    /// filter. An entity with a reserved id has none.
    pub(super) fn stamp_of(&mut self, entity: Entity) -> Result<(), RowError> {
        let Some(place) = self.directory.resolve(entity)? else {
            return ensure_bare_passes::<F>(entity, self.plan);
        };
        let row = {
            let filter = self.filter.shorten().with_held::<Q>(&self.held).with_shared(None);
            locate::<Q, F>((entity, place), self.archetypes.all(), self.plan, &filter)?
        };
        self.stamp(row);
        Ok(())
    }

    /// Stamps the chunk of the row at a place for a query that writes by cells, if the row passes
    /// the filter. Returns the number of its archetype, and the row there.
    pub(super) fn stamp_at(&mut self, place: RowPlace) -> Result<(u32, ChunkRow), RowError> {
        let row = {
            let filter = self.filter.shorten().with_held::<Q>(&self.held).with_shared(None);
            locate_at::<Q, F>(place, &self.archetypes, self.plan, &filter)?
        };
        self.stamp(row);
        let (_, number, at) = row;
        Ok((number, at))
    }

    /// # Panics
    ///
    /// If the row is not live. No chunk is stamped.
    fn stamp(&mut self, (entry, number, at): Passing) {
        debug_assert!(is_by_cells::<Q, F>(), "one row stamps its chunk for all others");
        let list = self.archetypes.all()[number as usize].list();
        let is_live = at.chunk < list.chunk_len() && at.row < list.rows(at.chunk);
        assert!(is_live, "the row is not live");
        let (archetype, now) = self.archetypes.begin_cell(number);
        let (_, columns) = self.plan.column_map().get(entry).expect("the plan has no such entry");
        let own = RowMask::run(at.chunk, at.row..at.row + 1);
        let chunk = (at.chunk as usize, Some(own));
        stamp_columns::<Q::ByRow>(archetype.beside(), columns, chunk, now);
    }

    /// The entity of a row, alone: see [`SharedArchetypes::entity_at`].
    #[inline(always)]
    pub(super) fn entity_at(&self, archetype: u32, row: RowIndex) -> &'w [Entity] {
        self.archetypes.shared().entity_at(archetype, row)
    }

    /// The sets of the query.
    #[inline(always)]
    pub(super) fn sets(&self) -> OpenOf<'_, Q>
    where
        Q: ReadTerms,
    {
        Q::Mode::open::<Q::Sets>(Q::Sets::shorten(&self.held), Version::NEVER)
    }

    /// The sets of the query, for writing.
    #[inline(always)]
    pub(super) fn sets_mut(&mut self) -> OpenOf<'_, Q> {
        Q::Mode::open::<Q::Sets>(Q::Mode::reborrow_held::<Q::Sets>(&mut self.held), Version::NEVER)
    }

    /// See [`RowLookup::get`](super::row_lookup::RowLookup::get).
    #[inline(always)]
    pub(super) fn get(&self, entity: Entity) -> Result<Q::Row<'_>, RowError>
    where
        Q: ReadTerms,
    {
        let archetypes = LookupSource::Shared(self.archetypes.shared());
        let held = Q::Sets::shorten(&self.held);
        let named = (entity, self.directory.resolve(entity)?);
        row_of::<Q, F>(named, self.plan, archetypes, held, &self.filter)
    }

    /// The row of an entity, for as long as the query would have lasted.
    #[inline]
    pub(crate) fn find(&self, entity: Entity) -> Option<Q::Row<'w>>
    where
        Q: ReadTerms,
    {
        let named = (entity, self.directory.resolve(entity).ok()?);
        let archetypes = LookupSource::Shared(self.archetypes.shared());
        row_of::<Q, F>(named, self.plan, archetypes, self.held, &self.filter).ok()
    }

    /// See [`RowLookup::get_mut`](super::row_lookup::RowLookup::get_mut).
    #[inline]
    pub(crate) fn get_mut(&mut self, entity: Entity) -> Result<Q::Row<'_>, RowError> {
        let archetypes = self.archetypes.reborrow();
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        let named = (entity, self.directory.resolve(entity)?);
        row_of::<Q, F>(named, self.plan, archetypes, held, &self.filter)
    }

    /// See [`RowLookup::at`](super::row_lookup::RowLookup::at).
    #[inline]
    pub(super) fn at(&self, place: RowPlace) -> Result<Q::Row<'_>, RowError>
    where
        Q: ReadTerms,
    {
        let archetypes = LookupSource::Shared(self.archetypes.shared());
        let held = Q::Sets::shorten(&self.held);
        row_at::<Q, F>(place, self.plan, archetypes, held, &self.filter)
    }

    /// See [`RowLookup::at_mut`](super::row_lookup::RowLookup::at_mut).
    #[inline]
    pub(super) fn at_mut(&mut self, place: RowPlace) -> Result<Q::Row<'_>, RowError> {
        let archetypes = self.archetypes.reborrow();
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        row_at::<Q, F>(place, self.plan, archetypes, held, &self.filter)
    }

    /// The row, for as long as the rows would have lasted.
    #[inline]
    pub(super) fn into_row(self, entity: Entity) -> Result<Q::Row<'w>, RowError> {
        let Self { directory, plan, archetypes, held, filter } = self;
        let named = (entity, directory.resolve(entity)?);
        row_of::<Q, F>(named, plan, archetypes, held, &filter)
    }
}

/// The entry of an archetype in the plan, its number, and a row of it that passes the filter.
type Passing = (usize, u32, ChunkRow);

/// The row of an entity that is alive, if it passes the filter. Without a place its id is reserved.
#[inline(always)]
pub(super) fn row_of<'w, Q: Terms, F: Filter>(
    (entity, place): (Entity, Option<Location>),
    plan: &'w Plan,
    archetypes: LookupSource<'w>,
    held: HeldOf<'w, Q>,
    filter: &OpenFilter<'_, F>,
) -> Result<Q::Row<'w>, RowError> {
    let Some(place) = place else {
        ensure_bare_passes::<F>(entity, plan)?;
        return Ok(Q::ByRow::bare_row(entity).expect("a required component is not required"));
    };
    let row = {
        let filter = filter.shorten().with_held::<Q>(&held).with_shared(None);
        locate::<Q, F>((entity, place), archetypes.all(), plan, &filter)?
    };
    Ok(take::<Q, F>(row, plan, archetypes, held))
}

/// The row at a place, if it passes the filter.
#[inline]
fn row_at<'w, Q: Terms, F: Filter>(
    place: RowPlace,
    plan: &'w Plan,
    archetypes: LookupSource<'w>,
    held: HeldOf<'w, Q>,
    filter: &OpenFilter<'_, F>,
) -> Result<Q::Row<'w>, RowError> {
    let row = {
        let filter = filter.shorten().with_held::<Q>(&held).with_shared(None);
        locate_at::<Q, F>(place, &archetypes, plan, &filter)?
    };
    Ok(take::<Q, F>(row, plan, archetypes, held))
}

/// The row at a place, if it passes the filter.
#[inline]
fn locate_at<'q, Q: Terms, F: Filter>(
    place: RowPlace,
    archetypes: &'q LookupSource<'_>,
    plan: &'q Plan,
    filter: &OpenFilter<'q, F>,
) -> Result<Passing, RowError> {
    let (number, at) = archetypes.places().row(place).ok_or(RowError::Moved)?;
    let archetype = &archetypes.all()[number as usize];
    let entity = || entity_at(archetype, at);
    Ok((find_entry::<Q, F>((archetype, number, at), plan, filter, entity)?, number, at))
}

/// The entity of a row.
#[cold]
fn entity_at(archetype: &Archetype, at: ChunkRow) -> Entity {
    archetype.entities()[archetype.list().index_of(at)]
}

/// The items of a row that passes the filter.
#[inline(always)]
fn take<'w, Q: Terms, F: Filter>(
    (entry, archetype, at): Passing,
    plan: &'w Plan,
    archetypes: LookupSource<'w>,
    held: HeldOf<'w, Q>,
) -> Q::Row<'w> {
    let (mut entered, now) = archetypes.enter::<Q::ByRow>(plan, (entry, archetype));
    let (chunk, row) = (at.chunk as usize, at.row as usize);
    let start = chunk * entered.chunks.capacity() + row;
    let rows = ChunkRows::new(entered.beside, (start, 1), at, now, F::ALL_ROWS);
    let mut columns = entered.chunks.take_row(at);
    let own = RowMask::run(at.chunk, at.row..at.row + 1);
    let beside = entered.beside.ignoring_enabled(F::ALL_ROWS);
    stamp_columns::<Q::ByRow>(beside, entered.chunks.columns(), (chunk, Some(own)), now);
    let slices = Q::ByRow::cut(&mut columns, rows, Q::Mode::open::<Q::Sets>(held, now));
    Q::ByRow::rows(slices, 1).next().expect("a slice of one row has none")
}

/// The row of an entity at a place, if it passes the filter.
#[inline(always)]
pub(super) fn locate<'q, Q: Terms, F: Filter>(
    (entity, place): (Entity, Location),
    archetypes: &'q [Archetype],
    plan: &'q Plan,
    filter: &OpenFilter<'q, F>,
) -> Result<Passing, RowError> {
    let number = place.archetype().0;
    let archetype = &archetypes[number as usize];
    let at = archetype.list().split(place.row());
    let entry = find_entry::<Q, F>((archetype, number, at), plan, filter, || entity)?;
    Ok((entry, number, at))
}

/// # Errors
///
/// If the query excludes an entity with a reserved id, which has no row yet.
#[cold]
pub(super) fn ensure_bare_passes<F: Filter>(entity: Entity, plan: &Plan) -> Result<(), RowError> {
    match plan.obstacle_of_bare() {
        Some(obstacle) => Err(RowError::excluded(entity, Some(obstacle))),
        // It is in no chunk yet.
        None if F::BY_CHUNK || F::BY_LINES > 0 => {
            Err(RowError::Excluded { entity, reason: Exclusion::Unchanged })
        }
        None => Ok(()),
    }
}

/// The entry in the plan of the archetype with a number, if a row of it passes the filter. `entity`
/// returns the entity of the row.
#[inline(always)]
fn find_entry<'q, Q: Terms, F: Filter>(
    (archetype, number, at): (&'q Archetype, u32, ChunkRow),
    plan: &'q Plan,
    filter: &OpenFilter<'q, F>,
    entity: impl Fn() -> Entity,
) -> Result<usize, RowError> {
    let Some(entry) = plan.column_map().find(number) else {
        return Err(refused(plan, archetype, entity()));
    };
    let (beside, capacity) = (archetype.beside(), archetype.list().capacity() as usize);
    let in_chunk = (at.chunk, archetype.list().rows(at.chunk));
    // Most queries need neither.
    let (rules, watched) = (|| plan.rows(entry), || plan.watched(entry));
    if is_by_row::<Q, F>()
        && !RowMask::new(rules(), beside.attachments, at.chunk, in_chunk.1).contains(at.row)
    {
        return Err(RowError::unseen(entity(), plan.broken_row_rule(archetype, at)));
    }
    let at_chunk = StampAt::Chunk(at.chunk as usize);
    let is_unchanged = F::BY_CHUNK && !filter.passes(beside, &mut { watched() }, at_chunk)
        || F::BY_LINES > 0
            && !seen_rows(filter, (rules(), watched()), beside, (in_chunk, capacity))
                .contains(at.row);
    if is_unchanged {
        return Err(RowError::Excluded { entity: entity(), reason: Exclusion::Unchanged });
    }
    Ok(entry)
}

/// The reason why a query does not match the archetype of an entity. An entity that is gone is not
/// alive for queries that do not see [`Gone`].
#[cold]
fn refused(plan: &Plan, archetype: &Archetype, entity: Entity) -> RowError {
    let mut obstacles = plan.obstacles(archetype);
    let hides =
        |obstacle: Obstacle<'_>| matches!(obstacle, Obstacle::Hidden(name) if name == Gone::NAME);
    match archetype.is_gone() && plan.obstacles(archetype).any(hides) {
        true => NoSuchEntity { entity }.into(),
        false => RowError::excluded(entity, obstacles.next()),
    }
}
