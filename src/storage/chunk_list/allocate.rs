//! Blocks for a list that grows: where its next chunk lies.
//!
//! While a list is short, its chunks have blocks of their own, so that rare archetypes pay for
//! nothing else. The longer it is, the larger are the [`extents`](crate::storage::extents) that are
//! allocated for it: up to a [`SHARE`] of its chunks, so that the part which is not used yet stays
//! small, or to as many chunks as it has, if a batch is said to fill them.

use crate::storage::block::Block;
use crate::storage::pool::Pool;

use super::ChunkList;

/// A new extent has at most this fraction of the list's chunks.
const SHARE: usize = 8;

impl ChunkList {
    /// Allocates a full-size chunk, if `expected` rows are about to be written: a spare one, the
    /// next of the last extent, one that is free in the list's extents, or the first of a new
    /// extent.
    pub(super) fn allocate_chunk(&mut self, expected: usize, pool: &mut Pool) -> Block {
        if let Some(block) = self.spare.pop() {
            return block;
        }
        self.allocate_after((self.blocks.last(), self.blocks.len()), expected, pool)
    }

    /// [`ChunkList::allocate_chunk`] without spare ones. `last` is the list's last block.
    /// `have` chunks were allocated so far.
    fn allocate_after(
        &self,
        (last, have): (Option<&Block>, usize),
        expected: usize,
        pool: &mut Pool,
    ) -> Block {
        let layout = self.layout.chunk();
        let expected = expected / layout.capacity() as usize;
        // An iterator may promise more rows than it has: no more are trusted than are here.
        let wanted = expected.min(have).max(self.blocks.len() / SHARE);
        let most = if self.layout.is_extensible() { pool.extent_chunks_max() } else { 1 };
        let chunks = u32::try_from(wanted).unwrap_or(u32::MAX).clamp(1, most);
        let extents = pool.extents();
        if let Some(block) = last.and_then(|last| extents.allocate_next(last)) {
            return block;
        }
        if let Some(block) = self.free_in_extents(|block| extents.allocate_free(block)) {
            return block;
        }
        match 1 << chunks.ilog2() {
            1 => pool.allocate(layout),
            chunks => extents.allocate(chunks),
        }
    }

    /// What `allocate` finds first in an extent that has chunks of this list.
    fn free_in_extents(&self, allocate: impl FnMut(&Block) -> Option<Block>) -> Option<Block> {
        let firsts = self.blocks.chunk_by(Block::shares_extent).filter_map(<[_]>::first);
        firsts.filter(|block| block.extent_chunks() > 1).find_map(allocate)
    }

    /// Allocates the blocks that `rows` more rows will need.
    pub(crate) fn reserve(&mut self, rows: usize, pool: &mut Pool) {
        if !self.layout.has_bytes() || rows == 0 {
            return;
        }
        let capacity = self.layout.chunk().capacity() as usize;
        let blocks = (self.len() + rows).div_ceil(capacity);
        // A small first block will be replaced by a full-size one.
        let full = if self.in_first_block { 0 } else { self.blocks.len() };
        let missing = blocks.saturating_sub(full);
        // One more: a batch that ends at the end of a chunk opens the next one.
        self.blocks.reserve(missing + 1);
        // The first spare block is the last one to be used.
        self.spare.reverse();
        while self.spare.len() < missing {
            let expected = (missing - self.spare.len()) * capacity;
            let last = self.spare.last().or(self.blocks.last());
            // A reservation is meant: it need not be earned by rows.
            let block = self.allocate_after((last, usize::MAX), expected, pool);
            self.spare.push(block);
        }
        self.spare.reverse();
    }
}
