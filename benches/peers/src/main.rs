//! phalanx and its peers on the same workloads, in one run.
//!
//! - [`cli`] is the command line, [`workloads`] describes the tasks and their expected outcomes,
//!   [`data`] and [`components`] are the input of every library, [`forms`] the loops over slices;
//! - [`libs`] holds a folder for each library, [`harness`] runs and times them, [`turn`] gives each
//!   turn of a library a process, by [`child`], in each of the [`builds`];
//! - [`compare`] makes the comparison, [`report`] its figures, which [`table`], [`tsv`],
//!   [`markdown`] and [`chart`] show;
//! - [`vagabond`] is a table that another text has published.

mod builds;
mod cached;
mod changes;
mod chart;
mod child;
mod churn;
mod cli;
mod compare;
mod components;
mod data;
mod events;
mod failure;
mod forms;
mod frame;
mod harness;
mod hierarchy;
mod libs;
mod many;
mod markdown;
mod outcome;
mod pairs;
mod passing;
mod relations;
mod report;
mod snapshots;
mod table;
mod tsv;
mod turn;
mod vagabond;
mod workloads;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        None => compare::run(&cli.compare),
        Some(Command::Vagabond(options)) => vagabond::run(options),
        Some(Command::VagabondTurn(options)) => vagabond::turn(options),
        Some(Command::Turn(options)) => {
            options.turn().map(|turn| turn.print()).map_err(Failure::Usage)
        }
    };
    let (code, message) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Wrong(message)) => (1, message),
        Err(Failure::Usage(message)) => (2, message),
    };
    eprintln!("peers: {message}");
    ExitCode::from(code)
}
