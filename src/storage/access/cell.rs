//! Cells by row: one of a live row, some of a column, all that a bundle has in a chunk or in one row.

#![expect(unsafe_code, reason = "typed access to single rows of raw blocks")]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;

use super::block_copy::row_address;
use crate::storage::chunk_list::{ChunkList, NextRow};
use crate::storage::layout::{Column, is_aligned_for};
use crate::storage::row::{ChunkRow, RowIndex};

impl ChunkList {
    /// One cell, for reading.
    ///
    /// # Panics
    ///
    /// If the position is not a live row or the column has another size than `C`.
    #[inline]
    pub(crate) fn cell<C: Component>(&self, column: usize, at: RowIndex) -> &C {
        let address = self.cell_address::<C>(column, at);
        // SAFETY: `cell_address` checked that the row is live, and live rows are initialised; the
        // list is borrowed shared, so nobody writes.
        unsafe { address.as_ref() }
    }

    /// One cell, for writing.
    ///
    /// # Panics
    ///
    /// As [`ChunkList::cell`].
    #[inline]
    pub(crate) fn cell_mut<C: Component>(&mut self, column: usize, at: RowIndex) -> &mut C {
        let mut address = self.cell_address::<C>(column, at);
        // SAFETY: as in `cell`; the list is borrowed exclusively.
        unsafe { address.as_mut() }
    }

    /// The live cells of a column in one chunk, for reading.
    ///
    /// # Panics
    ///
    /// If there is no such chunk or the column has another size than `C`.
    pub(crate) fn cells<C: Component>(&self, column: u16, chunk: u32) -> &[C] {
        let first = self.position(ChunkRow { chunk, row: 0 });
        let start = self.cell_address::<C>(usize::from(column), first);
        // SAFETY: the first row of the chunk is live, so all of `rows` are, initialised and, by
        // `ChunkLayout`, inside the block; the list is borrowed shared, so nobody writes.
        unsafe { slice::from_raw_parts(start.as_ptr(), self.rows(chunk) as usize) }
    }

    /// The bytes of a column's live rows in one chunk. Padding behind them is left out.
    ///
    /// # Panics
    ///
    /// If there is no such chunk or column.
    pub(crate) fn column_bytes(&self, column: usize, chunk: u32) -> &[u8] {
        assert!(chunk < self.chunk_count(), "a live chunk");
        let Some(block) = self.blocks().get(chunk as usize) else {
            assert!(self.columns()[column].size == 0, "a block for rows with bytes");
            return &[];
        };
        let (start, size) = row_address(block, self.layout(), column, 0);
        // SAFETY: live rows are initialised and, by `ChunkLayout`, inside the block; any bytes are
        // bytes; the list is borrowed shared, so nobody writes.
        unsafe { slice::from_raw_parts(start, self.rows(chunk) as usize * size) }
    }

    #[inline]
    fn cell_address<C: Component>(&self, column: usize, at: RowIndex) -> NonNull<C> {
        let at = self.split(at);
        assert!(self.is_live(at), "a live row");
        let Column { offset, size } = self.layout().columns()[column];
        assert!(size as usize == size_of::<C>(), "a column of this size");
        if !is_aligned_for::<C>(1) {
            self.columns()[column].assert_holds::<C>();
        }
        if size_of::<C>() == 0 {
            return NonNull::dangling();
        }
        let block = &self.blocks()[at.chunk as usize];
        // SAFETY: the block was taken for the layout (`ChunkList`), which proves that the column
        // starts inside it.
        let start = unsafe { block.base().add(offset as usize) }.cast::<C>();
        // SAFETY: the row is live, so less than the capacity, and by `ChunkLayout` as many rows of
        // the column's size lie inside the block.
        unsafe { start.add(at.row as usize) }
    }
}

/// Cells of one column, for writing together: each position is greater than the one before, so no
/// two are the same cell.
#[derive(Debug)]
pub(crate) struct CellsMut<'w, C> {
    list: &'w mut ChunkList,
    column: usize,
    last: Option<RowIndex>,
    component: PhantomData<fn() -> C>,
}

impl<'w, C: Component> CellsMut<'w, C> {
    pub(crate) fn new(list: &'w mut ChunkList, column: u16) -> Self {
        Self { list, column: usize::from(column), last: None, component: PhantomData }
    }

    /// The chunk of a position.
    pub(crate) fn chunk(&self, at: RowIndex) -> usize {
        self.list.split(at).chunk as usize
    }

    /// The cell at a position behind the last one.
    ///
    /// # Panics
    ///
    /// If it is not behind the last one, or [`ChunkList::cell`] would panic.
    pub(crate) fn next(&mut self, at: RowIndex) -> &'w mut C {
        assert!(self.last.is_none_or(|last| last < at), "positions ascend");
        self.last = Some(at);
        let mut address = self.list.cell_address::<C>(self.column, at);
        // SAFETY: the row is live and so initialised; the list is borrowed exclusively for `'w`,
        // and positions ascend, so no cell is handed out twice.
        unsafe { address.as_mut() }
    }
}

/// Hands out the live rows of one chunk, column by column in a bundle's order, to be overwritten.
#[derive(Debug)]
pub struct LiveColumns<'a> {
    list: &'a mut ChunkList,
    columns: slice::Iter<'a, u16>,
    chunk: u32,
}

impl<'a> LiveColumns<'a> {
    /// The columns of a bundle in a chunk.
    ///
    /// # Panics
    ///
    /// If the cells are another list's, or there is no such chunk.
    pub(crate) fn new(list: &'a mut ChunkList, cells: &'a BundleCells, chunk: u32) -> Self {
        cells.assert_of(list);
        assert!(chunk < list.chunk_count(), "there is no chunk {chunk}");
        Self { list, columns: cells.columns().as_slice().iter(), chunk }
    }

    /// The live rows of the next column of the bundle.
    pub(crate) fn column<C: Component>(&mut self) -> &'a mut [C] {
        let column = *self.columns.next().expect("a bundle has a column for each component");
        let first = self.list.position(ChunkRow { chunk: self.chunk, row: 0 });
        let start = self.list.cell_address::<C>(usize::from(column), first);
        let rows = self.list.rows(self.chunk) as usize;
        // SAFETY: as in `ChunkList::cells`; the list is borrowed exclusively for `'a`, and each column
        // is handed out once, because `DistinctColumns` names none twice.
        unsafe { slice::from_raw_parts_mut(start.as_ptr(), rows) }
    }
}

/// Columns of a bundle in its own order, none named twice.
#[derive(Clone, Debug)]
pub(crate) struct DistinctColumns(Box<[u16]>);

impl DistinctColumns {
    /// # Panics
    ///
    /// If a column is named twice.
    pub(crate) fn new(columns: Vec<u16>) -> Self {
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "a bundle names columns once");
        Self(columns.into())
    }

    pub(crate) const fn as_slice(&self) -> &[u16] {
        &self.0
    }
}

/// A cell of a list's rows: where its column starts in a chunk and in a small first block, and its
/// bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    offsets: [u32; 2],
    pub(super) size: u32,
}

impl Cell {
    pub(super) fn new(list: &ChunkList, column: u16) -> Self {
        let size = list.columns()[usize::from(column)].size;
        Self { offsets: list.offsets(column), size: u32::try_from(size).expect("inside a chunk") }
    }

    /// The offset of a row's cell in its block.
    #[inline]
    pub(super) const fn offset(&self, small: usize, row: u32) -> usize {
        self.offsets[small] as usize + row as usize * self.size as usize
    }
}

/// A bundle's cells in the rows of one list, in the bundle's own order, none named twice.
#[derive(Clone, Debug)]
pub(crate) struct BundleCells {
    key: u64,
    /// Whether they are all cells of a row.
    is_whole: bool,
    cells: Box<[Cell]>,
    columns: DistinctColumns,
}

/// Every cell that a [`RowWriter`] had was written.
#[derive(Debug)]
pub(in super::super) struct WrittenRow(());

impl BundleCells {
    pub(crate) fn new(list: &ChunkList, columns: DistinctColumns) -> Self {
        let cells: Box<[_]> =
            columns.as_slice().iter().map(|&column| Cell::new(list, column)).collect();
        // No column is named twice, so as many as there are means each of them.
        let is_whole = cells.len() == list.columns().len();
        Self { key: list.key(), is_whole, cells, columns }
    }

    /// No cells.
    pub(crate) fn none(list: &ChunkList) -> Self {
        Self::new(list, DistinctColumns::new(Vec::new()))
    }

    /// The columns in the list, in the bundle's own order.
    #[inline]
    pub(crate) const fn columns(&self) -> &DistinctColumns {
        &self.columns
    }

    /// Whether they are all cells of a row.
    #[inline]
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// # Panics
    ///
    /// If the cells are another list's.
    #[inline(always)]
    pub(super) fn assert_of(&self, list: &ChunkList) {
        assert!(self.key == list.key(), "the cells were looked up in another list");
    }

    /// # Panics
    ///
    /// If the cells are another list's, or not all of a row.
    #[inline(always)]
    pub(super) fn assert_whole(&self, list: &ChunkList) {
        self.assert_of(list);
        assert!(self.is_whole, "the bundle lacks a column of the list");
    }

    /// Lets `put` write the cells of the list's next row, one after the other, and makes it live.
    ///
    /// # Panics
    ///
    /// If these are not all cells of a row of the list, or `put` leaves one unwritten; the row is not
    /// live then.
    #[inline(always)]
    pub(crate) fn write(&self, next: NextRow<'_>, put: impl FnOnce(&mut RowWriter<'_>)) {
        let (list, at) = (next.list(), next.at());
        self.assert_whole(list);
        let small = usize::from(list.is_small());
        let mut row = RowWriter::new(self.walk(list.base(at.chunk), small, at.row));
        put(&mut row);
        let written = row.finish();
        next.commit(written);
    }

    /// The cells of a row in the block of the list that starts at `base`.
    #[inline(always)]
    pub(super) fn walk(&self, base: NonNull<u8>, small: usize, row: u32) -> CellWalk<'_> {
        CellWalk { cells: self.cells.iter(), base, small, row }
    }
}

/// The addresses of a row's cells, one after the other.
#[derive(Debug)]
pub(super) struct CellWalk<'a> {
    cells: slice::Iter<'a, Cell>,
    base: NonNull<u8>,
    small: usize,
    row: u32,
}

impl CellWalk<'_> {
    /// The next cell, which has this size.
    #[inline(always)]
    fn next(&mut self, size: usize) -> NonNull<u8> {
        let cell = self.cells.next().expect("the bundle has no cell left");
        assert!(size == cell.size as usize, "a value of another size than its cell");
        // SAFETY: the callers of `walk` have the base of a chunk of the list that the cells are of,
        // and a row inside its capacity, so `ChunkLayout` proves the cell inside the block. Without
        // bytes the offset is zero.
        unsafe { self.base.add(cell.offset(self.small, self.row)) }
    }
}

/// Writes a row's cells, in a bundle's order.
#[derive(Debug)]
pub(crate) struct RowWriter<'a>(CellWalk<'a>, PhantomData<&'a mut ChunkList>);

impl<'a> RowWriter<'a> {
    #[inline(always)]
    pub(super) const fn new(cells: CellWalk<'a>) -> Self {
        Self(cells, PhantomData)
    }

    /// Overwrites the next cell with the bytes of a value.
    ///
    /// # Panics
    ///
    /// If the bundle has no other component, or one of another size.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: &[u8]) {
        let cell = self.0.next(value.len());
        // SAFETY: the cell has as many bytes, which are this row's alone, and the list is borrowed
        // exclusively while this lives. Components are `Pod`: any bytes are a value.
        unsafe { cell.as_ptr().copy_from_nonoverlapping(value.as_ptr(), value.len()) };
    }

    /// # Panics
    ///
    /// If a cell was not written.
    #[inline(always)]
    pub(super) fn finish(self) -> WrittenRow {
        assert!(self.0.cells.as_slice().is_empty(), "a cell of the row was not written");
        WrittenRow(())
    }

    /// Overwrites the next cell with the first of some bytes, as many as it has.
    ///
    /// # Panics
    ///
    /// If the bundle has no other component, or there are fewer bytes.
    #[inline]
    pub(crate) fn put_front(&mut self, bytes: &[u8]) {
        let size = self.0.cells.as_slice().first().map_or(0, |cell| cell.size as usize);
        self.put(&bytes[..size]);
    }
}

/// Copies the cells of a live row out, in a bundle's order.
#[derive(Debug)]
pub(crate) struct RowReader<'a>(CellWalk<'a>, PhantomData<&'a ChunkList>);

impl<'a> RowReader<'a> {
    #[inline(always)]
    pub(super) const fn new(cells: CellWalk<'a>) -> Self {
        Self(cells, PhantomData)
    }

    /// Overwrites a value with the bytes of the next cell.
    ///
    /// # Panics
    ///
    /// If the bundle has no other component, or one of another size.
    #[inline(always)]
    pub(crate) fn take(&mut self, value: &mut [u8]) {
        let cell = self.0.next(value.len());
        // SAFETY: the cell has as many bytes, initialised because the row is live, and nothing
        // writes them while the list is borrowed. The value is no part of it, being borrowed exclusively.
        unsafe { value.as_mut_ptr().copy_from_nonoverlapping(cell.as_ptr(), value.len()) };
    }
}
