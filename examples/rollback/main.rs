//! Two players with inputs that arrive late: the game goes on with a guess, and goes back if the
//! guess was wrong.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin rollback -- --entities 20000 --late 8
//! cargo run --release -p phalanx-examples --bin rollback -- --save inputs.txt
//! cargo run --release -p phalanx-examples --bin rollback -- --replay inputs.txt --threads 1
//! cargo run --release -p phalanx-examples --bin rollback -- --replay inputs.txt --state last.state
//! ```
//!
//! - [`game`] is the simulation of both machines: two ships, sparks that they throw, and dust;
//! - [`network`] has the players' inputs, and the frames of their arrival at the other machine;
//! - [`session`] keeps the last states, guesses, goes back and runs again;
//! - [`recording`] reads and writes inputs.
//!
//! The last line of output is the hash of the world. It equals the hash of a run with all inputs in
//! time, on any number of threads and at any level. It is the same on x86-64 and on AArch64, and so
//! are the bytes of the last state, which `.ci/run aarch64_run` compares.

#![forbid(unsafe_code)]

mod game;
mod network;
mod recording;
mod session;

use clap::Parser;
use game::Game;
use network::Network;
use phalanx::Level;
use phalanx_examples::options::{number, pool};
use phalanx_examples::output::Output;
use phalanx_examples::program;
use recording::Recording;
use session::Session;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a game of two players with late inputs, and one with the same inputs in time.
#[derive(Parser)]
#[command(name = "rollback", allow_negative_numbers = true)]
struct Options {
    /// Grains of dust, from 1 to 10000000
    #[arg(long, value_name = "N", default_value = "20000", value_parser = number(1..=10_000_000))]
    entities: u32,
    /// Frames to run
    #[arg(long, value_name = "N", default_value = "600", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// The most frames by which an input is late, from 1 to 60
    #[arg(long, value_name = "N", default_value = "8", value_parser = number(1..=60))]
    late: u32,
    /// Threads [default: all of the machine]
    #[arg(long, value_name = "N", value_parser = number(1..=1024))]
    threads: Option<u32>,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the inputs to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Run the inputs of this file, in time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "entities", "frames", "late", "seed"])]
    replay: Option<PathBuf>,
    /// Write the last state to this file, as the bytes of a snapshot
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    let pool = pool(options.threads)?;
    let text = pool.install(|| match &options.replay {
        Some(path) => replay(&Recording::read(path)?, options),
        None => play(options),
    });
    match text {
        Ok(text) => Ok(writeln!(io::stdout(), "{text}")?),
        Err(error) => Err(error),
    }
}

/// Runs once with late inputs, and once with the same inputs in time.
fn play(options: &Options) -> Result<String, Box<dyn Error + Send + Sync>> {
    ensure_replaceable(options)?;
    let network = Network::new(options.seed, options.frames, options.late);
    let recording = Recording { dust: options.entities, inputs: network.pressed().to_vec() };
    if let Some(path) = &options.save {
        Output::create(path)?.write(|file| recording.write(file))?;
    }
    let mut session = Session::new(Game::new(options.entities), options.late);
    for now in 0..options.frames {
        session.hear(network.arriving(now))?;
        session.advance(network.own(now))?;
    }
    session.hear(network.arriving_at_last())?;
    let (hash, in_time) = (session.hash(), in_time(&recording, options)?);
    if hash != in_time {
        let end = "which is an error in this program or in the library";
        return Err(format!("late {hash:016x}, in time {in_time:016x}: {end}").into());
    }
    Ok(format!("{session}\na run that had all inputs in time has the same hash\nhash {hash:016x}"))
}

fn replay(
    recording: &Recording,
    options: &Options,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    ensure_replaceable(options)?;
    let hash = in_time(recording, options)?;
    Ok(format!("{} frames replayed\nhash {hash:016x}", recording.inputs.len()))
}

/// The hash after a run with all inputs in time. Its last state is saved if requested.
fn in_time(recording: &Recording, options: &Options) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let mut game = Game::new(recording.dust);
    recording.inputs.iter().for_each(|&inputs| game.step(inputs));
    let hash = game.world.hash();
    if let Some(path) = &options.state {
        game.world.snapshot()?.save(path).map_err(|e| program::cannot("write", path, e))?;
    }
    Ok(hash)
}

/// The state is written after the run: whether it can be, the user learns before. A former state
/// keeps its bytes until then.
fn ensure_replaceable(options: &Options) -> Result<(), String> {
    options.state.as_deref().map_or(Ok(()), Output::ensure_replaceable)
}
