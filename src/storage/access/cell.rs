//! Cells by row: a single cell, the live cells of a column in a chunk, a bundle's cells in a chunk.

#![expect(unsafe_code, reason = "typed access to single rows of raw blocks")]

use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;
use core::slice;

use super::column_bytes::ColumnBytes;
use super::row_move::{BundleCells, DistinctColumns};
use crate::component::{Component, References, Values};
use crate::entity::{Entity, RowIndex};
use crate::prefetch::prefetch;
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::is_aligned_for;
use crate::storage::row::ChunkRow;

impl ChunkList {
    /// One cell, for reading.
    ///
    /// # Panics
    ///
    /// If the position is not a live row, or the column has another size or other values than `C`.
    #[inline]
    pub(crate) fn cell<C: Component>(&self, column: usize, at: RowIndex) -> &C {
        self.find_cell(column, at).unwrap_or_else(|| self.refuse::<C>(column, at))
    }

    /// One cell, for reading. `None` where [`ChunkList::cell`] would panic.
    #[inline(always)]
    pub(crate) fn find_cell<C: Component>(&self, column: usize, at: RowIndex) -> Option<&C> {
        let address = self.find_address::<C, false>(column, at)?;
        // SAFETY: the row is live, and live rows are initialised. No code writes the cell: a writer
        // through a shared list has promised that no other code reads its columns
        // (`ChunkIter::exclusive_unchecked`).
        Some(unsafe { address.as_ref() })
    }

    /// One cell, for writing.
    ///
    /// # Panics
    ///
    /// See [`ChunkList::cell`].
    #[inline]
    pub(crate) fn cell_mut<C: Component>(&mut self, column: usize, at: RowIndex) -> &mut C {
        let mut address = self.cell_address::<C, true>(column, at);
        // SAFETY: the row is live and initialised, as in `cell`, and any written `C` is a value of
        // the column. The list is borrowed exclusively.
        unsafe { address.as_mut() }
    }

    /// The live cells of a column in one chunk, for reading.
    ///
    /// # Panics
    ///
    /// If the chunk does not exist, or the column has another size or other values than `C`.
    pub(crate) fn cells<C: Component>(&self, column: u16, chunk: u32) -> &[C] {
        let first = self.position(ChunkRow { chunk, row: 0 });
        let start = self.cell_address::<C, false>(usize::from(column), first);
        // SAFETY: the first row of the chunk is live, so all of `rows` are live, initialised and,
        // by `ChunkLayout`, inside the block. No code writes them, as in `cell`.
        unsafe { slice::from_raw_parts(start.as_ptr(), self.rows(chunk) as usize) }
    }

    /// The bytes of a column's live rows in one chunk, without the padding.
    ///
    /// # Panics
    ///
    /// If the chunk or the column does not exist.
    pub(crate) fn column_bytes(&self, column: usize, chunk: u32) -> &[u8] {
        assert!(chunk < self.chunk_len(), "chunk {chunk} does not exist");
        if self.columns()[column].size == 0 {
            return &[];
        }
        let (start, size) = self.row_address(column, ChunkRow { chunk, row: 0 });
        // SAFETY: live rows are initialised and, by `ChunkLayout`, inside the block, and components
        // have no uninitialised bytes. No code writes them, as in `cell`.
        unsafe { slice::from_raw_parts(start, self.rows(chunk) as usize * size) }
    }

    /// The bytes of some columns in live rows of a chunk, for writing.
    ///
    /// # Panics
    ///
    /// If the chunk or a column does not exist, or a row is not live.
    pub(crate) fn bytes_mut(
        &mut self,
        (chunk, rows): (u32, Range<u32>),
        columns: &DistinctColumns,
    ) -> Vec<ColumnBytes<'_>> {
        assert!(chunk < self.chunk_len(), "chunk {chunk} does not exist");
        assert!(rows.start <= rows.end && rows.end <= self.rows(chunk), "a row is not live");
        let cells = |&column: &u16| {
            // SAFETY: the list is borrowed exclusively as long as the result is, and no two of the
            // columns are the same, so no two slices share a byte.
            unsafe { self.bytes_unchecked(column, (chunk, rows.clone())) }
        };
        columns.as_slice().iter().map(cells).collect()
    }

    /// The bytes of a column in live rows of a chunk, for writing through a shared list.
    ///
    /// # Panics
    ///
    /// If the chunk or the column does not exist, or a row is not live.
    ///
    /// # Safety
    ///
    /// As long as the result is in use, no other code may read or write these cells, and no row of
    /// the list may move.
    pub(crate) unsafe fn bytes_unchecked(
        &self,
        column: u16,
        (chunk, rows): (u32, Range<u32>),
    ) -> ColumnBytes<'_> {
        assert!(chunk < self.chunk_len(), "chunk {chunk} does not exist");
        assert!(rows.start <= rows.end && rows.end <= self.rows(chunk), "a row is not live");
        let column = usize::from(column);
        let shape = self.columns()[column];
        if shape.size == 0 || rows.is_empty() {
            return ColumnBytes::new(&mut [], shape.size, shape.values);
        }
        let (start, size) = self.row_address(column, ChunkRow { chunk, row: rows.start });
        // SAFETY: the rows are live, so initialised, and by `ChunkLayout` inside the block, and
        // components have no uninitialised bytes. No other code uses them, by the caller.
        // `ColumnBytes` writes values of the column only.
        let bytes = unsafe { slice::from_raw_parts_mut(start, rows.len() * size) };
        ColumnBytes::new(bytes, size, shape.values)
    }

    /// Replaces the ids of entities in some live cells of a column in one chunk by the results of
    /// `map`.
    ///
    /// # Panics
    ///
    /// If a row or the column does not exist, or the column has values of another type that does
    /// not accept any bytes.
    pub(crate) fn map_entities(
        &mut self,
        column: u16,
        (chunk, rows): (u32, Range<u32>),
        references: References,
        map: &mut dyn FnMut(Entity) -> Entity,
    ) {
        let column = usize::from(column);
        assert!(chunk < self.chunk_len(), "chunk {chunk} does not exist");
        let shape = self.columns()[column];
        if shape.size == 0 {
            return;
        }
        assert!(
            shape.values.include(references.identity()),
            "the column has values of another type"
        );
        assert!(rows.end <= self.rows(chunk), "row {} is not live", rows.end);
        let (start, size) = self.row_address(column, ChunkRow { chunk, row: rows.start });
        let bytes = rows.len() * size;
        // SAFETY: live rows are initialised and, by `ChunkLayout`, inside the block. The list is
        // borrowed exclusively, so no other code reads or writes them. `References::map` replaces
        // values of its type by values of its type, which are values of the column: by the
        // assertion it is the column's type, or any bytes are.
        let cells = unsafe { slice::from_raw_parts_mut(start, bytes) };
        references.map(cells, map);
    }

    /// Prefetches the cache lines of a live row, a cell a column.
    ///
    /// # Panics
    ///
    /// If the row is not in the layout of its block.
    #[inline]
    pub(crate) fn prefetch(&self, at: ChunkRow) {
        if self.blocks().len() > at.chunk as usize {
            self.cell_addresses(at).for_each(|cell| prefetch(cell));
        }
    }

    /// The address of a cell, for reading or for writing too.
    ///
    /// # Panics
    ///
    /// See [`ChunkList::cell`].
    #[inline]
    fn cell_address<C: Component, const WRITES: bool>(
        &self,
        column: usize,
        at: RowIndex,
    ) -> NonNull<C> {
        match self.find_address::<C, WRITES>(column, at) {
            Some(address) => address,
            None => self.refuse::<C>(column, at),
        }
    }

    /// The address of a cell. `None` if the position is not a live row, or the column has another
    /// size or other values than `C`.
    #[inline(always)]
    fn find_address<C: Component, const WRITES: bool>(
        &self,
        column: usize,
        at: RowIndex,
    ) -> Option<NonNull<C>> {
        let at = self.split(at);
        let cells = self.column_cells(column)?;
        let is_of_type = cells.cell.size as usize == size_of::<C>()
            && (!WRITES && Values::are_any::<C>() || cells.values.are_of::<C>())
            && (is_aligned_for::<C>(1) || is_aligned_for::<C>(self.columns()[column].align));
        if !is_of_type || !self.is_live(at) {
            return None;
        }
        if size_of::<C>() == 0 {
            return Some(NonNull::dangling());
        }
        let place = self.blocks().get(at.chunk as usize)?.place(self.capacity());
        // SAFETY: the block was allocated for the layout (`ChunkList`), which has this column, and
        // the row is live and so less than the capacity.
        Some(unsafe { cells.cell.at(place, at.row) }.cast())
    }

    #[cold]
    #[inline(never)]
    fn refuse<C: Component>(&self, column: usize, at: RowIndex) -> ! {
        self.columns()[column].assert_holds::<C>();
        panic!("the row is not live: position {}", at.0)
    }
}

/// Cells of one column, to be written at the same time. Each position is greater than the one
/// before, so that no two cells are the same.
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

    /// The chunk and row of a position.
    pub(crate) fn split(&self, at: RowIndex) -> ChunkRow {
        self.list.split(at)
    }

    /// The cell at a position greater than the last one.
    ///
    /// # Panics
    ///
    /// If the position is not greater than the last one, or [`ChunkList::cell`] would panic.
    pub(crate) fn next(&mut self, at: RowIndex) -> &'w mut C {
        assert!(self.last.is_none_or(|last| last < at), "the positions do not ascend");
        self.last = Some(at);
        let mut address = self.list.cell_address::<C, true>(self.column, at);
        // SAFETY: the row is live and so initialised. The list is borrowed exclusively for `'w`,
        // and positions ascend, so that no cell is handed out twice.
        unsafe { address.as_mut() }
    }
}

/// Hands out the live rows of one chunk to be overwritten, column by column in a bundle's order.
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
    /// If the cells belong to another list, or the chunk does not exist.
    pub(crate) fn new(list: &'a mut ChunkList, cells: &'a BundleCells, chunk: u32) -> Self {
        cells.assert_of(list);
        assert!(chunk < list.chunk_len(), "chunk {chunk} does not exist");
        Self { list, columns: cells.columns().as_slice().iter(), chunk }
    }

    /// The live rows of the next column of the bundle.
    pub(crate) fn column<C: Component>(&mut self) -> &'a mut [C] {
        let column = *self.columns.next().expect("the bundle has no column left");
        let first = self.list.position(ChunkRow { chunk: self.chunk, row: 0 });
        let start = self.list.cell_address::<C, true>(usize::from(column), first);
        let rows = self.list.rows(self.chunk) as usize;
        // SAFETY: the first row of the chunk is live, so all of `rows` are live, initialised and,
        // by `ChunkLayout`, inside the block. The list is borrowed exclusively for `'a`, and each
        // column is handed out once, because `DistinctColumns` names none twice.
        unsafe { slice::from_raw_parts_mut(start.as_ptr(), rows) }
    }
}
