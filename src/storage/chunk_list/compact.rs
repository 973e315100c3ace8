//! Compaction: chunks move together, so that slabs and extents become empty and their memory can be
//! given back. Also moves rows to another pool, for a world that takes them over.

use crate::storage::block::Block;
use crate::storage::block_class::BlockClass;
use crate::storage::pool::Pool;

use super::ChunkList;
use super::blocks::FreeBlock;

/// The largest number of at most `chunks` chunks that fills extents of one size.
fn whole_extents(chunks: usize) -> usize {
    chunks - chunks % BlockClass::of_extent(chunks).chunks() as usize
}

/// The runs of a list of some chunks that has grown row by row.
fn runs_grown(chunks: usize, extent_chunks_max: usize) -> usize {
    let sizes = BlockClass::ALL.into_iter().filter(|&class| class != BlockClass::First);
    let sizes = sizes.map(|class| class.chunks() as usize).take_while(|&n| n <= extent_chunks_max);
    let sizes: Vec<_> = sizes.collect();
    let (mut runs, mut placed) = (0, 0);
    for (i, size) in sizes.iter().enumerate() {
        let until = sizes.get(i + 1).map_or(chunks, |&n| BlockClass::grown_from(n).min(chunks));
        runs += (until - placed).div_ceil(*size);
        placed = until;
    }
    runs
}

impl ChunkList {
    /// Moves blocks into denser slabs, the chunks of extents that are not full into smaller ones,
    /// and the rows of a list that has become short into a small first block. Moves at most
    /// `rows_max` rows and returns how many it moved.
    pub(crate) fn compact(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        self.free_spare(pool);
        let mut moved = self.shrink_first(rows_max, pool);
        moved += self.repack_extents(rows_max - moved, pool);
        moved += self.leave_sparsest_slab(rows_max - moved, pool);
        for chunk in 0..self.blocks.len() {
            if self.blocks()[chunk].extent_chunks() > 1 {
                continue;
            }
            let rows = self.rows_of(chunk);
            if moved + rows <= rows_max
                && let Some(denser) = self.blocks.allocate_denser(chunk, pool)
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
        let breaks = self.blocks().windows(2).filter(|pair| !pair[1].continues(&pair[0]));
        if self.blocks.is_empty() { 0 } else { 1 + breaks.count() }
    }

    /// The runs of some chunks with ascending numbers.
    pub(crate) fn runs_of(&self, chunks: &[u32]) -> usize {
        let blocks = chunks.iter().filter_map(|&chunk| self.blocks().get(chunk as usize));
        let mut before: Option<&Block> = None;
        let begins = |block| !before.replace(block).is_some_and(|before| block.continues(before));
        blocks.map(begins).filter(|begins| *begins).count()
    }

    /// Whether changes by query have left so few chunks next to each other that the list gains by
    /// new extents for all: a quarter more runs than if it had grown row by row.
    fn is_scattered(&self, extent_chunks_max: u32) -> bool {
        let grown = runs_grown(self.blocks.len(), extent_chunks_max as usize);
        self.layouts().is_extensible() && self.runs() > grown + grown / 4
    }

    /// Moves chunks to new extents that they fill. Leaves the extents that have free chunks, or all
    /// extents if the list is scattered. Returns the number of rows moved.
    fn repack_extents(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        let most = pool.extent_chunks_max();
        // All at once or not at all: a moved part would still be scattered.
        let is_scattered = self.len() <= rows_max && self.is_scattered(most);
        let (mut leaving, mut rows, mut first) = (Vec::new(), 0, 0);
        for neighbours in self.blocks().chunk_by(Block::shares_extent) {
            let chunks = first..first + neighbours.len();
            first = chunks.end;
            if !is_scattered && !self.is_sparse(&neighbours[0], pool) {
                continue;
            }
            let fit = chunks.clone().scan(rows, |rows, chunk| {
                *rows += self.rows_of(chunk);
                (*rows <= rows_max).then_some(*rows)
            });
            // The chunks that the budget allows, or that fill an extent.
            let fit = fit.count();
            let taken = if fit < chunks.len() { whole_extents(fit) } else { fit };
            rows += chunks.clone().take(taken).map(|chunk| self.rows_of(chunk)).sum::<usize>();
            leaving.extend(chunks.take(taken));
        }
        for (i, &chunk) in leaving.iter().enumerate() {
            let last = i.checked_sub(1).map(|before| leaving[before]);
            let block = self.allocate_after(last, leaving.len() - i, pool);
            self.move_block(chunk, block, pool);
        }
        rows
    }

    /// Allocates the first of `left` chunks of full size: the chunk that follows `last`, or the
    /// first of an extent that they fill.
    fn allocate_after(&self, last: Option<usize>, left: usize, pool: &mut Pool) -> FreeBlock {
        if let Some(next) = last.and_then(|last| self.blocks.allocate_next(last, pool)) {
            return next;
        }
        let most =
            if self.layouts().is_extensible() { pool.extent_chunks_max() as usize } else { 1 };
        self.blocks.allocate(BlockClass::of_extent(left.min(most)), pool)
    }

    /// Whether the extent of a block has free chunks. The extent in which the list grows may have
    /// some, up to a half.
    fn is_sparse(&self, block: &Block, pool: &mut Pool) -> bool {
        let chunks = block.extent_chunks();
        if chunks == 1 {
            return false;
        }
        let used = pool.extents().used(block).count_ones();
        let grows = self.blocks().last().is_some_and(|last| last.shares_extent(block));
        if grows { 2 * used < chunks } else { used < chunks }
    }

    /// Moves whole extents out of the sparsest slab of extents, if that helps to empty it. Returns
    /// the number of rows moved.
    fn leave_sparsest_slab(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        let (mut moved, mut chunk) = (0, 0);
        while chunk < self.blocks.len() {
            let neighbours = self.blocks()[chunk..].chunk_by(Block::shares_extent).next();
            let chunks = chunk..chunk + neighbours.map_or(1, <[_]>::len);
            chunk = chunks.end;
            let rows: usize = chunks.clone().map(|chunk| self.rows_of(chunk)).sum();
            let block = &self.blocks()[chunks.start];
            let is_whole =
                block.extent_chunks() > 1 && chunks.len() == block.extent_chunks() as usize;
            if !is_whole || moved + rows > rows_max {
                continue;
            }
            let denser = self.blocks.allocate_extent_denser(chunks.start, pool);
            let Some(mut denser) = denser else { continue };
            moved += rows;
            let last = chunks.end - 1;
            for chunk in chunks {
                self.move_block(chunk, denser, pool);
                if chunk == last {
                    break;
                }
                let next = self.blocks.allocate_next(chunk, pool);
                denser = next.expect("a new extent has as many chunks");
            }
        }
        moved
    }

    /// Moves a chunk's rows to another block, and frees its own.
    fn move_block(&mut self, chunk: usize, target: FreeBlock, pool: &mut Pool) {
        let rows = self.rows(u32::try_from(chunk).expect("a chunk of the list"));
        let old = self.replace_block(chunk, target, self.layout().padded(rows));
        if old.block().extent_chunks() > 1 {
            self.gaps_from = 0;
        }
        self.blocks.free(old, pool);
    }

    /// Moves all rows from the blocks of one pool to blocks of another. O(bytes).
    pub(crate) fn change_pool(&mut self, from: &mut Pool, to: &mut Pool) {
        self.free_spare(from);
        let chunks = self.blocks.len();
        for chunk in 0..chunks {
            let first = if self.in_first_block() { self.blocks.allocate_first(to) } else { None };
            let last = chunk.checked_sub(1);
            let block = first.unwrap_or_else(|| self.allocate_after(last, chunks - chunk, to));
            self.move_block(chunk, block, from);
        }
    }

    /// Moves the rows of a single chunk into a small first block if they fill at most half of it.
    /// Returns the number of rows moved.
    fn shrink_first(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        let Some(first) = self.layouts().first() else { return 0 };
        let short =
            self.chunk_len == 1 && !self.in_first_block() && self.tail <= first.capacity() / 2;
        if !short || self.tail as usize > rows_max {
            return 0;
        }
        let padded = first.padded(self.tail);
        let block = self.blocks.allocate_first(pool).expect("the list has a layout for one");
        let chunk = self.replace_block(0, block, padded);
        self.blocks.free(chunk, pool);
        self.tail as usize
    }
}
