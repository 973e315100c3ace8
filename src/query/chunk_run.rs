//! Chunks that follow each other in memory, taken together and handed out one by one.
//!
//! Where chunks share an extent, each column of all of them is one long slice. A turn cuts the rows
//! of one chunk off each slice and stamps the chunk: an addition a column, and a store a written
//! column. (Finding the columns of each chunk in its list took 6 ns a turn.)

use core::ops::Range;

use crate::storage::{ChunkColumns, RowMask, RowRuns};
use crate::version::Version;

use super::chunk_rows::ChunkRows;
use super::run_stamps::RunStamps;
use super::terms::Terms;

/// The chunks of a run that were not handed out yet.
pub(super) struct ChunkRun<'w, Q: Terms> {
    slices: Q::Slices<'w>,
    stamps: Q::Stamps<'w>,
    /// Rows of the slices, padding included.
    rows: usize,
    /// Rows of a chunk; the last chunk may have fewer.
    chunk_rows: usize,
    /// For a single chunk: the rows that the query sees.
    seen: SeenRuns<'w>,
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
    #[inline]
    pub(super) fn cut_next<Q: Terms>(
        &mut self,
        slices: &mut Q::Slices<'w>,
    ) -> Option<(Q::Slices<'w>, Range<u32>)> {
        let rows = self.runs.next_run()?;
        drop(Q::split_off(slices, (rows.start - self.at) as usize));
        self.at = rows.end;
        Some((Q::split_off(slices, rows.len()), rows))
    }
}

impl<'w, Q: Terms> ChunkRun<'w, Q> {
    /// A run without chunks.
    #[inline]
    pub(super) fn empty() -> Self {
        let seen = SeenRuns::new(RowMask::empty());
        Self { slices: Q::empty(), stamps: Q::Stamps::default(), rows: 0, chunk_rows: 0, seen }
    }

    /// A run of the chunks with the columns `columns`. `seen` matters for a single chunk of a query
    /// that chooses rows.
    #[inline]
    pub(super) fn new(
        mut columns: ChunkColumns<'w>,
        (chunk, seen): (ChunkRows<'w>, RowMask<'w>),
        mut stamps: RunStamps<'w, '_>,
        chunk_rows: usize,
    ) -> Self {
        let rows = columns.padded_len();
        let slices = Q::cut(&mut columns, chunk);
        let seen = SeenRuns::new(seen);
        Self { slices, stamps: Q::stamps(&mut stamps), rows, chunk_rows, seen }
    }

    /// [`ChunkRun::next`] for a query that chooses rows: the next run of visible rows.
    #[inline]
    pub(super) fn next_seen(&mut self, now: Version) -> Option<(Q::Slices<'w>, usize)> {
        let (slices, rows) = self.seen.cut_next::<Q>(&mut self.slices)?;
        // The first run stamps the only chunk.
        Q::touch_next(&mut self.stamps, now);
        Some((slices, rows.len()))
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
