//! Chunks that follow each other in memory, taken together and handed out one by one.
//!
//! Where chunks share an extent, each column of all of them is one long slice. A turn cuts the rows
//! of one chunk off each slice and stamps the chunk: an addition a column, and a store a written
//! column. (Finding the columns of each chunk in its list took 6 ns a turn.)

use core::ops::Range;

use crate::archetype::ChunkMeta;
use crate::storage::{ArchetypeColumns, ChunkColumns, RowMask, RowRuns};
use crate::version::Version;

use super::chunk_rows::ChunkRows;
use super::listed_rows::ListedRows;
use super::run_stamps::RunStamps;
use super::some_rows::SomeRows;
use super::terms::{OpenOf, Terms};

/// Stamps the columns of a chunk that the terms `Q` write: in all rows, or in some.
#[inline]
pub(super) fn stamp_columns<Q: Terms>(
    beside: ChunkMeta<'_>,
    columns: ArchetypeColumns<'_>,
    (chunk, rows): (usize, Option<RowMask<'_>>),
    now: Version,
) {
    if Q::WRITES {
        let live = rows.map_or(0, |rows| rows.rows());
        let own = (columns.columns(), beside);
        let mut stamps = Q::stamps(&mut RunStamps::new(own, chunk..chunk + 1, (rows, live), now));
        Q::touch_next(&mut stamps, now);
    }
}

/// The chunks of a run that were not handed out yet.
pub(super) struct ChunkRun<'w, Q: Terms> {
    slices: Q::Slices<'w>,
    stamps: Q::Stamps<'w>,
    /// Rows of the slices, padding included.
    rows: usize,
    /// Rows of a chunk; the last chunk may have fewer.
    chunk_rows: usize,
    /// For a single chunk of a query that chooses rows: the rows that it sees.
    seen: Option<SeenRuns<'w>>,
}

/// The rows of a chunk that a query sees, as runs that are cut off its slices one by one.
#[derive(Clone, Debug)]
pub(super) struct SeenRuns<'w> {
    runs: RowRuns<'w>,
    /// The row at which the slices begin.
    at: u32,
}

impl<'w> SeenRuns<'w> {
    pub(super) const fn new(mask: RowMask<'w>) -> Self {
        Self { runs: mask.runs(), at: 0 }
    }

    /// Cuts the next run off, and returns it with its rows.
    #[inline(always)]
    pub(super) fn cut_next<'s, Q: Terms>(
        &mut self,
        slices: &mut Q::Slices<'s>,
    ) -> Option<(Q::Slices<'s>, Range<u32>)> {
        let rows = self.runs.next_run()?;
        Some((self.cut::<Q>(slices, rows.clone()), rows))
    }

    /// Cuts rows off.
    #[inline(always)]
    fn cut<'s, Q: Terms>(&mut self, slices: &mut Q::Slices<'s>, rows: Range<u32>) -> Q::Slices<'s> {
        cut_rows::<Q>(slices, &mut self.at, rows)
    }
}

/// Cuts rows off slices that begin at row `at`, with the rows before them.
#[inline(always)]
pub(super) fn cut_rows<'w, Q: Terms>(
    slices: &mut Q::Slices<'w>,
    at: &mut u32,
    rows: Range<u32>,
) -> Q::Slices<'w> {
    drop(Q::split_off(slices, (rows.start - *at) as usize));
    *at = rows.end;
    Q::split_off(slices, rows.len())
}

impl<'w, Q: Terms> ChunkRun<'w, Q> {
    /// A run without chunks.
    #[inline]
    pub(super) fn empty() -> Self {
        let (slices, stamps) = (Q::empty(), Q::Stamps::default());
        Self { slices, stamps, rows: 0, chunk_rows: 0, seen: None }
    }

    /// A run of the chunks with the columns `columns`.
    ///
    /// Inlined where the run is stored: as a value in memory it would be copied there.
    #[inline(always)]
    pub(super) fn new(
        mut columns: ChunkColumns<'w>,
        chunk: ChunkRows<'w>,
        sets: OpenOf<'w, Q>,
        mut stamps: RunStamps<'w, '_>,
        chunk_rows: usize,
    ) -> Self {
        let rows = columns.padded_len();
        let slices = Q::cut(&mut columns, chunk, sets);
        let seen = stamps.rows.map(SeenRuns::new);
        Self { slices, stamps: Q::stamps(&mut stamps), rows, chunk_rows, seen }
    }

    /// [`ChunkRun::next`] for a query that chooses rows: the next run of visible rows.
    #[inline(always)]
    pub(super) fn next_seen(&mut self, now: Version) -> Option<Q::Slices<'w>> {
        let (slices, _) = self.seen.as_mut()?.cut_next::<Q>(&mut self.slices)?;
        // The first run stamps the only chunk.
        Q::touch_next(&mut self.stamps, now);
        Some(slices)
    }

    /// [`ChunkRun::next_seen`] of a pass over rows: the next run of them, or the next rows of which
    /// some are seen. False if there are none.
    ///
    /// The rows are written in place: as a value in memory, which is copied in units other than
    /// those it was written in, they cost twenty cycles.
    #[inline(always)]
    pub(super) fn next_part(
        &mut self,
        rows: &mut SomeRows<Q::Rows<'w>>,
        listed: &mut ListedRows<Q::Rows<'w>>,
        now: Version,
    ) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        let Some(part) = seen.runs.next_part(&mut listed.list) else { return false };
        let slices = seen.cut::<Q>(&mut self.slices, part.rows.clone());
        Q::touch_next(&mut self.stamps, now);
        let next = Q::rows(slices, part.rows.len());
        match listed.list {
            Some(_) => listed.begin(next, None),
            None => *rows = SomeRows::of(next, &part),
        }
        true
    }

    /// Begins with the slices of chunks that have members of a set. A slice of a sparse term has
    /// the member bits of the first chunk alone. So only rows of lists may be taken from it: their
    /// values are looked up without these bits.
    #[inline(always)]
    pub(super) fn begin_members(
        &mut self,
        mut columns: ChunkColumns<'w>,
        chunks: ChunkRows<'w>,
        sets: OpenOf<'w, Q>,
    ) {
        self.slices = Q::cut(&mut columns, chunks, sets);
        self.seen = Some(SeenRuns::new(RowMask::empty()));
    }

    /// Cuts rows off the slices of [`ChunkRun::begin_members`].
    #[inline(always)]
    pub(super) fn cut_members(&mut self, rows: Range<u32>) -> Option<Q::Slices<'w>> {
        Some(self.seen.as_mut()?.cut::<Q>(&mut self.slices, rows))
    }

    /// Whether no rows are left.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The slices of the next chunk, and the number of its rows. Stamps the chunk.
    #[inline(always)]
    pub(super) fn next(&mut self, now: Version) -> Option<(Q::Slices<'w>, usize)> {
        if self.rows == 0 {
            return None;
        }
        let rows = self.rows.min(self.chunk_rows);
        self.rows -= rows;
        Q::touch_next(&mut self.stamps, now);
        Some((Q::split_off(&mut self.slices, rows), rows))
    }

    /// The slices of all chunks that are left. Stamps them.
    pub(super) fn take(&mut self, now: Version) -> Option<Q::Slices<'w>> {
        if self.rows == 0 {
            return None;
        }
        for _ in 0..self.rows.div_ceil(self.chunk_rows) {
            Q::touch_next(&mut self.stamps, now);
        }
        self.rows = 0;
        Some(core::mem::replace(&mut self.slices, Q::empty()))
    }
}
