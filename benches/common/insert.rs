//! Filling a world: 10,000 rows of a matrix, a position, a rotation and a velocity (100 bytes).
//!
//! Every pass begins with an empty world, or with empty `Vec`s; making and dropping them is not
//! timed. `batch` and `columns` produce the values inside the time, `columns_copy` copies existing
//! slices, `one_by_one` has a call for each row.

use std::hint::black_box;

use phalanx::prelude::*;

use super::programs::insert::{SpawnBatch, row_of_100_bytes};
use super::sides::{Side, Workload, fresh};
use super::timed::timed_once;
use super::{
    Position, Rotation, Transform, Velocity, check_moved, position, sum_of_positions, sum_of_world,
    velocity, world,
};

const ROWS: usize = 10_000;

/// Four flat columns.
type Columns = (Vec<Transform>, Vec<Position>, Vec<Rotation>, Vec<Velocity>);

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        Workload::new("simple_insert_batch", ROWS, ROWS)
            .limit(|| fresh(|| (), |()| columns(), check_columns))
            .phalanx("phalanx", |chunk| timed_once(move || SpawnBatch::new(chunk, ROWS)))
            .phalanx("phalanx_columns", |chunk| {
                ours(chunk, |world| {
                    let columns = columns();
                    spawn_columns(world, &columns);
                })
            }),
        Workload::new("simple_insert_columns_copy", ROWS, ROWS)
            .limit(|| {
                let source = columns();
                fresh(|| (), move |()| black_box(&source).clone(), check_columns)
            })
            .phalanx("phalanx", |chunk| {
                let source = columns();
                ours(chunk, move |world| spawn_columns(world, black_box(&source)))
            }),
        Workload::new("simple_insert_one_by_one", ROWS, ROWS)
            .limit(|| fresh(|| (), |()| columns_one_by_one(), check_columns))
            .phalanx("phalanx", |chunk| {
                ours(chunk, |world| {
                    for i in 0..ROWS {
                        world.spawn(row_of_100_bytes(i));
                    }
                })
            }),
    ]
}

/// A side that fills an empty world.
fn ours(chunk: ChunkSize, mut fill: impl FnMut(&mut World)) -> impl Side {
    fresh(
        move || world(chunk),
        move |mut world| {
            fill(&mut world);
            world
        },
        |world| {
            assert_eq!(world.len(), ROWS, "every row was inserted");
            check_moved(sum_of_world(world), ROWS, 0, 1.0);
        },
    )
}

fn spawn_columns(world: &mut World, (m, p, r, v): &Columns) {
    world.spawn_columns((&m[..], &p[..], &r[..], &v[..])).expect("columns of one length");
}

fn columns() -> Columns {
    (
        (0..ROWS).map(|_| black_box(Transform([1.0; 16]))).collect(),
        (0..ROWS).map(position).collect(),
        (0..ROWS).map(|_| Rotation::default()).collect(),
        (0..ROWS).map(velocity).collect(),
    )
}

fn columns_one_by_one() -> Columns {
    let mut columns = Columns::default();
    for i in 0..ROWS {
        let (m, p, r, v) = row_of_100_bytes(i);
        columns.0.push(m);
        columns.1.push(p);
        columns.2.push(r);
        columns.3.push(v);
    }
    columns
}

fn check_columns((m, p, r, v): &Columns) {
    assert_eq!([m.len(), p.len(), r.len(), v.len()], [ROWS; 4], "every row was inserted");
    check_moved(sum_of_positions(p), ROWS, 0, 1.0);
}
