//! A store shared by systems that run at the same time.
//!
//! A [`SplitStore`] grants each system an [`AccessGuard`]: the right to one query's columns until
//! the guard is dropped. It grants no access that clashes with an active one, so a schedule that
//! orders its systems wrongly ends in a panic and not in a data race. Rows do not move while the
//! store is split: guards are the only way to it, and a guard changes only the values of cells and
//! stamps.
//!
//! ```text
//!  AccessRequest ── SplitStore::grant ──► AccessGuard ── access ──► ColumnAccess, held by a query
//!  once per system  refuses a clash       while it runs             checks what the query takes;
//!                                                                 or ReadAccess, which is `Copy`
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::archetype::{Archetype, Archetypes, Census};
use crate::component::{Component, ComponentId};
use crate::storage::ColumnViews;
use crate::version::Version;

use super::access_request::{AccessRequest, RequestKey};
use super::logs::Logs;
use super::requirements::QueryType;
use super::requirements::{ComponentIds, Requirements};
use super::rule::Rule;
use super::sparse::EntityStates;
use super::sparse::SetRows;
use super::sparse::SparseSets;
use super::store::Store;

/// A store that grants access to its columns.
#[derive(Debug)]
pub(crate) struct SplitStore<'w> {
    store: &'w Store,
    /// The version before the versions of the runs.
    before: Version,
    active: Mutex<ActiveAccess>,
}

/// The access that is active.
#[derive(Debug, Default)]
struct ActiveAccess {
    granted: Vec<(u64, Arc<Requirements>)>,
    next: u64,
}

impl<'w> SplitStore<'w> {
    /// Splits a store for `runs` runs of systems: the clock advances once for each.
    pub(crate) fn new(store: &'w mut Store, runs: usize) -> Self {
        let before = store.clock;
        for _ in 0..runs {
            store.advance_clock();
        }
        Self { store, before, active: Mutex::default() }
    }

    /// The version with which run number `run` writes, on any thread.
    pub(crate) const fn version(&self, run: usize) -> Version {
        Version::from_bits(self.before.to_bits() + 1 + run as u64)
    }

    /// The archetypes. None is added while the store is split.
    pub(crate) fn archetypes(&self) -> &'w [Archetype] {
        self.store.archetypes.as_slice()
    }

    /// Tells whether the archetypes are still the same.
    pub(crate) const fn census(&self) -> Census {
        self.store.archetypes.census()
    }

    /// The sparse sets. Each has a lock.
    pub(crate) const fn sparse(&self) -> &'w SparseSets {
        &self.store.sparse
    }

    /// The logs. Event queues have locks, and no row changes while the store is split.
    pub(crate) const fn logs(&self) -> &'w Logs {
        &self.store.logs
    }

    /// The version that a holder of version `since` has seen, if the world was restored in between.
    pub(crate) fn seen(&self, since: Version) -> Version {
        self.store.history.seen(since)
    }

    /// The states of all entities. None is spawned or despawned while the store is split.
    pub(crate) fn entity_states(&self) -> EntityStates<'w> {
        self.store.entity_states()
    }

    /// The rows of entities with sparse components. None moves while the store is split.
    pub(crate) const fn set_rows(&self) -> SetRows<'w> {
        SetRows::new(self.store)
    }

    /// Grants a request, for writing with version `now`.
    ///
    /// # Panics
    ///
    /// If it clashes with active access, or was made for another world.
    pub(crate) fn grant(&self, request: &AccessRequest, now: Version) -> AccessGuard<'_> {
        assert!(request.is_of(&self.store.registry), "the request was made for another world");
        let mut active = lock(&self.active);
        let clash = active
            .granted
            .iter()
            .find_map(|(_, other)| request.requirements().clash_in(other, self.archetypes()));
        assert!(clash.is_none(), "another system has access to the component {clash:?}");
        let number = active.next;
        active.next += 1;
        active.granted.push((number, request.shared_requirements()));
        drop(active);
        let (store, requirements) = (self.store, request.shared_requirements());
        AccessGuard { active: &self.active, number, key: request.key(), requirements, store, now }
    }
}

/// The list is valid after a panic: one that poisons the lock came before or after a change.
fn lock(active: &Mutex<ActiveAccess>) -> MutexGuard<'_, ActiveAccess> {
    active.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to the columns of one query, until it is dropped.
#[derive(Debug)]
pub struct AccessGuard<'d> {
    active: &'d Mutex<ActiveAccess>,
    number: u64,
    key: RequestKey,
    requirements: Arc<Requirements>,
    store: &'d Store,
    now: Version,
}

impl AccessGuard<'_> {
    /// The access for the query of the request. One may exist at a time.
    ///
    /// # Panics
    ///
    /// If another query was requested.
    pub(crate) fn access(&mut self, query: &QueryType) -> ColumnAccess<'_> {
        self.assert_requested(query);
        ColumnAccess(ReadAccess(self))
    }

    /// Component `C` of the entities that have it, for reading. `query` must be the query of `&C`
    /// in all entities, including hidden ones.
    ///
    /// # Panics
    ///
    /// If another query was requested.
    pub(crate) fn views<C: Component>(
        &mut self,
        query: &QueryType,
    ) -> (ColumnViews<'_, C>, &Archetypes) {
        self.assert_is_of::<C>(query, false);
        self.store.views()
    }

    /// # Panics
    ///
    /// If another query was requested, or it is not a query of component `C` alone, for writing or
    /// for reading, in all entities, including hidden ones.
    pub(super) fn assert_is_of<C: Component>(&self, query: &QueryType, write: bool) {
        self.assert_requested(query);
        let id = self.store.registry.id::<C>();
        // An access without hidden entities would not exclude other access to their columns.
        let columns = self.requirements.columns().map(|column| (column.component.id, column.write));
        let is_of_c = columns.eq([(id, write)])
            && matches!(self.requirements.rules(), [Rule::Has(required)] if required.id == id)
            && self.requirements.see_all_hidden();
        assert!(is_of_c, "access was requested for another component");
    }

    /// The requirements of the granted columns, the store, and the version for writing. The
    /// guard is borrowed, so that it grants no other access for as long.
    pub(super) fn parts(&mut self) -> (&Requirements, &Store, Version) {
        (&self.requirements, self.store, self.now)
    }

    fn assert_requested(&self, query: &QueryType) {
        assert!(self.key == RequestKey::of(query), "access was requested for another query");
    }
}

impl Drop for AccessGuard<'_> {
    fn drop(&mut self) {
        lock(self.active).granted.retain(|&(number, _)| number != self.number);
    }
}

/// The access of a query that writes, borrowed from an [`AccessGuard`]: the right to the columns in
/// the guard's requirements, in the archetypes that meet them.
///
/// While it is in use, no other guard of the split reads or writes a column that it may write, or
/// writes one that it may read ([`SplitStore::grant`]). Made by [`AccessGuard::access`], one at a
/// time, and from itself for a shorter time: [`ColumnAccess::reborrow`].
/// [`ReadAccess::assert_allows`] checks each query before it takes a column.
#[derive(Debug)]
pub(crate) struct ColumnAccess<'w>(ReadAccess<'w>);

impl<'w> ColumnAccess<'w> {
    /// The same access for a shorter time.
    #[inline]
    pub(crate) const fn reborrow(&mut self) -> ColumnAccess<'_> {
        ColumnAccess(self.0)
    }

    /// The same access for reading: several may exist at a time.
    #[inline]
    pub(crate) const fn read(self) -> ReadAccess<'w> {
        self.0
    }

    /// The access for reading, while it does not write.
    #[inline]
    pub(crate) const fn view(&self) -> ReadAccess<'_> {
        self.0
    }

    /// [`ReadAccess::assert_allows`].
    #[inline]
    pub(crate) fn assert_allows(&self, query: &QueryType) {
        self.0.assert_allows(query);
    }

    /// The version for writing.
    #[inline]
    pub(crate) const fn now(&self) -> Version {
        self.0.0.now
    }

    /// The store that was split. The caller must read or write only columns of queries that
    /// [`ColumnAccess::assert_allows`] has checked.
    #[inline]
    pub(crate) const fn store(&self) -> &'w Store {
        self.0.store()
    }
}

/// The access of a query that only reads, borrowed from an [`AccessGuard`]: like [`ColumnAccess`],
/// but several may exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAccess<'w>(&'w AccessGuard<'w>);

impl<'w> ReadAccess<'w> {
    /// Checks that a query stays within this access.
    ///
    /// Queries are invariant in their types, so in a program that compiles the query is always the
    /// one that was requested, or one that filters have narrowed; but proofs do not rest on
    /// variance alone.
    ///
    /// # Panics
    ///
    /// If the query takes a column or an archetype that the access does not cover.
    #[inline]
    pub(crate) fn assert_allows(&self, query: &QueryType) {
        // The query of the request is allowed by definition.
        if self.0.key != RequestKey::of(query) {
            self.assert_within(query);
        }
    }

    /// [`ReadAccess::assert_allows`] of another query than the requested one.
    #[cold]
    fn assert_within(&self, query: &QueryType) {
        let Self(guard) = self;
        let requirements = (query.describe)(ComponentIds::Known(&guard.store.registry));
        if let Some(seen) = requirements.seen_beyond(&guard.requirements) {
            panic!(
                "the query {} asks for hidden entities by `{seen}`, which the parameter of its \
                 system does not: name it in the filters there, as in `Query<&Health, \
                 With<Disabled>>`, because systems that do not may run at the same time",
                (query.name)(),
            );
        }
        assert!(
            requirements.is_within(&guard.requirements),
            "the query {} asks for more than its system was granted",
            (query.name)(),
        );
    }

    /// Whether the requirements name `C`. If not, another system may write it and its stamps at the
    /// same time. No system writes a component that the world does not know.
    pub(crate) fn names<C: Component>(&self) -> bool {
        let id = self.store().registry.id::<C>();
        id == ComponentId::UNKNOWN || self.0.requirements.names(id)
    }

    /// The store that was split. The caller must read only columns of queries that
    /// [`ReadAccess::assert_allows`] has checked.
    #[inline]
    pub(crate) const fn store(&self) -> &'w Store {
        self.0.store
    }
}
