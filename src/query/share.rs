//! A world divided, so that several systems can use it at the same time.
//!
//! Each gets a [`Share`]: the right to one query's columns. The [`Division`] keeps the books. It
//! lends no share that clashes with one that is out, so that a schedule which orders its systems
//! wrongly stops with a panic instead of a race. Nothing moves while a world is divided: there is no
//! other way to it, and a share changes the values of cells and stamps only.

use core::any::TypeId;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, Registry, RegistryId};
use crate::storage::{ColumnViews, ColumnViewsMut};
use crate::version::Version;

use super::demand::Demand;
use super::filter::Filter;
use super::iter::Query;
use super::plan::Plans;
use super::source::{Borrowed, Source};
use super::store::Store;
use super::tuple::Terms;

/// What a share is lent for: a demand, and the query type that makes it.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    key: TypeId,
    demand: Arc<Demand>,
    /// Whose numbers the demand's components have.
    registry: RegistryId,
}

impl Claim {
    /// For a query.
    pub(crate) fn query<Q: Terms, F: Filter>(registry: &mut Registry) -> Self {
        let demand = Arc::new(Demand::of_query::<Q, F>(registry));
        Self { key: Plans::key::<Q, F>(), demand, registry: registry.own_id() }
    }

    /// For reading component `C` of any entity.
    pub(crate) fn lookup<C: Component>(registry: &mut Registry) -> Self {
        Self::query::<&C, ()>(registry)
    }

    /// For writing component `C` of any entity.
    pub(crate) fn lookup_mut<C: Component>(registry: &mut Registry) -> Self {
        Self::query::<&mut C, ()>(registry)
    }

    /// What is asked for.
    pub(crate) fn demand(&self) -> &Demand {
        &self.demand
    }
}

/// A world that is lent in shares.
#[derive(Debug)]
pub(crate) struct Division<'w> {
    store: &'w Store,
    /// The version before those of the runs.
    before: Version,
    books: Mutex<Books>,
}

/// The shares that are out.
#[derive(Debug, Default)]
struct Books {
    lent: Vec<(u64, Arc<Demand>)>,
    next: u64,
}

impl<'w> Division<'w> {
    /// Divides a world for `runs` runs of systems: the clock advances once for each.
    pub(crate) fn new(store: &'w mut Store, runs: usize) -> Self {
        let before = store.source.clock;
        for _ in 0..runs {
            store.source.tick();
        }
        Self { store, before, books: Mutex::default() }
    }

    /// What run number `run` writes is of this version, whichever thread it runs on.
    pub(crate) const fn version(&self, run: usize) -> Version {
        Version::from_bits(self.before.to_bits() + 1 + run as u64)
    }

    /// The archetypes, which nobody adds to while the world is divided.
    pub(crate) fn archetypes(&self) -> &'w [Archetype] {
        self.store.source.catalog.as_slice()
    }

    /// Lends what is claimed, to be written with version `now`.
    ///
    /// # Panics
    ///
    /// If it clashes with a share that is out, or was made for another world.
    pub(crate) fn lend(&self, claim: &Claim, now: Version) -> Share<'_> {
        let registry = self.store.source.registry.own_id();
        assert!(claim.registry == registry, "the claim was made for this world");
        let mut books = lock(&self.books);
        let clash =
            books.lent.iter().find_map(|(_, lent)| claim.demand.clash_in(lent, self.archetypes()));
        assert!(clash.is_none(), "component {clash:?} is lent to another system");
        let number = books.next;
        books.next += 1;
        books.lent.push((number, Arc::clone(&claim.demand)));
        drop(books);
        let (store, demand) = (self.store, Arc::clone(&claim.demand));
        Share { books: &self.books, number, key: claim.key, demand, store, now }
    }
}

/// The books are right at all times: a panic that poisons them came before or after.
fn lock(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to the columns of one query, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share<'d> {
    books: &'d Mutex<Books>,
    number: u64,
    key: TypeId,
    demand: Arc<Demand>,
    store: &'d Store,
    now: Version,
}

impl Share<'_> {
    /// The query that the share was lent for.
    ///
    /// # Panics
    ///
    /// If it was lent for another.
    pub(crate) fn query<Q: Terms, F: Filter>(&mut self, filter: F) -> Query<'_, Q, F> {
        assert!(self.key == Plans::key::<Q, F>(), "another query was claimed");
        Query::new(Borrowed::Leased(self.lease()), filter, false)
    }

    /// Component `C` of the entities that have it.
    ///
    /// # Panics
    ///
    /// If the share was not lent for reading `C` of any entity.
    pub(crate) fn lookup<C: Component>(&mut self) -> ColumnViews<'_, C> {
        assert!(self.key == Plans::key::<&C, ()>(), "another component was claimed");
        let Store { source, entities, .. } = self.store;
        source.views(entities.places())
    }

    /// [`Share::lookup`] for writing.
    ///
    /// # Panics
    ///
    /// If the share was not lent for writing `C` of any entity.
    pub(crate) fn lookup_mut<C: Component>(&mut self) -> ColumnViewsMut<'_, C> {
        assert!(self.key == Plans::key::<&mut C, ()>(), "another component was claimed");
        self.lease().views_mut()
    }

    /// The share while it is borrowed: there is one lease of it at a time.
    fn lease(&mut self) -> Lease<'_> {
        Lease { store: self.store, now: self.now, key: self.key, demand: &self.demand }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        lock(self.books).lent.retain(|&(number, _)| number != self.number);
    }
}

/// The part of a share that a walk has: the right to the columns of its demand, in the archetypes
/// that obey the demand.
///
/// Made by [`Share::lease`] and [`Lease::again`] only. While a lease is in use, no other share reads
/// or writes what it may write, or writes what it may read ([`Division::lend`]). What is cut under a
/// lease was allowed by [`Lease::assert_allows`].
#[derive(Debug)]
pub(super) struct Lease<'w> {
    store: &'w Store,
    now: Version,
    /// The type of the query that was claimed.
    key: TypeId,
    demand: &'w Demand,
}

impl<'w> Lease<'w> {
    pub(super) const fn source(&self) -> &'w Source {
        &self.store.source
    }

    /// # Panics
    ///
    /// If the query cuts a column that was not lent to it, or an archetype outside the demand. Queries
    /// are invariant in their types, so no program that compiles gets here with another query than
    /// the one that was claimed, or one that filters have narrowed; but the proofs of
    /// [`ahead`](super::ahead) do not rest on variance alone.
    pub(super) fn assert_allows<Q: Terms, F: Filter>(&self) {
        // The query that was claimed asks for what was lent.
        if self.key != Plans::key::<Q, F>() {
            assert!(
                Demand::of_known::<Q, F>(&self.source().registry).is_within(self.demand),
                "the query {} asks for more than was lent to it",
                core::any::type_name::<(Q, F)>(),
            );
        }
    }

    /// The version of what is written.
    pub(super) const fn now(&self) -> Version {
        self.now
    }

    /// The same lease, while this one is not used.
    pub(super) const fn again(&mut self) -> Lease<'_> {
        Lease { store: self.store, now: self.now, key: self.key, demand: self.demand }
    }

    /// Whether `C` is named by what was lent. What is not named another may write meanwhile, stamps
    /// too. A component that the world has never seen nobody writes.
    pub(super) fn names<C: Component>(&self) -> bool {
        let id = self.source().registry.id::<C>();
        id == ComponentId::UNKNOWN || self.demand.columns().any(|(named, _)| named == id)
    }

    /// The world that was divided.
    pub(super) const fn store(&self) -> &'w Store {
        self.store
    }

    #[inline]
    pub(super) fn archetype(&self, number: usize) -> &'w Archetype {
        &self.source().catalog.as_slice()[number]
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::filter::{With, Without};
    use super::*;
    use crate::archetype::Catalog;
    use crate::component;
    use crate::entity::Directory;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Value(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Marker(u8);
    component!(Value, Marker);

    /// Begins a pass of `Q` and `F` under a share that was lent for `&mut Value` with `Marker`.
    fn begin<Q: Terms, F: Filter>() {
        look::<Q, F>(|query| assert_eq!(query.count(), 0));
    }

    /// Looks at a query of `Q` and `F` under that share.
    fn look<Q: Terms, F: Filter>(run: impl FnOnce(Query<'_, Q, F>)) {
        let mut store = Store::new(Catalog::default(), Directory::new(1));
        let claim = Claim::query::<&mut Value, With<Marker>>(&mut store.source.registry);
        let division = Division::new(&mut store, 1);
        let share = division.lend(&claim, division.version(0));
        let Share { key, demand, store, now, .. } = &share;
        let lease = Lease { store, now: *now, key: *key, demand };
        run(Query::<Q, F>::new(Borrowed::Leased(lease), F::newer_than(*now), false));
    }

    #[test]
    fn a_lease_allows_its_query_and_what_filters_narrow() {
        begin::<&mut Value, With<Marker>>();
        begin::<&mut Value, (With<Marker>, Without<Value>)>();
    }

    #[test]
    #[should_panic(expected = "asks for more than was lent")]
    fn a_lease_allows_no_other_archetypes() {
        begin::<&mut Value, Without<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than was lent")]
    fn a_lease_allows_no_other_columns() {
        begin::<(&mut Value, &mut Marker), With<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than was lent")]
    fn a_lease_allows_no_other_use_of_its_columns() {
        begin::<&Value, With<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than was lent")]
    fn a_lease_allows_no_look_at_other_rows_either() {
        look::<&mut Value, Without<Marker>>(|query| assert_eq!(query.rows_len(), 0));
    }

    #[test]
    #[should_panic(expected = "asks for more than was lent")]
    fn a_lease_allows_no_look_at_other_chunks_either() {
        look::<&mut Value, Without<Marker>>(|query| assert!(query.matches().1.is_empty()));
    }
}
