//! A row's place in its list, packed for the directory and taken apart for access.

/// A row of a list: its chunk's number above, its row in the chunk below.
///
/// The split is at the list's [`ChunkList::shift`](super::ChunkList::shift) bit, so that an entity's
/// place takes four bytes in the directory and is taken apart by a shift, not a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowIndex(pub(crate) u32);

/// A [`RowIndex`], taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRow {
    pub(crate) chunk: u32,
    pub(crate) row: u32,
}
