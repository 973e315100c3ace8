//! The rows of a chunk in a finder of cells, as one word.

/// The positions of a chunk's rows as a half-open range: one load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(u64);

impl Span {
    pub(super) const fn new(begin: u32, end: u32) -> Self {
        Self(begin as u64 | (end as u64) << u32::BITS)
    }

    /// The first position.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(super) const fn begin(self) -> u32 {
        self.0 as u32
    }

    /// The number of rows.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub(super) const fn len(self) -> u32 {
        ((self.0 >> u32::BITS) as u32).wrapping_sub(self.0 as u32)
    }

    /// The position of the chunk's row with this number, if it has one.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub(super) const fn position(self, row: u32) -> Option<u32> {
        let (begin, end) = (self.0 as u32, (self.0 >> u32::BITS) as u32);
        if row < end.wrapping_sub(begin) { Some(begin.wrapping_add(row)) } else { None }
    }

    #[inline]
    pub(super) const fn ends_before(self, position: u32) -> bool {
        (self.0 >> u32::BITS) <= position as u64
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(super) const fn starts_after(self, position: u32) -> bool {
        (self.0 as u32) > position
    }
}
