//! The kinds of blocks, by the number of chunks that share memory.

/// The kinds of blocks by the memory they share: a first block, which is smaller than a chunk, a
/// chunk's own, or a chunk of an extent of 4, 16 or 64 chunks.
///
/// They are few, so that tables have the start of each column for each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockClass(u8);

impl BlockClass {
    pub(super) const FIRST: Self = Self(0);
    pub(super) const OWN: Self = Self(1);
    pub(super) const SMALLEST_EXTENT: Self = Self(2);
    /// Number of classes.
    pub(super) const LEN: usize = 5;
    /// The binary logarithm of the factor from one size of extents to the next.
    const STEP: u32 = 2;

    /// The class of the largest extent of at most `chunks` chunks.
    #[expect(clippy::cast_possible_truncation, reason = "a number of classes")]
    pub(super) const fn of_extent(chunks: usize) -> Self {
        let steps = if chunks == 0 { 0 } else { chunks.ilog2() / Self::STEP };
        let most = Self::LEN as u32 - 2;
        Self(Self::OWN.0 + if steps < most { steps } else { most } as u8)
    }

    /// Whether it is a first block.
    #[inline(always)]
    pub(super) const fn is_first(self) -> bool {
        self.0 == Self::FIRST.0
    }

    /// Chunks of the extent: one if the block is not in one.
    #[inline(always)]
    pub(super) const fn chunks(self) -> u32 {
        1 << (Self::STEP * (self.0 as u32).saturating_sub(1))
    }

    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// All classes.
    pub(super) const ALL: [Self; Self::LEN] = [Self(0), Self(1), Self(2), Self(3), Self(4)];
}
