//! Rows behind the last live one: written column by column, counted, and made live together.
//!
//! ```text
//!  ChunkList::room ─► FreeRun: free rows of one chunk
//!                      │ Writer::new                     for each run
//!                      ▼
//!                 Writer::column ─► NewCells             for each column
//!                      │            push, fill, copy
//!                      ▼               │ count
//!                 Writer::tally  ◄─────┘
//!                      │ WrittenRows::add
//!                      ▼
//!  ChunkList::commit ◄─ WrittenRows
//! ```
//!
//! A list makes rows live for a [`WrittenRows`] only, and there is no way to one but through here: a
//! column says how many of its cells were written, a [`Tally`] hears every column of the list, and a
//! run counts as many rows as the column with the fewest. So the code that writes the values, which
//! is generic over bundles, need not be trusted.

#![expect(unsafe_code, reason = "cells that hold no values yet, of raw blocks")]

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;

use super::super::chunk::{ChunkList, FreeRun};
use super::super::place::Spot;
use super::BundleCells;
use super::copy::{copy_small, row_address};

/// Rows of one list behind its last live one that are written in every column.
#[derive(Debug)]
#[must_use = "rows become live by `ChunkList::commit`"]
pub(crate) struct WrittenRows {
    key: u64,
    /// The rows that were live before, and still are.
    first: usize,
    rows: usize,
}

impl WrittenRows {
    /// No rows, behind the last live one of a list.
    #[inline]
    pub(crate) const fn none(list: &ChunkList) -> Self {
        Self { key: list.key(), first: list.len(), rows: 0 }
    }

    /// How many they are.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// Whether these rows follow the live ones of a list.
    #[inline]
    pub(in super::super) const fn follow(&self, list: &ChunkList) -> bool {
        self.key == list.key() && self.first == list.len()
    }

    /// Adds the first `rows` rows of a run, which the columns of `tally` have written.
    ///
    /// # Panics
    ///
    /// If a column of the list is missing or has fewer cells written, or the run does not follow.
    #[inline]
    pub(crate) fn add(&mut self, tally: &Tally<'_>, rows: usize) {
        assert!(tally.is_whole, "only some columns of the new rows were written");
        self.add_counted(tally, rows);
    }

    /// [`WrittenRows::add`] of rows of which `tally` has written some columns.
    ///
    /// # Safety
    ///
    /// In the columns that the tally lacks, these rows are written.
    pub(super) unsafe fn add_others(&mut self, tally: &Tally<'_>, rows: usize) {
        self.add_counted(tally, rows);
    }

    fn add_counted(&mut self, tally: &Tally<'_>, rows: usize) {
        self.assert_next(tally.key, tally.first);
        assert!(tally.columns.as_slice().is_empty(), "a column of the new rows was not counted");
        assert!(rows <= tally.rows, "{rows} new rows, and a column has {} cells", tally.rows);
        self.rows += rows;
    }

    fn assert_next(&self, key: u64, first: usize) {
        let follows = self.key == key && self.first + self.rows == first;
        assert!(follows, "the run does not follow the rows that are written");
    }

    /// Writes a run as bytes: `value(i, row)` begins with component `i` of the run's row `row`.
    /// O(bytes).
    ///
    /// # Panics
    ///
    /// If the cells are not those of every column of the list, a value has fewer bytes, or the run
    /// does not follow.
    pub(crate) fn write_bytes<'v>(
        &mut self,
        list: &mut ChunkList,
        cells: &BundleCells,
        run: &FreeRun,
        value: impl Fn(usize, usize) -> &'v [u8],
    ) {
        cells.assert_whole(list);
        self.assert_next(list.key(), list.assert_free(run));
        for (i, &column) in cells.columns().as_slice().iter().enumerate() {
            let size = list.columns()[usize::from(column)].size;
            for (row, number) in run.rows.clone().zip(0..) {
                let at = Spot { chunk: run.chunk, row };
                list.write_cell(column, at, &value(i, number)[..size]);
            }
        }
        self.rows += run.rows.len();
    }

    /// Copies every cell of a live row to the rows of a run: one copy of the row, then `memcpy` of
    /// what is there already, twice as much each time.
    ///
    /// # Panics
    ///
    /// If there is no such row, or the run does not follow.
    pub(crate) fn replicate(&mut self, list: &mut ChunkList, from: Spot, run: &FreeRun) {
        assert!(list.is_live(from), "row {} of chunk {} is not live", from.row, from.chunk);
        self.assert_next(list.key(), list.assert_free(run));
        list.replicate(from, run);
        self.rows += run.rows.len();
    }
}

/// Hands out the free rows of a run, column by column in a bundle's order, to be written.
#[derive(Debug)]
pub struct Writer<'a> {
    list: &'a mut ChunkList,
    columns: slice::Iter<'a, u16>,
    tally: Tally<'a>,
    run: &'a FreeRun,
}

impl<'a> Writer<'a> {
    /// A writer for a run, of the columns of a bundle.
    ///
    /// # Panics
    ///
    /// If the cells are another list's, or a row of the run is live or outside of its chunk.
    #[inline]
    pub(crate) fn new(list: &'a mut ChunkList, cells: &'a BundleCells, run: &'a FreeRun) -> Self {
        cells.assert_of(list);
        let first = list.assert_free(run);
        let columns = cells.columns().as_slice().iter();
        let (key, is_whole) = (list.key(), cells.is_whole());
        let tally = Tally { key, first, is_whole, columns: columns.clone(), rows: run.rows.len() };
        Self { list, columns, tally, run }
    }

    /// The next column of the bundle.
    #[inline(always)]
    pub(crate) fn column<C: Component>(&mut self) -> NewCells<'a, C> {
        let column = *self.columns.next().expect("a bundle has a column for each component");
        let index = usize::from(column);
        self.list.columns()[index].assert_holds::<C>();
        let len = self.run.rows.len();
        let start = if size_of::<C>() == 0 {
            NonNull::<C>::dangling().as_ptr()
        } else {
            let block = &self.list.blocks()[self.run.chunk as usize];
            row_address(block, self.list.layout(), index, self.run.rows.start).0.cast::<C>()
        };
        // SAFETY: the rows are inside the column's part of the block by `assert_free` and
        // `ChunkLayout`, which is less than 256 KiB; uninitialised bytes are allowed in `MaybeUninit`;
        // the list is borrowed exclusively for `'a`, and each column is handed out once, because
        // `DistinctColumns` names none twice. No row of them is live, and `NewCells` only writes
        // values, so that padding which is initialised stays so.
        let cells = unsafe { slice::from_raw_parts_mut(start.cast(), len) };
        NewCells { cells, written: 0, column, key: self.tally.key, first: self.tally.first }
    }

    /// The count of the run, once its columns are handed out.
    #[inline]
    pub(crate) fn tally(self) -> Tally<'a> {
        self.tally
    }
}

/// The free rows of one column, written one after the other.
#[derive(Debug)]
pub struct NewCells<'a, C> {
    cells: &'a mut [MaybeUninit<C>],
    /// The columns of a bundle count alike, so that the compiler keeps one count for all.
    written: usize,
    column: u16,
    key: u64,
    first: usize,
}

impl<C: Component> NewCells<'_, C> {
    /// Writes the next cell.
    ///
    /// # Panics
    ///
    /// If all cells are written.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: C) {
        assert!(self.written < self.cells.len(), "the run has no free row left");
        self.cells[self.written].write(value);
        self.written += 1;
    }

    /// Writes all cells that are left.
    #[inline]
    pub(crate) fn fill(&mut self, value: C) {
        self.cells[self.written..].fill(MaybeUninit::new(value));
        self.written = self.cells.len();
    }

    /// Writes all cells that are left, by one `memcpy` of the first of `values`.
    ///
    /// # Panics
    ///
    /// If there are fewer values than cells.
    #[inline]
    pub(crate) fn copy(&mut self, values: &[C]) {
        let cells = &mut self.cells[self.written..];
        cells.write_copy_of_slice(&values[..cells.len()]);
        self.written = self.cells.len();
    }

    /// Counts the cells that are written.
    ///
    /// # Panics
    ///
    /// If they are of another run, or of another column than the next of the bundle.
    #[inline]
    pub(crate) fn count(self, tally: &mut Tally<'_>) {
        let is_next = tally.columns.next() == Some(&self.column);
        let is_of_run = (self.key, self.first) == (tally.key, tally.first);
        assert!(is_next && is_of_run, "the cells of column {} are of another run", self.column);
        tally.rows = tally.rows.min(self.written);
    }
}

/// How many rows of a run are written, by the columns that were counted so far.
#[derive(Debug)]
pub struct Tally<'a> {
    key: u64,
    /// The number of the run's first row in the list, counted over all chunks.
    first: usize,
    /// Whether the columns are all that the list has.
    is_whole: bool,
    /// The columns that were not counted yet.
    columns: slice::Iter<'a, u16>,
    rows: usize,
}

impl ChunkList {
    /// The number of a run's first row, counted over all chunks.
    ///
    /// # Panics
    ///
    /// If a row of the run is live or outside of its chunk.
    #[inline]
    fn assert_free(&self, run: &FreeRun) -> usize {
        assert!(run.rows.end <= self.capacity(), "the run ends outside of its chunk");
        let first = self.index_of(Spot { chunk: run.chunk, row: run.rows.start });
        assert!(first >= self.len(), "row {first} is live, of a run of new rows");
        first
    }

    /// Overwrites a cell of a row that has a block with the bytes of a value.
    ///
    /// # Panics
    ///
    /// If there is no such row or column, or a cell of the column has another size.
    #[inline]
    fn write_cell(&mut self, column: u16, at: Spot, value: &[u8]) {
        let column = usize::from(column);
        let size = self.columns()[column].size;
        assert!(size == value.len(), "a cell of {size} bytes, and {} given", value.len());
        if size == 0 {
            return;
        }
        assert!(at.row < self.capacity(), "row {} is outside of its chunk", at.row);
        let block = &self.blocks()[at.chunk as usize];
        let (cell, _) = row_address(block, self.layout(), column, at.row);
        // SAFETY: the value has `size` bytes by the assertion; so has the cell, whose row is less than
        // the capacity and so inside the block by `ChunkLayout`, and which `&mut self` is the right
        // to write. Components are `Pod`: any bytes are a value.
        unsafe { copy_small(value.as_ptr(), cell, size) };
    }

    /// [`WrittenRows::replicate`] of a live row to rows that are free.
    fn replicate(&mut self, from: Spot, run: &FreeRun) {
        /// What is copied again and again stays in the first-level cache.
        const PATTERN_BYTES: usize = 4096;
        assert!(self.is_live(from) && !run.rows.is_empty(), "a live row, copied at least once");
        self.assert_free(run);
        if !self.layouts().has_bytes() {
            return;
        }
        let layout = self.layout();
        for column in 0..layout.columns().len() {
            let block = &self.blocks()[from.chunk as usize];
            let (value, size) = row_address(block, layout, column, from.row);
            let target = &self.blocks()[run.chunk as usize];
            let (start, _) = row_address(target, layout, column, run.rows.start);
            // SAFETY: both rows are less than the capacity, by the assertions, and so inside their
            // blocks by `ChunkLayout`; `&mut self` is the right to write the second.
            unsafe { copy_small(value, start, size) };
            let bytes = run.rows.len() * size;
            let pattern = (PATTERN_BYTES / size.max(1)).max(1) * size;
            let mut done = size;
            while done < bytes {
                let more = done.min(pattern).min(bytes - done);
                // SAFETY: `done` bytes of the column are written, and `done < bytes`, the end of the
                // run, which `ChunkLayout` proves inside the block.
                let to = unsafe { start.add(done) };
                // SAFETY: `more` bytes from `start` on are written, because `more <= done`, and
                // those from `to` on are inside the run; so the two do not overlap. No row of them is
                // live, and `&mut self` is the right to write them.
                unsafe { to.copy_from_nonoverlapping(start, more) };
                done += more;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::layout::{ChunkSize, ColumnShape, ListLayout};
    use super::super::super::slab::Pool;
    use super::super::DistinctColumns;
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Number(u32);
    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Byte(u8);
    crate::component!(Number, Byte);

    fn list() -> ChunkList {
        let shapes = [("number", 4), ("byte", 1)];
        let shapes = shapes.map(|(name, size)| ColumnShape { name, size, align: size });
        ChunkList::new(ListLayout::new(ChunkSize::KIB_4, shapes.to_vec()).expect("fits"))
    }

    fn cells(list: &ChunkList, columns: &[u16]) -> BundleCells {
        BundleCells::new(list, DistinctColumns::new(columns.to_vec()))
    }

    /// Writes `numbers` and `bytes` cells of a run, and says that `rows` rows are written.
    fn write(numbers: u8, bytes: u8, rows: usize) {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        let mut written = WrittenRows::none(&list);
        let run = list.room_behind(0, 20, &mut pool).at_most(20);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let (mut number, mut byte) = (writer.column::<Number>(), writer.column::<Byte>());
        (0..numbers).for_each(|i| number.push(Number(i.into())));
        (0..bytes).for_each(|i| byte.push(Byte(i)));
        let mut tally = writer.tally();
        number.count(&mut tally);
        byte.count(&mut tally);
        written.add(&tally, rows);
        list.commit(&written);
        assert_eq!(list.len(), rows);
        let wanted: Vec<_> = (0u8..).take(rows).collect();
        assert_eq!(list.column_bytes(1, 0), wanted);
    }

    #[test]
    fn rows_are_live_that_every_column_has() {
        write(20, 20, 20);
        write(7, 5, 5);
        write(7, 5, 3);
    }

    #[test]
    #[should_panic(expected = "6 new rows, and a column has 5 cells")]
    fn a_column_that_was_not_written_is_noticed() {
        write(7, 5, 6);
    }

    #[test]
    #[should_panic(expected = "no free row left")]
    fn a_run_has_no_more_cells_than_rows() {
        write(21, 0, 0);
    }

    #[test]
    #[should_panic(expected = "was not counted")]
    fn a_column_that_was_not_counted_is_noticed() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        let mut written = WrittenRows::none(&list);
        let run = list.room_behind(0, 1, &mut pool);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let mut number = writer.column::<Number>();
        number.fill(Number(1));
        let mut tally = writer.tally();
        number.count(&mut tally);
        written.add(&tally, 1);
    }

    #[test]
    #[should_panic(expected = "only some columns")]
    fn a_bundle_that_lacks_a_column_makes_no_rows() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0]);
        let mut written = WrittenRows::none(&list);
        let run = list.room_behind(0, 1, &mut pool);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let mut number = writer.column::<Number>();
        number.fill(Number(1));
        let mut tally = writer.tally();
        number.count(&mut tally);
        written.add(&tally, 1);
    }

    #[test]
    #[should_panic(expected = "of another run")]
    fn cells_of_another_run_do_not_count() {
        let (mut ours, mut theirs, mut pool) = (list(), list(), Pool::default());
        let [our_cells, their_cells] = [&ours, &theirs].map(|list| cells(list, &[0, 1]));
        let run = ours.room_behind(0, 1, &mut pool);
        let _ = theirs.room_behind(0, 1, &mut pool);
        let writer = Writer::new(&mut ours, &our_cells, &run);
        let mut other = Writer::new(&mut theirs, &their_cells, &run);
        let mut number = other.column::<Number>();
        number.fill(Number(1));
        number.count(&mut writer.tally());
    }

    #[test]
    #[should_panic(expected = "is live")]
    fn live_rows_are_not_handed_out() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        cells.write(list.next_row(&mut pool), |row| {
            row.put(&[0; 4]);
            row.put(&[0]);
        });
        let _ = Writer::new(&mut list, &cells, &FreeRun { chunk: 0, rows: 0..1 });
    }

    #[test]
    #[should_panic(expected = "behind those of another list")]
    fn rows_are_live_in_their_own_list_only() {
        let (ours, mut theirs) = (list(), list());
        theirs.commit(&WrittenRows::none(&ours));
    }

    #[test]
    #[should_panic(expected = "a cell of the row was not written")]
    fn a_row_with_a_missing_cell_is_noticed() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        cells.write(list.next_row(&mut pool), |row| row.put(&[0; 4]));
    }
}
