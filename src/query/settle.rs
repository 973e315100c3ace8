//! Plans that follow the world: the addresses of small archetypes, kept from one query to the next.

#![expect(unsafe_code, reason = "says that kept addresses are right, which only the catalog knows")]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use std::sync::{Mutex, PoisonError};

use crate::archetype::{Archetype, Catalog, HistoryId, Moment, Moves, ValuesMut};
use crate::storage::{ChunkList, ColumnUse, CutTable, ReadyTable, ReadyWalk};

/// The rows of a plan, the same resolved to addresses, and the moment at which that was right.
///
/// Of a shared world several threads may find a plan behind; the first brings it up to date. While
/// a world is shared nothing in it moves, so this happens once before an exclusive borrow of the
/// world comes between, and nobody looks at the table before it has happened.
#[derive(Debug)]
pub(super) struct Settled {
    plan: CutTable,
    /// Of the catalog that the plan was made for; moments of another say nothing.
    history: HistoryId,
    table: UnsafeCell<ReadyTable>,
    at: AtomicU64,
    settling: Mutex<()>,
}

// SAFETY: the table is written by one thread at a time, who holds `settling`, and read only when
// `at` says that it is up to date, after which nobody writes it while the world is shared.
unsafe impl Sync for Settled {}

impl Settled {
    /// No rows, of `width` columns, of archetypes of this catalog.
    pub(super) fn new(width: usize, catalog: &Catalog) -> Self {
        Self {
            plan: CutTable::new(width),
            history: catalog.moves().id(),
            table: UnsafeCell::default(),
            at: AtomicU64::new(Moves::NEVER),
            settling: Mutex::new(()),
        }
    }

    /// The rows before they are resolved.
    #[inline]
    pub(super) const fn plan(&self) -> &CutTable {
        &self.plan
    }

    /// Adds a row; see [`CutTable::push`].
    pub(super) fn push(
        &mut self,
        number: u32,
        list: &ChunkList,
        uses: impl Iterator<Item = ColumnUse>,
    ) {
        self.plan.push(number, list, uses);
    }

    /// A walk that only reads.
    #[inline]
    pub(super) fn shared<'w>(&'w self, catalog: &'w Catalog) -> ReadyWalk<'w> {
        let table = self.up_to_date(catalog);
        // SAFETY: the catalog notes every archetype before it lends it for a change of rows, and
        // nothing was noted since `set` has seen them; it is borrowed shared for `'w`.
        unsafe { table.walk(false) }
    }

    /// A walk that writes, and the archetypes themselves.
    ///
    /// The walk has the archetypes of one chunk. Who gets the archetypes cuts none of a row that the
    /// walk has cut.
    #[inline]
    pub(super) fn exclusive<'w>(
        &'w self,
        catalog: &'w mut Catalog,
    ) -> (ReadyWalk<'w>, ValuesMut<'w>) {
        let table = self.up_to_date(catalog);
        // SAFETY: as in `shared`; the catalog is borrowed exclusively for `'w`, and by what else it
        // lends for as long, `ValuesMut`, nothing moves.
        let walk = unsafe { table.walk(true) };
        (walk, catalog.values_mut())
    }

    /// A walk that writes columns of archetypes that others look at as well.
    ///
    /// # Safety
    ///
    /// For `'w` nobody else reads or writes the cells of the columns that the plan writes, nor
    /// writes those that it reads; and nobody makes two walks that cut the same rows.
    #[inline]
    pub(super) unsafe fn leased<'w>(&'w self, catalog: &'w Catalog) -> ReadyWalk<'w> {
        let table = self.up_to_date(catalog);
        // SAFETY: as in `shared`; that the columns are this walk's is the caller's promise.
        unsafe { table.walk(true) }
    }

    /// # Panics
    ///
    /// If the plan was made for another catalog.
    #[inline]
    fn up_to_date(&self, catalog: &Catalog) -> &ReadyTable {
        assert!(self.history == catalog.moves().id(), "the plan was made for this catalog");
        let now = catalog.moves().now();
        if self.at.load(Ordering::Acquire) != now {
            self.catch_up(catalog, now);
        }
        // SAFETY: the table is up to date with a catalog that is borrowed. It is written only when
        // it is not, which takes an exclusive borrow of the catalog in between.
        unsafe { &*self.table.get() }
    }

    /// Resolves anew what has moved since the last time: O(archetypes that moved × log plan).
    #[cold]
    fn catch_up(&self, catalog: &Catalog, now: Moment) {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        let then = self.at.load(Ordering::Relaxed);
        if then == now {
            return;
        }
        // SAFETY: only who holds the lock gets here, and no other reference to the table is alive:
        // whoever has one found the table up to date with the catalog as it is borrowed now, in
        // which nothing moves.
        let table = unsafe { &mut *self.table.get() };
        let (old, plan) = (table.len(), &self.plan);
        // Should this panic, the table passes for nothing.
        self.at.store(Moves::NEVER, Ordering::Relaxed);
        table.reserve(plan.len(), plan.width());
        let mut settle = |index| settle(table, index, plan, catalog);
        // Rows that are new are all settled below, in order; archetypes that are new are not looked
        // for among the others.
        let first_new = plan.row(old).map_or(u32::MAX, |(number, _)| number);
        match catalog.moves().since(then) {
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
    pub(super) fn bytes(&self) -> usize {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the table is written only by who holds the lock.
        let table = unsafe { &*self.table.get() };
        self.plan.bytes() + table.bytes()
    }

    /// Whether the table, if it passes for up to date, is what it would be if it were made now.
    pub(super) fn is_consistent(&self, catalog: &Catalog) -> bool {
        if self.at.load(Ordering::Acquire) != catalog.moves().now() {
            return true;
        }
        let mut anew = ReadyTable::default();
        (0..self.plan.len()).for_each(|index| settle(&mut anew, index, &self.plan, catalog));
        *self.up_to_date(catalog) == anew
    }
}

/// Resolves one row of the plan.
fn settle(table: &mut ReadyTable, index: usize, plan: &CutTable, catalog: &Catalog) {
    let (number, row) = plan.row(index).expect("a row of the plan");
    let Archetype { list, stamps, entities, .. } = &catalog.as_slice()[number as usize];
    table.set(index, row, list, stamps, entities);
}
