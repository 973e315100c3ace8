//! Passes over the archetypes of a plan, and the columns of each that they hand out.
//!
//! A pass has the right to write the columns of its plan, because the archetypes are borrowed
//! exclusively, or because access to them was granted ([`split`](super::split_store)). It takes the
//! chunks of an archetype in one of two ways: from the addresses that the plan caches, if it has
//! one chunk ([`Pass::next_cached`]), or from its own list ([`Pass::enter`]). Both write, so an
//! archetype must not be visited both ways. A [`Pass`] visits the entries of the plan in ascending
//! order, each in one way:
//!
//! ```text
//!  entries of the plan   0   1   2   3   4   5   6   7
//!                        ── visited ───► │
//!                                        │ next_entry: the entry that is entered next
//!                                        │ cached: end <= next, halted; resumed at `next_entry`
//! ```
//!
//! While cached chunks are taken, `cached` is ahead of `next_entry`. [`Pass::enter`] first advances
//! `next_entry` to the position of `cached` and halts `cached` there: it has no chunk until
//! [`Pass::resume`] moves it past the last entry that was entered.

#![expect(unsafe_code, reason = "writes through cached addresses and through granted access")]

use crate::archetype::{Archetype, ColumnsMut};
use crate::entity::Directory;
use crate::storage::{
    ArchetypeColumns, CacheNext, CachedChunk, CachedChunks, ChunkIter, SliceRows,
};
use crate::version::Version;

use super::entered_archetype::EnteredArchetype;
use super::granted_plan::{GrantedColumns, GrantedPlan};
use super::plan::Plan;
use super::query_parts::QueryParts;
use super::requirements::QueryType;
use super::sparse::SparseSets;
use super::split_store::{ColumnAccess, ReadAccess};
use super::store::Store;

/// The archetypes of a query's plan that a pass has not visited yet.
#[derive(Debug)]
pub(crate) struct Pass<'w> {
    /// Archetypes with one chunk. Halted while any other is visited.
    cached: CachedChunks<'w>,
    /// The entry of the plan that is entered next. Archetypes before it were visited or are empty.
    next_entry: usize,
    plan: &'w Plan,
    archetypes: ArchetypeSource<'w>,
    /// The version of written columns.
    now: Version,
}

/// The source of the archetypes.
#[derive(Debug)]
enum ArchetypeSource<'w> {
    /// For a query that only reads.
    Shared(&'w [Archetype]),
    /// For a query that writes: the archetypes from number `first` on.
    Exclusive { rest: ColumnsMut<'w>, first: usize },
    /// For a query that writes columns of a split world.
    Granted(GrantedColumns<'w>),
}

/// The way in which a pass visits its next archetype.
pub(crate) enum NextStep {
    /// By [`Pass::next_cached`].
    Cached,
    /// By [`Pass::enter`].
    Enter,
    /// Not at all: the pass is complete.
    End,
}

/// The first three are compiled in place: out of line, a third of the start of a pass was the copy
/// of its fields, to memory and from there to their place in the iterator.
impl<'w> Pass<'w> {
    /// A pass that only reads, with the read access of a query of a split world.
    ///
    /// # Panics
    ///
    /// If the query asks for more than the access allows.
    #[inline(always)]
    pub(crate) fn shared(
        store: &'w Store,
        access: Option<ReadAccess<'w>>,
        query: &QueryType,
        slice_rows: SliceRows,
    ) -> Self {
        if let Some(access) = access {
            access.assert_allows(query);
        }
        let (plan, archetypes) = (store.plan(query), &store.archetypes);
        let cached = plan.resolved().shared(archetypes, slice_rows);
        let archetypes = ArchetypeSource::Shared(archetypes.as_slice());
        Self { cached, next_entry: 0, plan, archetypes, now: store.clock }
    }

    /// A pass that writes with the next version of the clock.
    ///
    /// # Panics
    ///
    /// If a type of the query has the name of another type of the world.
    #[inline(always)]
    pub(crate) fn exclusive(
        store: &'w mut Store,
        query: &QueryType,
        slice_rows: SliceRows,
    ) -> (Self, &'w mut SparseSets, &'w Directory) {
        // First, because a refused query leaves the clock as it is.
        let QueryParts { plan, archetypes, clock, sparse, entities } = store.query_parts(query);
        let now = clock.advance();
        // SAFETY: the archetypes are borrowed exclusively for `'w`, and a `ColumnsMut` moves no
        // rows, blocks or stamps. The pass visits each entry of the plan in one way only, as the
        // essay says, and no two entries are of one list (`ColumnMap::push`).
        let cached = unsafe { plan.resolved().writable(&archetypes, slice_rows) };
        let rest = archetypes.into_columns();
        let archetypes = ArchetypeSource::Exclusive { rest, first: 0 };
        (Self { cached, next_entry: 0, plan, archetypes, now }, sparse, entities)
    }

    /// A pass that writes columns of a split world.
    ///
    /// # Panics
    ///
    /// If the query asks for more than the access allows.
    #[inline(always)]
    pub(crate) fn granted(
        access: ColumnAccess<'w>,
        query: &QueryType,
        slice_rows: SliceRows,
    ) -> Self {
        let granted = GrantedPlan::new(access, query);
        let (plan, now) = (granted.plan(), granted.now());
        // SAFETY: the access covers the plan's columns and is this pass's own (`GrantedPlan`). The
        // pass visits each entry of the plan in one way only, as the essay says, and no two entries
        // are of one list (`ColumnMap::push`).
        let cached = unsafe { plan.resolved().writable(granted.archetypes(), slice_rows) };
        let archetypes = ArchetypeSource::Granted(GrantedColumns::new(granted));
        Self { cached, next_entry: 0, plan, archetypes, now }
    }

    /// The version of written columns.
    #[inline]
    pub(crate) const fn now(&self) -> Version {
        self.now
    }

    /// Whether the archetypes with member bits of a sparse component have at least `chunks_min`
    /// chunks together. Call it before the pass enters an archetype. O(matching archetypes).
    pub(crate) fn has_member_chunks(&self, number: u16, chunks_min: usize) -> bool {
        let all = match &self.archetypes {
            ArchetypeSource::Shared(all) => all,
            ArchetypeSource::Exclusive { rest, .. } => rest.as_slice(),
            ArchetypeSource::Granted(columns) => columns.archetypes().as_slice(),
        };
        let mut left = chunks_min;
        let mut labels = self.plan.column_map().labels();
        labels.any(|label| {
            let archetype = &all[label as usize];
            if archetype.attachments().is_some_and(|all| all.tracks_members(number)) {
                left = left.saturating_sub(archetype.list().chunk_len() as usize);
            }
            left == 0
        })
    }

    /// Whether every archetype was visited, if the last one that was entered has no chunk left.
    #[inline(always)]
    pub(crate) const fn is_over(&self) -> bool {
        self.cached.is_over()
    }

    /// Takes the chunk of the next archetype, if it is cached.
    #[inline(always)]
    pub(crate) fn next_cached(&mut self) -> Option<CachedChunk<'w>> {
        self.cached.next(self.now)
    }

    /// Folds over the chunks of [`Pass::next_cached`] up to the first `None`. The pass stays in
    /// registers.
    #[inline(always)]
    pub(crate) fn fold_cached<B>(
        &mut self,
        init: B,
        mut f: impl FnMut(B, CachedChunk<'w>) -> B,
    ) -> B {
        let (mut folded, now) = (init, self.now);
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
    pub(crate) fn resume(&mut self) -> NextStep {
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

    /// Enters the next archetype that has rows, is chosen, and `passes`. `choose` returns the first
    /// chosen entry of the plan from a number on, if one is left.
    ///
    /// # Panics
    ///
    /// If a chosen entry is before this number, or the pass `writes` and its archetypes are
    /// borrowed for reading, or the other way round.
    #[inline(always)]
    pub(crate) fn enter(
        &mut self,
        writes: bool,
        choose: impl Fn(&'w Plan, usize) -> Option<usize>,
        mut passes: impl FnMut(&EnteredArchetype<'w>, &'w Plan) -> bool,
    ) -> Option<EnteredArchetype<'w>> {
        let plan = self.plan;
        self.next_entry = self.next_entry.max(self.cached.index());
        self.cached.halt_at(self.next_entry);
        loop {
            let entry = choose(plan, self.next_entry)?;
            assert!(entry >= self.next_entry, "entry {entry} was visited");
            let (number, columns) = plan.column_map().get(entry)?;
            self.next_entry = entry + 1;
            if let Some(entered) = self.archetypes.enter(writes, (number, columns), entry)
                && passes(&entered, plan)
            {
                return Some(entered);
            }
        }
    }
}

impl<'w> ArchetypeSource<'w> {
    /// The chunks of the archetype of an entry, if it has rows. Calls must be in ascending order.
    #[inline(always)]
    fn enter(
        &mut self,
        writes: bool,
        (number, columns): (u32, ArchetypeColumns<'w>),
        entry: usize,
    ) -> Option<EnteredArchetype<'w>> {
        let number = number as usize;
        let (chunks, beside) = match self {
            Self::Exclusive { rest, first } if writes => {
                let archetype = rest.take(number - *first);
                *first = number + 1;
                if archetype.is_empty() {
                    return None;
                }
                archetype.chunks(columns)
            }
            Self::Shared(all) if !writes => {
                let archetype: &'w Archetype = &all[number];
                if archetype.is_empty() {
                    return None;
                }
                let chunks = ChunkIter::shared(archetype.list(), columns);
                (chunks, archetype.beside())
            }
            Self::Granted(granted) if writes => return granted.take(entry),
            _ => unreachable!("the borrow of the archetypes contradicts the terms"),
        };
        Some(EnteredArchetype { chunks, beside, archetype: number, entry })
    }
}
