//! A flock of boids, its predators, and the schedule that runs them on all threads.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin flock -- --png flock.png
//! ```
//!
//! - [`model`] defines the components of boids, and fills a world with boids;
//! - [`systems`] has the systems and their order;
//! - [`grid`] finds neighbours;
//! - [`picture`] draws the last frame, [`report`] sums up the run.
//!
//! The last line of output is a hash of the world: the same for the same boids, frames and seed, on
//! any number of threads, on x86-64 and on AArch64 (`.ci/run aarch64_run` compares them).

#![forbid(unsafe_code)]

mod grid;
mod model;
mod picture;
mod report;
mod systems;

use clap::Parser;
use grid::Grid;
use model::Sky;
use phalanx::schedule::ScheduleError;
use phalanx::{Level, Schedule, World};
use phalanx_examples::options::{number, pool};
use phalanx_examples::output::Output;
use phalanx_examples::{program, progress};
use report::Report;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Runs a flock of boids and prints the time of each system.
#[derive(Parser)]
#[command(name = "flock", allow_negative_numbers = true)]
struct Options {
    /// Number of boids, from 1 to 10000000
    #[arg(long, value_name = "N", default_value = "50000", value_parser = number(1..=10_000_000))]
    boids: u32,
    /// Number of frames to run
    #[arg(long, value_name = "N", default_value = "600", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// Number of threads [default: all of the machine]
    #[arg(long, value_name = "N", value_parser = number(1..=1024))]
    threads: Option<u32>,
    /// Draw the last frame to this file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// The seed of all random numbers: the same seed, the same flock
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    // The file is created first, so that an unwritable path is an error before the run.
    let png = Output::create_if(options.png.as_deref())?;
    let pool = pool(options.threads)?;

    let mut world = model::world(options.boids as usize, options.seed);
    let sky = *world.resource::<Sky>()?;
    world.insert_resource(Grid::new(sky));
    let mut schedule = systems::schedule();
    let start = Instant::now();
    // A schedule and the parallel loops in its systems run on the threads of the current pool.
    pool.install(|| animate(&mut world, &mut schedule, options.frames))?;
    let spent = start.elapsed();

    if let Some(png) = png {
        png.write(|file| picture::write(file, &world, sky))?;
    }
    let report =
        Report::new(&world, schedule.timings(), options.frames, pool.current_num_threads(), spent)?;
    writeln!(io::stdout(), "{report}")?;
    Ok(())
}

fn animate(world: &mut World, schedule: &mut Schedule, frames: u32) -> Result<(), ScheduleError> {
    for _ in progress::steps(frames.into(), "frame") {
        schedule.run(world)?;
    }
    Ok(())
}
