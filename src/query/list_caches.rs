//! Data that is computed from the values of a component, or of several, and computed again for the
//! chunks that changed.
//!
//! A program keeps it beside its worlds, for example as a [`ValueIndex`](super::ValueIndex) or as
//! [`ChunkBounds`](super::ChunkBounds). A look-up compares the versions of all chunks, reads those
//! that changed, gained or lost rows since they were read, and then finds its answer. So
//! the program reports no changes.

use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::archetype::{Archetype, ChunkContents, LogId};
use crate::entity::ArchetypeId;

use super::filter::Filter;
use super::key_columns::KeyColumns;
use super::matched_chunks::entries;
use super::query::Query;
use super::query_type::query_type;
use super::terms::Terms;

/// Data of the chunk lists of any number of worlds.
pub(super) struct ListCaches<D> {
    lists: RwLock<Lists<D>>,
}

/// The data of each chunk list by its key, which is unique among all worlds.
type Lists<D> = FxHashMap<u64, ListCache<D>>;

impl<D> Default for ListCaches<D> {
    fn default() -> Self {
        Self { lists: RwLock::default() }
    }
}

/// A chunk to be read.
pub(super) struct ChunkCells<'w, C: KeyColumns> {
    pub(super) chunk: usize,
    /// The number of its first row in the list.
    pub(super) first: usize,
    /// The values: none if the list lost the chunk.
    pub(super) cells: C::Slices<'w>,
    /// Its rows when it was read last.
    pub(super) rows_before: usize,
}

impl<D: Default> ListCaches<D> {
    /// Calls `find` with the data of all archetypes that a query matches. Before that, `read` gets
    /// each chunk with values that are not known.
    ///
    /// Several threads may call it at once. A panic of `read` makes the next call read the chunk
    /// again.
    pub(super) fn with<C: KeyColumns, Q: Terms, F: Filter, R>(
        &self,
        query: &Query<'_, Q, F>,
        mut read: impl FnMut(&mut D, ChunkCells<'_, C>),
        find: impl FnOnce(&FreshLists<'_, D, C>) -> R,
    ) -> R {
        let ids = C::ids(query.view().store().registry());
        let is_fresh = |lists: &Lists<D>| {
            archetypes(query).all(|(_, _, archetype)| {
                let list = lists.get(&archetype.list().key());
                list.is_some_and(|list| list.is_fresh(archetype, C::numbers(archetype, ids)))
            })
        };
        if let Ok(lists) = self.lists.read()
            && is_fresh(&lists)
        {
            return find(&FreshLists { lists: &lists, ids });
        }
        // A chunk counts as read only when `read` has returned, so a panic leaves no false data.
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        self.lists.clear_poison();
        let all = query.view().store().archetypes();
        let world = all.change_log().id();
        if archetypes(query).any(|(_, _, archetype)| !lists.contains_key(&archetype.list().key())) {
            // A list that got a new key, or is no more, does not come back.
            let keys: FxHashSet<_> = all.as_slice().iter().map(|one| one.list().key()).collect();
            lists.retain(|key, list| list.world != Some(world) || keys.contains(key));
        }
        for (_, _, archetype) in archetypes(query) {
            let list = lists.entry(archetype.list().key()).or_default();
            list.world = Some(world);
            list.refresh::<C>(archetype, C::numbers(archetype, ids), &mut read);
        }
        find(&FreshLists { lists: &lists, ids })
    }

    /// Forgets all data.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The bytes that are allocated, for all worlds; `bytes` tells those of the data of a list.
    pub(super) fn memory_bytes(&self, bytes: impl Fn(&D) -> usize) -> usize {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let entries = lists.capacity() * size_of::<(u64, ListCache<D>)>();
        let of_list = |list: &ListCache<D>| {
            bytes(&list.data) + list.chunks.capacity() * size_of::<ChunkContents>()
        };
        entries + lists.values().map(of_list).sum::<usize>()
    }
}

/// Data that is fresh.
pub(super) struct FreshLists<'a, D, C: KeyColumns> {
    lists: &'a Lists<D>,
    ids: C::Ids,
}

impl<D, C: KeyColumns> FreshLists<'_, D, C> {
    /// The data of an archetype that the query matches.
    pub(super) fn of(&self, archetype: &Archetype) -> &D {
        &self.lists.get(&archetype.list().key()).expect("an archetype was not read").data
    }

    /// The values in a chunk of an archetype that the query matches.
    pub(super) fn cells<'w>(&self, archetype: &'w Archetype, chunk: u32) -> C::Slices<'w> {
        C::slices(archetype, C::numbers(archetype, self.ids), chunk)
    }
}

/// The [`entries`] of a query.
pub(super) fn archetypes<'q, Q: Terms, F: Filter>(
    query: &'q Query<'_, Q, F>,
) -> impl Iterator<Item = (usize, ArchetypeId, &'q Archetype)> {
    let view = query.view();
    let plan = view.plan(query_type::<Q, F>());
    entries(plan, view.store().archetypes().as_slice(), query.viewed_filter())
}

/// Data of the values of some columns.
#[derive(Debug, Default)]
struct ListCache<D> {
    /// The world of the list.
    world: Option<LogId>,
    /// The rows of a chunk, when they were read.
    capacity: u32,
    /// The contents of each chunk, when they were read.
    chunks: Vec<ChunkContents>,
    data: D,
}

impl<D: Default> ListCache<D> {
    /// Whether no value has changed since it was read.
    fn is_fresh(
        &self,
        archetype: &Archetype,
        columns: impl IntoIterator<Item = u16> + Copy,
    ) -> bool {
        let list = archetype.list();
        let unchanged = |(chunk, read): (u32, &ChunkContents)| {
            ChunkContents::of(archetype, columns, chunk) == *read
        };
        self.capacity == list.capacity()
            && self.chunks.len() == list.chunk_len() as usize
            && (0u32..).zip(&self.chunks).all(unchanged)
    }

    /// Reads the chunks that changed.
    fn refresh<C: KeyColumns>(
        &mut self,
        archetype: &Archetype,
        columns: C::Numbers,
        read: &mut impl FnMut(&mut D, ChunkCells<'_, C>),
    ) {
        let list = archetype.list();
        let capacity = list.capacity();
        if self.capacity != capacity {
            *self = Self { world: self.world, capacity, ..Self::default() };
        }
        let kept = list.chunk_len() as usize;
        let mut read_chunk =
            |data: &mut D, chunk: usize, cells: C::Slices<'_>, before: ChunkContents| {
                let (first, rows_before) = (chunk * capacity as usize, before.rows as usize);
                read(data, ChunkCells { chunk, first, cells, rows_before });
            };
        for (chunk, before) in self.chunks.drain(kept.min(self.chunks.len())..).enumerate() {
            read_chunk(&mut self.data, kept + chunk, C::Slices::default(), before);
        }
        self.chunks.resize(kept, ChunkContents::default());
        for (chunk, known) in (0u32..).zip(&mut self.chunks) {
            let now = ChunkContents::of(archetype, columns, chunk);
            let before = *known;
            if before != now {
                *known = before.unknown(now);
                let cells = C::slices(archetype, columns, chunk);
                read_chunk(&mut self.data, chunk as usize, cells, before);
                *known = now;
            }
        }
    }
}
