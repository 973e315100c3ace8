//! The archetypes that a pass has not visited yet.
//!
//! The chunks of an archetype are taken in one of two ways: from the addresses that the plan
//! caches, if it has one chunk ([`RemainingArchetypes::next_cached`]), or from its own list
//! ([`RemainingArchetypes::enter`]). A pass that writes does so through both, so an archetype must
//! not be visited both ways. [`RemainingArchetypes`] visits the entries of the plan in ascending
//! order, each in one way:
//!
//! ```text
//!  entries of the plan   0   1   2   3   4   5   6   7
//!                        ── visited ───► │
//!                                        │ next_entry: the entry that is entered next
//!                                        │ cached: end <= next, halted; resumed at `next_entry`
//! ```
//!
//! While cached chunks are taken, `cached` is ahead of `next_entry`. [`RemainingArchetypes::enter`]
//! first advances `next_entry` to the position of `cached` and halts `cached` there: it has no
//! chunk until [`RemainingArchetypes::resume`] moves it past the last entry that was entered.

#![expect(unsafe_code, reason = "writes through cached addresses and through granted access")]

use crate::archetype::{Archetype, BesideChunks, ColumnsMut};
use crate::component::Component;
use crate::storage::{
    ArchetypeColumns, CacheNext, CachedChunk, CachedChunks, ChunkIter, ColumnViewsMut,
};
use crate::store::{AccessGuard, ColumnAccess, Plan, QueryParts};
use crate::version::Version;

use super::filter::Filter;
use super::query_type::{lookup_type, query_type};
use super::store_borrow::{Mode as _, StoreBorrow, WriteBorrow, WriteSource};
use super::tagged::next_entry;
use super::terms::{BorrowOf, Terms};

/// The archetypes of a query's plan that a pass has not visited yet.
#[derive(Debug)]
pub(super) struct RemainingArchetypes<'w> {
    /// Archetypes with one chunk. Halted while any other is visited.
    cached: CachedChunks<'w>,
    /// The entry of the plan that is entered next. Archetypes before it were visited or are empty.
    next_entry: usize,
    plan: &'w Plan,
    archetypes: ArchetypeSource<'w>,
}

/// The source of the archetypes.
#[derive(Debug)]
enum ArchetypeSource<'w> {
    /// For a query that only reads.
    Shared(&'w [Archetype]),
    /// For a query that writes: the archetypes from number `first` on.
    Exclusive { rest: ColumnsMut<'w>, first: usize },
    /// For a query that writes columns of a split world.
    Granted(ColumnAccess<'w>),
}

/// An archetype with rows. Its chunks are taken from its own list.
#[derive(Debug)]
pub(super) struct EnteredArchetype<'w> {
    pub(super) chunks: ChunkIter<'w>,
    pub(super) beside: BesideChunks<'w>,
    /// The archetype's number.
    pub(super) archetype: usize,
    /// The index of its entry in the plan.
    pub(super) entry: usize,
}

/// The way in which a pass visits its next archetype.
pub(super) enum NextStep {
    /// By [`RemainingArchetypes::next_cached`].
    Cached,
    /// By [`RemainingArchetypes::enter`].
    Enter,
    /// Not at all: the pass is complete.
    End,
}

impl<'w> RemainingArchetypes<'w> {
    /// All archetypes of a query, and the version with which a pass stamps written columns.
    ///
    /// # Panics
    ///
    /// If the query asks for more than its access allows.
    #[inline]
    pub(super) fn new<Q: Terms, F: Filter>(
        borrow: BorrowOf<'w, Q>,
        padded: bool,
    ) -> (Self, Version) {
        let query = query_type::<Q, F>();
        let (plan, mut cached, archetypes, now) = match Q::Mode::begin(borrow) {
            StoreBorrow::Read(borrow) => {
                let (plan, store) = (borrow.plan(&query), borrow.store());
                let cached = plan.resolved().shared(store.archetypes());
                (
                    plan,
                    cached,
                    ArchetypeSource::Shared(store.archetypes().as_slice()),
                    store.clock(),
                )
            }
            StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
                // First, because a refused query leaves the clock as it is.
                let QueryParts { plan, archetypes, clock, .. } = store.query_parts(&query);
                let now = clock.advance();
                // SAFETY: `RemainingArchetypes` visits each entry of the plan in one way only, as
                // the essay says, and no two entries are of one list (`ColumnMap::push`).
                let (cached, rest) = unsafe { plan.resolved().exclusive(archetypes) };
                (plan, cached, ArchetypeSource::Exclusive { rest, first: 0 }, now)
            }
            StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
                let (store, now) = (access.store(), access.now());
                access.assert_allows(&query);
                let plan = store.plan(&query);
                // SAFETY: `assert_allows` checked that the access covers the plan's columns. So no
                // other guard reads or writes columns that the plan writes, or writes columns that
                // it reads (`SplitStore::grant`). The access borrows its guard exclusively for `'w`
                // and is not a `ReadAccess`, which can exist several times, so this guard has no
                // other pass. Each entry of the plan is visited in one way only.
                let cached = unsafe { plan.resolved().granted(store.archetypes()) };
                (plan, cached, ArchetypeSource::Granted(access), now)
            }
        };
        cached.set_padded(padded);
        (Self { cached, next_entry: 0, plan, archetypes }, now)
    }

    /// Takes the chunk of the next archetype, if it is cached.
    #[inline(always)]
    pub(super) fn next_cached(&mut self, now: Version) -> Option<CachedChunk<'w>> {
        self.cached.next(now)
    }

    /// Folds over the chunks of [`RemainingArchetypes::next_cached`] up to the first `None`. The
    /// pass stays in registers.
    #[inline(always)]
    pub(super) fn fold_cached<B>(
        &mut self,
        now: Version,
        init: B,
        mut f: impl FnMut(B, CachedChunk<'w>) -> B,
    ) -> B {
        let mut folded = init;
        // No archetype remains until both are put back: if `f` panics, none is visited again.
        let next_entry = core::mem::replace(&mut self.next_entry, usize::MAX);
        let mut cached = self.cached.take();
        while let Some(columns) = cached.next(now) {
            folded = f(folded, columns);
        }
        (self.cached, self.next_entry) = (cached, next_entry);
        folded
    }

    /// Resumes `cached` past the last entry that was entered, and finds the next archetype that has
    /// rows.
    pub(super) fn resume(&mut self) -> NextStep {
        self.cached.halt_at(self.next_entry);
        match self.cached.resume() {
            CacheNext::Chunk => NextStep::Cached,
            CacheNext::List(entry) => {
                self.next_entry = entry;
                NextStep::Enter
            }
            CacheNext::End => NextStep::End,
        }
    }

    /// Enters the next archetype that has rows and that `passes`. Archetypes that the tags of the
    /// filter exclude are skipped together.
    #[inline(always)]
    pub(super) fn enter<Q: Terms, F: Filter>(
        &mut self,
        filter: &F,
        mut passes: impl FnMut(&EnteredArchetype<'w>, &'w Plan) -> bool,
    ) -> Option<EnteredArchetype<'w>> {
        let plan = self.plan;
        self.next_entry = self.next_entry.max(self.cached.index());
        self.cached.halt_at(self.next_entry);
        loop {
            let entry = next_entry(plan, filter, self.next_entry)?;
            let (number, columns) = plan.column_map().get(entry)?;
            self.next_entry = entry + 1;
            if let Some(entered) = self.archetypes.enter::<Q>(number as usize, columns, entry)
                && passes(&entered, plan)
            {
                return Some(entered);
            }
        }
    }
}

impl<'w> ArchetypeSource<'w> {
    /// The chunks of an archetype, if it has rows. Calls must be in ascending order of `number`.
    #[inline(always)]
    fn enter<Q: Terms>(
        &mut self,
        number: usize,
        columns: ArchetypeColumns<'w>,
        entry: usize,
    ) -> Option<EnteredArchetype<'w>> {
        let (chunks, beside) = match self {
            Self::Exclusive { rest, first } if Q::WRITES => {
                let archetype = rest.take(number - *first);
                *first = number + 1;
                if archetype.is_empty() {
                    return None;
                }
                archetype.chunks(columns)
            }
            Self::Shared(all) if !Q::WRITES => {
                let archetype: &'w Archetype = &all[number];
                if archetype.is_empty() {
                    return None;
                }
                let chunks = ChunkIter::shared(archetype.list(), columns);
                (chunks, archetype.beside())
            }
            Self::Granted(access) if Q::WRITES => {
                let archetype = access.archetype(number);
                if archetype.is_empty() {
                    return None;
                }
                // SAFETY: `RemainingArchetypes::new` checked that the access allows the plan: no
                // other guard writes its columns or, if this one writes, reads them, and this guard
                // has no other pass, since the access is not a `ReadAccess`. A plan has one entry
                // per archetype (`ColumnMap::push`), and each entry is visited once.
                let chunks = unsafe { ChunkIter::exclusive_unchecked(archetype.list(), columns) };
                (chunks, archetype.beside())
            }
            _ => unreachable!("the borrow of the archetypes contradicts the terms"),
        };
        Some(EnteredArchetype { chunks, beside, archetype: number, entry })
    }
}

/// Component `C` of the entities that have it, for writing.
///
/// # Panics
///
/// If access was requested for another query than [`lookup_type`] of `&mut C`.
pub(crate) fn granted_views_mut<'w, C: Component>(
    guard: &'w mut AccessGuard<'_>,
) -> ColumnViewsMut<'w, C> {
    let query = lookup_type::<&mut C>();
    let access = guard.access(&query);
    access.assert_allows(&query);
    let store = access.store();
    let (id, archetypes) = (store.registry().id::<C>(), store.archetypes().as_slice());
    let mut columns = ColumnViewsMut::new(store.entities().view(), archetypes.len(), access.now());
    for archetype in archetypes {
        let (list, column) = (archetype.list(), archetype.column(id));
        let beside = (archetype.stamps(), archetype.attachments(), archetype.is_gone());
        // SAFETY: the access is for writing `C` of all archetypes, so no other guard reads or
        // writes it (`SplitStore::grant`). It borrows the guard for `'w` and is consumed here, so
        // the guard grants no other access for as long. Rows do not move while the store is split.
        // Each list is added once.
        unsafe { columns.push_unchecked(list, beside, column) };
    }
    columns
}
