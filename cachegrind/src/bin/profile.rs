//! Runs one row under valgrind: `profile ROW --passes N`, or `profile ROW --least`.
//!
//! Exit code 0 if the result is right, 1 if it is wrong, 2 after one line about bad arguments.

use std::hint::black_box;
use std::process::ExitCode;

use clap::Parser;
use phalanx_cachegrind::rows;

/// Runs the passes of a row and checks the result.
#[derive(Parser)]
#[command(name = "profile")]
struct Options {
    /// The row.
    row: String,
    /// Number of passes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    passes: u64,
    /// Prints the units of a pass and the least lines that it can miss, and runs no pass.
    #[arg(long, conflicts_with = "passes")]
    least: bool,
}

fn main() -> ExitCode {
    let options = Options::try_parse().unwrap_or_else(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let line = text.lines().next().unwrap_or("bad arguments").trim_start_matches("error: ");
        eprintln!("profile: {line} (see --help)");
        std::process::exit(2);
    });
    let row = match rows::find(&options.row) {
        Ok(row) => row,
        Err(message) => {
            eprintln!("profile: {message}");
            return ExitCode::from(2);
        }
    };
    let mut program = (row.start)();
    if options.least {
        let least = program.least();
        println!("{} {} {}", least.units, least.lines, least.streams);
        return ExitCode::SUCCESS;
    }
    for _ in 0..options.passes {
        black_box(&mut *program).pass();
    }
    if let Err(wrong) = program.check(options.passes) {
        eprintln!("profile: {} is wrong after {} passes: {wrong}", row.name, options.passes);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
