//! Memory given back: chunks move together, so that slabs and extents become empty.

use crate::storage::access::copy_rows;
use crate::storage::block::Block;
use crate::storage::block_class::BlockClass;
use crate::storage::pool::Pool;

use super::ChunkList;

impl ChunkList {
    /// Moves blocks into denser slabs, the chunks of extents that are not full into smaller ones,
    /// and the rows of a list that has become short into a small first block. Moves at most
    /// `rows_max` rows and returns how many it moved.
    pub(crate) fn compact(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        self.free_spare(pool);
        let mut moved = self.shrink_first(rows_max, pool);
        moved += self.repack_extents(rows_max - moved, pool);
        for chunk in 0..self.blocks.len() {
            if self.blocks[chunk].extent_chunks() > 1 {
                continue;
            }
            let rows = self.rows_of(chunk);
            if moved + rows <= rows_max
                && let Some(denser) = pool.allocate_denser(self.layout(), &self.blocks[chunk])
            {
                self.move_block(chunk, denser, pool);
                moved += rows;
            }
        }
        self.blocks.shrink_to_fit();
        moved
    }

    fn rows_of(&self, chunk: usize) -> usize {
        self.rows(u32::try_from(chunk).expect("a list has 2^32 chunks or more")) as usize
    }

    /// The number of pieces of memory in which chunk follows chunk, which is the number of streams
    /// that a pass makes of each column.
    pub(crate) fn runs(&self) -> usize {
        let breaks = self.blocks.windows(2).filter(|pair| !pair[1].continues(&pair[0]));
        if self.blocks.is_empty() { 0 } else { 1 + breaks.count() }
    }

    /// Whether changes by query have left so few chunks next to each other that the list gains by
    /// new extents for all.
    fn is_scattered(&self, extent_chunks_max: u32) -> bool {
        let (runs, chunks) = (self.runs(), self.blocks.len());
        // As many of the largest as fit, and at most three of each smaller size.
        let most = extent_chunks_max as usize;
        let fewest = chunks / most + 3 * (BlockClass::of_extent(most).index() - 1);
        self.layout.is_extensible() && runs > fewest + chunks / 4 && runs > 2 * fewest
    }

    /// Moves chunks to new extents of which they fill each: those of extents that have free chunks,
    /// or all if the list is scattered. Neighbours of one extent move together or not at all.
    /// Returns the number of rows moved.
    fn repack_extents(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        let most = pool.extent_chunks_max();
        // All at once or not: a part of them would be scattered still.
        let is_scattered = self.len() <= rows_max && self.is_scattered(most);
        let is_sparse = |block: &Block, pool: &mut Pool| {
            block.extent_chunks() > 1
                && pool.extents().used(block).count_ones() < block.extent_chunks()
        };
        let (mut leaving, mut rows, mut first) = (Vec::new(), 0, 0);
        for neighbours in self.blocks.chunk_by(Block::shares_extent) {
            let chunks = first..first + neighbours.len();
            first = chunks.end;
            let more: usize = chunks.clone().map(|chunk| self.rows_of(chunk)).sum();
            let is_leaving = is_scattered || is_sparse(&neighbours[0], pool);
            if is_leaving && rows + more <= rows_max {
                rows += more;
                leaving.extend(chunks);
            }
        }
        for (i, &chunk) in leaving.iter().enumerate() {
            let last = i.checked_sub(1).map(|before| &self.blocks[leaving[before]]);
            let next = last.and_then(|last| pool.extents().allocate_next(last));
            let class = BlockClass::of_extent((leaving.len() - i).min(most as usize));
            let block = match next {
                Some(next) => next,
                None if class == BlockClass::OWN => pool.allocate(self.layout.chunk()),
                None => pool.extents().allocate(class),
            };
            self.move_block(chunk, block, pool);
        }
        rows
    }

    /// Moves a chunk's rows to another block, and frees its own.
    fn move_block(&mut self, chunk: usize, mut target: Block, pool: &mut Pool) {
        let layout = self.layout();
        let rows = layout.padded(self.rows(u32::try_from(chunk).expect("a chunk of the list")));
        copy_rows((&self.blocks[chunk], layout), (&mut target, layout), rows);
        let old = core::mem::replace(&mut self.blocks[chunk], target);
        self.may_have_gaps |= old.extent_chunks() > 1;
        pool.free(self.layout(), old);
    }

    /// Moves the rows of a single chunk into a small first block if they fill at most half of it.
    /// Returns the number of rows moved.
    fn shrink_first(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        let Some(first) = self.layout.first() else { return 0 };
        let short =
            self.chunk_len == 1 && !self.in_first_block && self.tail <= first.capacity() / 2;
        if !short || self.tail as usize > rows_max {
            return 0;
        }
        let chunk = self.layout.chunk();
        let mut block = pool.allocate(first);
        let padded = first.padded(self.tail);
        copy_rows((&self.blocks[0], chunk), (&mut block, first), padded);
        pool.free(chunk, core::mem::replace(&mut self.blocks[0], block));
        self.in_first_block = true;
        self.capacity = first.capacity();
        self.tail as usize
    }
}
