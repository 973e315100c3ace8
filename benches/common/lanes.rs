//! Vectors of the `wide` crate against plain loops, both inside `kernel!`.
//!
//! `wide` chooses its instructions when it is compiled, a kernel when it is called. So the two
//! builds differ here, and nowhere else by much:
//!
//!     cargo bench -- ^lanes_
//!     RUSTFLAGS='-C target-cpu=x86-64-v3' cargo bench -- ^lanes_

use phalanx::fold;
use phalanx::prelude::*;
use phalanx::wide::f32x8;

use super::sides::{Side, Workload, steady};
use super::{flat, world};

/// Two chunks of the default size, full.
const ROWS: usize = 4_096;

/// Rows that begin different, and then again from the first.
const STARTS: usize = 64;

const DT: f32 = 0.5;
const THRESHOLD: f32 = 32.0;

/// What is moved, halved and summed.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
struct Heat(f32);

/// What is added to it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
struct Flow(f32);

component!(Heat as "bench.heat", Flow as "bench.flow");

kernel! {
    fn add_loop(heat: &mut [Heat], flow: &[Flow], dt: f32) {
        for (h, f) in heat.iter_mut().zip(flow) {
            h.0 += f.0 * dt;
        }
    }

    fn add_lanes(heat: &mut [f32x8], flow: &[f32x8], dt: f32) {
        let dt = f32x8::splat(dt);
        for (h, f) in heat.iter_mut().zip(flow) {
            *h += *f * dt;
        }
    }

    fn select_loop(heat: &mut [Heat], threshold: f32) {
        for h in heat {
            h.0 = if h.0 > threshold { h.0 * 0.5 } else { h.0 + 1.0 };
        }
    }

    fn select_lanes(heat: &mut [f32x8], threshold: f32) {
        let (threshold, half, one) = (f32x8::splat(threshold), f32x8::splat(0.5), f32x8::ONE);
        for h in heat {
            *h = h.simd_gt(threshold).select(*h * half, *h + one);
        }
    }

    fn sum_loop(heat: &[Heat]) -> f32 {
        heat.iter().map(|h| h.0).sum()
    }

    fn sum_lanes(heat: &[f32x8]) -> f32 {
        let mut sums = [f32x8::ZERO; 4];
        let (blocks, rest) = heat.as_chunks::<4>();
        for block in blocks {
            for (sum, h) in sums.iter_mut().zip(block) {
                *sum += *h;
            }
        }
        for h in rest {
            sums[0] += *h;
        }
        ((sums[0] + sums[1]) + (sums[2] + sums[3])).reduce_add()
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![lanes_add(), lanes_select(), lanes_sum()]
}

/// One multiplication and one addition: what LLVM finds by itself.
fn lanes_add() -> Workload {
    Workload::new("lanes_add", ROWS, ROWS)
        .limit(|| {
            steady(
                (column(start), column(flow)),
                |(heat, flow)| flat::add_scaled(heat, flow, DT),
                |(heat, _), steps| check(heat, steps, added),
            )
        })
        .phalanx("phalanx_lanes", |chunk| {
            changing(chunk, added, |world| {
                for (heat, flow) in world.query_mut::<(&mut Heat, &Flow)>().padded() {
                    add_lanes(lanes_mut(heat), lanes(flow), DT);
                }
            })
        })
        .phalanx("phalanx_loop", |chunk| {
            changing(chunk, added, |world| {
                for (heat, flow) in world.query_mut::<(&mut Heat, &Flow)>() {
                    add_loop(heat, flow, DT);
                }
            })
        })
}

/// A choice for each row: a mask and a select.
fn lanes_select() -> Workload {
    Workload::new("lanes_select", ROWS, ROWS)
        .limit(|| {
            steady(
                column(start),
                |heat| flat::halve_or_add(heat, THRESHOLD),
                |heat, steps| check(heat, steps, selected),
            )
        })
        .phalanx("phalanx_lanes", |chunk| {
            changing(chunk, selected, |world| {
                for heat in world.query_mut::<&mut Heat>().padded() {
                    select_lanes(lanes_mut(heat), THRESHOLD);
                }
            })
        })
        .phalanx("phalanx_loop", |chunk| {
            changing(chunk, selected, |world| {
                for heat in world.query_mut::<&mut Heat>() {
                    select_loop(heat, THRESHOLD);
                }
            })
        })
}

/// A sum: as a loop over floats it may not be reordered, and so runs one after the other.
fn lanes_sum() -> Workload {
    Workload::new("lanes_sum", ROWS, ROWS)
        .limit(|| {
            steady(
                (column(start), 0.0),
                |(heat, sum)| *sum = flat::sum(heat),
                |(_, sum), _| check_sum(*sum),
            )
        })
        .phalanx("phalanx_fold", |chunk| summing(chunk, |heat| fold::sum(scalars::<f32>(heat))))
        .phalanx("phalanx_lanes", |chunk| summing(chunk, |heat| sum_lanes(lanes(heat))))
        .phalanx("phalanx_loop", |chunk| summing(chunk, sum_loop))
}

fn start(i: usize) -> f32 {
    (i % STARTS) as f32
}

fn flow(i: usize) -> f32 {
    (i % 4) as f32
}

fn column(value: fn(usize) -> f32) -> Vec<f32> {
    (0..ROWS).map(value).collect()
}

fn heat_world(chunk: ChunkSize) -> World {
    let mut world = world(chunk);
    world.spawn_batch((0..ROWS).map(|i| (Heat(start(i)), Flow(flow(i)))));
    world
}

/// A side that writes the heat; `after` tells what row `i` is after a number of passes.
fn changing(
    chunk: ChunkSize,
    after: fn(usize, u64) -> f32,
    change: impl Fn(&mut World),
) -> impl Side {
    steady(
        heat_world(chunk),
        move |world| change(world),
        move |world, steps| {
            let heat: Vec<f32> =
                world.query::<&Heat>().iter().flat_map(scalars::<f32>).copied().collect();
            check(&heat, steps, after);
        },
    )
}

/// A side that reads the heat. The chunks are full of whole vectors, so none is padded.
fn summing(chunk: ChunkSize, sum: impl Fn(&[Heat]) -> f32) -> impl Side {
    steady(
        (heat_world(chunk), 0.0),
        move |(world, total)| {
            *total = world.query::<&Heat>().iter().map(|heat| f64::from(sum(heat))).sum();
        },
        |(_, total), _| check_sum(*total),
    )
}

/// Small integers: exact in every order.
fn check_sum(found: f64) {
    assert_eq!(found, (0..ROWS).map(start).map(f64::from).sum::<f64>(), "the sum of the heat");
}

fn check(heat: &[f32], steps: u64, after: fn(usize, u64) -> f32) {
    assert_eq!(heat.len(), ROWS, "rows");
    let want: Vec<f32> = (0..STARTS).map(|i| after(i, steps)).collect();
    for (i, heat) in heat.iter().enumerate() {
        assert_eq!(*heat, want[i % STARTS], "row {i} after {steps} passes");
    }
}

/// Exact up to 2^23 passes, and then all sides stay where the last bit no longer moves.
fn added(i: usize, steps: u64) -> f32 {
    (0..steps).fold(start(i), |heat, _| heat + flow(i) * DT)
}

fn selected(i: usize, steps: u64) -> f32 {
    let step = |heat: f32| if heat > THRESHOLD { heat * 0.5 } else { heat + 1.0 };
    (0..steps).fold(start(i), |heat, _| step(heat))
}
