//! The workloads, and how Criterion runs them.
//!
//! Every workload is written once, in the file of its idea, as a pair of *sides*: the limit (the
//! same loop over flat `Vec`s) and phalanx. Criterion times the sides one after the other;
//! [`limits`] times them in turn and prints their ratio. A workload that is counted as well as
//! timed is a program of `benches/programs`, run by its side.

use std::time::Duration;

use criterion::{AxisScale, Criterion, PlotConfiguration};

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod batch;
pub(crate) mod bodies;
pub(crate) mod bulk;
pub(crate) mod column;
pub(crate) mod commands;
pub(crate) mod cull;
pub(crate) mod despawn;
pub(crate) mod enable;
pub(crate) mod events;
pub(crate) mod flat;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod lanes;
pub(crate) mod levels;
pub(crate) mod life;
pub(crate) mod limits;
pub(crate) mod matrix;
pub(crate) mod merge;
pub(crate) mod neighbours;
pub(crate) mod one_row;
pub(crate) mod order;
pub(crate) mod overwrite;
pub(crate) mod parallel;
pub(crate) mod ranges;
pub(crate) mod rows;
pub(crate) mod schedule;
pub(crate) mod shared;
pub(crate) mod sides;
pub(crate) mod size;
pub(crate) mod snapshot;
pub(crate) mod sparse;
pub(crate) mod sparse_pairs;
pub(crate) mod split;
pub(crate) mod structure;
pub(crate) mod subtrees;
pub(crate) mod systems;
pub(crate) mod targets;
pub(crate) mod timed;
pub(crate) mod versions;

#[path = "../programs/mod.rs"]
pub(crate) mod programs;

pub(crate) use programs::columns::DT;
pub(crate) use programs::components::{
    Position, Rotation, Transform, Velocity, moving_world, position, velocity, world,
};
use programs::proof::{doubled, moved};
pub(crate) use programs::proof::{sum_of_positions, sum_of_world};
use sides::Workload;
use timed::assert_proven;

/// The positions of `len` entities.
pub(crate) fn positions(len: usize) -> Vec<Position> {
    (0..len).map(position).collect()
}

/// The velocities of `len` entities.
pub(crate) fn velocities(len: usize) -> Vec<Velocity> {
    (0..len).map(velocity).collect()
}

/// Asserts the sum of `len` positions after `steps` steps of `velocity * dt`.
#[track_caller]
pub(crate) fn check_moved(got: f64, len: usize, steps: u64, dt: f32) {
    assert_proven(moved(got, len, steps, dt));
}

/// Asserts the sum of `len` ones doubled `steps` times.
#[track_caller]
pub(crate) fn check_doubled(got: f64, len: usize, steps: u64) {
    assert_proven(doubled(got, len, steps));
}

/// All workloads, in the order of the table.
pub(crate) fn workloads() -> Vec<Workload> {
    let parts = [
        insert::workloads(),
        structure::workloads(),
        batch::workloads(),
        despawn::workloads(),
        bulk::workloads(),
        commands::workloads(),
        iterate::workloads(),
        archetypes::workloads(),
        schedule::workloads(),
        systems::workloads(),
        events::workloads(),
        heavy::workloads(),
        size::workloads(),
        access::workloads(),
        rows::workloads(),
        one_row::workloads(),
        life::workloads(),
        versions::workloads(),
        lanes::workloads(),
        split::workloads(),
        sparse::workloads(),
        sparse_pairs::workloads(),
        enable::workloads(),
        cull::workloads(),
        shared::workloads(),
        snapshot::workloads(),
        merge::workloads(),
        order::workloads(),
        ranges::workloads(),
        neighbours::workloads(),
        hierarchy::workloads(),
        subtrees::workloads(),
        targets::workloads(),
        overwrite::workloads(),
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

/// Runs the workloads under Criterion: workloads of one name are a group, and their sizes a curve.
///
/// Samples are short and few: only the ratio inside a group counts, and the complete run must stay
/// under ten minutes.
pub(crate) fn criterion_main(workloads: &[Workload]) {
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
