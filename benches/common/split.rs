//! The same component as one column and as a column for each field.
//!
//! A split component wins where a kernel needs one of the fields (`split_one`) or combines the
//! fields of a row (`split_length`). It costs where a kernel treats all floats alike (`split_all`),
//! since a pass walks one stream for each field, and where whole rows are read (`split_random`) or
//! written (`split_spawn`) one by one.

use std::hint::black_box;

use phalanx::prelude::*;

use super::column::Column;
use super::flat;
use super::programs::random::random_indices;
use super::sides::{Side, Workload, steady};
use super::world;

/// Two chunks of the default size, and more than the caches hold.
const SIZES: [usize; 2] = [4_096, 1_000_000];

/// Rows that are read in random order.
const READS: usize = 100_000;

const DT: f32 = 0.5;

#[component(name = "bench.whole")]
struct Whole {
    x: f32,
    y: f32,
    z: f32,
}

#[component(split, name = "bench.apart")]
struct Apart {
    x: f32,
    y: f32,
    z: f32,
}

#[component(name = "bench.whole_speed")]
struct WholeSpeed {
    x: f32,
    y: f32,
    z: f32,
}

#[component(split, name = "bench.apart_speed")]
struct ApartSpeed {
    x: f32,
    y: f32,
    z: f32,
}

#[component(name = "bench.out")]
struct Out(f32);

#[kernel]
fn one_whole(out: &mut [Out], rows: &[Whole]) {
    for (out, row) in out.iter_mut().zip(rows) {
        out.0 = row.y.max(8.0);
    }
}

#[kernel]
fn one_apart(out: &mut [Out], y: &[f32]) {
    for (out, y) in out.iter_mut().zip(y) {
        out.0 = y.max(8.0);
    }
}

#[kernel]
fn length_whole(out: &mut [Out], rows: &[Whole]) {
    for (out, Whole { x, y, z }) in out.iter_mut().zip(rows) {
        out.0 = (x * x + y * y + z * z).sqrt();
    }
}

#[kernel]
fn length_apart(out: &mut [Out], x: &[f32], y: &[f32], z: &[f32]) {
    let rows = out.iter_mut().zip(x).zip(y).zip(z);
    for (((out, x), y), z) in rows {
        out.0 = (x * x + y * y + z * z).sqrt();
    }
}

#[kernel]
fn move_whole(rows: &mut [Whole], speeds: &[WholeSpeed], dt: f32) {
    for (row, speed) in rows.iter_mut().zip(speeds) {
        row.x += speed.x * dt;
        row.y += speed.y * dt;
        row.z += speed.z * dt;
    }
}

#[kernel]
fn move_field(field: &mut [f32], speed: &[f32], dt: f32) {
    for (field, speed) in field.iter_mut().zip(speed) {
        *field += *speed * dt;
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let sized = SIZES.iter().flat_map(|&rows| [one(rows), length(rows), all(rows)]);
    let mut workloads: Vec<_> = sized.collect();
    workloads.sort_by_key(|workload| workload.name);
    workloads.extend([random(), spawn()]);
    workloads
}

/// A maximum of one field.
fn one(rows: usize) -> Workload {
    Workload::new("split_one", rows, rows)
        .limit(move || {
            steady(
                (Column::new(&vec![0f32; rows], 0), column(rows, 1, 1)),
                |(out, y)| flat::at_least(out.write(), y.read(), 8.0),
                |(out, _), _| check(out.read(), one_of),
            )
        })
        .phalanx("phalanx_whole", move |chunk| {
            computed(chunk, rows, one_of, |world| {
                for (out, rows) in world.query_mut::<(&mut Out, &Whole)>() {
                    one_whole(out, rows);
                }
            })
        })
        .phalanx("phalanx_split", move |chunk| {
            computed(chunk, rows, one_of, |world| {
                for (out, rows) in world.query_mut::<(&mut Out, &Apart)>() {
                    one_apart(out, rows.y);
                }
            })
        })
}

/// The length of each row: a sum across its fields, and a square root.
fn length(rows: usize) -> Workload {
    Workload::new("split_length", rows, rows)
        .limit(move || {
            let fields = [0, 1, 2].map(|field| column(rows, field, field + 1));
            steady(
                (Column::new(&vec![0f32; rows], 0), fields),
                |(out, [x, y, z])| flat::length(out.write(), x.read(), y.read(), z.read()),
                |(out, _), _| check(out.read(), length_of),
            )
        })
        .phalanx("phalanx_whole", move |chunk| {
            computed(chunk, rows, length_of, |world| {
                for (out, rows) in world.query_mut::<(&mut Out, &Whole)>() {
                    length_whole(out, rows);
                }
            })
        })
        .phalanx("phalanx_split", move |chunk| {
            computed(chunk, rows, length_of, |world| {
                for (out, ApartSlices { x, y, z }) in world.query_mut::<(&mut Out, &Apart)>() {
                    length_apart(out, x, y, z);
                }
            })
        })
}

/// All fields alike: the position moves by the speed.
fn all(rows: usize) -> Workload {
    Workload::new("split_all", rows, rows)
        .limit(move || {
            let (rows, speeds): (Vec<_>, Vec<_>) = (0..rows).map(|i| (fields(i), speed(i))).unzip();
            steady(
                (Column::new(&rows, 0), Column::new(&speeds, 1)),
                |(rows, speeds)| flat::add_scaled(rows.write(), speeds.read(), DT),
                |(rows, _), steps| check_moved(rows.read().iter().copied(), steps),
            )
        })
        .phalanx("phalanx_whole", move |chunk| {
            moved(chunk, rows, whole_rows, |world| {
                for (rows, speeds) in world.query_mut::<(&mut Whole, &WholeSpeed)>() {
                    move_whole(rows, speeds, DT);
                }
            })
        })
        .phalanx("phalanx_scalars", move |chunk| {
            moved(chunk, rows, whole_rows, |world| {
                for (rows, speeds) in world.query_mut::<(&mut Whole, &WholeSpeed)>() {
                    move_field(scalars_mut(rows), scalars(speeds), DT);
                }
            })
        })
        .phalanx("phalanx_split", move |chunk| {
            moved(chunk, rows, apart_rows, |world| {
                for (rows, speeds) in world.query_mut::<(&mut Apart, &ApartSpeed)>() {
                    move_field(rows.x, speeds.x, DT);
                    move_field(rows.y, speeds.y, DT);
                    move_field(rows.z, speeds.z, DT);
                }
            })
        })
}

/// Whole rows by entity, in a random order.
fn random() -> Workload {
    Workload::new("split_random", READS, READS)
        .limit(|| {
            let rows: Vec<_> = (0..READS).map(fields).collect();
            let order: Vec<_> = random_indices(READS, READS).collect();
            steady(
                (rows, order, 0.0),
                |(rows, order, sum)| {
                    let read = |&i: &usize| rows[i].iter().sum::<f32>();
                    *sum = black_box(&*order).iter().map(read).map(f64::from).sum();
                },
                |(.., sum), _| check_read(*sum),
            )
        })
        .phalanx("phalanx_whole", |chunk| {
            read(chunk, |world, order| {
                let query = world.query::<&Whole>();
                let lookup = query.lookup();
                let row = |&entity: &Entity| lookup.get(entity).expect("alive");
                order.iter().map(row).map(|row| f64::from(row.x + row.y + row.z)).sum()
            })
        })
        .phalanx("phalanx_split", |chunk| {
            read(chunk, |world, order| {
                let query = world.query::<&Apart>();
                let lookup = query.lookup();
                let row = |&entity: &Entity| lookup.get(entity).expect("alive");
                order.iter().map(row).map(|row| f64::from(row.x + row.y + row.z)).sum()
            })
        })
}

/// A batch, spawned row by row into existing chunks.
fn spawn() -> Workload {
    Workload::new("split_spawn", READS, READS)
        .limit(|| {
            steady(
                Vec::with_capacity(READS),
                |rows| {
                    rows.clear();
                    rows.extend((0..READS).map(fields));
                },
                |rows: &mut Vec<[f32; 3]>, _| assert_eq!(rows.len(), READS, "rows"),
            )
        })
        .phalanx("phalanx_whole", |chunk| {
            spawned(chunk, |world| {
                world.spawn_batch((0..READS).map(fields).map(|[x, y, z]| Whole { x, y, z }));
            })
        })
        .phalanx("phalanx_split", |chunk| {
            spawned(chunk, |world| {
                world.spawn_batch((0..READS).map(fields).map(|[x, y, z]| Apart { x, y, z }));
            })
        })
}

/// The fields of row `i`: small integers, so that every sum is exact.
fn fields(i: usize) -> [f32; 3] {
    [(i % 5) as f32, (i % 17) as f32, (i % 3) as f32]
}

fn speed(i: usize) -> [f32; 3] {
    [(i % 2) as f32, 1.0, (i % 4) as f32]
}

fn column(rows: usize, field: usize, quarter: usize) -> Column<f32> {
    Column::new(&(0..rows).map(|i| fields(i)[field]).collect::<Vec<_>>(), quarter)
}

fn one_of([_, y, _]: [f32; 3]) -> f32 {
    y.max(8.0)
}

fn length_of([x, y, z]: [f32; 3]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}

/// A world with rows of both kinds, each with a result.
fn rows_world(chunk: ChunkSize, rows: usize) -> World {
    let mut world = world(chunk);
    let whole = (0..rows).map(|i| {
        let ([x, y, z], [u, v, w]) = (fields(i), speed(i));
        (Whole { x, y, z }, WholeSpeed { x: u, y: v, z: w }, Out(0.0))
    });
    world.spawn_batch(whole);
    let apart = (0..rows).map(|i| {
        let ([x, y, z], [u, v, w]) = (fields(i), speed(i));
        (Apart { x, y, z }, ApartSpeed { x: u, y: v, z: w }, Out(0.0))
    });
    world.spawn_batch(apart);
    world
}

/// A side that computes a number from each row.
fn computed(
    chunk: ChunkSize,
    rows: usize,
    of: fn([f32; 3]) -> f32,
    compute: impl Fn(&mut World),
) -> impl Side {
    steady(
        rows_world(chunk, rows),
        move |world| compute(world),
        move |world, _| {
            let columns = world.query::<&Out>().into_iter().flat_map(scalars::<f32>);
            let out: Vec<f32> = columns.copied().collect();
            let (whole, apart) = out.split_at(rows);
            // The side under test has written one of the two.
            check(if whole.iter().any(|&out| out != 0.0) { whole } else { apart }, of);
        },
    )
}

fn check(out: &[f32], of: fn([f32; 3]) -> f32) {
    for (i, out) in out.iter().enumerate() {
        assert_eq!(*out, of(fields(i)), "row {i}");
    }
}

/// A side that moves each row by its speed.
fn moved(
    chunk: ChunkSize,
    rows: usize,
    read: fn(&World) -> Vec<[f32; 3]>,
    step: impl Fn(&mut World),
) -> impl Side {
    steady(
        rows_world(chunk, rows),
        move |world| step(world),
        move |world, steps| check_moved(read(world).into_iter(), steps),
    )
}

fn whole_rows(world: &World) -> Vec<[f32; 3]> {
    world.query::<&Whole>().rows().map(|row| [row.x, row.y, row.z]).collect()
}

fn apart_rows(world: &World) -> Vec<[f32; 3]> {
    world.query::<&Apart>().rows().map(|row| [row.x, row.y, row.z]).collect()
}

/// Exact up to 2^23 passes: multiples of a half.
fn check_moved(rows: impl Iterator<Item = [f32; 3]>, steps: u64) {
    for (i, row) in rows.enumerate() {
        let after = |field| fields(i)[field] + speed(i)[field] * DT * steps as f32;
        assert_eq!(row, [after(0), after(1), after(2)], "row {i} after {steps} passes");
    }
}

/// A side that sums rows which are read by entity.
fn read(chunk: ChunkSize, sum: impl Fn(&World, &[Entity]) -> f64) -> impl Side {
    let mut world = world(chunk);
    let rows = (0..READS).map(fields);
    let rows = rows.map(|[x, y, z]| (Whole { x, y, z }, Apart { x, y, z }));
    let entities = world.spawn_batch(rows).to_vec();
    let order: Vec<_> = random_indices(READS, READS).map(|i| entities[i]).collect();
    steady(
        (world, order, 0.0),
        move |(world, order, total)| *total = sum(world, black_box(&*order)),
        |(.., total), _| check_read(*total),
    )
}

fn check_read(sum: f64) {
    let rows = random_indices(READS, READS).map(fields);
    assert_eq!(sum, rows.map(|row| f64::from(row.iter().sum::<f32>())).sum::<f64>(), "the sum");
}

/// A side that spawns into a world which was cleared.
fn spawned(chunk: ChunkSize, spawn: impl Fn(&mut World)) -> impl Side {
    steady(
        world(chunk),
        move |world| {
            world.clear();
            spawn(world);
        },
        |world, _| assert_eq!(world.len(), READS, "rows"),
    )
}
