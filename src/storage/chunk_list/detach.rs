//! Whole chunks that move between lists: blocks change owner, and no row is copied.

use std::collections::VecDeque;

use super::ChunkList;
use super::blocks::FreeBlock;
use crate::storage::block::Block;
use crate::storage::chunk_set::{ChunkMove, ChunkSet};
use crate::storage::pool::{NewSlabs, Pool};

/// Chunks that belong to no list; all but the last are full. They were detached from one list to be
/// attached to another or freed. If they are dropped, their blocks stay allocated until the pool is
/// dropped.
#[derive(Debug)]
#[must_use = "attach the chunks to a list or free them"]
pub(crate) struct DetachedChunks {
    /// The key of the list they were detached from.
    key: u64,
    /// One per chunk, or none at all if rows have no bytes.
    blocks: VecDeque<FreeBlock>,
    chunk_len: u32,
    /// Rows of a full chunk.
    capacity: u32,
    /// Rows in the last chunk. Zero only if these are no chunks.
    tail: u32,
    in_first_block: bool,
}

impl DetachedChunks {
    /// Number of chunks.
    pub(crate) const fn chunk_len(&self) -> u32 {
        self.chunk_len
    }

    /// The key of the list they were detached from.
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    /// Rows of a chunk, numbered within these.
    pub(crate) const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunk_len { self.tail } else { self.capacity }
    }

    /// Rows of a full chunk.
    pub(in crate::storage) const fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(crate) const fn in_first_block(&self) -> bool {
        self.in_first_block
    }

    /// The block of a chunk. `None` if rows have no bytes.
    pub(in crate::storage) fn block(&self, chunk: u32) -> Option<&Block> {
        Some(self.blocks.get(chunk as usize)?.block())
    }
}

impl ChunkList {
    /// Rows that still fit in the last chunk, where a small first block counts as a full-size
    /// chunk.
    pub(crate) const fn room_in_last(&self) -> u32 {
        if self.chunk_len == 0 { 0 } else { self.chunk_capacity() - self.tail }
    }

    /// Moves the rows of a small first block into a full-size chunk.
    pub(crate) fn leave_first_block(&mut self, pool: &mut Pool) {
        if self.in_first_block() {
            self.grow_first(0, pool);
        }
    }

    /// # Panics
    ///
    /// If positions could not number the chunks of the list with `rows` more rows.
    pub(crate) fn assert_room_for(&self, rows: usize) {
        self.assert_numbered(self.chunks_with(rows));
    }

    /// Whether positions can number the chunks of the list with `rows` more rows.
    pub(crate) fn has_room_for(&self, rows: usize) -> bool {
        self.is_numbered(self.chunks_with(rows))
    }

    /// The highest number that a chunk may have with `rows` more rows. One more than it seems,
    /// because two partly filled last chunks may leave one partly filled.
    fn chunks_with(&self, rows: usize) -> u32 {
        let chunks = (self.len() + rows).div_ceil(self.chunk_capacity() as usize);
        u32::try_from(chunks).unwrap_or(u32::MAX)
    }

    /// Gives the blocks the numbers that their slabs have in another pool. No block is spare.
    pub(crate) fn renumber(&mut self, slabs: &NewSlabs) {
        assert!(self.spare.is_empty(), "a spare block was not freed");
        self.blocks.renumber(slabs);
    }

    /// Detaches chunks from the list, in their order. Other chunks move into the gaps, so that all
    /// but the last stay full. Returns these moves as well.
    ///
    /// # Panics
    ///
    /// If the numbers do not ascend or a chunk does not exist.
    pub(crate) fn detach(&mut self, which: &ChunkSet) -> (DetachedChunks, Vec<ChunkMove>) {
        let chunk_len = self.chunk_len;
        which.assert_ascends(chunk_len);
        let chunk_moves = which.chunk_moves(chunk_len);
        let taken = which.len(chunk_len);
        let takes_tail = which.has_last(chunk_len);
        let tail = match (taken, takes_tail) {
            (0, _) => 0,
            (_, true) => self.tail,
            (_, false) => self.capacity(),
        };
        self.gaps_from = 0;
        let in_first_block = self.in_first_block() && taken > 0;
        let (key, capacity) = (self.key, self.capacity());
        let blocks = self.blocks.detach(which.iter(chunk_len), &chunk_moves);
        let detached =
            DetachedChunks { key, blocks, chunk_len: taken, capacity, tail, in_first_block };
        let chunk_len = chunk_len - taken;
        let tail = match (chunk_len, takes_tail) {
            (0, _) => 0,
            (_, true) => self.capacity(),
            (_, false) => self.tail,
        };
        self.end_at(chunk_len, tail);
        (detached, chunk_moves)
    }

    /// Attaches chunks that were detached from `source`, after this list's full chunks. A partly
    /// filled last chunk stays the last.
    ///
    /// # Panics
    ///
    /// If the lists differ in their columns with bytes, the last chunks of both are partly filled,
    /// one of them has a small first block and the other has rows, or this list has a block without
    /// rows.
    pub(crate) fn attach(&mut self, detached: &mut DetachedChunks, source: &Self) {
        // Blocks are initialised in the columns of the list they come from.
        assert!(
            detached.key == source.key,
            "the chunks were detached from another list than the source"
        );
        let is_alike = self.layouts().has_places_of(source.layouts());
        assert!(is_alike, "the lists have different layouts");
        if detached.chunk_len == 0 {
            return;
        }
        assert!(
            self.chunk_len == 0 || !(self.in_first_block() || detached.in_first_block),
            "a small first block is not the only block"
        );
        let blocks = if self.layouts().has_bytes() { self.chunk_len as usize } else { 0 };
        assert!(self.blocks.len() == blocks, "a block without rows was not freed");
        let is_open = self.chunk_len > 0 && self.tail < self.capacity();
        assert!(
            !is_open || detached.tail == self.capacity(),
            "the last chunks of both lists are partly filled"
        );
        let partial = if is_open { self.blocks.pop() } else { None };
        self.gaps_from = 0;
        self.blocks.attach(&mut detached.blocks, &source.blocks);
        if let Some(partial) = partial {
            self.blocks.push(partial);
        }
        let tail = if is_open { self.tail } else { detached.tail };
        self.end_at(self.chunk_len + detached.chunk_len, tail);
        detached.chunk_len = 0;
    }

    /// Frees the first of some chunks that were detached from this list.
    pub(crate) fn free_first_chunk(&self, detached: &mut DetachedChunks, pool: &mut Pool) {
        assert!(
            detached.key == self.key && detached.chunk_len > 0,
            "the list has no such detached chunk"
        );
        detached.chunk_len -= 1;
        if let Some(block) = detached.blocks.pop_front() {
            self.blocks.free(block, pool);
        }
    }

    /// Removes the last `rows` rows of chunks that were detached from this list. Their cells have
    /// been copied elsewhere.
    pub(crate) fn shorten(&self, detached: &mut DetachedChunks, rows: u32, pool: &mut Pool) {
        assert!(
            detached.key == self.key && !detached.in_first_block,
            "the chunks were detached from another list"
        );
        assert!(detached.chunk_len > 0, "there is no detached chunk");
        assert!(
            rows <= detached.tail,
            "{rows} rows are removed from a chunk that has {}",
            detached.tail
        );
        detached.tail -= rows;
        if detached.tail == 0 {
            detached.chunk_len -= 1;
            detached.tail = if detached.chunk_len == 0 { 0 } else { self.chunk_capacity() };
            if let Some(block) = detached.blocks.pop_back() {
                self.blocks.free(block, pool);
            }
        }
    }
}
