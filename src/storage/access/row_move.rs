//! Cells of one row: written, read, and moved as bytes from one list to another, along an edge
//! between archetypes.
//!
//! All data for the copy of a cell is computed once for a pair of lists and stored with the edge. A
//! move is a loop over a table of offsets.

#![expect(
    unsafe_code,
    reason = "cells are copied between raw blocks, whose columns have no type here"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use bytemuck::CheckedBitPattern;
use bytemuck::checked::pod_read_unaligned;

use crate::storage::block::{CellStarts, Place, copy_small};
use crate::storage::block_class::BlockClass;
use crate::storage::chunk_list::{ChunkList, NextRow, RemovedRow};
use crate::storage::row::ChunkRow;
use crate::storage::written_rows::WrittenRow;

/// The cells that a row keeps when it moves from one list to another: pairs of columns of the same
/// component, with all data for a copy.
///
/// [`RowMove::new`] proves that the columns belong to the two lists and that the columns of a pair
/// have the same size and values. It also proves that the kept and the added columns are all
/// columns of the target, unless the two lists are the same: such a move only exchanges cells of
/// rows that stay.
#[derive(Debug)]
pub(crate) struct RowMove {
    keys: [u64; 2],
    /// Pairs of kept columns, tags included: in the source and in the target.
    kept: Box<[(u16, u16)]>,
    /// Kept cells with bytes, in the source, and the starts of their columns in the target.
    cells: Box<[(CellStarts, [u32; BlockClass::LEN])]>,
    /// The added bundle, in the target.
    added: BundleCells,
    /// The removed bundle, in the source.
    removed: BundleCells,
}

impl RowMove {
    /// # Panics
    ///
    /// If the columns of a pair differ in size or values, or a column of the target is neither kept
    /// nor added although the lists differ.
    pub(crate) fn new(
        (source, target): (&ChunkList, &ChunkList),
        kept: Vec<(u16, u16)>,
        (added, removed): (DistinctColumns, DistinctColumns),
    ) -> Self {
        let kept = kept.into_boxed_slice();
        let is_written =
            |column| added.as_slice().contains(&column) || kept.iter().any(|&(_, to)| to == column);
        let mut targets = (0u16..).take(target.columns().len());
        assert!(
            source.key() == target.key() || targets.all(is_written),
            "a column of the target is neither kept nor added"
        );
        for &(from, to) in &kept {
            let pair = [(source, from), (target, to)];
            let [from, to] = pair.map(|(list, column)| list.columns()[usize::from(column)]);
            assert_eq!(from.size, to.size, "the columns of a pair differ in size");
            assert!(from.values == to.values, "the columns of a pair differ in their values");
        }
        let cells = kept
            .iter()
            .map(|&(from, to)| (CellStarts::new(source.layouts(), from), target.starts(to)));
        Self {
            keys: [source.key(), target.key()],
            cells: cells.filter(|(cell, _)| cell.size > 0).collect(),
            added: BundleCells::new(target, added),
            removed: BundleCells::new(source, removed),
            kept,
        }
    }

    /// Whether this was made for these lists, with their columns as they are.
    #[inline]
    pub(crate) const fn is_between(&self, source: &ChunkList, target: &ChunkList) -> bool {
        self.keys[0] == source.key() && self.keys[1] == target.key()
    }

    /// Pairs of kept columns: in the source and in the target.
    #[inline]
    pub(crate) const fn columns(&self) -> &[(u16, u16)] {
        &self.kept
    }

    /// The columns of the added bundle, in the bundle's order.
    #[inline]
    pub(crate) const fn added(&self) -> &BundleCells {
        &self.added
    }

    /// The columns of the removed bundle, in the bundle's order.
    pub(crate) const fn removed(&self) -> &BundleCells {
        &self.removed
    }

    /// The kept cells with bytes, in the source, and the starts of their columns in the target.
    #[inline]
    pub(super) const fn kept_cells(&self) -> &[(CellStarts, [u32; BlockClass::LEN])] {
        &self.cells
    }

    /// # Panics
    ///
    /// If this was made for lists with other keys, or for a single list: a move within one list
    /// need not write every column, see [`RowMove::new`].
    pub(super) fn assert_between(&self, source: u64, target: u64) {
        assert!(self.keys == [source, target], "the move was made for other lists");
        assert!(source != target, "the rows move to their own list");
    }

    /// Calls `exchange` to read the removed cells and write the added cells of a live row that
    /// stays in place.
    ///
    /// # Panics
    ///
    /// If this was not made for this list as both source and target, or the row is not live.
    pub(crate) fn exchange<T>(
        &self,
        list: &mut ChunkList,
        at: ChunkRow,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        assert!(self.keys == [list.key(); 2], "the move was made for another list");
        assert!(list.is_live(at), "row {} of chunk {} is not live", at.row, at.chunk);
        let place = list.place(at.chunk);
        // SAFETY: the place is of a chunk of the list, which is borrowed exclusively, and the row
        // is live. The reader and the writer take turns.
        let removed = unsafe { self.removed.addresses(place, at.row) };
        // SAFETY: as for the removed cells.
        let added = unsafe { self.added.addresses(place, at.row) };
        exchange(&mut RowReader::new(removed), &mut RowWriter::new(added))
    }

    /// Copies the kept cells of the removed row to the next row of the target, which becomes live.
    /// Before that, `exchange` may read the removed cells and must write the added ones. The source
    /// is not changed.
    ///
    /// # Panics
    ///
    /// If this was made for other lists, or `exchange` leaves an added cell unwritten. The row does
    /// not move.
    #[inline(always)]
    pub(crate) fn move_cells<T>(
        &self,
        source: &RemovedRow<'_>,
        next: NextRow<'_>,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        let (list, at) = (source.list(), source.at());
        let (target, to) = (next.list(), next.at());
        // Both lists are borrowed exclusively, so they are different lists and the keys differ.
        assert!(self.keys == [list.key(), target.key()], "the move was made for other lists");
        let (from_place, to_place) = (list.place(at.chunk), target.place(to.chunk));
        // SAFETY: the place is of the chunk of the source in which the row is live.
        let removed = unsafe { self.removed.addresses(from_place, at.row) };
        // SAFETY: the place is of the chunk of `target` that has its next row, and this is that
        // row.
        let added = unsafe { self.added.addresses(to_place, to.row) };
        let (mut old, mut new) = (RowReader::new(removed), RowWriter::new(added));
        let exchanged = exchange(&mut old, &mut new);
        new.assert_finished();
        for (cell, to_starts) in &self.cells {
            // SAFETY: the key proves that the cell is one of the source, and the row is live.
            let from = unsafe { cell.at(from_place, at.row) };
            // SAFETY: the key proves that the starts belong to a column of `target`. The block was
            // allocated for them, and `next` is a row of its last chunk.
            let to = unsafe { to_place.cell_of(to_starts, cell.size, to.row) };
            // SAFETY: both are cells of `size` bytes inside their blocks, because `RowMove::new`
            // compared the sizes of the two columns. `NextRow` borrows the target exclusively,
            // which is the right to write it.
            unsafe { copy_small(from.as_ptr(), to.as_ptr(), cell.size as usize) };
        }
        // SAFETY: the kept cells are copied and the added ones written. By `RowMove::new` these are
        // all cells of the target's next row, because the lists differ.
        next.commit(unsafe { WrittenRow::new() });
        exchanged
    }
}

/// Columns of a bundle in the bundle's order, each named once.
#[derive(Clone, Debug)]
pub(crate) struct DistinctColumns(Box<[u16]>);

impl DistinctColumns {
    /// # Panics
    ///
    /// If a column is named twice.
    pub(crate) fn new(columns: Vec<u16>) -> Self {
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "a bundle names a column twice");
        Self(columns.into())
    }

    pub(crate) const fn as_slice(&self) -> &[u16] {
        &self.0
    }
}

/// A bundle's cells in the rows of one list, in the bundle's order, each named once.
#[derive(Clone, Debug)]
pub(crate) struct BundleCells {
    key: u64,
    /// Whether they are all cells of a row.
    is_whole: bool,
    cells: Box<[CellStarts]>,
    columns: DistinctColumns,
}

impl BundleCells {
    pub(crate) fn new(list: &ChunkList, columns: DistinctColumns) -> Self {
        let cells: Box<[_]> = columns
            .as_slice()
            .iter()
            .map(|&column| CellStarts::new(list.layouts(), column))
            .collect();
        // No column is named twice, so equal numbers mean that all columns are named.
        let is_whole = cells.len() == list.columns().len();
        Self { key: list.key(), is_whole, cells, columns }
    }

    /// No cells.
    pub(crate) fn none(list: &ChunkList) -> Self {
        Self::new(list, DistinctColumns::new(Vec::new()))
    }

    /// The columns in the list, in the bundle's order.
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
    /// If the cells belong to another list.
    #[inline(always)]
    pub(super) fn assert_of(&self, list: &ChunkList) {
        assert!(self.key == list.key(), "the cells belong to another list");
    }

    /// # Panics
    ///
    /// If the cells belong to another list, or are not all cells of a row.
    #[inline(always)]
    pub(super) fn assert_whole(&self, list: &ChunkList) {
        self.assert_of(list);
        assert!(self.is_whole, "the bundle lacks a column of the list");
    }

    /// Calls `put` to write the cells of the list's next row in order, and makes the row live.
    ///
    /// # Panics
    ///
    /// If these are not all cells of a row of the list, or `put` leaves one unwritten. The row does
    /// not become live.
    #[inline(always)]
    pub(crate) fn write(&self, next: NextRow<'_>, put: impl FnOnce(&mut RowWriter<'_>)) {
        let (list, at) = (next.list(), next.at());
        self.assert_whole(list);
        // SAFETY: the place is of the list's chunk that has its next row, and this is that row.
        let mut row = RowWriter::new(unsafe { self.addresses(list.place(at.chunk), at.row) });
        put(&mut row);
        row.assert_finished();
        // SAFETY: these are all cells of the list's next row, and each is written.
        next.commit(unsafe { WrittenRow::new() });
    }

    /// The addresses of a row's cells.
    ///
    /// # Safety
    ///
    /// The place must be of a chunk of the list that the cells belong to, and the row less than the
    /// capacity. For as long as the addresses are used, no other code may access these cells.
    #[inline(always)]
    pub(super) unsafe fn addresses(&self, place: Place, row: u32) -> CellAddresses<'_> {
        CellAddresses { cells: self.cells.iter(), place, row }
    }
}

/// The addresses of a row's cells, in a bundle's order.
#[derive(Debug)]
pub(super) struct CellAddresses<'a> {
    cells: slice::Iter<'a, CellStarts>,
    place: Place,
    row: u32,
}

impl CellAddresses<'_> {
    /// The next cell, which must have this size.
    #[inline(always)]
    fn next(&mut self, size: usize) -> NonNull<u8> {
        let cell = self.cells.next().expect("the bundle has no cell left");
        assert!(size == cell.size as usize, "the value has another size than the cell");
        // SAFETY: the callers of `addresses` pass the place of a chunk of the list that the cells
        // belong to, and a row inside its capacity. A list of tags has no place, and its cells are
        // at offset zero, without bytes.
        unsafe { cell.at(self.place, self.row) }
    }
}

/// Writes a row's cells, in a bundle's order.
#[derive(Debug)]
pub(crate) struct RowWriter<'a>(CellAddresses<'a>, PhantomData<&'a mut ChunkList>);

impl<'a> RowWriter<'a> {
    #[inline(always)]
    pub(super) const fn new(cells: CellAddresses<'a>) -> Self {
        Self(cells, PhantomData)
    }

    /// Overwrites the next cell with the bytes of a value.
    ///
    /// # Panics
    ///
    /// If the bundle has no cell left, or the next one has another size.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: &[u8]) {
        let cell = self.0.next(value.len());
        // SAFETY: the cell is as large as the value, and its bytes belong to this row alone. The
        // list is borrowed exclusively for as long as the writer. The bytes are a value of the
        // cell's component, by the callers (see `access`).
        unsafe { copy_small(value.as_ptr(), cell.as_ptr(), value.len()) };
    }

    /// # Panics
    ///
    /// If a cell was not written.
    #[inline(always)]
    pub(super) fn assert_finished(&self) {
        assert!(self.0.cells.as_slice().is_empty(), "a cell of the row was not written");
    }

    /// Overwrites the next cell with the first of some bytes.
    ///
    /// # Panics
    ///
    /// If the bundle has no cell left, or the cell is larger than the bytes.
    #[inline]
    pub(crate) fn put_front(&mut self, bytes: &[u8]) {
        let size = self.0.cells.as_slice().first().map_or(0, |cell| cell.size as usize);
        self.put(&bytes[..size]);
    }
}

/// Copies the cells of a live row, in a bundle's order.
#[derive(Debug)]
pub struct RowReader<'a>(CellAddresses<'a>, PhantomData<&'a ChunkList>);

impl<'a> RowReader<'a> {
    #[inline(always)]
    pub(super) const fn new(cells: CellAddresses<'a>) -> Self {
        Self(cells, PhantomData)
    }

    /// The value of the next cell.
    ///
    /// # Panics
    ///
    /// If the bundle has no cell left, the next one has another size, or its bytes are not a value.
    #[inline(always)]
    pub(crate) fn take<C: CheckedBitPattern>(&mut self) -> C {
        let cell = self.0.next(size_of::<C>());
        // SAFETY: the cell is as large as the value, and initialised because the row is live. The
        // list is borrowed, and the writer of a row takes turns with its reader: no code writes the
        // bytes before they are copied below.
        let bytes = unsafe { slice::from_raw_parts(cell.as_ptr(), size_of::<C>()) };
        pod_read_unaligned(bytes)
    }
}
