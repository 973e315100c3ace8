//! A row's place in a list, split for access.

/// A [`RowIndex`](crate::entity::RowIndex), split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRow {
    pub(crate) chunk: u32,
    pub(crate) row: u32,
}
