//! Budgets of instructions for both forms, counted under cachegrind: a benchmark of its own.
//!
//! ```text
//! cargo bench --package phalanx-cachegrind --bench nbody
//! ```
//!
//! A vector counts as one instruction. So the form by vectors, which has eight lanes at AVX2, must
//! stay far below the form by rows. If an edit makes its loop scalar, its row is above the limit,
//! and the exit code is 1. The form by rows is only for comparison, and has no limit.

#![forbid(unsafe_code)]

mod gravity;
mod model;

use gravity::Source;
use phalanx::prelude::*;
use phalanx_cachegrind::{Row, Work};
use std::process::ExitCode;

const BODIES: usize = 512;

type Cluster = (World, Vec<Source>);

fn cluster() -> Cluster {
    let world = model::cluster(BODIES, 1, ChunkSize::default());
    let mut sources = Vec::new();
    gravity::gather(&world, &mut sources);
    (world, sources)
}

fn by_rows((world, sources): &mut Cluster) {
    gravity::by_rows(world, sources);
}

fn by_vectors((world, sources): &mut Cluster) {
    gravity::by_vectors(world, sources);
}

fn work(_: &mut Cluster) -> Work {
    // All of it fits in the first-level cache, so the least number of lines is 0.
    Work::of_units((BODIES * BODIES) as u64, 0.0)
}

fn main() -> ExitCode {
    phalanx_cachegrind::main([
        Row::new("nbody_rows", cluster, by_rows, work).unit("pair"),
        Row::new("nbody_vectors", cluster, by_vectors, work).unit("pair").instructions_max(3.3),
    ])
}
