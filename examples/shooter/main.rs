//! A shooter without graphics: players shoot at enemies that come from all sides.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin shooter -- --seconds 60
//! ```
//!
//! # Features
//!
//! **Short lives.** A bullet lives less than a second, so thousands of entities are spawned and
//! despawned. A system cannot change the structure of the world while it runs: it records commands,
//! which the schedule applies later. In parallel passes, [`systems`] record with `par().record`,
//! which gives each chunk a writer of its own.
//!
//! **Collisions.** Each step sorts the enemies into a [`grid`], a resource. Players and bullets
//! search the grid, not all enemies. The search of the bullets runs in parallel and changes no
//! state; after it one thread subtracts the health, in the order of the chunks. So two bullets that
//! meet at one enemy have the same result each time.
//!
//! **A fixed step.** Frames have any length, but a step is always a fiftieth of a second:
//! `FixedStep` returns the number of steps in a frame. The frames are simulated here, and
//! `--frame-rate` changes their length. The game is the same at any rate.
//!
//! # Files
//!
//! - [`model`] defines the components and the rules, [`random`] makes random numbers;
//! - [`systems`] has the systems and their order, [`grid`] finds enemies by place;
//! - [`report`] counts and hashes the world at the end.
//!
//! The output is the same for the same arguments, on any number of threads.

#![forbid(unsafe_code)]

mod grid;
mod model;
mod random;
mod report;
mod systems;

use clap::Parser;
use grid::Grid;
use model::{Player, RATE};
use phalanx::prelude::*;
use phalanx_examples::options::{number, pool};
use phalanx_examples::program;
use report::Report;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Runs a game and prints its score.
#[derive(Parser)]
#[command(name = "shooter", allow_negative_numbers = true)]
struct Options {
    /// Number of players, from 1 to 1000
    #[arg(long, value_name = "N", default_value = "16", value_parser = number(1..=1_000))]
    players: u32,
    /// Highest number of enemies at one time
    #[arg(long, value_name = "N", default_value = "2000", value_parser = number(1..=1_000_000))]
    enemies: u32,
    /// Seconds of the game, which ends early if no player is left
    #[arg(long, value_name = "N", default_value = "60", value_parser = number(1..=100_000))]
    seconds: u32,
    /// Frames a second, from 10 to 1000: the game is the same at any rate
    #[arg(long, value_name = "N", default_value = "60", value_parser = number(10..=1_000))]
    frame_rate: u32,
    /// Number of threads [default: all of the machine]
    #[arg(long, value_name = "N", value_parser = number(1..=1024))]
    threads: Option<u32>,
    /// Size of chunks in KiB: 4, 8, 16, 32, 64, 128 or 256
    #[arg(long, value_name = "KIB", default_value = "16")]
    chunk_size: ChunkSize,
    /// The seed of all random numbers: the same seed, the same game
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    let pool = pool(options.threads)?;
    let (players, enemies) = (options.players as usize, options.enemies as usize);
    let mut world = model::world(players, enemies, options.seed, options.chunk_size);
    world.insert_resource(Grid::new());
    // The schedule, and the parallel loops in its systems, run on the threads of the pool.
    let steps = pool.install(|| play(&mut world, options.seconds, options.frame_rate))?;
    writeln!(io::stdout(), "{}", Report::new(&world, steps)?)?;
    Ok(())
}

/// Plays for some seconds, or until no player is left. Returns the number of steps.
fn play(world: &mut World, seconds: u32, frame_rate: u32) -> Result<u32, ScheduleError> {
    let mut schedule = systems::schedule();
    let mut clock = FixedStep::new(Duration::from_secs(1) / RATE);
    let mut steps = 0;
    for frame in 0..u64::from(seconds) * u64::from(frame_rate) {
        for _ in 0..clock.advance(frame_time(frame, frame_rate)) {
            schedule.run(world)?;
            steps += 1;
            if world.query::<&Player>().is_empty() {
                return Ok(steps);
            }
        }
    }
    Ok(steps)
}

/// The time from one frame to the next. The times of the frames of a second are a second exactly.
fn frame_time(frame: u64, frame_rate: u32) -> Duration {
    let rate = u64::from(frame_rate);
    let start = |frame: u64| Duration::from_nanos(frame * 1_000_000_000 / rate);
    start(frame + 1) - start(frame)
}
