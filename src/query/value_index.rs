//! An index by value: the entities of a query with a component that equals a value.

use core::fmt;
use core::hash::{BuildHasher as _, Hash};
use core::marker::PhantomData;

use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::archetype::{Archetype, LogId};
use crate::component::{Component, ComponentId};
use crate::entity::Entity;
use crate::storage::StampKind;
use crate::version::Version;

use super::filter::Filter;
use super::gather::assert_given;
use super::hash_chains::HashChains;
use super::matched_chunks::{entries, masks};
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
    lists: RwLock<Lists>,
    /// Invariant, as all that is generic in a component.
    component: PhantomData<fn(C) -> C>,
}

/// The index of each chunk list by its key, which is unique among all worlds.
type Lists = FxHashMap<u64, ListIndex>;

impl<C> Default for ValueIndex<C> {
    fn default() -> Self {
        Self { lists: RwLock::default(), component: PhantomData }
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
        let id = query.view().store().registry().id::<C>();
        let is_fresh = |lists: &Lists| {
            archetypes(query).all(|(_, archetype)| {
                let list = lists.get(&archetype.list().key());
                list.is_some_and(|list| list.is_fresh(archetype, column(archetype, id)))
            })
        };
        if let Ok(lists) = self.lists.read()
            && is_fresh(&lists)
        {
            return self.search(&lists, query, id, value);
        }
        let mut lists = self.lists.write().unwrap_or_else(|poisoned| {
            // A panic of `Eq` or `Hash` has left some lists half refreshed.
            let mut lists = PoisonError::into_inner(poisoned);
            lists.clear();
            self.lists.clear_poison();
            lists
        });
        let all = query.view().store().archetypes();
        let world = all.change_log().id();
        if archetypes(query).any(|(_, archetype)| !lists.contains_key(&archetype.list().key())) {
            // A list that got a new key, or is no more, does not come back.
            let keys: FxHashSet<_> = all.as_slice().iter().map(|one| one.list().key()).collect();
            lists.retain(|key, list| list.world != Some(world) || keys.contains(key));
        }
        for (_, archetype) in archetypes(query) {
            let list = lists.entry(archetype.list().key()).or_default();
            list.world = Some(world);
            list.refresh::<C>(archetype, column(archetype, id));
        }
        self.search(&lists, query, id, value)
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
        self.lists = RwLock::default();
    }

    /// The bytes that the index has allocated, for all worlds.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ValueIndex;
    /// # #[component] #[derive(PartialEq, Eq, Hash)] struct Team(u32);
    /// assert_eq!(ValueIndex::<Team>::new().memory_bytes(), 0);
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let entries = lists.capacity() * size_of::<(u64, ListIndex)>();
        entries + lists.values().map(ListIndex::bytes).sum::<usize>()
    }

    /// The matches with a value, in lists that are fresh.
    fn search<Q: ReadTerms, F: Filter>(
        &self,
        lists: &Lists,
        query: &Query<'_, Q, F>,
        id: ComponentId,
        value: &C,
    ) -> Vec<Entity> {
        let hash = hash_of(value);
        let mut found = Vec::new();
        for (entry, archetype) in archetypes(query) {
            let (list, column) = (archetype.list(), column(archetype, id));
            let equals = |&row: &u32| {
                let (chunk, row) = (row / list.capacity(), row % list.capacity());
                list.cells::<C>(column, chunk)[row as usize] == *value
            };
            let index = lists.get(&list.key()).expect("an archetype is not indexed");
            let mut rows: Vec<u32> = index.chains.of(hash).filter(equals).collect();
            rows.sort_unstable();
            if F::BY_CHUNK || is_by_row::<Q, F>() {
                rows = seen_rows(query, entry, archetype, &rows);
            }
            let entities = archetype.entities();
            found.extend(rows.into_iter().map(|row| entities[row as usize]));
        }
        found
    }
}

/// The archetypes with rows that a query matches, with the numbers of their entries.
fn archetypes<'q, Q: ReadTerms, F: Filter>(
    query: &'q Query<'_, Q, F>,
) -> impl Iterator<Item = (usize, &'q Archetype)> {
    let view = query.view();
    let plan = view.plan(query_type::<Q, F>());
    let all = entries(plan, view.store().archetypes().as_slice(), &query.filter);
    all.map(|(entry, _, archetype)| (entry, archetype))
}

fn column(archetype: &Archetype, id: ComponentId) -> u16 {
    archetype.column(id).expect("a matched archetype lacks the term's column")
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
    for mask in masks::<Q, F>(plan, entry, archetype, &query.filter) {
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

/// The versions of a chunk: while they and the number of rows are the same, so are the values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Contents {
    order: Version,
    column: Version,
    rows: u32,
}

impl Contents {
    fn of(archetype: &Archetype, column: u16, chunk: u32) -> Self {
        let stamp = |kind| archetype.stamps().get(kind, chunk as usize);
        Self {
            order: stamp(StampKind::ORDER),
            column: stamp(StampKind::column(column)),
            rows: archetype.list().rows(chunk),
        }
    }
}

/// The values of a column.
#[derive(Debug, Default)]
struct ListIndex {
    /// The world of the list.
    world: Option<LogId>,
    /// The rows by the hashes of their values; a row is counted in all chunks.
    chains: HashChains,
    /// The rows of a chunk, when they were read.
    capacity: u32,
    /// The contents of each chunk, when they were read.
    chunks: Vec<Contents>,
}

impl ListIndex {
    fn bytes(&self) -> usize {
        self.chains.bytes() + self.chunks.capacity() * size_of::<Contents>()
    }

    /// Whether no value has changed since it was read.
    fn is_fresh(&self, archetype: &Archetype, column: u16) -> bool {
        let list = archetype.list();
        let unchanged =
            |(chunk, read): (u32, &Contents)| Contents::of(archetype, column, chunk) == *read;
        self.capacity == list.capacity()
            && self.chunks.len() == list.chunk_len() as usize
            && (0u32..).zip(&self.chunks).all(unchanged)
    }

    /// Reads the values of chunks that changed.
    fn refresh<C: Component + Hash>(&mut self, archetype: &Archetype, column: u16) {
        let list = archetype.list();
        let (chunk_len, capacity) = (list.chunk_len(), list.capacity());
        if self.capacity != capacity {
            *self = Self { world: self.world, capacity, ..Self::default() };
        }
        let start = |chunk: u32| chunk as usize * capacity as usize;
        for chunk in chunk_len..u32::try_from(self.chunks.len()).unwrap_or(u32::MAX) {
            let rows = self.chunks[chunk as usize].rows as usize;
            (0..rows).for_each(|row| self.chains.remove(start(chunk) + row));
        }
        self.chunks.resize(chunk_len as usize, Contents::default());
        self.chains.grow(archetype.len());
        for chunk in 0..chunk_len {
            let now = Contents::of(archetype, column, chunk);
            let read = core::mem::replace(&mut self.chunks[chunk as usize], now);
            if read == now {
                continue;
            }
            let first = start(chunk);
            for (row, value) in list.cells::<C>(column, chunk).iter().enumerate() {
                self.chains.set(first + row, hash_of(value));
            }
            (now.rows..read.rows).for_each(|row| self.chains.remove(first + row as usize));
        }
    }
}
