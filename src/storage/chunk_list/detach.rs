//! Whole chunks that leave a list or come to it: blocks change owner, and no row is copied.

use std::collections::VecDeque;

use super::ChunkList;
use crate::storage::chunk_set::{ChunkMove, ChunkSet};
use crate::storage::slab::{Block, Pool};

/// Chunks that belong to no list: all full but the last. They came from one and go to another, or
/// back to the pool; dropped, their memory would be the pool's but never lent again.
#[derive(Debug)]
#[must_use = "blocks go to a list or back to the pool"]
pub(crate) struct DetachedChunks {
    /// The list that they were taken from.
    key: u64,
    /// One a chunk, or none at all if rows have no bytes.
    blocks: VecDeque<Block>,
    chunks: u32,
    /// Rows of a chunk that is full.
    capacity: u32,
    /// Rows in the last chunk; zero only if there is no chunk.
    tail: u32,
    small: bool,
}

impl DetachedChunks {
    /// How many they are.
    pub(crate) const fn count(&self) -> u32 {
        self.chunks
    }

    /// The list that they were taken from.
    pub(crate) const fn key(&self) -> u64 {
        self.key
    }

    /// Rows of a chunk, counted among these.
    pub(crate) const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunks { self.tail } else { self.capacity }
    }

    pub(crate) const fn is_small(&self) -> bool {
        self.small
    }

    /// The block of a chunk; none if rows have no bytes.
    pub(in super::super) fn block(&self, chunk: u32) -> Option<&Block> {
        self.blocks.get(chunk as usize)
    }
}

impl ChunkList {
    /// Rows that the last chunk has room for: a small block as many as when it is a chunk.
    pub(crate) const fn room_in_last(&self) -> u32 {
        if self.chunks == 0 { 0 } else { self.chunk_capacity() - self.tail }
    }

    /// Makes a small first block a chunk.
    pub(crate) fn widen(&mut self, pool: &mut Pool) {
        if self.small {
            self.grow_first(pool);
        }
    }

    /// # Panics
    ///
    /// If the list would have more chunks than positions can number with `rows` more rows.
    pub(crate) fn assert_room_for(&self, rows: usize) {
        let chunks = (self.len() + rows).div_ceil(self.chunk_capacity() as usize);
        // One more: a chunk may be left partly filled where two tails meet.
        self.assert_numbered(u32::try_from(chunks).unwrap_or(u32::MAX));
    }

    /// Takes chunks out of the list, in their order. Others move into the holes, so that all chunks
    /// but the last stay full: which, is returned as well.
    ///
    /// # Panics
    ///
    /// If the numbers do not ascend, or there is no such chunk.
    pub(crate) fn take_chunks(&mut self, which: &ChunkSet) -> (DetachedChunks, Vec<ChunkMove>) {
        let count = self.chunks;
        which.assert_ascends(count);
        let relocations = which.relocations(count);
        let taken = which.len(count);
        let takes_tail = which.has_last(count);
        let tail = match (taken, takes_tail) {
            (0, _) => 0,
            (_, true) => self.tail,
            (_, false) => self.capacity,
        };
        let mut slots: Vec<_> = core::mem::take(&mut self.blocks).into_iter().map(Some).collect();
        let mut blocks = VecDeque::new();
        if !slots.is_empty() {
            let take = |chunk| slots[chunk as usize].take().expect("each chunk is taken once");
            blocks = which.iter(count).map(take).collect();
            for &ChunkMove { from, to } in &relocations {
                slots[to as usize] = slots[from as usize].take();
            }
        }
        self.blocks = slots.into_iter().flatten().collect();
        let small = self.small && taken > 0;
        let (key, capacity) = (self.key, self.capacity);
        let loose = DetachedChunks { key, blocks, chunks: taken, capacity, tail, small };
        self.chunks -= taken;
        if self.chunks == 0 {
            self.tail = 0;
            self.small = false;
            self.capacity = self.chunk_capacity();
        } else if takes_tail {
            self.tail = self.capacity;
        }
        (loose, relocations)
    }

    /// Makes chunks that `source` had this list's, behind its full ones: a last chunk that is partly
    /// filled becomes the last again.
    ///
    /// # Panics
    ///
    /// If the lists differ in their columns with bytes, the last chunks of both are partly filled,
    /// one of the two has a small block and the other rows, or this one has a block without rows.
    pub(crate) fn adopt(&mut self, loose: &mut DetachedChunks, source: &Self) {
        // Blocks are initialised in the columns of the list they come from.
        assert!(loose.key == source.key, "chunks of that list");
        assert!(self.layout.is_like(&source.layout), "one layout");
        if loose.chunks == 0 {
            return;
        }
        assert!(self.chunks == 0 || !(self.small || loose.small), "small blocks are alone");
        let blocks = if self.layout.has_bytes() { self.chunks as usize } else { 0 };
        assert!(self.blocks.len() == blocks, "a block without rows was not given back");
        if self.chunks == 0 {
            self.small = loose.small;
            self.capacity = self.layout().capacity();
            self.tail = self.capacity;
        }
        let behind = if self.tail < self.capacity { self.blocks.pop() } else { None };
        let is_open = self.tail < self.capacity;
        assert!(!is_open || loose.tail == self.capacity, "one list's tail was filled up before");
        self.blocks.extend(loose.blocks.drain(..));
        self.blocks.extend(behind);
        self.chunks += loose.chunks;
        loose.chunks = 0;
        if !is_open {
            self.tail = loose.tail;
        }
    }

    /// Gives the first of chunks that were this list's back to the pool.
    pub(crate) fn discard_first(&self, loose: &mut DetachedChunks, pool: &mut Pool) {
        assert!(loose.key == self.key && loose.chunks > 0, "chunks of this list");
        loose.chunks -= 1;
        if let Some(block) = loose.blocks.pop_front() {
            pool.give(super::chunk_list::layout_of(&self.layout, loose.small), block);
        }
    }

    /// Leaves out the last `rows` rows of chunks that were this list's; they are elsewhere.
    pub(crate) fn shorten(&self, loose: &mut DetachedChunks, rows: u32, pool: &mut Pool) {
        assert!(loose.key == self.key && !loose.small, "the chunks are another list's");
        assert!(rows <= loose.tail, "{rows} rows of a chunk that has {}", loose.tail);
        loose.tail -= rows;
        if loose.tail == 0 {
            loose.chunks -= 1;
            loose.tail = if loose.chunks == 0 { 0 } else { self.chunk_capacity() };
            if let Some(block) = loose.blocks.pop_back() {
                pool.give(self.layout.chunk(), block);
            }
        }
    }
}
