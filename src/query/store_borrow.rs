//! How a query borrows its store.

use crate::store::{ColumnAccess, Plan, QueryType, Store};

/// The store of a world, as a query borrows it.
#[derive(Debug)]
pub(super) enum StoreBorrow<'w> {
    Shared(&'w Store),
    Exclusive(&'w mut Store),
    /// Some columns of a split store.
    Granted(ColumnAccess<'w>),
}

impl StoreBorrow<'_> {
    /// The same borrow for a shorter time.
    #[inline]
    pub(super) const fn reborrow(&mut self) -> StoreBorrow<'_> {
        match self {
            Self::Shared(store) => StoreBorrow::Shared(store),
            Self::Exclusive(store) => StoreBorrow::Exclusive(store),
            Self::Granted(access) => StoreBorrow::Granted(access.reborrow()),
        }
    }

    /// The same borrow for reading.
    #[inline]
    pub(super) fn share(&self) -> StoreBorrow<'_> {
        match self {
            Self::Shared(store) => StoreBorrow::Shared(store),
            Self::Exclusive(store) => StoreBorrow::Shared(store),
            Self::Granted(access) => StoreBorrow::Granted(access.share()),
        }
    }

    pub(super) const fn store(&self) -> &Store {
        match self {
            Self::Shared(store) => store,
            Self::Exclusive(store) => store,
            Self::Granted(access) => access.store(),
        }
    }

    /// The store, and the query's plan.
    ///
    /// # Panics
    ///
    /// If a query of a split world asks for more than its access allows.
    pub(super) fn plan(&self, query: &QueryType) -> (&Store, &Plan) {
        if let Self::Granted(access) = self {
            access.assert_allows(query);
        }
        let store = self.store();
        (store, store.plan(query))
    }

    /// The number of rows in the archetypes that match.
    pub(super) fn count_rows(&self, query: &QueryType) -> usize {
        let (store, plan) = self.plan(query);
        let archetypes = store.archetypes.as_slice();
        plan.column_map().labels().map(|number| archetypes[number as usize].len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::filter::{Filter, With, Without};
    use super::super::query::Query;
    use super::super::query_type::query_type;
    use super::super::terms::Terms;
    use super::*;
    use crate::archetype::Archetypes;
    use crate::component;
    use crate::entity::Directory;
    use crate::store::{AccessRequest, SplitStore};

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Value(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Marker(u8);
    component!(Value, Marker);

    /// Begins a pass of `Q` and `F` with access to `&mut Value` of entities with `Marker`.
    fn begin<Q: Terms, F: Filter>() {
        with_query::<Q, F>(|query| assert_eq!(query.into_iter().count(), 0));
    }

    /// Calls `run` with a query of `Q` and `F` with that access.
    fn with_query<Q: Terms, F: Filter>(run: impl FnOnce(Query<'_, Q, F>)) {
        let mut store = Store::new(Archetypes::default(), Directory::new(1), 1);
        let requested = query_type::<&mut Value, With<Marker>>();
        let request = AccessRequest::new(&requested, &mut store.registry);
        let split = SplitStore::new(&mut store, 1);
        let mut guard = split.grant(&request, split.version(0));
        let access = guard.access(&requested);
        let since = access.now();
        run(Query::<Q, F>::new(StoreBorrow::Granted(access), F::newer_than(since), false));
    }

    #[test]
    fn access_allows_its_query_and_what_filters_narrow() {
        begin::<&mut Value, With<Marker>>();
        begin::<&mut Value, (With<Marker>, Without<Value>)>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn access_allows_no_other_archetypes() {
        begin::<&mut Value, Without<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn access_allows_no_other_columns() {
        begin::<(&mut Value, &mut Marker), With<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn access_allows_no_other_use_of_its_columns() {
        begin::<&Value, With<Marker>>();
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn access_allows_no_count_of_other_rows() {
        with_query::<&mut Value, Without<Marker>>(|query| assert_eq!(query.count_rows(), 0));
    }

    #[test]
    #[should_panic(expected = "asks for more than its system was granted")]
    fn access_allows_no_list_of_other_chunks() {
        with_query::<&mut Value, Without<Marker>>(|query| assert!(query.entities().is_empty()));
    }

    #[test]
    #[should_panic(expected = "shares its access")]
    fn shared_access_does_not_write() {
        with_query::<&mut Value, With<Marker>>(|query| {
            let shared = query.borrow.share();
            Query::<&mut Value, With<Marker>>::new(shared, query.filter, false).iter_mut().next();
        });
    }
}
