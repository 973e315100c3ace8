//! One row as bytes: moved along an edge, taken from a bundle and given to one.
//!
//! Everything that a copy of a cell needs is worked out once for a pair of lists, or for a bundle in
//! a list, and kept beside the edge: a move is a walk over a table of offsets.

#![expect(
    unsafe_code,
    reason = "cells are copied between raw blocks, whose columns have no type here"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use super::super::chunk::{ChunkList, Gap, LooseChunks};
use super::super::place::Spot;
use super::DistinctColumns;
use super::copy::{copy_small, copy_two_small};

/// A cell of a list's rows: where its column starts in a chunk and in a small first block, and its
/// bytes.
#[derive(Clone, Copy, Debug)]
struct Cell {
    offsets: [u32; 2],
    size: u32,
}

impl Cell {
    fn new(list: &ChunkList, column: u16) -> Self {
        let size = list.columns()[usize::from(column)].size;
        Self { offsets: list.offsets(column), size: u32::try_from(size).expect("inside a chunk") }
    }

    /// The offset of a row's cell in its block.
    #[inline]
    const fn offset(&self, small: usize, row: u32) -> usize {
        self.offsets[small] as usize + row as usize * self.size as usize
    }
}

/// The cells that a row keeps when it moves from one list to another: pairs of columns of one
/// component each, with everything a copy needs to know of them.
///
/// [`RowMove::new`] proves that the columns belong to the two lists and have one size.
#[derive(Debug)]
pub(crate) struct RowMove {
    keys: [u64; 2],
    /// Kept columns, tags too: those of the source and of the target.
    kept: Box<[(u16, u16)]>,
    /// Kept cells with bytes: in the source and in the target.
    cells: Box<[(Cell, [u32; 2])]>,
    /// Cells with bytes that the source alone has.
    left: Box<[Cell]>,
    /// The bundle that comes, in the target.
    added: BundleCells,
    /// The bundle that goes, in the source.
    removed: BundleCells,
}

impl RowMove {
    /// # Panics
    ///
    /// If the columns of a pair differ in size.
    pub(crate) fn new(
        (source, target): (&ChunkList, &ChunkList),
        pairs: impl Iterator<Item = (u16, u16)>,
        (added, removed): (&DistinctColumns, &DistinctColumns),
    ) -> Self {
        let kept: Box<[_]> = pairs.collect();
        for &(from, to) in &kept {
            let sizes = [(source, from), (target, to)];
            let [size, target_size] = sizes.map(|(list, c)| list.columns()[usize::from(c)].size);
            assert_eq!(size, target_size, "columns of one component");
        }
        let cells = kept.iter().map(|&(from, to)| (Cell::new(source, from), target.offsets(to)));
        let columns = (0u16..).zip(source.columns()).filter(|(_, shape)| shape.size > 0);
        let left = columns.filter(|(column, _)| kept.iter().all(|(from, _)| from != column));
        let left = left.map(|(column, _)| Cell::new(source, column));
        Self {
            keys: [source.key(), target.key()],
            cells: cells.filter(|(cell, _)| cell.size > 0).collect(),
            left: left.collect(),
            added: BundleCells::new(target, added),
            removed: BundleCells::new(source, removed),
            kept,
        }
    }

    /// The kept columns: those of the source and of the target.
    #[inline]
    pub(crate) const fn columns(&self) -> &[(u16, u16)] {
        &self.kept
    }

    /// Lets `exchange` read the removed cells and write the added ones of a live row that stays
    /// where it is.
    ///
    /// # Panics
    ///
    /// If this was made for other lists than this one, twice, or there is no such row.
    pub(crate) fn exchange<T>(
        &self,
        list: &mut ChunkList,
        at: Spot,
        exchange: impl FnOnce(RowReader<'_>, RowWriter<'_>) -> T,
    ) -> T {
        assert!(self.keys == [list.key(); 2], "the move was made for this list");
        assert!(list.is_live(at), "a live row");
        let (base, small) = (list.base(at.chunk), usize::from(list.is_small()));
        let removed = self.removed.walk(base, small, at.row);
        let added = self.added.walk(base, small, at.row);
        exchange(RowReader(removed, PhantomData), RowWriter(added, PhantomData))
    }

    /// Copies the kept cells of a row that goes to a row of `target` that has a block, and the last
    /// row over it. Neither list counts its rows anew. First of all, `exchange` may read the removed
    /// cells and must write the added ones.
    ///
    /// # Panics
    ///
    /// If this was made for other lists, or there is no such row.
    #[inline(always)]
    pub(crate) fn shift<T>(
        &self,
        source: &Gap<'_>,
        (target, to): (&mut ChunkList, Spot),
        exchange: impl FnOnce(RowReader<'_>, RowWriter<'_>) -> T,
    ) -> T {
        let (at, last, source) = (source.at(), source.last(), source.list());
        assert!(self.keys == [source.key(), target.key()], "the move was made for these lists");
        assert!(to.row < target.capacity(), "a row of a chunk");
        let (gap, fill) = (source.base(at.chunk), source.base(last.chunk));
        let kept = target.base(to.chunk);
        let [small, target_small] = [source.is_small(), target.is_small()].map(usize::from);
        let removed = self.removed.walk(gap, small, at.row);
        let added = self.added.walk(kept, target_small, to.row);
        let exchanged = exchange(RowReader(removed, PhantomData), RowWriter(added, PhantomData));
        for (cell, offsets) in &self.cells {
            let size = cell.size as usize;
            let to_offset = offsets[target_small] as usize + to.row as usize * size;
            // SAFETY: the offsets are of a column of `source`, by its key, and the row is live, so
            // `ChunkLayout` proves the cell inside the block.
            let gap = unsafe { gap.add(cell.offset(small, at.row)) };
            // SAFETY: as above, the last row, which is live too.
            let fill = unsafe { fill.add(cell.offset(small, last.row)) };
            // SAFETY: as above, of `target`, where the row is inside the capacity.
            let kept = unsafe { kept.add(to_offset) };
            // SAFETY: cells of `size` bytes, by the above and by `RowMove::new`. The gap is `&mut` of
            // the source, as `target` is of the target: the right to write both.
            unsafe { copy_two_small([fill, gap, kept], size) };
        }
        for cell in &self.left {
            // SAFETY: as above.
            let gap = unsafe { gap.add(cell.offset(small, at.row)) };
            // SAFETY: as above.
            let fill = unsafe { fill.add(cell.offset(small, last.row)) };
            // SAFETY: two cells of this size of the source, by the above.
            unsafe { copy_small(fill.as_ptr(), gap.as_ptr(), cell.size as usize) };
        }
        exchanged
    }

    /// Copies the cells of `rows` rows of chunks that were taken from the source, those of one chunk
    /// from `at` on, to rows of one chunk of `target` that has a block: one `memcpy` a column.
    ///
    /// # Panics
    ///
    /// If this was made for other lists, or there are no such rows.
    pub(crate) fn copy_run(
        &self,
        (source, at): (&LooseChunks, Spot),
        (target, target_at): (&mut ChunkList, Spot),
        rows: u32,
    ) {
        assert!(self.keys == [source.key(), target.key()], "the move was made for these lists");
        let ends = [at, target_at].map(|at| at.row.checked_add(rows).expect("rows of a chunk"));
        assert!(at.chunk < source.count() && ends[0] <= source.rows(at.chunk), "rows of a chunk");
        assert!(ends[1] <= target.capacity(), "rows of a chunk");
        let [small, target_small] = [source.is_small(), target.is_small()].map(usize::from);
        let blocks = (source.block(at.chunk), target.blocks().get(target_at.chunk as usize));
        let (Some(from), Some(to)) = blocks else {
            // A list without bytes has no blocks, and then no cell has any.
            assert!(self.cells.is_empty(), "blocks for rows with bytes");
            return;
        };
        for (cell, offsets) in &self.cells {
            let size = cell.size as usize;
            let to_offset = offsets[target_small] as usize + target_at.row as usize * size;
            // SAFETY: the offsets are of a column of `source`, by its key, and the rows end inside
            // the capacity, so `ChunkLayout` proves them inside the block.
            let from = unsafe { from.base().add(cell.offset(small, at.row)) };
            // SAFETY: as above, of `target`.
            let to = unsafe { to.base().add(to_offset) };
            let bytes = rows as usize * size;
            // SAFETY: `rows` rows of the column are inside both blocks by the assertions above; chunks
            // that were taken share no block with a list, and `&mut` of the target is the right to
            // write it.
            unsafe { to.copy_from_nonoverlapping(from, bytes) };
        }
    }
}

/// A bundle's cells in the rows of one list, in the bundle's own order, none named twice.
#[derive(Clone, Debug)]
pub(crate) struct BundleCells {
    key: u64,
    cells: Box<[Cell]>,
}

impl BundleCells {
    pub(crate) fn new(list: &ChunkList, columns: &DistinctColumns) -> Self {
        let cells = columns.as_slice().iter().map(|&column| Cell::new(list, column)).collect();
        Self { key: list.key(), cells }
    }

    /// The cells of a row that has a block, live or about to be, to be written one after the other.
    ///
    /// # Panics
    ///
    /// If this was made for another list, or there is no such row.
    #[inline(always)]
    pub(crate) fn write<'a>(&'a self, list: &'a mut ChunkList, at: Spot) -> RowWriter<'a> {
        assert!(self.key == list.key(), "the cells were looked up in this list");
        assert!(at.row < list.capacity(), "a row of a chunk");
        let small = usize::from(list.is_small());
        RowWriter(self.walk(list.base(at.chunk), small, at.row), PhantomData)
    }

    /// The cells of a row in the block of the list that starts at `base`.
    #[inline(always)]
    fn walk(&self, base: NonNull<u8>, small: usize, row: u32) -> CellWalk<'_> {
        CellWalk { cells: self.cells.iter(), base, small, row }
    }
}

/// The addresses of a row's cells, one after the other.
#[derive(Debug)]
struct CellWalk<'a> {
    cells: slice::Iter<'a, Cell>,
    base: NonNull<u8>,
    small: usize,
    row: u32,
}

impl CellWalk<'_> {
    /// The next cell, which has this size.
    #[inline(always)]
    fn next(&mut self, size: usize) -> NonNull<u8> {
        let cell = self.cells.next().expect("a cell for every component");
        assert!(size == cell.size as usize, "a cell of this size");
        // SAFETY: whoever calls `walk` has the base of a chunk of the list that the cells are of, and
        // a row inside its capacity, so `ChunkLayout` proves the cell inside the block. Without
        // bytes the offset is zero.
        unsafe { self.base.add(cell.offset(self.small, self.row)) }
    }
}

/// Writes a row's cells, in a bundle's order.
#[derive(Debug)]
pub(crate) struct RowWriter<'a>(CellWalk<'a>, PhantomData<&'a mut ChunkList>);

impl RowWriter<'_> {
    /// Overwrites the next cell with the bytes of a value.
    ///
    /// # Panics
    ///
    /// If the bundle has no other component, or one of another size.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: &[u8]) {
        let cell = self.0.next(value.len());
        // SAFETY: the cell has as many bytes, which are this row's alone, and the list is borrowed
        // exclusively while this lives. Components are `Pod`: any bytes are a value.
        unsafe { cell.as_ptr().copy_from_nonoverlapping(value.as_ptr(), value.len()) };
    }

    /// Whether every cell was written.
    pub(crate) fn is_done(&self) -> bool {
        self.0.cells.as_slice().is_empty()
    }

    /// Overwrites the next cell with the first of some bytes, as many as it has.
    ///
    /// # Panics
    ///
    /// If the bundle has no other component, or there are fewer bytes.
    #[inline]
    pub(crate) fn put_front(&mut self, bytes: &[u8]) {
        let size = self.0.cells.as_slice().first().map_or(0, |cell| cell.size as usize);
        self.put(&bytes[..size]);
    }
}

/// Copies the cells of a live row out, in a bundle's order.
#[derive(Debug)]
pub(crate) struct RowReader<'a>(CellWalk<'a>, PhantomData<&'a ChunkList>);

impl RowReader<'_> {
    /// Overwrites a value with the bytes of the next cell.
    ///
    /// # Panics
    ///
    /// If the bundle has no other component, or one of another size.
    #[inline(always)]
    pub(crate) fn take(&mut self, value: &mut [u8]) {
        let cell = self.0.next(value.len());
        // SAFETY: the cell has as many bytes, initialised because the row is live, and nobody writes
        // them while the list is borrowed. The value is no part of it, being borrowed exclusively.
        unsafe { value.as_mut_ptr().copy_from_nonoverlapping(cell.as_ptr(), value.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::layout::{ChunkSize, ColumnShape, ListLayout};
    use super::super::super::slab::Pool;
    use super::*;

    /// What the bytes of a list should be: rows of cells.
    type Rows = Vec<Vec<Vec<u8>>>;

    fn list(sizes: &[usize]) -> ChunkList {
        let shape = |&size| ColumnShape { name: "shape", size, align: 1 };
        let columns = sizes.iter().map(shape).collect();
        ChunkList::new(ListLayout::new(ChunkSize::KIB_4, columns).expect("fits"))
    }

    /// A row of the sizes, unlike others.
    fn row(sizes: &[usize], number: usize) -> Vec<Vec<u8>> {
        let byte = |cell: usize, i: usize| (number * 7 + cell * 31 + i).to_le_bytes()[0];
        sizes.iter().enumerate().map(|(c, &size)| (0..size).map(|i| byte(c, i)).collect()).collect()
    }

    #[track_caller]
    fn assert_holds(list: &ChunkList, rows: &Rows) {
        assert_eq!(list.len(), rows.len());
        for column in 0..list.columns().len() {
            let chunks = 0..list.chunk_count();
            let held: Vec<_> = chunks.map(|chunk| list.column_bytes(column, chunk)).collect();
            let wanted: Vec<_> = rows.iter().map(|row| &row[column][..]).collect();
            let [held, wanted] = [held, wanted].map(|parts| parts.concat());
            assert_eq!(held, wanted, "column {column}");
        }
    }

    #[test]
    fn rows_move_as_rows_of_vectors_do() {
        const SOURCE: [usize; 6] = [12, 2, 64, 3, 24, 0];
        const TARGET: [usize; 5] = [64, 12, 8, 24, 0];
        let (mut pool, mut source, mut target) = (Pool::default(), list(&SOURCE), list(&TARGET));
        let all = DistinctColumns::new((0..6).collect());
        let cells = BundleCells::new(&source, &all);
        let (mut wanted, mut moved): (Rows, Rows) = Default::default();
        // Some chunks of each.
        let rows = if cfg!(miri) { 40 } else { 100 };
        for number in 0..rows {
            let (at, values) = (source.room_for_one(&mut pool), row(&SOURCE, number));
            let mut writer = cells.write(&mut source, at);
            values.iter().for_each(|value| writer.put(value));
            assert!(writer.is_done(), "a value a column");
            source.commit_one(at);
            wanted.push(values);
        }
        assert_holds(&source, &wanted);

        let (added, removed) = (DistinctColumns::new(vec![2]), DistinctColumns::new(vec![3, 1]));
        let pairs = [(0, 1), (2, 0), (4, 3), (5, 4)].into_iter();
        let cells = RowMove::new((&source, &target), pairs, (&added, &removed));
        for number in 0..rows {
            let index = number * 37 % wanted.len();
            let at = source.split(source.position_of(index));
            let to = target.room_for_one(&mut pool);
            let gap = source.gap(at);
            let value = u64::to_le_bytes(number as u64);
            let mut old = [vec![0; 3], vec![0; 2]];
            cells.shift(&gap, (&mut target, to), |mut reader, mut writer| {
                old.iter_mut().for_each(|old| reader.take(old));
                writer.put_front(&[&value[..], &[9]].concat());
            });
            target.commit_one(to);
            source.drop_last(&mut pool);
            let row = wanted.swap_remove(index);
            assert_eq!(old, [row[3].clone(), row[1].clone()]);
            let kept = [&row[2], &row[0], &value.to_vec(), &row[4], &row[5]];
            moved.push(kept.map(Vec::clone).to_vec());
            if number % 20 == 0 {
                assert_holds(&source, &wanted);
                assert_holds(&target, &moved);
            }
        }
        assert_holds(&source, &wanted);
        assert_holds(&target, &moved);
    }

    #[test]
    #[should_panic(expected = "the move was made for these lists")]
    fn a_move_between_other_lists_is_refused() {
        let (mut pool, mut source, mut target) = (Pool::default(), list(&[4]), list(&[4]));
        let none = DistinctColumns::new(Vec::new());
        let cells = RowMove::new((&source, &source), core::iter::empty(), (&none, &none));
        let at = source.room_for_one(&mut pool);
        source.commit_one(at);
        let to = target.room_for_one(&mut pool);
        cells.shift(&source.gap(at), (&mut target, to), |_, _| ());
    }

    #[test]
    #[should_panic(expected = "a cell of this size")]
    fn a_value_of_another_size_is_refused() {
        let (mut pool, mut list) = (Pool::default(), list(&[4]));
        let cells = BundleCells::new(&list, &DistinctColumns::new(vec![0]));
        let at = list.room_for_one(&mut pool);
        cells.write(&mut list, at).put(&[1, 2]);
    }
}
