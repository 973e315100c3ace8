//! The description of a query: the columns and chunks that it visits, and the form of its items.

use core::fmt;
use core::marker::PhantomData;

use crate::storage::SliceRows;
use crate::store::{AccessGuard, Store, WatchedSets as _};

use super::chunk::Chunks;
use super::contiguous_chunks::ContiguousChunks;
use super::filter::Filter;
use super::open_filter::{GuardsOf, OpenFilter};
use super::query_iter::{Invariant, QueryIter};
use super::query_type::{is_by_row, query_type};
use super::rows::Rows;
use super::store_borrow::{Mode as _, ReadBorrow, WriteBorrow};
use super::terms::{BorrowOf, HeldOf, ReadTerms, Terms};

/// A query of a world: components of entities, chunk by chunk.
///
/// Made by [`World::query`](crate::World::query) and
/// [`World::query_mut`](crate::World::query_mut), or taken by a system as a parameter. Methods
/// narrow it by filters. It is a description: each `for` loop over it, and each call of a method
/// below, is a pass of its own.
///
/// It passes over entities with [`Disabled`](crate::Disabled), [`Prototype`](crate::Prototype) and
/// other [hidden components](crate::component#hidden-components), unless a term or a filter names
/// these.
///
/// | pass | of a query that writes and is needed again | yields |
/// | --- | --- | --- |
/// | `for … in query`, [`iter`](Query::iter) | `for … in &mut query`, [`iter_mut`](Query::iter_mut) | slices, per chunk |
/// | [`rows`](Query::rows) | [`rows_mut`](Query::rows_mut) | references, per entity |
/// | [`single`](Query::single) | [`single_mut`](Query::single_mut) | the references of the only entity |
/// | [`chunks`](Query::chunks) | [`reborrow`](Query::reborrow) before, as for all without a name here | slices with the chunk's entities, index and versions |
/// | [`contiguous_chunks`](Query::contiguous_chunks) | | slices of several chunks, as long as memory allows |
/// | [`for_each_chunk`](Query::for_each_chunk) | | slices; the body tells whether it modified them |
/// | [`par().for_each_chunk`](crate::chunks::ParChunks::for_each_chunk) | | slices, on several threads |
/// | [`par().chunks`](crate::chunks::ParChunks::chunks) | | the same, as an iterator of rayon |
/// | [`par().record`](crate::chunks::ParChunks::record) | | the same, with a writer of commands |
/// | [`copies`](Query::copies) | the same | one component or the ids, as one array |
/// | | [`scatter`](Query::scatter) | writes such an array back |
///
/// A query that only reads is `Copy` and never used up: a helper takes it as it is or by reference,
/// and "everybody against everybody" is two loops.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Place { x: f32 }
/// fn nearest(x: f32, places: &Query<&Place>) -> f32 {
///     places.rows().map(|place| (place.x - x).abs()).fold(f32::MAX, f32::min)
/// }
///
/// fn crowd(places: Query<(Entity, &Place)>) -> usize {
///     let mut pairs = 0;
///     for (a, one) in places.rows() {
///         for (b, other) in places.rows() {
///             pairs += usize::from(a < b && (one.x - other.x).abs() < 1.5);
///         }
///     }
///     pairs
/// }
/// # let mut world = World::new();
/// world.spawn_batch([1.0, 2.0, 7.0].map(|x| Place { x }));
/// assert_eq!(nearest(5.0, &world.query()), 2.0);
/// assert_eq!(crowd(world.query()), 1);
/// ```
///
/// A helper for queries with any filters is generic:
/// `fn nearest<F: Filter>(x: f32, places: &Query<&Place, F>)`.
///
/// The methods of the first column consume a query that writes (`copies` borrows it), so that their
/// iterators can be returned and their closures may keep slices. The methods of the second column
/// borrow it. A helper that takes `&mut Query<&mut Place>` calls [`reborrow`](Query::reborrow)
/// before a method that consumes, such as a filter: `places.reborrow().with::<Boss>()`. A query
/// that writes has no read-only view; `places.copies().gather::<Place>()` copies one of its
/// components.
///
/// A copy of a query that reads cannot be used while a query that writes is in use. Read a copy of
/// the values, by `gather`, or write another component; a system, or
/// [`World::run`](crate::World::run), takes both queries then.
///
/// ```compile_fail,E0502
/// # use phalanx::prelude::*;
/// # #[component] struct Place { x: f32 }
/// # let mut world = World::new();
/// let places = world.query::<&Place>();
/// for place in world.query_mut::<&mut Place>().rows() {
///     place.x += places.rows().map(|other| other.x).sum::<f32>(); // reads what is written
/// }
/// ```
///
/// Each pass stamps every chunk that it yields as `&mut` with the version of the pass, whether or
/// not the loop writes to it. A read-only pass and a description stamp no chunk.
///
/// A query visits entities and changes none: [`World::matching`](crate::World::matching) inserts,
/// removes and despawns by query, and so do the commands with names that end in `_where`.
///
/// Archetypes come in the order of their creation, chunks and rows in the order of their lists. A
/// pass costs one look-up of the cached plan plus O(terms) per chunk. Where chunks have a few rows
/// each, [`iter().for_each`](Iterator::for_each) takes a tenth less time than a `for` loop: it
/// keeps the cursor in registers.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Position { x: f32 }
/// # #[component] struct Velocity { x: f32 }
/// # #[component] struct Frozen;
/// # let mut world = World::new();
/// world.spawn_batch((0..1000).map(|i| (Position::default(), Velocity { x: i as f32 })));
/// let moving = world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>();
/// for (position, velocity) in moving {
///     for (p, v) in position.iter_mut().zip(velocity) {
///         p.x += v.x;
///     }
/// }
/// let furthest = world.query::<&Position>().rows().map(|p| p.x).fold(0.0, f32::max);
/// assert_eq!(furthest, 999.0);
/// world.query_mut::<&mut Velocity>().iter_mut().for_each(|velocity| velocity[0].x = 0.0);
/// ```
#[must_use = "a query does nothing until it is iterated"]
pub struct Query<'w, Q: Terms, F: Filter = ()> {
    pub(super) borrow: BorrowOf<'w, Q>,
    pub(super) held: HeldOf<'w, Q>,
    pub(super) filter: OpenFilter<'w, F>,
    pub(super) slice_rows: SliceRows,
    /// Invariant in both: the query may touch the components that these types name, and their
    /// subtypes name other components.
    types: Invariant<(Q, F)>,
}

impl<Q: ReadTerms, F: Filter> Clone for Query<'_, Q, F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: ReadTerms, F: Filter> Copy for Query<'_, Q, F> {}

impl<Q: Terms, F: Filter> fmt::Debug for Query<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("terms", &core::any::type_name::<Q>())
            .field("filter", &core::any::type_name::<F>())
            .field("padded", &self.slice_rows.is_padded())
            .finish_non_exhaustive()
    }
}

impl<'w, Q: Terms> Query<'w, Q> {
    #[inline]
    pub(crate) fn exclusive(store: &'w mut Store) -> Self {
        Self::exclusive_where(store, ())
    }
}

impl<'w, Q: ReadTerms> Query<'w, Q> {
    #[inline]
    pub(crate) fn shared(store: &'w Store) -> Self {
        let borrow = ReadBorrow::shared(store);
        Self::new(borrow, Q::Mode::hold::<Q::Sets>(&borrow), OpenFilter::new(()), SliceRows::Live)
    }
}

/// Refuses queries that see only some rows of a chunk.
const fn assert_whole_chunks<Q: Terms, F: Filter>() {
    assert!(
        !is_by_row::<Q, F>(),
        "the slices of a query of enableable or sparse components or of changed lines are runs of \
         rows, which are not padded: iterate over `.masked().padded()`, or, if enable bits do not \
         matter, write `.filter::<IgnoreEnabled>()` before `.padded()`"
    );
}

/// Refuses queries that see only some rows of a chunk and write its value.
const fn assert_one_part<Q: Terms, F: Filter>() {
    assert!(
        !(Q::WRITES_CHUNKS && is_by_row::<Q, F>()),
        "a query of enableable or sparse components or of changed lines visits runs of rows, and \
         writes a value per chunk: iterate over `.masked()`, or, if enable bits do not matter, write \
         `.filter::<IgnoreEnabled>()`"
    );
}

/// # Passes
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    #[inline]
    pub(crate) fn exclusive_where(store: &'w mut Store, filter: F) -> Self {
        let borrow = Q::Mode::narrow(WriteBorrow::exclusive(store));
        let held = Q::Mode::hold::<Q::Sets>(&borrow);
        Self::new(borrow, held, OpenFilter::new(filter), SliceRows::Live)
    }

    /// The query for which access was requested.
    ///
    /// # Panics
    ///
    /// If access was requested for another query.
    pub(crate) fn granted(
        guard: &'w mut AccessGuard<'_>,
        (sets, watched): &'w mut GuardsOf<'_, Q, F>,
        filter: F,
    ) -> Self {
        let borrow = WriteBorrow::granted(guard.access(query_type::<Q, F>()));
        let held = Q::Mode::hold_granted::<Q::Sets>(sets);
        let filter = OpenFilter::granted(filter, watched);
        Self::new(Q::Mode::narrow(borrow), held, filter, SliceRows::Live)
    }

    #[inline]
    pub(super) const fn new(
        borrow: BorrowOf<'w, Q>,
        held: HeldOf<'w, Q>,
        filter: OpenFilter<'w, F>,
        slice_rows: SliceRows,
    ) -> Self {
        Self { borrow, held, filter, slice_rows, types: PhantomData }
    }

    /// The borrowed data, for inspection without a pass.
    #[inline]
    pub(super) fn view(&self) -> ReadBorrow<'_> {
        Q::Mode::view(&self.borrow)
    }

    /// The filter, for inspection without a pass.
    #[inline]
    pub(super) fn viewed_filter(&self) -> OpenFilter<'_, F> {
        let filter = self.filter.shorten().with_held::<Q>(&self.held);
        if F::Sets::ANY { filter.with_shared(Some(self.view())) } else { filter }
    }

    /// Iterates over the chunks of a query that only reads: slices of its columns.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// let query = world.query::<&Health>();
    /// assert_eq!(query.iter().count(), 1, "a hundred rows of four bytes fit one chunk");
    /// assert_eq!(query.iter().flatten().map(|h| h.0).sum::<f32>(), 100.0);
    /// ```
    #[inline]
    pub fn iter(&self) -> QueryIter<'w, Q, F>
    where
        Q: ReadTerms,
    {
        (*self).into_iter()
    }

    /// Iterates over the chunks: slices of the query's columns, writable for `&mut` terms.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// world.query_mut::<&mut Health>().iter_mut().flatten().for_each(|h| h.0 = 2.0);
    /// assert!(world.query::<&Health>().rows().all(|h| h.0 == 2.0));
    /// ```
    #[inline]
    pub fn iter_mut(&mut self) -> QueryIter<'_, Q, F> {
        self.reborrow().into_iter()
    }

    /// Iterates over the entities: references instead of slices.
    ///
    /// The convenient form for logic that branches per entity. Loops over slices vectorise; this
    /// one mostly does not. Padding is not visited.
    ///
    /// `for_each`, `sum` and the like are faster than `for`, which is for `break` and `?`: it has
    /// its place in memory. Over 90,000 rows of three components a copy of one of them took 1.2 ns
    /// a row by `for_each` and 1.9 by `for` (Zen 4, release build).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0), Health(0.0)]);
    /// let dead: Vec<_> = world
    ///     .query::<(Entity, &Health)>()
    ///     .rows()
    ///     .filter(|(_, health)| health.0 <= 0.0)
    ///     .map(|(entity, _)| entity)
    ///     .collect();
    /// assert_eq!(dead.len(), 1);
    /// ```
    #[inline]
    #[rustfmt::skip] // The compiler shows the line where a query that writes is used twice.
    pub fn rows(self /* of a query that writes: `rows_mut` does not */) -> Rows<'w, Q, F> {
        Rows::new(QueryIter::with_directory(self.borrow, self.held, self.filter, SliceRows::Live))
    }

    /// [`rows`](Query::rows) of a query that is needed again afterwards.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// fn normalize(mut query: Query<&mut Health>) {
    ///     let most = query.rows_mut().map(|h| h.0).fold(0.0, f32::max);
    ///     query.rows_mut().for_each(|h| h.0 /= most);
    /// }
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0), Health(4.0)]);
    /// normalize(world.query_mut());
    /// assert_eq!(world.query::<&Health>().rows().next().unwrap().0, 0.25);
    /// ```
    #[inline]
    pub fn rows_mut(&mut self) -> Rows<'_, Q, F> {
        self.reborrow().rows()
    }

    /// Iterates over the chunks with their entities, indices and versions.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// let chunk = world.query::<&Health>().chunks().next().unwrap();
    /// assert_eq!((chunk.index(), chunk.first_row(), chunk.len()), (0, 0, 100));
    /// assert_eq!(chunk.version::<Health>(), Some(world.version()));
    /// ```
    #[inline]
    #[rustfmt::skip] // As for `rows`.
    pub fn chunks(self /* of a query that writes: `reborrow` it before */) -> Chunks<'w, Q, F> {
        Chunks::new(self.into_iter())
    }

    /// Iterates over slices as long as memory allows: chunks that follow each other in an extent
    /// are one slice, of up to 64 chunks of one archetype (see
    /// [`WorldBuilder::extent_chunks_max`](crate::WorldBuilder::extent_chunks_max)). For uploads,
    /// exports, and kernels that gain from length. Several kernels in a row should go chunk by
    /// chunk instead, so that they find their data in the cache.
    /// [`World::reserve`](crate::World::reserve) before rows are spawned gives the longest slices.
    ///
    /// Stamps each chunk of a slice. After [`padded`](Query::padded) the last slice of an archetype
    /// has padding. Filters by version select single chunks, and each is a slice of its own: to
    /// upload changed chunks to their places, use [`chunks`](Query::chunks), which have an index.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.reserve::<Health>(1_000_000)?;
    /// world.spawn_batch((0..1_000_000).map(|i| Health(i as f32)));
    /// let longest = world.query::<&Health>().contiguous_chunks().map(|health| health.len()).max();
    /// assert_eq!(longest, Some(64 * 4096));
    /// # Ok::<(), phalanx::error::SpawnError>(())
    /// ```
    #[inline]
    pub fn contiguous_chunks(self) -> ContiguousChunks<'w, Q, F> {
        ContiguousChunks::new(self.into_iter())
    }

    /// The number of rows that match. Stamps no chunk. O(archetypes that match), or O(chunks) with
    /// filters that choose chunks, or O(rows / 64) with enable bits, which are counted by words.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// assert_eq!(world.query::<&Health>().count_rows(), 100);
    /// ```
    #[must_use]
    pub fn count_rows(&self) -> usize {
        if F::BY_CHUNK || is_by_row::<Q, F>() {
            return self.count_by_chunk();
        }
        let view = self.view();
        let archetypes = view.store().archetypes().as_slice();
        let labels = view.plan(query_type::<Q, F>()).column_map().labels();
        labels.map(|number| archetypes[number as usize].len()).sum()
    }

    /// Whether no row matches. Stamps no chunk. Costs as much as [`count_rows`](Query::count_rows).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// assert!(world.query::<&Health>().is_empty());
    /// world.spawn(Health(1.0));
    /// assert!(!world.query::<&Health>().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count_rows() == 0
    }

    /// The same query, for as long as this borrow of it lasts: for a method that takes the query by
    /// value, or a filter, of a query that writes and is needed again afterwards.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Poisoned;
    /// fn suffer(mut living: Query<&mut Health>) {
    ///     living.reborrow().with::<Poisoned>().rows().for_each(|health| health.0 -= 1.0);
    ///     let halve = |health: &mut [Health]| health.iter_mut().for_each(|h| h.0 *= 0.5);
    ///     living.reborrow().par().for_each_chunk(halve);
    ///     assert_eq!(living.count_rows(), 2);
    /// }
    /// # let mut world = World::new();
    /// world.spawn((Health(5.0), Poisoned));
    /// world.spawn(Health(4.0));
    /// suffer(world.query_mut());
    /// assert!(world.query::<&Health>().rows().all(|health| health.0 == 2.0));
    /// ```
    #[inline]
    pub fn reborrow(&mut self) -> Query<'_, Q, F> {
        let borrow = Q::Mode::reborrow(&mut self.borrow);
        let held = Q::Mode::reborrow_held::<Q::Sets>(&mut self.held);
        Query::new(borrow, held, self.filter.shorten(), self.slice_rows)
    }

    /// Rounds the slices up to whole vectors of [`VECTOR_ROWS`](crate::VECTOR_ROWS) rows.
    ///
    /// The rows past the last live one are padding: initialised, without meaning, and free to be
    /// overwritten, so a kernel needs no remainder loop. They are not entities: exclude them from
    /// sums and minima. The slice of an `Entity` term has the live rows only, and so does `rows`.
    /// Where fewer than 16 rows fit a chunk, slices end at its capacity.
    ///
    /// A query of enableable components does not compile: its slices may be any run of rows. Use
    /// [`masked`](Query::masked), or the filter [`IgnoreEnabled`](crate::IgnoreEnabled) before.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..20).map(|_| Health(1.0)));
    /// let lens: Vec<_> = world.query::<&Health>().padded().iter().map(|h| h.len()).collect();
    /// assert_eq!(lens, [32]);
    /// ```
    ///
    /// The compiler does not know the length. In archetypes of a few rows, the choice between its
    /// loops (wide and unrolled, wide, row by row) costs more than the rows do. Vectors leave no
    /// choice: with this kernel 26 archetypes of 20 floats took 0.21 ns a row instead of 0.25, and
    /// large ones as long as before (Zen 4). Arrays of `as_chunks_mut::<VECTOR_ROWS>()` took 0.20,
    /// but at AVX-512 LLVM makes gathers of 128 and more rows of them: 0.79 ns instead of 0.04.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// use phalanx::simd::vectors::F32x16;
    ///
    /// #[kernel]
    /// fn heal(health: &mut [F32x16]) {
    ///     health.iter_mut().for_each(|h| *h += 1.0);
    /// }
    ///
    /// # let mut world = World::new();
    /// # world.spawn_batch((0..20).map(|_| Health(1.0)));
    /// for health in world.query_mut::<&mut Health>().padded() {
    ///     heal(lanes_mut(health)); // panics in chunks with room for less than 16
    /// }
    /// # assert!(world.query::<&Health>().rows().all(|h| h.0 == 2.0));
    /// ```
    #[inline]
    pub const fn padded(mut self) -> Self {
        const { assert_whole_chunks::<Q, F>() };
        self.slice_rows = SliceRows::Padded;
        self
    }
}

impl<'w, Q: Terms, F: Filter> IntoIterator for Query<'w, Q, F> {
    type Item = Q::Slices<'w>;
    type IntoIter = QueryIter<'w, Q, F>;

    #[inline]
    fn into_iter(self) -> QueryIter<'w, Q, F> {
        const { assert_one_part::<Q, F>() };
        QueryIter::new(self.borrow, self.held, self.filter, self.slice_rows)
    }
}

impl<'w, Q: ReadTerms, F: Filter> IntoIterator for &Query<'w, Q, F> {
    type Item = Q::Slices<'w>;
    type IntoIter = QueryIter<'w, Q, F>;

    #[inline]
    fn into_iter(self) -> QueryIter<'w, Q, F> {
        self.iter()
    }
}

impl<'q, Q: Terms, F: Filter> IntoIterator for &'q mut Query<'_, Q, F> {
    type Item = Q::Slices<'q>;
    type IntoIter = QueryIter<'q, Q, F>;

    #[inline]
    fn into_iter(self) -> QueryIter<'q, Q, F> {
        self.iter_mut()
    }
}
