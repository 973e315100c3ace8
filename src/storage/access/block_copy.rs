//! Rows as bytes: zeroed, copied between blocks, copied within one.

#![expect(
    unsafe_code,
    reason = "rows are copied between raw blocks, whose columns have no type here"
)]

use core::ops::Range;
use core::ptr::NonNull;

use crate::storage::block::Block;
use crate::storage::layout::ChunkLayout;
use crate::storage::row::ChunkRow;

/// The address of a row in a column, and the bytes of one row.
///
/// # Panics
///
/// If the column or the row is not in the layout, or the layout is larger than the block.
#[inline]
pub(super) fn row_address(
    block: &Block,
    layout: &ChunkLayout,
    column: usize,
    row: u32,
) -> (*mut u8, usize) {
    assert!(row <= layout.capacity(), "row {row} exceeds a chunk of {} rows", layout.capacity());
    let place = block.place_in(layout);
    let column = layout.columns()[column];
    // SAFETY: `place_in` asserts that the block has at least the layout's bytes, the column is one
    // of the layout, and the row is at most the capacity by the assertion above.
    let address = unsafe { place.cell(column, row) };
    (address.as_ptr(), column.size as usize)
}

/// Fills rows of every column with zeros.
///
/// # Safety
///
/// The block was allocated for the layout.
///
/// # Panics
///
/// If the rows end outside the chunk.
pub(in crate::storage) unsafe fn zero_rows(
    block: &mut Block,
    layout: &ChunkLayout,
    rows: Range<u32>,
) {
    assert!(rows.end <= layout.capacity(), "the rows end outside the chunk");
    for column in 0..layout.columns().len() {
        let (start, size) = row_address(block, layout, column, rows.start);
        // SAFETY: `rows` ends inside the capacity, so `ChunkLayout` proves that the bytes from
        // `start` on belong to this column, and `&mut Block` is the right to write the rows of a
        // block that was allocated for this layout.
        unsafe { start.write_bytes(0, rows.len() * size) };
    }
}

/// Copies rows of every column from one block of a list to another. The capacities of their layouts
/// may differ. The rows keep their numbers.
///
/// # Panics
///
/// If the layouts differ in their columns or one has too few rows.
///
/// # Safety
///
/// Each block was allocated for its layout.
pub(in crate::storage) unsafe fn copy_rows(
    (source, source_layout): (&Block, &ChunkLayout),
    (target, target_layout): (&mut Block, &ChunkLayout),
    rows: u32,
) {
    assert!(rows <= source_layout.capacity(), "the source has fewer rows");
    assert!(rows <= target_layout.capacity(), "the target has fewer rows");
    for column in 0..source_layout.columns().len() {
        let (from, size) = row_address(source, source_layout, column, 0);
        let (to, target_size) = row_address(target, target_layout, column, 0);
        assert!(size == target_size, "the layouts differ in their columns");
        // SAFETY: by the assertions and `ChunkLayout`, `rows` rows of this column are inside both
        // blocks. Two blocks never overlap, and these are two, because one is borrowed shared and
        // the other exclusively.
        unsafe { to.copy_from_nonoverlapping(from, rows as usize * size) };
    }
}

/// Copies every cell of a row to another row of the same list, in the same block or another.
///
/// # Panics
///
/// If the chunk or a row does not exist.
///
/// # Safety
///
/// The blocks were allocated for the layout.
#[inline]
pub(in crate::storage) unsafe fn copy_row(
    blocks: &mut [Block],
    layout: &ChunkLayout,
    from: ChunkRow,
    to: ChunkRow,
) {
    assert!(
        from.row < layout.capacity() && to.row < layout.capacity(),
        "a row is outside its chunk"
    );
    let [from_place, to_place] = [from, to].map(|at| blocks[at.chunk as usize].place_in(layout));
    for &column in layout.columns() {
        // SAFETY: `place_in` asserts that the block has at least the layout's bytes, the column is
        // one of the layout, and the row is less than the capacity.
        let from = unsafe { from_place.cell(column, from.row) };
        // SAFETY: as for the other cell.
        let to = unsafe { to_place.cell(column, to.row) };
        // SAFETY: both are cells of `size` bytes of the list's blocks, and `&mut` of the blocks is
        // the right to write them.
        unsafe { copy_small(from.as_ptr(), to.as_ptr(), column.size as usize) };
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
