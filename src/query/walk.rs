//! The walk over a plan: archetype after archetype, chunk after chunk.

use core::marker::PhantomData;

use crate::archetype::{Archetype, ValuesMut};
use crate::entity::Entity;
use crate::storage::{
    CutChunks, CutColumn, CutRow, Cutter, ReadyNext, ReadyWalk, Run, Stamps, TakeColumns,
};
use crate::version::Version;

use super::filter::{Filter, StampAt};
use super::plan::Plan;
use super::share::Lease;
use super::source::{Borrowed, STARTED};
use super::tuple::Terms;

/// Archetypes whose columns outgrow the second-level cache but not the last level have the next
/// chunk's first lines asked for early. `p += v * dt`, ns a row, 8 lines of each page against none:
///
/// | rows | bytes | Zen 5, plain | Zen 5, asked for |
/// | --- | --- | --- | --- |
/// | 300,000 | 7 MB | 0.225 | 0.222 |
/// | 1,000,000 | 24 MB | 0.38 to 0.50 | 0.33 to 0.44 |
/// | 8,000,000 | 192 MB | 0.83 | 0.86 |
///
/// At memory size it cost 3 % there, where it had gained 7 % on Zen 4, so it is left out; in the
/// second-level cache (240 KB) it gained nothing, nor did the distance of the columns matter. Walking
/// in blocks of 64 rows with all lines of a later chunk asked for was slower in each case.
const PREFETCH_BYTES: core::ops::RangeInclusive<usize> = 1 << 20..=32 << 20;

/// The entities of a chunk; cut only if a term asks for them.
#[derive(Clone, Copy, Debug)]
pub struct EntityRun<'w> {
    all: &'w [Entity],
    start: usize,
    len: usize,
}

impl<'w> EntityRun<'w> {
    #[inline]
    const fn new(all: &'w [Entity]) -> Self {
        Self { all, start: 0, len: all.len() }
    }

    #[inline]
    pub(super) fn slice(self) -> &'w [Entity] {
        &self.all[self.start..self.start + self.len]
    }
}

/// The archetypes that are still ahead.
#[derive(Debug)]
enum Ahead<'w> {
    /// Of a query that has not started.
    Waiting(Borrowed<'w>),
    /// Of a query that only reads.
    Shared(&'w [Archetype]),
    /// Of a query that writes: from number `first` on, those before were lent out.
    Exclusive { rest: ValuesMut<'w>, first: usize },
    /// Of a query that writes columns of a divided world.
    Leased(Lease<'w>),
}

/// Stamps the columns of a chunk that `row` writes.
#[inline]
pub(super) fn touch<Q: Terms>(stamps: &Stamps, row: CutRow<'_>, chunk: usize, now: Version) {
    if Q::WRITES {
        for column in &row.columns()[..Q::COLUMNS] {
            if let Some(written) = column.written() {
                stamps.touch(Run::column(written), chunk, now);
            }
        }
    }
}

/// The archetype that a walk is in.
#[derive(Debug)]
pub(super) struct Place<'w> {
    pub(super) chunks: CutChunks<'w>,
    pub(super) stamps: &'w Stamps,
    entities: &'w [Entity],
    pub(super) archetype: usize,
    /// The columns that filters watch.
    watched: &'w [CutColumn],
    prefetch: bool,
}

/// A query's way through its world, which begins with the first turn.
#[derive(Debug)]
pub(super) struct Walk<'w> {
    /// The archetypes of one chunk: what most turns need. Halted in all others, and at first.
    ready: ReadyWalk<'w>,
    pub(super) now: Version,
    pub(super) place: Option<Place<'w>>,
    /// The plan's next archetype.
    entry: usize,
    plan: Option<&'w Plan>,
    ahead: Ahead<'w>,
}

/// One cut of a chunk, not yet stamped.
#[derive(Debug)]
pub(super) struct Turn<'w> {
    pub(super) cutter: Cutter<'w>,
    pub(super) entities: EntityRun<'w>,
    pub(super) chunk: usize,
}

/// What an iterator makes of a turn.
pub(super) trait Cut<'w> {
    type Output;
    fn cut(columns: impl TakeColumns<'w>, entities: EntityRun<'w>) -> Self::Output;
}

/// The slices of the terms `Q`.
pub(super) struct Slices<Q>(PhantomData<Q>);

impl<'w, Q: Terms> Cut<'w> for Slices<Q> {
    type Output = Q::Slices<'w>;

    #[inline(always)]
    fn cut(mut columns: impl TakeColumns<'w>, entities: EntityRun<'w>) -> Q::Slices<'w> {
        Q::cut(&mut columns, entities)
    }
}

/// The rows of the terms `Q`.
pub(super) struct SliceRows<Q>(PhantomData<Q>);

impl<'w, Q: Terms> Cut<'w> for SliceRows<Q> {
    type Output = Q::Rows<'w>;

    #[inline(always)]
    fn cut(mut columns: impl TakeColumns<'w>, entities: EntityRun<'w>) -> Q::Rows<'w> {
        let len = columns.len();
        Q::rows(Q::cut(&mut columns, entities), len)
    }
}

impl<'w> Walk<'w> {
    /// Of a query that has not started.
    #[inline]
    pub(super) const fn waiting(borrowed: Borrowed<'w>) -> Self {
        Self {
            ready: ReadyWalk::empty(),
            now: Version::NEVER,
            place: None,
            entry: 0,
            plan: None,
            ahead: Ahead::Waiting(borrowed),
        }
    }

    /// What the query is made of, if it has not started.
    #[inline]
    pub(super) const fn borrowed(&self) -> Option<&Borrowed<'w>> {
        match &self.ahead {
            Ahead::Waiting(borrowed) => Some(borrowed),
            _ => None,
        }
    }

    /// [`Walk::borrowed`], to be used otherwise.
    #[inline]
    pub(super) const fn borrowed_mut(&mut self) -> Option<&mut Borrowed<'w>> {
        match &mut self.ahead {
            Ahead::Waiting(borrowed) => Some(borrowed),
            _ => None,
        }
    }

    /// Starts the query, if it has not started.
    #[inline]
    pub(super) fn start<Q: Terms, F: Filter>(&mut self, padded: bool) {
        if let Ahead::Waiting(borrowed) = &mut self.ahead {
            let borrowed = borrowed.take();
            self.begin::<Q, F>(borrowed, padded);
        }
    }

    #[inline(never)]
    fn begin<Q: Terms, F: Filter>(&mut self, borrowed: Borrowed<'w>, padded: bool) {
        let (plan, ready, ahead, now) = match borrowed {
            Borrowed::Shared(source) => {
                let plan = source.plans.get::<Q, F>(&source.registry, &source.catalog);
                let ready = plan.settled().shared(&source.catalog);
                (plan, ready, Ahead::Shared(source.catalog.as_slice()), source.clock)
            }
            Borrowed::Exclusive(store) => {
                let source = &mut store.source;
                let now = if Q::WRITES { source.tick() } else { source.clock };
                let catalog = &mut source.catalog;
                let plan = source.plans.get_mut::<Q, F>(&mut source.registry, catalog);
                if Q::WRITES {
                    let (ready, rest) = plan.settled().exclusive(catalog);
                    (plan, ready, Ahead::Exclusive { rest, first: 0 }, now)
                } else {
                    let ready = plan.settled().shared(catalog);
                    (plan, ready, Ahead::Shared(catalog.as_slice()), now)
                }
            }
            Borrowed::Leased(lease) => {
                let source = lease.source();
                let plan = source.plans.get::<Q, F>(&source.registry, &source.catalog);
                let now = lease.now();
                if Q::WRITES {
                    (plan, lease.ready(plan), Ahead::Leased(lease), now)
                } else {
                    let ready = plan.settled().shared(&source.catalog);
                    (plan, ready, Ahead::Shared(source.catalog.as_slice()), now)
                }
            }
            Borrowed::Taken => unreachable!("{STARTED}"),
        };
        (self.plan, self.ready, self.ahead, self.now) = (Some(plan), ready, ahead, now);
        self.ready.set_padded(padded);
    }

    /// Whether slices are rounded up to whole vectors, of a walk that may be under way.
    #[inline]
    pub(super) const fn set_padded(&mut self, padded: bool) {
        self.ready.set_padded(padded);
    }

    /// The next archetype that has rows and passes the filter.
    #[inline(always)]
    fn next_place<Q: Terms, F: Filter>(&mut self, filter: &F) -> Option<Place<'w>> {
        let plan = self.plan?;
        loop {
            let entry = self.entry;
            let (number, row) = plan.table().row(entry)?;
            self.entry += 1;
            let Some(mut place) = self.ahead.take::<Q>(number as usize, row) else { continue };
            if F::BY_CHUNK {
                place.watched = plan.watched(entry);
                if !place.passes(filter, StampAt::Newest) {
                    continue;
                }
            }
            return Some(place);
        }
    }

    /// Enters the next archetype that has rows and passes the filter; false at the end.
    ///
    /// Out of line: turns in between are short.
    #[inline(never)]
    pub(super) fn enter<Q: Terms, F: Filter>(&mut self, filter: &F) -> bool {
        self.entry = self.entry.max(self.ready.index());
        self.place = self.next_place::<Q, F>(filter);
        // Nobody cuts twice what was entered.
        self.ready.halt_at(self.entry);
        let Some(place) = &mut self.place else { return false };
        place.prefetch = wants_prefetch(&place.chunks);
        true
    }

    /// Cuts the next chunk that passes the filter, without stamping it.
    #[inline]
    pub(super) fn turn<Q: Terms, F: Filter>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<Turn<'w>> {
        loop {
            if let Some(place) = &mut self.place
                && let Some(turn) = place.turn(filter, padded)
            {
                return Some(turn);
            }
            if !self.enter::<Q, F>(filter) {
                return None;
            }
        }
    }

    /// Stamps what a turn handed out.
    #[inline]
    pub(super) fn touch<Q: Terms>(&mut self, chunk: usize) {
        if let Some(place) = &mut self.place {
            touch::<Q>(place.stamps, place.chunks.row(), chunk, self.now);
        }
    }

    /// Stamps one column of what a turn handed out, that of the term with this number.
    pub(super) fn touch_one(&mut self, column: usize, chunk: usize) {
        let place = self.place.as_ref().expect("a turn was taken");
        let written = place.chunks.row().columns()[column].written().expect("it is written");
        place.stamps.touch(Run::column(written), chunk, self.now);
    }

    /// What `cut` makes of the next chunk that passes the filter, which is stamped.
    #[inline(always)]
    pub(super) fn next<Q: Terms, F: Filter, C: Cut<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<C::Output> {
        loop {
            // Of archetypes of one chunk there may be thousands: they are cut without being entered.
            if !F::BY_CHUNK
                && let Some(cutter) = self.ready.next(self.now)
            {
                let entities = EntityRun::new(cutter.entities());
                return Some(C::cut(cutter, entities));
            }
            if self.place.is_some()
                && let Some(slices) = self.next_here::<Q, F, C>(filter, padded)
            {
                return Some(slices);
            }
            if !self.advance::<Q, F>(*filter, padded) {
                return None;
            }
        }
    }

    /// [`Walk::next`] of all that is left. Runs of archetypes of one chunk stay in registers.
    #[inline]
    pub(super) fn fold<Q: Terms, F: Filter, C: Cut<'w>, B>(
        &mut self,
        filter: &F,
        padded: bool,
        init: B,
        mut f: impl FnMut(B, C::Output) -> B,
    ) -> B {
        let mut folded = init;
        self.start::<Q, F>(padded);
        loop {
            if !F::BY_CHUNK {
                let (mut ready, now) = (self.ready.take(), self.now);
                while let Some(cutter) = ready.next(now) {
                    let entities = EntityRun::new(cutter.entities());
                    folded = f(folded, C::cut(cutter, entities));
                }
                self.ready = ready;
            }
            while let Some(slices) = self.next_here::<Q, F, C>(filter, padded) {
                folded = f(folded, slices);
            }
            if !self.advance::<Q, F>(*filter, padded) {
                return folded;
            }
        }
    }

    /// Goes to the next archetype that has rows and passes the filter, and enters it unless it is
    /// cut ahead of time; false at the end. Starts the query if it has not started.
    ///
    /// The walk is all that a turn shares with it, so that the rest of the query is in registers.
    #[inline(never)]
    fn advance<Q: Terms, F: Filter>(&mut self, filter: F, padded: bool) -> bool {
        self.start::<Q, F>(padded);
        if !F::BY_CHUNK {
            match self.ready.resume() {
                ReadyNext::Ready => return true,
                ReadyNext::Many(entry) => self.entry = entry,
                ReadyNext::End => return false,
            }
        }
        self.enter::<Q, F>(&filter)
    }

    /// [`Walk::next`] in the archetype that the walk is in.
    #[inline(always)]
    fn next_here<Q: Terms, F: Filter, C: Cut<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<C::Output> {
        let slices = self.place.as_mut()?.next::<Q, F, C>(filter, padded, self.now);
        if slices.is_none() {
            self.place = None;
        }
        slices
    }
}

impl<'w> Ahead<'w> {
    /// Lends an archetype, if it has rows. Numbers ascend.
    #[inline(always)]
    fn take<Q: Terms>(&mut self, number: usize, row: CutRow<'w>) -> Option<Place<'w>> {
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
                let chunks = CutChunks::shared(&archetype.list, row);
                (chunks, &archetype.stamps, &*archetype.entities)
            }
            Self::Leased(lease) if Q::WRITES => {
                let archetype = lease.archetype(number);
                if archetype.is_empty() {
                    return None;
                }
                (lease.cut(archetype, row), &archetype.stamps, &*archetype.entities)
            }
            _ => unreachable!("a query that writes has its archetypes exclusively, and only it"),
        };
        Some(Place { chunks, stamps, entities, archetype: number, watched: &[], prefetch: false })
    }
}

impl<'w> Place<'w> {
    #[inline]
    fn passes<F: Filter>(&self, filter: &F, at: StampAt) -> bool {
        let mut watched = self.watched;
        filter.passes(self.stamps, &mut watched, at)
    }

    /// Cuts the archetype's next chunk that passes the filter.
    #[inline(always)]
    pub(super) fn turn<F: Filter>(&mut self, filter: &F, padded: bool) -> Option<Turn<'w>> {
        while F::BY_CHUNK && !self.chunks.is_done() {
            if self.passes(filter, StampAt::Chunk(self.chunks.index())) {
                break;
            }
            self.chunks.skip();
        }
        let chunk = self.chunks.index();
        let cutter = self.chunks.cut(padded)?;
        if self.prefetch {
            self.chunks.prefetch_next();
        }
        let start = chunk * self.chunks.capacity();
        let entities = EntityRun { all: self.entities, start, len: cutter.live() };
        Some(Turn { cutter, entities, chunk })
    }
}

impl<'w> Place<'w> {
    /// [`Walk::next`] in this archetype.
    #[inline(always)]
    fn next<Q: Terms, F: Filter, C: Cut<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
        now: Version,
    ) -> Option<C::Output> {
        let turn = self.turn(filter, padded)?;
        touch::<Q>(self.stamps, self.chunks.row(), turn.chunk, now);
        Some(C::cut(turn.cutter, turn.entities))
    }
}

/// Whether it pays to ask for the first lines of the next chunk.
#[inline]
fn wants_prefetch(chunks: &CutChunks<'_>) -> bool {
    /// Fewer chunks than this are at most 1 MiB at any chunk size.
    const CHUNKS_MIN: usize = 5;
    let bytes = || chunks.count() * chunks.capacity() * chunks.row().row_bytes();
    chunks.count() >= CHUNKS_MIN && PREFETCH_BYTES.contains(&bytes())
}
