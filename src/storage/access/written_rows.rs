//! Rows behind the last live one: written column by column, counted, and made live together.
//!
//! ```text
//!  ChunkList::room_behind ─► FreeRun: free rows of one chunk
//!                             │ Writer::new                     for each run
//!                             ▼
//!                        Writer::column ─► NewCells             for each column, in order
//!                             │
//!                             ▼            push, push, push │ end_row      for each row, or
//!                        Writer::tally ─► Tally             │
//!                             │            fill, fill, fill │ end_run      for all that are left
//!                             ▼ WrittenRows::add
//!  ChunkList::commit ◄─ WrittenRows
//! ```
//!
//! A list makes rows live for a [`WrittenRows`] only, and there is no way to one but through here:
//! a [`Tally`] knows how many rows of a run are whole, lets every column write its cell of the next
//! row in its turn, and counts the row when the last one has. So the code that writes the values,
//! which is generic over bundles, need not be trusted.
//!
//! The turn is a number that the compiler knows, since a column learns its place where it is handed
//! out: once the code of a bundle is inlined, the checks of turns are gone, and what is left is one
//! count a row. (A count of its own for each column took 11 instructions more a row of four. So
//! does a `Bundle::cells` that is called for some columns: it is inlined always.)

#![expect(unsafe_code, reason = "cells that hold no values yet, of raw blocks")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;

use super::BundleCells;
use super::block_copy::row_address;
use crate::storage::chunk_list::{ChunkList, FreeRun};
use crate::storage::row::ChunkRow;

/// Rows of one list behind its last live one that are written in every column.
#[derive(Debug)]
#[must_use = "rows become live by `ChunkList::commit`"]
pub(crate) struct WrittenRows {
    key: u64,
    /// The rows that were live before, and still are.
    first: usize,
    pub(super) rows: usize,
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

    /// Adds the rows of a run that are whole.
    ///
    /// # Panics
    ///
    /// If the bundle lacks a column of the list, or the run does not follow.
    #[inline]
    pub(crate) fn add(&mut self, tally: &Tally<'_>) {
        assert!(tally.is_whole, "only some columns of the new rows were written");
        self.add_counted(tally);
    }

    /// [`WrittenRows::add`] of rows of which `tally` has counted some columns.
    ///
    /// # Safety
    ///
    /// In the columns that the tally lacks, these rows are written.
    pub(super) unsafe fn add_others(&mut self, tally: &Tally<'_>) {
        self.add_counted(tally);
    }

    fn add_counted(&mut self, tally: &Tally<'_>) {
        self.assert_next(tally.key, tally.first);
        self.rows += tally.rows;
    }

    pub(super) fn assert_next(&self, key: u64, first: usize) {
        let follows = self.key == key && self.first + self.rows == first;
        assert!(follows, "the run does not follow the rows that are written");
    }
}

/// Hands out the free rows of a run, column by column in a bundle's order, to be written.
#[derive(Debug)]
pub struct Writer<'a> {
    list: &'a mut ChunkList,
    run: &'a FreeRun,
    /// The columns that were not handed out yet.
    columns: slice::Iter<'a, u16>,
    tally: Tally<'a>,
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
        let tally = Tally {
            key: list.key(),
            first,
            is_whole: cells.is_whole(),
            room: run.rows.len(),
            columns: 0,
            rows: 0,
            pushed: 0,
            filled: 0,
            list: PhantomData,
        };
        Self { list, run, columns, tally }
    }

    /// The next column of the bundle.
    #[inline(always)]
    pub(crate) fn column<C: Component>(&mut self) -> NewCells<'a, C> {
        let column = *self.columns.next().expect("a bundle has a column for each component");
        let index = usize::from(column);
        self.list.columns()[index].assert_holds::<C>();
        let len = self.tally.room;
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
        let turn = self.tally.columns;
        self.tally.columns += 1;
        NewCells { cells, turn, key: self.tally.key }
    }

    /// The count of the run, once its columns are handed out.
    ///
    /// # Panics
    ///
    /// If one is not.
    #[inline]
    pub(crate) fn tally(self) -> Tally<'a> {
        assert!(self.columns.as_slice().is_empty(), "a column of the new rows was left out");
        self.tally
    }
}

/// The free rows of one column, written in the column's turn.
#[derive(Debug)]
pub struct NewCells<'a, C> {
    cells: &'a mut [MaybeUninit<C>],
    /// How many columns come before it.
    turn: usize,
    /// The list's, which is borrowed for `'a`: so it has this run only.
    key: u64,
}

impl<C: Component> NewCells<'_, C> {
    /// Writes the cell of the next row.
    ///
    /// # Panics
    ///
    /// If the run has no such row, it is another column's turn, or the tally is of another run.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: C, tally: &mut Tally<'_>) {
        self.assert_turn(tally, tally.pushed);
        assert!(tally.rows < self.cells.len(), "the run has no free row left");
        self.cells[tally.rows].write(value);
        tally.pushed += 1;
    }

    /// Writes the cells of all rows that are left.
    ///
    /// # Panics
    ///
    /// If it is another column's turn, or the tally is of another run.
    #[inline]
    pub(crate) fn fill(&mut self, value: C, tally: &mut Tally<'_>) {
        self.assert_turn(tally, tally.filled);
        self.cells[tally.rows..].fill(MaybeUninit::new(value));
        tally.filled += 1;
    }

    /// Writes the cells of all rows that are left, by one `memcpy` of the first of `values`.
    ///
    /// # Panics
    ///
    /// If there are fewer values than rows, it is another column's turn, or the tally is of another
    /// run.
    #[inline]
    pub(crate) fn copy(&mut self, values: &[C], tally: &mut Tally<'_>) {
        self.assert_turn(tally, tally.filled);
        let cells = &mut self.cells[tally.rows..];
        cells.write_copy_of_slice(&values[..cells.len()]);
        tally.filled += 1;
    }

    #[inline(always)]
    fn assert_turn(&self, tally: &Tally<'_>, turn: usize) {
        assert!(self.key == tally.key, "the cells are of another run");
        assert!(self.turn == turn, "column {turn} of the bundle was to be written");
    }
}

/// How many rows of a run are whole: written in all columns that were handed out.
#[derive(Debug)]
pub struct Tally<'a> {
    key: u64,
    /// The number of the run's first row in the list, counted over all chunks.
    first: usize,
    /// Whether the columns are all that the list has.
    is_whole: bool,
    /// Rows of the run, and cells of each column.
    room: usize,
    columns: usize,
    /// The first rows of the run, which are whole.
    rows: usize,
    /// Columns that have written the row behind these.
    pushed: usize,
    /// Columns that have written all rows of the run.
    filled: usize,
    list: PhantomData<&'a mut ChunkList>,
}

impl Tally<'_> {
    /// How many they are.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// Counts a row that every column has written.
    ///
    /// # Panics
    ///
    /// If one has not, or the run has no such row.
    #[inline(always)]
    pub(crate) fn end_row(&mut self) {
        assert!(self.pushed == self.columns, "a column of the new row was not written");
        assert!(self.rows < self.room, "the run has no free row left");
        self.pushed = 0;
        self.rows += 1;
    }

    /// Counts all rows that are left, which every column has written.
    ///
    /// # Panics
    ///
    /// If one has not.
    #[inline]
    pub(crate) fn end_run(&mut self) {
        assert!(self.filled == self.columns, "a column of the new rows was not written");
        self.rows = self.room;
    }
}

impl ChunkList {
    /// The number of a run's first row, counted over all chunks.
    ///
    /// # Panics
    ///
    /// If a row of the run is live or outside of its chunk.
    #[inline]
    pub(super) fn assert_free(&self, run: &FreeRun) -> usize {
        assert!(run.rows.end <= self.capacity(), "the run ends outside of its chunk");
        let first = self.index_of(ChunkRow { chunk: run.chunk, row: run.rows.start });
        assert!(first >= self.len(), "row {first} is live, of a run of new rows");
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DistinctColumns;
    use crate::storage::layout::{ChunkSize, ColumnShape, ListLayout};
    use crate::storage::slab::Pool;

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

    /// Lets `write` write the cells of both columns of a run of 20 rows, and makes those live that
    /// are whole.
    fn written(
        write: impl FnOnce(&mut NewCells<'_, Number>, &mut NewCells<'_, Byte>, &mut Tally<'_>),
    ) -> Vec<u8> {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        let mut written = WrittenRows::none(&list);
        let run = list.room_behind(0, 20, &mut pool).at_most(20);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let (mut number, mut byte) = (writer.column::<Number>(), writer.column::<Byte>());
        let mut tally = writer.tally();
        write(&mut number, &mut byte, &mut tally);
        written.add(&tally);
        list.commit(&written);
        if list.len() == 0 { Vec::new() } else { list.column_bytes(1, 0).to_vec() }
    }

    /// Writes rows `0..rows` of a run of 20.
    fn push(rows: u8) -> Vec<u8> {
        written(|number, byte, tally| {
            for i in 0..rows {
                number.push(Number(i.into()), tally);
                byte.push(Byte(i), tally);
                tally.end_row();
            }
        })
    }

    #[test]
    fn rows_are_live_that_every_column_has() {
        for rows in [0, 1, 7, 20] {
            assert_eq!(push(rows), (0..rows).collect::<Vec<_>>());
        }
        let half = written(|number, byte, tally| {
            number.push(Number(1), tally);
            byte.push(Byte(1), tally);
            tally.end_row();
            number.push(Number(2), tally);
            byte.push(Byte(2), tally);
        });
        assert_eq!(half, [1], "a row that was not counted is not live");
    }

    #[test]
    fn rows_that_are_left_are_filled_and_copied() {
        let filled = written(|number, byte, tally| {
            number.push(Number(1), tally);
            byte.push(Byte(1), tally);
            tally.end_row();
            number.copy(&[Number(3); 19], tally);
            byte.fill(Byte(2), tally);
            tally.end_run();
        });
        assert_eq!(filled, [&[1][..], &[2; 19]].concat());
    }

    #[test]
    #[should_panic(expected = "a column of the new row was not written")]
    fn a_column_that_was_not_written_is_noticed() {
        written(|number, _, tally| {
            number.push(Number(1), tally);
            tally.end_row();
        });
    }

    #[test]
    #[should_panic(expected = "a column of the new rows was not written")]
    fn a_column_with_one_cell_of_a_run_is_noticed() {
        written(|number, byte, tally| {
            number.fill(Number(1), tally);
            number.push(Number(1), tally);
            byte.push(Byte(1), tally);
            tally.end_row();
            tally.end_run();
        });
    }

    #[test]
    #[should_panic(expected = "column 1 of the bundle was to be written")]
    fn a_column_does_not_write_twice_for_another() {
        written(|number, _, tally| (0..2).for_each(|i| number.push(Number(i), tally)));
    }

    #[test]
    #[should_panic(expected = "no free row left")]
    fn a_run_has_no_more_cells_than_rows() {
        push(21);
    }

    #[test]
    #[should_panic(expected = "was left out")]
    fn a_column_that_was_not_handed_out_is_noticed() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        let run = list.room_behind(0, 1, &mut pool);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let _ = writer.column::<Number>();
        let _ = writer.tally();
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
        let mut tally = writer.tally();
        number.fill(Number(1), &mut tally);
        tally.end_run();
        written.add(&tally);
    }

    #[test]
    #[should_panic(expected = "of another run")]
    fn cells_of_another_run_do_not_count() {
        let (mut ours, mut theirs, mut pool) = (list(), list(), Pool::default());
        let [our_cells, their_cells] = [&ours, &theirs].map(|list| cells(list, &[0]));
        let run = ours.room_behind(0, 1, &mut pool);
        let _ = theirs.room_behind(0, 1, &mut pool);
        let mut writer = Writer::new(&mut ours, &our_cells, &run);
        let _ = writer.column::<Number>();
        let mut other = Writer::new(&mut theirs, &their_cells, &run);
        other.column::<Number>().fill(Number(1), &mut writer.tally());
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
