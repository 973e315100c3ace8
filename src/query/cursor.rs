//! The cursor of a pass: archetype after archetype, chunk after chunk.
//!
//! A [`Pass`] knows the archetypes that are left. A [`ChunkCursor`] takes the chunks of cached
//! archetypes from there, and *enters* the others: it takes their chunks from their lists, as
//! [runs](ChunkRun) of chunks that follow each other in memory. A chunk is taken
//! ([`ChunkCursor::cut_next`]), or taken, stamped and cut into slices ([`ChunkCursor::next`],
//! [`ChunkCursor::fold`]).

use crate::archetype::ChunkMeta;
use crate::component::Component;
use crate::entity::Directory;
use crate::storage::{
    CachedChunk, ChunkColumns, ChunkIter, ChunkRow, ColumnRef, Columns, EnableRules, RowMask,
    SliceRows, Visibility,
};
use crate::store::{EnteredArchetype, NextStep, Pass, Plan};
use crate::version::Version;

use super::begin_pass::begin_pass;
use super::chunk_rows::ChunkRows;
use super::chunk_run::{ChunkRun, stamp_columns};
use super::cut_chunk::CutChunk;
use super::filter::{Filter, StampAt};
use super::member_walk::BegunChunks;
use super::open_filter::{OpenFilter, seen_rows};
use super::query_type::{is_by_chunk, is_by_row};
use super::run_stamps::RunStamps;
use super::tagged::next_entry;
use super::terms::{BorrowOf, HeldOf, OpenOf, Terms};

/// The position of a pass in the archetype that it has entered.
#[derive(Debug)]
pub(super) struct ArchetypeCursor<'w> {
    pub(super) chunks: ChunkIter<'w>,
    pub(super) beside: ChunkMeta<'w>,
    /// The archetype's number.
    pub(super) archetype: usize,
    /// The columns that filters watch.
    watched: &'w [ColumnRef],
    /// The rules that the query has for the enable bits of rows.
    rows: &'w EnableRules,
    /// The version of written columns.
    now: Version,
}

/// The position of a pass in its world.
#[derive(Debug)]
pub(super) struct ChunkCursor<'w> {
    pub(super) pass: Pass<'w>,
    /// The archetype that was entered last, as long as it has chunks left.
    pub(super) current: Option<ArchetypeCursor<'w>>,
}

/// The item that an iterator makes of each chunk.
pub(super) trait Yield<'w, Q: Terms> {
    type Item;
    fn of(slices: Q::Slices<'w>, rows: usize) -> Self::Item;
    /// The next rows of a chunk of a query that chooses rows.
    fn next_seen(run: &mut ChunkRun<'w, Q>, now: Version) -> Option<Self::Item>;
}

/// Yields the slices.
pub(super) struct YieldSlices;

impl<'w, Q: Terms> Yield<'w, Q> for YieldSlices {
    type Item = Q::Slices<'w>;

    #[inline(always)]
    fn of(slices: Q::Slices<'w>, _: usize) -> Q::Slices<'w> {
        slices
    }

    #[inline(always)]
    fn next_seen(run: &mut ChunkRun<'w, Q>, now: Version) -> Option<Q::Slices<'w>> {
        run.next_seen(now)
    }
}

/// Yields an iterator over the rows.
pub(super) struct YieldRows;

impl<'w, Q: Terms> Yield<'w, Q> for YieldRows {
    type Item = Q::Rows<'w>;

    #[inline(always)]
    fn of(slices: Q::Slices<'w>, rows: usize) -> Self::Item {
        Q::rows(slices, rows)
    }

    #[inline(always)]
    fn next_seen(_: &mut ChunkRun<'w, Q>, _: Version) -> Option<Self::Item> {
        unreachable!("rows that a query chooses are taken part by part")
    }
}

impl<'w> ChunkCursor<'w> {
    /// Begins a pass.
    ///
    /// # Panics
    ///
    /// If a query of a split world asks for more than its access allows.
    #[inline]
    pub(super) fn new<Q: Terms, F: Filter>(
        borrow: BorrowOf<'w, Q>,
        held: HeldOf<'w, Q>,
        filter: OpenFilter<'w, F>,
        slice_rows: SliceRows,
    ) -> (Self, OpenOf<'w, Q>, OpenFilter<'w, F>, &'w Directory) {
        let (pass, sets, filter, directory) = begin_pass::<Q, F>(borrow, held, filter, slice_rows);
        (Self { pass, current: None }, sets, filter, directory)
    }

    /// The version of written columns.
    #[inline]
    pub(super) const fn now(&self) -> Version {
        self.pass.now()
    }

    /// Enters the next archetype that has rows and passes the filter. False at the end. Out of
    /// line, so that taking a chunk stays short.
    #[inline(never)]
    pub(super) fn enter<Q: Terms, F: Filter>(&mut self, filter: &OpenFilter<'w, F>) -> bool {
        // Archetypes that the tags of the filter exclude are skipped together.
        self.enter_chosen::<Q, F>(filter, |plan, from| next_entry::<F>(plan, filter, from))
    }

    /// [`ChunkCursor::enter`] of entries of the plan that are chosen.
    #[inline(always)]
    pub(super) fn enter_chosen<Q: Terms, F: Filter>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        choose: impl Fn(&'w Plan, usize) -> Option<usize>,
    ) -> bool {
        let (mut watched, mut rows): (&'w [ColumnRef], &'w EnableRules) = (&[], &[]);
        let entered = self.pass.enter(Q::WRITES, choose, |entered, plan| {
            if is_by_row::<Q, F>() {
                rows = plan.rows(entered.entry);
            }
            if F::BY_CHUNK {
                watched = plan.watched(entered.entry);
                return filter.passes(entered.beside, &mut { watched }, StampAt::Newest);
            }
            true
        });
        let (now, columns) = (self.now(), (watched, rows));
        self.current = entered.map(|entered| ArchetypeCursor::new::<F>(entered, columns, now));
        self.current.is_some()
    }

    /// Takes the next chunk that passes the filter, without stamping it. Enters every archetype.
    #[inline]
    pub(super) fn cut_next<Q: Terms, F: Filter>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
    ) -> Option<CutChunk<'w>> {
        self.cut_wanted::<Q, F>(filter, slice_rows, || true)
    }

    /// [`ChunkCursor::cut_next`] of the chunks for which `is_wanted` is true. It is called once for
    /// each chunk that passes, in their order.
    #[inline]
    pub(super) fn cut_wanted<Q: Terms, F: Filter>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
        mut is_wanted: impl FnMut() -> bool,
    ) -> Option<CutChunk<'w>> {
        loop {
            if let Some(current) = &mut self.current
                && let Some(cut) = current.cut_wanted::<Q, F>(filter, slice_rows, &mut is_wanted)
            {
                return Some(cut);
            }
            if !self.enter::<Q, F>(filter) {
                return None;
            }
        }
    }

    /// Stamps the columns that `Q` writes in a chunk of the current archetype, in all rows or in
    /// some.
    #[inline]
    pub(super) fn stamp<Q: Terms>(&mut self, chunk: usize, rows: Option<RowMask<'_>>) {
        if let Some(current) = &mut self.current {
            let columns = current.chunks.columns();
            stamp_columns::<Q>(current.beside, columns, (chunk, rows), self.now());
        }
    }

    /// Stamps one column of a chunk of the current archetype, in all rows or in some. `index`
    /// counts the terms' columns.
    pub(super) fn stamp_column<C: Component>(
        &mut self,
        index: usize,
        chunk: usize,
        rows: Option<RowMask<'_>>,
    ) {
        let current = self.current.as_ref().expect("a chunk is stamped before one was taken");
        let columns = (&current.chunks.columns().columns()[index..], current.beside);
        let mut run = RunStamps::new(columns, chunk..chunk + 1, (rows, 0), self.now());
        run.next_column::<C>().touch_next(self.now());
    }

    /// Takes and stamps the next chunk that passes the filter, and yields it.
    #[inline(always)]
    pub(super) fn next<Q: Terms, F: Filter, Y: Yield<'w, Q>>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
        sets: OpenOf<'w, Q>,
    ) -> Option<Y::Item> {
        loop {
            // There may be thousands of archetypes with one chunk: they are not entered.
            if !is_by_chunk::<Q, F>()
                && let Some(columns) = self.pass.next_cached()
            {
                return Some(yield_cached::<Q, Y>(columns, sets));
            }
            let next = match is_by_row::<Q, F>() {
                true => Y::next_seen(run, self.now()),
                false => run.next(self.now()).map(|(slices, rows)| Y::of(slices, rows)),
            };
            if let Some(next) = next {
                return Some(next);
            }
            if self.pass.is_over() || !self.next_run::<Q, F, true>(run, *filter, slice_rows, sets) {
                return None;
            }
        }
    }

    /// Takes and stamps the next chunks that follow each other in memory and pass the filter.
    pub(super) fn next_extent<Q: Terms, F: Filter>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
        sets: OpenOf<'w, Q>,
    ) -> Option<Q::Slices<'w>> {
        loop {
            let next = match is_by_row::<Q, F>() {
                true => run.next_seen(self.now()),
                false => run.take(self.now()),
            };
            if let Some(slices) = next {
                return Some(slices);
            }
            if !is_by_chunk::<Q, F>()
                && let Some(columns) = self.pass.next_cached()
            {
                return Some(yield_cached::<Q, YieldSlices>(columns, sets));
            }
            if !self.next_run::<Q, F, true>(run, *filter, slice_rows, sets) {
                return None;
            }
        }
    }

    /// Folds over the remaining items of [`ChunkCursor::next`]. Runs of cached chunks are taken in
    /// registers.
    #[inline]
    pub(super) fn fold<Q: Terms, F: Filter, Y: Yield<'w, Q>, B>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: &OpenFilter<'w, F>,
        (slice_rows, sets): (SliceRows, OpenOf<'w, Q>),
        init: B,
        mut f: impl FnMut(B, Y::Item) -> B,
    ) -> B {
        let mut folded = init;
        loop {
            let now = self.now();
            if is_by_row::<Q, F>() {
                let mut chunks = core::mem::replace(run, ChunkRun::empty());
                while let Some(next) = Y::next_seen(&mut chunks, now) {
                    folded = f(folded, next);
                }
            } else if !run.is_empty() {
                let mut chunks = core::mem::replace(run, ChunkRun::empty());
                while let Some((slices, rows)) = chunks.next(now) {
                    folded = f(folded, Y::of(slices, rows));
                }
            } else if !is_by_chunk::<Q, F>() {
                folded = self.pass.fold_cached(folded, |folded, columns| {
                    f(folded, yield_cached::<Q, Y>(columns, sets))
                });
            }
            if self.pass.is_over() || !self.next_run::<Q, F, true>(run, *filter, slice_rows, sets) {
                return folded;
            }
        }
    }

    /// Goes to the next chunks: a run of the current archetype, or of the next one that has rows
    /// and passes the filter, unless its chunk is cached. False at the end.
    ///
    /// Takes the filter by value, so that only the cursor and the run are in memory and the rest of
    /// the iterator stays in registers.
    ///
    /// Rows are prefetched if they are taken run by run (`BY_RUN`), and not if they are listed (see
    /// `storage/attachments/few_rows.rs`).
    #[inline(never)]
    pub(super) fn next_run<Q: Terms, F: Filter, const BY_RUN: bool>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: OpenFilter<'w, F>,
        slice_rows: SliceRows,
        sets: OpenOf<'w, Q>,
    ) -> bool {
        loop {
            let now = self.now();
            if let Some(current) = &mut self.current {
                if !current.chunks.is_done()
                    && let Some(next) =
                        current.next_run::<Q, F, BY_RUN>(&filter, (slice_rows, sets), now)
                {
                    *run = next;
                    return true;
                }
                self.current = None;
            }
            if !is_by_chunk::<Q, F>() {
                match self.pass.resume() {
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

/// The item of a cached chunk.
#[inline(always)]
fn yield_cached<'w, Q: Terms, Y: Yield<'w, Q>>(
    mut columns: CachedChunk<'w>,
    sets: OpenOf<'w, Q>,
) -> Y::Item {
    let (beside, rows) = (ChunkRows::of_entities(columns.entities()), columns.len());
    Y::of(Q::cut(&mut columns, beside, sets), rows)
}

impl<'w> ArchetypeCursor<'w> {
    const fn new<F: Filter>(
        entered: EnteredArchetype<'w>,
        (watched, rows): (&'w [ColumnRef], &'w EnableRules),
        now: Version,
    ) -> Self {
        let EnteredArchetype { chunks, beside, archetype, .. } = entered;
        let beside = beside.ignoring_enabled(F::ALL_ROWS);
        Self { chunks, beside, archetype, watched, rows, now }
    }

    #[inline]
    fn passes<F: Filter>(&self, filter: &OpenFilter<'w, F>, at: StampAt) -> bool {
        let mut watched = self.watched;
        filter.passes(self.beside, &mut watched, at)
    }

    /// The rows of the next chunk that the query sees.
    #[inline]
    fn seen<F: Filter>(&self, filter: &OpenFilter<'w, F>) -> RowMask<'w> {
        self.seen_in(filter, self.chunks.next_number())
    }

    /// The rows of a chunk that the query sees.
    #[inline]
    pub(super) fn seen_in<F: Filter>(&self, filter: &OpenFilter<'w, F>, chunk: u32) -> RowMask<'w> {
        let in_chunk = ((chunk, self.chunks.rows(chunk)), self.chunks.capacity());
        seen_rows(filter, (self.rows, self.watched), self.beside, in_chunk)
    }

    /// Stamps the columns that `Q` writes in some rows of a chunk.
    #[inline]
    pub(super) fn stamp_rows<Q: Terms>(&self, rows: RowMask<'w>) {
        let columns = self.chunks.columns();
        stamp_columns::<Q>(self.beside, columns, (rows.chunk() as usize, Some(rows)), self.now);
    }

    /// Takes the next chunks, as if they were one: up to `chunks_max` that follow each other in
    /// memory.
    #[inline]
    pub(super) fn take_chunks<F: Filter>(
        &mut self,
        chunks_max: u32,
    ) -> Option<(ChunkColumns<'w>, ChunkRows<'w>, BegunChunks)> {
        let (first, shift) = (self.chunks.next_number(), self.chunks.shift());
        let columns = self.chunks.next_chunks(chunks_max, SliceRows::Live)?;
        let capacity = u32::try_from(self.chunks.capacity());
        let capacity = capacity.expect("a chunk has 2^32 rows or more");
        let rows = self.chunk_rows::<F>(first, columns.live());
        Some((columns, rows, BegunChunks { first, capacity, shift }))
    }

    /// The rows of `len` rows of the chunks from number `chunk` on.
    #[inline]
    fn chunk_rows<F: Filter>(&self, chunk: u32, len: usize) -> ChunkRows<'w> {
        let start = chunk as usize * self.chunks.capacity();
        let at = ChunkRow { chunk, row: 0 };
        ChunkRows::new(self.beside, (start, len), at, self.now, F::ALL_ROWS)
    }

    /// [`ChunkCursor::cut_next`] in this archetype.
    #[inline(always)]
    pub(super) fn cut_next<Q: Terms, F: Filter>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
    ) -> Option<CutChunk<'w>> {
        self.cut_wanted::<Q, F>(filter, slice_rows, || true)
    }

    /// [`ChunkCursor::cut_wanted`] in this archetype.
    #[inline(always)]
    fn cut_wanted<Q: Terms, F: Filter>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
        is_wanted: impl FnMut() -> bool,
    ) -> Option<CutChunk<'w>> {
        let cut = self.cut_unfetched::<Q, F>(filter, slice_rows, is_wanted)?;
        cut.prefetch::<Q, F>();
        Some(cut)
    }

    /// [`ArchetypeCursor::cut_wanted`] of rows that are not prefetched.
    #[inline(always)]
    fn cut_unfetched<Q: Terms, F: Filter>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        slice_rows: SliceRows,
        mut is_wanted: impl FnMut() -> bool,
    ) -> Option<CutChunk<'w>> {
        let mut seen = RowMask::empty();
        while !self.chunks.is_done() {
            let passes = !F::BY_CHUNK || self.passes(filter, StampAt::Chunk(self.chunks.index()));
            let visibility = match (passes, is_by_row::<Q, F>()) {
                (false, _) => Visibility::None,
                (true, false) => Visibility::All,
                (true, true) => {
                    seen = self.seen(filter);
                    seen.visibility()
                }
            };
            match visibility {
                Visibility::All if is_wanted() => {
                    // All of these rows are seen: later steps need not look at the words of the
                    // mask.
                    seen = RowMask::all_of(seen.chunk(), seen.rows());
                    break;
                }
                Visibility::Partial if is_wanted() => break,
                _ => self.chunks.skip(),
            }
        }
        let chunk = self.chunks.next_number();
        let columns = self.chunks.next_chunk(slice_rows)?;
        let rows = self.chunk_rows::<F>(chunk, columns.live());
        Some(CutChunk { columns, rows, chunk: chunk as usize, seen })
    }

    /// The next chunks that follow each other in memory, or the next one that passes the filter.
    #[inline(always)]
    pub(super) fn next_run<Q: Terms, F: Filter, const BY_RUN: bool>(
        &mut self,
        filter: &OpenFilter<'w, F>,
        (slice_rows, sets): (SliceRows, OpenOf<'w, Q>),
        now: Version,
    ) -> Option<ChunkRun<'w, Q>> {
        let CutChunk { columns, rows, chunk, seen } = if is_by_chunk::<Q, F>() {
            let cut = self.cut_unfetched::<Q, F>(filter, slice_rows, || true)?;
            if BY_RUN {
                cut.prefetch::<Q, F>();
            }
            cut
        } else {
            let chunk = self.chunks.next_number();
            let columns = self.chunks.next_run(slice_rows)?;
            let rows = self.chunk_rows::<F>(chunk, columns.live());
            CutChunk { columns, rows, chunk: chunk as usize, seen: RowMask::empty() }
        };
        let own = (self.chunks.columns().columns(), self.beside);
        let live = u32::try_from(columns.live()).unwrap_or(u32::MAX);
        let seen = (is_by_row::<Q, F>().then_some(seen), live);
        let stamps = RunStamps::new(own, chunk..self.chunks.index(), seen, now);
        Some(ChunkRun::new(columns, rows, sets, stamps, self.chunks.capacity()))
    }
}
