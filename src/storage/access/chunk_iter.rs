//! The chunks of a list, taken apart into slices.

#![expect(
    unsafe_code,
    reason = "disjoint typed slices of one block; the safe form costs 4 to 12 % in L1"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;
use crate::line::LINE_BYTES;

use super::column_map::{ArchetypeColumns, ColumnRef};
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::{is_aligned_for, padded_rows};
use crate::storage::slab::Block;

/// Iterates over the chunks of one list, each of which is taken once.
#[derive(Debug)]
pub(crate) struct ChunkIter<'w> {
    blocks: &'w [Block],
    columns: ArchetypeColumns<'w>,
    capacity: u32,
    tail: u32,
    chunk_len: u32,
    /// The number of the next chunk.
    next: u32,
    in_first_block: bool,
    exclusive: bool,
}

impl<'w> ChunkIter<'w> {
    /// All chunks, for reading.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline]
    pub(crate) fn shared(list: &'w ChunkList, columns: ArchetypeColumns<'w>) -> Self {
        Self::new(list, columns, false)
    }

    /// All chunks, for writing. The list is borrowed exclusively for as long as the slices.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline]
    pub(crate) fn exclusive(list: &'w mut ChunkList, columns: ArchetypeColumns<'w>) -> Self {
        Self::new(list, columns, true)
    }

    /// All chunks of a list that is borrowed elsewhere as well, for writing.
    ///
    /// # Safety
    ///
    /// For `'w` nothing else reads or writes the cells of the columns that `columns` writes, and
    /// nothing writes those that it reads.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline]
    pub(crate) unsafe fn exclusive_unchecked(
        list: &'w ChunkList,
        columns: ArchetypeColumns<'w>,
    ) -> Self {
        Self::new(list, columns, true)
    }

    #[inline]
    fn new(list: &'w ChunkList, columns: ArchetypeColumns<'w>, exclusive: bool) -> Self {
        assert!(columns.key == list.key(), "the columns belong to another list");
        Self {
            blocks: list.blocks(),
            columns,
            capacity: list.capacity(),
            tail: list.tail(),
            chunk_len: list.chunk_len(),
            next: 0,
            in_first_block: list.in_first_block(),
            exclusive,
        }
    }

    /// The columns that are taken from each chunk.
    #[inline]
    pub(crate) const fn columns(&self) -> ArchetypeColumns<'w> {
        self.columns
    }

    /// Number of chunks of the list.
    #[inline]
    pub(crate) const fn chunk_len(&self) -> usize {
        self.chunk_len as usize
    }

    /// Rows of a full chunk.
    #[inline]
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The number of the next chunk.
    #[inline]
    pub(crate) const fn index(&self) -> usize {
        self.next as usize
    }

    /// Whether there is no next chunk.
    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        self.next >= self.chunk_len
    }

    /// Rows of a chunk.
    #[inline]
    const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunk_len { self.tail } else { self.capacity }
    }

    /// Skips the next chunk.
    #[inline]
    pub(crate) const fn skip(&mut self) {
        self.next += 1;
    }

    /// Takes the next chunk. With `padded`, its slices are rounded up to whole vectors.
    #[inline]
    pub(crate) fn next_chunk(&mut self, padded: bool) -> Option<ChunkColumns<'w>> {
        if self.is_done() {
            return None;
        }
        let live = self.rows(self.next);
        let base = match self.blocks.get(self.next as usize) {
            Some(block) => block.base(),
            // Rows of tags have no block, and their slices no bytes.
            None => {
                assert!(self.blocks.is_empty(), "a chunk has no block");
                NonNull::dangling()
            }
        };
        self.next += 1;
        let len = if padded { padded_rows(live, self.capacity) } else { live };
        Some(ChunkColumns {
            base,
            len: len as usize,
            live: live as usize,
            columns: self.columns.columns().iter(),
            in_first_block: self.in_first_block,
            exclusive: self.exclusive,
            borrow: PhantomData,
        })
    }

    /// Prefetches the first lines of each page of the next chunk's columns.
    ///
    /// Hardware prefetchers restart at every 4 KiB page and every column, so that the first lines
    /// of each are misses unless they are prefetched.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        const LINES: usize = 8;
        const PAGE_BYTES: usize = 4096;
        let Some(block) = self.blocks.get(self.next as usize) else { return };
        let rows = self.rows(self.next) as usize;
        for column in self.columns.columns().iter().filter(|c| c.column().is_some()) {
            let start = column.offsets[usize::from(self.in_first_block)] as usize;
            for page in (0..rows * column.size as usize).step_by(PAGE_BYTES) {
                for line in 0..LINES {
                    prefetch(block.base().as_ptr().wrapping_add(start + page + line * LINE_BYTES));
                }
            }
        }
    }
}

/// A hint to bring a line into the first-level cache.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it reads nothing and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// One chunk, from which each column of an entry is taken once.
#[derive(Debug)]
pub(crate) struct ChunkColumns<'w> {
    base: NonNull<u8>,
    len: usize,
    live: usize,
    columns: slice::Iter<'w, ColumnRef>,
    in_first_block: bool,
    exclusive: bool,
    borrow: PhantomData<&'w mut [u8]>,
}

/// A chunk from which the columns of an entry are taken, in order.
pub trait Columns<'w> {
    /// Rows of the slices, padding included.
    fn len(&self) -> usize;

    /// The next column, for reading; `None` if the archetype lacks it.
    fn column<C: Component>(&mut self) -> Option<&'w [C]>;

    /// The next column, for writing; `None` if the archetype lacks it.
    ///
    /// # Panics
    ///
    /// If the entry does not write the column, or the list is borrowed shared.
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]>;
}

impl<'w> ChunkColumns<'w> {
    /// Live rows.
    #[inline]
    pub(crate) const fn live(&self) -> usize {
        self.live
    }

    /// Skips `columns` columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.columns = self.columns.as_slice()[columns..].iter();
    }

    /// Bytes of the slices that were not taken yet.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.as_slice().iter().map(|c| c.size as usize * self.len).sum()
    }

    #[inline]
    fn next<C: Component>(&mut self) -> Option<ColumnRef> {
        let column = *self.columns.next().expect("the entry has no column left");
        column.column()?;
        assert!(
            column.size as usize == size_of::<C>(),
            "the column has another size than the type"
        );
        assert!(
            is_aligned_for::<C>(1 << column.align_log2),
            "the column is not aligned for the type"
        );
        Some(column)
    }

    /// The address of the column's first row.
    #[inline]
    fn address<C: Component>(&self, column: ColumnRef) -> NonNull<C> {
        if size_of::<C>() == 0 {
            return NonNull::dangling();
        }
        let offset = column.offsets[usize::from(self.in_first_block)] as usize;
        // SAFETY: `ChunkLayout` proves that `capacity` rows from `offset` on are inside the block,
        // and the key of the entry proves that the offset is one of this list's layout.
        let start = unsafe { self.base.add(offset) };
        debug_assert!(start.cast::<C>().is_aligned(), "the column is not aligned for its type");
        start.cast()
    }
}

impl<'w> Columns<'w> for ChunkColumns<'w> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn column<C: Component>(&mut self) -> Option<&'w [C]> {
        let column = self.next::<C>()?;
        let start = self.address::<C>(column);
        // SAFETY: `address` is aligned for `C` and followed by `len` rows of a column of this
        // chunk, which `ChunkList` keeps initialised. Nothing writes them for `'w`: the entry names
        // no written column twice (`ColumnMap::push`), and the list is borrowed exclusively, or
        // shared, and what writes through it has promised that nothing else reads its columns
        // (`ChunkIter::exclusive_unchecked`).
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
    }

    #[inline]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let column = self.next::<C>()?;
        assert!(column.write && self.exclusive, "the column is borrowed for reading only");
        let start = self.address::<C>(column);
        // SAFETY: aligned and initialised as in `column`. The slice is exclusive: the list is
        // borrowed exclusively for `'w`, or the column is protected by the contract of
        // `ChunkIter::exclusive_unchecked`; `ChunkIter` takes each chunk once; and the entry names
        // the column once (`ColumnMap::push`).
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }
}
