//! Rows as bytes: zeroed, copied between blocks, moved within one.

#![expect(
    unsafe_code,
    reason = "rows are copied between raw blocks, whose columns have no type here"
)]

use core::ops::Range;

use super::super::chunk::{ChunkList, LooseChunks};
use super::super::layout::{ChunkLayout, Column};
use super::super::place::Spot;
use super::super::slab::Block;

/// The address of a row of a column, and the bytes of a row.
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
    assert!(row <= layout.capacity(), "row {row} of a chunk of {}", layout.capacity());
    assert!(layout.bytes() <= block.bytes(), "the block was taken for this layout");
    let Column { offset, size } = layout.columns()[column];
    let offset = offset as usize + row as usize * size as usize;
    // SAFETY: `ChunkLayout` proves `offset + capacity * size <= bytes` of its column, and the block
    // has at least `bytes` bytes by the assertion above.
    let address = unsafe { block.base().add(offset) };
    (address.as_ptr(), size as usize)
}

/// Fills rows of every column with zeros.
pub(in super::super) fn zero_rows(block: &mut Block, layout: &ChunkLayout, rows: Range<u32>) {
    assert!(rows.end <= layout.capacity(), "rows inside the chunk");
    for column in 0..layout.columns().len() {
        let (start, size) = row_address(block, layout, column, rows.start);
        // SAFETY: `rows` ends inside the capacity, so by `ChunkLayout` the bytes from `start` on
        // are this column's; `&mut Block` is the right to write them.
        unsafe { start.write_bytes(0, rows.len() * size) };
    }
}

/// Copies rows of every column from one block of a list to another, which may have another layout
/// of the same columns. The rows' numbers stay the same.
///
/// # Panics
///
/// If the layouts differ in their columns or one has fewer rows.
pub(in super::super) fn copy_rows(
    (source, source_layout): (&Block, &ChunkLayout),
    (target, target_layout): (&mut Block, &ChunkLayout),
    rows: u32,
) {
    assert!(rows <= source_layout.capacity(), "rows of the source");
    assert!(rows <= target_layout.capacity(), "rows of the target");
    for column in 0..source_layout.columns().len() {
        let (from, size) = row_address(source, source_layout, column, 0);
        let (to, target_size) = row_address(target, target_layout, column, 0);
        assert!(size == target_size, "two layouts of the same columns");
        // SAFETY: `rows` rows of this column are inside both blocks by the assertions and by
        // `ChunkLayout`, and two blocks never overlap: one is borrowed shared, the other not.
        unsafe { to.copy_from_nonoverlapping(from, rows as usize * size) };
    }
}

impl ChunkList {
    /// Overwrites a cell of a row that has a block, live or about to be, with the bytes of a value.
    ///
    /// # Panics
    ///
    /// If there is no such row or column, or a cell of the column has another size.
    #[inline]
    pub(crate) fn write_cell(&mut self, column: u16, at: Spot, value: &[u8]) {
        let column = usize::from(column);
        let size = self.columns()[column].size;
        assert!(size == value.len(), "a cell of {size} bytes");
        if size == 0 {
            return;
        }
        assert!(at.row < self.capacity(), "rows of a chunk");
        let block = &self.blocks()[at.chunk as usize];
        let (cell, _) = row_address(block, self.layout(), column, at.row);
        // Components are `Pod`: any bytes are a value.
        copy_small(value.as_ptr(), cell, size);
    }
}

/// The cells that a row keeps when it moves from one list to another: pairs of columns of one
/// component each, with everything a copy needs to know of them.
///
/// [`RowMove::new`] proves that the columns belong to the two lists and have one size.
#[derive(Debug)]
pub(crate) struct RowMove {
    keys: [u64; 2],
    cells: Box<[CellMove]>,
}

/// One kept cell: its column in the source and in the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellMove {
    pub(crate) from: u16,
    pub(crate) to: u16,
    size: u32,
    /// In a chunk and in a small first block.
    from_offsets: [u32; 2],
    to_offsets: [u32; 2],
}

impl RowMove {
    /// # Panics
    ///
    /// If the columns of a pair differ in size.
    pub(crate) fn new(
        (source, target): (&ChunkList, &ChunkList),
        pairs: impl Iterator<Item = (u16, u16)>,
    ) -> Self {
        let cells = pairs.map(|(from, to)| {
            let size = source.columns()[usize::from(from)].size;
            assert_eq!(size, target.columns()[usize::from(to)].size, "columns of one component");
            CellMove {
                from,
                to,
                size: u32::try_from(size).expect("inside a chunk"),
                from_offsets: source.offsets(from),
                to_offsets: target.offsets(to),
            }
        });
        Self { keys: [source.key(), target.key()], cells: cells.collect() }
    }

    /// The kept cells.
    #[inline]
    pub(crate) const fn cells(&self) -> &[CellMove] {
        &self.cells
    }

    /// Copies the cells of a live row of `source` to a row of `target` that has a block.
    ///
    /// # Panics
    ///
    /// If this was made for other lists, or there is no such row.
    #[inline]
    pub(crate) fn copy(
        &self,
        (source, at): (&ChunkList, Spot),
        (target, target_at): (&mut ChunkList, Spot),
    ) {
        assert!(self.keys == [source.key(), target.key()], "the move was made for these lists");
        let (row, target_row) = (at.row as usize, target_at.row as usize);
        assert!(at.row < source.capacity() && target_at.row < target.capacity(), "rows of a chunk");
        let (small, target_small) = (source.is_small(), target.is_small());
        debug_assert!(source.is_live(at), "a live row");
        let blocks =
            (source.blocks().get(at.chunk as usize), target.blocks().get(target_at.chunk as usize));
        let (Some(from), Some(to)) = blocks else {
            // A list without bytes has no blocks, and then no cell has any.
            assert!(self.cells.iter().all(|cell| cell.size == 0), "blocks for rows with bytes");
            return;
        };
        for cell in &self.cells {
            let size = cell.size as usize;
            let offset = cell.from_offsets[usize::from(small)] as usize + row * size;
            let to_offset = cell.to_offsets[usize::from(target_small)] as usize + target_row * size;
            // SAFETY: the offsets are of a column of `source`, by its key, and the row is inside
            // the capacity, so `ChunkLayout` proves the cell inside the block.
            let from = unsafe { from.base().add(offset) };
            // SAFETY: as above, of `target`.
            let to = unsafe { to.base().add(to_offset) };
            copy_small(from.as_ptr(), to.as_ptr(), size);
        }
    }

    /// Copies the cells of `rows` rows of chunks that were taken from the source, those of one chunk
    /// from `at` on, to rows of one chunk of `target` that has a block: one `memcpy` a column.
    ///
    /// # Panics
    ///
    /// If this was made for other lists, or there are no such rows.
    pub(crate) fn copy_run(
        &self,
        (source, at): (&LooseChunks, Spot),
        (target, target_at): (&mut ChunkList, Spot),
        rows: u32,
    ) {
        assert!(self.keys == [source.key(), target.key()], "the move was made for these lists");
        let ends = [at, target_at].map(|at| at.row.checked_add(rows).expect("rows of a chunk"));
        assert!(at.chunk < source.count() && ends[0] <= source.rows(at.chunk), "rows of a chunk");
        assert!(ends[1] <= target.capacity(), "rows of a chunk");
        let small = [source.is_small(), target.is_small()].map(usize::from);
        let blocks = (source.block(at.chunk), target.blocks().get(target_at.chunk as usize));
        let (Some(from), Some(to)) = blocks else {
            // A list without bytes has no blocks, and then no cell has any.
            assert!(self.cells.iter().all(|cell| cell.size == 0), "blocks for rows with bytes");
            return;
        };
        for cell in &self.cells {
            let size = cell.size as usize;
            let offset = cell.from_offsets[small[0]] as usize + at.row as usize * size;
            let to_offset = cell.to_offsets[small[1]] as usize + target_at.row as usize * size;
            // SAFETY: the offsets are of a column of `source`, by its key, and the rows end inside
            // the capacity, so `ChunkLayout` proves them inside the block.
            let from = unsafe { from.base().add(offset) };
            // SAFETY: as above, of `target`.
            let to = unsafe { to.base().add(to_offset) };
            let bytes = rows as usize * size;
            // SAFETY: `rows` rows of the column are inside both blocks by the assertions above; chunks
            // that were taken share no block with a list, and `&mut` of the target is the right to
            // write it.
            unsafe { to.copy_from_nonoverlapping(from, bytes) };
        }
    }
}

impl ChunkList {
    /// Copies every cell of a live row to `rows` of a chunk behind the last live one: one copy of
    /// the row, then `memcpy` of what is there already, twice as much each time.
    ///
    /// # Panics
    ///
    /// If there are no such rows, or one of them is live.
    pub(crate) fn replicate(&mut self, from: Spot, chunk: u32, rows: Range<u32>) {
        /// What is copied again and again stays in the first-level cache.
        const PATTERN_BYTES: usize = 4096;
        assert!(self.is_live(from), "a live row");
        assert!(rows.start < rows.end && rows.end <= self.capacity(), "rows of a chunk");
        let first = Spot { chunk, row: rows.start };
        assert!(self.index_of(first) >= self.len(), "rows behind the last one");
        if !self.layouts().has_bytes() {
            return;
        }
        let layout = self.layout();
        for column in 0..layout.columns().len() {
            let block = &self.blocks()[from.chunk as usize];
            let (value, size) = row_address(block, layout, column, from.row);
            let (start, _) =
                row_address(&self.blocks()[chunk as usize], layout, column, rows.start);
            copy_small(value, start, size);
            let bytes = rows.len() * size;
            let pattern = (PATTERN_BYTES / size.max(1)).max(1) * size;
            let mut done = size;
            while done < bytes {
                let more = done.min(pattern).min(bytes - done);
                // SAFETY: `done` bytes of the column are written, and `done < bytes`, the end of
                // `rows`, which `ChunkLayout` proves inside the block.
                let to = unsafe { start.add(done) };
                // SAFETY: `more` bytes from `start` on are written, because `more <= done`, and
                // those behind `to` are inside `rows`; so the two do not overlap. No row of them is
                // live, and `&mut self` is the right to write them.
                unsafe { to.copy_from_nonoverlapping(start, more) };
                done += more;
            }
        }
    }
}

/// Copies every cell of a row to another row of the same list, in the same block or another.
///
/// # Panics
///
/// If there is no such chunk or row.
#[inline]
pub(in super::super) fn copy_row(blocks: &mut [Block], layout: &ChunkLayout, from: Spot, to: Spot) {
    assert!(from.row < layout.capacity() && to.row < layout.capacity(), "rows of a chunk");
    let (from_row, to_row) = (from.row as usize, to.row as usize);
    let (from, to) = (&blocks[from.chunk as usize], &blocks[to.chunk as usize]);
    assert!(layout.bytes() <= from.bytes() && layout.bytes() <= to.bytes(), "the list's blocks");
    for column in layout.columns() {
        let (start, size) = (column.offset as usize, column.size as usize);
        // SAFETY: `ChunkLayout` proves that `capacity` rows from the column's offset on are inside
        // a block of its size.
        let from = unsafe { from.base().add(start + from_row * size) };
        // SAFETY: as above.
        let to = unsafe { to.base().add(start + to_row * size) };
        copy_small(from.as_ptr(), to.as_ptr(), size);
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
