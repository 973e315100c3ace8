//! One component's columns in many lists, for random reads.

#![expect(
    unsafe_code,
    reason = "a random read is two misses; a checked cast would be a third cost"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::component::Component;

use super::super::chunk::{ChunkList, Position};

/// Where the columns of `C` start in the chunks of several lists, each known by a number.
///
/// What [`ChunkList::cell`] looks up each time is looked up once: a read is the list's entry, the
/// chunk's pointer and the datum.
#[derive(Debug)]
pub(crate) struct ColumnViews<'w, C> {
    lists: Vec<ListView>,
    /// The column's start in every chunk, list after list.
    starts: Vec<NonNull<C>>,
    borrow: PhantomData<&'w [C]>,
}

// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Send for ColumnViews<'_, C> {}
// SAFETY: as above.
unsafe impl<C: Sync> Sync for ColumnViews<'_, C> {}

#[derive(Clone, Copy, Debug, Default)]
struct ListView {
    /// The position behind the last row; zero if the list lacks the component.
    end: u32,
    row_mask: u32,
    capacity: u32,
    /// The list's first chunk in `starts`.
    first: u32,
    shift: u8,
}

impl<'w, C: Component> ColumnViews<'w, C> {
    pub(crate) fn with_capacity(lists: usize) -> Self {
        Self { lists: Vec::with_capacity(lists), starts: Vec::new(), borrow: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(&mut self, list: &'w ChunkList, column: Option<u16>) {
        let Some(column) = column.map(usize::from).filter(|_| list.len() > 0) else {
            self.lists.push(ListView::default());
            return;
        };
        list.columns()[column].assert_holds::<C>();
        self.lists.push(ListView {
            // Behind a full chunk of `1 << shift` rows this carries into the next chunk's number.
            end: list.position(list.chunk_count() - 1, list.tail() - 1).0.saturating_add(1),
            row_mask: (1 << list.shift()) - 1,
            capacity: list.capacity(),
            first: u32::try_from(self.starts.len()).expect("chunks of a world"),
            shift: list.shift(),
        });
        if size_of::<C>() == 0 {
            let chunks = list.chunk_count() as usize;
            self.starts.extend(core::iter::repeat_n(NonNull::dangling(), chunks));
            return;
        }
        let offset = list.layout().offset(column) as usize;
        self.starts.extend(list.blocks().iter().map(|block| {
            // SAFETY: `ChunkLayout` proves that the column starts inside the block.
            unsafe { block.base().add(offset) }.cast::<C>()
        }));
    }

    /// The cell at a position of a list; `None` if there is no such row, or no such component.
    #[inline]
    pub(crate) fn get(&self, list: u32, at: Position) -> Option<&'w C> {
        let view = self.lists.get(list as usize)?;
        let row = at.0 & view.row_mask;
        // Positions ascend from row to row and from chunk to chunk.
        if at.0 >= view.end || row >= view.capacity {
            return None;
        }
        let start = *self.starts.get((view.first + (at.0 >> view.shift)) as usize)?;
        // SAFETY: by `end` and `capacity`, which `push` took from the list and which `'w` keeps
        // true, the row is live in a column of `C`'s size: `ChunkLayout` has it inside the block.
        let address = unsafe { start.add(row as usize) };
        // SAFETY: aligned by `ChunkLayout`, initialised because it is live, and the list is
        // borrowed shared for `'w` by `push`.
        Some(unsafe { address.as_ref() })
    }
}
