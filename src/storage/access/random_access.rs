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
//! | several have it, each word of a list and a chunk loaded for itself | 6 | 3.4 |
//! | list, chunk and row looked up and tested one by one | 6 | 3.8 |
//!
//! So a list is one word here, and the span of a chunk another: where several archetypes have the
//! component four loads wait, and in a later run a read took 2.96 ns instead of 3.45, beside 2.75
//! where one has it.

#![expect(
    unsafe_code,
    reason = "a random read is two misses; a checked cast would be a third cost"
)]

use core::marker::PhantomData;
use core::ptr;

use crate::component::Component;
use crate::entity::{DirectoryView, Entity};
use crate::version::Version;

use crate::storage::chunk_list::ChunkList;
use crate::storage::stamps::{StampKind, StampPair, Stamps};

/// Where the columns of `C` are in the chunks of several lists, each known by the number under which
/// the directory files it.
///
/// What [`ChunkList::cell`] looks up each time is looked up once. Invariant, made by
/// [`ColumnTable::push`]: for each chunk, `base + position` is a live cell for every position of its
/// span.
#[derive(Debug)]
struct ColumnTable<'w, C> {
    places: DirectoryView<'w>,
    /// The list to look in first and last, if it alone has rows of `C`.
    only: Only,
    lists: Vec<ListView>,
    /// The positions of every chunk's rows, list after list.
    spans: Vec<Span>,
    /// Where the row at position 0 would be, were the list all in one piece with the chunk.
    bases: Vec<*const C>,
}

/// How many lists have rows; of several, or where slots are far, a list is found by its number.
#[derive(Clone, Copy, Debug)]
enum Only {
    None,
    List { number: u32, shift: u32 },
    Several,
}

/// The number of a list's first chunk, and by what its positions are shifted: one load.
#[derive(Clone, Copy, Debug)]
struct ListView(u64);

impl ListView {
    /// Of a list without rows of the component: no table has so many chunks.
    const NONE: Self = Self::new(CHUNKS_MAX, 31);

    const fn new(first: u32, shift: u32) -> Self {
        Self(first as u64 | (shift as u64) << u32::BITS)
    }

    /// The chunk that a position is in, if it is in the list. Of others the sum may wrap where
    /// addresses have 32 bits, and be any chunk.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower and the upper half")]
    const fn chunk(self, position: u32) -> usize {
        let behind = position.wrapping_shr((self.0 >> u32::BITS) as u32);
        (self.0 as u32 as usize).wrapping_add(behind as usize)
    }
}

/// Chunks of a table, at most.
const CHUNKS_MAX: u32 = u32::MAX / 2;

/// The positions of a chunk's rows, from the first to behind the last: one load.
#[derive(Clone, Copy, Debug)]
struct Span(u64);

impl Span {
    const EMPTY: Self = Self::new(0, 0);

    const fn new(begin: u32, end: u32) -> Self {
        Self(begin as u64 | (end as u64) << u32::BITS)
    }

    #[inline]
    const fn is_before(self, position: u32) -> bool {
        (self.0 >> u32::BITS) <= position as u64
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    const fn is_behind(self, position: u32) -> bool {
        (self.0 as u32) > position
    }
}

/// A live cell.
struct Found<C> {
    chunk: usize,
    cell: *const C,
}

impl<'w, C: Component> ColumnTable<'w, C> {
    fn new(places: DirectoryView<'w>, lists: usize) -> Self {
        Self {
            places,
            only: Only::None,
            lists: Vec::with_capacity(lists),
            spans: Vec::new(),
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
            self.lists.push(ListView::NONE);
            return;
        };
        list.columns()[column].assert_holds::<C>();
        let narrow = |n| u32::try_from(n).expect("chunks of a world");
        let (number, shift) = (narrow(self.lists.len()), u32::from(list.shift()));
        self.only = match self.only {
            Only::None if self.places.are_near() => Only::List { number, shift },
            _ => Only::Several,
        };
        let first = narrow(self.spans.len());
        let fits = u64::from(first) + u64::from(list.chunk_count()) < u64::from(CHUNKS_MAX);
        assert!(fits, "less memory than two billion chunks");
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
            self.spans.push(Span::new(begin, begin + list.rows(chunk)));
        }
        self.lists.push(ListView::new(first, shift));
    }

    /// The cell of an entity; `None` if it does not live or lacks the component.
    #[inline]
    fn find_any(&self, entity: Entity) -> Option<Found<C>> {
        // SAFETY: these are the table's own.
        unsafe { self.find(entity, &self.spans) }
    }

    /// The cell of an entity; `None` if it does not live or lacks the component, and if its chunk's
    /// span is empty in `spans`: the table's own, or as many of which some are empty.
    ///
    /// What is not a place of a live row is answered `None` too, or with a live cell.
    ///
    /// # Safety
    ///
    /// `spans` are as many as the table's own, and each is the same or empty.
    #[inline]
    unsafe fn find(&self, entity: Entity, spans: &[Span]) -> Option<Found<C>> {
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
                let chunk = list.chunk(at);
                // A position behind its list would be in the next one.
                if spans.get(chunk)?.is_behind(at) {
                    return None;
                }
                (chunk, at)
            }
        };
        if spans.get(chunk)?.is_before(at) {
            return None;
        }
        // SAFETY: `push` makes both tables equally long, and by the contract `spans` is no longer.
        let base = unsafe { self.bases.get_unchecked(chunk) };
        // The chunk's span has the position: it is not behind the last row, and not before the first,
        // of the only list because it was shifted by what the list shifts by.
        Some(Found { chunk, cell: base.wrapping_add(at as usize) })
    }
}

/// Component `C` of many entities, for reading.
#[derive(Debug)]
pub(crate) struct ColumnViews<'w, C> {
    table: ColumnTable<'w, C>,
    borrow: PhantomData<&'w [C]>,
    /// Invariant in `C`: a subtype of it is another component.
    component: PhantomData<fn(C) -> C>,
}

// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Send for ColumnViews<'_, C> {}
// SAFETY: as above.
unsafe impl<C: Sync> Sync for ColumnViews<'_, C> {}

impl<'w, C: Component> ColumnViews<'w, C> {
    /// A view that will have so many lists, for the entities that are at these places.
    pub(crate) fn new(places: DirectoryView<'w>, lists: usize) -> Self {
        let table = ColumnTable::new(places, lists);
        Self { table, borrow: PhantomData, component: PhantomData }
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
    /// The spans of the chunks that are stamped, and empty ones of the others: nobody else stamps
    /// them meanwhile, so that once is enough, and which are need not be asked apart.
    open: Vec<Span>,
    /// The stamps of every chunk.
    marks: Vec<StampPair<'w>>,
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
    pub(crate) fn new(places: DirectoryView<'w>, lists: usize, now: Version) -> Self {
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
            self.marks.extend(chunks.map(|chunk| stamps.mark(StampKind::column(column), chunk)));
        }
        self.open.resize(self.table.spans.len(), Span::EMPTY);
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
        // SAFETY: `push_leased` makes `open` as long as the table, and `open` copies spans from there.
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
        self.open[found.chunk] = self.table.spans[found.chunk];
        Some(found)
    }
}
