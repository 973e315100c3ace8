//! The archetypes that are still ahead of a walk. Each of them is cut once.
//!
//! An archetype of a plan is cut in one of two ways: from the addresses that the plan keeps, if it
//! has one chunk ([`Ahead::next_ready`]), or from its own list ([`Ahead::enter`]). An exclusive walk
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
//! While the kept addresses are being cut, `ready` is in front of `entry`; [`Ahead::enter`] first
//! steps `entry` forward to where `ready` is, and halts it, so that it cuts nothing before
//! [`Ahead::resume`] sets it behind the last row that was entered.

#![expect(unsafe_code, reason = "rows are written through kept addresses and through leases")]

use crate::archetype::{Archetype, ValuesMut};
use crate::component::Component;
use crate::entity::Entity;
use crate::storage::{
    ColumnViewsMut, CutChunks, CutRow, ReadyCutter, ReadyNext, ReadyWalk, Stamps,
};
use crate::version::Version;

use super::filter::Filter;
use super::plan::Plan;
use super::share::Lease;
use super::source::{Borrowed, STARTED};
use super::store::Store;
use super::tuple::Terms;

/// The archetypes of a query's plan that its walk has not cut yet.
#[derive(Debug)]
pub(super) struct Ahead<'w> {
    /// The archetypes of one chunk: what most turns need. Halted in all others, and at first.
    ready: ReadyWalk<'w>,
    /// The row of the plan that is entered next. Rows before it were cut, or have no rows.
    entry: usize,
    /// `None` before the first turn.
    plan: Option<&'w Plan>,
    archetypes: Archetypes<'w>,
}

/// Where the archetypes come from.
#[derive(Debug)]
enum Archetypes<'w> {
    /// Of a query that has not started.
    Waiting(Borrowed<'w>),
    /// Of a query that only reads.
    Shared(&'w [Archetype]),
    /// Of a query that writes: from number `first` on, those before were taken.
    Exclusive { rest: ValuesMut<'w>, first: usize },
    /// Of a query that writes columns of a divided world.
    Leased(Lease<'w>),
}

/// An archetype to be cut from its own list: it has rows.
#[derive(Debug)]
pub(super) struct Entered<'w> {
    pub(super) chunks: CutChunks<'w>,
    pub(super) stamps: &'w Stamps,
    pub(super) entities: &'w [Entity],
    /// The archetype's number.
    pub(super) archetype: usize,
    /// The row of the plan.
    pub(super) entry: usize,
}

/// How a walk goes on.
pub(super) enum Onward {
    /// With [`Ahead::next_ready`].
    Ready,
    /// With [`Ahead::enter`].
    Enter,
    /// The walk is at its end.
    End,
}

impl<'w> Ahead<'w> {
    /// Of a query that has not started.
    #[inline]
    pub(super) const fn waiting(borrowed: Borrowed<'w>) -> Self {
        let archetypes = Archetypes::Waiting(borrowed);
        Self { ready: ReadyWalk::empty(), entry: 0, plan: None, archetypes }
    }

    /// What the query is made of, if it has not started.
    #[inline]
    pub(super) const fn borrowed(&self) -> Option<&Borrowed<'w>> {
        match &self.archetypes {
            Archetypes::Waiting(borrowed) => Some(borrowed),
            _ => None,
        }
    }

    /// [`Ahead::borrowed`], to be used otherwise.
    #[inline]
    pub(super) const fn borrowed_mut(&mut self) -> Option<&mut Borrowed<'w>> {
        match &mut self.archetypes {
            Archetypes::Waiting(borrowed) => Some(borrowed),
            _ => None,
        }
    }

    /// Starts a query that was made of `borrowed`. Returns the version of what it writes.
    ///
    /// # Panics
    ///
    /// If a leased query asks for more than its lease allows.
    pub(super) fn start<Q: Terms, F: Filter>(
        &mut self,
        borrowed: Borrowed<'w>,
        padded: bool,
    ) -> Version {
        let (plan, ready, archetypes, now) = match borrowed {
            Borrowed::Shared(source) => {
                let plan = source.plans.get::<Q, F>(&source.registry, &source.catalog);
                let ready = plan.settled().shared(&source.catalog);
                (plan, ready, Archetypes::Shared(source.catalog.as_slice()), source.clock)
            }
            Borrowed::Exclusive(store) => {
                let source = &mut store.source;
                let now = if Q::WRITES { source.tick() } else { source.clock };
                let catalog = &mut source.catalog;
                let plan = source.plans.get_mut::<Q, F>(&mut source.registry, catalog);
                if Q::WRITES {
                    // SAFETY: `Ahead` cuts each row of the plan once, as the essay says.
                    let (ready, rest) = unsafe { plan.settled().exclusive(catalog) };
                    (plan, ready, Archetypes::Exclusive { rest, first: 0 }, now)
                } else {
                    let ready = plan.settled().shared(catalog);
                    (plan, ready, Archetypes::Shared(catalog.as_slice()), now)
                }
            }
            Borrowed::Leased(lease) => {
                let source = lease.source();
                lease.assert_allows::<Q, F>();
                let plan = source.plans.get::<Q, F>(&source.registry, &source.catalog);
                let now = lease.now();
                if Q::WRITES {
                    // SAFETY: `assert_allows` has seen that the plan cuts columns of the lease only, so
                    // that nothing else reads or writes what it writes; `Ahead` cuts each row of
                    // the plan once.
                    let ready = unsafe { plan.settled().leased(&source.catalog) };
                    (plan, ready, Archetypes::Leased(lease), now)
                } else {
                    let ready = plan.settled().shared(&source.catalog);
                    (plan, ready, Archetypes::Shared(source.catalog.as_slice()), now)
                }
            }
            Borrowed::Taken => unreachable!("{STARTED}"),
        };
        (self.plan, self.ready, self.archetypes) = (Some(plan), ready, archetypes);
        self.ready.set_padded(padded);
        now
    }

    /// Whether slices cut from kept addresses are rounded up to whole vectors.
    #[inline]
    pub(super) const fn set_padded(&mut self, padded: bool) {
        self.ready.set_padded(padded);
    }

    /// The next archetype, if it has one chunk and is cut from kept addresses.
    #[inline(always)]
    pub(super) fn next_ready(&mut self, now: Version) -> Option<ReadyCutter<'w>> {
        self.ready.next(now)
    }

    /// [`Ahead::next_ready`] of all that come one after the other. They stay in registers.
    #[inline(always)]
    pub(super) fn fold_ready<B>(
        &mut self,
        now: Version,
        init: B,
        mut f: impl FnMut(B, ReadyCutter<'w>) -> B,
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
    pub(super) fn resume(&mut self) -> Onward {
        self.ready.halt_at(self.entry);
        match self.ready.resume() {
            ReadyNext::Ready => Onward::Ready,
            ReadyNext::Many(entry) => {
                self.entry = entry;
                Onward::Enter
            }
            ReadyNext::End => Onward::End,
        }
    }

    /// The next archetype that has rows and that `passes`, to be cut from its own list.
    #[inline(always)]
    pub(super) fn enter<Q: Terms>(
        &mut self,
        mut passes: impl FnMut(&Entered<'w>, &'w Plan) -> bool,
    ) -> Option<Entered<'w>> {
        let plan = self.plan?;
        self.entry = self.entry.max(self.ready.index());
        self.ready.halt_at(self.entry);
        loop {
            let entry = self.entry;
            let (number, row) = plan.table().row(entry)?;
            self.entry += 1;
            if let Some(entered) = self.archetypes.cut::<Q>(number as usize, row, entry)
                && passes(&entered, plan)
            {
                return Some(entered);
            }
        }
    }
}

impl<'w> Archetypes<'w> {
    /// Cuts the archetype of row `entry` of the plan, if it has rows. Entries ascend.
    #[inline(always)]
    fn cut<Q: Terms>(
        &mut self,
        number: usize,
        row: CutRow<'w>,
        entry: usize,
    ) -> Option<Entered<'w>> {
        let (chunks, stamps, entities) = match self {
            Self::Exclusive { rest, first } if Q::WRITES => {
                let archetype = rest.take(number - *first);
                *first = number + 1;
                if archetype.is_empty() {
                    return None;
                }
                archetype.cut(row)
            }
            Self::Shared(all) if !Q::WRITES => {
                let archetype: &'w Archetype = &all[number];
                if archetype.is_empty() {
                    return None;
                }
                let chunks = CutChunks::shared(archetype.list(), row);
                (chunks, archetype.stamps(), archetype.entities())
            }
            Self::Leased(lease) if Q::WRITES => {
                let archetype = lease.archetype(number);
                if archetype.is_empty() {
                    return None;
                }
                // SAFETY: `Ahead::start` has seen that the lease allows the plan, which cuts
                // columns of the lease only: no other lease writes them or, if this one writes,
                // reads them. A plan has one row an archetype, and each row is cut once.
                let chunks = unsafe { CutChunks::leased(archetype.list(), row) };
                (chunks, archetype.stamps(), archetype.entities())
            }
            _ => unreachable!("a query that writes has its archetypes exclusively, and only it"),
        };
        Some(Entered { chunks, stamps, entities, archetype: number, entry })
    }
}

impl<'w> Lease<'w> {
    /// Component `C` of the entities that have it, for writing.
    ///
    /// # Panics
    ///
    /// If the lease is not for writing `C` of any entity.
    pub(super) fn views_mut<C: Component>(self) -> ColumnViewsMut<'w, C> {
        self.assert_allows::<&mut C, ()>();
        let Store { source, entities, .. } = self.store();
        let (id, archetypes) = (source.registry.id::<C>(), source.catalog.as_slice());
        let mut columns = ColumnViewsMut::new(entities.places(), archetypes.len(), self.now());
        for archetype in archetypes {
            let (list, stamps, column) =
                (archetype.list(), archetype.stamps(), archetype.column(id));
            // SAFETY: the lease is for writing `C` of all archetypes, so no other share reads or writes
            // it (`Division::lend`); it is used up here, so that nothing else is cut under it for
            // `'w`; rows stay where they are until the division is gone. Each list is added once.
            unsafe { columns.push_leased(list, stamps, column) };
        }
        columns
    }
}
