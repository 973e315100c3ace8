//! New rows after the last live one: written column by column, counted, and made live together.
//!
//! ```text
//!  ChunkList::open_run ─► FreeRun: free rows of one chunk
//!                             │ Writer::new                     for each run
//!                             ▼
//!                        Writer::column ─► NewCells             for each column, in order
//!                             │
//!                             ▼            push, push, push │ end_row      for each row, or
//!                        Writer::tally ─► Tally             │
//!                             │            fill, fill, fill │ end_run      for all remaining rows
//!                             ▼ WrittenRows::add
//!  ChunkList::commit ◄─ WrittenRows
//! ```
//!
//! A list makes rows live only for a [`WrittenRows`], to which this file adds rows. A [`Tally`]
//! counts the complete rows of a run: each column in order writes its cell of the next row, and the
//! row is counted after the last column. So the code that writes the values, which is generic over
//! bundles, need not be trusted.
//!
//! The number of a column is known to the compiler, because the column learns it when it is handed
//! out. Once the code of a bundle is inlined, the checks of the order are gone, and one count per
//! row is left. (A separate count for each column took 11 instructions more per row of four. So
//! does a `Bundle::cells` that is a call for some columns; therefore it is always inlined.)

#![expect(unsafe_code, reason = "writes uninitialised cells of raw blocks")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;

use super::BundleCells;
use crate::storage::chunk_list::{ChunkList, FreeRun};
use crate::storage::row::ChunkRow;
use crate::storage::written_rows::WrittenRows;

impl WrittenRows {
    /// Adds the complete rows of a run.
    ///
    /// # Panics
    ///
    /// If the bundle lacks a column of the list, or the run does not directly follow these rows.
    #[inline]
    pub(crate) fn add(&mut self, tally: &Tally<'_>) {
        assert!(tally.is_whole, "only some columns of the new rows were written");
        // SAFETY: the tally counts rows that were written in all columns that were handed out, and
        // these are all columns of the list.
        unsafe { self.add_others(tally) };
    }

    /// [`WrittenRows::add`] of rows for which `tally` has counted only some columns.
    ///
    /// # Safety
    ///
    /// These rows are written in the columns that the tally lacks.
    pub(super) unsafe fn add_others(&mut self, tally: &Tally<'_>) {
        // SAFETY: the tally has counted rows of the list with this key, and by the contract they
        // are written in every column.
        unsafe { self.add_rows(tally.key, tally.first, tally.rows) };
    }
}

/// Hands out the free rows of a run to be written, column by column in a bundle's order.
#[derive(Debug)]
pub struct Writer<'a> {
    list: &'a mut ChunkList,
    run: &'a FreeRun,
    /// The columns that were not handed out yet.
    columns: slice::Iter<'a, u16>,
    tally: Tally<'a>,
}

impl<'a> Writer<'a> {
    /// A writer of a bundle's columns in a run.
    ///
    /// # Panics
    ///
    /// If the cells belong to another list, or a row of the run is live or outside its chunk.
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
        let column = *self.columns.next().expect("the bundle has no column left");
        let index = usize::from(column);
        self.list.columns()[index].assert_holds::<C>();
        let len = self.tally.room;
        let start = if size_of::<C>() == 0 {
            NonNull::<C>::dangling().as_ptr()
        } else {
            let at = ChunkRow { chunk: self.run.chunk, row: self.run.rows.start };
            self.list.row_address(index, at).0.cast::<C>()
        };
        // SAFETY: the rows are inside the column's part of the block by `assert_free` and
        // `ChunkLayout`, which is less than 256 KiB. Uninitialised bytes are allowed in
        // `MaybeUninit`. The list is borrowed exclusively for `'a`, and each column is handed out
        // once, because `DistinctColumns` names none twice. No row of them is live, and `NewCells`
        // only writes values, so that initialised padding stays initialised.
        let cells = unsafe { slice::from_raw_parts_mut(start.cast(), len) };
        let column = self.tally.columns;
        self.tally.columns += 1;
        NewCells { cells, column, key: self.tally.key }
    }

    /// The tally of the run, after all columns are handed out.
    ///
    /// # Panics
    ///
    /// If a column was not handed out.
    #[inline]
    pub(crate) fn tally(self) -> Tally<'a> {
        assert!(self.columns.as_slice().is_empty(), "a column of the new rows was not handed out");
        self.tally
    }
}

/// The free rows of one column, written in the order of columns.
#[derive(Debug)]
pub struct NewCells<'a, C> {
    cells: &'a mut [MaybeUninit<C>],
    /// The number of columns before this one.
    column: usize,
    /// The list's key. The list is borrowed for `'a`, so no other run of it has cells.
    key: u64,
}

impl<C: Component> NewCells<'_, C> {
    /// Writes the cell of the next row.
    ///
    /// # Panics
    ///
    /// If the run has no row left, another column is next, or the tally belongs to another run.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: C, tally: &mut Tally<'_>) {
        self.assert_next_column(tally, tally.pushed);
        assert!(tally.rows < self.cells.len(), "the run has no free row left");
        self.cells[tally.rows].write(value);
        tally.pushed += 1;
    }

    /// Writes the cells of all remaining rows.
    ///
    /// # Panics
    ///
    /// If another column is next, or the tally belongs to another run.
    #[inline]
    pub(crate) fn fill(&mut self, value: C, tally: &mut Tally<'_>) {
        self.assert_next_column(tally, tally.filled);
        self.cells[tally.rows..].fill(MaybeUninit::new(value));
        tally.filled += 1;
    }

    /// Writes the cells of all remaining rows by one `memcpy` of the first of `values`.
    ///
    /// # Panics
    ///
    /// If there are fewer values than rows, another column is next, or the tally belongs to another
    /// run.
    #[inline]
    pub(crate) fn copy(&mut self, values: &[C], tally: &mut Tally<'_>) {
        self.assert_next_column(tally, tally.filled);
        let cells = &mut self.cells[tally.rows..];
        cells.write_copy_of_slice(&values[..cells.len()]);
        tally.filled += 1;
    }

    #[inline(always)]
    fn assert_next_column(&self, tally: &Tally<'_>, next: usize) {
        assert!(self.key == tally.key, "the cells belong to another run");
        assert!(self.column == next, "a column was written before column {next} of the bundle");
    }
}

/// The number of complete rows of a run, written in all columns that were handed out.
#[derive(Debug)]
pub struct Tally<'a> {
    key: u64,
    /// The number of rows before the run's first one, in all chunks of the list.
    first: usize,
    /// Whether these are all columns of the list.
    is_whole: bool,
    /// Rows of the run.
    room: usize,
    columns: usize,
    /// Complete rows, which are the first ones of the run.
    rows: usize,
    /// Columns that have written the row after these.
    pushed: usize,
    /// Columns that have written all remaining rows of the run.
    filled: usize,
    list: PhantomData<&'a mut ChunkList>,
}

impl Tally<'_> {
    /// Number of complete rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// A tally of the next row alone, to be counted by the columns. No pointer to it is left after
    /// the row: the counts stay in registers, also where values come from code that is not inlined.
    #[inline(always)]
    pub(crate) const fn next_row(&self) -> Self {
        Tally { pushed: 0, ..*self }
    }

    /// Counts the row of [`Tally::next_row`].
    ///
    /// # Panics
    ///
    /// If a column was not written, or the run has no row left.
    #[inline(always)]
    pub(crate) fn end_row(&mut self, row: &Self) {
        assert!(
            row.key == self.key && row.rows == self.rows,
            "a row of another run is counted, or one row twice"
        );
        assert!(row.pushed == self.columns, "a column of the new row was not written");
        assert!(self.rows < self.room, "the run has no free row left");
        self.pushed = 0;
        self.rows += 1;
    }

    /// Counts all remaining rows, which were written in every column.
    ///
    /// # Panics
    ///
    /// If a column was not written.
    #[inline]
    pub(crate) fn end_run(&mut self) {
        assert!(self.filled == self.columns, "a column of the new rows was not written");
        self.rows = self.room;
    }
}

impl ChunkList {
    /// The number of rows before the run's first one, in all chunks.
    ///
    /// # Panics
    ///
    /// If a row of the run is live or outside its chunk.
    #[inline]
    pub(super) fn assert_free(&self, run: &FreeRun) -> usize {
        assert!(run.rows.end <= self.capacity(), "the run ends outside its chunk");
        let first = self.index_of(ChunkRow { chunk: run.chunk, row: run.rows.start });
        assert!(first >= self.len(), "row {first} of a run of new rows is live");
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DistinctColumns;
    use crate::storage::chunk_size::ChunkSize;
    use crate::storage::layout::{ColumnShape, ListLayout};
    use crate::storage::pool::Pool;

    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Number(u32);
    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Byte(u8);
    crate::impl_component!(Number, Byte);

    fn list() -> ChunkList {
        let shapes = [("number", 4), ("byte", 1)];
        let shapes = shapes.map(|(name, size)| ColumnShape::plain(name, size, size));
        ChunkList::new(
            ListLayout::new(ChunkSize::KIB_4, shapes.to_vec()).expect("the layout does not fit"),
        )
    }

    fn cells(list: &ChunkList, columns: &[u16]) -> BundleCells {
        BundleCells::new(list, DistinctColumns::new(columns.to_vec()))
    }

    /// Calls `write` to write the cells of both columns of a run of 20 rows, and makes the complete
    /// rows live.
    fn written(
        write: impl FnOnce(&mut NewCells<'_, Number>, &mut NewCells<'_, Byte>, &mut Tally<'_>),
    ) -> Vec<u8> {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        let mut written = list.no_written_rows();
        let run = list.open_run(0, 20, &mut pool).at_most(20);
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
                let mut row = tally.next_row();
                number.push(Number(i.into()), &mut row);
                byte.push(Byte(i), &mut row);
                tally.end_row(&row);
            }
        })
    }

    #[test]
    fn rows_written_in_every_column_are_live() {
        for rows in [0, 1, 7, 20] {
            assert_eq!(push(rows), (0..rows).collect::<Vec<_>>());
        }
        let half = written(|number, byte, tally| {
            let mut row = tally.next_row();
            number.push(Number(1), &mut row);
            byte.push(Byte(1), &mut row);
            tally.end_row(&row);
            let mut row = tally.next_row();
            number.push(Number(2), &mut row);
            byte.push(Byte(2), &mut row);
        });
        assert_eq!(half, [1], "a row that was not counted is not live");
    }

    #[test]
    fn remaining_rows_are_filled_and_copied() {
        let filled = written(|number, byte, tally| {
            let mut row = tally.next_row();
            number.push(Number(1), &mut row);
            byte.push(Byte(1), &mut row);
            tally.end_row(&row);
            number.copy(&[Number(3); 19], tally);
            byte.fill(Byte(2), tally);
            tally.end_run();
        });
        assert_eq!(filled, [&[1][..], &[2; 19]].concat());
    }

    #[test]
    #[should_panic(expected = "written before column 0 of the bundle")]
    fn a_cell_that_was_written_before_a_row_does_not_count_for_it() {
        written(|number, byte, tally| {
            number.push(Number(1), tally);
            let mut row = tally.next_row();
            byte.push(Byte(1), &mut row);
        });
    }

    #[test]
    #[should_panic(expected = "a column of the new row was not written")]
    fn cells_of_one_row_do_not_count_for_the_next() {
        written(|number, byte, tally| {
            let mut row = tally.next_row();
            number.push(Number(1), &mut row);
            byte.push(Byte(1), &mut row);
            tally.end_row(&row);
            let next = row.next_row();
            row.end_row(&next);
            tally.end_row(&row);
        });
    }

    #[test]
    #[should_panic(expected = "a column of the new row was not written")]
    fn a_column_that_was_not_written_is_noticed() {
        written(|number, _, tally| {
            let mut row = tally.next_row();
            number.push(Number(1), &mut row);
            tally.end_row(&row);
        });
    }

    #[test]
    #[should_panic(expected = "a row of another run is counted, or one row twice")]
    fn a_row_is_counted_once() {
        written(|number, byte, tally| {
            let mut row = tally.next_row();
            number.push(Number(1), &mut row);
            byte.push(Byte(1), &mut row);
            tally.end_row(&row);
            tally.end_row(&row);
        });
    }

    #[test]
    #[should_panic(expected = "a column of the new rows was not written")]
    fn a_column_with_one_cell_of_a_run_is_noticed() {
        written(|number, byte, tally| {
            number.fill(Number(1), tally);
            let mut row = tally.next_row();
            number.push(Number(1), &mut row);
            byte.push(Byte(1), &mut row);
            tally.end_row(&row);
            tally.end_run();
        });
    }

    #[test]
    #[should_panic(expected = "written before column 1 of the bundle")]
    fn a_column_does_not_write_twice_for_another() {
        written(|number, _, tally| (0..2).for_each(|i| number.push(Number(i), tally)));
    }

    #[test]
    #[should_panic(expected = "no free row left")]
    fn a_run_has_no_more_cells_than_rows() {
        push(21);
    }

    #[test]
    #[should_panic(expected = "was not handed out")]
    fn a_column_that_was_not_handed_out_is_noticed() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        let run = list.open_run(0, 1, &mut pool);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let _ = writer.column::<Number>();
        let _ = writer.tally();
    }

    #[test]
    #[should_panic(expected = "only some columns")]
    fn a_bundle_that_lacks_a_column_makes_no_rows() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0]);
        let mut written = list.no_written_rows();
        let run = list.open_run(0, 1, &mut pool);
        let mut writer = Writer::new(&mut list, &cells, &run);
        let mut number = writer.column::<Number>();
        let mut tally = writer.tally();
        number.fill(Number(1), &mut tally);
        tally.end_run();
        written.add(&tally);
    }

    #[test]
    #[should_panic(expected = "to another run")]
    fn cells_of_another_run_do_not_count() {
        let (mut ours, mut theirs, mut pool) = (list(), list(), Pool::default());
        let [our_cells, their_cells] = [&ours, &theirs].map(|list| cells(list, &[0]));
        let run = ours.open_run(0, 1, &mut pool);
        let _ = theirs.open_run(0, 1, &mut pool);
        let mut writer = Writer::new(&mut ours, &our_cells, &run);
        let _ = writer.column::<Number>();
        let mut other = Writer::new(&mut theirs, &their_cells, &run);
        other.column::<Number>().fill(Number(1), &mut writer.tally());
    }

    #[test]
    #[should_panic(expected = "of a run of new rows is live")]
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
    #[should_panic(expected = "do not follow those of this list")]
    fn rows_are_live_in_their_own_list_only() {
        let (ours, mut theirs) = (list(), list());
        theirs.commit(&ours.no_written_rows());
    }

    #[test]
    #[should_panic(expected = "a cell of the row was not written")]
    fn a_row_with_a_missing_cell_is_noticed() {
        let (mut list, mut pool) = (list(), Pool::default());
        let cells = cells(&list, &[0, 1]);
        cells.write(list.next_row(&mut pool), |row| row.put(&[0; 4]));
    }
}
