//! The addresses of archetypes with one chunk, cached from one pass to the next.
//!
//! A [`ResolvedPlan`] has a cache of addresses and the position in the archetypes' change log at
//! which it was valid, `valid_at`. Addresses become stale when rows, blocks or stamps of an
//! archetype move. Every function that moves them borrows the [`Archetypes`] exclusively, and first
//! records the archetype in the log, which advances the log's end `now`:
//!
//! ```text
//!            Archetypes::get_mut, pair_mut, add           record one archetype  (&mut Archetypes)
//!            Archetypes::all_mut                          record all            (&mut Archetypes)
//!                                  │
//!   ┌─ valid_at == now ─┐          │        ┌── valid_at != now ───────────────────────────────┐
//!   │      valid        │ ─────────┴──────► │                stale                             │
//!   │ any number of     │                   │ one thread, which holds `resolving`:             │
//!   │ passes read       │ ◄──────────────── │ valid_at := NEVER, write entries, valid_at := now│
//!   └───────────────────┘     refreshed     └──────────────────────────────────────────────────┘
//!                           (&Archetypes)
//! ```
//!
//! * The cache is **read** only while it is valid and the archetypes are borrowed. A pass holds
//!   that borrow until it ends.
//! * It is **written** only while it is stale, by the thread that holds the lock. No pass has a
//!   reference to it: a pass that began before it became stale has ended, because that took the
//!   archetypes exclusively, and a pass that begins afterwards refreshes the cache first.
//! * `valid_at` is written last, with release, and read with acquire: a thread that finds the cache
//!   valid sees its entries. It is `NEVER` while entries are written, so that a panic leaves the
//!   cache stale.
//! * [`Archetypes::columns_mut`] writes cells and stamps without moving or recording anything: a
//!   pass that writes keeps the cache valid.

#![expect(
    unsafe_code,
    reason = "asserts that cached addresses are valid, which only the change log tells"
)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use std::sync::{Mutex, PoisonError};

use crate::archetype::{Archetypes, ChangeLog, LogId, LogPosition};
use crate::storage::{
    Borrow, CachedChunks, ChunkCache, ChunkList, ColumnMap, ColumnUse, SliceRows,
};

/// The entries of a plan, with a cache of their addresses.
///
/// In the order of C: the start of a pass reads the end of the cache and the fields after it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ResolvedPlan {
    column_map: ColumnMap,
    /// Held while `cache` is written.
    resolving: Mutex<()>,
    cache: UnsafeCell<ChunkCache>,
    /// The log to which `valid_at` belongs: the log of the archetypes for which the plan was made.
    log: LogId,
    /// The log's end when `cache` was last refreshed.
    valid_at: AtomicU64,
}

// SAFETY: the cache is written by one thread at a time, which holds `resolving`, and only while it
// is stale. It is read only while it is valid. The two exclude each other, as the essay says.
unsafe impl Sync for ResolvedPlan {}

impl ResolvedPlan {
    /// A plan of `archetypes` without entries, each of which will have `width` columns.
    pub(crate) fn new(width: usize, archetypes: &Archetypes) -> Self {
        Self {
            column_map: ColumnMap::new(width),
            log: archetypes.change_log().id(),
            cache: UnsafeCell::default(),
            valid_at: AtomicU64::new(ChangeLog::NEVER),
            resolving: Mutex::new(()),
        }
    }

    /// The columns of each entry.
    #[inline]
    pub(crate) const fn column_map(&self) -> &ColumnMap {
        &self.column_map
    }

    /// Adds an entry: see [`ColumnMap::push`].
    pub(crate) fn push(
        &mut self,
        number: u32,
        list: &ChunkList,
        uses: impl Iterator<Item = ColumnUse>,
    ) {
        self.column_map.push(number, list, uses);
    }

    /// Removes the entries from a number on: see [`ColumnMap::truncate`]. The cache is stale.
    pub(crate) fn truncate(&mut self, number: u32) {
        self.make_stale();
        self.column_map.truncate(number);
    }

    /// Empties the cache, because entries get other indices.
    fn make_stale(&mut self) {
        *self.cache.get_mut() = ChunkCache::default();
        *self.valid_at.get_mut() = ChangeLog::NEVER;
    }

    /// Adds an entry among others: see [`ColumnMap::insert`]. The cache is stale.
    pub(crate) fn insert(
        &mut self,
        number: u32,
        list: &ChunkList,
        uses: impl Iterator<Item = ColumnUse>,
    ) {
        self.make_stale();
        self.column_map.insert(number, list, uses);
    }

    /// Computes an entry again: see [`ColumnMap::renew`].
    pub(crate) fn renew(&mut self, number: u32, list: &ChunkList) {
        self.column_map.renew(number, list);
    }

    /// A pass that only reads.
    #[inline]
    pub(crate) fn shared<'w>(
        &'w self,
        archetypes: &'w Archetypes,
        slice_rows: SliceRows,
    ) -> CachedChunks<'w> {
        let cache = self.refreshed(archetypes);
        // SAFETY: every archetype is recorded in the log before its rows can move, and none was
        // since `ChunkCache::set` resolved it. The archetypes are borrowed shared for `'w`: code
        // that writes through such a borrow has promised that no other code reads its columns.
        unsafe { cache.chunks(Borrow::Shared, slice_rows) }
    }

    /// A pass that writes.
    ///
    /// # Safety
    ///
    /// For `'w` the archetypes stay borrowed, and no rows, blocks or stamps move. For as long no
    /// other code may read or write the cells of the columns that the plan writes, or write the
    /// cells of the columns that it reads: neither another pass nor a chunk of the same archetype's
    /// list.
    #[inline]
    pub(super) unsafe fn writable<'w>(
        &'w self,
        archetypes: &Archetypes,
        slice_rows: SliceRows,
    ) -> CachedChunks<'w> {
        let cache = self.refreshed(archetypes);
        // SAFETY: the addresses are valid, as in `shared`. By this function's contract they stay
        // valid, and no other code accesses the columns.
        unsafe { cache.chunks(Borrow::Exclusive, slice_rows) }
    }

    /// The cache, after it was made valid.
    ///
    /// # Panics
    ///
    /// If the plan was made for other archetypes.
    #[inline]
    fn refreshed(&self, archetypes: &Archetypes) -> &ChunkCache {
        let log = archetypes.change_log();
        assert!(self.log == log.id(), "the plan was made for other archetypes");
        let now = log.now();
        if self.valid_at.load(Ordering::Acquire) != now {
            self.refresh(archetypes, now);
        }
        // SAFETY: the cache is valid. The archetypes are borrowed, so it is neither made stale nor
        // written while the reference exists.
        unsafe { &*self.cache.get() }
    }

    /// Resolves the archetypes that moved since the last call: O(archetypes that moved).
    #[cold]
    fn refresh(&self, archetypes: &Archetypes, now: LogPosition) {
        let _resolving = self.resolving.lock().unwrap_or_else(PoisonError::into_inner);
        let then = self.valid_at.load(Ordering::Relaxed);
        if then == now {
            return;
        }
        // SAFETY: this thread holds the lock, and no other reference to the cache exists:
        // `refreshed` returns one only while the cache is valid, and it is stale.
        let cache = unsafe { &mut *self.cache.get() };
        let (old_len, column_map) = (cache.len(), &self.column_map);
        // If a step below panics, the cache stays stale.
        self.valid_at.store(ChangeLog::NEVER, Ordering::Relaxed);
        if column_map.len() > old_len {
            cache.reserve(column_map.len(), column_map.width());
        }
        let mut resolve = |index| resolve(cache, index, column_map, archetypes);
        // The loop at the end resolves all new entries, in order. New archetypes are not searched
        // for among the old entries.
        let first_new = column_map.get(old_len).map_or(u32::MAX, |(number, _)| number);
        match archetypes.change_log().since(then) {
            Some(moved) => moved
                .iter()
                .filter(|&&number| number < first_new)
                .filter_map(|&number| column_map.find(number))
                .for_each(&mut resolve),
            None => (0..old_len).for_each(&mut resolve),
        }
        (old_len..column_map.len()).for_each(&mut resolve);
        self.valid_at.store(now, Ordering::Release);
    }

    /// Bytes of the entries and of the cache.
    pub(crate) fn bytes(&self) -> usize {
        let _resolving = self.resolving.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: only the thread that holds the lock writes the cache, and this one holds it.
        let cache = unsafe { &*self.cache.get() };
        self.column_map.bytes() + cache.bytes()
    }

    /// Whether the cache is stale, or equals a new one.
    pub(crate) fn is_consistent(&self, archetypes: &Archetypes) -> bool {
        if self.valid_at.load(Ordering::Acquire) != archetypes.change_log().now() {
            return true;
        }
        let (mut cache, column_map) = (ChunkCache::default(), &self.column_map);
        (0..column_map.len()).for_each(|index| resolve(&mut cache, index, column_map, archetypes));
        *self.refreshed(archetypes) == cache
    }
}

/// Resolves one entry of the plan.
fn resolve(cache: &mut ChunkCache, index: usize, column_map: &ColumnMap, archetypes: &Archetypes) {
    let (number, columns) = column_map.get(index).expect("the plan has no such entry");
    let archetype = &archetypes.as_slice()[number as usize];
    cache.set(index, columns, archetype.list(), archetype.stamps(), archetype.entities());
}
