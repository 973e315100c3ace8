//! One component's columns in many lists, for random access: for reading, and for writing.

#![expect(
    unsafe_code,
    reason = "a random access is two misses; a checked cast would be a third cost"
)]

use core::marker::PhantomData;

use crate::cold::cold_fn;
use crate::component::Component;
use crate::entity::{DirectoryView, Entity};
use crate::storage::attachments::{Attachments, ChunkBits, ChunkLines};
use crate::storage::chunk_list::ChunkList;
use crate::storage::chunk_numbers::ChunkNumbers;
use crate::storage::row_place::RowPlace;
use crate::storage::stamps::{StampKind, StampPair, Stamps};
use crate::version::Version;

use super::cell_finder::{Absent, CellFinder, Found, reason};
use super::list_view::{CHUNKS_MAX, ListView};
use super::place_table::PlaceTable;

/// The enable bits of each chunk of a finder, if its component has any.
#[derive(Debug, Default)]
struct Bits<'w>(Vec<ChunkBits<'w>>);

impl<'w> Bits<'w> {
    /// Adds the bits of the next list.
    fn push<C: Component>(
        &mut self,
        list: &ChunkList,
        attachments: Option<&'w Attachments>,
        column: Option<u16>,
    ) {
        let Some(column) = column.filter(|_| C::ENABLEABLE) else { return };
        let bits = attachments.and_then(|attachments| attachments.bits(column));
        let bits = bits.expect("a list has no bits of an enableable component");
        self.0.extend((0..list.chunk_len()).map(|chunk| bits.chunk(chunk)));
    }
}

/// Component `C` of many entities, for reading.
#[derive(Debug)]
pub(crate) struct ColumnViews<'w, C> {
    finder: CellFinder<'w, C>,
    bits: Bits<'w>,
    borrow: PhantomData<&'w [C]>,
    /// Invariant in `C`: a subtype of `C` is another component.
    component: PhantomData<fn(C) -> C>,
}

// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Send for ColumnViews<'_, C> {}
// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Sync for ColumnViews<'_, C> {}

impl<'w, C: Component> ColumnViews<'w, C> {
    /// A view with room for `lists` lists, for the entities in `directory`.
    pub(crate) fn new(directory: DirectoryView<'w>, lists: usize) -> Self {
        let finder = CellFinder::new(directory, lists);
        Self { finder, bits: Bits::default(), borrow: PhantomData, component: PhantomData }
    }

    /// Adds the next list, its attachments and whether its entities are gone, with its column of
    /// `C` if it has one.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(
        &mut self,
        list: &'w ChunkList,
        (attachments, is_gone): (Option<&'w Attachments>, bool),
        column: Option<u16>,
    ) {
        self.finder.push(list, column, is_gone);
        self.bits.push::<C>(list, attachments, column);
    }

    /// Whether the component of an entity is enabled.
    #[inline]
    pub(crate) fn is_enabled(&self, entity: Entity) -> Result<bool, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        Ok(self.bits.0[found.chunk].is_enabled(self.finder.row(&found)))
    }

    /// The cell of an entity, or the reason why it has none.
    #[inline(always)]
    pub(crate) fn get(&self, entity: Entity) -> Result<&'w C, Absent> {
        self.find(entity).ok_or_else(|| self.finder.absent(entity))
    }

    /// The cell of an entity.
    #[inline(always)]
    pub(crate) fn find(&self, entity: Entity) -> Option<&'w C> {
        self.finder.find_any(entity).map(|found| self.cell(&found))
    }

    /// A table for the places of the rows of all lists. `first` is the first place.
    pub(crate) fn place_table<'n>(
        &self,
        first: RowPlace,
        numbers: &'n ChunkNumbers,
    ) -> PlaceTable<'n, &'w [C]> {
        self.finder.place_table((first, numbers), |chunk| self.cells(chunk), &[])
    }

    /// The place of an entity's row, or the reason why it has none.
    pub(crate) fn place(
        &self,
        table: &PlaceTable<'_, &'w [C]>,
        entity: Entity,
    ) -> Result<RowPlace, Absent> {
        self.finder.place(table, entity)
    }

    /// The cells of a chunk of the finder.
    fn cells(&self, chunk: u32) -> &'w [C] {
        let (first, len) = self.finder.cells(chunk);
        // SAFETY: all rows of a chunk's span are live, by the invariant of `CellFinder`, and
        // neighbours in memory. A live cell may be read for `'w`: see `cell`.
        unsafe { core::slice::from_raw_parts(first, len as usize) }
    }

    /// A cell that the finder has found.
    #[inline(always)]
    fn cell(&self, found: &Found<C>) -> &'w C {
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised. `push` borrowed its list
        // shared for `'w`, so that it does not move; a writer through a shared list has promised
        // that no other code reads its columns (`ChunkIter::exclusive_unchecked`,
        // `ColumnViewsMut::push_unchecked`).
        unsafe { &*found.cell }
    }
}

/// Component `C` of many entities, for writing.
#[derive(Debug)]
pub(crate) struct ColumnViewsMut<'w, C> {
    /// Chunks that are stamped are marked. One stamp per chunk is enough: only this view stamps it
    /// while the view exists. A cell found in a marked chunk needs no separate check. If the
    /// component tracks lines, a mark means nothing: each write stamps its line.
    finder: CellFinder<'w, C>,
    /// In a box, because a loop keeps a view in registers only if no call has the view's address: a
    /// write to a cell might change a view that other code has seen. The calls of a write have the
    /// address of the box instead.
    beside: Box<Beside<'w>>,
    bits: Bits<'w>,
    /// The line stamps of each chunk, if the component has any.
    lines: Vec<ChunkLines<'w>>,
    borrow: PhantomData<&'w mut [C]>,
}

/// The data for the first write in a chunk, for an entity that has no cell, and for places.
#[derive(Debug)]
struct Beside<'w> {
    /// A copy of the finder's.
    directory: DirectoryView<'w>,
    /// The stamps of each chunk.
    stamps: Vec<StampPair<'w>>,
    /// The version of the writes.
    now: Version,
    /// All lists, to number their chunks for a table of places.
    lists: Vec<&'w ChunkList>,
}

impl Beside<'_> {
    /// Stamps a chunk.
    #[inline(always)]
    fn stamp(&self, chunk: usize) {
        stamp(self, chunk);
    }

    /// The reason why an entity has no cell.
    #[inline(always)]
    fn absent(&self, lists: &[ListView], entity: Entity) -> Absent {
        absent(self, lists, entity)
    }
}

cold_fn! {
    fn stamp [] (beside: &Beside<'_>, chunk: usize) -> () {
        beside.stamps[chunk].set(beside.now);
    }

    fn absent [] (beside: &Beside<'_>, lists: &[ListView], entity: Entity) -> Absent {
        reason(&beside.directory, lists, entity)
    }
}

/// The lists in `Beside` are shared: the two impls below rely on it.
const _: () = {
    const fn assert_sync<T: Sync>() {}
    assert_sync::<ChunkList>();
};

// SAFETY: a view is the right to write components, which are `Send`. Its lists are `Sync`.
unsafe impl<C: Send> Send for ColumnViewsMut<'_, C> {}
// SAFETY: a shared view only reads components, which are `Sync`, as its lists are.
unsafe impl<C: Sync> Sync for ColumnViewsMut<'_, C> {}

impl<'w, C: Component> ColumnViewsMut<'w, C> {
    /// A view with room for `lists` lists, for the entities in `directory`. Its writes have version
    /// `now`.
    pub(crate) fn new(directory: DirectoryView<'w>, lists: usize, now: Version) -> Self {
        let (finder, lists) = (CellFinder::new(directory, lists), Vec::with_capacity(lists));
        let (stamps, bits, lines) = (Vec::new(), Bits::default(), Vec::new());
        let beside = Box::new(Beside { directory, stamps, now, lists });
        Self { finder, beside, bits, lines, borrow: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one, its stamps, its attachments, and
    /// whether its entities are gone.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(
        &mut self,
        list: &'w mut ChunkList,
        beside: (&'w Stamps, Option<&'w Attachments>, bool),
        column: Option<u16>,
    ) {
        // SAFETY: the list is borrowed exclusively for `'w`.
        unsafe { self.push_unchecked(list, beside, column) }
    }

    /// [`ColumnViewsMut::push`] for a list that is borrowed shared.
    ///
    /// # Safety
    ///
    /// For `'w` no other code may read or write the column or its stamps, and the list's rows must
    /// not move. Each list is added once.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    // Inlined, it takes 300 instructions a list, and 330 as a call.
    #[inline(always)]
    pub(crate) unsafe fn push_unchecked(
        &mut self,
        list: &'w ChunkList,
        (stamps, attachments, is_gone): (&'w Stamps, Option<&'w Attachments>, bool),
        column: Option<u16>,
    ) {
        self.beside.lists.push(list);
        self.finder.push(list, column, is_gone);
        self.bits.push::<C>(list, attachments, column);
        if let Some(column) = column {
            let chunks = 0..list.chunk_len() as usize;
            let pairs = chunks.map(|chunk| stamps.pair(StampKind::column(column), chunk));
            self.beside.stamps.extend(pairs);
            if C::TRACKS_LINES {
                let all = attachments.and_then(|all| all.lines_of_chunks(stamps, column));
                self.lines.extend(all.expect("the component tracks lines"));
                assert_eq!(self.lines.len(), self.beside.stamps.len(), "a chunk has no lines");
            }
        }
        self.finder.reserve_marks();
        let stamps = self.beside.stamps.len();
        // Before any chunk is marked: a marked chunk is one that was stamped.
        assert_eq!(stamps, self.finder.chunk_len(), "a chunk has no stamps");
    }

    /// The cell of an entity, for reading.
    #[inline(always)]
    pub(crate) fn get(&self, entity: Entity) -> Result<&C, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        Ok(self.cell(&found))
    }

    /// The numbers of the chunks of all lists. O(lists).
    pub(crate) fn numbers(&self) -> ChunkNumbers {
        let mut numbers = ChunkNumbers::new(self.beside.lists.len());
        self.beside.lists.iter().for_each(|list| numbers.push(list));
        numbers
    }

    /// A table for the places of the rows of all lists. `first` is the first place.
    pub(crate) fn place_table<'n>(
        &self,
        first: RowPlace,
        numbers: &'n ChunkNumbers,
    ) -> PlaceTable<'n, u32> {
        self.finder.place_table((first, numbers), |chunk| chunk, CHUNKS_MAX)
    }

    /// The place of an entity's row, or the reason why it has none.
    pub(crate) fn place(
        &self,
        table: &PlaceTable<'_, u32>,
        entity: Entity,
    ) -> Result<RowPlace, Absent> {
        self.finder.place(table, entity)
    }

    /// The cell of a place, for reading.
    #[inline(always)]
    pub(crate) fn at(&self, table: &PlaceTable<'_, u32>, place: RowPlace) -> Option<&C> {
        self.finder.find_place(table, place).map(|found| self.cell(&found))
    }

    /// A cell that the finder has found, for reading.
    #[inline(always)]
    fn cell(&self, found: &Found<C>) -> &C {
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised. By the contract of
        // `push_unchecked` only this view accesses it, and the view is borrowed shared.
        unsafe { &*found.cell }
    }

    /// Whether the component of an entity is enabled.
    #[inline]
    pub(crate) fn is_enabled(&self, entity: Entity) -> Result<bool, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        Ok(self.bits.0[found.chunk].is_enabled(self.finder.row(&found)))
    }

    /// Enables or disables the component of an entity. Stamps its chunk and returns true if that
    /// changes it.
    #[inline]
    pub(crate) fn set_enabled(&mut self, entity: Entity, enabled: bool) -> Result<bool, Absent> {
        // Lines are stamped one by one.
        if !C::TRACKS_LINES
            && let Some(found) = self.finder.find_marked(entity)
        {
            return Ok(self.bits.0[found.chunk].set_alone(self.finder.row(&found), enabled));
        }
        self.set_enabled_unstamped(entity, enabled)
    }

    /// The cell of an entity, for writing; its chunk is stamped.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, entity: Entity) -> Result<&mut C, Absent> {
        let beside = &*self.beside;
        let marked = |chunk| match C::TRACKS_LINES {
            true => {}
            false => beside.stamp(chunk),
        };
        let Some(found) = self.finder.find_and_mark(entity, &beside.directory, marked) else {
            return Err(beside.absent(self.finder.lists(), entity));
        };
        Ok(self.written(&found))
    }

    /// The cell of a place, for writing; its chunk is stamped.
    #[inline(always)]
    pub(crate) fn at_mut(
        &mut self,
        table: &PlaceTable<'_, u32>,
        place: RowPlace,
    ) -> Option<&mut C> {
        let beside = &*self.beside;
        let marked = |chunk| match C::TRACKS_LINES {
            true => {}
            false => beside.stamp(chunk),
        };
        let found = self.finder.find_place_and_mark(table, place, marked)?;
        Some(self.written(&found))
    }

    /// A cell that the finder has found and marked, for writing. Stamps its line, if the component
    /// tracks lines.
    #[inline(always)]
    fn written(&mut self, found: &Found<C>) -> &mut C {
        if C::TRACKS_LINES {
            self.stamp(found);
        }
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised. By the contract of
        // `push_unchecked` only this view accesses it, and the view is borrowed exclusively. The
        // pointer is derived from the pointer of the block, which may be written through.
        unsafe { &mut *found.cell.cast_mut() }
    }

    /// [`ColumnViewsMut::set_enabled`] in a chunk that may not be stamped yet.
    #[cold]
    fn set_enabled_unstamped(&mut self, entity: Entity, enabled: bool) -> Result<bool, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        let switched = self.bits.0[found.chunk].set_alone(self.finder.row(&found), enabled);
        if switched {
            self.stamp(&found);
            self.finder.mark(&found);
        }
        Ok(switched)
    }

    /// Stamps the line of a cell, if the component tracks lines, or its chunk.
    #[inline]
    fn stamp(&self, found: &Found<C>) {
        if C::TRACKS_LINES {
            let row = self.finder.row(found);
            self.lines[found.chunk].touch_alone(row, self.beside.now);
        } else {
            self.beside.stamp(found.chunk);
        }
    }
}
