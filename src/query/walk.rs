//! The walk over a plan: archetype after archetype, chunk after chunk.

use std::sync::Arc;

use crate::archetype::Archetype;
use crate::entity::Entity;
use crate::storage::{CutChunks, CutRow, Cutter, Run, Stamps};
use crate::version::Version;

use super::filter::{Filter, StampAt};
use super::plan::Plan;
use super::source::{Borrowed, STARTED};
use super::tuple::Terms;

/// Rows whose columns outgrow the second-level cache (1 MiB on the machines this was measured on)
/// have the next chunk's first lines asked for early.
const PREFETCH_BYTES: usize = 1 << 20;

/// The entities of a run of rows; cut only if a term asks for them.
#[derive(Clone, Copy, Debug)]
pub struct EntityRun<'w> {
    all: &'w [Entity],
    start: usize,
    len: usize,
}

impl<'w> EntityRun<'w> {
    #[inline]
    pub(super) fn slice(self) -> &'w [Entity] {
        &self.all[self.start..self.start + self.len]
    }
}

/// A plan that the exclusive borrow of its world lends, or that a shared world gave a share of.
#[derive(Debug)]
enum PlanRef<'w> {
    Lent(&'w Plan),
    Shared(Arc<Plan>),
}

impl PlanRef<'_> {
    #[inline]
    fn get(&self) -> &Plan {
        match self {
            Self::Lent(plan) => plan,
            Self::Shared(plan) => plan,
        }
    }
}

/// The archetypes that are still ahead.
#[derive(Debug)]
enum Ahead<'w> {
    Shared(&'w [Archetype]),
    /// The archetypes from number `first` on: those before were lent out.
    Exclusive {
        rest: &'w mut [Archetype],
        first: usize,
    },
}

/// The stamps of an archetype, which only an exclusive walk may set.
#[derive(Debug)]
pub(super) enum StampsRef<'w> {
    Shared(&'w Stamps),
    Exclusive(&'w mut Stamps),
}

impl StampsRef<'_> {
    #[inline]
    pub(super) const fn get(&self) -> &Stamps {
        match self {
            Self::Shared(stamps) => stamps,
            Self::Exclusive(stamps) => stamps,
        }
    }

    /// Stamps the columns that `row` writes.
    #[inline]
    pub(super) fn touch(&mut self, row: CutRow<'_>, chunk: usize, now: Version) {
        if let Self::Exclusive(stamps) = self {
            for column in row.columns() {
                if let Some(written) = column.written() {
                    stamps.touch(Run::column(written), chunk, now);
                }
            }
        }
    }
}

/// The archetype that the walk is in.
#[derive(Debug)]
pub(super) struct Place<'w> {
    pub(super) chunks: CutChunks<'w>,
    pub(super) entities: &'w [Entity],
    pub(super) stamps: StampsRef<'w>,
    /// The archetype's row in the plan's tables.
    pub(super) entry: usize,
    pub(super) archetype: usize,
    prefetch: bool,
}

/// A started query.
#[derive(Debug)]
pub(super) struct Walk<'w> {
    plan: PlanRef<'w>,
    ahead: Ahead<'w>,
    /// The plan's next archetype.
    entry: usize,
    pub(super) place: Option<Place<'w>>,
    pub(super) now: Version,
}

/// One cut of a chunk, not yet stamped.
#[derive(Debug)]
pub(super) struct Turn<'w, 'p> {
    pub(super) cutter: Cutter<'w, 'p>,
    pub(super) entities: EntityRun<'w>,
    pub(super) chunk: usize,
}

impl<'w> Walk<'w> {
    pub(super) fn start<Q: Terms, F: Filter>(borrowed: Borrowed<'w>) -> Self {
        let (plan, ahead, now) = match borrowed {
            Borrowed::Shared(source) => {
                let plan = source.plans.get::<Q, F>(&source.registry, &source.catalog);
                let ahead = Ahead::Shared(source.catalog.as_slice());
                (PlanRef::Shared(plan), ahead, source.clock)
            }
            Borrowed::Taken => unreachable!("{STARTED}"),
            Borrowed::Exclusive(source) => {
                let now = source.tick();
                let plan = source.plans.get_mut::<Q, F>(&mut source.registry, &source.catalog);
                let rest = source.catalog.as_mut_slice();
                (PlanRef::Lent(plan), Ahead::Exclusive { rest, first: 0 }, now)
            }
        };
        Self { plan, ahead, entry: 0, place: None, now }
    }

    #[inline]
    pub(super) fn plan(&self) -> &Plan {
        self.plan.get()
    }

    /// Enters the next archetype that has rows and passes the filter; false at the end.
    #[inline]
    pub(super) fn enter<F: Filter>(&mut self, filter: &F) -> bool {
        let plan = self.plan.get();
        while self.entry < plan.len() {
            let entry = self.entry;
            self.entry += 1;
            let number = plan.archetype(entry);
            let Some(place) = self.ahead.take(number, entry) else {
                continue;
            };
            if F::BY_CHUNK {
                let mut watched = plan.watched().row(entry).columns();
                if !filter.passes(place.stamps.get(), &mut watched, StampAt::Newest) {
                    continue;
                }
            }
            let place = self.place.insert(place);
            place.prefetch = place.outgrows_cache(|| plan.table().row(entry));
            return true;
        }
        self.place = None;
        false
    }

    /// Cuts the next chunk that passes the filter.
    #[inline]
    pub(super) fn turn<F: Filter>(&mut self, filter: &F, padded: bool) -> Option<Turn<'w, '_>> {
        loop {
            let plan = self.plan.get();
            if self.place.as_mut().is_some_and(|place| place.find(plan, filter)) {
                break;
            }
            if !self.enter(filter) {
                return None;
            }
        }
        let place = self.place.as_mut().expect("a chunk was found");
        Some(place.cut(self.plan.get(), padded))
    }

    /// Stamps what a turn handed out.
    #[inline]
    pub(super) fn touch(&mut self, chunk: usize) {
        if let Some(place) = &mut self.place {
            let row = self.plan.get().table().row(place.entry);
            place.stamps.touch(row, chunk, self.now);
        }
    }
}

impl<'w> Ahead<'w> {
    /// Lends an archetype, if it has rows. Numbers ascend.
    #[inline]
    fn take(&mut self, number: usize, entry: usize) -> Option<Place<'w>> {
        match self {
            Self::Shared(all) => {
                let archetype: &'w Archetype = &all[number];
                (!archetype.is_empty()).then(|| Place {
                    chunks: CutChunks::shared(&archetype.list),
                    entities: &archetype.entities,
                    stamps: StampsRef::Shared(&archetype.stamps),
                    entry,
                    archetype: number,
                    prefetch: false,
                })
            }
            Self::Exclusive { rest, first } => {
                let (before, after) = core::mem::take(rest).split_at_mut(number + 1 - *first);
                *rest = after;
                *first = number + 1;
                let archetype = before.last_mut().expect("the archetype itself");
                (!archetype.is_empty()).then(|| Place {
                    chunks: CutChunks::exclusive(&mut archetype.list),
                    entities: &archetype.entities,
                    stamps: StampsRef::Exclusive(&mut archetype.stamps),
                    entry,
                    archetype: number,
                    prefetch: false,
                })
            }
        }
    }
}

impl<'w> Place<'w> {
    /// Cuts the archetype's next chunk that passes the filter.
    pub(super) fn turn<'p, F: Filter>(
        &mut self,
        plan: &'p Plan,
        filter: &F,
        padded: bool,
    ) -> Option<Turn<'w, 'p>> {
        self.find(plan, filter).then(|| self.cut(plan, padded))
    }

    /// Passes over chunks until one passes the filter; false at the end of the archetype.
    #[inline]
    fn find<F: Filter>(&mut self, plan: &Plan, filter: &F) -> bool {
        while !self.chunks.is_done() {
            if !F::BY_CHUNK {
                return true;
            }
            let mut watched = plan.watched().row(self.entry).columns();
            let at = StampAt::Chunk(self.chunks.index() as usize);
            if filter.passes(self.stamps.get(), &mut watched, at) {
                return true;
            }
            self.chunks.skip();
        }
        false
    }

    #[inline]
    fn cut<'p>(&mut self, plan: &'p Plan, padded: bool) -> Turn<'w, 'p> {
        let row = plan.table().row(self.entry);
        let chunk = self.chunks.index() as usize;
        let before = chunk * self.chunks.capacity() as usize;
        let cutter = self.chunks.cut(row, padded);
        if self.prefetch {
            self.chunks.prefetch_next(row);
        }
        let entities = EntityRun { all: self.entities, start: before, len: cutter.live() };
        Turn { cutter, entities, chunk }
    }

    /// Whether the columns that a query cuts from this archetype are more than the cache holds.
    #[inline]
    fn outgrows_cache<'p>(&self, row: impl FnOnce() -> CutRow<'p>) -> bool {
        /// Fewer chunks than this are at most 1 MiB at any chunk size.
        const CHUNKS_MIN: u32 = 5;
        self.chunks.count() >= CHUNKS_MIN
            && self.entities.len() * row().row_bytes() > PREFETCH_BYTES
    }
}
