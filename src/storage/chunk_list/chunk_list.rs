//! The list of an archetype's chunks: where rows come, go and move.

use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::storage::access::{WrittenRows, copy_rows, zero_rows};
use crate::storage::layout::{ChunkLayout, ColumnShape, ListLayout};
use crate::storage::row::{ChunkRow, RowIndex};
use crate::storage::slab::{Block, Pool};

/// The layout of the present blocks.
#[inline]
pub(super) const fn layout_of(layout: &ListLayout, small: bool) -> &ChunkLayout {
    match layout.first() {
        Some(first) if small => first,
        _ => layout.chunk(),
    }
}

/// Free rows of one chunk, behind the rows of a list that are live or written.
#[derive(Clone, Debug)]
pub(crate) struct FreeRun {
    pub(crate) chunk: u32,
    pub(crate) rows: Range<u32>,
}

impl FreeRun {
    /// The first `max` of its rows, if it has more.
    #[inline]
    pub(crate) fn at_most(mut self, max: usize) -> Self {
        if let Ok(max) = u32::try_from(max) {
            self.rows.end = self.rows.end.min(self.rows.start.saturating_add(max));
        }
        self
    }
}

/// Dense chunks of rows: every chunk but the last is full. Invariants, kept here and relied on by [`columns`](super::columns):
///
/// * all blocks were taken for [`ChunkList::layout`]; there is one a chunk, or none at all if rows
///   have no bytes; a small block is the only one;
/// * the first `padded(rows)` rows of each chunk are initialised in every column.
#[derive(Debug)]
pub(crate) struct ChunkList {
    pub(super) blocks: Vec<Block>,
    /// Rows of a chunk in the present layout.
    pub(super) capacity: u32,
    /// Rows in the last chunk; zero only if there is no chunk.
    pub(super) tail: u32,
    pub(super) chunks: u32,
    /// Whether the only block is a small one.
    pub(super) small: bool,
    pub(super) shift: u8,
    /// The bits of a position below the shift.
    pub(super) row_mask: u32,
    pub(super) key: u64,
    /// Chunks that were reserved and hold no row yet.
    pub(super) spare: Vec<Block>,
    /// Apart from the rest, which every walk over archetypes loads.
    pub(super) layout: Box<ListLayout>,
}

impl ChunkList {
    pub(crate) fn new(layout: ListLayout) -> Self {
        // A table row made for one list must never be used with another, in any world.
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let capacity = layout.chunk().capacity();
        let shift = capacity.next_power_of_two().trailing_zeros();
        Self {
            blocks: Vec::new(),
            capacity,
            tail: 0,
            chunks: 0,
            small: false,
            shift: u8::try_from(shift).expect("bits of a row number"),
            row_mask: (1 << shift) - 1,
            key: KEYS.fetch_add(1, Ordering::Relaxed),
            spare: Vec::new(),
            layout: Box::new(layout),
        }
    }

    /// A number that no other list has.
    #[inline]
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    pub(in crate::storage) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Where the block of a chunk starts; anywhere if rows have no bytes.
    ///
    /// # Panics
    ///
    /// If rows have bytes and there is no such chunk.
    #[inline]
    pub(in crate::storage) fn base(&self, chunk: u32) -> NonNull<u8> {
        match self.blocks.get(chunk as usize) {
            Some(block) => block.base(),
            None => self.base_without_block(),
        }
    }

    #[inline(never)]
    fn base_without_block(&self) -> NonNull<u8> {
        assert!(!self.layout.has_bytes(), "a chunk of this list");
        NonNull::dangling()
    }

    /// The layout of the present blocks.
    #[inline]
    pub(crate) const fn layout(&self) -> &ChunkLayout {
        layout_of(&self.layout, self.small)
    }

    /// The layouts of a full chunk and of a small first block.
    pub(crate) const fn layouts(&self) -> &ListLayout {
        &self.layout
    }

    /// Where a column starts in a full chunk and in a small first block.
    pub(crate) fn offsets(&self, column: u16) -> [u32; 2] {
        let column = usize::from(column);
        let chunk = self.layout.chunk().offset(column);
        [chunk, self.layout.first().map_or(chunk, |first| first.offset(column))]
    }

    #[inline]
    pub(crate) fn columns(&self) -> &[ColumnShape] {
        self.layout.columns()
    }

    /// Rows of a chunk in the present layout.
    #[inline]
    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Rows of a full-sized chunk.
    #[inline]
    pub(crate) const fn chunk_capacity(&self) -> u32 {
        self.layout.chunk().capacity()
    }

    /// Rows in the last chunk.
    #[inline]
    pub(crate) const fn tail(&self) -> u32 {
        self.tail
    }

    #[inline]
    pub(crate) const fn chunk_count(&self) -> u32 {
        self.chunks
    }

    #[inline]
    pub(crate) const fn is_small(&self) -> bool {
        self.small
    }

    /// Live rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        match self.chunks {
            0 => 0,
            chunks => (chunks as usize - 1) * self.capacity as usize + self.tail as usize,
        }
    }

    /// Bytes of the blocks.
    pub(crate) fn block_bytes(&self) -> usize {
        let spare = self.spare.len() * self.layout.chunk().bytes() as usize;
        self.blocks.len() * self.layout().bytes() as usize + spare
    }

    /// Chunk and row of a position.
    #[inline]
    pub(crate) const fn split(&self, at: RowIndex) -> ChunkRow {
        ChunkRow { chunk: at.0.wrapping_shr(self.shift as u32), row: at.0 & self.row_mask }
    }

    /// The position of a row of a chunk.
    #[inline]
    pub(crate) const fn position(&self, ChunkRow { chunk, row }: ChunkRow) -> RowIndex {
        debug_assert!(row <= self.row_mask, "a row of a chunk");
        RowIndex(chunk.wrapping_shl(self.shift as u32) | row)
    }

    /// Bits of a row's number.
    #[inline]
    pub(crate) const fn shift(&self) -> u8 {
        self.shift
    }

    /// The position of the `index`th row of the list.
    #[inline]
    pub(crate) fn position_of(&self, index: usize) -> RowIndex {
        let capacity = self.capacity as usize;
        let (chunk, row) = (index / capacity, index % capacity);
        let narrow = |n| u32::try_from(n).expect("rows of a list are entities, which are 32 bits");
        self.position(ChunkRow { chunk: narrow(chunk), row: narrow(row) })
    }

    /// The number of a row in the list, counted over all chunks.
    #[inline]
    pub(crate) const fn index_of(&self, at: ChunkRow) -> usize {
        at.chunk as usize * self.capacity as usize + at.row as usize
    }

    /// Whether there is such a row.
    #[inline]
    pub(crate) const fn is_live(&self, at: ChunkRow) -> bool {
        at.chunk < self.chunks && at.row < self.rows(at.chunk)
    }

    /// Rows of a chunk.
    #[inline]
    pub(crate) const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunks { self.tail } else { self.capacity }
    }

    /// # Panics
    ///
    /// If a position has no room for the number of this chunk: the list has at least 2³¹ rows.
    #[inline]
    pub(super) fn assert_numbered(&self, chunk: u32) {
        assert!(
            chunk <= u32::MAX >> self.shift,
            "an archetype has at most {} chunks: build the world with larger ones",
            1u64 << (u32::BITS - u32::from(self.shift)),
        );
    }

    /// Takes a block behind the last chunk, unless there is one already: a small one if it is the
    /// first and `expected` rows fit in it.
    pub(super) fn open_chunk(&mut self, expected: usize, pool: &mut Pool) {
        if self.small {
            self.grow_first(pool);
            return;
        }
        if !self.layout.has_bytes() || self.blocks.len() > self.chunks as usize {
            return;
        }
        let fits = |first: &&ChunkLayout| expected <= first.capacity() as usize;
        let first = self.layout.first().filter(fits).filter(|_| self.spare.is_empty());
        if let (0, Some(first)) = (self.chunks, first) {
            self.blocks.push(pool.take(first));
            self.small = true;
            self.capacity = first.capacity();
        } else {
            let block = self.take_chunk(pool);
            self.blocks.push(block);
        }
    }

    /// A block for a chunk: a reserved one, if there is one.
    fn take_chunk(&mut self, pool: &mut Pool) -> Block {
        self.spare.pop().unwrap_or_else(|| pool.take(self.layout.chunk()))
    }

    /// ChangeLog the rows of a small first block into a chunk.
    #[cold]
    pub(super) fn grow_first(&mut self, pool: &mut Pool) {
        let mut block = self.take_chunk(pool);
        let first = self.layout.first().expect("a small block has its layout");
        let chunk = self.layout.chunk();
        let padded = first.padded(self.tail);
        copy_rows((&self.blocks[0], first), (&mut block, chunk), padded);
        // The chunk may pad further than the block could.
        let wider = chunk.padded(self.tail);
        zero_rows(&mut block, chunk, padded..wider.max(padded));
        pool.give(first, core::mem::replace(&mut self.blocks[0], block));
        self.small = false;
        self.capacity = chunk.capacity();
    }

    /// Makes room behind `rows` rows that are written but not yet live, where `expected` more are
    /// to come.
    pub(crate) fn room_behind(&mut self, rows: usize, expected: usize, pool: &mut Pool) -> FreeRun {
        let end = self.len() + rows;
        if self.small && end >= self.capacity as usize {
            self.grow_pending(rows, pool);
        }
        if self.chunks == 0 && rows == 0 && self.blocks.is_empty() {
            self.open_chunk(expected, pool);
        }
        let capacity = self.capacity as usize;
        let narrow = |n| u32::try_from(n).expect("rows of a list are entities, which are 32 bits");
        let (chunk, row) = (narrow(end / capacity), narrow(end % capacity));
        self.assert_numbered(chunk);
        if self.layout.has_bytes() && chunk as usize == self.blocks.len() {
            let block = self.take_chunk(pool);
            self.blocks.push(block);
        }
        FreeRun { chunk, rows: row..self.capacity }
    }

    /// [`ChunkList::grow_first`] when the block also holds rows that are not live yet.
    fn grow_pending(&mut self, rows: usize, pool: &mut Pool) {
        let tail = self.tail;
        let pending = u32::try_from(rows).expect("rows of a small block");
        self.tail = tail + pending;
        self.grow_first(pool);
        self.tail = tail;
    }

    /// Makes rows live that are written, and initialises the padding behind them.
    ///
    /// # Panics
    ///
    /// If they do not follow the live rows of this list.
    pub(crate) fn commit(&mut self, written: &WrittenRows) {
        assert!(written.follow(self), "the rows were written behind those of another list");
        let rows = written.len();
        if rows == 0 {
            return;
        }
        let (first, last) = (self.len(), self.len() + rows - 1);
        let capacity = self.capacity as usize;
        let chunk = u32::try_from(last / capacity).expect("chunks of a list");
        let tail = u32::try_from(last % capacity + 1).expect("rows of a chunk");
        let padded = self.layout().padded(tail);
        // What was padding before this call is initialised, what was written is too.
        let before = if first / capacity == chunk as usize {
            self.layout().padded(u32::try_from(first % capacity).expect("rows of a chunk"))
        } else {
            0
        };
        self.zero(chunk, tail.max(before)..padded.max(tail.max(before)));
        self.chunks = chunk + 1;
        self.tail = tail;
    }

    /// Gives back blocks that hold no live row, after writing was given up.
    pub(crate) fn abandon(&mut self, pool: &mut Pool) {
        while self.blocks.len() > self.chunks as usize {
            self.release_last(pool);
        }
    }

    pub(super) fn release_last(&mut self, pool: &mut Pool) {
        let block = self.blocks.pop().expect("a block");
        pool.give(self.layout(), block);
        if self.blocks.is_empty() {
            self.small = false;
            self.capacity = self.layout.chunk().capacity();
        }
    }

    pub(super) fn zero(&mut self, chunk: u32, rows: Range<u32>) {
        if rows.is_empty() || !self.layout.has_bytes() {
            return;
        }
        let layout = layout_of(&self.layout, self.small);
        zero_rows(&mut self.blocks[chunk as usize], layout, rows);
    }

    /// Removes all rows, and gives back what was reserved for others.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.chunks = 0;
        self.tail = 0;
        self.abandon(pool);
        self.give_spare(pool);
    }

    fn give_spare(&mut self, pool: &mut Pool) {
        for block in core::mem::take(&mut self.spare) {
            pool.give(self.layout.chunk(), block);
        }
    }

    /// Takes the blocks that `rows` more rows will need.
    pub(crate) fn reserve(&mut self, rows: usize, pool: &mut Pool) {
        if !self.layout.has_bytes() || rows == 0 {
            return;
        }
        let chunk = self.layout.chunk();
        let blocks = (self.len() + rows).div_ceil(chunk.capacity() as usize);
        // A small first block will be replaced by a chunk.
        let full = if self.small { 0 } else { self.blocks.len() };
        let missing = blocks.saturating_sub(full);
        // A batch that ends at a chunk's end looks for room behind it.
        self.blocks.reserve(missing + 1);
        while self.spare.len() < missing {
            self.spare.push(pool.take(chunk));
        }
    }

    /// ChangeLog blocks into denser slabs, as long as `rows_max` lasts, and a list that has become
    /// short into a small block. Returns the rows moved.
    pub(crate) fn compact(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        self.give_spare(pool);
        let mut moved = self.shrink_first(rows_max, pool);
        for chunk in 0..self.blocks.len() {
            let rows = self.rows(u32::try_from(chunk).expect("chunks of a list"));
            if moved + rows as usize <= rows_max && self.relocate(chunk, rows, pool) {
                moved += rows as usize;
            }
        }
        self.blocks.shrink_to_fit();
        moved
    }

    /// Copies a chunk into a denser slab, if that helps.
    fn relocate(&mut self, chunk: usize, rows: u32, pool: &mut Pool) -> bool {
        let Some(mut denser) = pool.denser(self.layout(), &self.blocks[chunk]) else {
            return false;
        };
        let layout = self.layout();
        let source = (&self.blocks[chunk], layout);
        copy_rows(source, (&mut denser, layout), layout.padded(rows));
        let old = core::mem::replace(&mut self.blocks[chunk], denser);
        pool.give(self.layout(), old);
        true
    }

    /// ChangeLog a single chunk's rows into a small block if they fit with room to spare. Returns the
    /// rows moved.
    fn shrink_first(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        let Some(first) = self.layout.first() else { return 0 };
        let short = self.chunks == 1 && !self.small && self.tail <= first.capacity() / 2;
        if !short || self.tail as usize > rows_max {
            return 0;
        }
        let chunk = self.layout.chunk();
        let mut block = pool.take(first);
        let padded = first.padded(self.tail);
        copy_rows((&self.blocks[0], chunk), (&mut block, first), padded);
        pool.give(chunk, core::mem::replace(&mut self.blocks[0], block));
        self.small = true;
        self.capacity = first.capacity();
        self.tail as usize
    }

    /// At least the bytes of chunks that `rows` more rows take: a list may have room for some.
    pub(crate) fn bytes_of(&self, rows: usize) -> u64 {
        if !self.layout.has_bytes() {
            return 0;
        }
        let chunk = self.layout.chunk();
        let chunks = rows as u64 / u64::from(chunk.capacity());
        chunks.saturating_mul(u64::from(chunk.bytes()))
    }

    /// Rows that fit the spare chunks.
    pub(crate) fn spare_rows(&self) -> usize {
        self.spare.len() * self.layout.chunk().capacity() as usize
    }

    /// Blocks held, spare ones too.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len() + self.spare.len()
    }

    /// Whether chunks, blocks and rows agree.
    pub(crate) fn is_consistent(&self) -> bool {
        let blocks = if self.layout.has_bytes() { self.chunks as usize } else { 0 };
        self.blocks.len() == blocks
            && (self.chunks == 0) == (self.tail == 0)
            && self.tail <= self.capacity
            && self.capacity == self.layout().capacity()
            && (!self.small || self.chunks == 1)
            && self.blocks.iter().all(|block| block.bytes() == self.layout().bytes())
    }
}
