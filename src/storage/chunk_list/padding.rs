//! The padding after the last row of a chunk: all rows of a vector with a live row are initialised.
//!
//! Slices of whole vectors show these rows, and a move of a block copies them. They are initialised
//! here, before the first row of their vector becomes live; rows that leave stay initialised.

use super::blocks::FreeBlock;
use super::chunk_list::ChunkList;
use crate::storage::layout::{VECTOR, padded_rows};
use crate::storage::pool::Pool;
use crate::storage::row::ChunkRow;

impl ChunkList {
    /// Initialises the padding after the written rows of a chunk, which end before `end`. The first
    /// `live` rows were live before.
    pub(super) fn pad(&mut self, end: ChunkRow, live: usize) {
        let live = u32::try_from(live).expect("a chunk has 2^32 rows or more");
        // The padding of the live rows is initialised, and so are the written rows.
        let initialised = end.row.max(self.layout().padded(live));
        let padded = self.layout().padded(end.row);
        self.blocks.zero(end.chunk, initialised..padded.max(initialised));
    }

    /// Initialises the vector of a row that is about to be appended, unless it has a live row.
    #[inline(always)]
    pub(super) fn pad_vector_of(&mut self, at: ChunkRow) {
        let padded = padded_rows(at.row + 1, self.capacity());
        // A row inside a vector is initialised, because the vector of a live row is.
        if at.row.is_multiple_of(VECTOR) {
            self.blocks.zero(at.chunk, at.row..padded);
        }
        // If the row is not committed, its chunk may be a free one after the last. In that
        // case the last is full, and so initialised throughout, or the list has none.
        self.ready_to = padded - 1;
    }

    /// Opens the first block of an empty list again. It had a row, so its first vector is
    /// initialised. `false` if there is no such block.
    #[inline(always)]
    pub(super) fn reopen_padded(&mut self) -> bool {
        let is_open = self.blocks.reopen_first();
        if is_open {
            self.ready_to = padded_rows(1, self.capacity()) - 1;
        }
        is_open
    }

    /// Moves the rows of the small first block into a full-size chunk.
    #[cold]
    pub(super) fn grow_first(&mut self, expected: usize, pool: &mut Pool) {
        let block = self.allocate_chunk(expected, pool);
        let padded = self.layout().padded(self.tail);
        let first = self.replace_block(0, block, padded);
        // The chunk may have more padding than the first block had room for.
        let wider = self.layout().padded(self.tail);
        self.blocks.zero(0, padded..wider.max(padded));
        self.blocks.free(first, pool);
    }

    /// [`Blocks::replace`](super::blocks::Blocks::replace). Forgets which rows are prepared: the
    /// other block may not have them.
    pub(super) fn replace_block(
        &mut self,
        chunk: usize,
        target: FreeBlock,
        rows: u32,
    ) -> FreeBlock {
        self.ready_to = 0;
        self.blocks.replace(chunk, target, rows)
    }

    /// Sets the end of the live rows, and forgets which rows are prepared. Single rows inside a
    /// chunk are appended and removed without it.
    pub(super) const fn end_at(&mut self, chunk_len: u32, tail: u32) {
        self.chunk_len = chunk_len;
        self.tail = tail;
        self.ready_to = 0;
    }
}
