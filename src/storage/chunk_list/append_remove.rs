//! Single rows: appended at the end of a list, and removed by moving the last row into their place.

use super::chunk_list::ChunkList;
use crate::entity::RowIndex;
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
        // The first row of a chunk is never ready, because it needs the chunk.
        if self.tail.wrapping_sub(1) < self.ready_to {
            ChunkRow { chunk: self.chunk_len - 1, row: self.tail }
        } else {
            self.room_in_new_vector(pool)
        }
    }

    #[inline(never)]
    fn room_in_new_vector(&mut self, pool: &mut Pool) -> ChunkRow {
        let at = if self.tail > 0 && self.tail < self.capacity() {
            ChunkRow { chunk: self.chunk_len - 1, row: self.tail }
        } else if self.chunk_len == 0 && self.spare.is_empty() && self.reopen_padded() {
            return ChunkRow { chunk: 0, row: 0 };
        } else {
            self.room_in_new_chunk(pool)
        };
        self.pad_vector_of(at);
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

    /// Removes the last rows of the last chunk.
    ///
    /// # Panics
    ///
    /// If it has fewer rows.
    pub(crate) fn remove_last(&mut self, rows: u32, pool: &mut Pool) {
        assert!(rows <= self.tail, "the last chunk has {} rows, not {rows}", self.tail);
        self.tail -= rows;
        if rows > 0 && self.tail == 0 {
            self.close_chunk(pool);
        }
    }

    /// Frees the block of the last chunk, which has become empty, or sets it aside if it is a first
    /// block.
    #[inline(never)]
    fn close_chunk(&mut self, pool: &mut Pool) {
        let chunk_len = self.chunk_len - 1;
        self.end_at(chunk_len, if chunk_len > 0 { self.capacity() } else { 0 });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::access::{BundleCells, DistinctColumns};
    use crate::storage::chunk_size::ChunkSize;
    use crate::storage::layout::{ColumnShape, ListLayout};

    fn push(list: &mut ChunkList, rows: u32, pool: &mut Pool) {
        let cells = BundleCells::new(list, DistinctColumns::new(vec![0]));
        for _ in 0..rows {
            cells.write(list.next_row(pool), |row| row.put(&[1; 4]));
        }
        assert!(list.is_consistent());
    }

    fn remove_last(list: &mut ChunkList, rows: u32, pool: &mut Pool) {
        for _ in 0..rows {
            let last = list.split(list.position_of(list.len() - 1));
            list.begin_removal(last).remove(pool);
        }
        assert!(list.is_consistent());
    }

    #[test]
    fn a_vector_of_rows_is_prepared_once_while_its_block_stays() {
        let shape = ColumnShape::plain("number", 4, 4);
        let layout = ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("it fits");
        let (mut pool, mut list) = (Pool::default(), ChunkList::new(layout));
        push(&mut list, 1, &mut pool);
        assert_eq!(list.ready_to, 15);
        push(&mut list, 16, &mut pool);
        assert_eq!(list.ready_to, 31);
        remove_last(&mut list, 10, &mut pool);
        assert_eq!(list.ready_to, 31, "rows that leave stay initialised");
        push(&mut list, 10, &mut pool);
        list.leave_first_block(&mut pool);
        assert_eq!(list.ready_to, 0, "the new block is initialised up to its last row's vector");
        push(&mut list, 1, &mut pool);
        assert_eq!(list.ready_to, 31);

        let room = list.capacity() - 18;
        push(&mut list, room + 1, &mut pool);
        assert_eq!((list.chunk_len(), list.ready_to), (2, 15));
        remove_last(&mut list, 1, &mut pool);
        assert_eq!((list.chunk_len(), list.ready_to), (1, 0));
        list.truncate(7, &mut pool);
        assert_eq!(list.compact(usize::MAX, &mut pool), 7, "back to a first block");
        push(&mut list, 1, &mut pool);
        assert_eq!((list.in_first_block(), list.ready_to), (true, 15));
    }

    #[test]
    fn the_last_rows_of_a_chunk_go_at_once_as_one_by_one() {
        let shape = ColumnShape::plain("number", 4, 4);
        let layout = ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("it fits");
        let (mut pool, [mut list, mut other]) =
            (Pool::default(), [layout.clone(), layout].map(ChunkList::new));
        let rows = other.layouts().chunk().capacity() + 18;
        for list in [&mut list, &mut other] {
            push(list, rows, &mut pool);
        }
        for removed in [0, 7, 11, 20] {
            list.remove_last(removed, &mut pool);
            remove_last(&mut other, removed, &mut pool);
            assert!(list.is_consistent());
            let state =
                |list: &ChunkList| (list.chunk_len(), list.tail(), list.block_len(), list.ready_to);
            assert_eq!(state(&list), state(&other), "{removed} rows removed");
        }
    }

    #[test]
    fn the_first_block_of_an_empty_list_is_opened_again() {
        let shape = ColumnShape::plain("number", 4, 4);
        let layout = ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("it fits");
        let (mut pool, mut list) = (Pool::default(), ChunkList::new(layout));
        for _ in 0..3 {
            push(&mut list, 1, &mut pool);
            assert_eq!((list.in_first_block(), list.ready_to), (true, 15));
            assert_eq!((list.block_len(), pool.allocated()), (1, 1));
            remove_last(&mut list, 1, &mut pool);
            assert_eq!((list.len(), list.ready_to), (0, 0));
        }
        list.free_spare(&mut pool);
        assert_eq!((list.block_len(), pool.allocated()), (0, 0));
    }
}
