//! Vectors against plain loops, all inside `#[kernel]`: the vectors of `phalanx::simd::vectors` and
//! `wide`.
//!
//! `wide` chooses its instructions when it is compiled, a kernel when it is called. So the two
//! builds differ here for `wide`, and hardly for the others:
//!
//!     cargo bench -- ^lanes_
//!     RUSTFLAGS='-C target-cpu=x86-64-v3' cargo bench -- ^lanes_

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx::simd::fold;
use phalanx::simd::vectors::F32x16;
use phalanx::wide::f32x8;

use super::bodies::{REACH, SOFTENING, pull};
use super::sides::{Side, Workload, steady};
use super::{flat, world};

/// Two chunks of the default size, full.
const ROWS: usize = 4_096;

/// The number of different start values; they repeat along the rows.
const STARTS: usize = 64;

const DT: f32 = 0.5;
const THRESHOLD: f32 = 32.0;

/// The sources that pull at every row in turn, so that the inner loop is not over rows.
const SOURCES: [f32; 8] = [-1.0, -2.0, -4.0, -8.0, 64.0, 65.0, 80.0, 100.0];

/// The values that are moved, halved and summed.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
struct Heat(f32);

/// The values added to them.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
struct Flow(f32);

impl_component!(Heat as "bench.heat", Flow as "bench.flow");

#[kernel]
fn add_loop(heat: &mut [Heat], flow: &[Flow], dt: f32) {
    for (h, f) in heat.iter_mut().zip(flow) {
        h.0 += f.0 * dt;
    }
}

#[kernel]
fn add_wide(heat: &mut [f32x8], flow: &[f32x8], dt: f32) {
    let dt = f32x8::splat(dt);
    for (h, f) in heat.iter_mut().zip(flow) {
        *h += *f * dt;
    }
}

#[kernel]
fn add_vectors(heat: &mut [F32x16], flow: &[F32x16], dt: f32) {
    for (h, f) in heat.iter_mut().zip(flow) {
        *h += *f * dt;
    }
}

#[kernel]
fn select_loop(heat: &mut [Heat], threshold: f32) {
    for h in heat {
        h.0 = if h.0 > threshold { h.0 * 0.5 } else { h.0 + 1.0 };
    }
}

#[kernel]
fn select_wide(heat: &mut [f32x8], threshold: f32) {
    let (threshold, half, one) = (f32x8::splat(threshold), f32x8::splat(0.5), f32x8::ONE);
    for h in heat {
        *h = h.simd_gt(threshold).select(*h * half, *h + one);
    }
}

#[kernel]
fn select_vectors(heat: &mut [F32x16], threshold: f32) {
    for h in heat {
        *h = h.simd_gt(F32x16::splat(threshold)).select(*h * 0.5, *h + 1.0);
    }
}

#[kernel]
fn pull_loop(heat: &[Heat], flow: &mut [Flow], sources: &[f32]) {
    for (h, f) in heat.iter().zip(flow) {
        f.0 = sources.iter().map(|source| pull(source - h.0)).sum();
    }
}

#[kernel]
fn pull_wide(heat: &[f32x8], flow: &mut [f32x8], sources: &[f32]) {
    for (h, f) in heat.iter().zip(flow) {
        *f = f32x8::ZERO;
        for source in sources {
            let d = f32x8::splat(*source) - *h;
            let squared = d * d + f32x8::splat(SOFTENING);
            let is_near = squared.simd_lt(f32x8::splat(REACH));
            *f += is_near.select(d / (squared * squared.sqrt()), f32x8::ZERO);
        }
    }
}

#[kernel]
fn pull_vectors(heat: &[F32x16], flow: &mut [F32x16], sources: &[f32]) {
    for (h, f) in heat.iter().zip(flow) {
        *f = F32x16::splat(0.0);
        for source in sources {
            let d = F32x16::splat(*source) - *h;
            let squared = d * d + SOFTENING;
            let is_near = squared.simd_lt(F32x16::splat(REACH));
            *f += is_near.select(d / (squared * squared.sqrt()), F32x16::splat(0.0));
        }
    }
}

#[kernel]
fn sum_loop(heat: &[Heat]) -> f32 {
    heat.iter().map(|h| h.0).sum()
}

#[kernel]
fn sum_wide(heat: &[f32x8]) -> f32 {
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

#[kernel]
fn sum_vectors(heat: &[F32x16]) -> f32 {
    let mut sums = [F32x16::splat(0.0); 2];
    let (blocks, rest) = heat.as_chunks::<2>();
    for block in blocks {
        for (sum, h) in sums.iter_mut().zip(block) {
            *sum += *h;
        }
    }
    for h in rest {
        sums[0] += *h;
    }
    (sums[0] + sums[1]).reduce_add()
}

/// Opaque, or the compiler would know the number of sources and unroll the loop over them.
fn sources() -> &'static [f32] {
    black_box(&SOURCES)
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![lanes_add(), lanes_pull(), lanes_select(), lanes_sum()]
}

/// One multiplication and one addition, which LLVM vectorises by itself.
fn lanes_add() -> Workload {
    Workload::new("lanes_add", ROWS, ROWS)
        .limit(|| {
            steady(
                (column(start), column(flow)),
                |(heat, flow)| flat::add_scaled(heat, flow, DT),
                |(heat, _), steps| check(heat, steps, added),
            )
        })
        .phalanx("phalanx_wide", |chunk| {
            changing(chunk, added, |world| {
                for (heat, flow) in world.query_mut::<(&mut Heat, &Flow)>().padded() {
                    add_wide(lanes_mut(heat), lanes(flow), DT);
                }
            })
        })
        .phalanx("phalanx_vectors", |chunk| {
            changing(chunk, added, |world| {
                for (heat, flow) in world.query_mut::<(&mut Heat, &Flow)>().padded() {
                    add_vectors(lanes_mut(heat), lanes(flow), DT);
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

/// A loop over sources for each row: LLVM vectorises the inner loop or none, vectors the outer one.
fn lanes_pull() -> Workload {
    Workload::new("lanes_pull", ROWS, ROWS)
        .limit(|| {
            steady(
                (column(start), column(flow)),
                |(heat, flow)| flat::pull_from(heat, flow, sources()),
                |(_, flow), _| check_pull(flow),
            )
        })
        .phalanx("phalanx_wide", |chunk| {
            pulling(chunk, |heat, flow| pull_wide(lanes(heat), lanes_mut(flow), sources()))
        })
        .phalanx("phalanx_vectors", |chunk| {
            pulling(chunk, |heat, flow| pull_vectors(lanes(heat), lanes_mut(flow), sources()))
        })
        .phalanx("phalanx_loop", |chunk| {
            pulling(chunk, |heat, flow| pull_loop(heat, flow, sources()))
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
        .phalanx("phalanx_wide", |chunk| {
            changing(chunk, selected, |world| {
                for heat in world.query_mut::<&mut Heat>().padded() {
                    select_wide(lanes_mut(heat), THRESHOLD);
                }
            })
        })
        .phalanx("phalanx_vectors", |chunk| {
            changing(chunk, selected, |world| {
                for heat in world.query_mut::<&mut Heat>().padded() {
                    select_vectors(lanes_mut(heat), THRESHOLD);
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

/// A sum: additions of floats may not be reordered, so as a loop they run one after the other.
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
        .phalanx("phalanx_wide", |chunk| summing(chunk, |heat| sum_wide(lanes(heat))))
        .phalanx("phalanx_vectors", |chunk| summing(chunk, |heat| sum_vectors(lanes(heat))))
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

/// A side that writes the heat; `after` returns the value of row `i` after a number of passes.
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

/// A side that writes the flow. Each float is equal in all sides: they add in one order.
fn pulling(chunk: ChunkSize, pull: impl Fn(&[Heat], &mut [Flow])) -> impl Side {
    steady(
        heat_world(chunk),
        move |world| {
            for (heat, flow) in world.query_mut::<(&Heat, &mut Flow)>().padded() {
                pull(heat, flow);
            }
        },
        |world, _| {
            let flow: Vec<f32> =
                world.query::<&Flow>().iter().flat_map(scalars::<f32>).copied().collect();
            check_pull(&flow);
        },
    )
}

fn check_pull(flow: &[f32]) {
    assert_eq!(flow.len(), ROWS, "rows");
    for (i, flow) in flow.iter().enumerate() {
        let want: f32 = SOURCES.iter().map(|source| pull(source - start(i))).sum();
        assert_eq!(*flow, want, "row {i}");
    }
}

/// A side that reads the heat. The chunks consist of whole vectors, so none is padded.
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

/// Exact up to 2^23 passes; afterwards an addition no longer changes the value, on any side.
fn added(i: usize, steps: u64) -> f32 {
    (0..steps).fold(start(i), |heat, _| heat + flow(i) * DT)
}

fn selected(i: usize, steps: u64) -> f32 {
    let step = |heat: f32| if heat > THRESHOLD { heat * 0.5 } else { heat + 1.0 };
    (0..steps).fold(start(i), |heat, _| step(heat))
}
