//! An index by value: the entities of a query with a component that equals a value.
//!
//! The index is a value of the program, and no attribute of the component. So a component costs the
//! same with and without one, no change has to tell it anything, a component may have several (of
//! queries with other filters), and a search takes `&self`: it needs no lock of the world, also
//! while several systems search at once.

use core::fmt;
use core::hash::{BuildHasher as _, Hash};
use core::marker::PhantomData;

use rustc_hash::FxBuildHasher;

use crate::archetype::Archetype;
use crate::component::Component;
use crate::entity::Entity;

use super::filter::Filter;
use super::gather::assert_given;
use super::hash_chains::HashChains;
use super::list_caches::{ChunkCells, FreshLists, ListCaches, archetypes};
use super::matched_chunks::masks;
use super::query::Query;
use super::query_type::{is_by_row, query_type};
use super::terms::ReadTerms;

/// An index of the entities by the value of a component `C` that is `Eq` and `Hash`: a team, a cell
/// of a grid, an owner.
///
/// Made and kept by the program, for the components that it searches; a resource if systems share
/// it. It needs no update: [`find`](ValueIndex::find) compares the versions of the chunks, and
/// reads the values of chunks again that changed, gained or lost rows since the last call. So the
/// result is exact after any change, a [restore](crate::World::restore) included. Several threads
/// may call it at once, but `Eq`, `Hash` and filters must not. One index may serve several worlds;
/// what it knows of a world that is dropped stays until [`clear`](ValueIndex::clear).
///
/// | entities by value | a change of value | a search |
/// | --- | --- | --- |
/// | a loop over the column | a write | O(entities) |
/// | `ValueIndex` | a write; the next search reads its chunk | O(chunks + matches · log(matches) + rows of chunks that changed) |
/// | a [shared value](crate::shared::Shared) | moves the entity to other chunks | O(archetypes of the value), by `where_shared` |
///
/// Shared values suit values that many entities have and that seldom change, since each has its own
/// chunks; an index suits values that most entities have for themselves. It takes 20 to 40 bytes a
/// row, of the greatest number of rows that the archetype had. A [flip](crate::World::flip) or the
/// restore of a state that was read makes the next search read all values of its archetypes.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::rows::ValueIndex;
///
/// #[component]
/// #[derive(PartialEq, Eq, Hash)]
/// struct Team(u32);
/// # #[component] struct Health(f32);
///
/// fn heal(index: Res<ValueIndex<Team>>, teams: Query<&Team>, mut healths: Query<&mut Health>) {
///     let mut healths = healths.lookup_mut();
///     for entity in index.find(&teams, &Team(3)) {
///         if let Ok(health) = healths.get_mut(entity) {
///             health.0 += 1.0;
///         }
///     }
/// }
/// # let mut world = World::new();
/// world.spawn_batch((0..1000).map(|i| (Team(i % 100), Health(1.0))));
/// world.insert_resource(ValueIndex::<Team>::new());
/// let mut schedule = Schedule::new();
/// schedule.add(heal);
/// schedule.run(&mut world)?;
/// assert_eq!(world.query::<&Health>().rows().filter(|health| health.0 == 2.0).count(), 10);
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
///
/// As for [`HashCache`](crate::HashCache), a write by a body that returns
/// [`Modified::No`](crate::Modified::No) is missed.
pub struct ValueIndex<C> {
    lists: ListCaches<HashChains>,
    /// Invariant, as all that is generic in a component.
    component: PhantomData<fn(C) -> C>,
}

impl<C> Default for ValueIndex<C> {
    fn default() -> Self {
        Self { lists: ListCaches::default(), component: PhantomData }
    }
}

impl<C> fmt::Debug for ValueIndex<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueIndex").finish_non_exhaustive()
    }
}

impl<C: Component + Eq + Hash> ValueIndex<C> {
    /// An empty index: the first search reads all values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ValueIndex;
    /// # #[component] #[derive(PartialEq, Eq, Hash)] struct Team(u32);
    /// let world = World::new();
    /// assert!(ValueIndex::<Team>::new().find(&world.query::<&Team>(), &Team(3)).is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The entities that the query matches and in which `C` equals `value`, in the order of the
    /// query. All its filters apply. Stamps no chunk.
    ///
    /// `&C` must be a term, so that no system writes the values at the same time. The query must
    /// only read: all passes of one run of a system write with one version.
    ///
    /// O(chunks + matches · log(matches)), and O(rows) in chunks that changed since the last call.
    ///
    /// # Panics
    ///
    /// If `Eq` or `Hash` of `C` panics. The index stays usable.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ValueIndex;
    /// # #[component] #[derive(PartialEq, Eq, Hash)] struct Team(u32);
    /// # #[component] struct Fled;
    /// # let mut world = World::new();
    /// let all = world.spawn_batch((0..1000).map(|i| Team(i % 100))).to_vec();
    /// let index = ValueIndex::new();
    /// assert_eq!(index.find(&world.query::<&Team>(), &Team(3)).len(), 10);
    /// world.get_mut::<Team>(all[3])?.0 = 4;
    /// world.insert(all[103], Fled)?;
    /// assert_eq!(index.find(&world.query::<&Team>(), &Team(3)).len(), 9);
    /// let standing = world.query::<&Team>().without::<Fled>();
    /// assert_eq!(index.find(&standing, &Team(3)).len(), 8);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ValueIndex;
    /// # #[component] #[derive(PartialEq, Eq, Hash)] struct Team(u32);
    /// # let world = World::new();
    /// ValueIndex::new().find(&world.query::<Entity>(), &Team(3)); // of which values? `&Team`
    /// ```
    #[must_use]
    pub fn find<Q: ReadTerms, F: Filter>(&self, query: &Query<'_, Q, F>, value: &C) -> Vec<Entity> {
        const { assert_given::<Q, C>() };
        self.lists.with(query, read_hashes::<C>, |lists| search(lists, query, value))
    }

    /// Forgets all values and gives back the memory. The next search reads them again.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ValueIndex;
    /// # #[component] #[derive(PartialEq, Eq, Hash)] struct Team(u32);
    /// # let mut world = World::new();
    /// world.spawn(Team(3));
    /// let mut index = ValueIndex::new();
    /// assert_eq!(index.find(&world.query::<&Team>(), &Team(3)).len(), 1);
    /// assert!(index.memory_bytes() > 0);
    /// index.clear();
    /// assert_eq!(index.memory_bytes(), 0);
    /// assert_eq!(index.find(&world.query::<&Team>(), &Team(3)).len(), 1);
    /// ```
    pub fn clear(&mut self) {
        self.lists.clear();
    }

    /// The bytes that the index has allocated, for all worlds. O(chunk lists of all worlds).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ValueIndex;
    /// # #[component] #[derive(PartialEq, Eq, Hash)] struct Team(u32);
    /// assert_eq!(ValueIndex::<Team>::new().memory_bytes(), 0);
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.lists.memory_bytes(HashChains::bytes)
    }
}

/// The matches with a value.
fn search<C: Component + Eq + Hash, Q: ReadTerms, F: Filter>(
    lists: &FreshLists<'_, HashChains, C>,
    query: &Query<'_, Q, F>,
    value: &C,
) -> Vec<Entity> {
    let hash = hash_of(value);
    let mut found = Vec::new();
    for (entry, _, archetype) in archetypes(query) {
        let capacity = archetype.list().capacity();
        let equals = |&row: &u32| {
            let (chunk, row) = (row / capacity, row % capacity);
            lists.cells(archetype, chunk)[row as usize] == *value
        };
        let mut rows: Vec<u32> = lists.of(archetype).of(hash).filter(equals).collect();
        rows.sort_unstable();
        if F::BY_CHUNK || is_by_row::<Q, F>() {
            rows = seen_rows(query, entry, archetype, &rows);
        }
        let entities = archetype.entities();
        found.extend(rows.into_iter().map(|row| entities[row as usize]));
    }
    found
}

/// Puts the rows of a chunk into the chains of their hashes, each numbered as if all chunks were
/// full.
fn read_hashes<C: Component + Hash>(chains: &mut HashChains, read: ChunkCells<'_, C>) {
    let ChunkCells { first, cells, rows_before, .. } = read;
    chains.grow(first + cells.len());
    for (row, value) in cells.iter().enumerate() {
        chains.set(first + row, hash_of(value));
    }
    (cells.len()..rows_before).for_each(|row| chains.remove(first + row));
}

/// Those of some ascending rows of an archetype that the query sees.
fn seen_rows<Q: ReadTerms, F: Filter>(
    query: &Query<'_, Q, F>,
    entry: usize,
    archetype: &Archetype,
    rows: &[u32],
) -> Vec<u32> {
    let plan = query.view().plan(query_type::<Q, F>());
    let capacity = archetype.list().capacity();
    let mut seen = Vec::new();
    for mask in masks::<Q, F>(plan, entry, archetype, query.viewed_filter()) {
        let start = mask.chunk() * capacity;
        let first = rows.partition_point(|&row| row < start);
        let in_chunk = rows[first..].iter().take_while(|&&row| row - start < mask.rows());
        seen.extend(in_chunk.filter(|&&row| mask.contains(row - start)));
    }
    seen
}

#[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
fn hash_of<C: Hash>(value: &C) -> u32 {
    FxBuildHasher.hash_one(value) as u32
}
