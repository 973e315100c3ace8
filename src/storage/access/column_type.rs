//! What the rows of a table have in common, place by place: looked at once, not in each row.

use crate::line::LINE_BYTES;

use super::column_map::ColumnRef;
use crate::storage::chunk_list::ChunkList;

/// Columns of a row, at most: the terms of a query.
pub(super) const COLUMNS_MAX: usize = 12;

/// What every row's column of one place has in common, as one word: the size of its type, its
/// alignment where that is more than a line, and whether the column may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ColumnType(u32);

impl ColumnType {
    /// Of the places behind the last.
    pub(super) const NOWHERE: Self = Self(0);
    /// Of a column that no row has had so far.
    const UNKNOWN: Self = Self(u32::MAX);
    /// Of a type that fits no chunk: no column has an alignment of zero.
    const NEVER: Self = Self(1);
    const WRITE: u32 = 1;

    #[expect(clippy::cast_possible_truncation, reason = "the size is looked at")]
    const fn new(size: usize, align: usize, write: bool) -> Self {
        // Every column starts on a line, so that a lesser alignment makes no difference.
        let align = if align > LINE_BYTES { align } else { LINE_BYTES };
        if size >= (1 << 24) - 1 {
            return Self::NEVER;
        }
        // Not zero, because the alignment is not; not all ones, because the size is less.
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
    /// If a column of this shape was asked for as something else.
    #[cold]
    pub(super) fn assert_unknown(self) {
        assert!(self != Self::NOWHERE, "a table row has a column for every term");
        assert!(
            self == Self::UNKNOWN,
            "a column of this size and alignment, and to be written if it is"
        );
    }
}

/// The shapes of all places: for a walk that may write, and for one that only reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ColumnTypes {
    width: usize,
    exclusive: [ColumnType; COLUMNS_MAX],
    shared: [ColumnType; COLUMNS_MAX],
}

impl ColumnTypes {
    /// Of a table without rows.
    pub(super) const NONE: Self =
        Self { width: 0, exclusive: [ColumnType::NOWHERE; _], shared: [ColumnType::NOWHERE; _] };

    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// Those of a walk that may write, or of one that only reads.
    #[inline]
    pub(super) const fn of(&self, exclusive: bool) -> &[ColumnType; COLUMNS_MAX] {
        if exclusive { &self.exclusive } else { &self.shared }
    }

    pub(super) fn learn_width(&mut self, width: usize, is_first: bool) {
        assert!(width <= COLUMNS_MAX, "a row has at most {COLUMNS_MAX} columns");
        if is_first {
            self.width = width;
            self.exclusive[..width].fill(ColumnType::UNKNOWN);
            self.shared[..width].fill(ColumnType::UNKNOWN);
        }
        assert!(self.width == width, "a row has the table's width");
    }

    /// The size of a column that this row lacks is not known from it: the first that has it tells.
    pub(super) fn learn(&mut self, place: usize, column: &ColumnRef, list: &ChunkList) {
        let Some(number) = column.column() else { return };
        let shape = list.columns()[usize::from(number)];
        let shape = ColumnType::new(shape.size, shape.align, column.written().is_some());
        let known = &mut self.exclusive[place];
        if *known == ColumnType::UNKNOWN {
            *known = shape;
            self.shared[place] = shape.reading();
        }
        assert!(self.exclusive[place] == shape, "columns of one type");
    }
}
