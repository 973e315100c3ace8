//! SQL over the entities of a simulation: on the memory of a snapshot, and on its files.
//!
//! ```text
//! cargo run --release -- --entities 1000000
//! ```
//!
//! - [`herd`] is the simulation: animals that walk, rest and hunt;
//! - [`questions`] has the questions, in SQL and as a loop over the world;
//! - [`engine`] asks in SQL, by DataFusion;
//! - [`answer`] is an answer, with the comparison of two;
//! - [`run`] simulates, asks everything in each way, and compares.

#![forbid(unsafe_code)]

mod answer;
#[expect(unreachable_pub, reason = "the file is of a library as well")]
#[path = "../../../../examples/common/chance.rs"]
mod chance;
mod engine;
#[path = "../../examples/save/herd.rs"]
mod herd;
mod questions;
mod run;
#[cfg(test)]
mod tests;

use clap::Parser;
use run::{Failure, Options};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("analyse: no threads for the engine: {error}");
            return ExitCode::from(2);
        }
    };
    match runtime.block_on(run::run(&options)) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("analyse: {failure}");
            ExitCode::from(if matches!(failure, Failure::Differs { .. }) { 1 } else { 2 })
        }
    }
}
