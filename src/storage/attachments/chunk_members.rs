//! The rows of a chunk whose entities have a sparse component.

use super::enable_bits::ChunkBits;

/// The members of a sparse component in a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkMembers<'w> {
    /// Set where the row is a member.
    bits: ChunkBits<'w>,
}

impl<'w> ChunkMembers<'w> {
    pub(super) const fn new(bits: ChunkBits<'w>) -> Self {
        Self { bits }
    }

    /// Whether a row is a member.
    #[inline]
    pub(crate) fn has(self, row: u32) -> bool {
        !self.bits.is_enabled(row)
    }

    /// The 64 rows from a row on, a bit each: set where the row is a member. Rows that do not exist
    /// are not.
    #[inline]
    pub(crate) fn word_from(self, row: u32) -> u64 {
        !self.bits.enabled_from(row)
    }
}
