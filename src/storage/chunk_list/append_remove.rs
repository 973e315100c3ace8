//! Single rows: one that comes to the end of a list, and the gap that closes where one goes.

use super::chunk_list::{ChunkList, layout_of};
use crate::storage::access::{WrittenRow, copy_row};
use crate::storage::layout::{VECTOR, padded_rows};
use crate::storage::row::{ChunkRow, RowIndex};
use crate::storage::slab::Pool;

/// A row that is to go, and the list's last row, which will take its place. Both are live.
#[derive(Debug)]
pub(crate) struct RemovedRow<'w> {
    list: &'w mut ChunkList,
    at: ChunkRow,
    last: ChunkRow,
}

impl RemovedRow<'_> {
    #[inline(always)]
    pub(in super::super) const fn list(&self) -> &ChunkList {
        self.list
    }

    #[inline(always)]
    pub(in super::super) const fn at(&self) -> ChunkRow {
        self.at
    }

    /// The list's last row.
    #[inline(always)]
    pub(crate) const fn last(&self) -> ChunkRow {
        self.last
    }

    /// Copies the last row over the one that goes.
    #[inline(always)]
    pub(crate) fn fill(self) {
        let RemovedRow { list, at, last } = self;
        if last != at && !list.blocks.is_empty() {
            let layout = layout_of(&list.layout, list.small);
            copy_row(&mut list.blocks, layout, last, at);
        }
    }
}

/// The row behind a list's last one: it has a place, and the padding of its vector is initialised.
/// Not live before [`NextRow::commit`].
#[derive(Debug)]
#[must_use = "the row is written and becomes live, or its room is given back"]
pub(crate) struct NextRow<'w> {
    list: &'w mut ChunkList,
    at: ChunkRow,
}

impl NextRow<'_> {
    #[inline(always)]
    pub(in super::super) const fn list(&self) -> &ChunkList {
        self.list
    }

    /// Its chunk, and its number there.
    #[inline(always)]
    pub(crate) const fn at(&self) -> ChunkRow {
        self.at
    }

    /// Its position in the list.
    #[inline(always)]
    pub(crate) const fn position(&self) -> RowIndex {
        self.list.position(self.at)
    }

    /// Makes the row live.
    #[inline(always)]
    pub(in super::super) const fn commit(self, _: WrittenRow) {
        self.list.chunks = self.at.chunk + 1;
        self.list.tail = self.at.row + 1;
    }

    /// Gives back the block that was taken for this row alone.
    #[cold]
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

    #[inline]
    fn room_for_one(&mut self, pool: &mut Pool) -> ChunkRow {
        let at = if self.tail > 0 && self.tail < self.capacity {
            ChunkRow { chunk: self.chunks - 1, row: self.tail }
        } else {
            self.room_in_new_chunk(pool)
        };
        // Only a row that begins a vector has padding that nobody has initialised yet.
        if at.row.is_multiple_of(VECTOR) {
            self.pad_vector(at);
        }
        at
    }

    #[inline(never)]
    fn pad_vector(&mut self, at: ChunkRow) {
        let padded = padded_rows(at.row + 1, self.capacity);
        self.zero(at.chunk, at.row..padded);
    }

    /// [`ChunkList::room_for_one`] where the last chunk has none, or there is no chunk.
    #[cold]
    fn room_in_new_chunk(&mut self, pool: &mut Pool) -> ChunkRow {
        // Before anything is taken: whoever catches this panic has the list as it was.
        self.assert_numbered(self.chunks);
        self.open_chunk(1, pool);
        // A small first block may have become a chunk, which has room.
        if self.chunks > 0 && self.tail < self.capacity {
            ChunkRow { chunk: self.chunks - 1, row: self.tail }
        } else {
            ChunkRow { chunk: self.chunks, row: 0 }
        }
    }

    /// A live row that is to go.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline(always)]
    pub(crate) fn gap(&mut self, at: ChunkRow) -> RemovedRow<'_> {
        assert!(self.is_live(at), "row {} of chunk {} is not live", at.row, at.chunk);
        let last = ChunkRow { chunk: self.chunks - 1, row: self.tail - 1 };
        RemovedRow { list: self, at, last }
    }

    /// Ends the last row, whose cells are elsewhere now.
    ///
    /// # Panics
    ///
    /// If there is no row.
    #[inline]
    pub(crate) fn drop_last(&mut self, pool: &mut Pool) {
        self.tail = self.tail.checked_sub(1).expect("an empty list has no last row");
        if self.tail == 0 {
            self.close_chunk(pool);
        }
    }

    /// Gives back the block of the last chunk, which has become empty.
    #[cold]
    fn close_chunk(&mut self, pool: &mut Pool) {
        self.chunks -= 1;
        if self.chunks > 0 {
            self.tail = self.capacity;
        }
        if self.layout.has_bytes() {
            self.release_last(pool);
        }
    }
}
