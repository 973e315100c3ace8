//! The borrow of a query's store, which follows from its terms.
//!
//! | terms | mode | borrow of the store | so the query |
//! | --- | --- | --- | --- |
//! | `&A`, `(&A, Entity)` | [`Reads`] | [`ReadBorrow`] | is `Copy` |
//! | `&mut A`, `(&A, &mut B)` | [`Writes`] | [`WriteBorrow`] | is moved, or reborrowed |

use crate::component::{ColumnVisitor, ColumnarShape, Component, SparseComponent};
use crate::storage::SetBlocks;
use crate::store::{ColumnAccess, Plan, QueryType, ReadAccess, SetsMut, Store, TermSets};
use crate::version::Version;

/// Whether terms only read, or may write: [`Reads`] or [`Writes`].
pub trait Mode: 'static {
    /// The mode of a tuple of terms: one with this mode, and others with the mode `Others`.
    type With<Others: Mode>: Mode;
    /// The borrow of the store for a query of such terms.
    type Borrow<'w>;
    /// Whether any term may write.
    const WRITES: bool;

    /// Narrows the borrow to the access that such terms need.
    fn narrow(borrow: WriteBorrow<'_>) -> Self::Borrow<'_>;
    /// The same borrow for a shorter time.
    fn reborrow<'s>(borrow: &'s mut Self::Borrow<'_>) -> Self::Borrow<'s>;
    /// The same borrow for reading, while it does not write.
    fn view<'s>(borrow: &'s Self::Borrow<'_>) -> ReadBorrow<'s>;
    /// The borrow for a pass.
    fn begin(borrow: Self::Borrow<'_>) -> StoreBorrow<'_>;

    /// The sparse sets of a query of such terms.
    type Held<'w, S: TermSets>;

    /// The sets of a query of a store that is not split.
    fn hold<'w, S: TermSets>(borrow: &Self::Borrow<'w>) -> Self::Held<'w, S>;
    /// The sets of a query of a system.
    fn hold_granted<'a, S: TermSets>(guards: &'a mut S::Guards<'_>) -> Self::Held<'a, S>;
    /// The same sets for a shorter time.
    fn reborrow_held<'s, S: TermSets>(held: &'s mut Self::Held<'_, S>) -> Self::Held<'s, S>;
    /// Takes the sets that are in an exclusive store.
    fn resolve<'w, S: TermSets>(
        held: Self::Held<'w, S>,
        store: Option<&mut SetsMut<'w>>,
    ) -> Self::Held<'w, S>;
    /// Opens the sets for a pass, which writes with the version `now`.
    fn open<S: TermSets>(held: Self::Held<'_, S>, now: Version) -> S::Open<'_>;
    /// The versions of the set of `T`, if it is among the sets.
    fn held_blocks<'s, S: TermSets, T: SparseComponent>(
        held: &'s Self::Held<'_, S>,
    ) -> Option<&'s SetBlocks>;
}

/// Terms that only read.
#[derive(Debug)]
pub enum Reads {}

/// Terms that include at least one that may write.
#[derive(Debug)]
pub enum Writes {}

/// A store that is borrowed for reading.
#[derive(Clone, Copy, Debug)]
pub struct ReadBorrow<'w> {
    store: &'w Store,
    /// Read access to a split store; `None` if the store is not split.
    access: Option<ReadAccess<'w>>,
}

/// A store that is borrowed for writing.
#[derive(Debug)]
pub struct WriteBorrow<'w>(pub(super) WriteSource<'w>);

/// The store of a [`WriteBorrow`].
#[derive(Debug)]
pub(super) enum WriteSource<'w> {
    Exclusive(&'w mut Store),
    /// Some columns of a split store.
    Granted(ColumnAccess<'w>),
}

/// A borrow for either.
#[derive(Debug)]
pub enum StoreBorrow<'w> {
    /// For terms that only read.
    Read(ReadBorrow<'w>),
    /// For terms that may write.
    Write(WriteBorrow<'w>),
}

impl<'w> StoreBorrow<'w> {
    /// The borrow, if it is shared and the store is not split.
    #[inline]
    pub(super) fn whole(&self) -> Option<ReadBorrow<'w>> {
        match self {
            Self::Read(borrow) if borrow.access.is_none() => Some(*borrow),
            _ => None,
        }
    }
}

impl Mode for Reads {
    type With<Others: Mode> = Others;
    type Borrow<'w> = ReadBorrow<'w>;
    const WRITES: bool = false;

    #[inline]
    fn narrow(borrow: WriteBorrow<'_>) -> Self::Borrow<'_> {
        match borrow.0 {
            WriteSource::Exclusive(store) => ReadBorrow::shared(store),
            WriteSource::Granted(access) => ReadBorrow::granted(access.read()),
        }
    }

    #[inline]
    fn reborrow<'s>(borrow: &'s mut Self::Borrow<'_>) -> Self::Borrow<'s> {
        *borrow
    }

    #[inline]
    fn view<'s>(borrow: &'s Self::Borrow<'_>) -> ReadBorrow<'s> {
        *borrow
    }

    #[inline]
    fn begin(borrow: Self::Borrow<'_>) -> StoreBorrow<'_> {
        StoreBorrow::Read(borrow)
    }

    type Held<'w, S: TermSets> = S::Open<'w>;

    #[inline]
    fn hold<'w, S: TermSets>(borrow: &Self::Borrow<'w>) -> Self::Held<'w, S> {
        S::shared(borrow.store)
    }

    #[inline]
    fn hold_granted<'a, S: TermSets>(guards: &'a mut S::Guards<'_>) -> S::Open<'a> {
        S::open(S::granted(guards), Version::NEVER)
    }

    #[inline]
    fn reborrow_held<'s, S: TermSets>(held: &'s mut S::Open<'_>) -> S::Open<'s> {
        S::shorten(held)
    }

    #[inline]
    fn resolve<'w, S: TermSets>(held: S::Open<'w>, _: Option<&mut SetsMut<'w>>) -> S::Open<'w> {
        held
    }

    #[inline]
    fn open<S: TermSets>(held: S::Open<'_>, _: Version) -> S::Open<'_> {
        held
    }

    fn held_blocks<'s, S: TermSets, T: SparseComponent>(
        held: &'s S::Open<'_>,
    ) -> Option<&'s SetBlocks> {
        S::open_blocks::<T>(&S::shorten(held))
    }
}

impl Mode for Writes {
    type With<Others: Mode> = Self;
    type Borrow<'w> = WriteBorrow<'w>;
    const WRITES: bool = true;

    #[inline]
    fn narrow(borrow: WriteBorrow<'_>) -> Self::Borrow<'_> {
        borrow
    }

    #[inline]
    fn reborrow<'s>(borrow: &'s mut Self::Borrow<'_>) -> Self::Borrow<'s> {
        WriteBorrow(match &mut borrow.0 {
            WriteSource::Exclusive(store) => WriteSource::Exclusive(store),
            WriteSource::Granted(access) => WriteSource::Granted(access.reborrow()),
        })
    }

    #[inline]
    fn view<'s>(borrow: &'s Self::Borrow<'_>) -> ReadBorrow<'s> {
        match &borrow.0 {
            WriteSource::Exclusive(store) => ReadBorrow::shared(store),
            WriteSource::Granted(access) => ReadBorrow::granted(access.view()),
        }
    }

    #[inline]
    fn begin(borrow: Self::Borrow<'_>) -> StoreBorrow<'_> {
        StoreBorrow::Write(borrow)
    }

    type Held<'w, S: TermSets> = S::Held<'w>;

    #[inline]
    fn hold<'w, S: TermSets>(_: &Self::Borrow<'w>) -> Self::Held<'w, S> {
        S::in_store()
    }

    #[inline]
    fn hold_granted<'a, S: TermSets>(guards: &'a mut S::Guards<'_>) -> S::Held<'a> {
        S::granted(guards)
    }

    #[inline]
    fn reborrow_held<'s, S: TermSets>(held: &'s mut S::Held<'_>) -> S::Held<'s> {
        S::reborrow(held)
    }

    #[inline]
    fn resolve<'w, S: TermSets>(held: S::Held<'w>, store: Option<&mut SetsMut<'w>>) -> S::Held<'w> {
        match store {
            Some(sets) if S::ANY => S::resolve(held, sets),
            _ => held,
        }
    }

    #[inline]
    fn open<S: TermSets>(held: S::Held<'_>, now: Version) -> S::Open<'_> {
        S::open(held, now)
    }

    fn held_blocks<'s, S: TermSets, T: SparseComponent>(
        held: &'s S::Held<'_>,
    ) -> Option<&'s SetBlocks> {
        S::held_blocks::<T>(held)
    }
}

impl<'w> ReadBorrow<'w> {
    #[inline]
    pub(crate) const fn shared(store: &'w Store) -> Self {
        Self { store, access: None }
    }

    #[inline]
    const fn granted(access: ReadAccess<'w>) -> Self {
        Self { store: access.store(), access: Some(access) }
    }

    #[inline]
    pub(crate) const fn store(self) -> &'w Store {
        self.store
    }

    /// The read access, if the store is split.
    #[inline]
    pub(crate) const fn access(self) -> Option<ReadAccess<'w>> {
        self.access
    }

    /// # Panics
    ///
    /// In a system, if its query does not name a column that a filter would watch.
    #[inline]
    pub(super) fn assert_names<S: ColumnarShape>(self) {
        if let Some(access) = self.access {
            S::visit(&mut Watched { access });
        }
    }

    /// The plan of a query.
    ///
    /// # Panics
    ///
    /// If a query of a split world asks for more than its access allows.
    #[inline]
    pub(super) fn plan(self, query: &QueryType) -> &'w Plan {
        if let Some(access) = self.access {
            access.assert_allows(query);
        }
        self.store.plan(query)
    }
}

/// Refuses columns that a filter watches and the query of the system does not name.
struct Watched<'w> {
    access: ReadAccess<'w>,
}

impl ColumnVisitor for Watched<'_> {
    fn visit<C: Component>(&mut self) {
        assert!(
            self.access.names::<C>(),
            "a system that filters by changes of `{name}` must name it, or others could write it \
             at the same time: add a term of it, such as `Option<&{name}>`, or the filter `Changed` or `ChangedLines`",
            name = C::NAME,
        );
    }
}

impl<'w> WriteBorrow<'w> {
    #[inline]
    pub(super) const fn exclusive(store: &'w mut Store) -> Self {
        Self(WriteSource::Exclusive(store))
    }

    #[inline]
    pub(super) const fn granted(access: ColumnAccess<'w>) -> Self {
        Self(WriteSource::Granted(access))
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::filter::{Filter, With, Without};
    use super::super::open_filter::OpenFilter;
    use super::super::query::Query;
    use super::super::query_type::query_type;
    use super::super::terms::Terms;
    use super::*;
    use crate::archetype::Archetypes;
    use crate::entity::Directory;
    use crate::impl_component;
    use crate::storage::SliceRows;
    use crate::store::{AccessRequest, SplitStore};

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Value(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Marker(u8);
    impl_component!(Value, Marker);

    /// Begins a pass of `Q` and `F` with access to `&mut Value` of entities with `Marker`.
    fn begin<Q: Terms, F: Filter>() {
        with_query::<Q, F>(|query| assert_eq!(query.into_iter().count(), 0));
    }

    /// Calls `run` with a query of `Q` and `F` with that access.
    fn with_query<Q: Terms, F: Filter>(run: impl FnOnce(Query<'_, Q, F>)) {
        let mut store = Store::new(Archetypes::default(), Directory::new(1), 1);
        let requested = query_type::<&mut Value, With<Marker>>();
        let request = AccessRequest::new(requested, store.registry_mut());
        let split = SplitStore::new(&mut store, 1);
        let mut guard = split.grant(&request, split.version(0));
        let access = guard.access(requested);
        let since = access.now();
        let borrow = Q::Mode::narrow(WriteBorrow::granted(access));
        let held = Q::Mode::hold::<Q::Sets>(&borrow);
        run(Query::<Q, F>::new(
            borrow,
            held,
            OpenFilter::new(F::newer_than(since)),
            SliceRows::Live,
        ));
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
        with_query::<&mut Value, Without<Marker>>(|query| {
            assert!(query.copies().entities().is_empty())
        });
    }
}
