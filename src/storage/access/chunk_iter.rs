//! Cutting chunks into slices.

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

/// Walks the chunks of one list and cuts each of them once.
#[derive(Debug)]
pub(crate) struct ChunkIter<'w> {
    blocks: &'w [Block],
    row: ArchetypeColumns<'w>,
    capacity: u32,
    tail: u32,
    chunks: u32,
    /// The chunk to be cut next.
    next: u32,
    small: bool,
    exclusive: bool,
}

impl<'w> ChunkIter<'w> {
    /// All chunks, for reading.
    ///
    /// # Panics
    ///
    /// If `row` was made for another list.
    #[inline]
    pub(crate) fn shared(list: &'w ChunkList, row: ArchetypeColumns<'w>) -> Self {
        Self::new(list, row, false)
    }

    /// All chunks, for writing: the list is borrowed exclusively for as long as the slices live.
    ///
    /// # Panics
    ///
    /// If `row` was made for another list.
    #[inline]
    pub(crate) fn exclusive(list: &'w mut ChunkList, row: ArchetypeColumns<'w>) -> Self {
        Self::new(list, row, true)
    }

    /// All chunks of a list that others look at as well, for writing.
    ///
    /// # Safety
    ///
    /// For `'w` nobody else reads or writes the cells of the columns that the row writes, nor
    /// writes those that it reads.
    ///
    /// # Panics
    ///
    /// If `row` was made for another list.
    #[inline]
    pub(crate) unsafe fn leased(list: &'w ChunkList, row: ArchetypeColumns<'w>) -> Self {
        Self::new(list, row, true)
    }

    #[inline]
    fn new(list: &'w ChunkList, row: ArchetypeColumns<'w>, exclusive: bool) -> Self {
        assert!(row.key == list.key(), "the row was made for this list");
        Self {
            blocks: list.blocks(),
            row,
            capacity: list.capacity(),
            tail: list.tail(),
            chunks: list.chunk_count(),
            next: 0,
            small: list.is_small(),
            exclusive,
        }
    }

    /// The columns that are cut.
    #[inline]
    pub(crate) const fn row(&self) -> ArchetypeColumns<'w> {
        self.row
    }

    /// Chunks of the list.
    #[inline]
    pub(crate) const fn count(&self) -> usize {
        self.chunks as usize
    }

    /// Rows of a full chunk.
    #[inline]
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The number of the chunk that is cut next.
    #[inline]
    pub(crate) const fn index(&self) -> usize {
        self.next as usize
    }

    /// Whether all chunks are cut.
    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        self.next >= self.chunks
    }

    /// Rows of a chunk.
    #[inline]
    const fn rows(&self, chunk: u32) -> u32 {
        if chunk + 1 == self.chunks { self.tail } else { self.capacity }
    }

    /// Passes over the next chunk.
    #[inline]
    pub(crate) const fn skip(&mut self) {
        self.next += 1;
    }

    /// Cuts the next chunk. With `padded`, its slices are rounded up to whole vectors.
    #[inline]
    pub(crate) fn cut(&mut self, padded: bool) -> Option<ChunkColumns<'w>> {
        if self.is_done() {
            return None;
        }
        let live = self.rows(self.next);
        let base = match self.blocks.get(self.next as usize) {
            Some(block) => block.base(),
            // Rows of tags only have no block, and their slices no bytes.
            None => {
                assert!(self.blocks.is_empty(), "a block for every chunk, or for none");
                NonNull::dangling()
            }
        };
        self.next += 1;
        let len = if padded { padded_rows(live, self.capacity) } else { live };
        Some(ChunkColumns {
            base,
            len: len as usize,
            live: live as usize,
            columns: self.row.columns().iter(),
            small: self.small,
            exclusive: self.exclusive,
            borrow: PhantomData,
        })
    }

    /// SystemAccess for the first lines of each page of the next chunk's columns.
    ///
    /// Hardware prefetchers restart at every 4 KiB page and every column run; the first lines of a
    /// run are misses unless somebody asks for them early.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        const LINES: usize = 8;
        const PAGE_BYTES: usize = 4096;
        let Some(block) = self.blocks.get(self.next as usize) else { return };
        let rows = self.rows(self.next) as usize;
        for column in self.row.columns().iter().filter(|c| c.column().is_some()) {
            let start = column.offsets[usize::from(self.small)] as usize;
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

/// One chunk, from which each column of a table row is taken once.
#[derive(Debug)]
pub(crate) struct ChunkColumns<'w> {
    base: NonNull<u8>,
    len: usize,
    live: usize,
    columns: slice::Iter<'w, ColumnRef>,
    small: bool,
    exclusive: bool,
    borrow: PhantomData<&'w mut [u8]>,
}

/// A chunk from which the columns of a table row are taken, in order.
pub trait Columns<'w> {
    /// Rows of the slices, padding included.
    fn len(&self) -> usize;

    /// The next column, for reading; `None` if the archetype lacks it.
    fn column<C: Component>(&mut self) -> Option<&'w [C]>;

    /// The next column, for writing; `None` if the archetype lacks it.
    ///
    /// # Panics
    ///
    /// If the table row did not ask to write it, or the list is borrowed shared.
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]>;
}

impl<'w> ChunkColumns<'w> {
    /// Live rows.
    #[inline]
    pub(crate) const fn live(&self) -> usize {
        self.live
    }

    /// Passes over so many columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.columns = self.columns.as_slice()[columns..].iter();
    }

    /// Bytes of the slices that are left to take.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.as_slice().iter().map(|c| c.size as usize * self.len).sum()
    }

    #[inline]
    fn next<C: Component>(&mut self) -> Option<ColumnRef> {
        let column = *self.columns.next().expect("a table row has a column for every term");
        column.column()?;
        assert!(column.size as usize == size_of::<C>(), "a column of this size");
        assert!(is_aligned_for::<C>(1 << column.align_log2), "a column of this alignment");
        Some(column)
    }

    /// Where the column's run of rows starts.
    #[inline]
    fn address<C: Component>(&self, column: ColumnRef) -> NonNull<C> {
        if size_of::<C>() == 0 {
            return NonNull::dangling();
        }
        let offset = column.offsets[usize::from(self.small)] as usize;
        // SAFETY: `ChunkLayout` proves that `capacity` rows from `offset` on are inside the block,
        // and the key says that the offset is of this list's layout.
        let start = unsafe { self.base.add(offset) };
        debug_assert!(start.cast::<C>().is_aligned(), "columns are aligned for their type");
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
        // chunk, which `ChunkList` keeps initialised; nobody writes them for `'w`: the table row
        // names no written column twice, and the list is borrowed for `'w`, or the column is by
        // the contract of `ChunkIter::leased`.
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
    }

    #[inline]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let column = self.next::<C>()?;
        assert!(column.write && self.exclusive, "the column may be written");
        let start = self.address::<C>(column);
        // SAFETY: as in `column`; and exclusive, because the list is borrowed exclusively for
        // `'w`, or the column is by the contract of `ChunkIter::leased`; `ChunkIter` cuts each row
        // once, and this is the only mention of the column in the table row.
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }
}
