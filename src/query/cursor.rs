//! The cursor of a pass: archetype after archetype, chunk after chunk.
//!
//! [`RemainingArchetypes`] knows which archetypes are left. A [`ChunkCursor`] takes the chunks of
//! cached archetypes from there, and *enters* the others: it takes their chunks from their lists.
//! A chunk is taken ([`ChunkCursor::cut_next`]), or taken, stamped and cut into slices
//! ([`ChunkCursor::next`], [`ChunkCursor::fold`]).

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

/// Bytes of archetypes whose next chunk is prefetched: their columns exceed the second-level cache,
/// but not the last level. `p += v * dt`, ns per row, 8 lines of each page against none:
///
/// | rows | bytes | Zen 5, plain | Zen 5, prefetched |
/// | --- | --- | --- | --- |
/// | 300,000 | 7 MB | 0.225 | 0.222 |
/// | 1,000,000 | 24 MB | 0.38 to 0.50 | 0.33 to 0.44 |
/// | 8,000,000 | 192 MB | 0.83 | 0.86 |
///
/// At memory size prefetching cost 3 % there, where it had gained 7 % on Zen 4, so it is left out.
/// In the second-level cache (240 KB) it gained nothing, and the distance between columns did not
/// matter. Iterating in blocks of 64 rows, with all lines of a later chunk prefetched, was slower
/// in each case.
const PREFETCH_BYTES: core::ops::RangeInclusive<usize> = 1 << 20..=32 << 20;

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
    prefetch: bool,
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
pub(super) trait Yield<'w> {
    type Item;
    fn cut(columns: impl Columns<'w>, entities: EntityRun<'w>) -> Self::Item;
}

/// Yields the slices of the terms `Q`.
pub(super) struct YieldSlices<Q>(PhantomData<Q>);

impl<'w, Q: Terms> Yield<'w> for YieldSlices<Q> {
    type Item = Q::Slices<'w>;

    #[inline(always)]
    fn cut(mut columns: impl Columns<'w>, entities: EntityRun<'w>) -> Q::Slices<'w> {
        Q::cut(&mut columns, entities)
    }
}

/// Yields an iterator over the rows of the terms `Q`.
pub(super) struct YieldRows<Q>(PhantomData<Q>);

impl<'w, Q: Terms> Yield<'w> for YieldRows<Q> {
    type Item = Q::Rows<'w>;

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
    pub(super) fn next<Q: Terms, F: Filter, Y: Yield<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<Y::Item> {
        loop {
            // There may be thousands of archetypes with one chunk: they are not entered.
            if !F::BY_CHUNK
                && let Some(columns) = self.remaining.next_cached(self.now)
            {
                let entities = EntityRun::all(columns.entities());
                return Some(Y::cut(columns, entities));
            }
            if self.current.is_some()
                && let Some(item) = self.next_in_current::<Q, F, Y>(filter, padded)
            {
                return Some(item);
            }
            if !self.next_archetype::<Q, F>(*filter) {
                return None;
            }
        }
    }

    /// Folds what [`ChunkCursor::next`] would yield until the end. Runs of cached chunks are taken
    /// in registers.
    #[inline]
    pub(super) fn fold<Q: Terms, F: Filter, Y: Yield<'w>, B>(
        &mut self,
        filter: &F,
        padded: bool,
        init: B,
        mut f: impl FnMut(B, Y::Item) -> B,
    ) -> B {
        let mut folded = init;
        loop {
            if !F::BY_CHUNK {
                folded = self.remaining.fold_cached(self.now, folded, |folded, columns| {
                    let entities = EntityRun::all(columns.entities());
                    f(folded, Y::cut(columns, entities))
                });
            }
            while let Some(item) = self.next_in_current::<Q, F, Y>(filter, padded) {
                folded = f(folded, item);
            }
            if !self.next_archetype::<Q, F>(*filter) {
                return folded;
            }
        }
    }

    /// Goes to the next archetype that has rows and passes the filter, and enters it unless its
    /// chunk is cached. False at the end.
    ///
    /// Takes the filter by value: only the cursor is in memory then, and the rest of the iterator
    /// stays in registers.
    #[inline(never)]
    fn next_archetype<Q: Terms, F: Filter>(&mut self, filter: F) -> bool {
        if !F::BY_CHUNK {
            match self.remaining.resume() {
                NextStep::Cached => return true,
                NextStep::Enter => {}
                NextStep::End => return false,
            }
        }
        self.enter::<Q, F>(&filter)
    }

    /// [`ChunkCursor::next`] in the current archetype, which is left when no chunk remains.
    #[inline(always)]
    fn next_in_current<Q: Terms, F: Filter, Y: Yield<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
    ) -> Option<Y::Item> {
        let item = self.current.as_mut()?.next::<Q, F, Y>(filter, padded, self.now);
        if item.is_none() {
            self.current = None;
        }
        item
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
        if self.prefetch {
            self.chunks.prefetch_next();
        }
        let start = chunk * self.chunks.capacity();
        let entities = EntityRun::new(self.entities, start, columns.live());
        Some(CutChunk { columns, entities, chunk })
    }

    /// [`ChunkCursor::next`] in this archetype.
    #[inline(always)]
    fn next<Q: Terms, F: Filter, Y: Yield<'w>>(
        &mut self,
        filter: &F,
        padded: bool,
        now: Version,
    ) -> Option<Y::Item> {
        let cut = self.cut_next(filter, padded)?;
        stamp_columns::<Q>(self.stamps, self.chunks.columns(), cut.chunk, now);
        Some(Y::cut(cut.columns, cut.entities))
    }
}

/// Whether prefetching the next chunk pays: see [`PREFETCH_BYTES`].
#[inline]
fn wants_prefetch(chunks: &ChunkIter<'_>) -> bool {
    /// Fewer chunks than this are at most 1 MiB at any chunk size.
    const CHUNKS_MIN: usize = 5;
    let bytes = || chunks.chunk_len() * chunks.capacity() * chunks.columns().row_bytes();
    chunks.chunk_len() >= CHUNKS_MIN && PREFETCH_BYTES.contains(&bytes())
}
