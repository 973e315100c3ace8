//! The walk over a plan: archetype after archetype, chunk after chunk. Which archetypes are still
//! to be cut is what [`RemainingArchetypes`] knows.

use core::marker::PhantomData;

use crate::entity::Entity;
use crate::storage::{
    ArchetypeColumns, ChunkColumns, ChunkIter, ColumnRef, Columns, StampKind, Stamps,
};
use crate::version::Version;

use super::entity_run::EntityRun;
use super::filter::{Filter, StampAt};
use super::remaining::{EnteredArchetype, NextStep, RemainingArchetypes};
use super::store_borrow::StoreBorrow;
use super::terms::Terms;

/// ArchetypeSource whose columns outgrow the second-level cache but not the last level have the next
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

/// Stamps the columns of a chunk that `row` writes.
#[inline]
pub(super) fn stamp<Q: Terms>(
    stamps: &Stamps,
    row: ArchetypeColumns<'_>,
    chunk: usize,
    now: Version,
) {
    if Q::WRITES {
        for column in &row.columns()[..Q::COLUMNS] {
            if let Some(written) = column.written() {
                stamps.touch(StampKind::column(written), chunk, now);
            }
        }
    }
}

/// The archetype that a walk is in.
#[derive(Debug)]
pub(super) struct ArchetypeCursor<'w> {
    pub(super) chunks: ChunkIter<'w>,
    pub(super) stamps: &'w Stamps,
    entities: &'w [Entity],
    pub(super) archetype: usize,
    /// The columns that filters watch.
    watched: &'w [ColumnRef],
    prefetch: bool,
}

/// A query's way through its world, which begins with the first turn.
#[derive(Debug)]
pub(super) struct ChunkCursor<'w> {
    ahead: RemainingArchetypes<'w>,
    pub(super) now: Version,
    pub(super) place: Option<ArchetypeCursor<'w>>,
}

/// One cut of a chunk, not yet stamped.
#[derive(Debug)]
pub(super) struct CutChunk<'w> {
    pub(super) cutter: ChunkColumns<'w>,
    pub(super) entities: EntityRun<'w>,
    pub(super) chunk: usize,
}

/// What an iterator makes of a turn.
pub(super) trait Cut<'w> {
    type Output;
    fn cut(columns: impl Columns<'w>, entities: EntityRun<'w>) -> Self::Output;
}

/// The slices of the terms `Q`.
pub(super) struct Slices<Q>(PhantomData<Q>);

impl<'w, Q: Terms> Cut<'w> for Slices<Q> {
    type Output = Q::Slices<'w>;

    #[inline(always)]
    fn cut(mut columns: impl Columns<'w>, entities: EntityRun<'w>) -> Q::Slices<'w> {
        Q::cut(&mut columns, entities)
    }
}

/// The rows of the terms `Q`.
pub(super) struct SliceRows<Q>(PhantomData<Q>);

impl<'w, Q: Terms> Cut<'w> for SliceRows<Q> {
    type Output = Q::Rows<'w>;

    #[inline(always)]
    fn cut(mut columns: impl Columns<'w>, entities: EntityRun<'w>) -> Q::Rows<'w> {
        let len = columns.len();
        Q::rows(Q::cut(&mut columns, entities), len)
    }
}

impl<'w> ChunkCursor<'w> {
    /// Begins a pass.
    ///
    /// # Panics
    ///
    /// If a query of a split world asks for more than its access allows.
    #[inline(never)]
    pub(super) fn new<Q: Terms, F: Filter>(borrow: StoreBorrow<'w>, padded: bool) -> Self {
        let (ahead, now) = RemainingArchetypes::new::<Q, F>(borrow, padded);
        Self { ahead, now, place: None }
    }

    /// Enters the next archetype that has rows and passes the filter; false at the end.
    ///
    /// Out of line: turns in between are short.
    #[inline(never)]
    pub(super) fn enter<Q: Terms, F: Filter>(&mut self, filter: &F) -> bool {
        let mut watched: &'w [ColumnRef] = &[];
        let entered = self.ahead.enter::<Q>(|entered, plan| {
            if F::BY_CHUNK {
                watched = plan.watched(entered.entry);
                return filter.passes(entered.stamps, &mut { watched }, StampAt::Newest);
            }
            true
        });
        self.place = entered.map(|entered| ArchetypeCursor::new(entered, watched));
        self.place.is_some()
    }

    /// Cuts the next chunk that passes the filter, without stamping it.
    #[inline]
    pub(super) fn turn<Q: Terms, F: Filter>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<CutChunk<'w>> {
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
    pub(super) fn stamp<Q: Terms>(&mut self, chunk: usize) {
        if let Some(place) = &mut self.place {
            stamp::<Q>(place.stamps, place.chunks.columns(), chunk, self.now);
        }
    }

    /// Stamps one column of what a turn handed out, that of the term with this number.
    pub(super) fn stamp_one(&mut self, column: usize, chunk: usize) {
        let place = self.place.as_ref().expect("a turn was taken");
        let written = place.chunks.columns().columns()[column].written().expect("it is written");
        place.stamps.touch(StampKind::column(written), chunk, self.now);
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
                && let Some(cutter) = self.ahead.next_ready(self.now)
            {
                let entities = EntityRun::all(cutter.entities());
                return Some(C::cut(cutter, entities));
            }
            if self.place.is_some()
                && let Some(slices) = self.next_here::<Q, F, C>(filter, padded)
            {
                return Some(slices);
            }
            if !self.advance::<Q, F>(*filter) {
                return None;
            }
        }
    }

    /// [`ChunkCursor::next`] of all that is left. Runs of archetypes of one chunk stay in registers.
    #[inline]
    pub(super) fn fold<Q: Terms, F: Filter, C: Cut<'w>, B>(
        &mut self,
        filter: &F,
        padded: bool,
        init: B,
        mut f: impl FnMut(B, C::Output) -> B,
    ) -> B {
        let mut folded = init;
        loop {
            if !F::BY_CHUNK {
                folded = self.ahead.fold_ready(self.now, folded, |folded, cutter| {
                    let entities = EntityRun::all(cutter.entities());
                    f(folded, C::cut(cutter, entities))
                });
            }
            while let Some(slices) = self.next_here::<Q, F, C>(filter, padded) {
                folded = f(folded, slices);
            }
            if !self.advance::<Q, F>(*filter) {
                return folded;
            }
        }
    }

    /// Goes to the next archetype that has rows and passes the filter, and enters it unless it is
    /// cut ahead of time; false at the end.
    ///
    /// The walk is all that a turn shares with it, so that the rest of the query is in registers.
    #[inline(never)]
    fn advance<Q: Terms, F: Filter>(&mut self, filter: F) -> bool {
        if !F::BY_CHUNK {
            match self.ahead.resume() {
                NextStep::Ready => return true,
                NextStep::Enter => {}
                NextStep::End => return false,
            }
        }
        self.enter::<Q, F>(&filter)
    }

    /// [`ChunkCursor::next`] in the archetype that the walk is in.
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

impl<'w> ArchetypeCursor<'w> {
    fn new(entered: EnteredArchetype<'w>, watched: &'w [ColumnRef]) -> Self {
        let EnteredArchetype { chunks, stamps, entities, archetype, .. } = entered;
        let prefetch = wants_prefetch(&chunks);
        Self { chunks, stamps, entities, archetype, watched, prefetch }
    }

    #[inline]
    fn passes<F: Filter>(&self, filter: &F, at: StampAt) -> bool {
        let mut watched = self.watched;
        filter.passes(self.stamps, &mut watched, at)
    }

    /// Cuts the archetype's next chunk that passes the filter.
    #[inline(always)]
    pub(super) fn turn<F: Filter>(&mut self, filter: &F, padded: bool) -> Option<CutChunk<'w>> {
        while F::BY_CHUNK && !self.chunks.is_done() {
            if self.passes(filter, StampAt::Chunk(self.chunks.index())) {
                break;
            }
            self.chunks.skip();
        }
        let chunk = self.chunks.index();
        let cutter = self.chunks.next_chunk(padded)?;
        if self.prefetch {
            self.chunks.prefetch_next();
        }
        let start = chunk * self.chunks.capacity();
        let entities = EntityRun::new(self.entities, start, cutter.live());
        Some(CutChunk { cutter, entities, chunk })
    }
}

impl<'w> ArchetypeCursor<'w> {
    /// [`ChunkCursor::next`] in this archetype.
    #[inline(always)]
    fn next<Q: Terms, F: Filter, C: Cut<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
        now: Version,
    ) -> Option<C::Output> {
        let turn = self.turn(filter, padded)?;
        stamp::<Q>(self.stamps, self.chunks.columns(), turn.chunk, now);
        Some(C::cut(turn.cutter, turn.entities))
    }
}

/// Whether it pays to ask for the first lines of the next chunk.
#[inline]
fn wants_prefetch(chunks: &ChunkIter<'_>) -> bool {
    /// Fewer chunks than this are at most 1 MiB at any chunk size.
    const CHUNKS_MIN: usize = 5;
    let bytes = || chunks.chunk_len() * chunks.capacity() * chunks.columns().row_bytes();
    chunks.chunk_len() >= CHUNKS_MIN && PREFETCH_BYTES.contains(&bytes())
}
