//! What an archetype stores outside of its chunks, handed out together.

use crate::entity::Entity;
use crate::storage::{EnableBits, Stamps};

/// What an archetype has for its chunks and rows besides the columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BesideChunks<'w> {
    pub(crate) stamps: &'w Stamps,
    pub(crate) entities: &'w [Entity],
    pub(crate) bits: Option<&'w EnableBits>,
}
