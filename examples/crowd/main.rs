//! A crowd on a market square: most of it dozes, and most of it is far from the camera.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin crowd -- --png crowd.png
//! ```
//!
//! 100,000 agents sit and walk around their stalls. Each frame moves the agents that are awake, and
//! animates the poses of the agents that the camera sees well. The program runs two worlds of the
//! same agents and compares them at the end, bit by bit:
//!
//! - [`systems`] reads no row that it does not need. Dozing agents are switched off by an *enable
//!   bit*. A chunk has two values of its own, its *bounds* and its *level of detail*, which follows
//!   from them; a pass skips chunks by these values before it touches a line of their columns.
//!   Agents of one guild *share* a mesh and chunks, so that a draw call is filled chunk by chunk;
//! - [`plain`] is the usual form without these: a flag, a distance and the number of a mesh for
//!   each row.
//!
//! # Files
//!
//! - [`model`] defines the components and places the agents;
//! - [`kernels`] has the loops over rows, which both worlds share, [`draw_calls`] their output;
//! - [`picture`] draws the last frame, [`report`] has the table of times.
//!
//! Only the printed times differ from run to run.

#![forbid(unsafe_code)]

mod draw_calls;
mod kernels;
mod model;
mod picture;
mod plain;
mod report;
mod systems;

use clap::Parser;
use draw_calls::DrawCalls;
use model::{Camera, Frame, Gait, Pose, Position};
use phalanx::prelude::*;
use phalanx_examples::options::{number, pool};
use phalanx_examples::output::Output;
use phalanx_examples::program;
use report::Times;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a crowd with and without enable bits and values of chunks, and prints the time of each
/// system.
#[derive(Parser)]
#[command(name = "crowd", allow_negative_numbers = true)]
struct Options {
    /// Number of agents, from 1 to 10000000
    #[arg(long, value_name = "N", default_value = "100000", value_parser = number(1..=10_000_000))]
    agents: u32,
    /// Number of frames to run
    #[arg(long, value_name = "N", default_value = "300", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// Number of threads [default: all of the machine]
    #[arg(long, value_name = "N", value_parser = number(1..=1024))]
    threads: Option<u32>,
    /// Size of chunks in KiB: 4, 8, 16, 32, 64, 128 or 256
    #[arg(long, value_name = "KIB", default_value = "16")]
    chunk_size: ChunkSize,
    /// Draw the last frame to this file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    // The file is created first, so that an unwritable path is an error before the run.
    let png = Output::create_if(options.png.as_deref())?;
    let pool = pool(options.threads)?;
    let empty = || World::builder().chunk_size(options.chunk_size).build();
    let mut world = model::filled(empty(), options.agents, systems::agent, systems::share);
    let mut plain = model::filled(empty(), options.agents, plain::agent, |_, _| ());
    for world in [&mut world, &mut plain] {
        world.insert_resource(DrawCalls::default());
    }
    let (mut schedule, mut plain_schedule) = (systems::schedule(), plain::schedule());
    let (mut times, mut plain_times) = (Times::default(), Times::default());
    for frame in 0..options.frames {
        for (world, schedule, times) in [
            (&mut world, &mut schedule, &mut times),
            (&mut plain, &mut plain_schedule, &mut plain_times),
        ] {
            world.insert_resource(Frame(frame));
            world.insert_resource(Camera::at(frame, options.agents));
            pool.install(|| schedule.run(world))?;
            times.add(schedule.timings());
        }
    }
    if let Some(png) = png {
        png.write(|file| picture::write(file, &world, options.agents))?;
    }
    compare(&world, &plain)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} agents, {} frames, threads: {}\n",
        options.agents,
        options.frames,
        pool.current_num_threads()
    )?;
    writeln!(out, "{}", report::table(&times, &plain_times, options.frames))?;
    let awake = world.query::<Entity>().with::<model::Awake>().count_rows();
    let (chunks, skipped) = systems::chunks_animated(&world);
    writeln!(
        out,
        "the last frame: {awake} agents are awake, {skipped} of {chunks} chunks are far"
    )?;
    writeln!(out, "drawn: {}", world.resource::<DrawCalls>()?.summary())?;
    writeln!(out, "both worlds have the same agents\nhash {:016x}", world.hash())?;
    Ok(())
}

/// Compares the results of both worlds for each agent, and their draw calls.
fn compare(world: &World, plain: &World) -> Result<(), String> {
    let calls = [world, plain].map(|world| world.resource::<DrawCalls>());
    if let [Ok(calls), Ok(others)] = calls
        && calls.all() != others.all()
    {
        return Err(format!("drawn: {}, and also {}", calls.summary(), others.summary()));
    }
    type Agents<'q> = (&'q Position, &'q Gait, &'q Pose);
    let [all, others] = [world, plain].map(|world| world.query::<Agents<'_>>().rows());
    match all.zip(others).enumerate().find(|(_, (agent, other))| agent != other) {
        None => Ok(()),
        Some((i, (agent, other))) => Err(format!("agent {i} is {agent:?}, and also {other:?}")),
    }
}
