//! The place of an index in a page that exists.

/// The mark of an index without a number.
pub(super) const NONE: u32 = u32::MAX;

/// The place of an index in a page that exists, beside the count of the page's numbers.
///
/// The owner of an index tests all that a change needs before the first write. A change that calls
/// no function after that keeps its values in registers.
#[derive(Debug)]
pub(crate) struct IndexPlace<'i> {
    pub(super) number: &'i mut u32,
    /// The number of numbers in the page.
    pub(super) used: &'i mut u16,
}

impl IndexPlace<'_> {
    /// The number. An index without one has `u32::MAX`.
    #[inline(always)]
    pub(crate) const fn number(&self) -> u32 {
        *self.number
    }

    /// Whether the index has no number.
    #[inline(always)]
    pub(crate) const fn is_vacant(&self) -> bool {
        *self.number == NONE
    }

    /// Whether the page has one number: it is spare when that is taken.
    #[inline(always)]
    pub(crate) const fn is_last(&self) -> bool {
        *self.used == 1
    }

    /// Gives the index, which has none, a number less than `u32::MAX`.
    #[inline(always)]
    pub(crate) const fn fill(self, number: u32) {
        *self.number = number;
        *self.used += 1;
    }

    /// Takes the number, which the index must have. Its page must be listed as spare if it was the
    /// last one.
    #[inline(always)]
    pub(crate) const fn empty(self) {
        *self.number = NONE;
        *self.used -= 1;
    }
}
