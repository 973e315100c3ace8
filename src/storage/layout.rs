//! The place of each column in a chunk: offsets and capacity, computed and proved once.

use core::fmt;

use crate::component::{Component, Values};
use crate::line::{LINE_BYTES, VECTOR_ROWS};

use super::block_class::BlockClass;
use super::chunk_size::ChunkSize;

/// The reason why a set of components cannot be an archetype of this world.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// One row, its columns rounded up to cache lines, is larger than a chunk.
    RowTooWide {
        /// Bytes that one row would need.
        row_bytes: usize,
        /// Bytes of a chunk of this world.
        chunk_bytes: usize,
        /// The widest component of the row.
        widest: &'static str,
    },
    /// A component requires an alignment above 4,096.
    AlignTooLarge {
        /// The component's name.
        component: &'static str,
        /// The alignment it requires.
        align: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::RowTooWide { row_bytes, chunk_bytes, widest } => write!(
                f,
                "a row needs {row_bytes} bytes and a chunk has {chunk_bytes}: split the widest \
                 component, `{widest}`, or build the world with a larger `ChunkSize`"
            ),
            Self::AlignTooLarge { component, align } => write!(
                f,
                "`{component}` is aligned to {align} bytes and columns to at most {ALIGN_MAX}: \
                 lower its `repr(align)`"
            ),
        }
    }
}

impl core::error::Error for LayoutError {}

/// The largest alignment of a column: a page.
const ALIGN_MAX: usize = 4096;
/// The smallest size of a list's first block.
const FIRST_BLOCK_BYTES_MIN: usize = 1024;

const _: () = assert!(
    ALIGN_MAX.is_multiple_of(LINE_BYTES),
    "a column of the largest alignment does not start on a line"
);
const _: () = assert!(
    ChunkSize::KIB_4.bytes() >= ALIGN_MAX,
    "a page-aligned column does not fit the smallest chunk"
);

/// The facts about a component that a layout needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnShape {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) values: Values,
}

impl ColumnShape {
    /// The shape of a column for which any bytes are a value.
    #[cfg(test)]
    pub(crate) const fn plain(name: &'static str, size: usize, align: usize) -> Self {
        Self { name, size, align, values: Values::ANY }
    }

    /// # Panics
    ///
    /// If a column of this shape does not hold values of `C`.
    #[inline]
    pub(crate) fn assert_holds<C: Component>(&self) {
        assert!(self.size == size_of::<C>(), "the column has another size than the type");
        assert!(is_aligned_for::<C>(self.align), "the column is not aligned for the type");
        assert!(self.values.are_of::<C>(), "the column has other values than the type");
    }
}

/// Whether every column of a type aligned to `align` is aligned for `C`. Every column starts on a
/// line, which suffices for nearly all types.
#[inline]
pub(super) const fn is_aligned_for<C>(align: usize) -> bool {
    align_of::<C>() <= LINE_BYTES || align_of::<C>() <= align
}

/// The layout of one block.
///
/// Constructed only by [`ChunkLayout::new`], which proves the conditions of every access. The bytes
/// `offset .. offset + capacity * size` of all columns lie inside `bytes` and do not overlap. An
/// offset is a multiple of the cache line and of its column's alignment, and so is the block's
/// base, which is aligned to `align`. Columns without bytes have offset zero.
#[derive(Clone, Debug)]
pub(crate) struct ChunkLayout {
    bytes: u32,
    align: u32,
    capacity: u32,
    class: BlockClass,
    columns: Box<[Column]>,
}

/// The place of a column, and the bytes of one of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) offset: u32,
    /// In an extent the column starts this much later than its offset times the number of chunks.
    pub(super) skew: u32,
    pub(crate) size: u32,
}

impl Column {
    /// A column without bytes.
    pub(super) const NONE: Self = Self { offset: 0, skew: 0, size: 0 };

    /// The start of the column in an extent of `chunks` chunks.
    #[inline(always)]
    pub(super) const fn start(self, chunks: u32) -> u32 {
        self.offset * chunks + if chunks > 1 { self.skew } else { 0 }
    }

    /// Cache lines of the column's first `rows` rows.
    pub(crate) fn lines(self, rows: u32) -> u64 {
        (u64::from(rows) * u64::from(self.size)).div_ceil(LINE_BYTES as u64)
    }
}

impl ChunkLayout {
    /// The layout of a block of `bytes` for these columns: the largest number of rows that fits,
    /// rounded down to whole vectors of 16 if 16 fit. `None` if not even one row fits.
    fn new(bytes: usize, columns: &[ColumnShape]) -> Option<Self> {
        let row_bytes = columns.iter().map(|c| c.size).sum::<usize>();
        // A row that consists of tags has no bytes; it counts as one byte to keep lists finite.
        let mut capacity = whole_vectors(bytes / row_bytes.max(1));
        // Rounding columns up to lines can cost the last one or two vectors.
        while capacity > 0 && end_of_columns(capacity, columns) > bytes {
            capacity = whole_vectors(capacity - 1);
        }
        if capacity == 0 {
            return None;
        }
        Some(Self::of_rows(bytes, capacity, columns))
    }

    /// The layout of a block of `bytes` for `capacity` rows of these columns.
    ///
    /// # Panics
    ///
    /// If they do not fit.
    fn of_rows(bytes: usize, capacity: usize, columns: &[ColumnShape]) -> Self {
        let mut placed = Vec::with_capacity(columns.len());
        let end = place_columns(capacity, columns, |offset, size| {
            placed.push(Column { offset: narrow(offset), skew: 0, size: narrow(size) });
        });
        assert!(end <= bytes, "a column ends outside its block");
        let with_bytes = columns.iter().filter(|c| c.size > 0);
        let align = with_bytes.map(|c| c.align).fold(LINE_BYTES, usize::max);
        Self {
            bytes: narrow(bytes),
            align: narrow(align),
            capacity: narrow(capacity),
            class: BlockClass::Own,
            columns: placed.into(),
        }
    }

    /// Prepares the layout for extents. Returns whether chunks may lie in extents: whether the run
    /// of every column ends on a line, where the next chunk's begins. The capacity is lowered for
    /// that if it costs at most an eighth of the rows. (Sixteen rows of a size that is a multiple
    /// of four are whole lines; of components of one byte it takes 64 rows.)
    ///
    /// In an extent of many chunks all columns would start at equal offsets of a page, and so
    /// compete for one set of the first-level cache, which holds 8 to 12 lines: a pass over twelve
    /// columns missed 1.7 times as often. Therefore each column starts some lines later than the
    /// previous one, in the bytes that the chunks of the extent leave unused. These must be a 64th
    /// of the extent.
    fn prepare_extents(&mut self, columns: &[ColumnShape]) -> bool {
        let rows = self.end_runs_on_lines(columns);
        if self.align as usize > LINE_BYTES {
            return self.capacity.is_multiple_of(rows);
        }
        let with_bytes = columns.iter().filter(|c| c.size > 0).count();
        let step = rows.max(VECTOR);
        if with_bytes > SET_LINES && !self.has_room_for_skew() && self.capacity >= 8 * step {
            let fewer =
                Self::of_rows(self.bytes as usize, (self.capacity - step) as usize, columns);
            if fewer.has_room_for_skew() {
                *self = fewer;
            }
        }
        if self.has_room_for_skew() {
            for column in &mut self.columns {
                column.skew = skew(column.offset);
            }
        }
        self.capacity.is_multiple_of(rows)
    }

    /// Whether the last column of the smallest extent ends inside it if columns are skewed.
    fn has_room_for_skew(&self) -> bool {
        let chunks = BlockClass::SMALLEST_EXTENT.chunks();
        self.end() * chunks + skew(self.end()) <= self.bytes * chunks
    }

    /// Lowers the capacity so that the run of every column ends on a line, if that costs at most an
    /// eighth of the rows. Returns the number of rows after which every run ends on a line.
    fn end_runs_on_lines(&mut self, columns: &[ColumnShape]) -> u32 {
        let rows = |column: &ColumnShape| {
            let odd = column.size.trailing_zeros().min(LINE_BYTES.trailing_zeros());
            LINE_BYTES >> odd
        };
        let rows = columns.iter().filter(|c| c.size > 0).map(rows).max().unwrap_or(1);
        let capacity = self.capacity as usize;
        let whole = capacity - capacity % rows;
        if whole < capacity && whole > 0 && capacity - whole <= capacity / 8 {
            *self = Self::of_rows(self.bytes as usize, whole, columns);
        }
        narrow(rows)
    }

    /// Bytes of the block.
    #[inline]
    pub(crate) const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Alignment of the block's base.
    #[inline]
    pub(crate) const fn align(&self) -> u32 {
        self.align
    }

    /// The class of blocks that have no extent.
    pub(super) const fn class(&self) -> BlockClass {
        self.class
    }

    /// Rows that fit in the block.
    #[inline]
    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The columns, in order.
    #[inline]
    pub(crate) const fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The offset of column `column`.
    #[inline]
    pub(crate) fn offset(&self, column: usize) -> u32 {
        self.columns[column].offset
    }

    /// Bytes of a column at full capacity.
    pub(crate) fn column_bytes(&self, column: usize) -> u32 {
        self.capacity * self.columns[column].size
    }

    /// The end of the last column, rounded up to a line. The rest of the block is unused.
    pub(crate) fn end(&self) -> u32 {
        let ends = self.columns.iter().map(|c| c.offset + self.capacity * c.size);
        ends.max().unwrap_or(0).next_multiple_of(narrow(LINE_BYTES))
    }

    /// Exchanges the places of two columns of equal size and alignment.
    fn swap_columns(&mut self, a: usize, b: usize) {
        assert!(self.columns[a].size == self.columns[b].size, "the columns differ in size");
        self.columns.swap(a, b);
    }

    /// `rows` rounded up to whole vectors, at most the capacity.
    #[inline]
    pub(crate) fn padded(&self, rows: u32) -> u32 {
        padded_rows(rows, self.capacity)
    }
}

/// [`LINE_BYTES`] as `u32`, the type of offsets inside a block.
#[expect(clippy::cast_possible_truncation, reason = "a constant of two digits")]
const LINE: u32 = LINE_BYTES as u32;

/// Lines that a set of the first-level cache holds, at least.
const SET_LINES: usize = 8;

/// The distance in an extent by which a column with this offset starts later than others: a 16th of
/// the offset, in whole lines. Columns with greater offsets start no less later, so that columns do
/// not overlap.
const fn skew(offset: u32) -> u32 {
    offset / 16 / LINE * LINE
}

/// [`VECTOR_ROWS`] as `u32`, the type that counts rows inside a chunk.
#[expect(clippy::cast_possible_truncation, reason = "a constant of two digits")]
pub(super) const VECTOR: u32 = VECTOR_ROWS as u32;

/// `rows` rounded up to whole vectors, at most `capacity`.
#[inline]
pub(super) const fn padded_rows(rows: u32, capacity: u32) -> u32 {
    let whole = rows.next_multiple_of(VECTOR);
    if whole < capacity { whole } else { capacity }
}

/// Rows rounded down to whole vectors, if there is at least one.
const fn whole_vectors(rows: usize) -> usize {
    if rows < VECTOR_ROWS { rows } else { rows - rows % VECTOR_ROWS }
}

/// Calls `at` with the offset and the row size of each column in order, for `rows` rows, and
/// returns the end of the last column, rounded up to a line. A column without bytes has offset zero
/// and takes no space.
fn place_columns(rows: usize, columns: &[ColumnShape], mut at: impl FnMut(usize, usize)) -> usize {
    columns.iter().fold(0, |end, column| {
        if column.size == 0 {
            at(0, 0);
            return end;
        }
        let start = end.next_multiple_of(column.align.max(LINE_BYTES));
        at(start, column.size);
        (start + rows * column.size).next_multiple_of(LINE_BYTES)
    })
}

fn end_of_columns(rows: usize, columns: &[ColumnShape]) -> usize {
    place_columns(rows, columns, |_, _| ())
}

/// Converts a size inside a block: a block has at most 256 KiB.
fn narrow(n: usize) -> u32 {
    u32::try_from(n).expect("a length inside a block exceeds 32 bits")
}

/// The layouts of a list of chunks: a full-size chunk, and the smaller first block if the list has
/// one.
#[derive(Clone, Debug)]
pub(crate) struct ListLayout {
    columns: Box<[ColumnShape]>,
    chunk: ChunkLayout,
    first: Option<ChunkLayout>,
    /// Whether the run of every column ends on a line, so that the next chunk's may follow it.
    is_extensible: bool,
}

impl ListLayout {
    pub(crate) fn new(size: ChunkSize, columns: Vec<ColumnShape>) -> Result<Self, LayoutError> {
        // The error must not depend on the order of columns.
        let aligned = columns.iter().filter(|c| c.align > ALIGN_MAX);
        if let Some(c) = aligned.max_by_key(|c| (c.align, c.name)) {
            return Err(LayoutError::AlignTooLarge { component: c.name, align: c.align });
        }
        let too_wide = |row_bytes| LayoutError::RowTooWide {
            row_bytes,
            chunk_bytes: size.bytes(),
            widest: columns.iter().max_by_key(|c| (c.size, c.name)).map_or("", |c| c.name),
        };
        // Checked first: with no column larger than a chunk, no sum below can overflow.
        if columns.iter().any(|c| c.size > size.bytes()) {
            return Err(too_wide(columns.iter().fold(0, |sum, c| sum.saturating_add(c.size))));
        }
        let Some(mut chunk) = ChunkLayout::new(size.bytes(), &columns) else {
            return Err(too_wide(end_of_columns(1, &columns)));
        };
        let is_extensible = chunk.prepare_extents(&columns);
        let first = core::iter::successors(Some(FIRST_BLOCK_BYTES_MIN), |bytes| Some(bytes * 2))
            .take_while(|&bytes| bytes < size.bytes())
            .filter_map(|bytes| ChunkLayout::new(bytes, &columns))
            .find(|layout| layout.capacity as usize >= VECTOR_ROWS)
            .map(|layout| ChunkLayout { class: BlockClass::First, ..layout });
        let has_bytes = columns.iter().any(|c| c.size > 0);
        let first = first.filter(|_| has_bytes);
        Ok(Self { columns: columns.into(), chunk, first, is_extensible })
    }

    /// The layout of columns that lie in blocks in the order `order`, which has all their numbers.
    pub(crate) fn in_order(
        size: ChunkSize,
        columns: Vec<ColumnShape>,
        order: &[usize],
    ) -> Result<Self, LayoutError> {
        assert!(order.len() == columns.len(), "the order of columns lacks some");
        let mut layout = Self::new(size, order.iter().map(|&column| columns[column]).collect())?;
        for blocks in [Some(&mut layout.chunk), layout.first.as_mut()].into_iter().flatten() {
            let mut places = vec![None; order.len()];
            for (place, &column) in blocks.columns.iter().zip(order) {
                places[column] = Some(*place);
            }
            let place = |place: Option<Column>| place.expect("the order names a column twice");
            blocks.columns = places.into_iter().map(place).collect();
        }
        layout.columns = columns.into();
        Ok(layout)
    }

    pub(crate) fn columns(&self) -> &[ColumnShape] {
        &self.columns
    }

    /// The layout of a full-size chunk.
    pub(crate) const fn chunk(&self) -> &ChunkLayout {
        &self.chunk
    }

    /// The layout of the first block, which is replaced by a full-size chunk once it is full.
    pub(crate) const fn first(&self) -> Option<&ChunkLayout> {
        self.first.as_ref()
    }

    /// Whether chunks may lie in extents.
    pub(crate) const fn is_extensible(&self) -> bool {
        self.is_extensible
    }

    /// Bytes of one row in all columns.
    pub(crate) fn row_bytes(&self) -> usize {
        self.columns.iter().map(|c| c.size).sum()
    }

    /// Exchanges the places of two columns in blocks.
    ///
    /// # Panics
    ///
    /// If the columns differ in size, alignment or values.
    pub(in crate::storage) fn swap_columns(&mut self, a: usize, b: usize) {
        let shape = |column: usize| {
            let ColumnShape { size, align, values, .. } = self.columns[column];
            (size, align, values)
        };
        assert!(shape(a) == shape(b), "columns of different shapes are exchanged");
        self.chunk.swap_columns(a, b);
        if let Some(first) = &mut self.first {
            first.swap_columns(a, b);
        }
    }

    /// Whether blocks of the two lists have the same layout, for the same values. Tags make no
    /// difference.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.chunk.bytes == other.chunk.bytes && self.shapes().eq(other.shapes())
    }

    /// Whether blocks of the two lists have room for the same values in the same places, whatever
    /// the numbers of their columns are.
    pub(crate) fn has_places_of(&self, other: &Self) -> bool {
        let in_place = |layout: &Self| {
            let mut shapes: Vec<_> = layout.shapes().collect();
            shapes.sort_by_key(|&(.., offset)| offset);
            shapes
        };
        self.chunk.bytes == other.chunk.bytes
            && self.chunk.capacity == other.chunk.capacity
            && in_place(self) == in_place(other)
    }

    /// Everything besides the block's size that determines a layout, and the values in it. The
    /// order of offsets differs from the order of columns if some were exchanged.
    fn shapes(&self) -> impl Iterator<Item = (usize, usize, Values, u32)> {
        let columns = self.columns.iter().zip(self.chunk.columns());
        let with_bytes = columns.filter(|(shape, _)| shape.size > 0);
        with_bytes.map(|(shape, place)| (shape.size, shape.align, shape.values, place.offset))
    }

    /// Whether rows have any bytes. A list of tags owns no memory.
    pub(crate) fn has_bytes(&self) -> bool {
        self.columns.iter().any(|c| c.size > 0)
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
