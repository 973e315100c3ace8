//! The list of an archetype's chunks, and how it grows and shrinks.

use core::ops::Range;

use crate::entity::RowIndex;
use crate::storage::block::{Block, CellStarts, ColumnCells, Place};
use crate::storage::block_class::BlockClass;
use crate::storage::layout::{ChunkLayout, Column, ColumnShape, ListLayout};
use crate::storage::pool::Pool;
use crate::storage::row::{ChunkRow, RowRun};
use crate::storage::written_rows::WrittenRows;
use crate::unique::unique_number;

use super::blocks::{Blocks, FreeBlock};

/// Free rows of one chunk, after all live and all written rows of the list.
#[derive(Clone, Debug)]
pub(crate) struct FreeRun {
    pub(crate) chunk: u32,
    pub(crate) rows: Range<u32>,
}

impl FreeRun {
    /// The first `max` rows of the run, or all if it has fewer.
    #[inline]
    pub(crate) fn at_most(mut self, max: usize) -> Self {
        if let Ok(max) = u32::try_from(max) {
            self.rows.end = self.rows.end.min(self.rows.start.saturating_add(max));
        }
        self
    }
}

/// Dense chunks of rows: every chunk but the last is full.
///
/// Invariants, kept here and relied on by [`access`](super::super::access):
///
/// * All blocks were allocated for [`ChunkList::layout`] ([`Blocks`]). There is one per chunk, or
///   none at all if rows have no bytes. A first block smaller than a chunk is the only block. When
///   its last row leaves, it is set aside for the next one.
/// * The first `padded(rows)` rows of each chunk are initialised in every column.
/// * The rows 1 to `ready_to` of the last chunk are initialised in every column.
#[derive(Debug)]
pub(crate) struct ChunkList {
    pub(super) blocks: Blocks,
    /// Rows in the last chunk. Zero only if the list has no chunk.
    pub(super) tail: u32,
    pub(super) chunk_len: u32,
    /// The last row that needs no preparation when it is appended after another one. Zero if that
    /// is not known: a row that begins a vector is prepared again.
    pub(super) ready_to: u32,
    shift: u8,
    /// Selects the row's number in a position, which is below the shift.
    row_mask: u32,
    pub(super) key: u64,
    /// Reserved blocks that hold no row yet.
    pub(super) spare: Vec<FreeBlock>,
    /// Chunks before this one have full extents, except that free chunks may follow the last chunk
    /// of the list. Past the last chunk if all extents are full.
    pub(super) gaps_from: u32,
}

impl ChunkList {
    pub(crate) fn new(layout: ListLayout) -> Self {
        let shift = layout.chunk().capacity().next_power_of_two().trailing_zeros();
        Self {
            blocks: Blocks::new(layout),
            tail: 0,
            chunk_len: 0,
            ready_to: 0,
            shift: u8::try_from(shift).expect("a row number has more than 255 bits"),
            row_mask: (1 << shift) - 1,
            key: unique_number(),
            spare: Vec::new(),
            gaps_from: u32::MAX,
        }
    }

    /// Exchanges two columns in constant time: each has the values of the other from now on. Data
    /// computed for the list before belongs to no list any more.
    ///
    /// # Panics
    ///
    /// If the columns differ in size, alignment or values.
    pub(crate) fn swap_columns(&mut self, a: u16, b: u16) {
        self.blocks.swap_columns(usize::from(a), usize::from(b));
        self.key = unique_number();
    }

    /// Moves all rows to a list of their own, with the same layout and another key.
    pub(crate) fn take_rows(&mut self) -> Self {
        let mut taken = Self::new(self.layouts().clone());
        core::mem::swap(self, &mut taken);
        core::mem::swap(&mut self.key, &mut taken.key);
        taken
    }

    /// A number that no other list has, in any world, and not this one before its columns were
    /// exchanged.
    #[inline]
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    pub(in crate::storage) const fn blocks(&self) -> &[Block] {
        self.blocks.as_slice()
    }

    /// The cells of a column.
    #[inline]
    pub(in crate::storage) fn column_cells(&self, column: usize) -> Option<&ColumnCells> {
        self.blocks.columns().get(column)
    }

    /// The place of a chunk's rows.
    ///
    /// # Panics
    ///
    /// If rows have bytes and the chunk does not exist.
    #[inline]
    pub(in crate::storage) fn place(&self, chunk: u32) -> Place {
        self.blocks.place(chunk)
    }

    /// The addresses of the cells of a row, of columns with bytes, in no order.
    ///
    /// # Panics
    ///
    /// If the chunk has no block, or the row is outside of it.
    #[inline(always)]
    pub(in crate::storage) fn cell_addresses(
        &self,
        at: ChunkRow,
    ) -> impl ExactSizeIterator<Item = *mut u8> {
        self.blocks.row_cells(at).map(|(address, _)| address)
    }

    /// The address of a row in a column, and the bytes of one row.
    ///
    /// # Panics
    ///
    /// If the chunk has no block, or the column or the row is not in the layout.
    #[inline]
    pub(in crate::storage) fn row_address(&self, column: usize, at: ChunkRow) -> (*mut u8, usize) {
        self.blocks.row_address(column, at)
    }

    /// The layout of the blocks in use.
    #[inline]
    pub(crate) const fn layout(&self) -> &ChunkLayout {
        self.blocks.layout()
    }

    /// The layouts of a full-size chunk and of the first block.
    pub(crate) const fn layouts(&self) -> &ListLayout {
        self.blocks.layouts()
    }

    /// The offset of a column in the first block, and the column in a full-size chunk.
    pub(in crate::storage) fn column(&self, column: u16) -> (u32, Column) {
        let column = usize::from(column);
        let chunk = self.layouts().chunk().columns()[column];
        (self.layouts().first().map_or(chunk.offset, |first| first.offset(column)), chunk)
    }

    /// The start of a column in blocks of each class.
    pub(in crate::storage) fn starts(&self, column: u16) -> [u32; BlockClass::LEN] {
        CellStarts::new(self.layouts(), column).starts
    }

    #[inline]
    pub(crate) fn columns(&self) -> &[ColumnShape] {
        self.layouts().columns()
    }

    /// Rows that fit in a chunk of the layout in use.
    #[inline]
    pub(crate) const fn capacity(&self) -> u32 {
        self.blocks.capacity()
    }

    /// Rows that fit in a full-size chunk.
    #[inline]
    pub(crate) const fn chunk_capacity(&self) -> u32 {
        self.layouts().chunk().capacity()
    }

    /// Rows in the last chunk.
    #[inline]
    pub(crate) const fn tail(&self) -> u32 {
        self.tail
    }

    #[inline]
    pub(crate) const fn chunk_len(&self) -> u32 {
        self.chunk_len
    }

    #[inline]
    pub(crate) const fn in_first_block(&self) -> bool {
        self.blocks.in_first()
    }

    /// Live rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        match self.chunk_len {
            0 => 0,
            chunk_len => (chunk_len as usize - 1) * self.capacity() as usize + self.tail as usize,
        }
    }

    /// Bytes of all blocks, spare ones included.
    pub(crate) fn block_bytes(&self) -> usize {
        let spare = self.spare.len() * self.layouts().chunk().bytes() as usize;
        let idle = self.blocks.idle_first().map_or(0, |first| first.block().bytes() as usize);
        self.blocks.len() * self.layout().bytes() as usize + spare + idle
    }

    /// Splits a position into chunk and row.
    #[inline]
    pub(crate) const fn split(&self, at: RowIndex) -> ChunkRow {
        ChunkRow { chunk: at.0.wrapping_shr(self.shift as u32), row: at.0 & self.row_mask }
    }

    /// The position of a row.
    #[inline]
    pub(crate) const fn position(&self, ChunkRow { chunk, row }: ChunkRow) -> RowIndex {
        debug_assert!(row <= self.row_mask, "a row lies outside of its chunk");
        RowIndex(chunk.wrapping_shl(self.shift as u32) | row)
    }

    /// The number of bits that a position has for the row's number.
    #[inline]
    pub(crate) const fn shift(&self) -> u8 {
        self.shift
    }

    /// The position of the row that has `index` rows before it.
    #[inline]
    pub(crate) fn position_of(&self, index: usize) -> RowIndex {
        let capacity = self.capacity() as usize;
        let (chunk, row) = (index / capacity, index % capacity);
        let narrow = |n| u32::try_from(n).expect("a list has more rows than there are entities");
        self.position(ChunkRow { chunk: narrow(chunk), row: narrow(row) })
    }

    /// The number of rows before a row, in all chunks.
    #[inline]
    pub(crate) const fn index_of(&self, at: ChunkRow) -> usize {
        at.chunk as usize * self.capacity() as usize + at.row as usize
    }

    /// Whether the row is live.
    #[inline]
    pub(in crate::storage) const fn is_live(&self, at: ChunkRow) -> bool {
        at.chunk < self.chunk_len && at.row < self.rows(at.chunk)
    }

    /// Live rows of a chunk.
    #[inline]
    pub(crate) const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunk_len { self.tail } else { self.capacity() }
    }

    /// Whether a position has enough bits for this chunk's number.
    #[inline]
    pub(super) const fn is_numbered(&self, chunk: u32) -> bool {
        chunk <= u32::MAX >> self.shift
    }

    /// # Panics
    ///
    /// If a position has too few bits for this chunk's number: the list has at least 2³¹ rows.
    #[inline]
    pub(super) fn assert_numbered(&self, chunk: u32) {
        assert!(
            self.is_numbered(chunk),
            "an archetype has at most {} chunks: build the world with larger ones",
            1u64 << (u32::BITS - u32::from(self.shift)),
        );
    }

    /// Adds a block after the last chunk, unless there is a free one. For the first chunk it is a
    /// small block if `expected` rows fit in it.
    pub(super) fn open_chunk(&mut self, expected: usize, pool: &mut Pool) {
        if self.in_first_block() {
            self.grow_first(expected, pool);
            return;
        }
        if !self.layouts().has_bytes() || self.blocks.len() > self.chunk_len as usize {
            return;
        }
        let fits = |first: &ChunkLayout| expected <= first.capacity() as usize;
        let is_short = self.chunk_len == 0 && self.spare.is_empty();
        let first = if is_short && self.layouts().first().is_some_and(fits) {
            self.blocks.allocate_first(pool)
        } else {
            self.blocks.free_idle_first(pool);
            None
        };
        let block = first.unwrap_or_else(|| self.allocate_chunk(expected, pool));
        self.blocks.push(block);
    }

    /// A run of free rows after `rows` rows that are written but not yet live. `expected` rows are
    /// about to be written.
    pub(crate) fn open_run(&mut self, rows: usize, expected: usize, pool: &mut Pool) -> FreeRun {
        let end = self.len() + rows;
        if self.in_first_block() && end >= self.capacity() as usize {
            self.grow_pending(rows, expected, pool);
        }
        if self.chunk_len == 0 && rows == 0 && self.blocks.is_empty() {
            self.open_chunk(expected, pool);
        }
        let capacity = self.capacity() as usize;
        let narrow = |n| u32::try_from(n).expect("a list has more rows than there are entities");
        let (chunk, row) = (narrow(end / capacity), narrow(end % capacity));
        self.assert_numbered(chunk);
        if self.layouts().has_bytes() && chunk as usize == self.blocks.len() {
            let block = self.allocate_chunk(expected, pool);
            self.blocks.push(block);
        }
        FreeRun { chunk, rows: row..self.capacity() }
    }

    /// [`ChunkList::grow_first`] for a block that also holds rows which are not live yet.
    fn grow_pending(&mut self, rows: usize, expected: usize, pool: &mut Pool) {
        let tail = self.tail;
        let pending = u32::try_from(rows).expect("the first block has 2^32 rows or more");
        self.tail = tail + pending;
        self.grow_first(expected, pool);
        self.tail = tail;
    }

    /// No rows that are written, after the last live one.
    #[inline]
    pub(crate) const fn no_written_rows(&self) -> WrittenRows {
        WrittenRows::after(self.key, self.len())
    }

    /// Makes written rows live and initialises the padding after them.
    ///
    /// # Panics
    ///
    /// If the rows do not directly follow the live rows of this list.
    pub(crate) fn commit(&mut self, written: &WrittenRows) {
        assert!(written.follow(self.key, self.len()), "the rows do not follow those of this list");
        let rows = written.len();
        if rows == 0 {
            return;
        }
        let (first, last) = (self.len(), self.len() + rows - 1);
        let capacity = self.capacity() as usize;
        let chunk = u32::try_from(last / capacity).expect("a list has 2^32 chunks or more");
        let tail = u32::try_from(last % capacity + 1).expect("a chunk has 2^32 rows or more");
        let live = if first / capacity == chunk as usize { first % capacity } else { 0 };
        self.pad(ChunkRow { chunk, row: tail }, live);
        self.end_at(chunk + 1, tail);
    }

    /// Copies live rows to the places of other live rows, which may overlap them.
    ///
    /// # Panics
    ///
    /// If a row is not live.
    pub(crate) fn copy_rows(&mut self, from: RowRun, to: ChunkRow) {
        self.assert_live(from);
        self.assert_live(RowRun { at: to, ..from });
        if !self.blocks.is_empty() {
            self.blocks.copy_rows(from.at, to, from.len);
        }
    }

    /// # Panics
    ///
    /// If a row is not live.
    pub(in crate::storage) fn assert_live(&self, RowRun { at, len }: RowRun) {
        let end = at.row.checked_add(len).expect("a chunk has 2^32 rows or more");
        let is_live = at.chunk < self.chunk_len && end <= self.rows(at.chunk);
        assert!(is_live, "rows {} to {end} of a chunk are not live", at.row);
    }

    /// Frees blocks without live rows. Rows that were written there are dropped.
    #[inline(never)]
    pub(crate) fn abandon(&mut self, pool: &mut Pool) {
        while self.blocks.len() > self.chunk_len as usize {
            self.free_last_block(pool);
        }
    }

    pub(super) fn free_last_block(&mut self, pool: &mut Pool) {
        let block = self.blocks.pop().expect("the list has no block");
        let last = self.blocks().last();
        let is_gap = block.block().extent_chunks() > 1
            && !last.is_some_and(|last| block.block().continues(last))
            && pool.extents().used(block.block()).count_ones() > 1;
        if is_gap {
            self.gaps_from = 0;
        }
        self.blocks.free(block, pool);
    }

    /// Removes all rows but the first `rows`, and frees the blocks that have none left.
    ///
    /// # Panics
    ///
    /// If the list has fewer rows.
    pub(crate) fn truncate(&mut self, rows: usize, pool: &mut Pool) {
        assert!(rows <= self.len(), "the list has fewer rows");
        let narrow = |n| u32::try_from(n).expect("a list has more rows than there are entities");
        let capacity = self.capacity() as usize;
        let chunk_len = narrow(rows.div_ceil(capacity));
        // The rows that follow were live, or are padding already.
        let tail = narrow(rows - (chunk_len as usize).saturating_sub(1) * capacity);
        self.end_at(chunk_len, tail);
        self.abandon(pool);
    }

    /// Removes all rows and frees all blocks, spare ones included.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.end_at(0, 0);
        self.abandon(pool);
        self.free_spare(pool);
    }

    /// Frees the blocks that were reserved, and the first block that was set aside.
    pub(crate) fn free_spare(&mut self, pool: &mut Pool) {
        self.blocks.free_idle_first(pool);
        for block in core::mem::take(&mut self.spare) {
            self.gaps_from = 0;
            self.blocks.free(block, pool);
        }
    }

    /// A lower bound on the bytes of the chunks that `rows` more rows take. The list may have room
    /// for some of them.
    pub(crate) fn bytes_of(&self, rows: usize) -> u64 {
        if !self.layouts().has_bytes() {
            return 0;
        }
        let chunk = self.layouts().chunk();
        let chunks = rows as u64 / u64::from(chunk.capacity());
        chunks.saturating_mul(u64::from(chunk.bytes()))
    }

    /// Rows that fit in the spare blocks.
    pub(crate) fn spare_rows(&self) -> usize {
        self.spare.len() * self.layouts().chunk().capacity() as usize
    }

    /// Number of blocks, spare ones included.
    pub(crate) fn block_len(&self) -> usize {
        self.blocks.len() + self.spare.len() + usize::from(self.blocks.idle_first().is_some())
    }

    /// Whether the counts of chunks, blocks and rows agree.
    pub(crate) fn is_consistent(&self) -> bool {
        let blocks = if self.layouts().has_bytes() { self.chunk_len as usize } else { 0 };
        self.blocks.len() == blocks
            && (self.chunk_len == 0) == (self.tail == 0)
            && self.tail <= self.capacity()
            && self.ready_to < self.capacity()
            && self.capacity() == self.layout().capacity()
            && (!self.in_first_block() || self.chunk_len == 1)
            && self.blocks().iter().all(|block| block.bytes() == self.layout().bytes())
    }
}
