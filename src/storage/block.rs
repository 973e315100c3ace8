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

#![expect(unsafe_code, reason = "the addresses of cells in raw memory")]

use core::fmt;
use core::ptr::NonNull;

use super::block_class::BlockClass;
use super::layout::{ChunkLayout, Column};

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
    pub(super) const fn of(start: *mut u8) -> Self {
        Self(NonNull::new(start).expect("an allocation is null"))
    }

    /// The address `bytes` bytes further on. Whether it is in the allocation is for the caller to
    /// know.
    ///
    /// # Panics
    ///
    /// If it is beyond the last address.
    pub(super) fn offset(self, bytes: usize) -> Self {
        Self(self.0.map_addr(|addr| addr.checked_add(bytes).expect("an address overflows")))
    }

    /// The address as a pointer.
    pub(super) const fn as_ptr(self) -> NonNull<u8> {
        self.0
    }
}

/// The memory of one chunk, allocated from a [`Pool`](super::pool::Pool) by one owner. It is freed
/// through the pool or dropped with it.
///
/// Invariant, established where blocks are made: from `base` on, `bytes * chunks` bytes are
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
    /// The block of an extent's first chunk. The extent starts at `base`, in this slot of this
    /// slab.
    pub(super) const fn new(
        base: Base,
        (slab, slot): (u32, u16),
        bytes: u32,
        class: BlockClass,
    ) -> Self {
        Self { base, slab, slot: SlotAndSize::new(slot, bytes), index: 0, class }
    }

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

    /// The block of another chunk of the same extent.
    ///
    /// # Panics
    ///
    /// If the extent has fewer chunks.
    ///
    /// # Safety
    ///
    /// The chunk has no block yet.
    pub(super) const unsafe fn sibling(&self, index: u8) -> Self {
        assert!((index as u32) < self.extent_chunks(), "the extent has no such chunk");
        Self { index, ..*self }
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
    /// The number of rows before this chunk's in each column of the extent.
    first: usize,
}

impl Place {
    /// Rows without bytes.
    pub(super) const NONE: Self =
        Self { base: NonNull::dangling(), class: BlockClass::OWN, first: 0 };

    /// The address of the cell of a column in row `row`.
    ///
    /// # Safety
    ///
    /// The place must be of a block that has at least the bytes of a layout with this column,
    /// computed for the layout's capacity, and `row` at most the capacity. Or the column has no
    /// bytes.
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

/// Runs a copy with its size as a constant, for the sizes of most components: a call costs more
/// than such a copy.
macro_rules! for_size {
    ($size:ident, $copy:expr) => {
        for_size!($size, $copy, 0 4 8 12 16 64)
    };
    ($size:ident, $copy:expr, $($bytes:literal)*) => {
        match $size {
            $($bytes => { let $size = $bytes; $copy })*
            _ => $copy,
        }
    };
}

/// `memmove` of a size that is only known at run time.
///
/// # Safety
///
/// `from` may be read and `to` written for `size` bytes. They may be the same cell.
#[inline(always)]
pub(super) unsafe fn copy_small(from: *const u8, to: *mut u8, size: usize) {
    for_size!(size, {
        // SAFETY: the contract of this function.
        unsafe { to.copy_from(from, size) };
    });
}

/// Copies the second of three cells of one size to the third, and the first to the second.
///
/// # Safety
///
/// All three may be read and written for `size` bytes. The first two may be the same cell.
#[inline(always)]
pub(super) unsafe fn copy_two_small([first, second, third]: [NonNull<u8>; 3], size: usize) {
    for_size!(size, {
        // SAFETY: the contract of this function.
        unsafe { third.copy_from(second, size) };
        // SAFETY: the contract of this function.
        unsafe { second.copy_from(first, size) };
    });
}
