//! The rows of single entities in the columns of a plan, for reading.
//!
//! A plan finds a row step by step: the entry of the archetype, its list, the chunk, and each
//! column there, with a check at each step: 118 instructions for a row of one column, and 139 of
//! two. Here is the start of each column in each chunk of all entries, found in advance. A look-up
//! finds the chunk, as a [`CellFinder`](super::cell_finder) does, compares the type of each column,
//! and takes 45 instructions and 57. 100,000 entities in random order (Zen 5, no LTO, other
//! programs beside): 9.7 to 3.2 ns a row of one column, and 9.8 to 3.8 if two archetypes have it.
//!
//! A function for the reason why an entity has no row must keep the registers of a loop
//! ([`cold`](crate::cold)): with a usual call a row took 3.9 ns. Without the check that a chunk has
//! its columns here it would take 2 to 7 % less.

#![expect(unsafe_code, reason = "rows by kept addresses: 45 instructions a row instead of 118")]

use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::slice;

use crate::component::{Component, Values};
use crate::entity::{DirectoryView, Entity, RowIndex};
use crate::storage::chunk_list::ChunkList;

use super::access_kind::AccessKind;
use super::chunk_finder::ChunkFinder;
use super::chunk_iter::Columns;
use super::column_map::{ArchetypeColumns, ColumnMap, ColumnRef};
use super::column_type::ColumnType;

/// The columns of each chunk of a [`ColumnMap`]'s lists, which are borrowed for `'w`.
///
/// Invariant, established by [`RowCells::push`]: each chunk of the finder has `width` columns in
/// `columns`, one for each of `types`, and a column that is present begins with as many live cells
/// of its type as the span of the chunk has rows.
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
// for as long as the cells exist. They are only read, through `RowCells`.
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
            cells.push(list(label), entry);
        }
        cells
    }

    /// Adds the next list.
    fn push(&mut self, list: &'w ChunkList, entry: ArchetypeColumns<'_>) {
        assert!(entry.key == list.key(), "the entry belongs to another list");
        if list.chunk_len() == 0 {
            return self.chunks.push_none(false);
        }
        for ((own, column), &values) in self.types.iter_mut().zip(entry.columns()).zip(entry.values)
        {
            assert!(!column.is_beside(), "the entry takes data beside a column");
            let Some(kind) = column.type_of_slice() else { continue };
            let values = values.expect("a column has no values");
            let known = CellType { kind: kind.reading(), values };
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
    pub(crate) fn find(
        &self,
        entity: Entity,
        width: usize,
    ) -> Option<(CellRow<'_, 'w>, (u32, RowIndex))> {
        assert!(self.types.len() == width, "the entries have another width");
        let (list, found) = self.chunks.find(self.chunks.spans(), entity)?;
        let row = found.at - self.chunks.spans()[found.chunk].begin();
        let columns = &self.columns[found.chunk * width..][..width];
        let (types, row) = (&*self.types, row as usize);
        let row = CellRow { columns, types, next: 0, row, borrow: PhantomData };
        Some((row, (list, RowIndex(found.at))))
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

impl<'w> Columns<'w> for CellRow<'_, 'w> {
    #[inline]
    fn len(&self) -> usize {
        1
    }

    #[inline(always)]
    fn column<C: Component>(&mut self) -> Option<&'w [C]> {
        let (CellColumn(start), CellType { kind, values }) =
            (self.columns[self.next], self.types[self.next]);
        self.next += 1;
        if kind != ColumnType::of::<C>(AccessKind::Read) {
            kind.assert_unknown();
            return None;
        }
        let is_own = Values::are_any::<C>() || values.are_of::<C>();
        assert!(is_own, "the column has other values than the type");
        let start = start?.cast::<C>().as_ptr();
        let is_tag = size_of::<C>() == 0;
        let cell = if is_tag { ptr::dangling() } else { start.wrapping_add(self.row).cast_const() };
        // SAFETY: by the invariant of `RowCells` the column has a live cell of its type in each row
        // of its chunk, and `find` made this a row. The type is `C`, or accepts any bytes as `C`
        // does, and has the alignment of `C`. The list was borrowed shared for `'w` by `push`, so
        // that the cell does not move; a writer through a shared list has promised that no other
        // code reads its columns (`ChunkIter::exclusive_unchecked`).
        Some(unsafe { slice::from_raw_parts(cell, 1) })
    }

    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        unreachable!("the cells are borrowed for reading only")
    }

    fn beside(&mut self) -> u16 {
        unreachable!("a query of what lies beside columns takes no row by its cells")
    }
}
