//! A list in a finder of cells, as one word.

/// The largest number of chunks in a finder.
pub(super) const CHUNKS_MAX: u32 = u32::MAX / 2;

/// The number of a list's first chunk, and the shift of its positions: one load.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListView(u64);

impl ListView {
    /// A list without rows of the component: no finder reaches this number of chunks.
    pub(super) const NONE: Self = Self::new(CHUNKS_MAX, 31);
    /// The same, for entities that are gone.
    pub(super) const GONE: Self = Self::new(CHUNKS_MAX, 30);

    pub(super) const fn new(first: u32, shift: u32) -> Self {
        Self(first as u64 | (shift as u64) << u32::BITS)
    }

    /// The number of the first chunk, if the list has rows of the component.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(super) fn first(self) -> Option<u32> {
        Some(self.0 as u32).filter(|&first| first < CHUNKS_MAX)
    }

    pub(super) const fn is_gone(self) -> bool {
        self.0 == Self::GONE.0
    }

    /// The number of the chunk that has a position, if the list has it. Otherwise the sum may wrap
    /// if addresses have 32 bits, and the number is arbitrary.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower and the upper half")]
    pub(super) const fn chunk(self, position: u32) -> usize {
        let number = position.wrapping_shr((self.0 >> u32::BITS) as u32);
        (self.0 as u32 as usize).wrapping_add(number as usize)
    }
}
