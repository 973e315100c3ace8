//! The safe twin of the cuts: one `&mut [u8]`, split by `get_disjoint_mut`, cast by `bytemuck`.

use bytemuck::{Pod, Zeroable, bytes_of, cast_slice_mut};

use super::{
    ArchetypeColumns, BundleCells, ChunkIter, ColumnMap, ColumnUse, Columns, DistinctColumns,
};
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::{ChunkSize, ColumnShape, ListLayout};
use crate::storage::slab::Pool;

#[derive(Clone, Copy, Pod, Zeroable, Debug, PartialEq)]
#[repr(C)]
struct Wide([f32; 3]);
#[derive(Clone, Copy, Pod, Zeroable, Debug, PartialEq)]
#[repr(C)]
struct Narrow(u16);
crate::component!(Wide, Narrow);

const COLUMNS: [ColumnShape; 2] = [
    ColumnShape { name: "wide", size: 12, align: 4 },
    ColumnShape { name: "narrow", size: 2, align: 2 },
];

/// A list of `rows` rows: row `i` is `(Wide([i; 3]), Narrow(i))`.
fn list(rows: u16, pool: &mut Pool) -> ChunkList {
    let layout = ListLayout::new(ChunkSize::KIB_4, COLUMNS.to_vec()).expect("fits");
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

/// The only row of a table.
fn row(table: &ColumnMap) -> ArchetypeColumns<'_> {
    table.row(0).expect("a row was pushed").1
}

/// The bytes of a chunk as one safe slice, copied column by column, and its safe cuts.
fn twin(list: &mut ChunkList, chunk: usize) -> (Vec<Wide>, Vec<Narrow>) {
    let mut table = ColumnMap::new(2);
    let uses = [0, 1].map(|column| ColumnUse { column: Some(column), write: false });
    table.push(0, list, uses);
    let rows = list.rows(u32::try_from(chunk).expect("a chunk")) as usize;
    let offsets = [list.layout().offset(0) as usize, list.layout().offset(1) as usize];
    let mut walk = ChunkIter::shared(list, row(&table));
    for _ in 0..chunk {
        walk.skip();
    }
    let mut cutter = walk.cut(false).expect("a chunk");
    // An ordinary buffer in the chunk's layout, aligned because its elements are.
    let mut buffer = vec![0u64; 4096 / 8];
    let bytes: &mut [u8] = cast_slice_mut(&mut buffer);
    let wide = cutter.column::<Wide>().expect("there");
    let narrow = cutter.column::<Narrow>().expect("there");
    let ranges = [offsets[0]..offsets[0] + rows * 12, offsets[1]..offsets[1] + rows * 2];
    let [a, b] = bytes.get_disjoint_mut(ranges).expect("columns do not overlap");
    cast_slice_mut::<u8, Wide>(a).copy_from_slice(wide);
    cast_slice_mut::<u8, Narrow>(b).copy_from_slice(narrow);
    (cast_slice_mut::<u8, Wide>(a).to_vec(), cast_slice_mut::<u8, Narrow>(b).to_vec())
}

#[test]
fn cuts_are_the_safe_cuts() {
    let mut pool = Pool::default();
    let mut list = list(700, &mut pool);
    let mut row = 0u16;
    for chunk in 0..list.chunk_count() as usize {
        let (wide, narrow) = twin(&mut list, chunk);
        for (w, n) in wide.iter().zip(&narrow) {
            assert_eq!((*w, *n), (Wide([f32::from(row); 3]), Narrow(row)));
            row += 1;
        }
    }
    assert_eq!(row, 700);
}

#[test]
fn written_slices_of_all_chunks_live_side_by_side() {
    let mut pool = Pool::default();
    let mut list = list(700, &mut pool);
    let mut table = ColumnMap::new(2);
    let uses = [(0, true), (1, false)];
    table.push(0, &list, uses.map(|(column, write)| ColumnUse { column: Some(column), write }));
    let mut walk = ChunkIter::exclusive(&mut list, row(&table));
    let mut slices = Vec::new();
    while let Some(mut cutter) = walk.cut(true) {
        let wide = cutter.column_mut::<Wide>().expect("there");
        slices.push((wide, cutter.column::<Narrow>().expect("there")));
    }
    assert!(slices.len() > 1, "several chunks");
    for (wide, narrow) in &mut slices {
        assert_eq!(wide.len() % 16, 0, "whole vectors");
        wide.iter_mut().zip(*narrow).for_each(|(w, n)| w.0[0] += f32::from(n.0));
    }
    let sum: f32 = slices.iter().flat_map(|(wide, _)| wide.iter().map(|w| w.0[0])).sum();
    assert_eq!(sum, 2.0 * (0..700u16).map(f32::from).sum::<f32>());
}

#[test]
#[should_panic(expected = "a column that is written is named once")]
fn a_table_refuses_aliases() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let uses = [true, false].map(|write| ColumnUse { column: Some(1), write });
    ColumnMap::new(2).push(0, &list, uses);
}

#[test]
#[should_panic(expected = "the row was made for this list")]
fn a_table_row_of_another_list_is_refused() {
    let mut pool = Pool::default();
    let (mut ours, theirs) = (list(1, &mut pool), list(1, &mut pool));
    let mut table = ColumnMap::new(0);
    table.push(0, &theirs, []);
    let _ = ChunkIter::exclusive(&mut ours, row(&table));
}

#[test]
#[should_panic(expected = "the column may be written")]
fn a_shared_walk_hands_out_no_mut() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let mut table = ColumnMap::new(1);
    table.push(0, &list, [ColumnUse { column: Some(0), write: true }]);
    let _ = ChunkIter::shared(&list, row(&table)).cut(false).expect("a chunk").column_mut::<Wide>();
}

#[test]
#[should_panic(expected = "a column of this size")]
fn a_column_is_not_cut_as_a_type_of_another_size() {
    let mut pool = Pool::default();
    let list = list(1, &mut pool);
    let mut table = ColumnMap::new(1);
    table.push(0, &list, [ColumnUse { column: Some(0), write: false }]);
    let _ = ChunkIter::shared(&list, row(&table)).cut(false).expect("a chunk").column::<Narrow>();
}
