//! The blocks of a list. All were allocated for its layout, which is proved here.
//!
//! A block tells its size and its class, and not which columns lie in it. So blocks and layout are
//! never apart: [`Blocks`] allocates its blocks itself, from a pool, or beside its own in their
//! extents. A block on its way to a list, or between two lists, is a [`FreeBlock`], which names the
//! list it was allocated for. Other blocks are refused.

#![expect(
    unsafe_code,
    reason = "rows are copied between raw blocks, whose columns have no type here"
)]

use core::ops::Range;

use std::collections::VecDeque;

use crate::storage::block::{Block, CellStarts, ColumnCells, Place, copy_small};
use crate::storage::block_class::BlockClass;
use crate::storage::chunk_set::ChunkMove;
use crate::storage::layout::{ChunkLayout, ListLayout};
use crate::storage::pool::{NewSlabs, Pool};
use crate::storage::row::ChunkRow;
use crate::unique::unique_number;

/// The blocks of a list's chunks.
///
/// Invariant: all were allocated for [`Blocks::layout`]. There is one per chunk, or none at all if
/// rows have no bytes. A first block smaller than a chunk is the only block.
#[derive(Debug)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// Rows that fit in a chunk of the layout in use.
    capacity: u32,
    /// Whether the rows lie in the first block, which is smaller than a chunk and the only one.
    in_first: bool,
    /// Boxed, so that a pass over many archetypes does not load it.
    owner: Box<Owner>,
}

/// The list of the blocks.
#[derive(Debug)]
struct Owner {
    layout: ListLayout,
    /// The number of the list, the same before and after columns were exchanged.
    number: u64,
    /// The first block of a list that has lost its last row, which often gets another one soon.
    idle_first: Option<FreeBlock>,
    /// The cells of a row that have bytes.
    cells: Box<[CellStarts]>,
    /// The cells of each column.
    columns: Box<[ColumnCells]>,
}

impl Owner {
    /// The layout of a block of this list.
    #[inline]
    const fn layout(&self, is_first: bool) -> &ChunkLayout {
        match self.layout.first() {
            Some(first) if is_first => first,
            _ => self.layout.chunk(),
        }
    }
}

/// A block that was allocated for a list and is not the block of a chunk of it, not yet or not any
/// more.
#[derive(Debug)]
pub(super) struct FreeBlock {
    block: Block,
    /// The number of the list.
    owner: u64,
}

impl FreeBlock {
    #[inline]
    pub(super) const fn block(&self) -> &Block {
        &self.block
    }

    /// Allocates the chunk after this one in its extent, if it exists and is free.
    pub(super) fn allocate_next(&self, pool: &mut Pool) -> Option<Self> {
        let block = pool.extents().allocate_next(&self.block)?;
        Some(Self { block, owner: self.owner })
    }
}

/// The address of a row in a column, and the bytes of one row.
///
/// # Panics
///
/// If the column or the row is not in the layout, or the layout is larger than the block.
#[inline(always)]
fn row_address(block: &Block, layout: &ChunkLayout, column: usize, row: u32) -> (*mut u8, usize) {
    assert!(row <= layout.capacity(), "row {row} exceeds a chunk of {} rows", layout.capacity());
    let place = block.place_in(layout);
    let column = layout.columns()[column];
    // SAFETY: `place_in` asserts that the block has at least the layout's bytes, the column is one
    // of the layout, and the row is at most the capacity by the assertion above.
    let address = unsafe { place.cell(column, row) };
    (address.as_ptr(), column.size as usize)
}

impl Blocks {
    pub(super) fn new(layout: ListLayout) -> Self {
        let capacity = layout.chunk().capacity();
        let owner = Box::new(Owner {
            cells: CellStarts::all(&layout),
            columns: ColumnCells::all(&layout),
            layout,
            number: unique_number(),
            idle_first: None,
        });
        Self { blocks: Vec::new(), capacity, in_first: false, owner }
    }

    #[inline]
    pub(super) const fn as_slice(&self) -> &[Block] {
        self.blocks.as_slice()
    }

    /// Number of blocks.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.blocks.len()
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The layout of the blocks in use.
    #[inline]
    pub(super) const fn layout(&self) -> &ChunkLayout {
        self.owner.layout(self.in_first)
    }

    /// The layouts of a full-size chunk and of the first block.
    #[inline]
    pub(super) const fn layouts(&self) -> &ListLayout {
        &self.owner.layout
    }

    /// The cells of each column.
    #[inline]
    pub(super) const fn columns(&self) -> &[ColumnCells] {
        &self.owner.columns
    }

    /// Rows that fit in a chunk of the layout in use.
    #[inline]
    pub(super) const fn capacity(&self) -> u32 {
        self.capacity
    }

    #[inline]
    pub(super) const fn in_first(&self) -> bool {
        self.in_first
    }

    /// Exchanges two columns.
    ///
    /// # Panics
    ///
    /// If they differ in size, alignment or values.
    pub(super) fn swap_columns(&mut self, a: usize, b: usize) {
        // The cells stay: equal sizes have changed places, and the cells have no order.
        self.owner.layout.swap_columns(a, b);
        self.owner.columns.swap(a, b);
    }

    /// The place of a chunk's rows.
    ///
    /// # Panics
    ///
    /// If rows have bytes and the chunk does not exist.
    #[inline]
    pub(super) fn place(&self, chunk: u32) -> Place {
        match self.blocks.get(chunk as usize) {
            Some(block) => block.place(self.capacity),
            None => {
                assert!(!self.layouts().has_bytes(), "there is no such chunk");
                Place::NONE
            }
        }
    }

    /// The address of a row in a column, and the bytes of one row.
    ///
    /// # Panics
    ///
    /// If the chunk has no block, or the column or the row is not in the layout.
    #[inline]
    pub(super) fn row_address(&self, column: usize, at: ChunkRow) -> (*mut u8, usize) {
        row_address(&self.blocks[at.chunk as usize], self.layout(), column, at.row)
    }

    /// The addresses of a row's cells with bytes, and the bytes of each, in one order for all rows.
    ///
    /// # Panics
    ///
    /// If the chunk has no block, or the row is outside it.
    #[inline(always)]
    pub(super) fn row_cells(
        &self,
        at: ChunkRow,
    ) -> impl ExactSizeIterator<Item = (*mut u8, usize)> {
        // Without the number, which the caller would have to write to the stack.
        assert!(at.row < self.capacity, "a row is outside its chunk");
        let place = self.blocks[at.chunk as usize].place(self.capacity);
        let place = place.skip(at.row);
        self.owner.cells.iter().map(move |cell| {
            // SAFETY: the block is of this list, and the row is less than the capacity.
            let address = unsafe { cell.at(place, 0) };
            (address.as_ptr(), cell.size as usize)
        })
    }

    /// Fills rows of every column of a chunk with zeros.
    ///
    /// # Panics
    ///
    /// If rows have bytes, and end outside the chunk or it does not exist.
    pub(super) fn zero(&mut self, chunk: u32, rows: Range<u32>) {
        if rows.is_empty() || self.owner.cells.is_empty() {
            return;
        }
        assert!(rows.end <= self.capacity, "the rows end outside the chunk");
        for (start, size) in self.row_cells(ChunkRow { chunk, row: rows.start }) {
            // SAFETY: `rows` ends inside the capacity, so by `ChunkLayout` the bytes belong to this
            // column of the block. `&mut self` is the right to write them.
            unsafe { start.write_bytes(0, rows.len() * size) };
        }
    }

    /// Copies every cell of a row to another row, in the same block or another. Its own function,
    /// because the loop has no register left for the variables of a caller.
    ///
    /// # Panics
    ///
    /// If a chunk or a row does not exist.
    #[inline(never)]
    pub(super) fn copy_row(&mut self, from: ChunkRow, to: ChunkRow) {
        for ((from, size), (to, _)) in self.row_cells(from).zip(self.row_cells(to)) {
            // SAFETY: both are the cells of one column, of `size` bytes, in blocks of the list, and
            // `&mut self` is the right to write them.
            unsafe { copy_small(from, to, size) };
        }
    }

    /// Copies `len` rows to the places from `to` on, in the same block or another. The places may
    /// overlap the rows.
    ///
    /// # Panics
    ///
    /// If a chunk has no block, or rows end outside of their chunk.
    pub(super) fn copy_rows(&mut self, from: ChunkRow, to: ChunkRow, len: u32) {
        let fits = |at: ChunkRow| at.row < self.capacity && len <= self.capacity - at.row;
        assert!(fits(from) && fits(to), "the rows end outside of their chunk");
        for ((from, size), (to, _)) in self.row_cells(from).zip(self.row_cells(to)) {
            // SAFETY: `row_cells` has the addresses of one column in blocks of the list, and `len`
            // rows from each on are inside the capacity. `&mut self` is the right to write them.
            unsafe { to.copy_from(from, len as usize * size) };
        }
    }

    /// Makes a block the block of a chunk, after its first `rows` rows have been copied there.
    /// Returns the block that the chunk had. The rows keep their numbers; the capacities differ if
    /// one of the two is a first block.
    ///
    /// # Panics
    ///
    /// If the block was allocated for another list, a block has too few rows, or one of the two is
    /// a first block and the chunk is not the only one.
    pub(super) fn replace(&mut self, chunk: usize, mut target: FreeBlock, rows: u32) -> FreeBlock {
        self.assert_own(&target);
        let source = &self.blocks[chunk];
        let layouts = [source, &target.block].map(|block| self.owner.layout(block.is_first()));
        let is_whole = layouts.iter().all(|layout| rows <= layout.capacity());
        assert!(is_whole, "a block has fewer than {rows} rows");
        let is_alike = source.is_first() == target.block.is_first();
        assert!(is_alike || self.len() == 1, "a first block is not the only block");
        for column in 0..self.layouts().columns().len() {
            let (from, size) = row_address(source, layouts[0], column, 0);
            let (to, _) = row_address(&target.block, layouts[1], column, 0);
            // SAFETY: both layouts are of the same columns, and by the assertion above and
            // `ChunkLayout`, `rows` rows of this column are inside both blocks. They do not
            // overlap, because they are two, and both are owned here.
            unsafe { to.copy_from_nonoverlapping(from, rows as usize * size) };
        }
        core::mem::swap(&mut self.blocks[chunk], &mut target.block);
        self.note_first();
        target
    }

    /// Notes whether the first block of the list is smaller than a chunk.
    fn note_first(&mut self) {
        self.in_first = self.blocks.first().is_some_and(Block::is_first);
        self.capacity = self.layout().capacity();
    }

    fn assert_own(&self, block: &FreeBlock) {
        assert!(block.owner == self.owner.number, "the block was allocated for another list");
    }

    /// Adds a block after the last one.
    ///
    /// # Panics
    ///
    /// If it was allocated for another list, or one of several blocks is a first block.
    pub(super) fn push(&mut self, block: FreeBlock) {
        self.assert_own(&block);
        let is_alone = !self.in_first && (self.is_empty() || !block.block.is_first());
        assert!(is_alone, "a small first block is not the only block");
        self.blocks.push(block.block);
        self.note_first();
    }

    /// Takes the last block.
    pub(super) fn pop(&mut self) -> Option<FreeBlock> {
        let block = self.blocks.pop()?;
        self.note_first();
        Some(FreeBlock { block, owner: self.owner.number })
    }

    /// Sets the only block aside for the next row. Frees one that was set aside before.
    ///
    /// # Panics
    ///
    /// If the only block is no first block.
    pub(super) fn set_first_aside(&mut self, pool: &mut Pool) {
        assert!(self.in_first, "the list has no first block");
        self.free_idle_first(pool);
        self.owner.idle_first = self.pop();
    }

    /// Makes the block that was set aside the first block again. Returns `false` if there is none.
    ///
    /// # Panics
    ///
    /// If there is one, and the list has a block.
    pub(super) fn reopen_first(&mut self) -> bool {
        if self.owner.idle_first.is_some() {
            assert!(self.is_empty(), "a small first block is not the only block");
        }
        let Some(first) = self.owner.idle_first.take() else { return false };
        // It was allocated for this list, and only `pop` gave it to be set aside.
        self.blocks.push(first.block);
        self.note_first();
        true
    }

    /// The block that was set aside.
    pub(super) fn idle_first(&self) -> Option<&FreeBlock> {
        self.owner.idle_first.as_ref()
    }

    /// Frees the block that was set aside.
    pub(super) fn free_idle_first(&mut self, pool: &mut Pool) {
        if let Some(first) = self.owner.idle_first.take() {
            self.free(first, pool);
        }
    }

    /// Frees a block.
    ///
    /// # Panics
    ///
    /// If it was allocated for another list, or from another pool.
    pub(super) fn free(&self, block: FreeBlock, pool: &mut Pool) {
        self.assert_own(&block);
        pool.free(self.owner.layout(block.block.is_first()), block.block);
    }

    /// Takes the blocks of some chunks, in their order. After that each of the moved chunks gets
    /// the number of a chunk that was taken.
    ///
    /// # Panics
    ///
    /// If a chunk does not exist or is taken twice.
    pub(super) fn detach(
        &mut self,
        which: impl Iterator<Item = u32>,
        moved: &[ChunkMove],
    ) -> VecDeque<FreeBlock> {
        let owner = self.owner.number;
        let mut slots: Vec<_> = core::mem::take(&mut self.blocks).into_iter().map(Some).collect();
        let mut taken = VecDeque::new();
        if !slots.is_empty() {
            let take = |chunk| slots[chunk as usize].take().expect("a chunk is detached twice");
            taken = which.map(take).map(|block| FreeBlock { block, owner }).collect();
            for &ChunkMove { from, to } in moved {
                slots[to as usize] = slots[from as usize].take();
            }
        }
        self.blocks = slots.into_iter().flatten().collect();
        self.note_first();
        taken
    }

    /// Adds blocks that were detached from `source` after the last one.
    ///
    /// # Panics
    ///
    /// If they were allocated for another list, the lists differ in their columns with bytes, or
    /// one of several blocks is a first block.
    pub(super) fn attach(&mut self, blocks: &mut VecDeque<FreeBlock>, source: &Self) {
        assert!(self.layouts().has_places_of(source.layouts()), "the lists have different layouts");
        let is_first = blocks.iter().any(|block| block.block.is_first());
        let is_alone = !(self.in_first || is_first) || self.len() + blocks.len() < 2;
        assert!(is_alone, "a small first block is not the only block");
        // Before any change: a panic between two blocks would leave the layout in use unknown.
        blocks.iter().for_each(|block| source.assert_own(block));
        self.blocks.extend(blocks.drain(..).map(|block| block.block));
        self.note_first();
    }

    /// Gives the blocks the numbers that their slabs have in another pool.
    pub(super) fn renumber(&mut self, slabs: &NewSlabs) {
        assert!(self.owner.idle_first.is_none(), "an idle block was not freed");
        slabs.renumber(self.owner.layout(self.in_first), &mut self.blocks);
    }

    /// Makes room for `blocks` more blocks.
    pub(super) fn reserve(&mut self, blocks: usize) {
        self.blocks.reserve(blocks);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.blocks.shrink_to_fit();
    }
}

/// Allocation.
impl Blocks {
    /// A block of a full-size chunk or a first block.
    const fn own(&self, block: Block) -> FreeBlock {
        let layout = self.owner.layout(block.is_first());
        assert!(block.bytes() == layout.bytes(), "the block was allocated for another layout");
        FreeBlock { block, owner: self.owner.number }
    }

    /// Allocates a block smaller than a chunk, if the list has a layout for one: the one that was
    /// set aside, or a new one.
    pub(super) fn allocate_first(&mut self, pool: &mut Pool) -> Option<FreeBlock> {
        let idle = self.owner.idle_first.take();
        idle.or_else(|| Some(self.own(pool.allocate(self.layouts().first()?))))
    }

    /// Allocates the first full-size chunk of an extent, or one in a block of its own.
    pub(super) fn allocate(&self, class: BlockClass, pool: &mut Pool) -> FreeBlock {
        if class == BlockClass::Own {
            return self.own(pool.allocate(self.layouts().chunk()));
        }
        assert!(self.layouts().is_extensible(), "no extent has room for the columns");
        self.own(pool.extents().allocate(class))
    }

    /// Allocates the chunk after a chunk's in its extent, if it exists and is free.
    pub(super) fn allocate_next(&self, chunk: usize, pool: &mut Pool) -> Option<FreeBlock> {
        Some(self.own(pool.extents().allocate_next(&self.blocks[chunk])?))
    }

    /// Allocates the first free chunk of a chunk's extent, if it has one.
    pub(super) fn allocate_free(&self, chunk: usize, pool: &mut Pool) -> Option<FreeBlock> {
        Some(self.own(pool.extents().allocate_free(&self.blocks[chunk])?))
    }

    /// Allocates a block for a chunk that has one of its own, if moving it there helps to empty a
    /// slab.
    pub(super) fn allocate_denser(&self, chunk: usize, pool: &mut Pool) -> Option<FreeBlock> {
        Some(self.own(pool.allocate_denser(self.layout(), &self.blocks[chunk])?))
    }

    /// Allocates the first chunk of another extent, if moving a chunk's extent there helps to empty
    /// a slab.
    pub(super) fn allocate_extent_denser(
        &self,
        chunk: usize,
        pool: &mut Pool,
    ) -> Option<FreeBlock> {
        Some(self.own(pool.extents().allocate_denser(&self.blocks[chunk])?))
    }
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
