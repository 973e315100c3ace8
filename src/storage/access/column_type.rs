//! The type that each column has in all entries of a cache, checked once for a pass instead of for
//! each chunk.

use super::access_kind::AccessKind;
use super::borrow::Borrow;
use crate::component::{Component, Values};
use crate::line::LINE_BYTES;
use crate::storage::layout::ColumnShape;

/// The largest number of columns in an entry: twelve terms of twelve fields each, if all are of
/// split components.
pub(super) const COLUMNS_MAX: usize = 144;

/// The demands of a type on a column besides its size, as one byte: its alignment if that is more
/// than a line, and whether any bytes are a value.
///
/// Equal kinds of one size are equal types only if any bytes are a value; see [`Values`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ColumnKind(u8);

impl ColumnKind {
    /// No column.
    pub(super) const NONE: Self = Self(0);
    /// Data beside a column: the kind of no type, so that it is never sliced.
    pub(super) const BESIDE: Self = Self(1 << 7);
    const CHECKED: u8 = 1 << 6;

    /// The kind of the columns of `C`.
    #[inline(always)]
    pub(super) fn of<C: Component>() -> Self {
        Self::new(align_of::<C>(), Values::are_any::<C>())
    }

    /// The kind of a column of this shape.
    #[inline]
    pub(super) const fn of_shape(shape: &ColumnShape) -> Self {
        Self::new(shape.align, shape.values.is_any())
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "an alignment has less than 64 bits")]
    const fn new(align: usize, is_any: bool) -> Self {
        // Every column starts on a line, so that a smaller alignment makes no difference.
        let align = if align > LINE_BYTES { align } else { LINE_BYTES };
        Self(align.trailing_zeros() as u8 | if is_any { 0 } else { Self::CHECKED })
    }
}

/// The type of a column as one word: its size, its kind, and whether the column may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ColumnType(u32);

impl ColumnType {
    /// A column past the width of the cache.
    const OUT_OF_RANGE: Self = Self(0);
    /// A column that no entry has had so far.
    pub(super) const UNKNOWN: Self = Self(u32::MAX);
    /// A type that fits no chunk. It equals no column's type, because no column has an alignment of
    /// zero.
    const TOO_LARGE: Self = Self(1);
    const WRITE: u32 = 1;

    /// The type of a column of `C`.
    #[inline(always)]
    pub(super) fn of<C: Component>(access: AccessKind) -> Self {
        Self::new(size_of::<C>(), ColumnKind::of::<C>(), access)
    }

    /// The type of a column of this size and kind.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the size is checked above")]
    pub(super) const fn new(size: usize, ColumnKind(kind): ColumnKind, access: AccessKind) -> Self {
        if size >= (1 << 24) - 1 {
            return Self::TOO_LARGE;
        }
        // Not zero, because the kind is not; not all ones, because the size is smaller.
        Self(
            (size as u32) << 8
                | (kind as u32) << 1
                | if access.is_write() { Self::WRITE } else { 0 },
        )
    }

    pub(super) const fn reading(self) -> Self {
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
#[derive(Clone, Debug, PartialEq)]
#[repr(C)]
pub(super) struct ColumnTypes {
    values: [Values; COLUMNS_MAX],
    exclusive: [ColumnType; COLUMNS_MAX],
    shared: [ColumnType; COLUMNS_MAX],
    /// The number of columns. Last, beside the parts that each pass reads.
    width: usize,
}

impl Default for ColumnTypes {
    fn default() -> Self {
        Self::NONE
    }
}

impl ColumnTypes {
    /// The types of a cache without entries.
    pub(super) const NONE: Self = Self {
        values: [Values::ANY; _],
        exclusive: [ColumnType::OUT_OF_RANGE; _],
        shared: [ColumnType::OUT_OF_RANGE; _],
        width: 0,
    };

    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// The types for a pass that may write, or for one that only reads.
    #[inline]
    pub(super) const fn of(&self, borrow: Borrow) -> &[ColumnType; COLUMNS_MAX] {
        match borrow {
            Borrow::Exclusive => &self.exclusive,
            Borrow::Shared => &self.shared,
        }
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

    /// The values of a column.
    pub(super) const fn values(&self, index: usize) -> Values {
        self.values[index]
    }

    /// Records the type of a column that an entry has. An entry that lacks the column has no
    /// information about its type; the first entry that has it determines the type.
    #[inline]
    pub(super) fn record(&mut self, index: usize, column_type: ColumnType, values: Values) {
        let known = &mut self.exclusive[index];
        if *known == ColumnType::UNKNOWN {
            *known = column_type;
            self.shared[index] = column_type.reading();
            self.values[index] = values;
        }
        let is_known = *known == column_type && self.values[index] == values;
        assert!(is_known, "a column has different types in two entries");
    }
}
