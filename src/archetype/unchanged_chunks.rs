//! The rule for unchanged data of a chunk.
//!
//! The clock of a world never goes back, so no version is used twice (a state that was read gets
//! new versions when it is restored). So a stamp identifies the contents of a column of a chunk: if
//! two states have the same list of chunks, the same stamp of the order and the same stamp of the
//! column, the bytes are the same. Entities are identified by the stamp of the order alone.
//!
//! Updates and restores of images, deltas and cached hashes copy or read only data that this rule
//! does not exclude.

use crate::storage::{ChunkList, StampKind, Stamps};

/// The stamps of a list of chunks, now or in the past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkVersions<'a> {
    /// The key of the list, which no other list has, and whether its chunk is a first block.
    pub(super) list: (u64, bool),
    pub(super) chunk_len: usize,
    pub(super) stamps: StampWords<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum StampWords<'a> {
    Live(&'a Stamps),
    /// The words that [`Stamps::save`] writes.
    Saved(&'a [u64]),
}

impl<'a> ChunkVersions<'a> {
    /// The stamps of the present chunks of a list.
    #[inline]
    pub(crate) const fn live(list: &ChunkList, stamps: &'a Stamps) -> Self {
        let chunk_len = stamps.chunk_len();
        let list = (list.key(), list.in_first_block());
        Self { list, chunk_len, stamps: StampWords::Live(stamps) }
    }

    #[inline(always)]
    fn stamp(self, kind: StampKind, chunk: usize) -> u64 {
        match self.stamps {
            StampWords::Live(stamps) => stamps.saved(kind, chunk),
            StampWords::Saved(words) => words[kind.index() * self.chunk_len + chunk],
        }
    }

    /// Identifies the rows of a chunk and the data of a kind in them, among all states of the list.
    #[inline]
    pub(crate) fn identity(self, kind: StampKind, chunk: usize) -> [u64; 2] {
        [self.stamp(StampKind::ORDER, chunk), self.stamp(kind, chunk)]
    }

    /// Whether the rows of a chunk and the data of a kind are the same as in an older state.
    #[inline(always)]
    pub(crate) fn is_unchanged(self, older: Self, kind: StampKind, chunk: usize) -> bool {
        let is_same = |kind| self.stamp(kind, chunk) == older.stamp(kind, chunk);
        let known = self.chunk_len.min(older.chunk_len);
        chunk < known && self.list == older.list && is_same(StampKind::ORDER) && is_same(kind)
    }
}
