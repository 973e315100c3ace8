//! Single rows: appended at the end of a list, and removed by moving the last row into their place.

use super::chunk_list::ChunkList;
use crate::entity::RowIndex;
use crate::storage::layout::{VECTOR, padded_rows};
use crate::storage::pool::Pool;
use crate::storage::row::ChunkRow;
use crate::storage::written_rows::WrittenRow;

/// A row to be removed, and the list's last row, which will take its place. Both are live.
#[derive(Debug)]
pub(crate) struct RemovedRow<'w> {
    list: &'w mut ChunkList,
    at: ChunkRow,
    last: ChunkRow,
}

impl RemovedRow<'_> {
    #[inline(always)]
    pub(in crate::storage) const fn list(&self) -> &ChunkList {
        self.list
    }

    #[inline(always)]
    pub(in crate::storage) const fn at(&self) -> ChunkRow {
        self.at
    }

    /// The list's last row.
    #[inline(always)]
    pub(crate) const fn last(&self) -> ChunkRow {
        self.last
    }

    /// Whether the row to be removed is the list's last row.
    #[inline(always)]
    pub(crate) fn is_last(&self) -> bool {
        self.at == self.last
    }

    /// Copies the last row over the row to be removed, and removes the last row.
    #[inline(always)]
    pub(crate) fn remove(self, pool: &mut Pool) {
        if !self.is_last() && !self.list.blocks.is_empty() {
            self.list.blocks.copy_row(self.last, self.at);
        }
        self.list.tail = self.last.row;
        if self.last.row == 0 {
            self.list.close_chunk(pool);
        }
    }
}

/// The row after a list's last one. It has memory, and the padding of its vector is initialised.
/// [`NextRow::commit`] makes it live.
#[derive(Debug)]
#[must_use = "write and commit the row, or abandon it"]
pub(crate) struct NextRow<'w> {
    list: &'w mut ChunkList,
    at: ChunkRow,
}

impl NextRow<'_> {
    #[inline(always)]
    pub(in crate::storage) const fn list(&self) -> &ChunkList {
        self.list
    }

    /// The row's chunk and number.
    #[inline(always)]
    pub(crate) const fn at(&self) -> ChunkRow {
        self.at
    }

    /// The row's position in the list.
    #[inline(always)]
    pub(crate) const fn position(&self) -> RowIndex {
        self.list.position(self.at)
    }

    /// Makes the row live.
    #[inline(always)]
    pub(in crate::storage) const fn commit(self, _: WrittenRow) {
        self.list.chunk_len = self.at.chunk + 1;
        self.list.tail = self.at.row + 1;
    }

    /// Frees the block if it was allocated for this row.
    #[inline(always)]
    pub(crate) fn abandon(self, pool: &mut Pool) {
        self.list.abandon(pool);
    }
}

impl ChunkList {
    /// Makes room for one more row.
    #[inline]
    pub(crate) fn next_row(&mut self, pool: &mut Pool) -> NextRow<'_> {
        let at = self.room_for_one(pool);
        NextRow { list: self, at }
    }

    #[inline(always)]
    fn room_for_one(&mut self, pool: &mut Pool) -> ChunkRow {
        // Only a row that begins a vector may need a chunk, or has padding that is not initialised.
        if !self.tail.is_multiple_of(VECTOR) && self.tail < self.capacity() {
            ChunkRow { chunk: self.chunk_len - 1, row: self.tail }
        } else {
            self.room_in_new_vector(pool)
        }
    }

    #[inline(never)]
    fn room_in_new_vector(&mut self, pool: &mut Pool) -> ChunkRow {
        let at = if self.tail > 0 && self.tail < self.capacity() {
            ChunkRow { chunk: self.chunk_len - 1, row: self.tail }
        } else {
            self.room_in_new_chunk(pool)
        };
        // A chunk of few rows, and a first block that has grown, may end inside a vector.
        if at.row.is_multiple_of(VECTOR) {
            let padded = padded_rows(at.row + 1, self.capacity());
            self.blocks.zero(at.chunk, at.row..padded);
        }
        at
    }

    /// [`ChunkList::room_for_one`] when the last chunk is full or there is none.
    #[cold]
    fn room_in_new_chunk(&mut self, pool: &mut Pool) -> ChunkRow {
        // Checked before any change: a caller that catches the panic finds the list unchanged.
        self.assert_numbered(self.chunk_len);
        self.open_chunk(1, pool);
        // A small first block may have become a full-size chunk, which has room.
        if self.chunk_len > 0 && self.tail < self.capacity() {
            ChunkRow { chunk: self.chunk_len - 1, row: self.tail }
        } else {
            ChunkRow { chunk: self.chunk_len, row: 0 }
        }
    }

    /// Begins the removal of a live row.
    ///
    /// # Panics
    ///
    /// If the row is not live.
    #[inline(always)]
    pub(crate) fn begin_removal(&mut self, at: ChunkRow) -> RemovedRow<'_> {
        // As `ChunkList::is_live`, from the numbers of the last row, which are needed as well.
        let (chunk_len, tail) = (self.chunk_len, self.tail);
        let last = ChunkRow { chunk: chunk_len.wrapping_sub(1), row: tail.wrapping_sub(1) };
        let rows = if at.chunk == last.chunk { tail } else { self.capacity() };
        if at.chunk >= chunk_len || at.row >= rows {
            not_live(at);
        }
        RemovedRow { list: self, at, last }
    }

    /// Frees the block of the last chunk, which has become empty, or sets it aside if it is a first
    /// block.
    #[inline(never)]
    fn close_chunk(&mut self, pool: &mut Pool) {
        self.chunk_len -= 1;
        if self.chunk_len > 0 {
            self.tail = self.capacity();
        }
        if self.in_first_block() {
            self.blocks.set_first_aside(pool);
        } else if self.layouts().has_bytes() {
            self.free_last_block(pool);
        }
    }
}

/// Panics. Its own function, because an `assert` with the numbers in its message would have every
/// removal write them to the stack.
#[cold]
#[inline(never)]
fn not_live(at: ChunkRow) -> ! {
    panic!("row {} of chunk {} is not live", at.row, at.chunk)
}
