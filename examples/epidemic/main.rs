//! An epidemic among a million agents that walk through a town.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin epidemic
//! ```
//!
//! An agent is susceptible, infected or recovered, in this order and never back. In each step it
//! walks to a cell beside its own. An agent that shares a cell with infected agents may become
//! infected.
//!
//! # Features
//!
//! **Random numbers without a state.** A number is computed from the seed, the step, its purpose
//! and the id of the agent: [`random`]. So the order in which threads ask is irrelevant, and the
//! result is the same on any number of threads.
//!
//! **An enum as a component.** The state is one byte in a column, see [`model`] for why it is not a
//! tag. Counting a column of bytes is a kernel.
//!
//! **Change detection.** At first the disease is in a few streets, and in most chunks no state
//! changes. The loop reports this by `Modified::No`, such chunks keep their version, and the
//! [`census`] counts only the others again.
//!
//! # Files
//!
//! - [`model`] defines the components and the agents at the start;
//! - [`random`] makes numbers, [`disease`] passes the infection on, [`census`] counts;
//! - [`systems`] has the systems and their order.
//!
//! The output is the same for the same arguments, on any number of threads. The last two lines
//! depend on the size of chunks.

#![forbid(unsafe_code)]

mod census;
mod disease;
mod model;
mod random;
mod systems;

use census::{Census, Counts};
use clap::Parser;
use disease::{Chances, Infected};
use model::{Place, Side, State};
use phalanx::prelude::*;
use phalanx_examples::hash::fnv1a;
use phalanx_examples::options::{number, pool};
use phalanx_examples::program;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use systems::Clock;

/// Runs an epidemic and prints a table of the susceptible, the infected and the recovered.
#[derive(Parser)]
#[command(name = "epidemic", allow_negative_numbers = true)]
struct Options {
    /// Number of agents, from 100 to 100000000
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = number(100..=100_000_000))]
    agents: u32,
    /// Number of places where it begins
    #[arg(long, value_name = "N", default_value = "4", value_parser = number(1..=1_000))]
    outbreaks: u32,
    /// Number of steps
    #[arg(long, value_name = "N", default_value = "600", value_parser = number(1..=1_000_000))]
    steps: u32,
    /// Steps from one row of the table to the next
    #[arg(long, value_name = "N", default_value = "50", value_parser = number(1..=1_000_000))]
    every: u32,
    /// Number of threads [default: all of the machine]
    #[arg(long, value_name = "N", value_parser = number(1..=1024))]
    threads: Option<u32>,
    /// Size of chunks in KiB: 4, 8, 16, 32, 64, 128 or 256
    #[arg(long, value_name = "KIB", default_value = "16")]
    chunk_size: ChunkSize,
    /// The seed of all random numbers: the same seed, the same epidemic
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    let pool = pool(options.threads)?;
    let mut world = model::world(options.agents, options.outbreaks, options.chunk_size);
    let side = *world.resource::<Side>()?;
    world.insert_resource(Infected::new(side));
    world.insert_resource(Chances::new());
    world.insert_resource(Census::default());
    world.insert_resource(Clock { seed: options.seed, step: 0 });
    // The schedule, and the parallel loops in its systems, run on the threads of the pool.
    let result = pool.install(|| simulate(&mut world, options));
    result.map_err(|error| -> Box<dyn Error> { error })?;

    let mut out = io::stdout().lock();
    writeln!(out, "state {:016x}", state(&world))?;
    let census = world.resource::<Census>()?;
    writeln!(out, "chunks counted {}, skipped {}", census.counted, census.skipped)?;
    writeln!(out, "world {:016x}", world.hash())?;
    Ok(())
}

/// Runs all steps and prints the table.
fn simulate(world: &mut World, options: &Options) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:>6} {:>11} {:>11} {:>11}", "step", "susceptible", "infected", "recovered")?;
    write_row(&mut out, 0, Counts::of_all(world))?;
    let mut schedule = systems::schedule();
    for step in 1..=options.steps {
        schedule.run(world)?;
        let counts = world.resource::<Census>()?.total();
        if counts.total() != options.agents {
            return Err(format!("step {step}: {counts:?} are not {} agents", options.agents).into());
        }
        if step % options.every == 0 || step == options.steps {
            write_row(&mut out, step, counts)?;
        }
    }
    // The counts of changed chunks must add up to a full count.
    let (census, all) = (world.resource::<Census>()?.total(), Counts::of_all(world));
    if census != all {
        return Err(format!("the census has {census:?}, and the world {all:?}").into());
    }
    Ok(())
}

fn write_row(out: &mut impl Write, step: u32, counts: Counts) -> io::Result<()> {
    let Counts { susceptible, infected, recovered } = counts;
    writeln!(out, "{step:>6} {susceptible:>11} {infected:>11} {recovered:>11}")
}

/// A hash of all agents, independent of the size of chunks.
fn state(world: &World) -> u64 {
    let agents = world.query::<(&Place, &State)>();
    fnv1a(agents.rows().flat_map(|(at, &state)| [at.x, at.y, state as u16].map(u32::from)))
}
