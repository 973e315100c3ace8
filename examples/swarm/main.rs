//! A million particles that are spawned, moved and despawned, with a table of the cost of each
//! pass.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin swarm -- --png swarm.png
//! ```
//!
//! - [`model`] defines the components of particles, and the kernels;
//! - [`swarm`] is the world and its frame: queries, change filters, deaths and births;
//! - [`birth`] creates particles, the same for the same seed;
//! - [`stopwatch`] runs and times passes, [`report`] formats the tables;
//! - [`picture`] draws the swarm.

#![forbid(unsafe_code)]

mod birth;
mod model;
mod picture;
mod report;
mod stopwatch;
mod swarm;

use clap::Parser;
use phalanx::Level;
use phalanx::explain::CopyBandwidth;
use phalanx_examples::options::{number, pool};
use phalanx_examples::output::Output;
use phalanx_examples::{program, progress};
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use stopwatch::Stopwatch;
use swarm::Swarm;

/// Runs a swarm of particles and prints the cost of each pass over them.
#[derive(Parser)]
#[command(name = "swarm", allow_negative_numbers = true)]
struct Options {
    /// Number of entities, from 1 to 100000000
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = number(1..=100_000_000))]
    entities: u32,
    /// Number of frames to measure; one more runs before them, to warm up
    #[arg(long, value_name = "N", default_value = "240", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// Instruction set of the kernels: baseline, avx2 or avx512 [default: the widest]
    #[arg(long)]
    level: Option<Level>,
    /// Number of threads; 1 is the plain loop
    #[arg(long, value_name = "N", default_value = "1", value_parser = number(1..=1024))]
    threads: u32,
    /// Draw the last frame to this file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// The seed of all random numbers: the same seed, the same swarm
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(level) = options.level {
        Level::pin(level)?;
    }
    Level::try_current()?;
    // The file is created first, so that an unwritable path is an error before the run.
    let png = Output::create_if(options.png.as_deref())?;
    let pool = pool(Some(options.threads))?;
    let parallel = options.threads > 1;

    let mut watch = Stopwatch::new(parallel);
    let swarm = pool.install(|| simulate(options, &mut watch));
    // The copy runs on the same threads as the kernels.
    let probe = if parallel { CopyBandwidth::probe_parallel } else { CopyBandwidth::probe };
    let copy = pool.install(probe).of(u64::MAX);

    if let Some(png) = png {
        png.write(|file| picture::write(file, swarm.world()))?;
    }
    print(options, &swarm, &watch, copy)?;
    Ok(())
}

/// Runs all frames, and one before them.
fn simulate(options: &Options, watch: &mut Stopwatch) -> Swarm {
    let mut swarm = Swarm::new(options.entities as usize, options.seed);
    for _ in progress::steps(options.frames as u64 + 1, "frame") {
        swarm.step(watch);
    }
    swarm
}

fn print(options: &Options, swarm: &Swarm, watch: &Stopwatch, copy: f64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Options { frames, threads, .. } = options;
    let entities = report::grouped(swarm.world().len());
    writeln!(out, "{entities} entities, {frames} frames after the first, threads: {threads}")?;
    writeln!(out, "{}", report::passes(watch, copy))?;
    writeln!(out, "medians over frames; a copy between large buffers: {:.1} GB/s", copy / 1e9)?;
    // A copy may fetch the lines that it overwrites, uncounted; kernels count them as read.
    writeln!(
        out,
        "(a pass may exceed it: caches help, and the lines that it writes are already read)"
    )?;
    writeln!(out, "{}\n", report::visits(swarm.alarms()))?;
    writeln!(out, "{}", report::archetypes(swarm.world()))?;
    writeln!(out, "alarms {}", swarm.alarms().total())?;
    writeln!(out, "checksum {:016x}", swarm.checksum())
}
