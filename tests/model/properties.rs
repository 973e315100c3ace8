//! Random operations, and a list of them that fills many chunks.

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common;
use crate::operations::{Op, op};
use crate::world::Pair;

/// Runs the steps, checking after each.
fn run(size: ChunkSize, ops: &[Op]) {
    let mut pair = Pair::new(size);
    for (i, op) in ops.iter().enumerate() {
        pair.step(op);
        pair.compare_sides();
        assert_eq!(pair.world.check(), Ok(()), "after step {i}, {op:?}");
        pair.compare_hashes();
        // Reserved ids are nowhere before they live, so the two are compared when none is left.
        if pair.reserved.is_empty() && (pair.rows.len() < 200 || i % 8 == 0) {
            pair.compare();
        }
    }
    pair.world.clear();
    pair.rows.clear();
    pair.compare_sides();
    assert_eq!(pair.world.check(), Ok(()));
    assert_eq!(pair.world.memory().block_bytes, 0, "every block went back");
}

fn any_size() -> impl Strategy<Value = ChunkSize> {
    prop_oneof![
        4 => Just(ChunkSize::KIB_4),
        2 => Just(ChunkSize::KIB_16),
        1 => Just(ChunkSize::KIB_64),
        1 => Just(ChunkSize::KIB_256),
        2 => Just(common::world().chunk_size()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { ProptestConfig::default().cases },
        max_shrink_iters: if cfg!(miri) { 0 } else { 4_096 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_world_is_what_a_naive_world_is_after_any_operations(
        size in any_size(),
        ops in prop::collection::vec(op(), 1..if cfg!(miri) { 12 } else { 80 }),
    ) {
        run(size, &ops);
    }
}

/// Columns that fill whole chunks of a power of two rows, and their removal from the middle.
#[test]
fn a_world_of_many_chunks_is_what_a_naive_world_is() {
    let many = if cfg!(miri) { 18 } else { 3_000 };
    let ops = [
        Op::Batch { shape: 3, rows: many, lie: 1 },
        Op::Batch { shape: 9, rows: many / 3, lie: 3 },
        Op::Columns { rows: many, kind: 3 },
        Op::Write { kind: 3, number: 1 },
        Op::ShareWhere { filter: 0, team: 1 },
        Op::DespawnMany { start: 7, step: 2 },
        Op::Compact { rows_max: usize::MAX },
        Op::Write { kind: 4, number: 2 },
        Op::ShareWhere { filter: 2, team: 3 },
        Op::InsertMany { shape: 10, step: 3, number: 4 },
        Op::Reserve { ids: 5 },
        Op::DespawnMany { start: 0, step: 3 },
        Op::Write { kind: 8, number: 3 },
        Op::Compact { rows_max: 100 },
        Op::Read { kind: 0 },
        Op::LookupMut { start: 2, step: 17, number: 12 },
        Op::Clear,
        Op::Batch { shape: 5, rows: many / 2, lie: 0 },
        Op::Read { kind: 1 },
        Op::InsertWhere { filter: 0, shape: 1, number: 1 },
        Op::Batch { shape: 5, rows: many - 7, lie: 1 },
        Op::InsertWhere { filter: 1, shape: 1, number: 1 },
        Op::Write { kind: 3, number: 8 },
        Op::InsertWhere { filter: 5, shape: 8, number: 2 },
        Op::RemoveWhere { filter: 0, shape: 1 },
        Op::Copies { which: 3, copies: many },
        Op::Scatter { filter: 2, number: 11 },
        Op::ShareWhere { filter: 3, team: 2 },
        Op::ShareWhere { filter: 5, team: 1 },
        Op::RemoveWhere { filter: 3, shape: 12 },
        Op::Batch { shape: 3, rows: many, lie: 1 },
        Op::Write { kind: 3, number: 9 },
        Op::ShareWhere { filter: 0, team: 5 },
        Op::DespawnWhere { filter: 5 },
        Op::DespawnWhere { filter: 0 },
    ];
    run(ChunkSize::KIB_4, &ops);
    if !cfg!(miri) {
        run(common::world().chunk_size(), &ops);
    }
}
