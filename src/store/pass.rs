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

use core::ops::Range;

use crate::archetype::{Archetype, Archetypes, ChangeLog, ChunkMeta, ColumnsMut};
use crate::component::{Component, ComponentInfo};
use crate::entity::{Directory, Entity};
use crate::storage::{
    ArchetypeColumns, CacheNext, CachedChunk, CachedChunks, ChunkIter, ColumnBytes, ColumnViewsMut,
    RowMask, SliceRows,
};
use crate::version::Version;

use super::named_plan::NamedPlan;
use super::plan::Plan;
use super::query_parts::QueryParts;
use super::requirements::{NeededColumn, QueryType};
use super::sparse_sets::SparseSets;
use super::split_store::{AccessGuard, ColumnAccess, ReadAccess};
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

/// An archetype with rows. Its chunks are taken from its own list.
#[derive(Debug)]
pub(crate) struct EnteredArchetype<'w> {
    pub(crate) chunks: ChunkIter<'w>,
    pub(crate) beside: ChunkMeta<'w>,
    /// The archetype's number.
    pub(crate) archetype: usize,
    /// The index of its entry in the plan.
    pub(crate) entry: usize,
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
        let (plan, now) = (granted.plan, granted.now());
        // SAFETY: the access covers the plan's columns and is this pass's own (`GrantedPlan`). The
        // pass visits each entry of the plan in one way only, as the essay says, and no two entries
        // are of one list (`ColumnMap::push`).
        let cached =
            unsafe { plan.resolved().writable(&granted.access.store().archetypes, slice_rows) };
        let archetypes = ArchetypeSource::Granted(GrantedColumns { granted, next: 0 });
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
            ArchetypeSource::Granted(columns) => columns.granted.archetypes().as_slice(),
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

/// Granted access and the plan of a query that it allows: the right to the plan's columns.
///
/// No other guard reads or writes columns that the plan writes, or writes columns that it reads
/// ([`SplitStore::grant`](super::split_store::SplitStore::grant)). The access borrows its guard
/// exclusively for `'w` and is not a `ReadAccess`, of which several can exist, so the guard has no
/// other pass or row for as long.
#[derive(Debug)]
pub(crate) struct GrantedPlan<'w> {
    access: ColumnAccess<'w>,
    plan: &'w Plan,
}

impl<'w> GrantedPlan<'w> {
    /// # Panics
    ///
    /// If the query asks for more than the access allows.
    #[inline]
    pub(crate) fn new(access: ColumnAccess<'w>, query: &QueryType) -> Self {
        access.assert_allows(query);
        let plan = access.store().plan(query);
        Self { access, plan }
    }

    #[inline]
    pub(crate) const fn plan(&self) -> &'w Plan {
        self.plan
    }

    /// The version for writing.
    #[inline]
    pub(crate) const fn now(&self) -> Version {
        self.access.now()
    }

    /// The archetypes of the world, to find the entry of an entity in the plan: until chunks are
    /// taken.
    #[inline]
    pub(crate) fn archetypes(&self) -> &Archetypes {
        &self.access.store().archetypes
    }

    /// The same right for a shorter time.
    #[inline]
    pub(crate) const fn reborrow(&mut self) -> GrantedPlan<'_> {
        GrantedPlan { access: self.access.reborrow(), plan: self.plan }
    }

    /// The chunks of the archetype of one entry of the plan, if it has rows.
    #[inline]
    pub(crate) fn enter(self, entry: usize) -> Option<EnteredArchetype<'w>> {
        GrantedColumns { granted: self, next: 0 }.take(entry)
    }
}

/// The columns of a granted plan, entry by entry.
#[derive(Debug)]
struct GrantedColumns<'w> {
    granted: GrantedPlan<'w>,
    /// Entries before this one were taken or passed.
    next: usize,
}

impl<'w> GrantedColumns<'w> {
    /// The chunks of the archetype of an entry that was not passed yet, if it has rows. Passes the
    /// entries up to this one.
    ///
    /// # Panics
    ///
    /// If the entry was passed, or does not exist.
    #[inline(always)]
    fn take(&mut self, entry: usize) -> Option<EnteredArchetype<'w>> {
        assert!(entry >= self.next, "entry {entry} was passed");
        self.next = entry + 1;
        let map = self.granted.plan.column_map();
        let (number, columns) = map.get(entry).expect("the plan has no such entry");
        let archetype = &self.granted.access.store().archetypes.as_slice()[number as usize];
        if archetype.is_empty() {
            return None;
        }
        // SAFETY: the columns are the plan's, to which `GrantedPlan` is the only right for `'w`.
        // Each entry is taken once, and no two are of one list (`ColumnMap::push`).
        let chunks = unsafe { ChunkIter::exclusive_unchecked(archetype.list(), columns) };
        let beside = archetype.beside();
        Some(EnteredArchetype { chunks, beside, archetype: number as usize, entry })
    }
}

impl AccessGuard<'_> {
    /// Component `C` of the entities that have it, for writing. `query` must be the query of `&mut
    /// C` in all entities, including hidden ones.
    ///
    /// # Panics
    ///
    /// If another query was requested.
    pub(crate) fn views_mut<C: Component>(
        &mut self,
        query: &QueryType,
    ) -> (ColumnViewsMut<'_, C>, &ChangeLog) {
        self.assert_is_of::<C>(query, true);
        let access = self.access(query);
        let (store, now) = (access.store(), access.now());
        let (id, archetypes) = (store.registry.id::<C>(), store.archetypes.as_slice());
        let mut columns = ColumnViewsMut::new(store.entities.view(), archetypes.len(), now);
        for archetype in archetypes {
            let (list, column) = (archetype.list(), archetype.column(id));
            let beside = (archetype.stamps(), archetype.attachments(), archetype.is_gone());
            // SAFETY: the access is for writing `C` of all archetypes, so no other guard reads or
            // writes it (`SplitStore::grant`). It borrows the guard exclusively for as long as the
            // view does, so the guard grants no other access. Rows do not move while the store is
            // split. Each list is added once.
            unsafe { columns.push_unchecked(list, beside, column) };
        }
        (columns, store.archetypes.change_log())
    }
}

/// Rows of one chunk that a query of names matches, with the bytes of its terms.
#[derive(Debug)]
pub(crate) struct GrantedRows<'a> {
    pub(crate) archetype: usize,
    pub(crate) chunk: u32,
    pub(crate) rows: Range<u32>,
    pub(crate) entities: &'a [Entity],
    /// By term: the component, the bytes if the archetype has it, and whether they may be written.
    pub(crate) columns: Vec<(&'a ComponentInfo, Option<ColumnBytes<'a>>, bool)>,
}

impl AccessGuard<'_> {
    /// Visits the rows that the request matches, chunk by chunk, or run by run where rows are left
    /// out. Stamps the columns that are written. Tests the archetypes that are new to the plan of
    /// the request.
    ///
    /// # Panics
    ///
    /// If two terms name one component, or if the plan is of another request.
    pub(crate) fn visit_bytes(
        &mut self,
        plan: &mut NamedPlan,
        mut visit: impl FnMut(GrantedRows<'_>),
    ) {
        let (requirements, store, now) = self.parts();
        assert!(plan.has(requirements), "the plan is of another request");
        plan.update(&store.archetypes);
        let terms: Vec<_> = requirements.columns().collect();
        for number in plan.matching().iter().map(|&number| number as usize) {
            let archetype = &store.archetypes.as_slice()[number];
            let Some(found) = requirements.resolve(archetype) else { continue };
            let (list, beside) = (archetype.list(), archetype.beside());
            for chunk in 0..list.chunk_len() {
                let (rules, live) = (&found.rows, list.rows(chunk));
                let mut seen = RowMask::new(rules, archetype.attachments(), chunk, live).runs();
                while let Some(rows) = seen.next_run() {
                    let bytes = |(column, term): (Option<&u16>, &NeededColumn)| {
                        let info = store.registry.info(term.component.id);
                        let Some(&column) = column else { return (info, None, term.write) };
                        if !term.write {
                            let start = rows.start as usize * info.size();
                            let end = rows.end as usize * info.size();
                            let bytes = list.column_bytes(usize::from(column), chunk);
                            let (size, values) = (info.size(), info.values());
                            let bytes = ColumnBytes::shared(&bytes[start..end], size, values);
                            return (info, Some(bytes), false);
                        }
                        beside.touch_rows(column, chunk, rows.clone(), now);
                        // SAFETY: the requirements of the guard write the column in an archetype
                        // that they match, so no other guard reads or writes it
                        // (`SplitStore::grant`). The guard is borrowed exclusively, so it has no
                        // other pass, and no two of its columns are the same (`DistinctColumns`).
                        // Rows do not move while the store is split.
                        let bytes = unsafe { list.bytes_unchecked(column, (chunk, rows.clone())) };
                        (info, Some(bytes), true)
                    };
                    let columns = found.by_term(found.columns.as_slice());
                    let columns = columns.zip(&terms).map(bytes).collect();
                    let entities = archetype.entities_of_chunk(chunk);
                    let entities = &entities[rows.start as usize..rows.end as usize];
                    visit(GrantedRows { archetype: number, chunk, rows, entities, columns });
                }
            }
        }
    }
}
