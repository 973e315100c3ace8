//! The chunks of a list, divided into slices.

#![expect(
    unsafe_code,
    reason = "disjoint typed slices of one block; the safe form costs 4 to 12 % in L1"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use crate::component::{Component, Values};
use crate::prefetch::prefetch;

use super::borrow::Borrow;
use super::column_map::{ArchetypeColumns, ColumnRef};
use super::column_type::ColumnKind;
use crate::storage::block::{Block, Place};
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::padded_rows;
use crate::storage::row::ChunkRow;
use crate::storage::slice_rows::SliceRows;

/// Iterates over the chunks of one list, and takes each once.
#[derive(Debug)]
pub(crate) struct ChunkIter<'w> {
    blocks: &'w [Block],
    columns: ArchetypeColumns<'w>,
    capacity: u32,
    tail: u32,
    chunk_len: u32,
    /// Bits that a position of the list has for the row in its chunk.
    shift: u8,
    /// The number of the next chunk.
    next: u32,
    borrow: Borrow,
}

impl<'w> ChunkIter<'w> {
    /// All chunks, for reading.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline]
    pub(crate) fn shared(list: &'w ChunkList, columns: ArchetypeColumns<'w>) -> Self {
        Self::new(list, columns, Borrow::Shared)
    }

    /// All chunks, for writing. The list is borrowed exclusively for as long as the slices.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline]
    pub(crate) fn exclusive(list: &'w mut ChunkList, columns: ArchetypeColumns<'w>) -> Self {
        Self::new(list, columns, Borrow::Exclusive)
    }

    /// All chunks of a list that is borrowed elsewhere as well, for writing.
    ///
    /// # Safety
    ///
    /// For `'w` no other code may read or write the cells of the columns that `columns` writes, or
    /// write the cells of the columns that it reads.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline]
    pub(crate) unsafe fn exclusive_unchecked(
        list: &'w ChunkList,
        columns: ArchetypeColumns<'w>,
    ) -> Self {
        Self::new(list, columns, Borrow::Exclusive)
    }

    #[inline]
    fn new(list: &'w ChunkList, columns: ArchetypeColumns<'w>, borrow: Borrow) -> Self {
        assert!(columns.key == list.key(), "the columns belong to another list");
        let has_blocks = list.blocks().len() >= list.chunk_len() as usize;
        assert!(has_blocks || !list.layouts().has_bytes(), "a chunk has no block");
        Self {
            blocks: list.blocks(),
            columns,
            capacity: list.capacity(),
            tail: list.tail(),
            chunk_len: list.chunk_len(),
            shift: list.shift(),
            next: 0,
            borrow,
        }
    }

    /// The columns that are taken from each chunk.
    #[inline]
    pub(crate) const fn columns(&self) -> ArchetypeColumns<'w> {
        self.columns
    }

    /// Rows of a full chunk.
    #[inline]
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The number of the next chunk.
    #[inline]
    pub(crate) const fn index(&self) -> usize {
        self.next as usize
    }

    /// The number of the next chunk.
    #[inline]
    pub(crate) const fn next_number(&self) -> u32 {
        self.next
    }

    /// Whether all chunks were taken.
    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        self.next >= self.chunk_len
    }

    /// Rows of a chunk.
    #[inline]
    pub(crate) const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunk_len { self.tail } else { self.capacity }
    }

    /// Bits that a position of the list has for the row in its chunk.
    #[inline]
    pub(crate) const fn shift(&self) -> u32 {
        self.shift as u32
    }

    /// Skips the chunks up to a number. Those that were passed stay passed.
    #[inline]
    pub(crate) fn skip_to(&mut self, chunk: u32) {
        self.next = self.next.max(chunk);
    }

    /// Skips the next chunk.
    #[inline]
    pub(crate) const fn skip(&mut self) {
        self.next += 1;
    }

    /// Takes one row, as if it were a chunk. Passes the chunks up to its own.
    ///
    /// # Panics
    ///
    /// If its chunk was passed, or the row is not live.
    #[inline]
    pub(crate) fn take_row(&mut self, ChunkRow { chunk, row }: ChunkRow) -> ChunkColumns<'w> {
        let is_left = chunk >= self.next && chunk < self.chunk_len;
        assert!(is_left && row < self.rows(chunk), "the row was passed, or is not live");
        self.next = chunk + 1;
        let place = self.place(chunk).skip(row);
        ChunkColumns { place, len: 1, live: 1, ..self.no_rows() }
    }

    /// The place of a chunk.
    #[inline(always)]
    fn place(&self, chunk: u32) -> Place {
        match self.blocks.get(chunk as usize) {
            Some(block) => block.place(self.capacity),
            // Rows of tags have no block, and their slices no bytes.
            None => {
                assert!(self.blocks.is_empty(), "a chunk has no block");
                Place::NONE
            }
        }
    }

    /// The columns, without rows.
    #[inline(always)]
    fn no_rows(&self) -> ChunkColumns<'w> {
        ChunkColumns {
            place: Place::NONE,
            len: 0,
            live: 0,
            columns: self.columns.columns().iter(),
            values: self.columns.values,
            borrow: self.borrow,
            lifetime: PhantomData,
        }
    }

    /// Takes the next chunk.
    #[inline]
    pub(crate) fn next_chunk(&mut self, slice_rows: SliceRows) -> Option<ChunkColumns<'w>> {
        if self.is_done() {
            return None;
        }
        Some(self.take(1, slice_rows))
    }

    /// Takes the next chunks that follow each other in memory, as if they were one.
    #[inline]
    pub(crate) fn next_run(&mut self, slice_rows: SliceRows) -> Option<ChunkColumns<'w>> {
        self.next_chunks(u32::MAX, slice_rows)
    }

    /// Takes at most `chunks_max` of the next chunks, at least one, that follow each other in
    /// memory.
    #[inline]
    pub(crate) fn next_chunks(
        &mut self,
        chunks_max: u32,
        slice_rows: SliceRows,
    ) -> Option<ChunkColumns<'w>> {
        if self.is_done() {
            return None;
        }
        let rest = self.blocks.get(self.next as usize..).unwrap_or_default();
        let rest = &rest[..rest.len().min(chunks_max as usize)];
        let follow = rest.windows(2).take_while(|pair| pair[1].continues(&pair[0])).count();
        // Rows of tags have no blocks, so they are all one run.
        let left = (self.chunk_len - self.next).min(chunks_max);
        // A last block may have no live rows.
        let chunks = u32::try_from(1 + follow).unwrap_or(left).min(left);
        Some(self.take(if rest.is_empty() { left } else { chunks }, slice_rows))
    }

    /// Takes `chunks` chunks, at least one, that follow each other in memory.
    #[inline(always)]
    fn take(&mut self, chunks: u32, slice_rows: SliceRows) -> ChunkColumns<'w> {
        let place = self.place(self.next);
        let full = (chunks as usize - 1) * self.capacity as usize;
        let last = self.rows(self.next + chunks - 1);
        self.next += chunks;
        let shown = if slice_rows.is_padded() { padded_rows(last, self.capacity) } else { last };
        let (len, live) = (full + shown as usize, full + last as usize);
        ChunkColumns { place, len, live, ..self.no_rows() }
    }
}

/// One chunk, several that follow each other in memory, or one row. Each column of an entry is
/// taken from it once.
#[derive(Debug)]
pub(crate) struct ChunkColumns<'w> {
    place: Place,
    len: usize,
    live: usize,
    columns: slice::Iter<'w, ColumnRef>,
    /// The values of all columns of the entry, taken or not.
    values: &'w [Option<Values>],
    borrow: Borrow,
    lifetime: PhantomData<&'w mut [u8]>,
}

/// A chunk from which the columns of an entry are taken, in order.
pub trait Columns<'w> {
    /// Rows of the slices, padding included.
    fn len(&self) -> usize;

    /// The next column, for reading; `None` if the archetype lacks it.
    fn column<C: Component>(&mut self) -> Option<&'w [C]>;

    /// The next column, for writing; `None` if the archetype lacks it.
    ///
    /// # Panics
    ///
    /// If the entry does not write the column, or the list is borrowed shared.
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]>;

    /// The number of the next column, for a term that takes data beside it: enable bits, or the
    /// values of chunks.
    ///
    /// # Panics
    ///
    /// If the term takes the column itself.
    fn beside(&mut self) -> u16;

    /// The number of the next column, which this call does not take.
    ///
    /// # Panics
    ///
    /// For a cached chunk, in which columns have no numbers.
    fn next_number(&self) -> Option<u16> {
        unreachable!("a query of what lies beside columns takes no cached chunk")
    }
}

impl<'w> ChunkColumns<'w> {
    /// Rows of the slices, padding included.
    #[inline]
    pub(crate) const fn padded_len(&self) -> usize {
        self.len
    }

    /// Live rows.
    #[inline]
    pub(crate) const fn live(&self) -> usize {
        self.live
    }

    /// Prefetches a row in the next `columns` columns.
    #[inline]
    pub(crate) fn prefetch(&self, columns: usize, row: u32) {
        let columns = self.columns.as_slice().iter().take(columns);
        for column in columns.filter(|column| column.size() > 0 && column.column().is_some()) {
            let start = self.start(column).as_ptr();
            prefetch(start.wrapping_add(row as usize * column.size()));
        }
    }

    /// Skips `columns` columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.columns = self.columns.as_slice()[columns..].iter();
    }

    /// Bytes of the slices that were not taken yet.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.as_slice().iter().map(|c| c.size() * self.len).sum()
    }

    #[inline]
    fn next<C: Component>(&mut self) -> Option<&'w ColumnRef> {
        let column = self.columns.next().expect("the entry has no column left");
        column.column()?;
        assert!(column.size() == size_of::<C>(), "the column has another size than the type");
        assert!(
            column.kind == ColumnKind::of::<C>(),
            "the column has another alignment or other values than the type"
        );
        if !Values::are_any::<C>() {
            let index = self.values.len() - self.columns.len() - 1;
            let is_own = self.values[index].is_some_and(Values::are_of::<C>);
            assert!(is_own, "the column has other values than the type");
        }
        Some(column)
    }

    /// The address of the column's first row of the place, which has bytes.
    #[inline]
    fn start(&self, column: &ColumnRef) -> NonNull<u8> {
        let (first, chunk) = column.in_blocks();
        // SAFETY: the key of the entry proves that the column is one of this list's layouts, and
        // the place is of one of its chunks, for which the block was allocated (`Blocks`), or of a
        // live row of it (`ChunkIter::take_row`), before which fewer rows are than the capacity.
        unsafe { self.place.column(first, chunk) }
    }

    /// The address of the column's first row of the place.
    #[inline]
    fn address<C: Component>(&self, column: &ColumnRef) -> NonNull<C> {
        if size_of::<C>() == 0 {
            return NonNull::dangling();
        }
        let start = self.start(column);
        debug_assert!(start.cast::<C>().is_aligned(), "the column is not aligned for its type");
        start.cast()
    }
}

impl<'w> Columns<'w> for ChunkColumns<'w> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn column<C: Component>(&mut self) -> Option<&'w [C]> {
        let column = self.next::<C>()?;
        let start = self.address::<C>(column);
        // SAFETY: `address` is aligned for `C` and followed by `len` rows of a column of these
        // chunks: of one, or of blocks that continue each other, so that the rows of each directly
        // follow the rows of the previous one; or by one live row. `ChunkList` keeps them
        // initialised, with values of the column's type, which is `C` or accepts any bytes, as `C`
        // does. No code writes them for `'w`: the entry names no written column twice
        // (`ColumnMap::push`), and the list is borrowed exclusively, or shared, and a writer
        // through a shared list has promised that no other code reads its columns
        // (`ChunkIter::exclusive_unchecked`).
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
    }

    #[inline]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let column = self.next::<C>()?;
        assert!(
            column.write && self.borrow == Borrow::Exclusive,
            "the column is borrowed for reading only"
        );
        let start = self.address::<C>(column);
        // SAFETY: aligned and initialised as in `column`. The slice is exclusive: the list is
        // borrowed exclusively for `'w`, or the column is protected by the contract of
        // `ChunkIter::exclusive_unchecked`; `ChunkIter` takes each chunk once; and the entry names
        // the column once (`ColumnMap::push`).
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }

    fn beside(&mut self) -> u16 {
        let column = self.columns.next().filter(|column| column.is_beside());
        column.and_then(ColumnRef::column).expect("the next term is of a column itself")
    }

    #[inline]
    fn next_number(&self) -> Option<u16> {
        self.columns.as_slice().first()?.column()
    }
}
