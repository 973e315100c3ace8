//! The kind of change that a stamp records.

/// A kind of change: of the rows themselves, or of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StampKind(u32);

impl StampKind {
    /// Rows were added or removed.
    pub(crate) const ORDER: Self = Self(0);
    /// Rows were added: spawned here or moved here from another archetype.
    pub(crate) const ARRIVAL: Self = Self(1);
    pub(super) const COLUMNS_START: u32 = 2;

    /// A change of a column.
    #[inline]
    pub(crate) const fn column(column: u16) -> Self {
        Self(column as u32 + Self::COLUMNS_START)
    }

    /// The column, if it is a change of one.
    #[expect(clippy::cast_possible_truncation, reason = "there are 2^16 columns at most")]
    pub(crate) fn of_column(self) -> Option<u16> {
        self.0.checked_sub(Self::COLUMNS_START).map(|column| column as u16)
    }

    /// Kind number `index` of [`Stamps::kinds`](super::Stamps::kinds).
    #[expect(clippy::cast_possible_truncation, reason = "there are 2^16 columns at most")]
    pub(crate) const fn nth(index: usize) -> Self {
        Self(index as u32)
    }

    /// The place of the kind among the kinds.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}
