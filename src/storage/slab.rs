//! Slabs: large allocations that are cut into blocks, and the pool that hands the blocks out.
//!
//! A slab holds blocks of one size at a stride of `bytes + 64` (see the essay in [`storage`](super)
//! on colours): 127 chunks of 16 KiB in 2 MiB. It is one allocation, owned by `aligned-vec`, but
//! never read as a vector: its length stays zero and blocks are reached through the base pointer.
//! So memory that no row has touched is never committed.
//!
//! The first slabs of a size are small, each as large as all before it together, so that a small
//! world requests little memory: a huge page is zeroed as a whole at the first touch. From 2 MiB
//! on, slabs are multiples of 2 MiB, aligned to 2 MiB, and advised to be huge pages where the
//! system supports them (7 to 12 % at DRAM size).
//!
//! Slabs without allocated blocks are kept for reuse, up to 16 MiB of each size or an eighth of the
//! allocated blocks, whichever is more. Others are returned to the system. [`Pool::trim`] returns
//! them all.

#![expect(
    unsafe_code,
    reason = "blocks are raw memory: a `Vec<u8>` would have to initialise 2 MiB to hand out 16 KiB"
)]

use core::fmt;
use core::ptr::NonNull;

use aligned_vec::{AVec, RuntimeAlign};

use crate::line::LINE_BYTES;

use super::layout::ChunkLayout;

/// The size and alignment of a huge page, on machines that have them.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Blocks in the first slab of a size.
const FIRST_SLAB_BLOCKS: usize = 16;
/// Bytes of empty slabs of one size that are always kept.
const RESERVE_BYTES_MIN: usize = 16 << 20;
/// Beyond that, empty slabs are kept up to this fraction of the allocated blocks.
const RESERVE_SHARE: usize = 8;
/// Later slabs have at least this many blocks, so that the unused rest stays below 2 %.
const SLAB_BLOCKS_MIN: usize = 63;

/// A piece of a slab, allocated from a [`Pool`] by one owner. It is freed through the pool or
/// dropped with it.
///
/// Invariant, established by [`Slab::allocate`]: `base .. base + bytes` is allocated, belongs to
/// this block alone, and `base` has the alignment of the block's class.
///
/// A block takes sixteen bytes, so that a pass over many small archetypes loads few lines.
pub(super) struct Block {
    base: NonNull<u8>,
    slab: u32,
    slot: u16,
    /// The size of a block is a power of two.
    bytes_log2: u8,
}

// SAFETY: a block is the only access to its bytes, which are plain memory. Moving it to another
// thread moves the right to use them.
unsafe impl Send for Block {}
// SAFETY: a shared block gives only its address. What writes through the address has `&mut` of the
// list, or is `unsafe` and its caller has promised that nothing else accesses those cells.
unsafe impl Sync for Block {}

impl Block {
    #[inline]
    pub(super) const fn base(&self) -> NonNull<u8> {
        self.base
    }

    #[inline]
    pub(super) const fn bytes(&self) -> u32 {
        1 << self.bytes_log2
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} B, slab {}, slot {})", self.bytes(), self.slab, self.slot)
    }
}

/// One allocation, cut into blocks.
struct Slab {
    memory: AVec<u8, RuntimeAlign>,
    base: NonNull<u8>,
    /// The first slot that was never allocated. Each slot below it is allocated or in `returned`.
    fresh: u16,
    blocks: u16,
    returned: Vec<u16>,
}

// SAFETY: `base` points into `memory`, which the slab owns. Nothing else is bound to a thread.
unsafe impl Send for Slab {}
// SAFETY: a shared slab gives no access to its memory.
unsafe impl Sync for Slab {}

impl Slab {
    fn new(class: &Class, blocks: usize) -> Self {
        let whole = blocks * class.stride;
        let (bytes, align) = if class.is_below_huge_page(blocks) {
            (whole, class.align as usize)
        } else {
            (whole.next_multiple_of(HUGE_PAGE_BYTES), HUGE_PAGE_BYTES)
        };
        let mut memory = AVec::with_capacity(align, bytes);
        let base = NonNull::new(memory.as_mut_ptr()).expect("an allocation is null");
        if align == HUGE_PAGE_BYTES {
            advise_huge_pages(base, bytes);
        }
        let blocks = u16::try_from(blocks)
            .expect("a slab has more blocks than 1,927, those of 1 KiB in 2 MiB");
        Self { memory, base, fresh: 0, blocks, returned: Vec::with_capacity(usize::from(blocks)) }
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
        let offset = slot as usize * class.stride;
        debug_assert!(
            offset + class.bytes as usize <= self.memory.capacity(),
            "the block lies outside its slab"
        );
        // SAFETY: `slot < blocks`, and `Slab::new` allocates at least `blocks * stride` bytes with
        // `stride >= bytes`. So the offset and the block that starts there are inside the
        // allocation.
        let base = unsafe { self.base.add(offset) };
        let bytes_log2 = class.bytes.trailing_zeros();
        let bytes_log2 =
            u8::try_from(bytes_log2).expect("the size of a block has more than 255 bits");
        Some(Block { base, slab, slot, bytes_log2 })
    }
}

/// Blocks of one size and alignment, and the slabs they come from.
struct Class {
    bytes: u32,
    align: u32,
    stride: usize,
    slabs: Vec<Option<Slab>>,
    /// Slabs that may have a free block; each is listed at most once.
    open: Vec<u32>,
    allocated: usize,
}

impl Class {
    fn new(bytes: u32, align: u32) -> Self {
        let colour = LINE_BYTES.max(align as usize);
        let stride = (bytes as usize + LINE_BYTES).next_multiple_of(colour);
        Self { bytes, align, stride, slabs: Vec::new(), open: Vec::new(), allocated: 0 }
    }

    /// Whether a slab of `blocks` blocks is too small for huge pages.
    const fn is_below_huge_page(&self, blocks: usize) -> bool {
        blocks == FIRST_SLAB_BLOCKS || blocks * self.stride < HUGE_PAGE_BYTES
    }

    /// Blocks of the next slab: at first as many as all slabs have together, then as many as fill
    /// huge pages.
    fn next_slab_blocks(&self) -> usize {
        let blocks = self.slabs.iter().flatten().map(|slab| usize::from(slab.blocks)).sum();
        if blocks == 0 || self.is_below_huge_page(blocks) {
            return FIRST_SLAB_BLOCKS.max(blocks);
        }
        (SLAB_BLOCKS_MIN * self.stride).next_multiple_of(HUGE_PAGE_BYTES) / self.stride
    }

    fn add_slab(&mut self) -> u32 {
        let slab = Slab::new(self, self.next_slab_blocks());
        let index = match self.slabs.iter().position(Option::is_none) {
            Some(index) => index,
            None => {
                self.slabs.push(None);
                self.slabs.len() - 1
            }
        };
        self.slabs[index] = Some(slab);
        // Freeing a block must not allocate.
        self.open.reserve(self.slabs.len());
        let index = u32::try_from(index).expect("a class has 2^32 slabs or more");
        self.open.push(index);
        index
    }

    fn allocate(&mut self) -> Block {
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

    fn free(&mut self, block: Block) {
        let slab = self.slabs[block.slab as usize]
            .as_mut()
            .expect("the slab of an allocated block does not exist");
        if slab.is_full() {
            self.open.push(block.slab);
        }
        slab.returned.push(block.slot);
        self.allocated -= 1;
        if slab.allocated() == 0 && self.idle_bytes() > self.reserve_bytes() {
            self.release(block.slab);
        }
    }

    /// Bytes of slabs without allocated blocks.
    fn idle_bytes(&self) -> usize {
        let slabs = self.slabs.iter().flatten().filter(|slab| slab.allocated() == 0);
        slabs.map(|slab| slab.memory.capacity()).sum()
    }

    /// Bytes that may be idle.
    fn reserve_bytes(&self) -> usize {
        RESERVE_BYTES_MIN.max(self.allocated * self.stride / RESERVE_SHARE)
    }

    /// Returns a slab without allocated blocks to the system.
    fn release(&mut self, index: u32) {
        self.open.retain(|&open| open != index);
        self.slabs[index as usize] = None;
    }

    /// A block of a fuller slab to which the contents of `block` may move, so that its slab
    /// empties.
    fn allocate_denser(&mut self, block: &Block) -> Option<Block> {
        let sparsest = self.sparsest().filter(|&sparsest| block.slab == sparsest)?;
        let position =
            self.open.iter().position(|&open| open != sparsest && !self.is_idle(open))?;
        let last = self.open.len() - 1;
        self.open.swap(position, last);
        Some(self.allocate())
    }

    /// Whether a slab has no allocated block. Moving a block into it would gain nothing.
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
}

/// Allocates blocks for all archetypes of a world.
#[derive(Default)]
pub(crate) struct Pool {
    classes: Vec<Class>,
}

impl Pool {
    fn class(&mut self, bytes: u32, align: u32) -> &mut Class {
        let found = self.classes.iter().position(|c| c.bytes == bytes && c.align == align);
        let index = found.unwrap_or_else(|| {
            self.classes.push(Class::new(bytes, align));
            self.classes.len() - 1
        });
        &mut self.classes[index]
    }

    /// Allocates a block for this layout. Its bytes are uninitialised.
    pub(super) fn allocate(&mut self, layout: &ChunkLayout) -> Block {
        self.class(layout.bytes(), layout.align()).allocate()
    }

    /// Frees a block.
    ///
    /// # Panics
    ///
    /// If the block does not have the layout's size.
    pub(super) fn free(&mut self, layout: &ChunkLayout, block: Block) {
        assert!(block.bytes() == layout.bytes(), "the block was allocated for another layout");
        self.class(layout.bytes(), layout.align()).free(block);
    }

    /// Allocates another block for the contents of `block`, if moving them helps to empty a slab.
    pub(super) fn allocate_denser(&mut self, layout: &ChunkLayout, block: &Block) -> Option<Block> {
        self.class(layout.bytes(), layout.align()).allocate_denser(block)
    }

    /// Allocated blocks of all sizes.
    pub(crate) fn allocated(&self) -> usize {
        self.classes.iter().map(|c| c.allocated).sum()
    }

    /// Bytes of all slabs, allocated or not, committed or not.
    pub(crate) fn slab_bytes(&self) -> usize {
        let slabs = self.classes.iter().flat_map(|c| c.slabs.iter().flatten());
        slabs.map(|slab| slab.memory.capacity()).sum()
    }

    /// Returns every slab without allocated blocks to the system, including those kept for reuse.
    pub(crate) fn trim(&mut self) {
        for class in &mut self.classes {
            for index in 0..class.slabs.len() {
                if class.slabs[index].as_ref().is_some_and(|slab| slab.allocated() == 0) {
                    class.release(u32::try_from(index).expect("a class has 2^32 slabs or more"));
                }
            }
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes = self.classes.iter().map(|c| (c.bytes, c.align, c.allocated));
        f.debug_list().entries(classes).finish()
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the range is one allocation of this process, and this advice does not change its
    // contents.
    let refused = unsafe { libc::madvise(base.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
    // A system without huge pages refuses. The slab then has ordinary pages.
    let _ = refused;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
const fn advise_huge_pages(_base: NonNull<u8>, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::super::chunk_size::ChunkSize;
    use super::super::layout::{ColumnShape, ListLayout};
    use super::*;

    fn layout(align: usize) -> ListLayout {
        let shape = ColumnShape { name: "shape", size: align.max(4), align };
        ListLayout::new(ChunkSize::KIB_16, vec![shape]).expect("fits")
    }

    #[test]
    fn bases_are_aligned_and_coloured() {
        for align in [4, 64, 128, 4096] {
            let (mut pool, layout) = (Pool::default(), layout(align));
            let blocks: Vec<_> = (0..40).map(|_| pool.allocate(layout.chunk())).collect();
            let mut bases: Vec<_> = blocks.iter().map(|b| b.base().addr().get()).collect();
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
}
