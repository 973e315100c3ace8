//! Chunks that follow each other in memory, taken together and handed out one by one.
//!
//! Where chunks share an extent, each column of all of them is one long slice. A turn cuts the rows
//! of one chunk off each slice and stamps the chunk: an addition a column, and a store a written
//! column. (Finding the columns of each chunk in its list took 6 ns a turn.)

use crate::storage::ChunkColumns;
use crate::version::Version;

use super::entity_run::EntityRun;
use super::run_stamps::RunStamps;
use super::terms::Terms;

/// The chunks of a run that were not handed out yet.
pub(super) struct ChunkRun<'w, Q: Terms> {
    slices: Q::Slices<'w>,
    stamps: Q::Stamps<'w>,
    /// Rows of the slices, padding included.
    rows: usize,
    /// Rows of a chunk, as long as there are as many.
    chunk_rows: usize,
}

impl<'w, Q: Terms> ChunkRun<'w, Q> {
    /// A run without chunks.
    #[inline]
    pub(super) fn empty() -> Self {
        Self { slices: Q::empty(), stamps: Q::Stamps::default(), rows: 0, chunk_rows: 0 }
    }

    /// The chunks of which `columns` are the columns.
    #[inline]
    pub(super) fn new(
        mut columns: ChunkColumns<'w>,
        entities: EntityRun<'w>,
        mut stamps: RunStamps<'w, '_>,
        chunk_rows: usize,
    ) -> Self {
        let rows = columns.padded_len();
        let slices = Q::cut(&mut columns, entities);
        Self { slices, stamps: Q::stamps(&mut stamps), rows, chunk_rows }
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
