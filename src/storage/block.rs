//! The memory of one chunk.
//!
//! A block is a piece of memory of its own, or its share of an *extent*: one piece of memory for
//! 2ⁿ chunks, in which all runs of the first column lie one after the other, then all runs of the
//! second:
//!
//! ```text
//!  blocks of their own   │A0 B0│ │A1 B1│ │A2 B2│ │A3 B3│       a run of 7 KB, then another address
//!  an extent of four     │A0 A1 A2 A3│B0 B1 B2 B3│             a run of 28 KB
//! ```
//!
//! Both have the same arithmetic. If a column begins at byte `o` of a chunk, it begins at byte
//! `o << n` of an extent, and row `r` of the extent's chunk `i` is the column's row
//! `i * capacity + r`. A block of its own is an extent of one.

#![expect(unsafe_code, reason = "the addresses of cells in raw memory")]

use core::fmt;
use core::ptr::NonNull;

use super::layout::ChunkLayout;

/// The memory of one chunk, allocated from a [`Pool`](super::pool::Pool) by one owner. It is freed
/// through the pool or dropped with it.
///
/// Invariant, established where blocks are made: from `base` on, `bytes << chunks_log2` bytes are
/// allocated, and `index` is less than `1 << chunks_log2`. All blocks of these bytes are of chunks
/// whose columns with bytes have the same layout, and no two have the same index. `base` has the
/// alignment of that layout.
///
/// A block takes sixteen bytes, so that a pass over many small archetypes loads few lines.
pub(super) struct Block {
    /// The start of the extent.
    base: NonNull<u8>,
    /// The slab that the memory is a part of, and the slot in the slab.
    slab: u32,
    slot: u16,
    /// The number of the chunk in its extent.
    index: u8,
    sizes: Sizes,
}

/// The binary logarithms of a chunk's bytes and of the chunks in an extent, in one byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes(u8);

impl Sizes {
    const BYTES_BITS: u32 = 5;

    /// # Panics
    ///
    /// If `bytes` is not a power of two below 4 GiB, or the extent has more than 128 chunks.
    pub(super) const fn new(bytes: u32, chunks_log2: u8) -> Self {
        assert!(bytes.is_power_of_two(), "the size of a chunk is not a power of two");
        assert!(chunks_log2 < 1 << (u8::BITS - Self::BYTES_BITS), "an extent has over 128 chunks");
        Self((bytes.trailing_zeros() as u8) | chunks_log2 << Self::BYTES_BITS)
    }

    const fn bytes(self) -> u32 {
        1 << (self.0 & ((1 << Self::BYTES_BITS) - 1))
    }

    const fn chunks_log2(self) -> u8 {
        self.0 >> Self::BYTES_BITS
    }
}

// SAFETY: a block is the only access to its bytes, which are plain memory. Moving it to another
// thread moves the right to use them.
unsafe impl Send for Block {}
// SAFETY: a shared block gives only its address. What writes through the address has `&mut` of the
// list, or is `unsafe` and its caller has promised that nothing else accesses those cells.
unsafe impl Sync for Block {}

impl Block {
    /// The block of chunk `index` in the memory that starts at `base`.
    pub(super) const fn new(
        base: NonNull<u8>,
        (slab, slot): (u32, u16),
        index: u8,
        sizes: Sizes,
    ) -> Self {
        Self { base, slab, slot, index, sizes }
    }

    /// Bytes of the chunk.
    #[inline]
    pub(super) const fn bytes(&self) -> u32 {
        self.sizes.bytes()
    }

    /// Chunks of the extent, one if the chunk's memory is its own.
    #[inline]
    pub(super) const fn extent_chunks(&self) -> u32 {
        1 << self.sizes.chunks_log2()
    }

    /// The start of the extent.
    #[cfg(test)]
    pub(super) const fn base(&self) -> NonNull<u8> {
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
        (self.slab, self.slot)
    }

    /// The block of another chunk of the same extent, which must be free.
    pub(super) const fn sibling(&self, index: u8) -> Self {
        assert!((index as u32) < self.extent_chunks(), "the extent has no such chunk");
        Self { index, ..*self }
    }

    /// Whether both are in one extent.
    #[inline]
    pub(super) fn shares_extent(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// Whether the rows of this block directly follow those of `before` in every column.
    #[inline]
    pub(super) fn continues(&self, before: &Self) -> bool {
        self.base == before.base && u32::from(self.index) == u32::from(before.index) + 1
    }

    /// Where the chunk's rows are, if a chunk has room for `capacity` rows.
    #[inline(always)]
    pub(super) const fn place(&self, capacity: u32) -> Place {
        let first = self.index as u32 * capacity;
        Place { base: self.base, chunks_log2: self.sizes.chunks_log2(), first }
    }

    /// The place of the chunk's rows in a layout.
    ///
    /// # Panics
    ///
    /// If the layout is larger than the block.
    #[inline]
    pub(super) fn place_in(&self, layout: &ChunkLayout) -> Place {
        assert!(layout.bytes() <= self.bytes(), "the block is smaller than the layout");
        self.place(layout.capacity())
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slab, slot, index, .. } = self;
        write!(f, "Block({} B, slab {slab}, slot {slot}", self.bytes())?;
        match self.extent_chunks() {
            1 => write!(f, ")"),
            chunks => write!(f, ", chunk {index} of {chunks})"),
        }
    }
}

/// Where the rows of a chunk are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    base: NonNull<u8>,
    chunks_log2: u8,
    /// The number of rows before this chunk's in each column of the extent.
    first: u32,
}

impl Place {
    /// Rows without bytes.
    pub(super) const NONE: Self = Self { base: NonNull::dangling(), chunks_log2: 0, first: 0 };

    /// The address of a cell: of row `row` of the column that begins at `offset` and has `size`
    /// bytes a row.
    ///
    /// # Safety
    ///
    /// The place is that of a block which has at least the bytes of a layout with such a column,
    /// computed for the layout's capacity, and `row` is at most the capacity. Or `offset` and
    /// `size` are zero.
    #[inline(always)]
    pub(super) const unsafe fn cell(self, offset: u32, size: u32, row: u32) -> NonNull<u8> {
        let start = (offset as usize) << self.chunks_log2;
        let offset = start + (self.first as usize + row as usize) * size as usize;
        // SAFETY: by the contract, `ChunkLayout` proves `offset + capacity * size <= bytes` for the
        // column's offset in a chunk. With n chunks in the extent, `first + row` is at most
        // `n * capacity`, so the sum is at most `n * bytes`: inside the extent or at its end.
        // Without bytes it is zero.
        unsafe { self.base.add(offset) }
    }
}
