//! One component's columns in many lists, for random reads.

#![expect(
    unsafe_code,
    reason = "a random read is two misses; a checked cast would be a third cost"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::component::Component;

use super::super::chunk::ChunkList;
use super::super::place::Position;

/// Where the columns of `C` start in the chunks of several lists, each known by a number.
///
/// What [`ChunkList::cell`] looks up each time is looked up once: a read is the list's entry, the
/// chunk's, and the datum. A position that is not of its list may find a cell of another list, never
/// anything but a live cell.
#[derive(Debug)]
pub(crate) struct ColumnViews<'w, C> {
    lists: Vec<ListView>,
    /// The column in every chunk, list after list.
    chunks: Vec<ChunkView<C>>,
    borrow: PhantomData<&'w [C]>,
}

// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Send for ColumnViews<'_, C> {}
// SAFETY: as above.
unsafe impl<C: Sync> Sync for ColumnViews<'_, C> {}

#[derive(Clone, Copy, Debug)]
struct ListView {
    /// The list's first chunk in `chunks`; behind the end if the list lacks the component.
    first: u32,
    shift: u32,
    row_mask: u32,
}

#[derive(Clone, Copy, Debug)]
struct ChunkView<C> {
    start: NonNull<C>,
    /// Live rows.
    rows: u32,
}

impl<'w, C: Component> ColumnViews<'w, C> {
    pub(crate) fn with_capacity(lists: usize) -> Self {
        Self { lists: Vec::with_capacity(lists), chunks: Vec::new(), borrow: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(&mut self, list: &'w ChunkList, column: Option<u16>) {
        let Some(column) = column.map(usize::from) else {
            self.lists.push(ListView { first: u32::MAX, shift: 0, row_mask: 0 });
            return;
        };
        list.columns()[column].assert_holds::<C>();
        let first = u32::try_from(self.chunks.len()).expect("chunks of a world");
        let shift = list.shift().into();
        self.lists.push(ListView { first, shift, row_mask: (1 << shift) - 1 });
        let offset = list.layout().offset(column) as usize;
        self.chunks.extend((0..list.chunk_count()).map(|chunk| {
            let start = if size_of::<C>() == 0 {
                NonNull::dangling()
            } else {
                // SAFETY: `ChunkLayout` proves that the column starts inside the block.
                unsafe { list.blocks()[chunk as usize].base().add(offset) }.cast::<C>()
            };
            ChunkView { start, rows: list.rows(chunk) }
        }));
    }

    /// The cell at a position of a list; `None` if there is no such row, or no such component.
    #[inline]
    pub(crate) fn get(&self, list: u32, at: Position) -> Option<&'w C> {
        let view = self.lists.get(list as usize)?;
        let chunk = view.first as usize + at.0.wrapping_shr(view.shift) as usize;
        let (chunk, row) = (self.chunks.get(chunk)?, at.0 & view.row_mask);
        if row >= chunk.rows {
            return None;
        }
        // SAFETY: `push` took `rows` from the list, and `'w` keeps it true: the row is live in a
        // column of `C`'s size, and `ChunkLayout` has it inside the block.
        let address = unsafe { chunk.start.add(row as usize) };
        // SAFETY: aligned by `ChunkLayout`, initialised because it is live, and the list is
        // borrowed shared for `'w` by `push`.
        Some(unsafe { address.as_ref() })
    }
}
