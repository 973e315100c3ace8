//! Structural changes of all entities that a query matches. `store` makes them, by whole chunks.

use core::fmt;
use core::marker::PhantomData;

use crate::archetype::{Bundle, Change, ColumnBundle, assert_distinct, assert_no_relations};
use crate::component::{AnyComponent, ChunkValue, NameTaken, PerChunk, SharedValue, SparseBundle};
use crate::query::{
    Changed, Filter, ReadBorrow, Terms, Watch, WatchShape, WhereChunk, WhereShared, With, Without,
    assert_no_version, assert_unaliased, assert_version, filter_methods, matches_in, query_type,
};
use crate::storage::LayoutError;
use crate::store::{Matches, PendingBundle, RelationError, Store};
use crate::version::Version;

use super::world::World;

/// # Changes of all entities that a query matches
impl World {
    /// All entities that the terms `Q` match, to be changed together: see [`Matching`].
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types), here or when the change is
    /// made.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Health(1.0)));
    /// world.matching::<&Health>().insert(Frozen)?;
    /// assert_eq!(world.matching::<Entity>().with::<Frozen>().despawn(), 1000);
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    #[inline]
    pub fn matching<Q: Terms>(&mut self) -> Matching<'_, Q> {
        const { assert_unaliased::<Q>() };
        self.flush();
        Matching::new(&mut self.store, ())
    }

    /// [`World::matching`] with filters given as a type. Filters by version pass everything.
    ///
    /// # Errors
    ///
    /// If the world has another type with the name of one of the types in `Q` or `F`.
    pub(crate) fn matching_where<Q: Terms, F: Filter>(
        &mut self,
    ) -> Result<Matching<'_, Q, F>, NameTaken> {
        self.flush();
        self.store.prepare(query_type::<Q, F>())?;
        Ok(Matching::new(&mut self.store, F::newer_than(Version::NEVER)))
    }
}

/// All entities that terms and filters match, to be changed together. Made by [`World::matching`].
///
/// The terms select entities, as in a [`Query`](crate::Query). Filter methods narrow the selection.
/// [`insert`](Matching::insert), [`remove`](Matching::remove), [`despawn`](Matching::despawn),
/// [`retain`](Matching::retain) or [`sort_by_key`](Matching::sort_by_key) changes the selected
/// entities, or another world takes them over: [`World::move_from`]. Only `retain` gives access to
/// slices; the other methods do not stamp `&mut` terms. Filters by version choose the same rows as
/// in any query.
///
/// Rows of chunks that move keep their order. If chunks of several archetypes move to one target,
/// they arrive in the order of the query; a partly filled last chunk of the target stays the last.
/// If an archetype loses only some of its chunks, the chunks at its end fill the gaps.
///
/// It borrows the world exclusively. In a system, record the change instead, with
/// [`CommandBuffer::insert_where`](crate::CommandBuffer::insert_where),
/// [`remove_where`](crate::CommandBuffer::remove_where),
/// [`despawn_where`](crate::CommandBuffer::despawn_where) or
/// [`retain_where`](crate::CommandBuffer::retain_where).
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// let mut world = World::new();
/// world.query::<&Health>().despawn(); // `world.matching::<&Health>().despawn()`
/// ```
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component] struct Frozen;
/// let mut world = World::new();
/// world.query::<&Health>().insert(Frozen);
/// ```
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component] struct Frozen;
/// let mut world = World::new();
/// world.query::<&Health>().remove::<Frozen>();
/// ```
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// fn bury(dead: Query<&Health>) {
///     dead.despawn(); // `commands.despawn_where::<&Health, ()>()`
/// }
/// ```
//
// A type of its own, because a structural change needs an exclusive borrow, and `Query` is one type
// for three borrows (shared, exclusive, and the access of a system). Alternatives:
//
// 1. A parameter for the borrow, `Query<'w, Q, F, B>`: every signature that takes or returns a
//    query names it, and a function for the queries of worlds and systems becomes generic.
// 2. A marker in the filters or terms, `Query<'w, Q, (Exclusive, F)>`: no new parameter, but a
//    system can write the marker in its own signature, and each query has two plans in the cache.
// 3. A wrapper that `query_mut` returns: it must repeat all methods of `Query` and its iterator,
//    since they take the query by value, and functions that take a `Query` refuse it.
// 4. `World::despawn_where::<Q, F>()` like the commands: this needs no type, but a filter type has
//    no version to compare with.
//
// The filters of both are written once, in `query/narrow.rs`. `Query` has methods of the names of
// changes only for their compile errors.
#[must_use = "nothing changes before `insert`, `remove`, `despawn`, `retain`, `sort_by_key` or `move_from`"]
pub struct Matching<'w, Q: Terms, F: Filter = ()> {
    store: &'w mut Store,
    filter: F,
    terms: PhantomData<fn(Q) -> Q>,
}

filter_methods!(Matching);

impl<Q: Terms, F: Filter> fmt::Debug for Matching<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matching")
            .field("terms", &core::any::type_name::<Q>())
            .field("filter", &core::any::type_name::<F>())
            .finish_non_exhaustive()
    }
}

impl<'w, Q: Terms, F: Filter> Matching<'w, Q, F> {
    #[inline]
    pub(super) const fn new(store: &'w mut Store, filter: F) -> Self {
        Self { store, filter, terms: PhantomData }
    }

    /// The borrowed data, for inspection without a change.
    const fn view(&self) -> ReadBorrow<'_> {
        ReadBorrow::shared(self.store)
    }

    #[inline]
    fn narrow<G: Filter>(self, filter: G) -> Matching<'w, Q, (F, G)> {
        let (store, own) = self.into_parts();
        Matching::new(store, (own, filter))
    }

    /// The store, and the filter of its entities.
    pub(super) fn into_parts(self) -> (&'w mut Store, F) {
        (self.store, self.filter)
    }

    /// Inserts the components of `bundle` into every entity that matches, and returns the number of
    /// these entities. Components that an entity already has are overwritten.
    ///
    /// If an archetype gains only tags, its chunks change owner and no component is copied:
    /// O(entities), 20 bytes each for id and location, and O(chunks × columns) for versions.
    /// Otherwise its columns are copied by `memcpy` as well, one run of rows at a time. Added
    /// columns are filled: O(bytes). If an archetype has all the components already, they are only
    /// filled.
    ///
    /// Kept columns keep their versions; added and overwritten ones are stamped.
    ///
    /// [Sparse components](crate::component#sparse-components) are cloned for all entities but the
    /// last before anything changes, and inserted in the order of the query: O(entities). A
    /// relation is not named, since each of its sources may be refused.
    ///
    /// # Errors
    ///
    /// If a row of the resulting components does not fit a chunk. No entity is changed.
    ///
    /// # Panics
    ///
    /// If a clone panics. No entity is changed. If a destructor of a replaced sparse component
    /// panics, all are changed before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Shield(f32);
    /// # #[component] struct Player;
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Health(1.0)));
    /// let unshielded = world.matching::<&Health>().without::<Player>();
    /// let changed = unshielded.insert((Shield(9.0), Player))?;
    /// assert_eq!(changed, 1000);
    /// assert_eq!(world.query::<(&Health, &Shield)>().with::<Player>().count_rows(), 1000);
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    pub fn insert<B: Bundle + Clone>(self, bundle: B) -> Result<usize, LayoutError> {
        const { assert_distinct(B::NAMES) };
        const { assert_no_relations::<B>() };
        match B::Sparse::IS_EMPTY {
            true => self.insert_columns(bundle.split().0),
            false => self.insert_pending(PendingBundle::new(bundle)),
        }
    }

    /// [`Matching::insert`] of a bundle of columns that names each component once.
    pub(crate) fn insert_columns<B: ColumnBundle>(self, bundle: B) -> Result<usize, LayoutError> {
        self.insert_by::<B>(|store, matches, change| store.change_matches(matches, change, bundle))
    }

    /// [`Matching::insert`] of a bundle that names each component once, and no relation.
    pub(crate) fn insert_pending<B: Bundle + Clone>(
        self,
        bundle: PendingBundle<B>,
    ) -> Result<usize, LayoutError> {
        self.insert_by::<B::Columns>(|store, matches, change| {
            store.insert_in_matches(matches, change, bundle)
        })
    }

    /// Inserts the columns of `B` by `insert`, which is never refused.
    fn insert_by<B: ColumnBundle>(
        self,
        insert: impl FnOnce(&mut Store, &Matches, Change) -> usize,
    ) -> Result<usize, LayoutError> {
        let Self { store, filter, .. } = self;
        let mut matches = matches_in::<Q, F>(store, &filter);
        // Entities that are gone accept no component.
        matches.retain(|archetype| !store.archetypes().get(archetype).is_gone());
        let change = Change::Insert(store.bundle_id::<B>());
        for archetype in matches.archetypes() {
            store.ensure_fits(archetype, change)?;
        }
        Ok(insert(store, &matches, change))
    }

    /// Removes the components of `B` from every entity that matches, and returns the number of
    /// entities that had any of them. Components that an entity does not have are skipped;
    /// [`with`](Matching::with) selects entities that have them all.
    ///
    /// Costs the same as [`insert`](Matching::insert): chunks change owner if only tags are
    /// removed, and are copied otherwise. Kept columns keep their versions. Sparse components are
    /// removed and dropped in the order of the query: O(entities). Sources that keep an order leave
    /// together, in O(entities · log(entities) + siblings).
    ///
    /// # Panics
    ///
    /// If a destructor of a sparse component panics. All are removed before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch((0..500).map(|_| (Health(1.0), Frozen)));
    /// world.spawn_batch((0..500).map(|_| Health(1.0)));
    /// assert_eq!(world.matching::<&Health>().remove::<Frozen>(), 500);
    /// assert_eq!(world.query::<&Frozen>().count_rows(), 0);
    /// ```
    pub fn remove<B: Bundle>(self) -> usize {
        const { assert_distinct(B::NAMES) };
        match B::Sparse::IS_EMPTY {
            true => self.remove_columns::<B::Columns>(),
            false => self.remove_distinct::<B>(),
        }
    }

    /// [`Matching::remove`] of a bundle of columns that names each component once.
    pub(crate) fn remove_columns<B: ColumnBundle>(self) -> usize {
        let Self { store, filter, .. } = self;
        let matches = matches_in::<Q, F>(store, &filter);
        let change = Change::RemovePresent(store.bundle_id::<B>());
        store.change_matches(&matches, change, ())
    }

    /// [`Matching::remove`] of a bundle that names each component once.
    pub(crate) fn remove_distinct<B: Bundle>(self) -> usize {
        let Self { store, filter, .. } = self;
        let matches = matches_in::<Q, F>(store, &filter);
        let change = Change::RemovePresent(store.bundle_id::<B::Columns>());
        store.remove_from_matches::<B>(&matches, change)
    }

    /// Despawns every entity that matches, and returns their number. Entities that have [cleanup
    /// components](crate::component#cleanup-components) become [`Gone`](crate::Gone). Entities that
    /// are already gone stay, and are not counted.
    ///
    /// Sources of a [relation](crate::sparse::relation) go as with
    /// [`despawn_batch`](crate::World::despawn_batch): if one of them keeps an entity, all stay,
    /// and the number is 0. [`World::despawn`](crate::World::despawn) of one tells the reason.
    ///
    /// Ids are freed in the order of the query, as by single despawns, and those of sources that
    /// the query does not match after all of these; chunks return to the world's pool. O(entities +
    /// chunks × columns).
    ///
    /// # Panics
    ///
    /// If a destructor of [sparse components](crate::component#sparse-components) panics. All
    /// entities are despawned before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Dead;
    /// let mut world = World::new();
    /// world.spawn_batch((0..500).map(|_| (Health(0.0), Dead)));
    /// world.spawn_batch((0..500).map(|_| Health(1.0)));
    /// assert_eq!(world.matching::<Entity>().with::<Dead>().despawn(), 500);
    /// assert_eq!(world.len(), 500);
    /// ```
    pub fn despawn(self) -> usize {
        self.try_despawn().unwrap_or(0)
    }

    /// [`Matching::despawn`], with the reason why no entity is despawned.
    ///
    /// # Errors
    ///
    /// If a relation refuses the despawn of one.
    pub(crate) fn try_despawn(self) -> Result<usize, RelationError> {
        let Self { store, filter, .. } = self;
        let mut matches = matches_in::<Q, F>(store, &filter);
        matches.retain(|archetype| !store.archetypes().get(archetype).is_gone());
        store.despawn_matches(&matches)
    }
}
