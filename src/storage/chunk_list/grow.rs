//! Blocks for a list that grows: the place of its next chunk.
//!
//! While a list is short, its chunks have blocks of their own, so that rare archetypes pay for no
//! unused memory. The longer it is, the larger are the [`extents`](crate::storage::extents) that
//! are [allocated](BlockClass::for_growth) for it: of four chunks from the fifth chunk on, of more
//! up to an eighth of its chunks, so that the unused part stays small, or the number of chunks that
//! a batch promises to fill.

use crate::storage::block::Block;
use crate::storage::block_class::BlockClass;
use crate::storage::pool::Pool;

use super::ChunkList;
use super::blocks::FreeBlock;

/// Bytes that a batch gets for the rows that it promises, however few the list has.
const PROMISE_BYTES: usize = 1 << 20;

impl ChunkList {
    /// Allocates a full-size chunk, if `expected` rows are about to be written: a spare one, the
    /// next of the last extent, one that is free in the list's extents, or the first of a new
    /// extent.
    pub(super) fn allocate_chunk(&mut self, expected: usize, pool: &mut Pool) -> FreeBlock {
        if let Some(block) = self.spare.pop() {
            return block;
        }
        // An iterator may promise more rows than it has: the new memory is at most the list's
        // memory, or `PROMISE_BYTES` if the promise is finite and this is more.
        let chunk = self.layouts().chunk();
        let is_endless = u32::try_from(expected).map_or(true, |rows| rows == u32::MAX);
        let least = if is_endless { 0 } else { PROMISE_BYTES / chunk.bytes() as usize };
        let trusted = self.blocks.len().max(least);
        let expected = expected.div_ceil(chunk.capacity() as usize).min(trusted);
        let next = self.allocate_after_last(pool);
        next.unwrap_or_else(|| self.allocate_elsewhere(expected, pool))
    }

    /// Allocates a chunk that does not follow the last one, if `expected` chunks are about to be
    /// filled.
    fn allocate_elsewhere(&mut self, expected: usize, pool: &mut Pool) -> FreeBlock {
        if let Some(block) = self.allocate_gap(pool) {
            return block;
        }
        let most =
            if self.layouts().is_extensible() { pool.extent_chunks_max() as usize } else { 1 };
        self.blocks.allocate(BlockClass::for_growth(self.blocks.len(), expected, most), pool)
    }

    /// Allocates the chunk after the last one in its extent, if it exists and is free.
    fn allocate_after_last(&self, pool: &mut Pool) -> Option<FreeBlock> {
        self.blocks.allocate_next(self.blocks.len().checked_sub(1)?, pool)
    }

    /// Allocates a chunk that is free in an extent which has chunks of this list.
    fn allocate_gap(&mut self, pool: &mut Pool) -> Option<FreeBlock> {
        let first = self.gaps_from as usize;
        let (rest, mut chunk) = (self.blocks.as_slice().get(first..)?, first);
        for neighbours in rest.chunk_by(Block::shares_extent) {
            if neighbours[0].extent_chunks() > 1
                && let Some(block) = self.blocks.allocate_free(chunk, pool)
            {
                self.gaps_from = u32::try_from(chunk).expect("a list has 2^32 chunks or more");
                return Some(block);
            }
            chunk += neighbours.len();
        }
        self.gaps_from = u32::MAX;
        None
    }

    /// Allocates the blocks that `rows` more rows will need.
    pub(crate) fn reserve(&mut self, rows: usize, pool: &mut Pool) {
        if !self.layouts().has_bytes() || rows == 0 {
            return;
        }
        let capacity = self.layouts().chunk().capacity() as usize;
        let blocks = (self.len() + rows).div_ceil(capacity);
        // A small first block will be replaced by a full-size one.
        let full = if self.in_first_block() { 0 } else { self.blocks.len() };
        let missing = blocks.saturating_sub(full);
        // One more: a batch that ends at the end of a chunk opens the next one.
        self.blocks.reserve(missing + 1);
        // The first spare block is the last one to be used.
        self.spare.reverse();
        while self.spare.len() < missing {
            let next = match self.spare.last() {
                Some(last) => last.allocate_next(pool),
                None => self.allocate_after_last(pool),
            };
            let expected = missing - self.spare.len();
            let block = next.unwrap_or_else(|| self.allocate_elsewhere(expected, pool));
            self.spare.push(block);
        }
        self.spare.reverse();
    }
}
