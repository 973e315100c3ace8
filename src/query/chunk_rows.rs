//! What a chunk has for each row besides its columns: entities and enable bits.

use crate::entity::Entity;
use crate::storage::{EnableBits, EnabledRows};

/// The entities and the enable bits of a chunk's live rows. Either is looked at only if a term asks
/// for it.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRows<'w> {
    all: &'w [Entity],
    start: usize,
    len: usize,
    bits: Option<&'w EnableBits>,
    chunk: u32,
}

impl<'w> ChunkRows<'w> {
    /// The rows of a chunk, of which there are `len` from row `start` on of an archetype that has
    /// `all` entities.
    #[inline]
    pub(super) const fn new(
        all: &'w [Entity],
        (start, len): (usize, usize),
        (bits, chunk): (Option<&'w EnableBits>, u32),
    ) -> Self {
        Self { all, start, len, bits, chunk }
    }

    /// The rows of an archetype's only chunk, for terms that ask for no bits.
    #[inline]
    pub(super) const fn without_bits(all: &'w [Entity]) -> Self {
        Self::new(all, (0, all.len()), (None, 0))
    }

    #[inline]
    pub(super) fn entities(self) -> &'w [Entity] {
        &self.all[self.start..self.start + self.len]
    }

    /// Whether the component of a column is enabled in each row.
    ///
    /// # Panics
    ///
    /// If the column has no bits.
    pub(super) fn enabled(self, column: u16) -> EnabledRows<'w> {
        let array = self.bits.and_then(|bits| Some(bits.chunk(bits.array_of(column)?, self.chunk)));
        EnabledRows::of_chunk(array.expect("the component is not enableable"), self.len)
    }
}
