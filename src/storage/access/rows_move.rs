//! Copies rows of one list to the end of another, or over rows of another: neighbours of detached
//! chunks, or rows that lie anywhere.
//!
//! Column by column: neighbours in the source are copied by one `memcpy`, others cell by cell. The
//! rows of the source stay live; removing them is left to the caller.

#![expect(
    unsafe_code,
    reason = "cells are copied between raw blocks, whose columns have no type here"
)]

use super::row_move::RowMove;
use super::writer::{Tally, Writer};
use crate::storage::block::{CellStarts, copy_small};
use crate::storage::block_class::BlockClass;
use crate::storage::chunk_list::{ChunkList, DetachedChunks, FreeRun};
use crate::storage::row::{ChunkRow, RowRun};
use crate::storage::written_rows::WrittenRows;

impl RowMove {
    /// Writes the rows of a run. The kept cells are copied from detached chunks of the source, from
    /// row `at` of one chunk on, by one `memcpy` per column. `fill` writes the added cells.
    ///
    /// # Panics
    ///
    /// If this was made for other lists or for a single one, the rows do not exist in the source,
    /// the run does not follow the live rows of the target, or `fill` leaves an added cell
    /// unwritten.
    pub(crate) fn append(
        &self,
        (source, at): (&DetachedChunks, ChunkRow),
        (target, run): (&mut ChunkList, &FreeRun),
        fill: impl for<'a> FnOnce(Writer<'a>) -> Tally<'a>,
    ) -> WrittenRows {
        self.copy_run((source, at), (target, run));
        let mut written = target.no_written_rows();
        let tally = fill(Writer::new(target, self.added(), run));
        // SAFETY: `copy_run` has written the kept columns, and `RowMove::new` proves that the kept
        // and the added columns are all columns of the target.
        unsafe { written.add_others(&tally) };
        assert!(written.len() == run.rows.len(), "an added cell of the new rows was not written");
        written
    }

    /// Copies the kept cells for [`RowMove::append`].
    fn copy_run(
        &self,
        (source, at): (&DetachedChunks, ChunkRow),
        (target, run): (&mut ChunkList, &FreeRun),
    ) {
        self.assert_between(source.key(), target.key());
        let rows = u32::try_from(run.rows.len()).expect("a chunk has 2^32 rows or more");
        let end = at.row.checked_add(rows).expect("a chunk has 2^32 rows or more");
        let is_there = at.chunk < source.chunk_len() && end <= source.rows(at.chunk);
        assert!(is_there, "{rows} rows from {} on are not in chunk {}", at.row, at.chunk);
        assert!(run.rows.end <= target.capacity(), "the run ends outside its chunk");
        let blocks = (source.block(at.chunk), target.blocks().get(run.chunk as usize));
        let (Some(from), Some(to)) = blocks else {
            // A list without bytes has no blocks, and no cell to copy.
            assert!(self.kept_cells().is_empty(), "a chunk has no block");
            return;
        };
        let from_place = from.place(source.capacity());
        let to_place = to.place(target.capacity());
        for (cell, to_starts) in self.kept_cells() {
            // SAFETY: the key proves that the cell is one of `source`, and the rows end inside the
            // capacity.
            let from = unsafe { cell.at(from_place, at.row) };
            // SAFETY: the key proves that the starts belong to a column of `target`. The block was
            // allocated for them, and the run ends inside the capacity.
            let to = unsafe { to_place.cell_of(to_starts, cell.size, run.rows.start) };
            let bytes = run.rows.len() * cell.size as usize;
            // SAFETY: `bytes` bytes of the column are inside both blocks, by the two proofs above.
            // Detached chunks share no block with a list, and `&mut` of the target is the right to
            // write it.
            unsafe { to.copy_from_nonoverlapping(from, bytes) };
        }
    }

    /// Writes the rows of a run. The kept cells are copied from live rows of the source, one for
    /// each row of the run; `value(i, row)` begins with the added cell `i` of the run's row `row`.
    /// O(bytes).
    ///
    /// # Panics
    ///
    /// If this was made for other lists or for a single one, one of the rows is not live, the
    /// number of rows differs from the run, the run does not directly follow the `written` rows, or
    /// a value has too few bytes.
    pub(crate) fn write_rows<'v>(
        &self,
        (source, from): (&ChunkList, &[RowRun]),
        (target, run): (&mut ChunkList, &FreeRun),
        written: &mut WrittenRows,
        value: impl Fn(usize, usize) -> &'v [u8],
    ) {
        self.assert_between(source.key(), target.key());
        let first = target.assert_free(run);
        written.assert_next(target.key(), first);
        from.iter().for_each(|&from| source.assert_live(from));
        let rows = rows_len(from);
        assert!(rows == run.rows.len(), "{rows} rows are moved to a run of {}", run.rows.len());
        for (cell, to_starts) in self.kept_cells() {
            // SAFETY: the keys, the rows and the run are asserted above.
            unsafe { copy_column((source, from), (target, run), cell, to_starts) };
        }
        for (i, &column) in self.added().columns().as_slice().iter().enumerate() {
            target.write_column(column, run, |row| value(i, row));
        }
        // SAFETY: the kept and the added columns are all columns of the target, by `RowMove::new`,
        // and each is written in every row of the run.
        unsafe { written.add_rows(target.key(), first, rows) };
    }

    /// Overwrites the kept cells of live rows by live rows of the source. O(bytes).
    ///
    /// # Panics
    ///
    /// If this was made for other lists or for a single one, a row is not live, or the numbers of
    /// rows differ.
    pub(crate) fn overwrite_rows(
        &self,
        (source, from): (&ChunkList, &[RowRun]),
        (target, to): (&mut ChunkList, RowRun),
    ) {
        self.assert_between(source.key(), target.key());
        from.iter().for_each(|&from| source.assert_live(from));
        target.assert_live(to);
        assert!(rows_len(from) == to.len as usize, "rows are overwritten by another number");
        let run = FreeRun { chunk: to.at.chunk, rows: to.at.row..to.at.row + to.len };
        for (cell, to_starts) in self.kept_cells() {
            // SAFETY: the keys and the rows are asserted above.
            unsafe { copy_column((source, from), (target, &run), cell, to_starts) };
        }
    }
}

/// The number of rows of some runs.
fn rows_len(runs: &[RowRun]) -> usize {
    runs.iter().map(|run| run.len as usize).sum()
}

/// Copies the cells of one column.
///
/// # Safety
///
/// The cell is one of `source`. The starts belong to a column of `target`, which is another list,
/// with cells of the same size. The rows are live in `source`, their number is the length of the
/// run, and the run's rows are less than the capacity of `target`.
#[inline]
unsafe fn copy_column(
    (source, from): (&ChunkList, &[RowRun]),
    (target, run): (&mut ChunkList, &FreeRun),
    cell: &CellStarts,
    to_starts: &[u32; BlockClass::LEN],
) {
    let to_place = target.place(run.chunk);
    let mut to_row = run.rows.start;
    for &RowRun { at, len } in from {
        // SAFETY: the row is live in the source, by the contract.
        let from_cell = unsafe { cell.at(source.place(at.chunk), at.row) };
        // SAFETY: the source's runs have together the length of the target's run, so this row is
        // one of its rows, and less than the capacity of the chunk at this place.
        let to_cell = unsafe { to_place.cell_of(to_starts, cell.size, to_row) };
        if len == 1 {
            // SAFETY: both cells have `size` bytes inside their blocks. The two lists share no
            // block, and `&mut` of the target is the right to write its row.
            unsafe { copy_small(from_cell.as_ptr(), to_cell.as_ptr(), cell.size as usize) };
        } else {
            let bytes = len as usize * cell.size as usize;
            // SAFETY: `len` rows from each cell on are in one chunk, and so contiguous. The two
            // lists share no block, and `&mut` of the target is the right to write it.
            unsafe { to_cell.copy_from_nonoverlapping(from_cell, bytes) };
        }
        to_row += len;
    }
}
