//! The positions of values that a pass knows before it looks them up.

use crate::storage::FewRows;

/// The positions of the values of a list of rows in one set.
#[derive(Clone, Debug)]
pub struct KnownPositions {
    /// The number of the set in the world.
    number: u16,
    positions: [u32; FewRows::ROWS_MAX],
}

impl KnownPositions {
    /// No positions in a set.
    #[inline(always)]
    pub(super) const fn none_of(number: u16) -> Self {
        Self { number, positions: [u32::MAX; FewRows::ROWS_MAX] }
    }

    /// The positions, to be set.
    #[inline(always)]
    pub(super) const fn all_mut(&mut self) -> &mut [u32; FewRows::ROWS_MAX] {
        &mut self.positions
    }

    /// The positions, if they are those of the set with this number.
    #[inline(always)]
    pub(super) fn of(&self, number: u16) -> Option<&[u32; FewRows::ROWS_MAX]> {
        (self.number == number).then_some(&self.positions)
    }
}
