//! The rows of single entities in the columns of a plan: for reading, and for writing.
//!
//! A plan finds a row step by step: the entry of the archetype, its list, the chunk, and each
//! column there, with a check at each step: 118 instructions for a row of one column, and 139 of
//! two. Here is the start of each column in each chunk of all entries, found in advance. A look-up
//! finds the chunk, as a [`CellFinder`](super::cell_finder) does, compares the type of each column,
//! and takes 40 instructions and 50 (with LTO; 52 and 62 without). 100,000 entities in random
//! order (Zen 5, no LTO, other programs beside): 9.7 to 3.2 ns a row of one column, and 9.8 to 3.8
//! if two archetypes have it. Ten instructions a column were tests of an address that cannot be
//! zero: only [`NonNull::add`] tells the compiler so.
//!
//! A function for the reason why an entity has no row must keep the registers of a loop
//! ([`cold`](crate::cold)): with a usual call a row took 3.9 ns. Without the check that a chunk has
//! its columns here it would take 2 to 7 % less.
//!
//! For writing, the chunks that are stamped are marked: a chunk that is not is found by the plan,
//! which stamps it, once. A row with one column to write and another to read takes 58
//! instructions instead of 323 (with LTO; 86 without). 100,000 entities in random order (a Xeon, no
//! LTO, other programs beside, two runs): 34 to 15 ns, where hecs took 9 to 10. The loop reads the
//! tables of the view from the stack after each write, which might have changed them; with the plan
//! behind a box, as [`column_views`](super::column_views) has its other data, the time was the
//! same.

#![expect(unsafe_code, reason = "rows by kept addresses: 40 instructions a row instead of 118")]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use crate::component::{Component, Values};
use crate::entity::{DirectoryView, Entity, RowIndex};
use crate::storage::chunk_list::ChunkList;
use crate::storage::row::ChunkRow;

use super::access_kind::AccessKind;
use super::borrow::Borrow;
use super::chunk_finder::{ChunkFinder, FoundRow};
use super::chunk_iter::Columns;
use super::column_map::{ArchetypeColumns, ColumnMap, ColumnRef};
use super::column_type::ColumnType;
use super::span::Span;

/// The columns of each chunk of a [`ColumnMap`]'s lists, which are borrowed for `'w`.
///
/// Invariant, established by [`RowCells::push`]: each chunk of the finder has `width` columns in
/// `columns`, one for each of `types`, and a column that is present begins with as many live cells
/// of its type as the span of the chunk has rows. Types of columns to be written are in
/// [`RowCellsMut`] only, which lends its cells to no one.
#[derive(Debug)]
pub(crate) struct RowCells<'w> {
    chunks: ChunkFinder<'w>,
    types: Vec<CellType>,
    columns: Vec<CellColumn>,
    borrow: PhantomData<&'w [u8]>,
}

/// The type of a column in all lists that have it, and its values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CellType {
    kind: ColumnType,
    values: Values,
}

/// The first cell of a column in a chunk. `None` if the archetype lacks the column.
#[derive(Clone, Copy, Debug)]
struct CellColumn(Option<NonNull<u8>>);

// SAFETY: the addresses are of components, which are `Send` and `Sync`, in lists that are borrowed
// for as long as the cells exist. They are written through an exclusive borrow of `RowCellsMut`.
unsafe impl Send for CellColumn {}
// SAFETY: as for `Send`.
unsafe impl Sync for CellColumn {}

impl<'w> RowCells<'w> {
    /// The cells of all entries of a map. `list` returns the list with a label. O(labels + chunks).
    ///
    /// # Panics
    ///
    /// If an entry is of another list, or takes data beside a column.
    pub(crate) fn new(
        directory: DirectoryView<'w>,
        map: &ColumnMap,
        list: impl Fn(u32) -> &'w ChunkList,
    ) -> Self {
        Self::collect(directory, map, list, Borrow::Shared)
    }

    fn collect(
        directory: DirectoryView<'w>,
        map: &ColumnMap,
        list: impl Fn(u32) -> &'w ChunkList,
        borrow: Borrow,
    ) -> Self {
        let last = map.len().checked_sub(1).and_then(|last| map.get(last));
        let lists = last.map_or(0, |(label, _)| label as usize + 1);
        let unknown = CellType { kind: ColumnType::UNKNOWN, values: Values::ANY };
        let mut cells = Self {
            chunks: ChunkFinder::new(directory, lists),
            types: vec![unknown; map.width()],
            columns: Vec::new(),
            borrow: PhantomData,
        };
        for (label, entry) in (0..map.len()).filter_map(|index| map.get(index)) {
            while cells.chunks.lists().len() < label as usize {
                cells.chunks.push_none(false);
            }
            cells.push(list(label), entry, borrow);
        }
        cells
    }

    /// Adds the next list.
    fn push(&mut self, list: &'w ChunkList, entry: ArchetypeColumns<'_>, borrow: Borrow) {
        assert!(entry.key == list.key(), "the entry belongs to another list");
        if list.chunk_len() == 0 {
            return self.chunks.push_none(false);
        }
        for ((own, column), &values) in self.types.iter_mut().zip(entry.columns()).zip(entry.values)
        {
            assert!(!column.is_beside(), "the entry takes data beside a column");
            let Some(kind) = column.type_of_slice() else { continue };
            let values = values.expect("a column has no values");
            let kind = if borrow == Borrow::Shared { kind.reading() } else { kind };
            let known = CellType { kind, values };
            let is_known = own.kind == ColumnType::UNKNOWN || *own == known;
            assert!(is_known, "a column has different types in two entries");
            *own = known;
        }
        for chunk in 0..list.chunk_len() {
            self.columns.extend(entry.columns().iter().map(|column| start(list, chunk, column)));
        }
        self.chunks.push(list);
    }

    /// The row of an entity, with the number of its list and its position there. `None` if the
    /// entity does not exist, or its list has no entry.
    ///
    /// # Panics
    ///
    /// Unless the entries have `width` columns, a number that the compiler may know.
    #[inline(always)]
    pub(crate) fn find(&self, entity: Entity, width: usize) -> Option<FoundCells<'_, 'w>> {
        assert!(self.types.len() == width, "the entries have another width");
        self.chunks.find(self.chunks.spans(), entity).map(|found| self.row(found, width))
    }

    /// A row that the finder has found.
    #[inline(always)]
    fn row(&self, (list, found): (u32, FoundRow), width: usize) -> FoundCells<'_, 'w> {
        let FoundRow { chunk, at } = found;
        let row = at - self.chunks.spans()[chunk].begin();
        let columns = &self.columns[chunk * width..][..width];
        let (types, row) = (&*self.types, row as usize);
        let row = CellRow { columns, types, next: 0, row, borrow: PhantomData };
        (row, (list, RowIndex(at)))
    }
}

/// The columns of each chunk of a [`ColumnMap`]'s lists, for writing.
#[derive(Debug)]
pub(crate) struct RowCellsMut<'w> {
    cells: RowCells<'w>,
    /// The spans of the chunks that are stamped. Those of others begin at their first position and
    /// end at 0.
    stamped: Vec<Span>,
}

impl<'w> RowCellsMut<'w> {
    /// The cells of all entries of a map. `list` returns the list with a label. O(labels + chunks).
    ///
    /// # Safety
    ///
    /// For `'w` no other code may read or write the cells of the columns that `map` writes, or
    /// write the cells of the columns that it reads.
    ///
    /// # Panics
    ///
    /// If an entry is of another list, or takes data beside a column.
    pub(crate) unsafe fn new(
        directory: DirectoryView<'w>,
        map: &ColumnMap,
        list: impl Fn(u32) -> &'w ChunkList,
    ) -> Self {
        let cells = RowCells::collect(directory, map, list, Borrow::Exclusive);
        let stamped = cells.chunks.spans().iter().map(|span| Span::new(span.begin(), 0)).collect();
        Self { cells, stamped }
    }

    /// The row of an entity, with the number of its list and its position there. If its chunk is
    /// not marked as stamped, `stamp` is called first, and the chunk is marked if it returns
    /// `Ok`. `Ok(None)` if the entity exists, and has no row.
    ///
    /// # Panics
    ///
    /// Unless the entries have `width` columns, a number that the compiler may know.
    #[inline(always)]
    pub(crate) fn find<E>(
        &mut self,
        entity: Entity,
        width: usize,
        stamp: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<FoundCells<'_, '_>>, E> {
        assert!(self.cells.types.len() == width, "the entries have another width");
        let (list, found) = match self.cells.chunks.find(&self.stamped, entity) {
            Some(found) => found,
            None => {
                stamp()?;
                let spans = self.cells.chunks.spans();
                let Some((list, found)) = self.cells.chunks.find(spans, entity) else {
                    return Ok(None);
                };
                self.stamped[found.chunk] = spans[found.chunk];
                (list, found)
            }
        };
        Ok(Some(self.cells.row((list, found), width)))
    }

    /// A row of the list with this number. The caller has stamped its chunk. `None` if the list has
    /// no entry.
    ///
    /// # Panics
    ///
    /// Unless the entries have `width` columns.
    #[inline]
    pub(crate) fn row(
        &mut self,
        (list, ChunkRow { chunk, row }): (u32, ChunkRow),
        width: usize,
    ) -> Option<FoundCells<'_, '_>> {
        assert!(self.cells.types.len() == width, "the entries have another width");
        let first = self.cells.chunks.lists().get(list as usize)?.first()?;
        let chunk = first.checked_add(chunk)? as usize;
        let at = self.cells.chunks.spans().get(chunk)?.position(row)?;
        Some(self.cells.row((list, FoundRow { chunk, at }), width))
    }
}

/// The first cell of a column in a chunk.
fn start(list: &ChunkList, chunk: u32, column: &ColumnRef) -> CellColumn {
    CellColumn(column.column().map(|_| {
        if column.size() == 0 {
            return NonNull::dangling();
        }
        let place = list.blocks()[chunk as usize].place(list.capacity());
        let (first, in_chunk) = column.in_blocks();
        // SAFETY: `push` has compared the keys: the column is of this list's layouts, for which the
        // block was allocated (`Blocks`).
        unsafe { place.column(first, in_chunk) }
    }))
}

/// A row, with the number of its list and its position there.
type FoundCells<'c, 'w> = (CellRow<'c, 'w>, (u32, RowIndex));

/// A row from which the columns of an entry are taken, in order. Its slices have one element.
#[derive(Debug)]
pub(crate) struct CellRow<'c, 'w> {
    columns: &'c [CellColumn],
    types: &'c [CellType],
    /// The index of the next column.
    next: usize,
    /// The number of the row in its chunk: less than the number of live rows.
    row: usize,
    borrow: PhantomData<&'w [u8]>,
}

impl CellRow<'_, '_> {
    /// The cell of the next column. `None` if the archetype lacks it.
    ///
    /// # Panics
    ///
    /// If the column is of another type, or of another access.
    #[inline(always)]
    fn next<C: Component>(&mut self, access: AccessKind) -> Option<NonNull<C>> {
        let (CellColumn(start), CellType { kind, values }) =
            (self.columns[self.next], self.types[self.next]);
        self.next += 1;
        if kind != ColumnType::of::<C>(access) {
            kind.assert_unknown();
            return None;
        }
        let is_own = Values::are_any::<C>() || values.are_of::<C>();
        assert!(is_own, "the column has other values than the type");
        let start = start?.cast::<C>();
        let start = if size_of::<C>() == 0 { NonNull::dangling() } else { start };
        // SAFETY: by the invariant of `RowCells` the column has a live cell of its type in each row
        // of its chunk, and the finder has found this row. The type has the size of `C`. An offset
        // in a column without bytes is none.
        Some(unsafe { start.add(self.row) })
    }
}

impl<'w> Columns<'w> for CellRow<'_, 'w> {
    #[inline]
    fn len(&self) -> usize {
        1
    }

    #[inline(always)]
    fn column<C: Component>(&mut self) -> Option<&'w [C]> {
        let cell = self.next::<C>(AccessKind::Read)?;
        // SAFETY: a live cell of its column's type. The type is `C`, or accepts any bytes as `C`
        // does, and has the alignment of `C`. The list was borrowed shared by `push`, so that the
        // cell does not move; a writer through a shared list has promised that no other code reads
        // its columns (`ChunkIter::exclusive_unchecked`, `RowCellsMut::new`).
        Some(unsafe { slice::from_raw_parts(cell.as_ptr(), 1) })
    }

    #[inline(always)]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let cell = self.next::<C>(AccessKind::Write)?;
        // SAFETY: a live cell, as in `column`. A type to be written is of `RowCellsMut` only: the
        // columns are protected for the lifetime of its lists by the contract of
        // `RowCellsMut::new`, and it was borrowed exclusively for `'w` when it made the row. The
        // entry names the column once (`ColumnMap::push`), and each column is taken once.
        Some(unsafe { slice::from_raw_parts_mut(cell.as_ptr(), 1) })
    }

    fn beside(&mut self) -> u16 {
        unreachable!("a query of what lies beside columns takes no row by its cells")
    }
}
