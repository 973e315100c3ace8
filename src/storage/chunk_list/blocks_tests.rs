//! Tests of the blocks of a list.

use super::*;
use crate::storage::chunk_size::ChunkSize;
use crate::storage::layout::ColumnShape;

fn blocks() -> Blocks {
    let shape = ColumnShape::plain("number", 4, 4);
    Blocks::new(ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("it fits"))
}

#[test]
#[should_panic(expected = "the block was allocated for another list")]
fn a_block_of_another_list_is_refused() {
    let (mut pool, ours, mut theirs) = (Pool::default(), blocks(), blocks());
    theirs.push(ours.allocate(BlockClass::Own, &mut pool));
}

#[test]
#[should_panic(expected = "the block was allocated for another list")]
fn a_row_does_not_move_to_a_block_of_another_list() {
    let (mut pool, ours, mut theirs) = (Pool::default(), blocks(), blocks());
    theirs.push(theirs.allocate(BlockClass::Own, &mut pool));
    theirs.replace(0, ours.allocate(BlockClass::Own, &mut pool), 1);
}

#[test]
#[should_panic(expected = "a small first block is not the only block")]
fn a_first_block_is_found_behind_others() {
    let (mut pool, mut source, mut target) = (Pool::default(), blocks(), blocks());
    let own = source.allocate(BlockClass::Own, &mut pool);
    let first = source.allocate_first(&mut pool).expect("a row is small");
    target.attach(&mut VecDeque::from([own, first]), &source);
}

#[test]
#[should_panic(expected = "a small first block is not the only block")]
fn a_first_block_is_the_only_one() {
    let (mut pool, mut blocks) = (Pool::default(), blocks());
    let first = blocks.allocate_first(&mut pool).expect("a row is small");
    blocks.push(first);
    blocks.push(blocks.allocate(BlockClass::Own, &mut pool));
}

#[test]
#[should_panic(expected = "a block has fewer than 1024 rows")]
fn a_first_block_has_no_room_for_the_rows_of_a_chunk() {
    let (mut pool, mut blocks) = (Pool::default(), blocks());
    blocks.push(blocks.allocate(BlockClass::Own, &mut pool));
    let first = blocks.allocate_first(&mut pool).expect("a row is small");
    blocks.replace(0, first, 1024);
}
