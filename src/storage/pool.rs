//! The pool: blocks for all archetypes of a world.

use core::fmt;

use super::block::Block;
use super::block_class::BlockClass;
use super::chunk_size::ChunkSize;
use super::extents::{EXTENT_CHUNKS_MAX, Extents};
use super::layout::ChunkLayout;
use super::slab::Class;

/// Allocates blocks for all archetypes of a world.
pub(crate) struct Pool {
    /// Blocks of their own, by size and alignment.
    classes: Vec<Class>,
    /// Blocks that share an extent. All are chunks of full size.
    extents: Extents,
}

impl Pool {
    /// A pool for a world of these chunks, with extents of at most `extent_chunks_max` chunks.
    pub(crate) fn new(size: ChunkSize, extent_chunks_max: u32) -> Self {
        Self { classes: Vec::new(), extents: Extents::new(size, extent_chunks_max) }
    }

    fn class(&mut self, layout: &ChunkLayout) -> &mut Class {
        self.class_of(ClassKey::of(layout))
    }

    fn class_of(&mut self, ClassKey { bytes, align, class }: ClassKey) -> &mut Class {
        let is_same = |c: &Class| c.bytes == bytes && c.align == align && c.class == class;
        let found = self.classes.iter().position(is_same);
        let index = found.unwrap_or_else(|| {
            self.classes.push(Class::new(bytes, align, class));
            self.classes.len() - 1
        });
        &mut self.classes[index]
    }

    /// Takes over the slabs of the pool of another world. Its chunks have the same size. The blocks
    /// that were allocated from them stay in place, and have other numbers of slabs from now on:
    /// see [`NewSlabs::renumber`]. O(slabs).
    ///
    /// # Panics
    ///
    /// If the chunks of the worlds differ in size.
    pub(crate) fn absorb(&mut self, other: Self) -> NewSlabs {
        let extents = self.extents.absorb(other.extents);
        let classes = other.classes.into_iter().map(|class| {
            let key = ClassKey { bytes: class.bytes, align: class.align, class: class.class };
            (key, self.class_of(key).absorb(class))
        });
        NewSlabs { classes: classes.collect(), extents }
    }

    /// Allocates a block of its own for this layout. Its bytes are uninitialised.
    pub(super) fn allocate(&mut self, layout: &ChunkLayout) -> Block {
        self.class(layout).allocate()
    }

    /// The extents, from which lists of full-size chunks allocate.
    pub(super) const fn extents(&mut self) -> &mut Extents {
        &mut self.extents
    }

    /// Chunks of the largest extent.
    pub(crate) const fn extent_chunks_max(&self) -> u32 {
        self.extents.chunks_max()
    }

    /// Frees a block.
    ///
    /// # Panics
    ///
    /// If the block does not have the layout's size.
    pub(super) fn free(&mut self, layout: &ChunkLayout, block: Block) {
        assert!(block.bytes() == layout.bytes(), "the block was allocated for another layout");
        if block.extent_chunks() > 1 {
            self.extents.free(block);
        } else {
            self.class(layout).free(block);
        }
    }

    /// Allocates another block for the contents of `block`, which is a block of its own, if moving
    /// them helps to empty a slab.
    pub(super) fn allocate_denser(&mut self, layout: &ChunkLayout, block: &Block) -> Option<Block> {
        self.class(layout).allocate_denser(block)
    }

    /// Allocated blocks of all sizes.
    pub(crate) fn allocated(&self) -> usize {
        let own: usize = self.classes.iter().map(|c| c.allocated).sum();
        own + self.extents.allocated()
    }

    /// Bytes of all slabs, allocated or not, committed or not.
    pub(crate) fn slab_bytes(&self) -> usize {
        let own: usize = self.classes.iter().map(Class::slab_bytes).sum();
        own + self.extents.slab_bytes()
    }

    /// Returns every slab without allocated blocks to the system, including slabs kept for reuse.
    pub(crate) fn trim(&mut self) {
        self.classes.iter_mut().for_each(Class::trim);
        self.extents.trim();
    }
}

/// The common properties of blocks of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClassKey {
    bytes: u32,
    align: u32,
    class: BlockClass,
}

impl ClassKey {
    const fn of(layout: &ChunkLayout) -> Self {
        Self { bytes: layout.bytes(), align: layout.align(), class: layout.class() }
    }
}

/// The numbers that the slabs of a pool have in the pool that has taken them over.
#[derive(Debug)]
#[must_use = "the blocks of the slabs have other numbers"]
pub(crate) struct NewSlabs {
    classes: Vec<(ClassKey, Vec<u32>)>,
    extents: Vec<u32>,
}

impl NewSlabs {
    /// Gives the blocks of a list, which were allocated for this layout from the pool that was
    /// taken over, the new numbers of their slabs.
    ///
    /// # Panics
    ///
    /// If the pool had no slab of a block.
    pub(super) fn renumber(&self, layout: &ChunkLayout, blocks: &mut [Block]) {
        let key = ClassKey::of(layout);
        let class = self.classes.iter().find(|class| class.0 == key);
        let own = class.map_or(&[][..], |(_, numbers)| numbers);
        for block in blocks {
            let numbers = if block.extent_chunks() > 1 { &*self.extents } else { own };
            block.set_slab(numbers[block.slot().0 as usize]);
        }
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(ChunkSize::default(), EXTENT_CHUNKS_MAX)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.classes.iter().map(|c| (c.bytes, c.align, c.allocated));
        f.debug_struct("Pool")
            .field("blocks", &own.collect::<Vec<_>>())
            .field("in_extents", &self.extents.allocated())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{ColumnShape, ListLayout};
    use super::super::slab::{FIRST_SLAB_BLOCKS, RESERVE_BYTES_MIN};
    use super::*;
    use crate::line::LINE_BYTES;

    fn layout(align: usize) -> ListLayout {
        let shape = ColumnShape::plain("shape", align.max(4), align);
        ListLayout::new(ChunkSize::KIB_16, vec![shape]).expect("fits")
    }

    #[test]
    fn bases_are_aligned_and_coloured() {
        for align in [4, 64, 128, 4096] {
            let (mut pool, layout) = (Pool::default(), layout(align));
            let blocks: Vec<_> = (0..40).map(|_| pool.allocate(layout.chunk())).collect();
            let mut bases: Vec<_> = blocks.iter().map(|b| b.base().as_ptr().addr().get()).collect();
            assert!(bases.iter().all(|base| base % align.max(64) == 0), "aligned to {align}");
            bases.sort_unstable();
            for pair in bases.windows(2) {
                assert!(
                    pair[1] - pair[0] >= (16 << 10) + 64,
                    "two blocks are less than a line apart"
                );
            }
        }
    }

    #[test]
    fn slabs_are_returned_when_their_blocks_are_freed() {
        let (mut pool, layout) = (Pool::default(), layout(4));
        let blocks: Vec<_> = (0..2000).map(|_| pool.allocate(layout.chunk())).collect();
        let full = pool.slab_bytes();
        assert!(full >= 2000 * (16 << 10), "the slabs are smaller than their blocks");
        assert_eq!(pool.allocated(), 2000);
        for block in blocks {
            pool.free(layout.chunk(), block);
        }
        assert_eq!(pool.allocated(), 0);
        assert!(pool.slab_bytes() <= RESERVE_BYTES_MIN, "more than the reserve was kept");
        assert!(
            pool.slab_bytes() > RESERVE_BYTES_MIN - (2 << 20),
            "less than the reserve was kept"
        );
        let before = pool.slab_bytes();
        let blocks: Vec<_> = (0..500).map(|_| pool.allocate(layout.chunk())).collect();
        assert_eq!(pool.slab_bytes(), before, "kept slabs were not reused");
        blocks.into_iter().for_each(|block| pool.free(layout.chunk(), block));
        pool.trim();
        assert_eq!(pool.slab_bytes(), 0);
    }

    #[test]
    fn small_worlds_request_little_memory() {
        let (mut pool, layout) = (Pool::default(), layout(4));
        let mut blocks = Vec::new();
        while blocks.len() < 300 {
            blocks.push(pool.allocate(layout.chunk()));
            let wanted = blocks.len() * ((16 << 10) + LINE_BYTES);
            let room = wanted.max(FIRST_SLAB_BLOCKS * ((16 << 10) + LINE_BYTES));
            assert!(pool.slab_bytes() <= 2 * room + (2 << 20) * (wanted >> 21), "{wanted}");
        }
    }

    #[test]
    fn blocks_move_out_of_the_sparsest_slab() {
        let (mut pool, layout) = (Pool::default(), layout(4));
        let mut blocks: Vec<_> = (0..400).map(|_| pool.allocate(layout.chunk())).collect();
        // Keep every eighth block: all slabs stay, nearly empty.
        let mut kept = Vec::new();
        for (i, block) in blocks.drain(..).enumerate() {
            if i % 8 == 0 { kept.push(block) } else { pool.free(layout.chunk(), block) }
        }
        let before = pool.slab_bytes();
        let mut moved = true;
        while moved {
            moved = false;
            for block in &mut kept {
                if let Some(denser) = pool.allocate_denser(layout.chunk(), block) {
                    pool.free(layout.chunk(), core::mem::replace(block, denser));
                    moved = true;
                }
            }
        }
        pool.trim();
        assert!(pool.slab_bytes() * 2 < before, "{} of {before}", pool.slab_bytes());
        assert_eq!(pool.allocated(), kept.len());
    }

    /// Some blocks of a pool: first blocks, chunks of their own, and chunks of extents, with gaps.
    fn filled(pool: &mut Pool, layout: &ListLayout, blocks: usize) -> [Vec<Block>; 2] {
        let first = layout.first().expect("a small row has a first block");
        let mut firsts: Vec<_> = (0..blocks).map(|_| pool.allocate(first)).collect();
        let mut chunks: Vec<_> = (0..blocks).map(|_| pool.allocate(layout.chunk())).collect();
        for _ in 0..blocks / 8 + 1 {
            chunks.push(pool.extents().allocate(BlockClass::of_extent(16)));
            for _ in 1..9 {
                let last = chunks.last().expect("one was pushed");
                let next = pool.extents().allocate_next(last).expect("the extent has room");
                chunks.push(next);
            }
        }
        // Slabs that are empty leave gaps among the numbers.
        for (blocks, layout) in [(&mut firsts, first), (&mut chunks, layout.chunk())] {
            let (kept, freed) =
                blocks.drain(..).enumerate().partition::<Vec<_>, _>(|(i, _)| i % 3 > 0);
            freed.into_iter().for_each(|(_, block)| pool.free(layout, block));
            blocks.extend(kept.into_iter().map(|(_, block)| block));
        }
        pool.trim();
        [firsts, chunks]
    }

    #[test]
    fn slabs_change_owner_and_their_blocks_stay_where_they_are() {
        let layout = layout(4);
        let first = layout.first().expect("a small row has a first block");
        let sizes =
            if cfg!(miri) { [(0, 3), (3, 0), (9, 20)] } else { [(0, 40), (300, 0), (150, 400)] };
        for (here, there) in sizes {
            let (mut pool, mut other) = (Pool::default(), Pool::default());
            let mut ours = filled(&mut pool, &layout, here);
            let mut theirs = filled(&mut other, &layout, there);
            let address = |block: &Block| (block.base().as_ptr(), block.index());
            let before: Vec<_> = theirs.iter().flatten().map(address).collect();
            let want =
                (pool.allocated() + other.allocated(), pool.slab_bytes() + other.slab_bytes());
            let slabs = pool.absorb(other);
            for (blocks, layout) in theirs.iter_mut().zip([first, layout.chunk()]) {
                slabs.renumber(layout, blocks);
            }
            assert_eq!((pool.allocated(), pool.slab_bytes()), want);
            assert!(before.iter().copied().eq(theirs.iter().flatten().map(address)));
            // New blocks differ from the blocks of both.
            let new = pool.allocate(layout.chunk());
            let taken =
                |blocks: &[Vec<Block>; 2]| blocks.iter().flatten().any(|b| b.base() == new.base());
            assert!(!taken(&ours) && !taken(&theirs));
            pool.free(layout.chunk(), new);
            for blocks in [&mut theirs, &mut ours] {
                for (blocks, layout) in blocks.iter_mut().zip([first, layout.chunk()]) {
                    blocks.drain(..).for_each(|block| pool.free(layout, block));
                }
            }
            assert_eq!(pool.allocated(), 0);
            pool.trim();
            assert_eq!(pool.slab_bytes(), 0, "all memory is freed");
        }
    }

    #[test]
    fn numbers_of_slabs_are_used_again() {
        let (mut pool, layout) = (Pool::default(), layout(4));
        for _ in 0..20 {
            let mut other = Pool::default();
            let mut blocks: Vec<_> = (0..3).map(|_| other.allocate(layout.chunk())).collect();
            let slabs = pool.absorb(other);
            slabs.renumber(layout.chunk(), &mut blocks);
            assert!(blocks.iter().all(|block| block.slot().0 == 0), "the number was free");
            blocks.into_iter().for_each(|block| pool.free(layout.chunk(), block));
            pool.trim();
        }
    }

    #[test]
    #[should_panic(expected = "the chunks of two pools differ in size")]
    fn the_pool_of_other_chunks_is_refused() {
        let _ = Pool::default().absorb(Pool::new(ChunkSize::KIB_4, 1));
    }

    #[test]
    #[should_panic(expected = "the block was allocated elsewhere")]
    fn a_block_of_another_pool_is_not_freed() {
        let (mut pool, mut other, layout) = (Pool::default(), Pool::default(), layout(4));
        let _ours = pool.allocate(layout.chunk());
        let theirs = other.allocate(layout.chunk());
        pool.free(layout.chunk(), theirs);
    }
}
