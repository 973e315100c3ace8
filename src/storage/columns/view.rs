//! One component's columns in many lists, for random access.
//!
//! A random read is bound by how many reads the processor has in flight, and that by what waits for
//! the slot of the directory: each load and each step of arithmetic behind it holds a place in a
//! queue for as long as the slot takes to come. Neither huge pages nor the size of chunks changed
//! the time of a read; each load less behind the slot did. ns a read, 100,000 entities of 12-byte
//! components in random order (Zen 5), and the loads that wait for the slot:
//!
//! | a read | loads | ns |
//! | --- | --- | --- |
//! | a flat array an archetype, nothing tested | 2 | 2.1 |
//! | one archetype has the component: what this file does | 3 | 2.4 |
//! | several have it: what this file does | 6 | 3.4 |
//! | list, chunk and row looked up and tested one by one | 6 | 3.8 |

#![expect(
    unsafe_code,
    reason = "a random read is two misses; a checked cast would be a third cost"
)]

use core::marker::PhantomData;
use core::ptr;

use crate::component::Component;
use crate::entity::{Entity, Places};
use crate::version::Version;

use super::super::chunk::ChunkList;
use super::super::stamps::{Mark, Run, Stamps};

/// Where the columns of `C` are in the chunks of several lists, each known by the number under which
/// the directory files it.
///
/// What [`ChunkList::cell`] looks up each time is looked up once. Invariant, made by
/// [`ColumnTable::push`]: for each chunk, `base + position` is a live cell for every position from
/// that of the chunk's first row up to its end in `ends`.
#[derive(Debug)]
struct ColumnTable<'w, C> {
    places: Places<'w>,
    /// The list to look in first and last, if it alone has rows of `C`.
    only: Only,
    lists: Vec<ListView>,
    /// The position behind the last row of every chunk, list after list.
    ends: Vec<u32>,
    /// Where the row at position 0 would be, were the list all in one piece with the chunk.
    bases: Vec<*const C>,
}

/// How many lists have rows.
#[derive(Clone, Copy, Debug)]
enum Only {
    None,
    List { number: u32, shift: u32 },
    Several,
}

#[derive(Clone, Copy, Debug)]
struct ListView {
    /// The list's first chunk.
    first: u32,
    shift: u32,
    /// The position behind its last row; zero if the list has no rows of the component.
    end: u32,
}

/// A live cell.
struct Found<C> {
    chunk: usize,
    cell: *const C,
}

impl<'w, C: Component> ColumnTable<'w, C> {
    fn new(places: Places<'w>, lists: usize) -> Self {
        Self {
            places,
            only: Only::None,
            lists: Vec::with_capacity(lists),
            ends: Vec::new(),
            bases: Vec::new(),
        }
    }

    /// Adds the next list, with its column of `C` if it has one. What is found is good for as long as
    /// the list's rows stay where they are.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    fn push(&mut self, list: &ChunkList, column: Option<u16>) {
        let column = column.map(usize::from).filter(|_| list.chunk_count() > 0);
        let Some(column) = column else {
            self.lists.push(ListView { first: 0, shift: 0, end: 0 });
            return;
        };
        list.columns()[column].assert_holds::<C>();
        let narrow = |n| u32::try_from(n).expect("chunks of a world");
        let (number, shift) = (narrow(self.lists.len()), u32::from(list.shift()));
        self.only = match self.only {
            Only::None => Only::List { number, shift },
            _ => Only::Several,
        };
        let first = narrow(self.ends.len());
        let offset = list.layout().offset(column) as usize;
        for chunk in 0..list.chunk_count() {
            let begin = chunk.wrapping_shl(shift);
            let start = if size_of::<C>() == 0 {
                ptr::dangling()
            } else {
                // SAFETY: `ChunkLayout` proves that the column starts inside the block.
                let start = unsafe { list.blocks()[chunk as usize].base().add(offset) };
                start.as_ptr().cast_const().cast::<C>()
            };
            self.bases.push(start.wrapping_sub(begin as usize));
            // A list has fewer than 2³² rows, because ids do, so no chunk ends there.
            self.ends.push(begin + list.rows(chunk));
        }
        let end = *self.ends.last().expect("a list with rows has a chunk");
        self.lists.push(ListView { first, shift, end });
    }

    /// The cell of an entity; `None` if it does not live or lacks the component.
    #[inline]
    fn find_any(&self, entity: Entity) -> Option<Found<C>> {
        // SAFETY: these are the table's own.
        unsafe { self.find(entity, &self.ends) }
    }

    /// The cell of an entity; `None` if it does not live or lacks the component, and if its chunk
    /// ends before it by `ends`: the table's own, or as many of which some are zero.
    ///
    /// What is not a place of a live row is answered `None` too, or with a live cell.
    ///
    /// # Safety
    ///
    /// `ends` is as long as the table's own, and no end in it is behind that of the table.
    #[inline]
    unsafe fn find(&self, entity: Entity, ends: &[u32]) -> Option<Found<C>> {
        let (chunk, at) = match self.only {
            Only::None => return None,
            Only::List { number, shift } => {
                let at = self.places.position_in(entity, number)?;
                (at.wrapping_shr(shift) as usize, at)
            }
            Only::Several => {
                // The place of a free slot is in no archetype, and so in no list.
                let place = self.places.get(entity)?;
                let (list, at) = (self.lists.get(place.archetype as usize)?, place.position);
                if at >= list.end {
                    return None;
                }
                (list.first as usize + at.wrapping_shr(list.shift) as usize, at)
            }
        };
        if at >= *ends.get(chunk)? {
            return None;
        }
        // SAFETY: `push` makes both tables equally long, and by the contract `ends` is no longer.
        let base = unsafe { self.bases.get_unchecked(chunk) };
        // The position is of this chunk, since it is not behind its list and was shifted by what the
        // list shifts by; so it is not before the chunk's first row, and not behind its last one.
        Some(Found { chunk, cell: base.wrapping_add(at as usize) })
    }
}

/// Component `C` of many entities, for reading.
#[derive(Debug)]
pub(crate) struct ColumnViews<'w, C> {
    table: ColumnTable<'w, C>,
    borrow: PhantomData<&'w [C]>,
}

// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Send for ColumnViews<'_, C> {}
// SAFETY: as above.
unsafe impl<C: Sync> Sync for ColumnViews<'_, C> {}

impl<'w, C: Component> ColumnViews<'w, C> {
    /// A view that will have so many lists, for the entities that are at these places.
    pub(crate) fn new(places: Places<'w>, lists: usize) -> Self {
        Self { table: ColumnTable::new(places, lists), borrow: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(&mut self, list: &'w ChunkList, column: Option<u16>) {
        self.table.push(list, column);
    }

    /// The cell of an entity; `None` if it does not live or lacks the component.
    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Option<&'w C> {
        let found = self.table.find_any(entity)?;
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised, and `push` borrowed its
        // list shared for `'w`, so that nothing moves it or writes it.
        Some(unsafe { &*found.cell })
    }
}

/// Component `C` of many entities, for writing.
#[derive(Debug)]
pub(crate) struct ColumnViewsMut<'w, C> {
    table: ColumnTable<'w, C>,
    /// The ends of the chunks that are stamped, and zero of the others: nobody else stamps them
    /// meanwhile, so that once is enough, and which are need not be asked apart.
    open: Vec<u32>,
    /// The stamps of every chunk.
    marks: Vec<Mark<'w>>,
    /// The version of what is written.
    now: Version,
    borrow: PhantomData<&'w mut [C]>,
}

// SAFETY: a view is the right to write components, which are `Send`.
unsafe impl<C: Send> Send for ColumnViewsMut<'_, C> {}
// SAFETY: a shared view only reads components, which are `Sync`.
unsafe impl<C: Sync> Sync for ColumnViewsMut<'_, C> {}

impl<'w, C: Component> ColumnViewsMut<'w, C> {
    /// A view that will have so many lists, for the entities that are at these places. What it
    /// writes is of version `now`.
    pub(crate) fn new(places: Places<'w>, lists: usize, now: Version) -> Self {
        let table = ColumnTable::new(places, lists);
        Self { table, open: Vec::new(), marks: Vec::new(), now, borrow: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one, and its stamps.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(
        &mut self,
        list: &'w mut ChunkList,
        stamps: &'w Stamps,
        column: Option<u16>,
    ) {
        // SAFETY: the list is borrowed exclusively for `'w`.
        unsafe { self.push_leased(list, stamps, column) }
    }

    /// [`ColumnViewsMut::push`] of a list of a divided world.
    ///
    /// # Safety
    ///
    /// For `'w` nobody else reads or writes the column or its stamps, and the list's rows stay where
    /// they are. A list is added once.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) unsafe fn push_leased(
        &mut self,
        list: &'w ChunkList,
        stamps: &'w Stamps,
        column: Option<u16>,
    ) {
        self.table.push(list, column);
        if let Some(column) = column {
            let chunks = 0..list.chunk_count() as usize;
            self.marks.extend(chunks.map(|chunk| stamps.mark(Run::column(column), chunk)));
        }
        self.open.resize(self.table.ends.len(), 0);
        debug_assert_eq!(self.marks.len(), self.open.len(), "stamps for every chunk");
    }

    /// The cell of an entity, for reading; `None` if it does not live or lacks the component.
    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Option<&C> {
        let found = self.table.find_any(entity)?;
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised, and by `push_leased` it is
        // this view's alone, which is borrowed shared.
        Some(unsafe { &*found.cell })
    }

    /// The cell of an entity, for writing, whose chunk is stamped; `None` if the entity does not live
    /// or lacks the component.
    #[inline]
    pub(crate) fn get_mut(&mut self, entity: Entity) -> Option<&mut C> {
        // SAFETY: `push_leased` makes `open` as long as the table, and `open` copies ends from there.
        let found = match unsafe { self.table.find(entity, &self.open) } {
            Some(found) => found,
            None => self.open(entity)?,
        };
        // SAFETY: as in `get`, and the view is borrowed exclusively. The pointer came from the block's
        // own, which may be written through.
        Some(unsafe { &mut *found.cell.cast_mut() })
    }

    /// The cell of an entity whose chunk may not be stamped yet. It is then.
    #[cold]
    fn open(&mut self, entity: Entity) -> Option<Found<C>> {
        let found = self.table.find_any(entity)?;
        self.marks[found.chunk].set(self.now);
        self.open[found.chunk] = self.table.ends[found.chunk];
        Some(found)
    }
}
