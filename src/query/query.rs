//! The query as its user holds it: filters as methods, an iterator of slices.

use core::fmt;
use core::marker::PhantomData;

use crate::component::Component;
use crate::version::Version;

use super::chunk::Chunks;
use super::cursor::{ChunkCursor, SliceRows, Slices};
use super::filter::{Added, AnyOf, Changed, ComponentTuple, Filter, Watch, With, Without};
use super::rows::Rows;
use super::source::{STARTED, Source, StoreBorrow};
use super::terms::Terms;

/// Of a type that is invariant in `T`, and has none.
type Invariant<T> = PhantomData<fn(T) -> T>;

/// A query of a world: an iterator of slices of columns, one turn a chunk.
///
/// Made by [`World::query`](crate::World::query) and
/// [`World::query_mut`](crate::World::query_mut). It is lazy: until the first turn, methods narrow
/// it. Each turn cuts the next chunk's columns; each `&mut` column handed out is stamped with the
/// version of this query, whatever is then done with it. (To leave the version alone where nothing
/// was changed, use [`for_each_chunk`](Query::for_each_chunk).)
///
/// It is an iterator of chunks: `count` counts chunks, `skip` skips chunks, and a pass uses it up, also
/// through `&mut query`. Entities are counted by [`rows_len`](Query::rows_len) and visited one by one
/// by [`rows`](Query::rows); another pass begins with [`again`](Query::again).
///
/// It visits entities and changes none: [`World::matching`](crate::World::matching) inserts,
/// removes and despawns by query, and so do the commands that end in `_where`.
///
/// ArchetypeSource come in the order of their creation, chunks and rows in the order of their lists.
/// Starting costs one look-up of the plan; a turn costs O(terms). Where chunks have a few rows each,
/// `for_each` saves a `for` loop a tenth: it keeps the walk in registers.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Default, Pod, Zeroable)] #[repr(C)] struct Position { x: f32 }
/// # #[derive(Clone, Copy, Default, Pod, Zeroable)] #[repr(C)] struct Velocity { x: f32 }
/// # #[derive(Clone, Copy, Default, Pod, Zeroable)] #[repr(C)] struct Frozen;
/// # component!(Position, Velocity, Frozen);
/// # let mut world = World::new();
/// world.spawn_batch((0..1000).map(|i| (Position::default(), Velocity { x: i as f32 })));
/// for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>() {
///     for (p, v) in position.iter_mut().zip(velocity) {
///         p.x += v.x;
///     }
/// }
/// let furthest = world.query::<&Position>().flatten().map(|p| p.x).fold(0.0, f32::max);
/// assert_eq!(furthest, 999.0);
/// ```
#[must_use = "a query is lazy: iterate over it"]
pub struct Query<'w, Q: Terms, F: Filter = ()> {
    walk: ChunkCursor<'w>,
    filter: F,
    padded: bool,
    /// Invariant in both: the query may touch what these types name, and their subtypes name
    /// other components.
    types: Invariant<(Q, F)>,
}

impl<Q: Terms, F: Filter> fmt::Debug for Query<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("terms", &core::any::type_name::<Q>())
            .field("filter", &core::any::type_name::<F>())
            .field("padded", &self.padded)
            .field("started", &self.walk.borrowed().is_none())
            .finish()
    }
}

impl<'w, Q: Terms> Query<'w, Q> {
    #[inline]
    pub(super) fn shared(source: &'w Source, filter: ()) -> Self {
        Self::new(StoreBorrow::Shared(source), filter, false)
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    #[inline]
    pub(super) fn new(borrowed: StoreBorrow<'w>, filter: F, padded: bool) -> Self {
        Self { walk: ChunkCursor::waiting(borrowed), filter, padded, types: PhantomData }
    }

    #[inline]
    fn narrow<G: Filter>(mut self, filter: G) -> Query<'w, Q, (F, G)> {
        match self.walk.borrowed_mut() {
            Some(borrowed) => Query::new(borrowed.take(), (self.filter, filter), self.padded),
            None => panic!("a query is narrowed before its first turn"),
        }
    }

    /// Only entities that have `C`. Decided per archetype: free in the loop.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Player;
    /// # component!(Health, Player);
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Player));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.query::<&Health>().with::<Player>().rows().count(), 1);
    /// ```
    #[inline]
    pub fn with<C: Component>(self) -> Query<'w, Q, (F, With<C>)> {
        self.narrow(With::NEW)
    }

    /// Only entities that lack `C`. Decided per archetype: free in the loop.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Invincible;
    /// # component!(Health, Invincible);
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Invincible));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.query::<&Health>().without::<Invincible>().rows().count(), 1);
    /// ```
    #[inline]
    pub fn without<C: Component>(self) -> Query<'w, Q, (F, Without<C>)> {
        self.narrow(Without::NEW)
    }

    /// Only entities that have at least one component of the tuple `T`. Nobody is visited twice.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Rotation(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Scale(f32);
    /// # component!(Rotation, Scale);
    /// # let mut world = World::new();
    /// world.spawn((Rotation(0.0), Scale(1.0)));
    /// world.spawn(Scale(2.0));
    /// world.spawn(());
    /// assert_eq!(world.query::<Entity>().any_of::<(Rotation, Scale)>().rows().count(), 2);
    /// ```
    #[inline]
    pub fn any_of<T: ComponentTuple + 'static>(self) -> Query<'w, Q, (F, AnyOf<T>)> {
        self.narrow(AnyOf::NEW)
    }

    /// Only chunks whose column `C` was written after `since`: handed out as `&mut`, spawned, or
    /// inserted. A row that merely moves brings its old stamp along.
    ///
    /// A query of several terms says which: `.changed_since::<Position>(version)`. In a query of one
    /// component it is that one and need not be named (see [`Watch`]). Costs one comparison an archetype, then one a chunk, over a dense array.
    ///
    /// # Panics
    ///
    /// If the query has started; in a system, if neither its terms nor its filters name `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Velocity(f32);
    /// # component!(Position, Velocity);
    /// # let mut world = World::new();
    /// let entity = world.spawn((Position(0.0), Velocity(1.0)));
    /// let before = world.version();
    /// assert_eq!(world.query::<&Position>().changed_since(before).count(), 0);
    /// world.get_mut::<Velocity>(entity)?.0 = 2.0;
    /// assert_eq!(world.query::<&Position>().changed_since(before).count(), 0);
    /// let both = world.query::<(&Position, &Velocity)>();
    /// assert_eq!(both.changed_since::<Velocity>(before).count(), 1);
    /// # Ok::<(), phalanx::ComponentError>(())
    /// ```
    #[inline]
    pub fn changed_since<C: Component>(self, since: Version) -> Query<'w, Q, (F, Changed<C>)>
    where
        Q: Watch<C>,
    {
        if let Some(StoreBorrow::Leased(access)) = self.walk.borrowed() {
            assert!(
                access.names::<C>(),
                "a system that looks at changes of `{name}` names it, else others write it at the \
                 same time: add the term `Option<&{name}>` or the filter `Changed<{name}>`",
                name = C::NAME,
            );
        }
        self.narrow(Changed::since(since))
    }

    /// Only chunks in which rows arrived after `since`: spawned there, or moved there from another
    /// archetype.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
    /// # component!(Position);
    /// # let mut world = World::new();
    /// let before = world.version();
    /// assert_eq!(world.query::<&Position>().added_since(before).count(), 0);
    /// world.spawn(Position(0.0));
    /// assert_eq!(world.query::<&Position>().added_since(before).count(), 1);
    /// ```
    #[inline]
    pub fn added_since(self, since: Version) -> Query<'w, Q, (F, Added)> {
        self.narrow(Added::since(since))
    }

    /// Rounds the slices up to whole vectors of [`VECTOR_ROWS`](crate::VECTOR_ROWS) rows.
    ///
    /// The rows past the last live one are padding: initialised, of no meaning, and free to be
    /// overwritten, so a kernel needs no remainder loop. They are not entities: leave them out of
    /// sums and minima (the slice of an `Entity` term has the live rows only, and so has `rows`).
    /// Where not even 16 rows fit a chunk, slices end at its capacity.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..20).map(|_| Health(1.0)));
    /// let lens: Vec<_> = world.query::<&Health>().padded().map(|h| h.len()).collect();
    /// assert_eq!(lens, [32]);
    /// ```
    ///
    /// The compiler cannot know that. In archetypes of a few rows the choice between its loops (wide
    /// and unrolled, wide, row by row) costs more than the rows do; arrays leave no choice. With this
    /// kernel 26 archetypes of 20 floats took 1.1 times the flat loop instead of 1.45, and 4,096 of five
    /// 1.85 instead of 2.6:
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// kernel! {
    ///     fn heal(health: &mut [Health]) {
    ///         let (vectors, rest) = health.as_chunks_mut::<VECTOR_ROWS>();
    ///         for vector in vectors {
    ///             vector.iter_mut().for_each(|h| h.0 += 1.0);
    ///         }
    ///         rest.iter_mut().for_each(|h| h.0 += 1.0); // of chunks with room for less than 16
    ///     }
    /// }
    ///
    /// # let mut world = World::new();
    /// # world.spawn_batch((0..20).map(|_| Health(1.0)));
    /// world.query_mut::<&mut Health>().padded().for_each(heal);
    /// # assert!(world.query::<&Health>().flatten().all(|h| h.0 == 2.0));
    /// ```
    #[inline]
    pub fn padded(mut self) -> Self {
        self.set_padded(true);
        self
    }

    /// Also of a query under way: what is ahead was cut either way.
    #[inline]
    const fn set_padded(&mut self, padded: bool) {
        self.padded = padded;
        self.walk.set_padded(padded);
    }

    /// The same query once more, for as long as this borrow of it lasts: a query that a system was
    /// given is its only way to the world, and each pass takes one.
    ///
    /// # Panics
    ///
    /// If the query has started.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0), Health(4.0)]);
    /// let mut query = world.query_mut::<&mut Health>();
    /// let most = query.again().flatten().map(|h| h.0).fold(0.0, f32::max);
    /// query.flatten().for_each(|h| h.0 /= most);
    /// assert_eq!(world.query::<&Health>().flatten().next().unwrap().0, 0.25);
    /// ```
    #[inline]
    #[track_caller]
    pub fn again(&mut self) -> Query<'_, Q, F> {
        let borrowed = self.walk.borrowed_mut().expect(STARTED);
        Query::new(borrowed.again(), self.filter, self.padded)
    }

    /// Entity by entity instead of chunk by chunk: references instead of slices.
    ///
    /// The convenient form for logic that branches per entity. Loops over slices vectorise, this
    /// one mostly does not.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
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
    pub fn rows(mut self) -> Rows<'w, Q, F> {
        // Padding is no entity.
        self.set_padded(false);
        Rows::new(self)
    }

    /// The low-level door: chunks with their entities, their place and their versions.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// let chunk = world.query::<&Health>().chunks().next().unwrap();
    /// assert_eq!((chunk.index(), chunk.first_row(), chunk.len()), (0, 0, 100));
    /// assert_eq!(chunk.version::<Health>(), Some(world.version()));
    /// ```
    #[inline]
    pub fn chunks(self) -> Chunks<'w, Q, F> {
        Chunks::new(self)
    }

    /// How many rows the query matches, without starting it or stamping anything: O(archetypes that
    /// match), or O(chunks) with filters by version.
    ///
    /// # Panics
    ///
    /// If the query has started: take it [`again`](Query::again).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// assert_eq!(world.query::<&Health>().rows_len(), 100);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn rows_len(&self) -> usize {
        if F::BY_CHUNK {
            let (source, matches) = self.matches();
            return matches
                .iter()
                .map(|m| source.archetypes.get(m.archetype).rows_of(&m.chunks))
                .sum();
        }
        self.waiting().expect(STARTED).0.rows::<Q, F>()
    }

    /// What the query was made of, if it has not started.
    pub(super) const fn waiting(&self) -> Option<(&StoreBorrow<'w>, &F, bool)> {
        match self.walk.borrowed() {
            Some(borrowed) => Some((borrowed, &self.filter, self.padded)),
            None => None,
        }
    }

    /// The walk, which starts now if it has not started.
    #[inline]
    pub(super) fn walk(&mut self) -> (&mut ChunkCursor<'w>, &F, bool) {
        self.walk.start::<Q, F>(self.padded);
        (&mut self.walk, &self.filter, self.padded)
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// The next chunk's rows.
    #[inline]
    pub(super) fn next_rows(&mut self) -> Option<Q::Rows<'w>> {
        self.walk.next::<Q, F, SliceRows<Q>>(&self.filter, self.padded)
    }

    /// All chunks' rows that are left.
    #[inline]
    pub(super) fn fold_rows<B>(&mut self, init: B, f: impl FnMut(B, Q::Rows<'w>) -> B) -> B {
        self.walk.fold::<Q, F, SliceRows<Q>, B>(&self.filter, self.padded, init, f)
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Query<'w, Q, F> {
    type Item = Q::Slices<'w>;

    #[inline]
    fn next(&mut self) -> Option<Q::Slices<'w>> {
        self.walk.next::<Q, F, Slices<Q>>(&self.filter, self.padded)
    }

    // `for_each`, `sum` and the like keep the walk in registers.
    #[inline]
    fn fold<B, G: FnMut(B, Self::Item) -> B>(mut self, init: B, f: G) -> B {
        self.walk.fold::<Q, F, Slices<Q>, B>(&self.filter, self.padded, init, f)
    }
}
