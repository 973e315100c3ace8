//! The memory of one chunk.
//!
//! A block is a piece of memory of its own, or its share of an *extent*: one piece of memory for n
//! chunks, which has all runs of the first column one after the other, followed by all runs of the
//! second:
//!
//! ```text
//!  blocks of their own   │A0 B0│ │A1 B1│ │A2 B2│ │A3 B3│       a run of 7 KB, then another address
//!  an extent of four     │A0 A1 A2 A3│B0 B1 B2 B3│             a run of 28 KB
//! ```
//!
//! Both have the same arithmetic. If a column begins at byte `o` of a chunk, it begins at byte `o *
//! n` of an extent, or some lines later (see [`Column::start`](super::layout::Column::start)), and
//! row `r` of the extent's chunk `i` is the column's row `i * capacity + r`. A block of its own is
//! an extent of one.
//!
//! Blocks are cut from a [`BlockMemory`], which knows the bytes that have none yet. So no two
//! blocks share a byte, whatever their owners do.

#![expect(unsafe_code, reason = "the addresses of cells in raw memory")]

use core::fmt;
use core::ptr::NonNull;

use aligned_vec::{AVec, RuntimeAlign};

use super::block_class::BlockClass;
use super::layout::{ChunkLayout, Column, ColumnShape, ListLayout};
use crate::component::Values;

/// The size and alignment of a huge page, on machines that have them.
pub(super) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The address of memory that blocks are cut from. It gives no access to the memory by itself, so
/// its owners, slabs and blocks, move between threads and are shared like any plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base(NonNull<u8>);

// SAFETY: the memory is plain bytes, bound to no thread. A block is the only access to its bytes,
// so moving it to another thread moves the right to use them.
unsafe impl Send for Base {}
// SAFETY: a shared base gives only its address. Code that writes through the address has `&mut` of
// the list, or is `unsafe` and its caller has promised that no other code accesses those cells.
unsafe impl Sync for Base {}

impl Base {
    /// The base of an allocation that starts at this address.
    ///
    /// # Panics
    ///
    /// If the address is null.
    const fn of(start: *mut u8) -> Self {
        Self(NonNull::new(start).expect("an allocation is null"))
    }

    /// The address `bytes` bytes further on. Whether it is in the allocation is for the caller to
    /// know.
    ///
    /// # Panics
    ///
    /// If it is beyond the last address.
    fn offset(self, bytes: usize) -> Self {
        Self(self.0.map_addr(|addr| addr.checked_add(bytes).expect("an address overflows")))
    }

    /// The address as a pointer.
    pub(super) const fn as_ptr(self) -> NonNull<u8> {
        self.0
    }
}

/// An allocation that blocks of one size are cut from.
///
/// It is never read as a vector: the length stays zero, and blocks are reached through the base. So
/// memory that no row has touched is never committed.
pub(super) struct BlockMemory {
    bytes: AVec<u8, RuntimeAlign>,
    base: Base,
    /// Bytes of a chunk.
    chunk_bytes: u32,
    /// Bytes from one chunk to the next.
    stride: usize,
    /// The chunks that belong to an extent, where a block of its own is an extent of one.
    taken: Box<[u128]>,
    /// The chunks that have a block.
    used: Box<[u128]>,
}

/// The word of a chunk's bit, and `chunks` bits from its own on.
const fn bits(first: u32, chunks: u32) -> (usize, u128) {
    let word = first / u128::BITS;
    (word as usize, (u128::MAX >> (u128::BITS - chunks)) << (first % u128::BITS))
}

impl BlockMemory {
    /// Allocates `bytes` bytes for chunks of `chunk_bytes` bytes each. As huge pages, if they have
    /// the alignment of one and the system has them.
    pub(super) fn new((bytes, align): (usize, usize), chunk_bytes: u32, stride: usize) -> Self {
        assert!(chunk_bytes as usize <= stride, "two chunks overlap");
        let mut memory = AVec::with_capacity(align, bytes);
        let base = Base::of(memory.as_mut_ptr());
        if align == HUGE_PAGE_BYTES {
            advise_huge_pages(&mut memory);
        }
        let words = (bytes / stride).div_ceil(u128::BITS as usize);
        let none = || vec![0; words].into_boxed_slice();
        Self { bytes: memory, base, chunk_bytes, stride, taken: none(), used: none() }
    }

    /// Bytes of the allocation.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// The number of chunks that belong to extents.
    pub(super) fn taken_len(&self) -> u32 {
        self.taken.iter().map(|word| word.count_ones()).sum()
    }

    /// The first chunk of a free extent of `chunks` chunks among the first `room` chunks.
    pub(super) fn find(&self, chunks: u32, room: u32) -> Option<u32> {
        let mut starts = (0..=room.checked_sub(chunks)?).step_by(chunks as usize);
        starts.find(|&first| {
            let (word, bits) = bits(first, chunks);
            self.taken[word] & bits == 0
        })
    }

    /// Allocates the extent at chunk `first`, and its first chunk. `slab` is the number of this
    /// memory.
    ///
    /// # Panics
    ///
    /// If it overlaps another extent, or ends outside the memory.
    pub(super) fn allocate(&mut self, first: u32, class: BlockClass, slab: u32) -> Block {
        let chunks = class.chunks();
        let is_whole = chunks == 1 || self.chunk_bytes as usize == self.stride;
        assert!(is_whole && first.is_multiple_of(chunks), "the extent has gaps");
        let offset = first as usize * self.stride;
        let end = offset + chunks as usize * self.chunk_bytes as usize;
        assert!(end <= self.capacity(), "the extent ends outside its slab");
        let (word, extent) = bits(first, chunks);
        assert!(self.taken[word] & extent == 0, "the extent overlaps another");
        self.taken[word] |= extent;
        self.used[word] |= bits(first, 1).1;
        let slot = u16::try_from(first).expect("a slab has 2^16 chunks or more");
        let slot = SlotAndSize::new(slot, self.chunk_bytes);
        Block { base: self.base.offset(offset), slab, slot, index: 0, class }
    }

    /// Allocates another chunk of a block's extent.
    ///
    /// # Panics
    ///
    /// If the extent has fewer chunks, or this one has a block.
    pub(super) fn allocate_sibling(&mut self, block: &Block, index: u32) -> Block {
        self.assert_has(block);
        assert!(index < block.extent_chunks(), "the extent has no such chunk");
        let (word, bit) = bits(u32::from(block.slot().1) + index, 1);
        assert!(self.used[word] & bit == 0, "the chunk has a block");
        self.used[word] |= bit;
        let index = u8::try_from(index).expect("an extent has more than 255 chunks");
        Block { index, ..*block }
    }

    /// The chunks of a block's extent that have a block, from its first on.
    ///
    /// # Panics
    ///
    /// If the block was not cut from this memory.
    pub(super) fn used(&self, block: &Block) -> u128 {
        self.assert_has(block);
        let (_, slot) = block.slot();
        let (word, extent) = bits(slot.into(), block.extent_chunks());
        (self.used[word] & extent) >> (u32::from(slot) % u128::BITS)
    }

    /// Frees a chunk, and its extent if it was the last.
    ///
    /// # Panics
    ///
    /// If the block was not cut from this memory.
    pub(super) fn free(&mut self, block: Block) {
        self.assert_has(&block);
        let first = u32::from(block.slot().1);
        let (word, bit) = bits(first + u32::from(block.index), 1);
        self.used[word] &= !bit;
        let (_, extent) = bits(first, block.extent_chunks());
        if self.used[word] & extent == 0 {
            self.taken[word] &= !extent;
        }
    }

    fn assert_has(&self, block: &Block) {
        let offset = usize::from(block.slot().1) * self.stride;
        let is_here = offset < self.capacity() && self.base.offset(offset) == block.base;
        let (word, bit) = bits(u32::from(block.slot().1) + u32::from(block.index), 1);
        assert!(is_here && self.used[word] & bit != 0, "the block was allocated elsewhere");
    }
}

/// Advises the system to use huge pages for an allocation.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages(memory: &mut AVec<u8, RuntimeAlign>) {
    let (start, bytes) = (memory.as_mut_ptr(), memory.capacity());
    // SAFETY: the range is one allocation of this process, and this advice does not change its
    // contents.
    let refused = unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
    // A system without huge pages refuses. In this case the slab has ordinary pages.
    let _ = refused;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
const fn advise_huge_pages(_memory: &mut AVec<u8, RuntimeAlign>) {}

/// The memory of one chunk, allocated from a [`Pool`](super::pool::Pool) by one owner. It is freed
/// through the pool or dropped with it.
///
/// Invariant, established by [`BlockMemory`]: from `base` on, `bytes * chunks` bytes are
/// allocated, and `index` is less than `chunks`. All blocks of these bytes are of chunks with the
/// same layout of the columns with bytes, and no two have the same index. `base` has the alignment
/// of that layout.
///
/// A block takes sixteen bytes, so that a pass over many small archetypes loads few lines.
pub(super) struct Block {
    /// The start of the extent.
    base: Base,
    /// The slab that the memory is a part of.
    slab: u32,
    slot: SlotAndSize,
    /// The number of the chunk in its extent.
    index: u8,
    class: BlockClass,
}

/// The slot of a block in its slab, and the binary logarithm of the block's bytes, in two bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SlotAndSize(u16);

impl SlotAndSize {
    const SLOT_BITS: u32 = 11;

    /// # Panics
    ///
    /// If the slot is not less than 2,048.
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm")]
    const fn new(slot: u16, bytes: u32) -> Self {
        assert!(slot >> Self::SLOT_BITS == 0, "a slab has more than 2,048 slots");
        assert!(bytes.is_power_of_two(), "the size of a block is not a power of two");
        Self(slot | (bytes.trailing_zeros() as u16) << Self::SLOT_BITS)
    }

    const fn slot(self) -> u16 {
        self.0 & ((1 << Self::SLOT_BITS) - 1)
    }

    const fn bytes(self) -> u32 {
        1 << (self.0 >> Self::SLOT_BITS)
    }
}

impl Block {
    /// Bytes of the chunk.
    #[inline]
    pub(super) const fn bytes(&self) -> u32 {
        self.slot.bytes()
    }

    /// Chunks of the extent, one if the chunk's memory is its own.
    #[inline]
    pub(super) const fn extent_chunks(&self) -> u32 {
        self.class.chunks()
    }

    /// The start of the extent.
    #[cfg(test)]
    pub(super) const fn base(&self) -> Base {
        self.base
    }

    /// The number of the chunk in its extent.
    #[inline]
    pub(super) const fn index(&self) -> u8 {
        self.index
    }

    /// The slab and the slot of the extent.
    #[inline]
    pub(super) const fn slot(&self) -> (u32, u16) {
        (self.slab, self.slot.slot())
    }

    /// Sets the number of the slab, which has moved to another pool with its memory.
    pub(super) const fn set_slab(&mut self, slab: u32) {
        self.slab = slab;
    }

    /// Whether both are in one extent.
    #[inline]
    pub(super) fn shares_extent(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// Whether the rows of this block directly follow the rows of `before` in every column.
    #[inline]
    pub(super) fn continues(&self, before: &Self) -> bool {
        self.base == before.base && u32::from(self.index) == u32::from(before.index) + 1
    }

    /// The place of the chunk's rows, if a chunk has room for `capacity` rows.
    #[inline(always)]
    pub(super) const fn place(&self, capacity: u32) -> Place {
        let first = self.index as usize * capacity as usize;
        Place { base: self.base.as_ptr(), class: self.class, first }
    }

    /// Whether it is smaller than a chunk, for a list of few rows.
    #[inline]
    pub(super) const fn is_first(&self) -> bool {
        self.class.is_first()
    }

    /// The place of the chunk's rows in a layout.
    ///
    /// # Panics
    ///
    /// If the layout is larger than the block, or one of them is a first block and the other is
    /// not.
    #[inline]
    pub(super) fn place_in(&self, layout: &ChunkLayout) -> Place {
        let is_alike = self.is_first() == layout.class().is_first();
        assert!(is_alike, "the layout is of another block");
        assert!(layout.bytes() <= self.bytes(), "the block is smaller than the layout");
        self.place(layout.capacity())
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, (slab, slot)) = (self.bytes(), self.slot());
        let (index, chunks) = (self.index, self.extent_chunks());
        write!(f, "Block({bytes} B, slab {slab}, slot {slot}, chunk {index} of {chunks})")
    }
}

/// The place of a chunk's rows in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    base: NonNull<u8>,
    class: BlockClass,
    /// The number of rows before the place's first in each column of the extent.
    first: usize,
}

impl Place {
    /// Rows without bytes.
    pub(super) const NONE: Self =
        Self { base: NonNull::dangling(), class: BlockClass::Own, first: 0 };

    /// The place of the rows from `row` on: the row of every later address is counted from there.
    #[inline(always)]
    pub(super) const fn skip(self, row: u32) -> Self {
        Self { first: self.first + row as usize, ..self }
    }

    /// The address of the cell of a column in row `row`.
    ///
    /// # Safety
    ///
    /// The place must be of a block that has at least the bytes of a layout with this column,
    /// computed for the layout's capacity, and the rows skipped and `row` together at most the
    /// capacity. Or the column has no bytes.
    #[inline(always)]
    pub(super) const unsafe fn cell(self, column: Column, row: u32) -> NonNull<u8> {
        let start = column.start(self.class.chunks()) as usize;
        let offset = start + (self.first + row as usize) * column.size as usize;
        // SAFETY: by the contract, `ChunkLayout` proves for one chunk that the column's offset plus
        // `capacity * size` is at most `bytes`, and for an extent of n chunks that its start plus
        // `n * capacity * size` is at most `n * bytes`. With n chunks in the extent, `first + row`
        // is at most `n * capacity`: the cell is inside the extent or at its end. Without bytes the
        // offset is zero.
        unsafe { self.base.add(offset) }
    }

    /// The address of a column's first row. `first` is the column's offset in a first block.
    ///
    /// # Safety
    ///
    /// As for [`Place::cell`], for the layout of the block's class.
    #[inline(always)]
    pub(super) unsafe fn column(self, first: u32, chunk: Column) -> NonNull<u8> {
        let column = if self.class.is_first() { Column { offset: first, ..chunk } } else { chunk };
        // SAFETY: the contract of this function.
        unsafe { self.cell(column, 0) }
    }

    /// [`Place::cell`] of a column that starts at `starts` in the extents of each class.
    ///
    /// # Safety
    ///
    /// As for [`Place::cell`], for the column's offset in the layout of the block's class.
    #[inline(always)]
    pub(super) const unsafe fn cell_of(
        self,
        starts: &[u32; BlockClass::LEN],
        size: u32,
        row: u32,
    ) -> NonNull<u8> {
        let start = starts[self.class.index()] as usize;
        let offset = start + (self.first + row as usize) * size as usize;
        // SAFETY: as in `cell`: it is the start of the column in a block of this class.
        unsafe { self.base.add(offset) }
    }
}

/// A cell of a list's rows: the starts of its column in blocks of each class, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellStarts {
    pub(super) starts: [u32; BlockClass::LEN],
    pub(super) size: u32,
}

impl CellStarts {
    /// The cell of a column of a list.
    pub(super) fn new(layouts: &ListLayout, column: u16) -> Self {
        let column = usize::from(column);
        let chunk = layouts.chunk().columns()[column];
        let starts = BlockClass::ALL.map(|class| match (class, layouts.first()) {
            (BlockClass::First, Some(first)) => first.offset(column),
            _ => chunk.start(class.chunks()),
        });
        Self { starts, size: chunk.size }
    }

    /// The cells of a row that have bytes.
    pub(super) fn all(layouts: &ListLayout) -> Box<[Self]> {
        let columns = (0u16..).zip(layouts.columns()).filter(|(_, shape)| shape.size > 0);
        columns.map(|(column, _)| Self::new(layouts, column)).collect()
    }

    /// The address of a row's cell.
    ///
    /// # Safety
    ///
    /// The place must be of a chunk of a list with this cell, and the row less than the capacity.
    #[inline(always)]
    pub(super) const unsafe fn at(&self, place: Place, row: u32) -> NonNull<u8> {
        // SAFETY: the starts and the size belong to a column of the list's layouts, for which the
        // block was allocated (`ChunkList`).
        unsafe { place.cell_of(&self.starts, self.size, row) }
    }
}

/// The cells of one column of a list, tags included, and the bytes that are their values.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnCells {
    pub(super) cell: CellStarts,
    pub(super) values: Values,
}

impl ColumnCells {
    /// The columns of a list, in order.
    pub(super) fn all(layouts: &ListLayout) -> Box<[Self]> {
        let columns = (0u16..).zip(layouts.columns());
        let cells = |(column, shape): (u16, &ColumnShape)| Self {
            cell: CellStarts::new(layouts, column),
            values: shape.values,
        };
        columns.map(cells).collect()
    }
}

/// `memmove` of a size that is only known at run time. Cells of eight to sixteen bytes are copied
/// as their first and their last eight, which may overlap: a comparison costs less than a jump by
/// the size, or a call.
///
/// # Safety
///
/// `from` may be read and `to` written for `size` bytes. They may be the same cell.
#[inline(always)]
pub(super) unsafe fn copy_small(from: *const u8, to: *mut u8, size: usize) {
    let copy = |start: usize, bytes: usize| {
        let (from, to) = (from.wrapping_add(start), to.wrapping_add(start));
        // SAFETY: the contract of this function, because each call below ends inside the cell.
        unsafe { to.copy_from(from, bytes) };
    };
    if size.wrapping_sub(8) <= 8 {
        copy(0, 8);
        copy(size - 8, 8);
    } else if size == 4 {
        copy(0, 4);
    } else if size == 64 {
        copy(0, 64);
    } else if size > 0 {
        copy(0, size);
    }
}
