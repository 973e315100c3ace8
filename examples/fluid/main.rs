//! A fluid of particles: neighbours that are found once a frame, and read as rows.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin fluid
//! cargo run --release -p phalanx-examples --bin fluid -- --order spawned --by id
//! ```
//!
//! - [`model`] has the particles, and their Morton key, by which their rows are sorted;
//! - [`neighbours`] finds the neighbours of each particle, as ids or as places of rows;
//! - [`systems`] has the systems, which read components of neighbours.
//!
//! Misses of the first-level cache, which cachegrind counts for a particle and a frame without the
//! sort (100,000 particles with 10 neighbours each, 32 KiB of eight ways), and the time of `press`
//! and `push` together, as a ratio to the first line (1,000,000 particles, medians of three runs in
//! turn, on a machine that other programs used):
//!
//! | order of rows | neighbours | misses | time |
//! | --- | --- | --- | --- |
//! | spawned | by id | 74.8 | 1 |
//! | spawned | by place | 53.7 | 0.50 |
//! | Morton | by id | 10.5 | 0.27 |
//! | Morton | by place | 8.9 | 0.08 |
//!
//! By id each read waits for the slot of the id in the directory, which lies in the order of ids.
//!
//! The last line of output is a hash of the world. It is the same by id and by place.

#![forbid(unsafe_code)]

mod model;
mod neighbours;
mod systems;

use clap::{Parser, ValueEnum};
use model::{Morton, Position};
use neighbours::{Neighbours, Reference};
use phalanx::prelude::*;
use phalanx::rows::RowPlace;
use phalanx::schedule::ScheduleError;
use phalanx_examples::options::{number, pool};
use phalanx_examples::{program, progress};
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

/// Runs a fluid in a tank and prints the time of each system.
#[derive(Parser)]
#[command(name = "fluid", allow_negative_numbers = true)]
struct Options {
    /// Number of particles, from 1 to 4000000
    #[arg(long, value_name = "N", default_value = "200000", value_parser = number(1..=4_000_000))]
    particles: u32,
    /// Number of frames to run
    #[arg(long, value_name = "N", default_value = "100", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// The order of rows
    #[arg(long, default_value = "morton")]
    order: Order,
    /// How systems find the rows of neighbours
    #[arg(long, default_value = "place")]
    by: By,
    /// Frames from one sort to the next
    #[arg(long, value_name = "N", default_value = "10", value_parser = number(1..=1_000_000))]
    sort_every: u32,
    /// Number of threads [default: all of the machine]
    #[arg(long, value_name = "N", value_parser = number(1..=1024))]
    threads: Option<u32>,
    /// The seed of the order in which particles are spawned
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// As they were spawned: at random
    Spawned,
    /// Along a Morton curve
    Morton,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Id,
    Place,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    match options.by {
        By::Id => run_by::<Entity>(options),
        By::Place => run_by::<RowPlace>(options),
    }
}

fn run_by<R: Reference>(options: &Options) -> Result<(), Box<dyn Error>> {
    let pool = pool(options.threads)?;
    let mut world = model::world(options.particles as usize, options.seed);
    world.insert_resource(Neighbours::<R>::default());
    let mut schedule = systems::schedule::<R>();
    let start = Instant::now();
    pool.install(|| animate(&mut world, &mut schedule, options))?;
    let frame = start.elapsed().as_secs_f64() / f64::from(options.frames);
    let pairs = world.resource::<Neighbours<R>>()?.len();
    let mut out = io::stdout();
    writeln!(out, "{} particles, {pairs} pairs in the last frame\n", options.particles)?;
    writeln!(out, "the last frame, in microseconds:\n\n{}\n", schedule.timings())?;
    writeln!(out, "{} frames: {:.1} a second", options.frames, 1.0 / frame)?;
    writeln!(out, "hash {:016x}", world.hash())?;
    Ok(())
}

fn animate(
    world: &mut World,
    schedule: &mut Schedule,
    options: &Options,
) -> Result<(), ScheduleError> {
    for (frame, _) in (0..).zip(progress::steps(options.frames.into(), "frame")) {
        // A sort moves rows: the places of the last frame are refused from now on.
        if options.order == Order::Morton && frame % options.sort_every == 0 {
            world.matching::<&Position>().sort_by::<Morton>();
        }
        schedule.run(world)?;
    }
    Ok(())
}
