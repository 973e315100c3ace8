//! The archetypes that are still ahead of a walk. Each of them is cut once.
//!
//! An archetype of a plan is cut in one of two ways: from the addresses that the plan keeps, if it
//! has one chunk ([`RemainingArchetypes::next_ready`]), or from its own list ([`RemainingArchetypes::enter`]). An exclusive walk
//! writes through both, so an archetype that was cut one way must not be cut the other way as well.
//! This type is what keeps them apart. Rows of the plan are cut in ascending order:
//!
//! ```text
//!  rows of the plan   0   1   2   3   4   5   6   7
//!                     ──── cut ─────► │
//!                                     │ entry: the row that is entered next
//!                                     │ ready: next == end, halted; resumed from `entry` on
//! ```
//!
//! While the kept addresses are being cut, `ready` is in front of `entry`; [`RemainingArchetypes::enter`] first
//! steps `entry` forward to where `ready` is, and halts it, so that it cuts nothing before
//! [`RemainingArchetypes::resume`] sets it behind the last row that was entered.

#![expect(unsafe_code, reason = "rows are written through kept addresses and through leases")]

use crate::archetype::{Archetype, ColumnsMut};
use crate::component::Component;
use crate::entity::Entity;
use crate::storage::{
    ArchetypeColumns, CacheNext, CachedChunk, CachedChunks, ChunkIter, ColumnViewsMut, Stamps,
};
use crate::store::{AccessGuard, ColumnAccess, Plan, Store};
use crate::version::Version;

use super::filter::Filter;
use super::query_type::query_type;
use super::store_borrow::StoreBorrow;
use super::terms::Terms;

/// The archetypes of a query's plan that its walk has not cut yet.
#[derive(Debug)]
pub(super) struct RemainingArchetypes<'w> {
    /// The archetypes of one chunk: what most turns need. Halted in all others.
    ready: CachedChunks<'w>,
    /// The row of the plan that is entered next. Rows before it were cut, or have no rows.
    entry: usize,
    plan: &'w Plan,
    archetypes: ArchetypeSource<'w>,
}

/// Where the archetypes come from.
#[derive(Debug)]
enum ArchetypeSource<'w> {
    /// Of a query that only reads.
    Shared(&'w [Archetype]),
    /// Of a query that writes: from number `first` on, those before were taken.
    Exclusive { rest: ColumnsMut<'w>, first: usize },
    /// Of a query that writes columns of a divided world.
    Leased(ColumnAccess<'w>),
}

/// An archetype to be cut from its own list: it has rows.
#[derive(Debug)]
pub(super) struct EnteredArchetype<'w> {
    pub(super) chunks: ChunkIter<'w>,
    pub(super) stamps: &'w Stamps,
    pub(super) entities: &'w [Entity],
    /// The archetype's number.
    pub(super) archetype: usize,
    /// The row of the plan.
    pub(super) entry: usize,
}

/// How a walk goes on.
pub(super) enum NextStep {
    /// With [`RemainingArchetypes::next_ready`].
    Ready,
    /// With [`RemainingArchetypes::enter`].
    Enter,
    /// The walk is at its end.
    End,
}

impl<'w> RemainingArchetypes<'w> {
    /// All archetypes of a query, and the version of what a pass over them writes.
    ///
    /// # Panics
    ///
    /// If the query asks for more than its access allows.
    #[inline]
    pub(super) fn new<Q: Terms, F: Filter>(
        borrow: StoreBorrow<'w>,
        padded: bool,
    ) -> (Self, Version) {
        let query = query_type::<Q, F>();
        let (plan, mut ready, archetypes, now) = match borrow {
            StoreBorrow::Shared(store) => {
                let plan = store.plan(&query);
                let ready = plan.resolved().shared(&store.archetypes);
                (plan, ready, ArchetypeSource::Shared(store.archetypes.as_slice()), store.clock)
            }
            StoreBorrow::Exclusive(store) => {
                let now = if Q::WRITES { store.advance_clock() } else { store.clock };
                let Store { archetypes, registry, plans, .. } = store;
                let plan = plans.get_mut(&query, registry, archetypes);
                if Q::WRITES {
                    // SAFETY: `RemainingArchetypes` cuts each row of the plan once, as the essay says.
                    let (ready, rest) = unsafe { plan.resolved().exclusive(archetypes) };
                    (plan, ready, ArchetypeSource::Exclusive { rest, first: 0 }, now)
                } else {
                    let ready = plan.resolved().shared(archetypes);
                    (plan, ready, ArchetypeSource::Shared(archetypes.as_slice()), now)
                }
            }
            StoreBorrow::Leased(access) => {
                let store = access.store();
                access.assert_allows(&query);
                let plan = store.plan(&query);
                let now = access.now();
                if Q::WRITES {
                    // SAFETY: `assert_allows` has seen that the plan cuts columns of the lease only, so
                    // that nothing else reads or writes what it writes; `RemainingArchetypes` cuts each row of
                    // the plan once.
                    let ready = unsafe { plan.resolved().leased(&store.archetypes) };
                    (plan, ready, ArchetypeSource::Leased(access), now)
                } else {
                    let ready = plan.resolved().shared(&store.archetypes);
                    (plan, ready, ArchetypeSource::Shared(store.archetypes.as_slice()), now)
                }
            }
        };
        ready.set_padded(padded);
        (Self { ready, entry: 0, plan, archetypes }, now)
    }

    /// The next archetype, if it has one chunk and is cut from kept addresses.
    #[inline(always)]
    pub(super) fn next_ready(&mut self, now: Version) -> Option<CachedChunk<'w>> {
        self.ready.next(now)
    }

    /// [`RemainingArchetypes::next_ready`] of all that come one after the other. They stay in registers.
    #[inline(always)]
    pub(super) fn fold_ready<B>(
        &mut self,
        now: Version,
        init: B,
        mut f: impl FnMut(B, CachedChunk<'w>) -> B,
    ) -> B {
        let mut folded = init;
        // Until it is put back nothing is ahead: if `f` panics, what was cut is not cut again.
        let entry = core::mem::replace(&mut self.entry, usize::MAX);
        let mut ready = self.ready.take();
        while let Some(cutter) = ready.next(now) {
            folded = f(folded, cutter);
        }
        (self.ready, self.entry) = (ready, entry);
        folded
    }

    /// Looks for the next archetype that has rows, from the row of the plan on that comes next.
    pub(super) fn resume(&mut self) -> NextStep {
        self.ready.halt_at(self.entry);
        match self.ready.resume() {
            CacheNext::Chunk => NextStep::Ready,
            CacheNext::List(entry) => {
                self.entry = entry;
                NextStep::Enter
            }
            CacheNext::End => NextStep::End,
        }
    }

    /// The next archetype that has rows and that `passes`, to be cut from its own list.
    #[inline(always)]
    pub(super) fn enter<Q: Terms>(
        &mut self,
        mut passes: impl FnMut(&EnteredArchetype<'w>, &'w Plan) -> bool,
    ) -> Option<EnteredArchetype<'w>> {
        let plan = self.plan;
        self.entry = self.entry.max(self.ready.index());
        self.ready.halt_at(self.entry);
        loop {
            let entry = self.entry;
            let (number, row) = plan.table().get(entry)?;
            self.entry += 1;
            if let Some(entered) = self.archetypes.cut::<Q>(number as usize, row, entry)
                && passes(&entered, plan)
            {
                return Some(entered);
            }
        }
    }
}

impl<'w> ArchetypeSource<'w> {
    /// Cuts the archetype of row `entry` of the plan, if it has rows. Entries ascend.
    #[inline(always)]
    fn cut<Q: Terms>(
        &mut self,
        number: usize,
        row: ArchetypeColumns<'w>,
        entry: usize,
    ) -> Option<EnteredArchetype<'w>> {
        let (chunks, stamps, entities) = match self {
            Self::Exclusive { rest, first } if Q::WRITES => {
                let archetype = rest.take(number - *first);
                *first = number + 1;
                if archetype.is_empty() {
                    return None;
                }
                archetype.chunks(row)
            }
            Self::Shared(all) if !Q::WRITES => {
                let archetype: &'w Archetype = &all[number];
                if archetype.is_empty() {
                    return None;
                }
                let chunks = ChunkIter::shared(archetype.list(), row);
                (chunks, archetype.stamps(), archetype.entities())
            }
            Self::Leased(access) if Q::WRITES => {
                let archetype = access.archetype(number);
                if archetype.is_empty() {
                    return None;
                }
                // SAFETY: `RemainingArchetypes::new` has seen that the lease allows the plan, which cuts
                // columns of the lease only: no other lease writes them or, if this one writes,
                // reads them. A plan has one row an archetype, and each row is cut once.
                let chunks = unsafe { ChunkIter::exclusive_unchecked(archetype.list(), row) };
                (chunks, archetype.stamps(), archetype.entities())
            }
            _ => unreachable!("a query that writes has its archetypes exclusively, and only it"),
        };
        Some(EnteredArchetype { chunks, stamps, entities, archetype: number, entry })
    }
}

/// Component `C` of the entities that have it, for writing.
///
/// # Panics
///
/// If the access is not for writing `C` of any entity.
pub(crate) fn granted_views_mut<'w, C: Component>(
    guard: &'w mut AccessGuard<'_>,
) -> ColumnViewsMut<'w, C> {
    let query = query_type::<&mut C, ()>();
    let access = guard.access(&query);
    access.assert_allows(&query);
    let store = access.store();
    let (id, archetypes) = (store.registry.id::<C>(), store.archetypes.as_slice());
    let mut columns = ColumnViewsMut::new(store.entities.view(), archetypes.len(), access.now());
    for archetype in archetypes {
        let (list, stamps, column) = (archetype.list(), archetype.stamps(), archetype.column(id));
        // SAFETY: the access is for writing `C` of all archetypes, so no other guard reads or writes
        // it (`SplitStore::grant`); it borrows the guard for `'w` and is used up here, so that
        // nothing else is cut through the guard for as long; rows stay where they are while the store
        // is split. Each list is added once.
        unsafe { columns.push_unchecked(list, stamps, column) };
    }
    columns
}
