//! Rows of single entities, by a query: by entity, and by place.

use core::fmt;
use core::marker::PhantomData;

use crate::archetype::Archetype;
use crate::component::{Component as _, Gone};
use crate::entity::{DirectoryView, Entity, Location, NoSuchEntity};
use crate::storage::{ChunkRow, RowMask, RowPlace};
use crate::store::{Obstacle, Plan, SparseSets, TermSets as _, WatchedSets as _};

use super::chunk_rows::ChunkRows;
use super::chunk_run::stamp_columns;
use super::filter::{Filter, StampAt};
use super::lookup_source::{LookupSource, SharedArchetypes};
use super::open_filter::{OpenFilter, seen_rows};
use super::query::Query;
use super::query_iter::Invariant;
use super::query_type::{is_by_row, query_type};
use super::row_error::{Exclusion, RowError};
use super::store_borrow::Mode as _;
use super::terms::{BorrowOf, HeldOf, ReadTerms, Terms};

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// The row of an entity, for as long as the query would have lasted. See [`Query::get_mut`].
    pub(crate) fn into_row(self, entity: Entity) -> Result<Q::Row<'w>, RowError> {
        RowLookup::<Q, F>::new(self.borrow, self.held, self.filter).into_row(entity)
    }
}

/// # Rows by entity
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// The row of an entity, if it matches: a reference, or a tuple of references. All filters of
    /// the query apply.
    ///
    /// Each call looks up the query's plan. For many entities make a [`lookup`](Query::lookup), and
    /// for one component a [`World::lookup`](crate::World::lookup).
    /// [`World::get`](crate::World::get) compares them.
    ///
    /// # Errors
    ///
    /// If the entity is not alive, or the query excludes it; the error gives the reason.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Armour(f32);
    /// # let mut world = World::new();
    /// let knight = world.spawn((Health(8.0), Armour(2.0)));
    /// let peasant = world.spawn(Health(5.0));
    /// let armoured = world.query::<(&Health, &Armour)>();
    /// let (health, armour) = armoured.get(knight)?;
    /// assert_eq!(health.0 + armour.0, 10.0);
    /// assert!(armoured.get(peasant).is_err());
    /// # Ok::<(), phalanx::rows::RowError>(())
    /// ```
    pub fn get(&self, entity: Entity) -> Result<Q::Row<'w>, RowError>
    where
        Q: ReadTerms,
    {
        let view = self.borrow;
        let (store, plan) = (view.store(), view.plan(query_type::<Q, F>()));
        let archetypes = LookupSource::Shared(SharedArchetypes::new(store));
        let named = (entity, store.entities().resolve(entity)?);
        row_of::<Q, F>(named, plan, archetypes, self.held, &self.viewed_filter())
    }

    /// The row of an entity, if it matches, writable for `&mut` terms. All filters of the query
    /// apply. See [`Query::get`].
    ///
    /// Stamps the columns that it hands out as `&mut` in the chunk of the entity, like a pass; for
    /// components that track lines, only the row, after which a filter by their versions passes
    /// more of its 64 rows.
    ///
    /// # Errors
    ///
    /// As for [`Query::get`]. No chunk is stamped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Target(Entity);
    /// fn strike(attackers: Query<&Target>, mut healths: Query<&mut Health>) {
    ///     for target in attackers.rows() {
    ///         if let Ok(health) = healths.get_mut(target.0) {
    ///             health.0 -= 1.0;
    ///         }
    ///     }
    /// }
    /// # let mut world = World::new();
    /// let victim = world.spawn(Health(3.0));
    /// world.spawn_batch([Target(victim); 2]);
    /// let mut schedule = Schedule::new();
    /// schedule.add(strike);
    /// schedule.run(&mut world);
    /// assert_eq!(world.get::<Health>(victim).unwrap().0, 1.0);
    /// ```
    // In a caller's loop its many registers would be on the stack: 300 instructions, not 278.
    #[inline(never)]
    pub fn get_mut(&mut self, entity: Entity) -> Result<Q::Row<'_>, RowError> {
        self.lookup_mut().into_row(entity)
    }

    /// Whether the query has a row of this entity: it is alive, and all filters let it pass. Stamps
    /// no chunk. Costs as much as [`Query::get`].
    ///
    /// An entity with a [reserved](crate::World::reserve_entity) id is alive and has no components.
    /// Calls that name it find it so; a pass does not visit it, since it is in no chunk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// let entity = world.spawn((Health(1.0), Frozen));
    /// assert!(world.query::<&Health>().contains(entity));
    /// assert!(!world.query::<&Health>().without::<Frozen>().contains(entity));
    /// ```
    #[must_use]
    pub fn contains(&self, entity: Entity) -> bool {
        let view = self.view();
        let (store, plan) = (view.store(), view.plan(query_type::<Q, F>()));
        let archetypes = store.archetypes().as_slice();
        match store.entities().resolve(entity) {
            Ok(Some(place)) => {
                locate::<Q, F>((entity, place), archetypes, plan, &self.viewed_filter()).is_ok()
            }
            Ok(None) => ensure_bare_passes::<F>(entity, plan).is_ok(),
            Err(_) => false,
        }
    }

    /// A view for the rows of many entities, which looks the plan up once. For one component,
    /// [`World::lookup`](crate::World::lookup) reads in a third of the instructions.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Mass(f32);
    /// # #[component] struct Speed(f32);
    /// # let mut world = World::new();
    /// let bodies = world.spawn_batch((1..4).map(|i| (Mass(2.0), Speed(i as f32)))).to_vec();
    /// let query = world.query::<(&Mass, &Speed)>();
    /// let lookup = query.lookup();
    /// let energy = |&body| lookup.get(body).map_or(0.0, |(m, v)| m.0 * v.0 * v.0 / 2.0);
    /// assert_eq!(bodies.iter().map(energy).sum::<f32>(), 14.0);
    /// ```
    pub fn lookup(&self) -> RowLookup<'w, Q, F>
    where
        Q: ReadTerms,
    {
        RowLookup::new(self.borrow, self.held, self.filter)
    }

    /// A view for the rows of many entities, one at a time, writable for `&mut` terms. All writes
    /// through it have one version.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Armour(f32);
    /// # let mut world = World::new();
    /// let hit = world.spawn_batch([(Health(9.0), Armour(3.0)); 2]).to_vec();
    /// let mut query = world.query_mut::<(&mut Health, &Armour)>();
    /// let mut lookup = query.lookup_mut();
    /// for entity in hit {
    ///     let (health, armour) = lookup.get_mut(entity)?;
    ///     health.0 -= 5.0 - armour.0;
    /// }
    /// assert!(world.query::<&Health>().rows().all(|health| health.0 == 7.0));
    /// # Ok::<(), phalanx::rows::RowError>(())
    /// ```
    #[inline]
    pub fn lookup_mut(&mut self) -> RowLookup<'_, Q, F> {
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        RowLookup::new(Q::Mode::reborrow(&mut self.borrow), held, self.filter.shorten())
    }
}

/// The rows of entities and places, by a query. See [`Query::lookup`] and [`Query::lookup_mut`].
pub struct RowLookup<'w, Q: Terms, F: Filter = ()> {
    directory: DirectoryView<'w>,
    plan: &'w Plan,
    archetypes: LookupSource<'w>,
    held: HeldOf<'w, Q>,
    filter: OpenFilter<'w, F>,
    /// Invariant in both, as the query is.
    types: Invariant<(Q, F)>,
}

impl<'w, Q: Terms, F: Filter> RowLookup<'w, Q, F> {
    /// # Panics
    ///
    /// If the query asks for more than its access allows.
    #[inline]
    fn new(borrow: BorrowOf<'w, Q>, held: HeldOf<'w, Q>, filter: OpenFilter<'w, F>) -> Self {
        let borrow = Q::Mode::begin(borrow);
        let whole = borrow.whole();
        let (directory, plan, archetypes, sets) = LookupSource::new(borrow, query_type::<Q, F>());
        let mut sets = sets.filter(|_| Q::Sets::ANY || F::Sets::ANY).map(SparseSets::each);
        let held = Q::Mode::resolve::<Q::Sets>(held, sets.as_mut());
        let filter = filter.with_store::<Q>(&held, sets.as_mut());
        let filter = if whole.is_some() { filter.with_shared(whole) } else { filter };
        Self { directory, plan, archetypes, held, filter, types: PhantomData }
    }

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
    // Inlined, a read of two terms takes 142 instructions, and 173 as a call.
    #[inline(always)]
    pub fn get(&self, entity: Entity) -> Result<Q::Row<'_>, RowError>
    where
        Q: ReadTerms,
    {
        let archetypes = LookupSource::Shared(self.archetypes.shared());
        let held = Q::Sets::shorten(&self.held);
        let named = (entity, self.directory.resolve(entity)?);
        row_of::<Q, F>(named, self.plan, archetypes, held, &self.filter)
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
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Result<Q::Row<'_>, RowError> {
        let archetypes = self.archetypes.reborrow();
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        let named = (entity, self.directory.resolve(entity)?);
        row_of::<Q, F>(named, self.plan, archetypes, held, &self.filter)
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
        let archetypes = LookupSource::Shared(self.archetypes.shared());
        let held = Q::Sets::shorten(&self.held);
        row_at::<Q, F>(place, self.plan, archetypes, held, &self.filter)
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
        let archetypes = self.archetypes.reborrow();
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        row_at::<Q, F>(place, self.plan, archetypes, held, &self.filter)
    }

    /// [`RowLookup::get`], for as long as the query would have lasted; `None` instead of an error.
    #[inline]
    pub(crate) fn find(&self, entity: Entity) -> Option<Q::Row<'w>>
    where
        Q: ReadTerms,
    {
        let named = (entity, self.directory.resolve(entity).ok()?);
        let archetypes = LookupSource::Shared(self.archetypes.shared());
        row_of::<Q, F>(named, self.plan, archetypes, self.held, &self.filter).ok()
    }

    /// The row, for as long as the lookup would have lasted.
    #[inline]
    fn into_row(self, entity: Entity) -> Result<Q::Row<'w>, RowError> {
        let Self { directory, plan, archetypes, held, filter, .. } = self;
        let named = (entity, directory.resolve(entity)?);
        row_of::<Q, F>(named, plan, archetypes, held, &filter)
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for RowLookup<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = core::any::type_name::<Q>();
        f.debug_struct("RowLookup").field("terms", &terms).finish_non_exhaustive()
    }
}

/// The entry of an archetype in the plan, its number, and a row of it that passes the filter.
type Passing = (usize, u32, ChunkRow);

/// The row of an entity that is alive, if it passes the filter. Without a place its id is reserved.
#[inline(always)]
fn row_of<'w, Q: Terms, F: Filter>(
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
        let (number, at) = archetypes.places().row(place).ok_or(RowError::Moved)?;
        let archetype = &archetypes.all()[number as usize];
        let entity = || entity_at(archetype, at);
        (find_entry::<Q, F>((archetype, number, at), plan, &filter, entity)?, number, at)
    };
    Ok(take::<Q, F>(row, plan, archetypes, held))
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
fn locate<'q, Q: Terms, F: Filter>(
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
fn ensure_bare_passes<F: Filter>(entity: Entity, plan: &Plan) -> Result<(), RowError> {
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
