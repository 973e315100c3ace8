//! A world divided, so that several systems can use it at the same time.
//!
//! Each gets a [`AccessGuard`]: the right to one query's columns. The [`SplitStore`] keeps the books. It
//! lends no share that clashes with one that is out, so that a schedule which orders its systems
//! wrongly stops with a panic instead of a race. Nothing moves while a world is divided: there is no
//! other way to it, and a share changes the values of cells and stamps only.

use core::any::TypeId;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, Registry, RegistryId};
use crate::storage::{ColumnViews, ColumnViewsMut};
use crate::version::Version;

use super::filter::Filter;
use super::plan::Plans;
use super::query::Query;
use super::requirements::Requirements;
use super::source::{Source, StoreBorrow};
use super::store::Store;
use super::terms::Terms;

/// What a share is lent for: a demand, and the query type that makes it.
#[derive(Clone, Debug)]
pub(crate) struct AccessRequest {
    key: TypeId,
    requirements: Arc<Requirements>,
    /// Whose numbers the demand's components have.
    registry: RegistryId,
}

impl AccessRequest {
    /// For a query.
    pub(crate) fn query<Q: Terms, F: Filter>(registry: &mut Registry) -> Self {
        let requirements = Arc::new(Requirements::of_query::<Q, F>(registry));
        Self { key: Plans::key::<Q, F>(), requirements, registry: registry.own_id() }
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
    pub(crate) fn requirements(&self) -> &Requirements {
        &self.requirements
    }
}

/// A world that is lent in shares.
#[derive(Debug)]
pub(crate) struct SplitStore<'w> {
    store: &'w Store,
    /// The version before those of the runs.
    before: Version,
    active: Mutex<ActiveAccess>,
}

/// The shares that are out.
#[derive(Debug, Default)]
struct ActiveAccess {
    lent: Vec<(u64, Arc<Requirements>)>,
    next: u64,
}

impl<'w> SplitStore<'w> {
    /// Divides a world for `runs` runs of systems: the clock advances once for each.
    pub(crate) fn new(store: &'w mut Store, runs: usize) -> Self {
        let before = store.source.clock;
        for _ in 0..runs {
            store.source.tick();
        }
        Self { store, before, active: Mutex::default() }
    }

    /// What run number `run` writes is of this version, whichever thread it runs on.
    pub(crate) const fn version(&self, run: usize) -> Version {
        Version::from_bits(self.before.to_bits() + 1 + run as u64)
    }

    /// The archetypes, which nobody adds to while the world is divided.
    pub(crate) fn archetypes(&self) -> &'w [Archetype] {
        self.store.source.archetypes.as_slice()
    }

    /// Lends what is claimed, to be written with version `now`.
    ///
    /// # Panics
    ///
    /// If it clashes with a share that is out, or was made for another world.
    pub(crate) fn lend(&self, request: &AccessRequest, now: Version) -> AccessGuard<'_> {
        let registry = self.store.source.registry.own_id();
        assert!(request.registry == registry, "the request was made for this world");
        let mut active = lock(&self.active);
        let clash = active
            .lent
            .iter()
            .find_map(|(_, lent)| request.requirements.clash_in(lent, self.archetypes()));
        assert!(clash.is_none(), "component {clash:?} is lent to another system");
        let number = active.next;
        active.next += 1;
        active.lent.push((number, Arc::clone(&request.requirements)));
        drop(active);
        let (store, requirements) = (self.store, Arc::clone(&request.requirements));
        AccessGuard { active: &self.active, number, key: request.key, requirements, store, now }
    }
}

/// The books are right at all times: a panic that poisons them came before or after.
fn lock(active: &Mutex<ActiveAccess>) -> MutexGuard<'_, ActiveAccess> {
    active.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to the columns of one query, until it is dropped.
#[derive(Debug)]
pub(crate) struct AccessGuard<'d> {
    active: &'d Mutex<ActiveAccess>,
    number: u64,
    key: TypeId,
    requirements: Arc<Requirements>,
    store: &'d Store,
    now: Version,
}

impl AccessGuard<'_> {
    /// The query that the share was lent for.
    ///
    /// # Panics
    ///
    /// If it was lent for another.
    pub(crate) fn query<Q: Terms, F: Filter>(&mut self, filter: F) -> Query<'_, Q, F> {
        assert!(self.key == Plans::key::<Q, F>(), "another query was claimed");
        Query::new(StoreBorrow::Leased(self.access()), filter, false)
    }

    /// Component `C` of the entities that have it.
    ///
    /// # Panics
    ///
    /// If the share was not lent for reading `C` of any entity.
    pub(crate) fn lookup<C: Component>(&mut self) -> ColumnViews<'_, C> {
        assert!(self.key == Plans::key::<&C, ()>(), "another component was claimed");
        let Store { source, entities, .. } = self.store;
        source.views(entities.view())
    }

    /// [`AccessGuard::lookup`] for writing.
    ///
    /// # Panics
    ///
    /// If the share was not lent for writing `C` of any entity.
    pub(crate) fn lookup_mut<C: Component>(&mut self) -> ColumnViewsMut<'_, C> {
        assert!(self.key == Plans::key::<&mut C, ()>(), "another component was claimed");
        self.access().views_mut()
    }

    /// The share while it is borrowed: there is one lease of it at a time.
    fn access(&mut self) -> ColumnAccess<'_> {
        ColumnAccess {
            store: self.store,
            now: self.now,
            key: self.key,
            requirements: &self.requirements,
            shared: false,
        }
    }
}

impl Drop for AccessGuard<'_> {
    fn drop(&mut self) {
        lock(self.active).lent.retain(|&(number, _)| number != self.number);
    }
}

/// What a query holds of an [`AccessGuard`]: the right to the columns that the guard's requirements
/// name, in the archetypes that meet them.
///
/// While it is in use, no other guard of the split reads or writes what it may write, or writes what
/// it may read ([`SplitStore::grant`]). Made by [`AccessGuard::access`], one at a time, and from
/// itself for a shorter time: [`ColumnAccess::reborrow`], or for reading [`ColumnAccess::share`].
/// [`ColumnAccess::assert_allows`] checks each query before it cuts a column.
#[derive(Debug)]
pub(super) struct ColumnAccess<'w> {
    store: &'w Store,
    now: Version,
    /// The type of the query that was requested.
    key: TypeId,
    requirements: &'w Requirements,
    /// Whether there may be others like it, so that none may write.
    shared: bool,
}

impl<'w> ColumnAccess<'w> {
    pub(super) const fn source(&self) -> &'w Source {
        &self.store.source
    }

    /// Checks that a query stays within this access.
    ///
    /// Queries are invariant in their types, so no program that compiles gets here with another
    /// query than the one that was requested, or one that filters have narrowed; but the proofs of
    /// [`remaining`](super::remaining) do not rest on variance alone.
    ///
    /// # Panics
    ///
    /// If the query cuts a column that the access does not cover, an archetype outside of its
    /// requirements, or writes through a shared access.
    pub(super) fn assert_allows<Q: Terms, F: Filter>(&self) {
        assert!(!(Q::WRITES && self.shared), "a query that writes shares its access with another");
        // The query that was requested stays within what was granted for it.
        if self.key != Plans::key::<Q, F>() {
            assert!(
                Requirements::of_known::<Q, F>(&self.source().registry)
                    .is_within(self.requirements),
                "the query {} asks for more than its system was granted",
                core::any::type_name::<(Q, F)>(),
            );
        }
    }

    /// The version of what is written.
    pub(super) const fn now(&self) -> Version {
        self.now
    }

    /// The same access for a shorter time.
    pub(super) const fn reborrow(&mut self) -> ColumnAccess<'_> {
        ColumnAccess { ..*self }
    }

    /// The same access for reading: there may be several of it at a time, and none of them writes.
    pub(super) const fn share(&self) -> ColumnAccess<'_> {
        ColumnAccess { shared: true, ..*self }
    }

    /// Whether `C` is named by what was lent. What is not named another may write meanwhile, stamps
    /// too. A component that the world has never seen nobody writes.
    pub(super) fn names<C: Component>(&self) -> bool {
        let id = self.source().registry.id::<C>();
        id == ComponentId::UNKNOWN || self.requirements.columns().any(|(named, _)| named == id)
    }

    /// The world that was divided.
    pub(super) const fn store(&self) -> &'w Store {
        self.store
    }

    #[inline]
    pub(super) fn archetype(&self, number: usize) -> &'w Archetype {
        &self.source().archetypes.as_slice()[number]
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::filter::{With, Without};
    use super::*;
    use crate::archetype::Archetypes;
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
        look::<Q, F>(|query| assert_eq!(query.into_iter().count(), 0));
    }

    /// Looks at a query of `Q` and `F` under that share.
    fn look<Q: Terms, F: Filter>(run: impl FnOnce(Query<'_, Q, F>)) {
        let mut store = Store::new(Archetypes::default(), Directory::new(1));
        let request = AccessRequest::query::<&mut Value, With<Marker>>(&mut store.source.registry);
        let split = SplitStore::new(&mut store, 1);
        let guard = split.lend(&request, split.version(0));
        let AccessGuard { key, requirements, store, now, .. } = &guard;
        let access = ColumnAccess { store, now: *now, key: *key, requirements, shared: false };
        run(Query::<Q, F>::new(StoreBorrow::Leased(access), F::newer_than(*now), false));
    }

    #[test]
    fn a_lease_allows_its_query_and_what_filters_narrow() {
        begin::<&mut Value, With<Marker>>();
        begin::<&mut Value, (With<Marker>, Without<Value>)>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn a_lease_allows_no_other_archetypes() {
        begin::<&mut Value, Without<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn a_lease_allows_no_other_columns() {
        begin::<(&mut Value, &mut Marker), With<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn a_lease_allows_no_other_use_of_its_columns() {
        begin::<&Value, With<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn a_lease_allows_no_look_at_other_rows_either() {
        look::<&mut Value, Without<Marker>>(|query| assert_eq!(query.count_rows(), 0));
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn a_lease_allows_no_look_at_other_chunks_either() {
        look::<&mut Value, Without<Marker>>(|query| assert!(query.matches().1.is_empty()));
    }
}
