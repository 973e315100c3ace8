//! Gravity between all pairs of bodies, row by row and with vectors.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin nbody
//! ```
//!
//! # Features
//!
//! **Two forms of one loop.** Each body is pulled by all others. The form by rows is the one of a
//! textbook, and it stays scalar: the sum of one body has one order. The form by vectors turns the
//! loops: 16 bodies lie side by side, and each lane adds its own sum. Both do the same arithmetic
//! in the same order, so the two worlds are equal bit by bit, which the example checks.
//!
//! **Split components.** A vector needs the same coordinate of many bodies. `split` stores each
//! field in a column, and a query hands out `position.x`, `position.y`, `position.z` as slices.
//!
//! **A second buffer.** All accelerations have to be computed from the old positions. Each step
//! copies the bodies to one array first, because each body needs all others. A kernel reads that
//! array and writes accelerations, on any number of threads. (If a body needed only its own old
//! value, or a few others by id, `World::flip` would exchange two columns without a copy.)
//!
//! **A budget of instructions.** A clock does not show why a loop is slow; instructions a pair do.
//! `budget.rs` is a benchmark that counts both forms under cachegrind, where kernels have eight
//! lanes, and fails if the fast one becomes scalar:
//!
//! ```text
//! $ cargo bench --package phalanx-cachegrind --bench nbody
//! | row           | unit | instructions | data refs |     limits |
//! |---------------|------|--------------|-----------|------------|
//! | nbody_rows    | pair |        25.10 |      3.06 |            |
//! | nbody_vectors | pair |         3.07 |      0.79 | 3.3 instr. |
//! ```
//!
//! 25 instructions for a pair, or 25 for eight pairs: the second form is vectorised in full.
//!
//! # Files
//!
//! - [`model`] defines the components and the bodies at the start;
//! - [`gravity`] has the two forms, [`motion`] moves the bodies, [`energy`] adds up the energy;
//! - `budget.rs` is a program of its own.
//!
//! The lines with times differ from run to run. The others are the same for the same arguments, on
//! any number of threads, at any level and in chunks of any size.

#![forbid(unsafe_code)]

mod energy;
mod gravity;
mod model;
mod motion;

use clap::Parser;
use model::Position;
use motion::Gravity;
use phalanx::prelude::*;
use phalanx_examples::hash::fnv1a;
use phalanx_examples::options::{number, pool};
use phalanx_examples::program;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

/// Runs a cluster of bodies in two ways, and prints the energy and the time of a pair.
#[derive(Parser)]
#[command(name = "nbody", allow_negative_numbers = true)]
struct Options {
    /// Number of bodies, from 2 to 100000
    #[arg(long, value_name = "N", default_value = "2048", value_parser = number(2..=100_000))]
    bodies: u32,
    /// Number of steps
    #[arg(long, value_name = "N", default_value = "50", value_parser = number(1..=1_000_000))]
    steps: u32,
    /// Instruction set of the kernels: baseline, avx2 or avx512 [default: the widest]
    #[arg(long)]
    level: Option<Level>,
    /// Number of threads of the form by vectors; the form by rows has one
    #[arg(long, value_name = "N", default_value = "1", value_parser = number(1..=1024))]
    threads: u32,
    /// Size of chunks in KiB: 4, 8, 16, 32, 64, 128 or 256
    #[arg(long, value_name = "KIB", default_value = "16")]
    chunk_size: ChunkSize,
    /// The seed of all random numbers: the same seed, the same bodies
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The length of a step. A body needs about 6 units of time to go round the cluster.
const STEP: f32 = 0.005;

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(level) = options.level {
        Level::pin(level)?;
    }
    let level = Level::try_current()?;
    let pool = pool(Some(options.threads))?;
    let Options { bodies, steps, threads, .. } = options;
    let mut out = io::stdout().lock();
    writeln!(out, "{bodies} bodies, {steps} steps; kernels at {level}, threads: {threads}")?;

    let start = cluster(options);
    let (rows, rows_time) = timed(options, gravity::by_rows);
    writeln!(out, "by rows     {rows_time:6.3} ns a pair")?;
    // The parallel loop in it runs on the threads of the pool.
    let (vectors, vectors_time) = pool.install(|| timed(options, gravity::by_vectors));
    writeln!(out, "by vectors  {vectors_time:6.3} ns a pair")?;
    phalanx::testing::compare(&rows, &vectors)?;
    writeln!(out, "both have the same bits")?;

    let (before, after) = (energy::of(&start), energy::of(&vectors));
    let drift = (after - before) / before;
    writeln!(out, "energy {before:.6}, then {after:.6}: a drift of {drift:+.1e}")?;
    writeln!(out, "state {:016x}", state(&vectors))?;
    Ok(())
}

fn cluster(options: &Options) -> World {
    model::cluster(options.bodies as usize, options.seed, options.chunk_size)
}

/// Runs all steps. Returns the world, and the nanoseconds of a pair.
fn timed(options: &Options, gravity: Gravity) -> (World, f64) {
    let mut world = cluster(options);
    let start = Instant::now();
    motion::run(&mut world, gravity, options.steps, STEP);
    let pairs = f64::from(options.bodies).powi(2) * (f64::from(options.steps) + 1.0);
    (world, start.elapsed().as_secs_f64() * 1e9 / pairs)
}

/// A hash of the places of all bodies, independent of the size of chunks.
fn state(world: &World) -> u64 {
    fnv1a(world.query::<&Position>().rows().flat_map(|p| [p.x, p.y, p.z].map(f32::to_bits)))
}
