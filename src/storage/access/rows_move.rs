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
use crate::prefetch::prefetch;
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
        let first = target.assert_free(run);
        written.assert_next(target.key(), first);
        self.copy_by_column(source, (target, &[(run, from)]));
        for (i, &column) in self.added().columns().as_slice().iter().enumerate() {
            target.write_column(column, run, |row| value(i, row));
        }
        // SAFETY: the kept and the added columns are all columns of the target, by `RowMove::new`,
        // and each is written in every row of the run.
        unsafe { written.add_rows(target.key(), first, run.rows.len()) };
    }

    /// Writes runs that follow each other from the first free row on, like
    /// [`RowMove::write_rows`] without added cells. Column by column: in a random order each cell
    /// is in another page, and one column has few enough pages for the processor to keep their
    /// addresses.
    ///
    /// # Panics
    ///
    /// As `write_rows`, or if a column of the target is not kept.
    pub(crate) fn write_by_column(
        &self,
        source: &ChunkList,
        (target, runs): (&mut ChunkList, &[(&FreeRun, &[RowRun])]),
    ) -> WrittenRows {
        assert!(self.added().columns().as_slice().is_empty(), "a column is not written");
        let (first, mut rows) = (target.len(), 0);
        for (run, _) in runs {
            assert!(target.assert_free(run) == first + rows, "the runs do not follow each other");
            rows += run.rows.len();
        }
        self.copy_by_column(source, (target, runs));
        let mut written = target.no_written_rows();
        // SAFETY: the kept columns are all columns of the target, by `RowMove::new` and because
        // none is added. Each is written in every row of the runs, which are these rows.
        unsafe { written.add_rows(target.key(), first, rows) };
        written
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
        target.assert_live(to);
        let run = FreeRun { chunk: to.at.chunk, rows: to.at.row..to.at.row + to.len };
        self.copy_by_column(source, (target, &[(&run, from)]));
    }

    /// Copies the kept cells of live rows of the source to runs of the target, column by column.
    ///
    /// # Panics
    ///
    /// If this was made for other lists or for a single one, one of the rows is not live, their
    /// number differs from that of their run, or a run ends outside its chunk.
    #[inline]
    fn copy_by_column(
        &self,
        source: &ChunkList,
        (target, runs): (&mut ChunkList, &[(&FreeRun, &[RowRun])]),
    ) {
        self.assert_between(source.key(), target.key());
        for &(run, from) in runs {
            from.iter().for_each(|&from| source.assert_live(from));
            let rows = rows_len(from);
            assert!(rows == run.rows.len(), "{rows} rows are moved to a run of {}", run.rows.len());
            assert!(run.rows.end <= target.capacity(), "the run ends outside its chunk");
        }
        for (cell, to_starts) in self.kept_cells() {
            for &(run, from) in runs {
                // SAFETY: the keys, the rows and the run are asserted above.
                unsafe { copy_column((source, from), (target, run), cell, to_starts) };
            }
        }
    }
}

/// Runs between the hint to load a cell and its copy: rows of a random order wait for memory.
const RUNS_AHEAD: usize = 32;

/// A column of so many bytes is in a cache near the processor, and its cells need no hint. Under
/// Miri small ones are far, so that it sees the hints.
const NEAR_BYTES: usize = if cfg!(miri) { 256 } else { 1 << 20 };

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
    let from_cell = |at: ChunkRow| {
        // SAFETY: all rows of the runs are live in the source, by the contract.
        unsafe { cell.at(source.place(at.chunk), at.row) }
    };
    let to_place = target.place(run.chunk);
    let mut to_row = run.rows.start;
    let is_far = source.len() * cell.size as usize > NEAR_BYTES;
    let later = if is_far { from.get(RUNS_AHEAD..) } else { None };
    let mut later = later.unwrap_or(&[]).iter();
    for &RowRun { at, len } in from {
        if let Some(later) = later.next() {
            prefetch(from_cell(later.at).as_ptr());
        }
        let from_cell = from_cell(at);
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
