//! The rows of single entities of a query.

use crate::entity::Entity;

use super::filter::Filter;
use super::lookup_source::{LookupSource, SharedArchetypes};
use super::plan_rows::{PlanRows, ensure_bare_passes, locate, row_of};
use super::query::Query;
use super::query_type::query_type;
use super::row_error::RowError;
use super::row_lookup::RowLookup;
use super::store_borrow::Mode as _;
use super::terms::{ReadTerms, Terms};

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// The row of an entity, for as long as the query would have lasted. See [`Query::get_mut`].
    pub(crate) fn into_row(self, entity: Entity) -> Result<Q::Row<'w>, RowError> {
        PlanRows::<Q, F>::new(self.borrow, self.held, self.filter).into_row(entity)
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
        let archetypes = LookupSource::Shared(SharedArchetypes::new(store.archetypes()));
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
        self.plan_rows_mut().into_row(entity)
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

    /// A view for the rows of many entities.
    ///
    /// If all terms are [`Entity`], `&C` and `Option<&C>`, and each `C` is a component of chunks
    /// that is not enableable, and all filters choose archetypes (`with` and `without` of such
    /// components), the view has the address of each column of each chunk. Making it is
    /// O(archetypes + chunks). It takes less time than single calls from 20 rows on in three
    /// chunks, and from 70 on in 60,000 rows. The view of any other query is made in O(1) and finds
    /// each row by the plan. Places are always found by the plan.
    ///
    /// For one component a [`World::lookup`](crate::World::lookup) takes three fifths of the
    /// instructions, and beside it a [`Sparse`](crate::sparse::Sparse) finds sparse values. See
    /// [`World::get`](crate::World::get) for the cost of all calls.
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
        RowLookup::with_cells(self.plan_rows())
    }

    /// [`Query::lookup`] for few rows: each is found by the plan. O(1).
    #[inline]
    pub(crate) fn plan_rows(&self) -> PlanRows<'w, Q, F>
    where
        Q: ReadTerms,
    {
        PlanRows::new(self.borrow, self.held, self.filter)
    }

    /// A view for the rows of many entities, one at a time, writable for `&mut` terms. All writes
    /// through it have one version.
    ///
    /// It has the addresses of columns, and is made in O(archetypes + chunks), where terms and
    /// filters are those of [`Query::lookup`], or `&mut C` and `Option<&mut C>` of such components
    /// that do not track lines; at least one term writes. In a release build on x86-64 a row of one
    /// component takes 72 instructions, and 256 by [`Query::get_mut`], which is for few rows. Make
    /// one view for many rows, also if they are found by place.
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
    pub fn lookup_mut(&mut self) -> RowLookup<'_, Q, F> {
        RowLookup::with_cells_mut(self.plan_rows_mut())
    }

    /// [`Query::lookup_mut`] for few rows: each is found by the plan. O(1).
    #[inline]
    pub(crate) fn plan_rows_mut(&mut self) -> PlanRows<'_, Q, F> {
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        PlanRows::new(Q::Mode::reborrow(&mut self.borrow), held, self.filter.shorten())
    }
}
