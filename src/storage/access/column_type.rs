//! The type that each column has in all entries of a cache, checked once for a pass instead of for
//! each chunk.

use crate::line::LINE_BYTES;

use super::column_map::ColumnRef;
use crate::storage::chunk_list::ChunkList;

/// The largest number of columns in an entry: the terms of a query.
pub(super) const COLUMNS_MAX: usize = 12;

/// The type of a column as one word: its size, its alignment if that is more than a line, and
/// whether the column may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ColumnType(u32);

impl ColumnType {
    /// A column past the width of the cache.
    const OUT_OF_RANGE: Self = Self(0);
    /// A column that no entry has had so far.
    const UNKNOWN: Self = Self(u32::MAX);
    /// A type that fits no chunk. It equals no column's type, because no column has an alignment of
    /// zero.
    const TOO_LARGE: Self = Self(1);
    const WRITE: u32 = 1;

    #[expect(clippy::cast_possible_truncation, reason = "the size is checked above")]
    const fn new(size: usize, align: usize, write: bool) -> Self {
        // Every column starts on a line, so that a smaller alignment makes no difference.
        let align = if align > LINE_BYTES { align } else { LINE_BYTES };
        if size >= (1 << 24) - 1 {
            return Self::TOO_LARGE;
        }
        // Not zero, because the alignment is not; not all ones, because the size is smaller.
        Self((size as u32) << 8 | align.trailing_zeros() << 1 | if write { Self::WRITE } else { 0 })
    }

    pub(super) const fn of<C>(write: bool) -> Self {
        Self::new(size_of::<C>(), align_of::<C>(), write)
    }

    const fn reading(self) -> Self {
        Self(self.0 & !Self::WRITE)
    }

    /// # Panics
    ///
    /// Unless the type of the column is unknown because every entry lacks it.
    #[cold]
    pub(super) fn assert_unknown(self) {
        assert!(self != Self::OUT_OF_RANGE, "the entry has no column left");
        assert!(
            self == Self::UNKNOWN,
            "the column has another size or alignment, or is borrowed for reading only"
        );
    }
}

/// The types of all columns: for a pass that may write, and for one that only reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ColumnTypes {
    width: usize,
    exclusive: [ColumnType; COLUMNS_MAX],
    shared: [ColumnType; COLUMNS_MAX],
}

impl ColumnTypes {
    /// The types of a cache without entries.
    pub(super) const NONE: Self = Self {
        width: 0,
        exclusive: [ColumnType::OUT_OF_RANGE; _],
        shared: [ColumnType::OUT_OF_RANGE; _],
    };

    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// The types for a pass that may write, or for one that only reads.
    #[inline]
    pub(super) const fn of(&self, exclusive: bool) -> &[ColumnType; COLUMNS_MAX] {
        if exclusive { &self.exclusive } else { &self.shared }
    }

    pub(super) fn record_width(&mut self, width: usize, is_first: bool) {
        assert!(width <= COLUMNS_MAX, "an entry has more than {COLUMNS_MAX} columns");
        if is_first {
            self.width = width;
            self.exclusive[..width].fill(ColumnType::UNKNOWN);
            self.shared[..width].fill(ColumnType::UNKNOWN);
        }
        assert!(self.width == width, "the entry has another width than the cache");
    }

    /// Records the type of a column. An entry that lacks the column has no information about its
    /// type; the first entry that has it determines the type.
    pub(super) fn record(&mut self, index: usize, column: &ColumnRef, list: &ChunkList) {
        let Some(number) = column.column() else { return };
        let shape = list.columns()[usize::from(number)];
        let column_type = ColumnType::new(shape.size, shape.align, column.written().is_some());
        let known = &mut self.exclusive[index];
        if *known == ColumnType::UNKNOWN {
            *known = column_type;
            self.shared[index] = column_type.reading();
        }
        assert!(
            self.exclusive[index] == column_type,
            "a column has different types in two entries"
        );
    }
}
