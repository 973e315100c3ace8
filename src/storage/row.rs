//! The position of a row in its list: packed in the directory, split for access.

/// The position of a row in its list: the chunk's number in the high bits, the row's number in the
/// chunk in the low bits.
///
/// The list's [`ChunkList::shift`](super::ChunkList::shift) separates the two, so that a position
/// takes four bytes in the directory and is split by a shift instead of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowIndex(pub(crate) u32);

/// A [`RowIndex`], split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRow {
    pub(crate) chunk: u32,
    pub(crate) row: u32,
}
