//! New rows written without types: from bytes, and as copies of a live row.

#![expect(unsafe_code, reason = "writes uninitialised cells of raw blocks")]

use core::ops::Range;

use super::BundleCells;
use crate::storage::block::copy_small;
use crate::storage::chunk_list::{ChunkList, FreeRun};
use crate::storage::row::ChunkRow;
use crate::storage::written_rows::WrittenRows;

impl WrittenRows {
    /// Writes a run as bytes: `value(i, row)` begins with component `i` of the run's row `row`.
    /// O(bytes).
    ///
    /// # Panics
    ///
    /// If the cells are not all cells of the list's rows, a value has too few bytes, or the run
    /// does not directly follow the written rows.
    pub(crate) fn write_bytes<'v>(
        &mut self,
        list: &mut ChunkList,
        cells: &BundleCells,
        run: &FreeRun,
        value: impl Fn(usize, usize) -> &'v [u8],
    ) {
        cells.assert_whole(list);
        let first = list.assert_free(run);
        self.assert_next(list.key(), first);
        for (i, &column) in cells.columns().as_slice().iter().enumerate() {
            list.write_column(column, run, |row| value(i, row));
        }
        // SAFETY: the cells are all cells of a row, and the loops have written them in every row.
        unsafe { self.add_rows(list.key(), first, run.rows.len()) };
    }

    /// Writes a run from whole columns: `values(column, size)` has the cells of the run in a
    /// column, one after the other, each of `size` bytes. O(bytes).
    ///
    /// # Panics
    ///
    /// If the bytes of a column have another length than its cells, or the run does not directly
    /// follow the written rows.
    pub(crate) fn write_columns<'v>(
        &mut self,
        list: &mut ChunkList,
        run: &FreeRun,
        values: impl Fn(usize, usize) -> &'v [u8],
    ) {
        let first = list.assert_free(run);
        self.assert_next(list.key(), first);
        for column in 0..list.columns().len() {
            let size = list.columns()[column].size;
            list.copy_cells(column, (run.chunk, run.rows.clone()), values(column, size));
        }
        // SAFETY: the loop has written all columns of the run.
        unsafe { self.add_rows(list.key(), first, run.rows.len()) };
    }

    /// Copies every cell of a live row to the rows of a run: first the row itself; after that each
    /// `memcpy` copies all written rows, doubling their number.
    ///
    /// # Panics
    ///
    /// If the row is not live, or the run does not directly follow the written rows.
    pub(crate) fn replicate(&mut self, list: &mut ChunkList, from: ChunkRow, run: &FreeRun) {
        assert!(list.is_live(from), "row {} of chunk {} is not live", from.row, from.chunk);
        let first = list.assert_free(run);
        self.assert_next(list.key(), first);
        list.replicate(from, run);
        // SAFETY: `replicate` has written every column of the run.
        unsafe { self.add_rows(list.key(), first, run.rows.len()) };
    }
}

impl ChunkList {
    /// Overwrites the cells of a run in one column: `value(row)` begins with the bytes of the run's
    /// row `row`.
    ///
    /// # Panics
    ///
    /// If the column does not exist, the run ends outside its chunk, or a value has too few bytes.
    #[inline]
    pub(super) fn write_column<'v>(
        &mut self,
        column: u16,
        run: &FreeRun,
        value: impl Fn(usize) -> &'v [u8],
    ) {
        let column = usize::from(column);
        if self.columns()[column].size == 0 || run.rows.is_empty() {
            return;
        }
        assert!(run.rows.end <= self.capacity(), "the run ends outside its chunk");
        let at = ChunkRow { chunk: run.chunk, row: run.rows.start };
        let (start, size) = self.row_address(column, at);
        for row in 0..run.rows.len() {
            let value = &value(row)[..size];
            // SAFETY: the row is one of the run, which ends inside the capacity, so `ChunkLayout`
            // proves that its cell is inside the block.
            let cell = unsafe { start.add(row * size) };
            // SAFETY: the value and the cell have `size` bytes, and `&mut self` is the right to
            // write the cell. The bytes are a value of the cell's component, by the callers (see
            // `access`).
            unsafe { copy_small(value.as_ptr(), cell, size) };
        }
    }

    /// Overwrites the live cells of a column in a chunk, all at once.
    ///
    /// # Panics
    ///
    /// If the column or the chunk does not exist, or the length of its cells differs.
    pub(crate) fn overwrite_cells(&mut self, column: usize, chunk: u32, values: &[u8]) {
        assert!(chunk < self.chunk_len(), "chunk {chunk} does not exist");
        self.copy_cells(column, (chunk, 0..self.rows(chunk)), values);
    }

    /// Copies bytes to the cells of a column in some rows of a chunk. They are values of the
    /// column's component, by the callers (see `access`).
    ///
    /// # Panics
    ///
    /// If the column or the block does not exist, the rows end outside of the chunk, or the length
    /// of their cells differs from the bytes.
    fn copy_cells(&mut self, column: usize, (chunk, rows): (u32, Range<u32>), values: &[u8]) {
        let size = self.columns()[column].size;
        assert!(values.len() == rows.len() * size, "a column has other cells");
        if values.is_empty() {
            return;
        }
        assert!(rows.end <= self.capacity(), "the rows end outside of their chunk");
        let (start, _) = self.row_address(column, ChunkRow { chunk, row: rows.start });
        // SAFETY: the rows end inside the capacity, so `ChunkLayout` proves that the `values.len()`
        // bytes from `start` on belong to this column. `&mut self` is the right to write them, so
        // `values` is no part of them.
        unsafe { start.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    }

    /// [`WrittenRows::replicate`] of a live row to a run of free rows.
    fn replicate(&mut self, from: ChunkRow, run: &FreeRun) {
        /// A pattern of this size is copied repeatedly and stays in the first-level cache.
        const PATTERN_BYTES: usize = 4096;
        assert!(
            self.is_live(from) && !run.rows.is_empty(),
            "the row is not live, or the run is empty"
        );
        self.assert_free(run);
        if !self.layouts().has_bytes() {
            return;
        }
        let to = ChunkRow { chunk: run.chunk, row: run.rows.start };
        for column in 0..self.columns().len() {
            let (value, size) = self.row_address(column, from);
            let (start, _) = self.row_address(column, to);
            // SAFETY: both rows are less than the capacity by the assertions, and so inside their
            // blocks by `ChunkLayout`. `&mut self` is the right to write the second.
            unsafe { copy_small(value, start, size) };
            let bytes = run.rows.len() * size;
            let pattern = (PATTERN_BYTES / size.max(1)).max(1) * size;
            let mut done = size;
            while done < bytes {
                let more = done.min(pattern).min(bytes - done);
                // SAFETY: `done < bytes`, and `ChunkLayout` proves the `bytes` bytes of the run
                // inside the block.
                let to = unsafe { start.add(done) };
                // SAFETY: `more` bytes from `start` on are written, because `more <= done`. The
                // bytes from `to` on are inside the run and start `done` bytes later, so the two
                // ranges do not overlap. None of these rows is live, and `&mut self` is the right
                // to write them.
                unsafe { to.copy_from_nonoverlapping(start, more) };
                done += more;
            }
        }
    }
}
