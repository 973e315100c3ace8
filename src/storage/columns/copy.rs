//! Rows as bytes: zeroed, copied between blocks, moved within one.

#![expect(
    unsafe_code,
    reason = "rows are copied between raw blocks, whose columns have no type here"
)]

use core::ops::Range;

use super::super::layout::{ChunkLayout, ColumnShape};
use super::super::slab::Block;

/// The address of a row of a column.
///
/// # Panics
///
/// If the column or the row is not in the layout, or the layout is larger than the block.
#[inline]
pub(super) fn row_address(
    block: &Block,
    layout: &ChunkLayout,
    column: usize,
    size: usize,
    row: u32,
) -> *mut u8 {
    assert!(row <= layout.capacity(), "row {row} of a chunk of {}", layout.capacity());
    assert!(layout.bytes() <= block.bytes(), "the block was taken for this layout");
    let offset = layout.offset(column) as usize + row as usize * size;
    // SAFETY: `ChunkLayout` proves `offset(column) + capacity * size(column) <= bytes`, and the
    // block has at least `bytes` bytes by the assertion above.
    unsafe { block.base().add(offset) }.as_ptr()
}

/// Fills rows of every column with zeros.
pub(in super::super) fn zero_rows(
    block: &mut Block,
    layout: &ChunkLayout,
    columns: &[ColumnShape],
    rows: Range<u32>,
) {
    assert!(rows.end <= layout.capacity(), "rows inside the chunk");
    for (index, column) in columns.iter().enumerate().filter(|(_, c)| c.size > 0) {
        let start = row_address(block, layout, index, column.size, rows.start);
        // SAFETY: `rows` ends inside the capacity, so the bytes from `start` on are this
        // column's; `&mut Block` is the right to write them.
        unsafe { start.write_bytes(0, rows.len() * column.size) };
    }
}

/// Copies rows of every column from one block of a list to another, which may have another layout
/// of the same columns. The rows' numbers stay the same.
pub(in super::super) fn copy_rows(
    (source, source_layout): (&Block, &ChunkLayout),
    (target, target_layout): (&mut Block, &ChunkLayout),
    columns: &[ColumnShape],
    rows: u32,
) {
    assert!(rows <= source_layout.capacity(), "rows of the source");
    assert!(rows <= target_layout.capacity(), "rows of the target");
    for (index, column) in columns.iter().enumerate().filter(|(_, c)| c.size > 0) {
        let from = row_address(source, source_layout, index, column.size, 0);
        let to = row_address(target, target_layout, index, column.size, 0);
        // SAFETY: `rows` rows of this column are inside both blocks by the assertions, and two
        // blocks never overlap: one is borrowed shared, the other exclusively.
        unsafe { to.copy_from_nonoverlapping(from, rows as usize * column.size) };
    }
}

/// Copies cells of one row to a row of another block: pairs of columns, and their common size.
#[inline]
pub(in super::super) fn copy_cells(
    (source, source_layout, source_row): (&Block, &ChunkLayout, u32),
    (target, target_layout, target_row): (&mut Block, &ChunkLayout, u32),
    cells: impl Iterator<Item = (usize, usize, usize)>,
) {
    assert!(source_row < source_layout.capacity(), "a row of the source");
    assert!(target_row < target_layout.capacity(), "a row of the target");
    for (source_column, target_column, size) in cells {
        let from = row_address(source, source_layout, source_column, size, source_row);
        let to = row_address(target, target_layout, target_column, size, target_row);
        copy_small(from, to, size);
    }
}

/// Copies a row of a block to another row of it.
#[inline]
pub(in super::super) fn copy_within(
    block: &mut Block,
    layout: &ChunkLayout,
    columns: &[ColumnShape],
    from: u32,
    to: u32,
) {
    assert!(from < layout.capacity() && to < layout.capacity(), "rows of the block");
    for (index, column) in columns.iter().enumerate() {
        let source = row_address(block, layout, index, column.size, from);
        let target = row_address(block, layout, index, column.size, to);
        copy_small(source, target, column.size);
    }
}

/// `memmove` of a size that is known at run time only: the sizes of most components in line, since
/// a call costs more than their copy.
#[inline(always)]
fn copy_small(from: *const u8, to: *mut u8, size: usize) {
    macro_rules! sizes {
        ($($bytes:literal)*) => {
            match size {
                $(
                    // SAFETY: the caller computed both addresses for a cell of `size` bytes; a
                    // copy to the same cell is a move of a value onto itself.
                    $bytes => unsafe { to.copy_from(from, $bytes) },
                )*
                // SAFETY: as above.
                _ => unsafe { to.copy_from(from, size) },
            }
        };
    }
    sizes!(0 4 8 12 16 64);
}
