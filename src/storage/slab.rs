//! Slabs: large allocations that are cut into blocks of one size.
//!
//! A slab holds blocks of one size at a stride of `bytes + 64` (see the essay in [`storage`](super)
//! on colours): 127 chunks of 16 KiB in 2 MiB. It is one allocation (see
//! [`BlockMemory`](super::block::BlockMemory)).
//!
//! The first slabs of a size are small, each as large as all before it together, so that a small
//! world requests little memory: a huge page is zeroed as a whole at the first touch. From 2 MiB
//! on, slabs are multiples of 2 MiB, aligned to 2 MiB, and advised to be huge pages where the
//! system supports them (7 to 12 % at DRAM size). The first two slabs, of 16 blocks each, are not,
//! however large the blocks are.
//!
//! Slabs without allocated blocks are kept for reuse, up to 16 MiB of each size or an eighth of the
//! allocated blocks, whichever is more. Others are returned to the system.

use crate::line::LINE_BYTES;

use super::block::{Block, BlockMemory, HUGE_PAGE_BYTES};
use super::block_class::BlockClass;

/// Blocks in the first slab of a size.
pub(super) const FIRST_SLAB_BLOCKS: usize = 16;
/// Bytes of empty slabs of one size that are always kept.
pub(super) const RESERVE_BYTES_MIN: usize = 16 << 20;
/// Beyond that, empty slabs are kept up to this fraction of the allocated blocks.
const RESERVE_SHARE: usize = 8;
/// Later slabs have at least this many blocks, so that the unused rest stays below 2 %.
const SLAB_BLOCKS_MIN: usize = 63;

/// Bytes of empty slabs that are kept, if `allocated` bytes of the same kind are in use.
pub(super) fn reserve_bytes(allocated: usize) -> usize {
    RESERVE_BYTES_MIN.max(allocated / RESERVE_SHARE)
}

/// Files a slab under the first free number, and returns it.
pub(super) fn put<S>(slabs: &mut Vec<Option<S>>, slab: S) -> u32 {
    let index = slabs.iter().position(Option::is_none).unwrap_or_else(|| {
        slabs.push(None);
        slabs.len() - 1
    });
    slabs[index] = Some(slab);
    u32::try_from(index).expect("a pool has 2^32 slabs or more")
}

/// One allocation, cut into blocks.
struct Slab {
    memory: BlockMemory,
    /// The first slot that was never allocated. Each slot below it is allocated or in `returned`.
    fresh: u16,
    blocks: u16,
    returned: Vec<u16>,
}

impl Slab {
    fn new(class: &Class, blocks: usize) -> Self {
        let whole = blocks * class.stride;
        let (bytes, align) = if class.is_below_huge_page(blocks) {
            (whole, class.align as usize)
        } else {
            (whole.next_multiple_of(HUGE_PAGE_BYTES), HUGE_PAGE_BYTES)
        };
        let memory = BlockMemory::new((bytes, align), class.bytes, class.stride);
        let blocks = u16::try_from(blocks)
            .expect("a slab has more blocks than 1,927, those of 1 KiB in 2 MiB");
        Self { memory, fresh: 0, blocks, returned: Vec::with_capacity(usize::from(blocks)) }
    }

    const fn allocated(&self) -> usize {
        self.fresh as usize - self.returned.len()
    }

    const fn is_full(&self) -> bool {
        self.allocated() == self.blocks as usize
    }

    fn allocate(&mut self, class: &Class, slab: u32) -> Option<Block> {
        let slot = match self.returned.pop() {
            Some(slot) => slot,
            None if self.fresh < self.blocks => {
                self.fresh += 1;
                self.fresh - 1
            }
            None => return None,
        };
        Some(self.memory.allocate(slot.into(), class.class, slab))
    }
}

/// Blocks of one size and alignment, and the slabs they come from.
pub(super) struct Class {
    pub(super) bytes: u32,
    pub(super) align: u32,
    pub(super) class: BlockClass,
    stride: usize,
    slabs: Vec<Option<Slab>>,
    /// Slabs that may have a free block; each is listed at most once.
    open: Vec<u32>,
    pub(super) allocated: usize,
}

impl Class {
    pub(super) fn new(bytes: u32, align: u32, class: BlockClass) -> Self {
        let colour = LINE_BYTES.max(align as usize);
        let stride = (bytes as usize + LINE_BYTES).next_multiple_of(colour);
        Self { bytes, align, class, stride, slabs: Vec::new(), open: Vec::new(), allocated: 0 }
    }

    /// Whether a slab of `blocks` blocks is too small for huge pages.
    const fn is_below_huge_page(&self, blocks: usize) -> bool {
        blocks == FIRST_SLAB_BLOCKS || blocks * self.stride < HUGE_PAGE_BYTES
    }

    /// The number of blocks of the next slab: at first the sum of all slabs, later the number that
    /// fills huge pages.
    fn next_slab_blocks(&self) -> usize {
        let blocks = self.slabs.iter().flatten().map(|slab| usize::from(slab.blocks)).sum();
        if blocks == 0 || self.is_below_huge_page(blocks) {
            return FIRST_SLAB_BLOCKS.max(blocks);
        }
        (SLAB_BLOCKS_MIN * self.stride).next_multiple_of(HUGE_PAGE_BYTES) / self.stride
    }

    fn add_slab(&mut self) -> u32 {
        let slab = Slab::new(self, self.next_slab_blocks());
        let index = self.put_slab(slab);
        self.open.push(index);
        index
    }

    /// Files a slab under the first free number, and returns it.
    fn put_slab(&mut self, slab: Slab) -> u32 {
        let index = put(&mut self.slabs, slab);
        // Freeing a block must not allocate.
        self.open.reserve(self.slabs.len());
        index
    }

    /// Takes over the slabs of the class of another pool. Its blocks have the same size and
    /// alignment. Returns the new number of each slab. O(slabs).
    pub(super) fn absorb(&mut self, other: Self) -> Vec<u32> {
        assert!(self.stride == other.stride, "the blocks of two pools differ in size");
        let mut numbers = vec![u32::MAX; other.slabs.len()];
        for (old, slab) in other.slabs.into_iter().enumerate() {
            if let Some(slab) = slab {
                numbers[old] = self.put_slab(slab);
            }
        }
        // The slabs of this pool are used first: the last one of the list is the next one.
        self.open.splice(0..0, other.open.iter().map(|&old| numbers[old as usize]));
        self.open.reserve(self.slabs.len());
        self.allocated += other.allocated;
        numbers
    }

    pub(super) fn allocate(&mut self) -> Block {
        let index = match self.open.last() {
            Some(&index) => index,
            None => self.add_slab(),
        };
        let mut slab = self.slabs[index as usize].take().expect("an open slab does not exist");
        let block = slab.allocate(self, index).expect("an open slab has no free block");
        if slab.is_full() {
            self.open.pop();
        }
        self.slabs[index as usize] = Some(slab);
        self.allocated += 1;
        block
    }

    pub(super) fn free(&mut self, block: Block) {
        let (slab_number, slot) = block.slot();
        let slab = self.slabs[slab_number as usize]
            .as_mut()
            .expect("the slab of an allocated block does not exist");
        slab.memory.free(block);
        if slab.is_full() {
            self.open.push(slab_number);
        }
        slab.returned.push(slot);
        self.allocated -= 1;
        if slab.allocated() == 0 && self.idle_bytes() > reserve_bytes(self.allocated * self.stride)
        {
            self.release(slab_number);
        }
    }

    /// Bytes of slabs without allocated blocks.
    fn idle_bytes(&self) -> usize {
        let slabs = self.slabs.iter().flatten().filter(|slab| slab.allocated() == 0);
        slabs.map(|slab| slab.memory.capacity()).sum()
    }

    /// Returns a slab without allocated blocks to the system.
    fn release(&mut self, index: u32) {
        self.open.retain(|&open| open != index);
        self.slabs[index as usize] = None;
    }

    /// A block of a fuller slab to which the contents of `block` may move, so that its slab
    /// empties.
    pub(super) fn allocate_denser(&mut self, block: &Block) -> Option<Block> {
        let sparsest = self.sparsest().filter(|&sparsest| block.slot().0 == sparsest)?;
        let position =
            self.open.iter().position(|&open| open != sparsest && !self.is_idle(open))?;
        let last = self.open.len() - 1;
        self.open.swap(position, last);
        Some(self.allocate())
    }

    /// Whether a slab has no allocated block. Moving a block into it would be useless.
    fn is_idle(&self, index: u32) -> bool {
        self.slabs[index as usize].as_ref().is_none_or(|slab| slab.allocated() == 0)
    }

    /// The open slab with the fewest allocated blocks, if the other slabs in use have room for all
    /// of them.
    fn sparsest(&self) -> Option<u32> {
        let open = |&index: &u32| self.slabs[index as usize].as_ref().map(|slab| (index, slab));
        let used = |&(_, slab): &(u32, &Slab)| slab.allocated() > 0;
        let slabs = || self.open.iter().filter_map(open).filter(used);
        let (index, slab) = slabs().min_by_key(|&(index, slab)| (slab.allocated(), index))?;
        let others = slabs().filter(|&(other, _)| other != index);
        let room: usize = others.map(|(_, slab)| slab.blocks as usize - slab.allocated()).sum();
        (room >= slab.allocated()).then_some(index)
    }

    /// Bytes of all slabs.
    pub(super) fn slab_bytes(&self) -> usize {
        self.slabs.iter().flatten().map(|slab| slab.memory.capacity()).sum()
    }

    /// Returns every slab without allocated blocks to the system.
    pub(super) fn trim(&mut self) {
        for index in 0..self.slabs.len() {
            if self.slabs[index].as_ref().is_some_and(|slab| slab.allocated() == 0) {
                self.release(u32::try_from(index).expect("a class has 2^32 slabs or more"));
            }
        }
    }
}
