//! What an archetype stores outside of its chunks, handed out together.

use crate::entity::Entity;
use crate::storage::{ChunkValues, EnableBits, Stamps, ValueCell};

/// What an archetype has for its chunks and rows besides the columns.
#[derive(Clone, Copy, Debug)]
pub struct BesideChunks<'w> {
    pub(crate) stamps: &'w Stamps,
    pub(crate) entities: &'w [Entity],
    pub(crate) bits: Option<&'w EnableBits>,
    pub(crate) values: Option<&'w ChunkValues>,
}

impl<'w> BesideChunks<'w> {
    /// The value of a chunk in a column.
    ///
    /// # Panics
    ///
    /// If the column has no values, or there is no such chunk.
    #[inline]
    pub(crate) fn value(self, column: u16, chunk: u32) -> ValueCell<'w> {
        self.values.expect("no column has a value per chunk").cell(column, chunk)
    }
}
