//! Plans that follow the world: the addresses of small archetypes, kept from one query to the next.
//!
//! A [`ResolvedPlan`] has a table of addresses and the moment `at` which it was right. Addresses go stale
//! when rows, blocks or stamps of an archetype move. All that moves them takes the catalog
//! exclusively, and notes the archetype before it does, which advances the catalog's moment `now`:
//!
//! ```text
//!            Archetypes::get_mut, pair_mut, add           note one archetype    (&mut Archetypes)
//!            Archetypes::all_mut                          note all              (&mut Archetypes)
//!                                │
//!        ┌── at == now ──┐       │           ┌── at != now ─────────────────────────┐
//!        │    current    │ ──────┴─────────► │                stale                 │
//!        │ any number of │                   │ one thread, which holds `settling`:  │
//!        │ walks read    │ ◄──────────────── │ at := NEVER, write rows, at := now   │
//!        └───────────────┘    up_to_date     └──────────────────────────────────────┘
//!                             (&Archetypes)
//! ```
//!
//! * The table is **read** only while it is current and the catalog is borrowed: a walk holds that
//!   borrow for as long as it lives.
//! * It is **written** only while it is stale, by the thread that holds the lock. No walk can have
//!   been handed the table since it went stale, because the first to ask for one mends it; and those
//!   from before are gone, because going stale took the catalog exclusively.
//! * `at` is written last, with release, and read with acquire: a thread that finds the table current
//!   sees its rows. It is `NEVER` while rows are written, so a panic leaves the table stale.
//! * [`Archetypes::columns_mut`] writes cells and stamps and moves nothing, so it notes nothing: a walk
//!   that writes keeps the table current.

#![expect(
    unsafe_code,
    reason = "says that kept addresses are right, which only the archetypes knows"
)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use std::sync::{Mutex, PoisonError};

use crate::archetype::{Archetypes, ChangeLog, ColumnsMut, LogId, LogPosition};
use crate::storage::{CachedChunks, ChunkCache, ChunkList, ColumnMap, ColumnUse};

/// The rows of a plan, the same resolved to addresses, and the moment at which that was right.
#[derive(Debug)]
pub(crate) struct ResolvedPlan {
    plan: ColumnMap,
    /// Of the catalog that the plan was made for; moments of another say nothing.
    history: LogId,
    table: UnsafeCell<ChunkCache>,
    at: AtomicU64,
    settling: Mutex<()>,
}

// SAFETY: the table is written by one thread at a time, the one that holds `settling`, and only while
// it is stale; it is read only while it is current. The two exclude each other, as the essay says.
unsafe impl Sync for ResolvedPlan {}

impl ResolvedPlan {
    /// No rows, of `width` columns, of archetypes of this catalog.
    pub(crate) fn new(width: usize, archetypes: &Archetypes) -> Self {
        Self {
            plan: ColumnMap::new(width),
            history: archetypes.change_log().id(),
            table: UnsafeCell::default(),
            at: AtomicU64::new(ChangeLog::NEVER),
            settling: Mutex::new(()),
        }
    }

    /// The rows before they are resolved.
    #[inline]
    pub(crate) const fn plan(&self) -> &ColumnMap {
        &self.plan
    }

    /// Adds a row; see [`ColumnMap::push`].
    pub(crate) fn push(
        &mut self,
        number: u32,
        list: &ChunkList,
        uses: impl Iterator<Item = ColumnUse>,
    ) {
        self.plan.push(number, list, uses);
    }

    /// A walk that only reads.
    #[inline]
    pub(crate) fn shared<'w>(&'w self, archetypes: &'w Archetypes) -> CachedChunks<'w> {
        let table = self.up_to_date(archetypes);
        // SAFETY: the catalog notes every archetype before its rows can change, and nothing was noted
        // since `set` has seen them; it is borrowed shared for `'w`, so nothing writes them.
        unsafe { table.chunks(false) }
    }

    /// A walk that writes, and the archetypes themselves.
    ///
    /// # Safety
    ///
    /// No archetype is cut by the walk and taken from the archetypes as well.
    #[inline]
    pub(crate) unsafe fn exclusive<'w>(
        &'w self,
        archetypes: &'w mut Archetypes,
    ) -> (CachedChunks<'w>, ColumnsMut<'w>) {
        let table = self.up_to_date(archetypes);
        // SAFETY: as in `shared`; the catalog is borrowed exclusively for `'w`, nothing moves through
        // the `ColumnsMut` that it hands out for as long, and by the caller's promise the walk's
        // archetypes are not taken from there.
        let walk = unsafe { table.chunks(true) };
        (walk, archetypes.columns_mut())
    }

    /// A walk that writes columns of archetypes that others look at as well.
    ///
    /// # Safety
    ///
    /// For `'w` nothing else reads or writes the cells of the columns that the plan writes, or
    /// writes those that it reads: neither another walk nor a cut of the same archetype's list.
    #[inline]
    pub(crate) unsafe fn leased<'w>(&'w self, archetypes: &'w Archetypes) -> CachedChunks<'w> {
        let table = self.up_to_date(archetypes);
        // SAFETY: as in `shared`; that the columns are this walk's is the caller's promise.
        unsafe { table.chunks(true) }
    }

    /// # Panics
    ///
    /// If the plan was made for another catalog.
    #[inline]
    fn up_to_date(&self, archetypes: &Archetypes) -> &ChunkCache {
        assert!(
            self.history == archetypes.change_log().id(),
            "the plan was made for this archetypes"
        );
        let now = archetypes.change_log().now();
        if self.at.load(Ordering::Acquire) != now {
            self.catch_up(archetypes, now);
        }
        // SAFETY: the table is current, and the catalog is borrowed, so it does not go stale and is
        // not written for as long.
        unsafe { &*self.table.get() }
    }

    /// Resolves anew what has moved since the last time: O(archetypes that moved × log plan).
    #[cold]
    fn catch_up(&self, archetypes: &Archetypes, now: LogPosition) {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        let then = self.at.load(Ordering::Relaxed);
        if then == now {
            return;
        }
        // SAFETY: this thread holds the lock, and no other reference to the table is alive: one is
        // made only of a table that is current, and this one is stale.
        let table = unsafe { &mut *self.table.get() };
        let (old, plan) = (table.len(), &self.plan);
        // If a step below panics, the table stays stale.
        self.at.store(ChangeLog::NEVER, Ordering::Relaxed);
        table.reserve(plan.len(), plan.width());
        let mut settle = |index| settle(table, index, plan, archetypes);
        // Rows that are new are all settled below, in order; archetypes that are new are not looked
        // for among the others.
        let first_new = plan.get(old).map_or(u32::MAX, |(number, _)| number);
        match archetypes.change_log().since(then) {
            Some(moved) => moved
                .iter()
                .filter(|&&number| number < first_new)
                .filter_map(|&number| plan.find(number))
                .for_each(&mut settle),
            None => (0..old).for_each(&mut settle),
        }
        (old..plan.len()).for_each(&mut settle);
        self.at.store(now, Ordering::Release);
    }

    /// Bytes of the rows, before and after they are resolved.
    pub(crate) fn bytes(&self) -> usize {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the table is written only by the thread that holds the lock, which is this one.
        let table = unsafe { &*self.table.get() };
        self.plan.bytes() + table.bytes()
    }

    /// Whether the table, if it passes for up to date, is what it would be if it were made now.
    pub(crate) fn is_consistent(&self, archetypes: &Archetypes) -> bool {
        if self.at.load(Ordering::Acquire) != archetypes.change_log().now() {
            return true;
        }
        let mut anew = ChunkCache::default();
        (0..self.plan.len()).for_each(|index| settle(&mut anew, index, &self.plan, archetypes));
        *self.up_to_date(archetypes) == anew
    }
}

/// Resolves one row of the plan.
fn settle(table: &mut ChunkCache, index: usize, plan: &ColumnMap, archetypes: &Archetypes) {
    let (number, row) = plan.get(index).expect("a row of the plan");
    let archetype = &archetypes.as_slice()[number as usize];
    table.set(index, row, archetype.list(), archetype.stamps(), archetype.entities());
}
