//! The kinds of blocks, by the number of chunks that share memory, and the choice of an extent's
//! size.

/// The kinds of blocks by the memory they share: a first block, which is smaller than a chunk, a
/// chunk's own, or a chunk of an extent of 4, 16 or 64 chunks.
///
/// They are few, so that tables have the start of each column for each class. The compiler knows
/// their number, so a look-up in such a table has no bounds to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum BlockClass {
    First,
    Own,
    Extent4,
    Extent16,
    Extent64,
}

impl BlockClass {
    /// All classes.
    pub(super) const ALL: [Self; 5] =
        [Self::First, Self::Own, Self::Extent4, Self::Extent16, Self::Extent64];
    pub(super) const SMALLEST_EXTENT: Self = Self::Extent4;
    /// Number of classes.
    pub(super) const LEN: usize = Self::ALL.len();
    /// A new extent has at most this fraction of the list's chunks, if it is not the smallest.
    const SHARE: usize = 8;
    /// The binary logarithm of the factor from one size of extents to the next.
    const STEP: u32 = 2;

    /// The class of the largest extent of at most `chunks` chunks.
    pub(super) const fn of_extent(chunks: usize) -> Self {
        match chunks {
            0..4 => Self::Own,
            4..16 => Self::Extent4,
            16..64 => Self::Extent16,
            64.. => Self::Extent64,
        }
    }

    /// The chunks from which on a list that grows row by row has extents of `chunks` chunks. A list
    /// as long as the smallest extent may have one that is mostly unused: a pass over some ten
    /// chunks each of its own begins as many streams in each column.
    pub(super) const fn grown_from(chunks: usize) -> usize {
        match chunks <= Self::SMALLEST_EXTENT.chunks() as usize {
            true => chunks,
            false => chunks * Self::SHARE,
        }
    }

    /// The class of the next chunk of a list with `chunks` chunks, if `expected` chunks are about
    /// to be filled and an extent has at most `chunks_max`. The expected chunks may leave a share
    /// of the extent unused.
    pub(super) fn for_growth(chunks: usize, expected: usize, chunks_max: usize) -> Self {
        let smallest = Self::SMALLEST_EXTENT.chunks() as usize;
        let grown = if chunks < smallest { 0 } else { smallest.max(chunks / Self::SHARE) };
        let rounded_up = expected + expected / (Self::SHARE - 1);
        Self::of_extent(rounded_up.max(grown).min(chunks_max))
    }

    /// Whether it is a first block.
    #[inline(always)]
    pub(super) const fn is_first(self) -> bool {
        matches!(self, Self::First)
    }

    /// Chunks of the extent: one if the block is not in one.
    #[inline(always)]
    pub(super) const fn chunks(self) -> u32 {
        1 << (Self::STEP * (self as u32).saturating_sub(1))
    }

    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}
