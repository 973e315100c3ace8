//! Moves of rows compared with rows of vectors, and the moves and values that are refused.

use super::{BundleCells, DistinctColumns, RowMove};
use crate::storage::chunk_list::ChunkList;
use crate::storage::chunk_set::ChunkSet;
use crate::storage::chunk_size::ChunkSize;
use crate::storage::layout::{ColumnShape, ListLayout};
use crate::storage::pool::Pool;
use crate::storage::row::ChunkRow;

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
fn cells_of_every_size_move_whole() {
    let sizes: Vec<_> = (0..=20).chain([31, 32, 33, 63, 64, 65]).collect();
    let columns: Vec<_> = (0u16..).take(sizes.len()).collect();
    let (mut pool, mut source, mut target) = (Pool::default(), list(&sizes), list(&sizes));
    let all = BundleCells::new(&source, DistinctColumns::new(columns.clone()));
    let rows: Rows = (1..4).map(|number| row(&sizes, number)).collect();
    for values in &rows {
        all.write(source.next_row(&mut pool), |writer| {
            values.iter().for_each(|value| writer.put(value));
        });
    }
    let none = DistinctColumns::new(Vec::new());
    let pairs = columns.into_iter().map(|column| (column, column)).collect();
    let cells = RowMove::new((&source, &target), pairs, (none.clone(), none));
    let removed = source.begin_removal(ChunkRow { chunk: 0, row: 0 });
    cells.move_cells(&removed, target.next_row(&mut pool), |_, _| ());
    removed.remove(&mut pool);
    assert_holds(&target, &vec![rows[0].clone()]);
    assert_holds(&source, &vec![rows[2].clone(), rows[1].clone()]);
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
