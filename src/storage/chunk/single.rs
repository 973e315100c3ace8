//! Single rows: one that comes to the end of a list, and the gap that closes where one goes.

use super::super::columns::copy_row;
use super::super::layout::{VECTOR, padded_rows};
use super::super::place::Spot;
use super::super::slab::Pool;
use super::{ChunkList, layout_of};

/// A row that is to go, and the list's last row, which will take its place. Both are live.
#[derive(Debug)]
pub(crate) struct Gap<'w> {
    list: &'w mut ChunkList,
    at: Spot,
    last: Spot,
}

impl Gap<'_> {
    #[inline(always)]
    pub(in super::super) const fn list(&self) -> &ChunkList {
        self.list
    }

    #[inline(always)]
    pub(in super::super) const fn at(&self) -> Spot {
        self.at
    }

    /// The list's last row.
    #[inline(always)]
    pub(crate) const fn last(&self) -> Spot {
        self.last
    }

    /// Copies the last row over the one that goes.
    #[inline(always)]
    pub(crate) fn fill(self) {
        let Gap { list, at, last } = self;
        if last != at && !list.blocks.is_empty() {
            let layout = layout_of(&list.layout, list.small);
            copy_row(&mut list.blocks, layout, last, at);
        }
    }
}

impl ChunkList {
    /// Makes room for one more row and returns where. The row is not live before
    /// [`ChunkList::commit_one`].
    #[inline]
    pub(crate) fn room_for_one(&mut self, pool: &mut Pool) -> Spot {
        let at = if self.tail > 0 && self.tail < self.capacity {
            Spot { chunk: self.chunks - 1, row: self.tail }
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
    fn pad_vector(&mut self, at: Spot) {
        let padded = padded_rows(at.row + 1, self.capacity);
        self.zero(at.chunk, at.row..padded);
    }

    /// [`ChunkList::room_for_one`] where the last chunk has none, or there is no chunk.
    #[cold]
    fn room_in_new_chunk(&mut self, pool: &mut Pool) -> Spot {
        // Before anything is taken: whoever catches this panic has the list as it was.
        self.assert_numbered(self.chunks);
        self.open_chunk(1, pool);
        // A small first block may have become a chunk, which has room.
        if self.chunks > 0 && self.tail < self.capacity {
            Spot { chunk: self.chunks - 1, row: self.tail }
        } else {
            Spot { chunk: self.chunks, row: 0 }
        }
    }

    /// Makes the row live that [`ChunkList::room_for_one`] gave. Its padding is initialised.
    #[inline]
    pub(crate) const fn commit_one(&mut self, at: Spot) {
        debug_assert!(self.is_next(at), "room behind the last row");
        self.chunks = at.chunk + 1;
        self.tail = at.row + 1;
    }

    /// Whether the row is the one behind the last.
    const fn is_next(&self, at: Spot) -> bool {
        if self.tail > 0 && self.tail < self.capacity {
            at.chunk + 1 == self.chunks && at.row == self.tail
        } else {
            at.chunk == self.chunks && at.row == 0
        }
    }

    /// A live row that is to go.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline(always)]
    pub(crate) fn gap(&mut self, at: Spot) -> Gap<'_> {
        assert!(self.is_live(at), "a live row");
        let last = Spot { chunk: self.chunks - 1, row: self.tail - 1 };
        Gap { list: self, at, last }
    }

    /// Ends the last row, whose cells are elsewhere now.
    #[inline]
    pub(crate) fn drop_last(&mut self, pool: &mut Pool) {
        self.tail -= 1;
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
