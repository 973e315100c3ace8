//! Single cells of live rows, and the cells behind the last one.

#![expect(unsafe_code, reason = "typed access to single rows of raw blocks")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;

use super::super::chunk::ChunkList;
use super::super::layout::{Column, is_aligned_for};
use super::super::place::{Position, Spot};
use super::copy::row_address;

impl ChunkList {
    /// One cell, for reading.
    ///
    /// # Panics
    ///
    /// If the position is not a live row or the column has another size than `C`.
    #[inline]
    pub(crate) fn cell<C: Component>(&self, column: usize, at: Position) -> &C {
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
    pub(crate) fn cell_mut<C: Component>(&mut self, column: usize, at: Position) -> &mut C {
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
        let first = self.position(Spot { chunk, row: 0 });
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
    fn cell_address<C: Component>(&self, column: usize, at: Position) -> NonNull<C> {
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
    last: Option<Position>,
    component: PhantomData<fn() -> C>,
}

impl<'w, C: Component> CellsMut<'w, C> {
    pub(crate) fn new(list: &'w mut ChunkList, column: u16) -> Self {
        Self { list, column: usize::from(column), last: None, component: PhantomData }
    }

    /// The chunk of a position.
    pub(crate) fn chunk(&self, at: Position) -> usize {
        self.list.split(at).chunk as usize
    }

    /// The cell at a position behind the last one.
    ///
    /// # Panics
    ///
    /// If it is not behind the last one, or [`ChunkList::cell`] would panic.
    pub(crate) fn next(&mut self, at: Position) -> &'w mut C {
        assert!(self.last.is_none_or(|last| last < at), "positions ascend");
        self.last = Some(at);
        let mut address = self.list.cell_address::<C>(self.column, at);
        // SAFETY: the row is live and so initialised; the list is borrowed exclusively for `'w`,
        // and positions ascend, so no cell is handed out twice.
        unsafe { address.as_mut() }
    }
}

/// Hands out the uninitialised rows behind the last live one, column by column in a bundle's
/// order, to be written.
#[derive(Debug)]
pub struct Writer<'a> {
    list: &'a mut ChunkList,
    columns: slice::Iter<'a, u16>,
    taken: usize,
    chunk: u32,
    rows: Range<u32>,
}

impl<'a> Writer<'a> {
    /// A writer for `rows` of `chunk`, live or not, of the columns `columns`.
    ///
    /// # Panics
    ///
    /// If the rows are not in the chunk's block.
    #[inline]
    pub(crate) fn new(
        list: &'a mut ChunkList,
        columns: &'a DistinctColumns,
        chunk: u32,
        rows: Range<u32>,
    ) -> Self {
        assert!(rows.end <= list.capacity(), "rows inside the chunk");
        Self { list, columns: columns.0.iter(), taken: 0, chunk, rows }
    }

    /// The next column of the bundle.
    #[inline(always)]
    pub(crate) fn column<C: Component>(&mut self) -> &'a mut [MaybeUninit<C>] {
        let column = *self.columns.next().expect("a column for every component") as usize;
        self.taken += 1;
        self.list.columns()[column].assert_holds::<C>();
        let start = if size_of::<C>() == 0 {
            NonNull::<C>::dangling().as_ptr()
        } else {
            let block = &self.list.blocks()[self.chunk as usize];
            row_address(block, self.list.layout(), column, self.rows.start).0.cast::<C>()
        };
        // SAFETY: the rows are inside the column's part of the block by `new` and `ChunkLayout`,
        // which is less than 256 KiB; uninitialised bytes are allowed in `MaybeUninit`; the list is borrowed exclusively for `'a` and each
        // column is handed out once, because `DistinctColumns` names none twice.
        unsafe { slice::from_raw_parts_mut(start.cast(), self.rows.len()) }
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
