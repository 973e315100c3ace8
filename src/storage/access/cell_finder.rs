//! Finds the cells of one component in many lists, by entity.
//!
//! The limit of a random read is the number of reads that the processor has in flight, and the work
//! that waits for the slot of the directory limits this number: each load and each step of
//! arithmetic that depends on the slot occupies a queue entry until the slot arrives. Neither huge
//! pages nor the size of chunks changed the time of a read; each load less after the slot did. ns
//! per read, 100,000 entities of 12-byte components in random order (Zen 5), and the loads that
//! wait for the slot:
//!
//! | a read | loads | ns |
//! | --- | --- | --- |
//! | one flat array per archetype, without checks | 2 | 2.1 |
//! | one archetype has the component: this file | 3 | 2.4 |
//! | several have it, each word of a list and a chunk loaded separately | 6 | 3.4 |
//! | list, chunk and row looked up and checked one by one | 6 | 3.8 |
//!
//! Therefore a list is one word here, and the span of a chunk another. If several archetypes have
//! the component, four loads wait: such a read takes 2.96 ns, and 2.75 ns if one archetype has it,
//! in a run in which six loads took 3.45 ns.
//!
//! A read is inlined in all builds. As a call, which the compiler chose where a program had several
//! look-ups, it took 6.6 ns on Zen 4 in a release build without LTO, and 7.3 if 32 archetypes have
//! the component; inlined 2.8 to 3.0 and 3.8 to 4.2, where hecs took 2.4.
//!
//! A loop with a look-up that writes keeps the tables in registers only if no call has the address
//! of the view, because a write to a cell might change a view that other code has seen. So the
//! calls of a write have other addresses ([`column_views`](super::column_views)), and return no
//! cell: 3.2 ns a write and not 5.7 if one archetype has the component, and 4.3 and not 6.6 if 32
//! have it, where hecs took 3.0.
//!
//! Fewer instructions are not always faster. With span and address in one entry, and one way for
//! one archetype and several, a read took 36 instructions instead of 38 and 53 in a release build
//! without LTO, and 4.6 to 8.7 ns instead of 2.6 to 2.7 and 4.0 to 4.1: more of them wait for the
//! slot.
//!
//! A slot could also have the number of its chunk in the world, and a view a table from these
//! numbers to columns. Built whole, with slots of 16 bytes, a read among 16 archetypes took 3.0 ns
//! instead of 3.9 and a write 3.2 instead of 3.8. But a cell of Life, where one archetype has the
//! component, took 21.8 instead of 19.9, in fewer instructions, and each spawn, despawn and move 4
//! to 9 % longer, because it looks the number up. Slots of 12 bytes were no better (Zen 4).

#![expect(
    unsafe_code,
    reason = "a random read is two misses; a checked cast would be a third cost"
)]

use core::ptr;

use crate::cold::cold_fn;
use crate::component::Component;
use crate::entity::{DirectoryView, Entity};
use crate::storage::chunk_list::ChunkList;
use crate::storage::chunk_numbers::ChunkNumbers;
use crate::storage::row_place::RowPlace;

use super::chunk_finder::{ChunkFinder, FoundRow, positions};
use super::list_view::ListView;
use super::place_table::PlaceTable;
use super::span::Span;

/// The columns of `C` in the chunks of several lists. A list is identified by its archetype's
/// number in the directory.
///
/// The lookups of [`ChunkList::cell`] are done once, in advance. Invariant, established by
/// [`CellFinder::push`]: for each chunk, `base + position` is a live cell for every position of its
/// span.
#[derive(Debug)]
pub(super) struct CellFinder<'w, C> {
    /// The chunks of the lists that have rows of `C`.
    chunks: ChunkFinder<'w>,
    /// The spans of the chunks that are marked. Those of others begin at their first position and
    /// end at 0. Not longer than `spans`, and empty in a finder that marks none.
    marked: Vec<Span>,
    /// The address of the list's position 0 if the whole list were contiguous with the chunk.
    bases: Vec<*const C>,
}

/// The reason why a view has no cell of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The entity is not alive.
    Entity,
    /// The entity lacks the component.
    Component,
}

/// A live cell.
pub(super) struct Found<C> {
    pub(super) chunk: usize,
    pub(super) cell: *const C,
    /// The row's position in its list.
    at: u32,
}

impl<'w, C: Component> CellFinder<'w, C> {
    pub(super) fn new(directory: DirectoryView<'w>, lists: usize) -> Self {
        let chunks = ChunkFinder::new(directory, lists);
        Self { chunks, marked: Vec::new(), bases: Vec::new() }
    }

    /// Adds the next list, with its column of `C` if it has one, and whether its entities are gone.
    /// The addresses are valid as long as the list's rows do not move.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(super) fn push(&mut self, list: &ChunkList, column: Option<u16>, is_gone: bool) {
        let column = column.map(usize::from).filter(|_| list.chunk_len() > 0);
        let Some(column) = column else {
            self.chunks.push_none(is_gone);
            return;
        };
        list.columns()[column].assert_holds::<C>();
        self.chunks.push(list);
        let column = list.layout().columns()[column];
        for chunk in 0..list.chunk_len() {
            let start = if size_of::<C>() == 0 {
                ptr::dangling()
            } else {
                let place = list.blocks()[chunk as usize].place(list.capacity());
                // SAFETY: the block was allocated for the list's layout, which has this column.
                let start = unsafe { place.cell(column, 0) };
                start.as_ptr().cast_const().cast::<C>()
            };
            self.bases.push(start.wrapping_sub(positions(list, chunk).start as usize));
        }
    }

    /// A table for the places of the rows of all lists. `first` is the first place, `chunk` is
    /// called with the number of each chunk of the finder, and `absent` stands for all others.
    pub(super) fn place_table<'n, T: Copy>(
        &self,
        (first, numbers): (RowPlace, &'n ChunkNumbers),
        chunk: impl Fn(u32) -> T,
        absent: T,
    ) -> PlaceTable<'n, T> {
        let lists = self.chunks.lists().iter().map(|list| list.first());
        PlaceTable::new(first, numbers, lists, (chunk, absent))
    }

    /// The first cell of a chunk, and the number of its rows.
    pub(super) fn cells(&self, chunk: u32) -> (*const C, u32) {
        let (base, span) = (self.bases[chunk as usize], self.chunks.spans()[chunk as usize]);
        (base.wrapping_add(span.begin() as usize), span.len())
    }

    /// The place of an entity's row, or the reason why it has none.
    pub(super) fn place<T: Copy>(
        &self,
        table: &PlaceTable<'_, T>,
        entity: Entity,
    ) -> Result<RowPlace, Absent> {
        self.find_row(table, entity).ok_or_else(|| self.absent(entity))
    }

    fn find_row<T: Copy>(&self, table: &PlaceTable<'_, T>, entity: Entity) -> Option<RowPlace> {
        let found = self.find_any(entity)?;
        let list = self.chunks.directory().get(entity)?.archetype().index();
        let chunk = found.chunk - self.chunks.lists()[list].first()? as usize;
        let chunk = u32::try_from(chunk).expect("a list has 2^32 chunks or more");
        Some(table.place((list, chunk), self.row(&found)))
    }

    /// The cell of a place. `None` if the place is of another numbering, or its row lacks the
    /// component.
    #[inline(always)]
    pub(super) fn find_place(
        &self,
        table: &PlaceTable<'_, u32>,
        place: RowPlace,
    ) -> Option<Found<C>> {
        self.row_of_place(table, place).map(|row| self.found(row))
    }

    /// The row of a place. The table may be of another finder.
    #[inline(always)]
    fn row_of_place(&self, table: &PlaceTable<'_, u32>, place: RowPlace) -> Option<FoundRow> {
        let (chunk, row) = table.row(place)?;
        let at = self.chunks.spans().get(chunk as usize)?.position(row)?;
        Some(FoundRow { chunk: chunk as usize, at })
    }

    /// [`CellFinder::find_and_mark`] by place.
    #[inline(always)]
    pub(super) fn find_place_and_mark(
        &mut self,
        table: &PlaceTable<'_, u32>,
        place: RowPlace,
        marked: impl FnOnce(usize),
    ) -> Option<Found<C>> {
        let row = self.row_of_place(table, place)?;
        self.mark_row(row, marked)
    }

    /// The row of a cell in its chunk.
    #[inline]
    pub(super) fn row(&self, found: &Found<C>) -> u32 {
        found.at - self.chunks.spans()[found.chunk].begin()
    }

    /// The reason why an entity has no cell.
    #[inline(always)]
    pub(super) fn absent(&self, entity: Entity) -> Absent {
        absent(self, entity)
    }

    /// The lists, for [`reason`].
    #[inline(always)]
    pub(super) fn lists(&self) -> &[ListView] {
        self.chunks.lists()
    }

    /// Number of chunks.
    pub(super) const fn chunk_len(&self) -> usize {
        self.chunks.chunk_len()
    }

    /// Makes room for the marks of all chunks so far.
    pub(super) fn reserve_marks(&mut self) {
        let spans = &self.chunks.spans()[self.marked.len()..];
        self.marked.extend(spans.iter().map(|span| Span::new(span.begin(), 0)));
    }

    /// Marks the chunk of a cell.
    #[inline]
    pub(super) fn mark(&mut self, found: &Found<C>) {
        self.marked[found.chunk] = self.chunks.spans()[found.chunk];
    }

    /// The cell of an entity. `None` if the entity does not exist or lacks the component.
    #[inline(always)]
    pub(super) fn find_any(&self, entity: Entity) -> Option<Found<C>> {
        self.find::<false>(entity)
    }

    /// The cell of an entity in a marked chunk. `None` as well if its chunk is not marked.
    #[inline(always)]
    pub(super) fn find_marked(&self, entity: Entity) -> Option<Found<C>> {
        self.find::<true>(entity)
    }

    /// The cell of an entity in any chunk, or in one that is `MARKED`.
    ///
    /// For a location without a live row the result is `None` or some live cell.
    #[inline(always)]
    fn find<const MARKED: bool>(&self, entity: Entity) -> Option<Found<C>> {
        let spans = if MARKED { &self.marked } else { self.chunks.spans() };
        // A live row of the chunk, as `found` asks.
        self.chunks.find(spans, entity).map(|(_, row)| self.found(row))
    }

    /// The cell of a row.
    #[inline(always)]
    fn found(&self, FoundRow { chunk, at }: FoundRow) -> Found<C> {
        // SAFETY: the chunk of a row has a span, which `find` and `row_of_place` read, or a mark,
        // which `mark_row` reads, and there are at most as many marks as spans. `push` makes
        // `bases` as long as the spans of all chunks.
        let base = unsafe { self.bases.get_unchecked(chunk) };
        Found { chunk, cell: base.wrapping_add(at as usize), at }
    }

    /// The cell of an entity. If its chunk is not marked, marks it and calls `marked` with its
    /// number. `copy` is a copy of the finder's directory: see [`DirectoryView::get_by`].
    #[inline(always)]
    pub(super) fn find_and_mark(
        &mut self,
        entity: Entity,
        copy: &DirectoryView<'_>,
        marked: impl FnOnce(usize),
    ) -> Option<Found<C>> {
        let row = self.chunks.find_start(&self.marked, entity, copy)?;
        self.mark_row(row, marked)
    }

    /// The cell of a row that its chunk may have, at or after its first. If the chunk is not
    /// marked, marks it and calls `marked` with its number.
    #[inline(always)]
    fn mark_row(&mut self, row: FoundRow, marked: impl FnOnce(usize)) -> Option<Found<C>> {
        let FoundRow { chunk, at } = row;
        if self.marked.get(chunk)?.ends_before(at) {
            if !mark(self.chunks.spans(), &mut self.marked, chunk, at) {
                return None;
            }
            marked(chunk);
        }
        // The position is in the chunk's span, as in `find`.
        Some(self.found(row))
    }
}

cold_fn! {
    /// Marks a chunk if the position is before its end. Returns whether it is.
    ///
    /// Returns no cell, and takes no finder: a loop that writes keeps its registers.
    fn mark [] (spans: &[Span], marked: &mut [Span], chunk: usize, at: u32) -> bool {
        let is_row = !spans[chunk].ends_before(at);
        if is_row {
            marked[chunk] = spans[chunk];
        }
        is_row
    }

    /// The reason why an entity has no cell.
    fn absent [C] (finder: &CellFinder<'_, C>, entity: Entity) -> Absent {
        reason(finder.chunks.directory(), finder.chunks.lists(), entity)
    }
}

/// The reason why an entity has no cell.
#[cold]
pub(super) fn reason(directory: &DirectoryView<'_>, lists: &[ListView], entity: Entity) -> Absent {
    match directory.resolve(entity) {
        Ok(Some(place)) if lists[place.archetype().index()].is_gone() => Absent::Entity,
        Ok(_) => Absent::Component,
        Err(_) => Absent::Entity,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BundleCells, DistinctColumns};
    use super::*;
    use crate::entity::{ArchetypeId, Directory, Location, RowIndex};
    use crate::storage::chunk_size::ChunkSize;
    use crate::storage::layout::{ColumnShape, ListLayout};
    use crate::storage::pool::Pool;

    #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Number(u32);
    crate::impl_component!(Number);

    /// A list of `rows` rows with a number and another column of `size` bytes.
    fn list(pool: &mut Pool, rows: u32, size: usize) -> ChunkList {
        let other = ColumnShape::plain("other", size, 4);
        let shapes = vec![ColumnShape::plain("number", 4, 4), other];
        let layout = ListLayout::new(ChunkSize::KIB_4, shapes).expect("the layout does not fit");
        let mut list = ChunkList::new(layout);
        let cells = BundleCells::new(&list, DistinctColumns::new(vec![0, 1]));
        for _ in 0..rows {
            cells.write(list.next_row(pool), |row| {
                row.put(&[0; 4]);
                row.put(&vec![0; size]);
            });
        }
        list
    }

    fn is_row(list: &ChunkList, at: RowIndex) -> bool {
        let at = list.split(at);
        at.chunk < list.chunk_len() && at.row < list.rows(at.chunk)
    }

    /// Looks up positions in and past the rows of two lists. Each slot has an entity, which a world
    /// would not have past the rows.
    fn rows_alone_are_found(have_rows: [bool; 2]) {
        let mut pool = Pool::default();
        // The second list's second chunk begins after the third chunk of the first list would.
        let lists = [list(&mut pool, 3, 64), list(&mut pool, 250, 16)];
        let chunks = lists.each_ref().map(|list| 1 << list.shift());
        assert!(lists[1].chunk_len() == 2 && chunks[1] > 2 * chunks[0], "the test proves nothing");
        // Not the first list's second chunk: a live row of the second list may be found for it.
        let positions = [0, 2, 3, 2 * chunks[0], chunks[1], 2 * chunks[1], u32::MAX];
        let mut directory = Directory::new(100);
        let mut entities = Vec::new();
        for (archetype, list, has_rows) in
            [(0, &lists[0], have_rows[0]), (1, &lists[1], have_rows[1])]
        {
            for at in positions.map(RowIndex) {
                let location = Location::new(ArchetypeId(archetype), at);
                let entity = directory.alloc(location).expect("the directory is full");
                let is_row = has_rows && is_row(list, at);
                entities.push((entity, is_row.then(|| ptr::from_ref(list.cell::<Number>(0, at)))));
            }
        }
        for &(entity, cell) in &entities {
            let view = directory.view();
            let mut finder = CellFinder::<Number>::new(view, 2);
            for (list, has_rows) in lists.iter().zip(have_rows) {
                finder.push(list, has_rows.then_some(0), false);
            }
            finder.reserve_marks();
            assert_eq!(finder.find_any(entity).map(|found| found.cell), cell);
            assert!(finder.find_marked(entity).is_none(), "a chunk was marked from the beginning");
            for marks in [cell.is_some(), false] {
                let mut was_marked = false;
                let found = finder.find_and_mark(entity, &view, |_| was_marked = true);
                assert_eq!(found.map(|found| found.cell), cell);
                assert_eq!(was_marked, marks);
            }
            assert_eq!(finder.find_marked(entity).map(|found| found.cell), cell);
        }
    }

    #[test]
    fn a_position_past_the_rows_of_its_list_is_not_in_another_list() {
        rows_alone_are_found([true, true]);
    }

    #[test]
    fn a_position_past_the_rows_of_the_only_list_with_rows_is_not_found() {
        rows_alone_are_found([true, false]);
        rows_alone_are_found([false, true]);
        rows_alone_are_found([false, false]);
    }
}
