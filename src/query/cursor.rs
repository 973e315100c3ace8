//! The cursor of a pass: archetype after archetype, chunk after chunk.
//!
//! [`RemainingArchetypes`] knows which archetypes are left. A [`ChunkCursor`] takes the chunks of
//! cached archetypes from there, and *enters* the others: it takes their chunks from their lists,
//! as [runs](ChunkRun) of those that follow each other in memory. A chunk is taken
//! ([`ChunkCursor::cut_next`]), or taken, stamped and cut into slices ([`ChunkCursor::next`],
//! [`ChunkCursor::fold`]).

use crate::entity::Entity;
use crate::storage::{
    ArchetypeColumns, CachedChunk, ChunkColumns, ChunkIter, ColumnRef, Columns, StampKind, Stamps,
};
use crate::version::Version;

use super::chunk_run::ChunkRun;
use super::entity_run::EntityRun;
use super::filter::{Filter, StampAt};
use super::remaining::{EnteredArchetype, NextStep, RemainingArchetypes};
use super::run_stamps::RunStamps;
use super::store_borrow::StoreBorrow;
use super::terms::Terms;

/// Stamps the columns of a chunk that the terms `Q` write.
#[inline]
pub(super) fn stamp_columns<Q: Terms>(
    stamps: &Stamps,
    columns: ArchetypeColumns<'_>,
    chunk: usize,
    now: Version,
) {
    if Q::WRITES {
        for column in &columns.columns()[..Q::COLUMNS] {
            if let Some(written) = column.written() {
                stamps.touch(StampKind::column(written), chunk, now);
            }
        }
    }
}

/// The position of a pass in the archetype that it has entered.
#[derive(Debug)]
pub(super) struct ArchetypeCursor<'w> {
    pub(super) chunks: ChunkIter<'w>,
    pub(super) stamps: &'w Stamps,
    entities: &'w [Entity],
    /// The archetype's number.
    pub(super) archetype: usize,
    /// The columns that filters watch.
    watched: &'w [ColumnRef],
}

/// The position of a pass in its world.
#[derive(Debug)]
pub(super) struct ChunkCursor<'w> {
    remaining: RemainingArchetypes<'w>,
    pub(super) now: Version,
    /// The archetype that was entered last, until it has no chunk left.
    pub(super) current: Option<ArchetypeCursor<'w>>,
}

/// A chunk that was taken from its list and is not stamped yet.
#[derive(Debug)]
pub(super) struct CutChunk<'w> {
    pub(super) columns: ChunkColumns<'w>,
    pub(super) entities: EntityRun<'w>,
    /// The chunk's number.
    pub(super) chunk: usize,
}

/// What an iterator yields for each chunk.
pub(super) trait Yield<'w, Q: Terms> {
    type Item;
    fn of(slices: Q::Slices<'w>, rows: usize) -> Self::Item;
}

/// Yields the slices.
pub(super) struct YieldSlices;

impl<'w, Q: Terms> Yield<'w, Q> for YieldSlices {
    type Item = Q::Slices<'w>;

    #[inline(always)]
    fn of(slices: Q::Slices<'w>, _: usize) -> Q::Slices<'w> {
        slices
    }
}

/// Yields an iterator over the rows.
pub(super) struct YieldRows;

impl<'w, Q: Terms> Yield<'w, Q> for YieldRows {
    type Item = Q::Rows<'w>;

    #[inline(always)]
    fn of(slices: Q::Slices<'w>, rows: usize) -> Q::Rows<'w> {
        Q::rows(slices, rows)
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
        let (remaining, now) = RemainingArchetypes::new::<Q, F>(borrow, padded);
        Self { remaining, now, current: None }
    }

    /// Enters the next archetype that has rows and passes the filter. False at the end.
    ///
    /// Out of line, so that taking a chunk stays short.
    #[inline(never)]
    pub(super) fn enter<Q: Terms, F: Filter>(&mut self, filter: &F) -> bool {
        let mut watched: &'w [ColumnRef] = &[];
        let entered = self.remaining.enter::<Q>(|entered, plan| {
            if F::BY_CHUNK {
                watched = plan.watched(entered.entry);
                return filter.passes(entered.stamps, &mut { watched }, StampAt::Newest);
            }
            true
        });
        self.current = entered.map(|entered| ArchetypeCursor::new(entered, watched));
        self.current.is_some()
    }

    /// Takes the next chunk that passes the filter, without stamping it. Enters every archetype.
    #[inline]
    pub(super) fn cut_next<Q: Terms, F: Filter>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<CutChunk<'w>> {
        loop {
            if let Some(current) = &mut self.current
                && let Some(cut) = current.cut_next(filter, padded)
            {
                return Some(cut);
            }
            if !self.enter::<Q, F>(filter) {
                return None;
            }
        }
    }

    /// Stamps the columns that `Q` writes in a chunk of the current archetype.
    #[inline]
    pub(super) fn stamp<Q: Terms>(&mut self, chunk: usize) {
        if let Some(current) = &mut self.current {
            stamp_columns::<Q>(current.stamps, current.chunks.columns(), chunk, self.now);
        }
    }

    /// Stamps one column of a chunk of the current archetype. `index` counts the terms' columns.
    pub(super) fn stamp_column(&mut self, index: usize, chunk: usize) {
        let current = self.current.as_ref().expect("a chunk is stamped before one was taken");
        let column = current.chunks.columns().columns()[index];
        let written = column.written().expect("a column is stamped that the query does not write");
        current.stamps.touch(StampKind::column(written), chunk, self.now);
    }

    /// Takes and stamps the next chunk that passes the filter, and yields it.
    #[inline(always)]
    pub(super) fn next<Q: Terms, F: Filter, Y: Yield<'w, Q>>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: &F,
        padded: bool,
    ) -> Option<Y::Item> {
        loop {
            // There may be thousands of archetypes with one chunk: they are not entered.
            if !F::BY_CHUNK
                && let Some(columns) = self.remaining.next_cached(self.now)
            {
                return Some(yield_cached::<Q, Y>(columns));
            }
            if let Some((slices, rows)) = run.next(self.now) {
                return Some(Y::of(slices, rows));
            }
            if !self.next_run::<Q, F>(run, *filter, padded) {
                return None;
            }
        }
    }

    /// Takes and stamps the next chunks that follow each other in memory and pass the filter.
    pub(super) fn next_extent<Q: Terms, F: Filter>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: &F,
        padded: bool,
    ) -> Option<Q::Slices<'w>> {
        loop {
            if let Some(slices) = run.take(self.now) {
                return Some(slices);
            }
            if !F::BY_CHUNK
                && let Some(columns) = self.remaining.next_cached(self.now)
            {
                return Some(yield_cached::<Q, YieldSlices>(columns));
            }
            if !self.next_run::<Q, F>(run, *filter, padded) {
                return None;
            }
        }
    }

    /// Folds what [`ChunkCursor::next`] would yield until the end. Runs of cached chunks are taken
    /// in registers.
    #[inline]
    pub(super) fn fold<Q: Terms, F: Filter, Y: Yield<'w, Q>, B>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: &F,
        padded: bool,
        init: B,
        mut f: impl FnMut(B, Y::Item) -> B,
    ) -> B {
        let mut folded = init;
        loop {
            let (now, mut chunks) = (self.now, core::mem::replace(run, ChunkRun::empty()));
            while let Some((slices, rows)) = chunks.next(now) {
                folded = f(folded, Y::of(slices, rows));
            }
            if !F::BY_CHUNK {
                folded = self.remaining.fold_cached(self.now, folded, |folded, columns| {
                    f(folded, yield_cached::<Q, Y>(columns))
                });
            }
            if !self.next_run::<Q, F>(run, *filter, padded) {
                return folded;
            }
        }
    }

    /// Goes to the next chunks: a run of the current archetype, or of the next one that has rows
    /// and passes the filter, unless its chunk is cached. False at the end.
    ///
    /// Takes the filter by value: only the cursor and the run are in memory then, and the rest of
    /// the iterator stays in registers.
    #[inline(never)]
    pub(super) fn next_run<Q: Terms, F: Filter>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: F,
        padded: bool,
    ) -> bool {
        loop {
            let now = self.now;
            if let Some(current) = &mut self.current {
                if let Some(next) = current.next_run::<Q, F>(&filter, padded, now) {
                    *run = next;
                    return true;
                }
                self.current = None;
            }
            if !F::BY_CHUNK {
                match self.remaining.resume() {
                    NextStep::Cached => return true,
                    NextStep::Enter => {}
                    NextStep::End => return false,
                }
            }
            if !self.enter::<Q, F>(&filter) {
                return false;
            }
        }
    }
}

/// What is yielded for a cached chunk.
#[inline(always)]
fn yield_cached<'w, Q: Terms, Y: Yield<'w, Q>>(mut columns: CachedChunk<'w>) -> Y::Item {
    let (entities, rows) = (EntityRun::all(columns.entities()), columns.len());
    Y::of(Q::cut(&mut columns, entities), rows)
}

impl<'w> ArchetypeCursor<'w> {
    fn new(entered: EnteredArchetype<'w>, watched: &'w [ColumnRef]) -> Self {
        let EnteredArchetype { chunks, stamps, entities, archetype, .. } = entered;
        Self { chunks, stamps, entities, archetype, watched }
    }

    #[inline]
    fn passes<F: Filter>(&self, filter: &F, at: StampAt) -> bool {
        let mut watched = self.watched;
        filter.passes(self.stamps, &mut watched, at)
    }

    /// [`ChunkCursor::cut_next`] in this archetype.
    #[inline(always)]
    pub(super) fn cut_next<F: Filter>(&mut self, filter: &F, padded: bool) -> Option<CutChunk<'w>> {
        while F::BY_CHUNK && !self.chunks.is_done() {
            if self.passes(filter, StampAt::Chunk(self.chunks.index())) {
                break;
            }
            self.chunks.skip();
        }
        let chunk = self.chunks.index();
        let columns = self.chunks.next_chunk(padded)?;
        let start = chunk * self.chunks.capacity();
        let entities = EntityRun::new(self.entities, start, columns.live());
        Some(CutChunk { columns, entities, chunk })
    }

    /// The next chunks that follow each other in memory, or the next one that passes the filter.
    #[inline]
    fn next_run<Q: Terms, F: Filter>(
        &mut self,
        filter: &F,
        padded: bool,
        now: Version,
    ) -> Option<ChunkRun<'w, Q>> {
        let CutChunk { columns, entities, chunk } = if F::BY_CHUNK {
            self.cut_next(filter, padded)?
        } else {
            let chunk = self.chunks.index();
            let columns = self.chunks.next_run(padded)?;
            let start = chunk * self.chunks.capacity();
            let entities = EntityRun::new(self.entities, start, columns.live());
            CutChunk { columns, entities, chunk }
        };
        let stamps = RunStamps {
            columns: self.chunks.columns().columns().iter(),
            stamps: self.stamps,
            chunks: chunk..self.chunks.index(),
            now,
        };
        Some(ChunkRun::new(columns, entities, stamps, self.chunks.capacity()))
    }
}
