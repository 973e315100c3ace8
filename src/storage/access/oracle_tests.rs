//! The safe form of the slices: one `&mut [u8]`, split by `get_disjoint_mut`, cast by `bytemuck`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable, bytes_of, cast_slice_mut};

use super::{
    ArchetypeColumns, BundleCells, CellsMut, ChunkIter, ColumnMap, ColumnUse, Columns,
    DistinctColumns, Writer,
};
use crate::component::{Component, Values};
use crate::entity::RowIndex;
use crate::storage::chunk_list::ChunkList;
use crate::storage::chunk_size::ChunkSize;
use crate::storage::layout::{ColumnShape, ListLayout};
use crate::storage::pool::Pool;
use crate::storage::slice_rows::SliceRows;

#[derive(Clone, Copy, Pod, Zeroable, Debug, PartialEq)]
#[repr(C)]
struct Wide([f32; 3]);
#[derive(Clone, Copy, Pod, Zeroable, Debug, PartialEq)]
#[repr(C)]
struct Narrow(u16);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Byte(u8);
#[derive(Clone, Copy, NoUninit, Zeroable, CheckedBitPattern)]
#[repr(C)]
struct Switch(bool);
#[derive(Clone, Copy, NoUninit, Zeroable, CheckedBitPattern)]
#[repr(u8)]
enum Third {
    #[expect(dead_code, reason = "zero must be a value")]
    Zero = 0,
    #[expect(dead_code, reason = "and it has another")]
    Two = 2,
}
crate::impl_component!(Wide, Narrow, Byte, Switch, Third);

const COLUMNS: [ColumnShape; 2] =
    [ColumnShape::plain("wide", 12, 4), ColumnShape::plain("narrow", 2, 2)];

/// A list of `rows` rows: row `i` is `(Wide([i; 3]), Narrow(i))`.
fn list(rows: u16, pool: &mut Pool) -> ChunkList {
    let layout =
        ListLayout::new(ChunkSize::KIB_4, COLUMNS.to_vec()).expect("the layout does not fit");
    let mut list = ChunkList::new(layout);
    let cells = BundleCells::new(&list, DistinctColumns::new(vec![0, 1]));
    for row in 0..rows {
        cells.write(list.next_row(pool), |cells| {
            cells.put(bytes_of(&[f32::from(row); 3]));
            cells.put(bytes_of(&row));
        });
    }
    list
}

/// The only entry of a map.
fn entry(map: &ColumnMap) -> ArchetypeColumns<'_> {
    map.get(0).expect("the map has no entry").1
}

/// The columns of a chunk, copied to one safe slice and split from it by safe code.
fn safe_columns(list: &mut ChunkList, chunk: usize) -> (Vec<Wide>, Vec<Narrow>) {
    let mut map = ColumnMap::new(2);
    let uses = [0, 1].map(|column| ColumnUse { column: Some(column), write: false, beside: false });
    map.push(0, list, uses);
    let rows = list.rows(u32::try_from(chunk).expect("the chunk is missing")) as usize;
    let offsets = [list.layout().offset(0) as usize, list.layout().offset(1) as usize];
    let mut chunks = ChunkIter::shared(list, entry(&map));
    for _ in 0..chunk {
        chunks.skip();
    }
    let mut columns = chunks.next_chunk(SliceRows::Live).expect("the chunk is missing");
    // An ordinary buffer in the chunk's layout, aligned because its elements are.
    let mut buffer = vec![0u64; 4096 / 8];
    let bytes: &mut [u8] = cast_slice_mut(&mut buffer);
    let wide = columns.column::<Wide>().expect("the column is missing");
    let narrow = columns.column::<Narrow>().expect("the column is missing");
    let ranges = [offsets[0]..offsets[0] + rows * 12, offsets[1]..offsets[1] + rows * 2];
    let [a, b] = bytes.get_disjoint_mut(ranges).expect("columns overlap");
    cast_slice_mut::<u8, Wide>(a).copy_from_slice(wide);
    cast_slice_mut::<u8, Narrow>(b).copy_from_slice(narrow);
    (cast_slice_mut::<u8, Wide>(a).to_vec(), cast_slice_mut::<u8, Narrow>(b).to_vec())
}

#[test]
fn slices_are_those_of_the_safe_form() {
    let mut pool = Pool::default();
    let mut list = list(700, &mut pool);
    let mut row = 0u16;
    for chunk in 0..list.chunk_len() as usize {
        let (wide, narrow) = safe_columns(&mut list, chunk);
        for (w, n) in wide.iter().zip(&narrow) {
            assert_eq!((*w, *n), (Wide([f32::from(row); 3]), Narrow(row)));
            row += 1;
        }
    }
    assert_eq!(row, 700);
}

#[test]
fn written_slices_of_all_chunks_exist_at_the_same_time() {
    let mut pool = Pool::default();
    let mut list = list(700, &mut pool);
    let mut map = ColumnMap::new(2);
    let uses = [(0, true), (1, false)];
    map.push(
        0,
        &list,
        uses.map(|(column, write)| ColumnUse { column: Some(column), write, beside: false }),
    );
    let mut chunks = ChunkIter::exclusive(&mut list, entry(&map));
    let mut slices = Vec::new();
    while let Some(mut columns) = chunks.next_chunk(SliceRows::Padded) {
        let wide = columns.column_mut::<Wide>().expect("the column is missing");
        slices.push((wide, columns.column::<Narrow>().expect("the column is missing")));
    }
    assert!(slices.len() > 1, "all rows are in one chunk");
    for (wide, narrow) in &mut slices {
        assert_eq!(wide.len() % 16, 0, "the slice has a partial vector");
        wide.iter_mut().zip(*narrow).for_each(|(w, n)| w.0[0] += f32::from(n.0));
    }
    let sum: f32 = slices.iter().flat_map(|(wide, _)| wide.iter().map(|w| w.0[0])).sum();
    assert_eq!(sum, 2.0 * (0..700u16).map(f32::from).sum::<f32>());
}

#[test]
fn an_entry_is_added_among_others() {
    let mut pool = Pool::default();
    let lists: Vec<_> = (0..40).map(|_| list(1, &mut pool)).collect();
    let uses = |i: u16| {
        let column = |column| (i != 7).then_some((i + column) % 2);
        [0, 1].map(|at| ColumnUse { column: column(at), write: i % 3 == at, beside: false })
    };
    let map_of = |numbers: &[u16]| {
        let mut map = ColumnMap::new(2);
        for &i in numbers {
            map.push(u32::from(i), &lists[usize::from(i)], uses(i));
        }
        map
    };
    let entries = |map: &ColumnMap| -> Vec<_> {
        let entry = |index| {
            let (label, columns) = map.get(index).expect("an entry");
            assert_eq!(map.find(label), Some(index));
            (label, columns.key, format!("{:?}", columns.columns()))
        };
        (0..map.len()).map(entry).collect()
    };
    let all = [1, 2, 5, 7, 8, 16, 17, 30, 39];
    for added in (0..40).step_by(if cfg!(miri) { 13 } else { 1 }) {
        let mut map = map_of(&all.iter().copied().filter(|&i| i != added).collect::<Vec<_>>());
        map.insert(u32::from(added), &lists[usize::from(added)], uses(added));
        let mut with: Vec<_> = all.iter().copied().filter(|&i| i != added).collect();
        with.push(added);
        with.sort_unstable();
        assert_eq!(entries(&map), entries(&map_of(&with)), "{added}");
        assert_eq!(map.find(40), None);
    }
}

#[test]
#[should_panic(expected = "the label has an entry")]
fn a_label_has_one_entry() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let mut map = ColumnMap::new(0);
    map.push(3, &list, []);
    map.insert(3, &list, []);
}

#[test]
#[should_panic(expected = "a column that is written is named twice")]
fn a_map_refuses_aliases() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let uses = [true, false].map(|write| ColumnUse { column: Some(1), write, beside: false });
    ColumnMap::new(2).push(0, &list, uses);
}

#[test]
#[should_panic(expected = "the columns belong to another list")]
fn an_entry_of_another_list_is_refused() {
    let mut pool = Pool::default();
    let (mut ours, theirs) = (list(1, &mut pool), list(1, &mut pool));
    let mut map = ColumnMap::new(0);
    map.push(0, &theirs, []);
    let _ = ChunkIter::exclusive(&mut ours, entry(&map));
}

#[test]
#[should_panic(expected = "the column is borrowed for reading only")]
fn a_shared_iterator_hands_out_no_mut() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let mut map = ColumnMap::new(1);
    map.push(0, &list, [ColumnUse { column: Some(0), write: true, beside: false }]);
    let _ = ChunkIter::shared(&list, entry(&map))
        .next_chunk(SliceRows::Live)
        .expect("the chunk is missing")
        .column_mut::<Wide>();
}

#[test]
#[should_panic(expected = "the column has another size than the type")]
fn a_column_is_not_sliced_as_a_type_of_another_size() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let mut map = ColumnMap::new(1);
    map.push(0, &list, [ColumnUse { column: Some(0), write: false, beside: false }]);
    let _ = ChunkIter::shared(&list, entry(&map))
        .next_chunk(SliceRows::Live)
        .expect("the chunk is missing")
        .column::<Narrow>();
}

/// A list with one row of a component for which two of 256 bytes are values.
fn switches(pool: &mut Pool) -> ChunkList {
    let shape =
        ColumnShape { values: Values::of::<Switch>(), ..ColumnShape::plain("switch", 1, 1) };
    let layout = ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("the layout does not fit");
    let mut list = ChunkList::new(layout);
    let cells = BundleCells::new(&list, DistinctColumns::new(vec![0]));
    cells.write(list.next_row(pool), |cells| cells.put(bytes_of(&Switch(true))));
    list
}

/// Whether every access to the column of switches as `C` is refused.
fn is_refused<C: Component>() -> bool {
    let accesses: [fn(&mut ChunkList); 4] = [
        |list| {
            let mut map = ColumnMap::new(1);
            map.push(0, list, [ColumnUse { column: Some(0), write: true, beside: false }]);
            let mut chunks = ChunkIter::exclusive(list, entry(&map));
            chunks.next_chunk(SliceRows::Padded).expect("a chunk").column_mut::<C>();
        },
        |list| {
            list.cell_mut::<C>(0, RowIndex(0));
        },
        |list| {
            CellsMut::<C>::new(list, 0).next(RowIndex(0));
        },
        |list| {
            let cells = BundleCells::new(list, DistinctColumns::new(vec![0]));
            let run = list.open_run(0, 1, &mut Pool::default()).at_most(1);
            Writer::new(list, &cells, &run).column::<C>();
        },
    ];
    let refused = accesses.map(|access| {
        let mut pool = Pool::default();
        let mut list = switches(&mut pool);
        catch_unwind(AssertUnwindSafe(|| access(&mut list))).is_err()
    });
    assert!(refused.iter().all(|&one| one == refused[0]), "some accesses only: {refused:?}");
    refused[0]
}

#[test]
fn a_column_is_accessed_only_as_a_type_of_the_same_values() {
    assert!(!is_refused::<Switch>());
    assert!(is_refused::<Byte>(), "any byte could be written");
    assert!(is_refused::<Third>(), "it accepts other bytes");
}
