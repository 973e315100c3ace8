//! Extents: memory for several chunks of one layout, column by column.
//!
//! Every chunk ends the runs of its columns after some 7 KB, and there the hardware's prefetchers
//! start anew. In an extent a column's run goes on in the next chunk, so that a pass over a long
//! list is a few long streams (the drawing is in [`block`](super::block)). A chunk keeps its rows,
//! its stamps and its slices. `p += v * dt` over 1,000,000 rows of 24 bytes, ns a row on Zen 4:
//! 1.20 in chunks of their own, 0.59 to 0.69 in extents of 16 chunks, 0.59 to 0.67 in flat arrays.
//!
//! Extents are cut from slabs of 2 MiB, or of 128 chunks if that is less. An extent lies at a
//! multiple of its size, as in a buddy allocator, and each slab keeps two bits a chunk: whether it
//! belongs to an extent, and whether it is allocated. Chunks of an extent are freed one by one, in
//! any order and by any owner; the last one frees the extent. Its free chunks are meanwhile for
//! lists that have chunks of it; `compact` gives them back.

use super::block::{Block, BlockMemory, HUGE_PAGE_BYTES};
use super::block_class::BlockClass;
use super::chunk_size::ChunkSize;
use super::slab::{put, reserve_bytes};

/// The largest number of chunks in an extent.
pub(crate) const EXTENT_CHUNKS_MAX: u32 = BlockClass::of_extent(usize::MAX).chunks();
/// The largest number of chunks in a slab: one bit of a mask for each.
const SLAB_CHUNKS_MAX: u32 = u128::BITS;

/// Chunks of the first slab.
const FIRST_SLAB_CHUNKS: u32 = 16;

/// An allocation that is cut into extents.
struct ExtentSlab {
    memory: BlockMemory,
    /// Chunks that it has room for.
    room: u32,
}

impl ExtentSlab {
    /// A slab for `room` chunks, a power of two.
    fn new(room: u32, chunk_bytes: u32) -> Self {
        let bytes = room as usize * chunk_bytes as usize;
        // Every column is aligned to at most a page, and an extent to more.
        let memory = BlockMemory::new((bytes, bytes), chunk_bytes, chunk_bytes as usize);
        Self { memory, room }
    }

    /// Chunks that belong to an extent.
    fn taken(&self) -> u32 {
        self.memory.taken_len()
    }

    /// The first chunk of a free extent of `chunks` chunks.
    fn find(&self, chunks: u32) -> Option<u32> {
        let has_room = self.taken() + chunks <= self.room;
        has_room.then(|| self.memory.find(chunks, self.room)).flatten()
    }
}

/// The extents of a world.
pub(super) struct Extents {
    chunk_bytes: u32,
    /// The class of the largest extent.
    largest: BlockClass,
    slabs: Vec<Option<ExtentSlab>>,
    /// Allocated chunks.
    allocated: usize,
}

impl Extents {
    /// Extents of at most `chunks_max` chunks and of at most 2 MiB.
    pub(super) fn new(size: ChunkSize, chunks_max: u32) -> Self {
        let chunk_bytes = u32::try_from(size.bytes()).expect("a chunk has more than 256 KiB");
        let largest = BlockClass::of_extent(chunks_max.min(Self::room(chunk_bytes)) as usize);
        Self { chunk_bytes, largest, slabs: Vec::new(), allocated: 0 }
    }

    /// Chunks of a slab of full size.
    #[expect(clippy::cast_possible_truncation, reason = "a huge page has 2 MiB")]
    const fn room(chunk_bytes: u32) -> u32 {
        let chunks = HUGE_PAGE_BYTES as u32 / chunk_bytes;
        if chunks < SLAB_CHUNKS_MAX { chunks } else { SLAB_CHUNKS_MAX }
    }

    /// Chunks of the largest extent.
    pub(super) const fn chunks_max(&self) -> u32 {
        self.largest.chunks()
    }

    /// Allocates an extent of this class and its first chunk. O(slabs).
    ///
    /// # Panics
    ///
    /// If it is larger than the largest extent.
    pub(super) fn allocate(&mut self, class: BlockClass) -> Block {
        let chunks = class.chunks();
        assert!(chunks > 1 && chunks <= self.chunks_max(), "an extent has {chunks} chunks");
        let mut slabs = self.slabs.iter().enumerate();
        let found = slabs.find_map(|(slab, s)| Some((slab, s.as_ref()?.find(chunks)?)));
        let at = found.unwrap_or_else(|| (self.add_slab(chunks), 0));
        self.allocate_at(at, class)
    }

    /// Allocates the free extent at chunk `first` of a slab, and its first chunk.
    fn allocate_at(&mut self, (slab, first): (usize, u32), class: BlockClass) -> Block {
        let memory = self.slabs[slab].as_mut().expect("the slab was found");
        let number = u32::try_from(slab).expect("a world has 2^32 slabs or more");
        let block = memory.memory.allocate(first, class, number);
        self.allocated += 1;
        block
    }

    /// Adds a slab for an extent of `chunks` chunks. The first one is small, because a huge page is
    /// zeroed as a whole at the first touch.
    fn add_slab(&mut self, chunks: u32) -> usize {
        let is_first = self.slabs.iter().all(Option::is_none);
        let room = if is_first { FIRST_SLAB_CHUNKS.max(2 * chunks) } else { SLAB_CHUNKS_MAX };
        let slab = ExtentSlab::new(room.min(Self::room(self.chunk_bytes)), self.chunk_bytes);
        put(&mut self.slabs, slab) as usize
    }

    /// Takes over the slabs of another pool. Its chunks have the same size. Its extents may be
    /// larger than the largest one here. Returns the new number of each slab. O(slabs).
    pub(super) fn absorb(&mut self, other: Self) -> Vec<u32> {
        assert!(self.chunk_bytes == other.chunk_bytes, "the chunks of two pools differ in size");
        self.allocated += other.allocated;
        let number = |slab: Option<_>| slab.map_or(u32::MAX, |slab| put(&mut self.slabs, slab));
        other.slabs.into_iter().map(number).collect()
    }

    /// The slab of a block.
    ///
    /// # Panics
    ///
    /// If there is no such slab.
    fn slab(&mut self, block: &Block) -> &mut ExtentSlab {
        let slab = self.slabs.get_mut(block.slot().0 as usize).and_then(Option::as_mut);
        slab.expect("the slab of an allocated block does not exist")
    }

    /// Allocates an extent of the same size as a block's, and its first chunk, in a fuller slab, so
    /// that the block's slab empties. `None` unless the block is in the sparsest slab in use. O(1)
    /// for a block of a full slab of full size, otherwise O(slabs).
    pub(super) fn allocate_denser(&mut self, block: &Block) -> Option<Block> {
        let ours = block.slot().0 as usize;
        // No slab has more chunks in extents, so if this is the sparsest, all are full.
        if self.slab(block).taken() == Self::room(self.chunk_bytes) {
            return None;
        }
        let taken = |slab: &Option<ExtentSlab>| {
            slab.as_ref().map(ExtentSlab::taken).filter(|&taken| taken > 0)
        };
        let least = self.slabs.iter().filter_map(taken).min()?;
        let others = self.slabs.iter().enumerate().filter(|&(number, _)| number != ours);
        let used = others.filter_map(|(_, slab)| slab.as_ref()).filter(|slab| slab.taken() != 0);
        let room: u32 = used.map(|slab| slab.room - slab.taken()).sum();
        if taken(&self.slabs[ours]) != Some(least) || room < least {
            return None;
        }
        let chunks = block.extent_chunks();
        let (slab, first) = self.slabs.iter().enumerate().find_map(|(number, slab)| {
            let is_denser = number != ours && taken(slab).is_some_and(|taken| taken >= least);
            is_denser.then(|| slab.as_ref()?.find(chunks)).flatten().map(|first| (number, first))
        })?;
        Some(self.allocate_at((slab, first), BlockClass::of_extent(chunks as usize)))
    }

    /// The used chunks of a block's extent, from its first on.
    pub(super) fn used(&mut self, block: &Block) -> u128 {
        self.slab(block).memory.used(block)
    }

    /// Allocates the chunk after `block` in its extent, if it exists and is free.
    pub(super) fn allocate_next(&mut self, block: &Block) -> Option<Block> {
        let next = u32::from(block.index()) + 1;
        let is_free = next < block.extent_chunks() && self.used(block) >> next & 1 == 0;
        is_free.then(|| self.allocate_sibling(block, next))
    }

    /// Allocates the first free chunk of a block's extent, if it has one.
    pub(super) fn allocate_free(&mut self, block: &Block) -> Option<Block> {
        let index = self.used(block).trailing_ones();
        (index < block.extent_chunks()).then(|| self.allocate_sibling(block, index))
    }

    fn allocate_sibling(&mut self, block: &Block, index: u32) -> Block {
        self.allocated += 1;
        self.slab(block).memory.allocate_sibling(block, index)
    }

    /// Frees a chunk, and its extent if it was the last.
    pub(super) fn free(&mut self, block: Block) {
        let number = block.slot().0 as usize;
        let slab = self.slab(&block);
        slab.memory.free(block);
        let is_idle = slab.taken() == 0;
        self.allocated -= 1;
        let reserve = reserve_bytes(self.allocated * self.chunk_bytes as usize);
        if is_idle && self.idle_bytes() > reserve {
            self.slabs[number] = None;
        }
    }

    /// Bytes of slabs without extents.
    fn idle_bytes(&self) -> usize {
        let idle = self.slabs.iter().flatten().filter(|slab| slab.taken() == 0);
        idle.map(|slab| slab.memory.capacity()).sum()
    }

    /// Allocated chunks.
    pub(super) const fn allocated(&self) -> usize {
        self.allocated
    }

    /// Bytes of all slabs.
    pub(super) fn slab_bytes(&self) -> usize {
        self.slabs.iter().flatten().map(|slab| slab.memory.capacity()).sum()
    }

    /// Returns every slab without extents to the system.
    pub(super) fn trim(&mut self) {
        for slab in &mut self.slabs {
            if slab.as_ref().is_some_and(|slab| slab.taken() == 0) {
                *slab = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(chunks_max: u32) -> Extents {
        Extents::new(ChunkSize::KIB_16, chunks_max)
    }

    fn class(chunks: usize) -> BlockClass {
        let class = BlockClass::of_extent(chunks);
        assert_eq!(class.chunks() as usize, chunks);
        class
    }

    #[test]
    fn the_largest_extent_has_a_class_and_at_most_a_slab() {
        let max = |size, chunks| Extents::new(size, chunks).chunks_max();
        let maxima = [0, 1, 3, 4, 15, 16, 63, 64, u32::MAX].map(|n| extents(n).chunks_max());
        assert_eq!(maxima, [1, 1, 1, 4, 4, 16, 16, 64, 64]);
        assert_eq!(max(ChunkSize::KIB_4, u32::MAX), 64);
        assert_eq!(max(ChunkSize::KIB_256, u32::MAX), 4);
    }

    #[test]
    fn extents_are_aligned_to_their_size_and_disjoint() {
        let mut extents = extents(64);
        let mut taken = Vec::new();
        for chunks in [4, 64, 4, 16, 64, 4, 16, 64, 64] {
            let block = extents.allocate(class(chunks));
            let start = block.base().as_ptr().addr().get();
            let bytes = chunks * (16 << 10);
            assert!(start.is_multiple_of(bytes), "an extent of {chunks}");
            taken.push(start..start + bytes);
        }
        taken.sort_by_key(|range| range.start);
        assert!(taken.windows(2).all(|pair| pair[0].end <= pair[1].start), "two overlap");
        assert_eq!(extents.slab_bytes(), (256 << 10) + 3 * (2 << 20), "few slabs");
    }

    #[test]
    fn chunks_are_freed_in_any_order_and_the_extent_with_the_last() {
        let mut extents = extents(64);
        let first = extents.allocate(class(4));
        let second = extents.allocate_next(&first).expect("free");
        assert!(extents.allocate_next(&first).is_none(), "the next one is allocated");
        let third = extents.allocate_free(&first).expect("free");
        assert_eq!([first.index(), second.index(), third.index()], [0, 1, 2]);
        assert!(second.continues(&first) && third.continues(&second) && !third.continues(&first));
        extents.free(first);
        let again = extents.allocate_free(&third).expect("free");
        assert_eq!((again.index(), extents.allocated()), (0, 3));
        let other = extents.allocate(class(16));
        assert_ne!(other.slot().0, again.slot().0, "the first slab has no room");
        for block in [second, again, third, other] {
            extents.free(block);
        }
        assert_eq!(extents.allocated(), 0);
        assert_eq!(extents.allocate(class(16)).slot(), (0, 0), "the extent was not freed");
    }

    #[test]
    fn the_last_chunk_of_an_extent_has_no_next() {
        let mut extents = extents(4);
        let mut last = extents.allocate(class(4));
        for _ in 0..3 {
            last = extents.allocate_next(&last).expect("free");
        }
        assert!(extents.allocate_next(&last).is_none());
        assert!(extents.allocate_free(&last).is_none());
    }

    #[test]
    fn slabs_without_extents_are_kept_up_to_a_reserve_and_trimmed() {
        let mut extents = extents(64);
        let blocks: Vec<_> = (0..40).map(|_| extents.allocate(class(64))).collect();
        blocks.into_iter().for_each(|block| extents.free(block));
        assert_eq!(extents.slab_bytes(), 16 << 20);
        extents.trim();
        assert_eq!((extents.slab_bytes(), extents.allocated()), (0, 0));
    }

    #[test]
    fn a_full_slab_empties_only_if_it_is_a_small_one() {
        let mut extents = extents(64);
        let small: Vec<_> = (0..2).map(|_| extents.allocate(class(16))).collect();
        let full: Vec<_> = (0..2).map(|_| extents.allocate(class(64))).collect();
        let open = extents.allocate(class(64));
        assert_eq!([&small[1], &full[1], &open].map(|block| block.slot().0), [0, 1, 2]);
        assert_eq!(extents.slab(&small[0]).room, 32, "the first slab is full");
        assert!(extents.allocate_denser(&full[0]).is_none(), "no slab has more extents");
        assert!(extents.allocate_denser(&open).is_none(), "another slab is sparser");
        let denser = extents.allocate_denser(&small[0]).expect("the last slab has room");
        assert_eq!(denser.slot().0, 2);
        for block in small.into_iter().chain(full).chain([open, denser]) {
            extents.free(block);
        }
    }

    #[test]
    #[should_panic(expected = "the chunk has a block")]
    fn a_chunk_has_one_block() {
        let mut slab = ExtentSlab::new(16, 16 << 10);
        let first = slab.memory.allocate(0, class(4), 0);
        let _second = slab.memory.allocate_sibling(&first, 1);
        slab.memory.allocate_sibling(&first, 1);
    }

    #[test]
    #[should_panic(expected = "the extent overlaps another")]
    fn a_free_chunk_of_an_extent_is_not_part_of_another() {
        let mut slab = ExtentSlab::new(16, 16 << 10);
        let _first = slab.memory.allocate(0, class(16), 0);
        slab.memory.allocate(4, class(4), 0);
    }

    #[test]
    #[should_panic(expected = "the block was allocated elsewhere")]
    fn a_block_is_freed_in_its_own_memory() {
        let [mut ours, mut theirs] = [0; 2].map(|_| ExtentSlab::new(16, 16 << 10));
        let _ours = ours.memory.allocate(0, class(4), 0);
        ours.memory.free(theirs.memory.allocate(0, class(4), 0));
    }
}
