//! What the benchmarks share: components, initial values and the results that prove a pass.
//!
//! Every workload is written once, in the file of its idea, as a pair of *sides*: the limit (the
//! same loop over flat `Vec`s) and phalanx. Criterion times the sides one after the other
//! (`iterate`, `insert`, …); `limits` times them in turn and prints their ratio.
#![allow(dead_code, reason = "each benchmark uses its own part of this module")]

use std::time::Duration;

use criterion::{AxisScale, Criterion, PlotConfiguration};
use phalanx::prelude::*;

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod batch;
pub(crate) mod flat;
pub(crate) mod heavy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod lanes;
pub(crate) mod levels;
pub(crate) mod life;
pub(crate) mod matrix;
pub(crate) mod parallel;
pub(crate) mod rows;
pub(crate) mod schedule;
pub(crate) mod sides;
pub(crate) mod size;
pub(crate) mod structure;
pub(crate) mod versions;

use sides::Workload;

/// Seconds of one step. A power of two: products are exact, and so are sums for millions of steps.
pub(crate) const DT: f32 = 0.5;

/// A matrix: most of the bytes of an inserted row.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Transform(pub(crate) [f32; 16]);

/// Where an entity is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// A third column of three floats, inserted and never read.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Rotation {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// How fast an entity moves.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// One float to be doubled.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Data(pub(crate) f32);

component!(Transform, Position, Rotation, Velocity, Data);

/// Where entity `i` starts.
pub(crate) fn position(i: usize) -> Position {
    Position { x: (i % 64) as f32, y: 1.0, z: 2.0 }
}

/// How fast entity `i` moves.
pub(crate) fn velocity(i: usize) -> Velocity {
    Velocity { x: 1.0, y: 2.0, z: (i % 4) as f32 }
}

/// The positions of `len` entities.
pub(crate) fn positions(len: usize) -> Vec<Position> {
    (0..len).map(position).collect()
}

/// The velocities of `len` entities.
pub(crate) fn velocities(len: usize) -> Vec<Velocity> {
    (0..len).map(velocity).collect()
}

/// A world whose chunks are of the given size.
pub(crate) fn world(chunk: ChunkSize) -> World {
    World::builder().chunk_size(chunk).build()
}

/// A world of `len` entities with a position and a velocity, in order.
pub(crate) fn moving_world(chunk: ChunkSize, len: usize) -> (World, Vec<Entity>) {
    let mut world = world(chunk);
    let entities = world.spawn_batch((0..len).map(|i| (position(i), velocity(i)))).to_vec();
    (world, entities)
}

/// The sum of all coordinates.
pub(crate) fn sum_of_positions(positions: &[Position]) -> f64 {
    positions.iter().map(|p| f64::from(p.x) + f64::from(p.y) + f64::from(p.z)).sum()
}

/// The sum of all coordinates in a world.
pub(crate) fn sum_of_world(world: &World) -> f64 {
    world.query::<&Position>().map(sum_of_positions).sum()
}

/// Asserts that `len` positions went `steps` times by `velocity * dt`.
///
/// Positions and velocities repeat themselves after 64 rows. Those go along step by step, so that
/// the comparison is exact even when millions of steps have come to where `f32` rounds.
pub(crate) fn check_moved(got: f64, len: usize, steps: u64, dt: f32) {
    const STARTS: usize = 64;
    let mut at: [Position; STARTS] = std::array::from_fn(position);
    let by: [Velocity; STARTS] = std::array::from_fn(|i| {
        let Velocity { x, y, z } = velocity(i);
        Velocity { x: x * dt, y: y * dt, z: z * dt }
    });
    for _ in 0..steps {
        let (at, by) = (scalars_mut::<f32>(&mut at), scalars::<f32>(&by));
        at.iter_mut().zip(by).for_each(|(at, by)| *at += by);
    }
    let want: f64 = (0..len).map(|i| sum_of_positions(&at[i % STARTS..][..1])).sum();
    assert_eq!(got, want, "positions after {steps} steps");
}

/// Asserts the sum of `len` ones doubled `steps` times (infinite from 128 steps on).
pub(crate) fn check_doubled(got: f64, len: usize, steps: u64) {
    let one = if steps < 128 { 2f64.powf(steps as f64) } else { f64::INFINITY };
    assert_eq!(got, one * len as f64, "data after {steps} doublings");
}

/// A xorshift generator: enough disorder for a lookup order, the same in every run.
pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// All workloads, in the order of the table.
pub(crate) fn workloads() -> Vec<Workload> {
    let parts = [
        insert::workloads(),
        structure::workloads(),
        batch::workloads(),
        iterate::workloads(),
        archetypes::workloads(),
        schedule::workloads(),
        heavy::workloads(),
        size::workloads(),
        access::workloads(),
        rows::workloads(),
        life::workloads(),
        versions::workloads(),
        lanes::workloads(),
        levels::workloads(),
        parallel::workloads(),
    ];
    let workloads: Vec<_> = parts.into_iter().flatten().collect();
    sides::assert_names_differ(&workloads);
    workloads
}

/// Frees one large block, so that every side starts from a heap that keeps its pages.
///
/// It raises glibc's thresholds for `mmap` and trimming, as a long-running program does sooner or
/// later. Without it the insertion rows change with whatever ran before them.
pub(crate) fn settle_heap() {
    drop(std::hint::black_box(vec![1u8; 31 << 20]));
}

/// Runs the workloads under Criterion: those of one name are a group, and their sizes a curve.
///
/// Short times and few samples: the ratio inside a group is what counts, and the complete run must
/// stay under ten minutes.
pub(crate) fn criterion_main(workloads: &[Workload]) {
    settle_heap();
    let mut criterion = Criterion::default()
        .sample_size(20)
        .nresamples(10_000)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for sizes in workloads.chunk_by(|a, b| a.name == b.name) {
        let mut group = criterion.benchmark_group(sizes[0].name);
        if sizes.iter().all(|workload| workload.size > 0) {
            let logarithmic = AxisScale::Logarithmic;
            group.plot_config(PlotConfiguration::default().summary_scale(logarithmic));
        }
        for workload in sizes {
            workload.bench(&mut group);
        }
        group.finish();
    }
    criterion.final_summary();
}
