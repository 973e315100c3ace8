//! Moves rows as bytes from one list to another, along an edge between archetypes.
//!
//! All data for the copy of a cell is computed once for a pair of lists and stored with the edge. A
//! move is a loop over a table of offsets.

#![expect(
    unsafe_code,
    reason = "cells are copied between raw blocks, whose columns have no type here"
)]

use super::cell::{BundleCells, DistinctColumns, RowReader, RowWriter};
use super::writer::{Tally, Writer};
use crate::storage::block::{CellStarts, copy_small};
use crate::storage::block_class::BlockClass;
use crate::storage::chunk_list::{ChunkList, DetachedChunks, FreeRun, NextRow, RemovedRow};
use crate::storage::row::ChunkRow;
use crate::storage::written_rows::{WrittenRow, WrittenRows};

/// The cells that a row keeps when it moves from one list to another: pairs of columns of the same
/// component, with all data for a copy.
///
/// [`RowMove::new`] proves that the columns belong to the two lists and that the columns of a pair
/// have the same size and values. It also proves that the kept and the added columns are all
/// columns of the target, unless the two lists are the same: such a move only exchanges cells of
/// rows that stay.
#[derive(Debug)]
pub(crate) struct RowMove {
    keys: [u64; 2],
    /// Pairs of kept columns, tags included: in the source and in the target.
    kept: Box<[(u16, u16)]>,
    /// Kept cells with bytes, in the source, and the starts of their columns in the target.
    cells: Box<[(CellStarts, [u32; BlockClass::LEN])]>,
    /// The added bundle, in the target.
    added: BundleCells,
    /// The removed bundle, in the source.
    removed: BundleCells,
}

impl RowMove {
    /// # Panics
    ///
    /// If the columns of a pair differ in size or values, or a column of the target is neither kept
    /// nor added although the lists differ.
    pub(crate) fn new(
        (source, target): (&ChunkList, &ChunkList),
        kept: Vec<(u16, u16)>,
        (added, removed): (DistinctColumns, DistinctColumns),
    ) -> Self {
        let kept = kept.into_boxed_slice();
        let is_written =
            |column| added.as_slice().contains(&column) || kept.iter().any(|&(_, to)| to == column);
        let mut targets = (0u16..).take(target.columns().len());
        assert!(
            source.key() == target.key() || targets.all(is_written),
            "a column of the target is neither kept nor added"
        );
        for &(from, to) in &kept {
            let pair = [(source, from), (target, to)];
            let [from, to] = pair.map(|(list, column)| list.columns()[usize::from(column)]);
            assert_eq!(from.size, to.size, "the columns of a pair differ in size");
            assert!(from.values == to.values, "the columns of a pair differ in their values");
        }
        let cells = kept
            .iter()
            .map(|&(from, to)| (CellStarts::new(source.layouts(), from), target.starts(to)));
        Self {
            keys: [source.key(), target.key()],
            cells: cells.filter(|(cell, _)| cell.size > 0).collect(),
            added: BundleCells::new(target, added),
            removed: BundleCells::new(source, removed),
            kept,
        }
    }

    /// Whether this was made for these lists, with their columns as they are.
    #[inline]
    pub(crate) const fn is_between(&self, source: &ChunkList, target: &ChunkList) -> bool {
        self.keys[0] == source.key() && self.keys[1] == target.key()
    }

    /// Pairs of kept columns: in the source and in the target.
    #[inline]
    pub(crate) const fn columns(&self) -> &[(u16, u16)] {
        &self.kept
    }

    /// The columns of the added bundle, in the bundle's order.
    #[inline]
    pub(crate) const fn added(&self) -> &BundleCells {
        &self.added
    }

    /// The columns of the removed bundle, in the bundle's order.
    pub(crate) const fn removed(&self) -> &BundleCells {
        &self.removed
    }

    /// The kept cells with bytes, in the source, and the starts of their columns in the target.
    #[inline]
    pub(super) const fn kept_cells(&self) -> &[(CellStarts, [u32; BlockClass::LEN])] {
        &self.cells
    }

    /// # Panics
    ///
    /// If this was made for lists with other keys, or for a single list: a move within one list
    /// need not write every column, see [`RowMove::new`].
    pub(super) fn assert_between(&self, source: u64, target: u64) {
        assert!(self.keys == [source, target], "the move was made for other lists");
        assert!(source != target, "the rows move to their own list");
    }

    /// Calls `exchange` to read the removed cells and write the added cells of a live row that
    /// stays in place.
    ///
    /// # Panics
    ///
    /// If this was not made for this list as both source and target, or the row is not live.
    pub(crate) fn exchange<T>(
        &self,
        list: &mut ChunkList,
        at: ChunkRow,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        assert!(self.keys == [list.key(); 2], "the move was made for another list");
        assert!(list.is_live(at), "row {} of chunk {} is not live", at.row, at.chunk);
        let place = list.place(at.chunk);
        // SAFETY: the place is of a chunk of the list, which is borrowed exclusively, and the row
        // is live. The reader and the writer take turns.
        let removed = unsafe { self.removed.addresses(place, at.row) };
        // SAFETY: as for the removed cells.
        let added = unsafe { self.added.addresses(place, at.row) };
        exchange(&mut RowReader::new(removed), &mut RowWriter::new(added))
    }

    /// Copies the kept cells of the removed row to the next row of the target, which becomes live.
    /// Before that, `exchange` may read the removed cells and must write the added ones. The source
    /// is not changed.
    ///
    /// # Panics
    ///
    /// If this was made for other lists, or `exchange` leaves an added cell unwritten. The row does
    /// not move.
    #[inline(always)]
    pub(crate) fn move_cells<T>(
        &self,
        source: &RemovedRow<'_>,
        next: NextRow<'_>,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        let (list, at) = (source.list(), source.at());
        let (target, to) = (next.list(), next.at());
        // Both lists are borrowed exclusively, so they are different lists and the keys differ.
        assert!(self.keys == [list.key(), target.key()], "the move was made for other lists");
        let (from_place, to_place) = (list.place(at.chunk), target.place(to.chunk));
        // SAFETY: the place is of the chunk of the source in which the row is live.
        let removed = unsafe { self.removed.addresses(from_place, at.row) };
        // SAFETY: the place is of the chunk of `target` that has its next row, and this is that
        // row.
        let added = unsafe { self.added.addresses(to_place, to.row) };
        let (mut old, mut new) = (RowReader::new(removed), RowWriter::new(added));
        let exchanged = exchange(&mut old, &mut new);
        new.assert_finished();
        for (cell, to_starts) in &self.cells {
            // SAFETY: the key proves that the cell is one of the source, and the row is live.
            let from = unsafe { cell.at(from_place, at.row) };
            // SAFETY: the key proves that the starts belong to a column of `target`. The block was
            // allocated for them, and `next` is a row of its last chunk.
            let to = unsafe { to_place.cell_of(to_starts, cell.size, to.row) };
            // SAFETY: both are cells of `size` bytes inside their blocks, because `RowMove::new`
            // compared the sizes of the two columns. `NextRow` borrows the target exclusively,
            // which is the right to write it.
            unsafe { copy_small(from.as_ptr(), to.as_ptr(), cell.size as usize) };
        }
        // SAFETY: the kept cells are copied and the added ones written. By `RowMove::new` these are
        // all cells of the target's next row, because the lists differ.
        next.commit(unsafe { WrittenRow::new() });
        exchanged
    }

    /// Writes the rows of a run. The kept cells are copied from detached chunks of the source, from
    /// row `at` of one chunk on, by one `memcpy` per column. `fill` writes the added cells.
    ///
    /// # Panics
    ///
    /// If this was made for other lists or for a single one, the rows do not exist in the source,
    /// the run does not follow the live rows of the target, or `fill` leaves an added cell
    /// unwritten.
    pub(crate) fn append(
        &self,
        (source, at): (&DetachedChunks, ChunkRow),
        (target, run): (&mut ChunkList, &FreeRun),
        fill: impl for<'a> FnOnce(Writer<'a>) -> Tally<'a>,
    ) -> WrittenRows {
        self.copy_run((source, at), (target, run));
        let mut written = target.no_written_rows();
        let tally = fill(Writer::new(target, &self.added, run));
        // SAFETY: `copy_run` has written the kept columns, and `RowMove::new` proves that the kept
        // and the added columns are all columns of the target.
        unsafe { written.add_others(&tally) };
        assert!(written.len() == run.rows.len(), "an added cell of the new rows was not written");
        written
    }

    /// Copies the kept cells for [`RowMove::append`].
    fn copy_run(
        &self,
        (source, at): (&DetachedChunks, ChunkRow),
        (target, run): (&mut ChunkList, &FreeRun),
    ) {
        self.assert_between(source.key(), target.key());
        let rows = u32::try_from(run.rows.len()).expect("a chunk has 2^32 rows or more");
        let end = at.row.checked_add(rows).expect("a chunk has 2^32 rows or more");
        let is_there = at.chunk < source.chunk_len() && end <= source.rows(at.chunk);
        assert!(is_there, "{rows} rows from {} on are not in chunk {}", at.row, at.chunk);
        assert!(run.rows.end <= target.capacity(), "the run ends outside its chunk");
        let blocks = (source.block(at.chunk), target.blocks().get(run.chunk as usize));
        let (Some(from), Some(to)) = blocks else {
            // A list without bytes has no blocks, and no cell to copy.
            assert!(self.cells.is_empty(), "a chunk has no block");
            return;
        };
        let from_place = from.place(source.capacity());
        let to_place = to.place(target.capacity());
        for (cell, to_starts) in &self.cells {
            // SAFETY: the key proves that the cell is one of `source`, and the rows end inside the
            // capacity.
            let from = unsafe { cell.at(from_place, at.row) };
            // SAFETY: the key proves that the starts belong to a column of `target`. The block was
            // allocated for them, and the run ends inside the capacity.
            let to = unsafe { to_place.cell_of(to_starts, cell.size, run.rows.start) };
            let bytes = run.rows.len() * cell.size as usize;
            // SAFETY: `bytes` bytes of the column are inside both blocks, by the two proofs above.
            // Detached chunks share no block with a list, and `&mut` of the target is the right to
            // write it.
            unsafe { to.copy_from_nonoverlapping(from, bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::chunk_set::ChunkSet;
    use crate::storage::chunk_size::ChunkSize;
    use crate::storage::layout::{ColumnShape, ListLayout};
    use crate::storage::pool::Pool;

    /// The expected bytes of a list: rows of cells.
    type Rows = Vec<Vec<Vec<u8>>>;

    fn list(sizes: &[usize]) -> ChunkList {
        let shape = |&size| ColumnShape::plain("shape", size, 1);
        let columns = sizes.iter().map(shape).collect();
        ChunkList::new(ListLayout::new(ChunkSize::KIB_4, columns).expect("the layout does not fit"))
    }

    /// A row of these sizes, different for each number.
    fn row(sizes: &[usize], number: usize) -> Vec<Vec<u8>> {
        let byte = |cell: usize, i: usize| (number * 7 + cell * 31 + i).to_le_bytes()[0];
        sizes.iter().enumerate().map(|(c, &size)| (0..size).map(|i| byte(c, i)).collect()).collect()
    }

    #[track_caller]
    fn assert_holds(list: &ChunkList, rows: &Rows) {
        assert_eq!(list.len(), rows.len());
        for column in 0..list.columns().len() {
            let chunks = 0..list.chunk_len();
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
        let cells = BundleCells::new(&source, all);
        let (mut wanted, mut moved): (Rows, Rows) = Default::default();
        // Enough rows for several chunks of each list.
        let rows = if cfg!(miri) { 40 } else { 100 };
        for number in 0..rows {
            let values = row(&SOURCE, number);
            cells.write(source.next_row(&mut pool), |writer| {
                values.iter().for_each(|value| writer.put(value));
            });
            wanted.push(values);
        }
        assert_holds(&source, &wanted);

        let (added, removed) = (DistinctColumns::new(vec![2]), DistinctColumns::new(vec![3, 1]));
        let pairs = vec![(0, 1), (2, 0), (4, 3), (5, 4)];
        let cells = RowMove::new((&source, &target), pairs, (added, removed));
        for number in 0..rows {
            let index = number * 37 % wanted.len();
            let at = source.split(source.position_of(index));
            let removed = source.begin_removal(at);
            let value = u64::to_le_bytes(number as u64);
            let mut old = [Vec::new(), Vec::new()];
            cells.move_cells(&removed, target.next_row(&mut pool), |reader, writer| {
                old = [reader.take::<[u8; 3]>().to_vec(), reader.take::<[u8; 2]>().to_vec()];
                writer.put_front(&[&value[..], &[9]].concat());
            });
            removed.remove(&mut pool);
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
    #[should_panic(expected = "the move was made for other lists")]
    fn a_move_between_other_lists_is_refused() {
        let (mut pool, mut source, mut target) = (Pool::default(), list(&[4]), list(&[4]));
        let none = DistinctColumns::new(Vec::new());
        let cells = RowMove::new((&source, &source), Vec::new(), (none.clone(), none));
        let all = BundleCells::new(&source, DistinctColumns::new(vec![0]));
        all.write(source.next_row(&mut pool), |row| row.put(&[0; 4]));
        let at = ChunkRow { chunk: 0, row: 0 };
        cells.move_cells(&source.begin_removal(at), target.next_row(&mut pool), |_, _| ());
    }

    #[test]
    #[should_panic(expected = "a column of the target is neither kept nor added")]
    fn a_move_that_leaves_a_column_unwritten_is_refused() {
        let (source, target) = (list(&[4]), list(&[4, 8]));
        let none = DistinctColumns::new(Vec::new());
        let _ = RowMove::new((&source, &target), vec![(0, 0)], (none.clone(), none));
    }

    #[test]
    #[should_panic(expected = "the rows move to their own list")]
    fn a_move_of_chunks_to_their_own_list_is_refused() {
        let (mut pool, mut list) = (Pool::default(), list(&[4]));
        let all = BundleCells::new(&list, DistinctColumns::new(vec![0]));
        all.write(list.next_row(&mut pool), |row| row.put(&[0; 4]));
        let none = DistinctColumns::new(Vec::new());
        let cells = RowMove::new((&list, &list), Vec::new(), (none.clone(), none));
        let (detached, _) = list.detach(&ChunkSet::All);
        let run = list.open_run(0, 1, &mut pool).at_most(1);
        let at = ChunkRow { chunk: 0, row: 0 };
        let _ = cells.append((&detached, at), (&mut list, &run), |writer| writer.tally());
    }

    #[test]
    #[should_panic(expected = "row 0 of chunk 0 is not live")]
    fn the_removal_of_a_row_from_an_empty_list_is_refused() {
        let _ = list(&[4]).begin_removal(ChunkRow { chunk: 0, row: 0 });
    }

    #[test]
    #[should_panic(expected = "a cell of the row was not written")]
    fn a_move_that_leaves_a_cell_unwritten_is_refused() {
        let (mut pool, mut source, mut target) = (Pool::default(), list(&[4]), list(&[4, 8]));
        let (added, removed) = (DistinctColumns::new(vec![1]), DistinctColumns::new(Vec::new()));
        let cells = RowMove::new((&source, &target), vec![(0, 0)], (added, removed));
        let all = BundleCells::new(&source, DistinctColumns::new(vec![0]));
        all.write(source.next_row(&mut pool), |row| row.put(&[0; 4]));
        let at = ChunkRow { chunk: 0, row: 0 };
        cells.move_cells(&source.begin_removal(at), target.next_row(&mut pool), |_, _| ());
    }

    #[test]
    #[should_panic(expected = "the value has another size than the cell")]
    fn a_value_of_another_size_is_refused() {
        let (mut pool, mut list) = (Pool::default(), list(&[4]));
        let cells = BundleCells::new(&list, DistinctColumns::new(vec![0]));
        cells.write(list.next_row(&mut pool), |row| row.put(&[1, 2]));
    }
}
