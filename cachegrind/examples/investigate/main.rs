//! Runs two ways to one result, natively or under cachegrind: the programs of the README.
//!
//! ```text
//! target/release/examples/investigate structs --side slow
//! target/release/examples/investigate --table
//! ```
//!
//! Exit code 0 on success; 2 after one line of advice.

#![expect(
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "sums are small whole numbers, and the generator is shared with the benchmarks"
)]

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

mod cases;
#[path = "../../../benches/programs/random.rs"]
mod random;
mod sides;
mod table;

use cases::{Case, Way};

/// Runs one way through a case and prints nanoseconds per element.
#[derive(Parser)]
#[command(name = "investigate")]
struct Options {
    /// The case.
    #[arg(required_unless_present = "table")]
    case: Option<Case>,
    /// The symptom or the fix [default: both, the symptom first].
    #[arg(long, value_name = "WAY")]
    side: Option<Way>,
    /// Passes over all elements [default: about twenty million elements].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    passes: Option<u64>,
    /// Counts the misses of every case with valgrind and prints them with measured times.
    #[arg(long, conflicts_with_all = ["case", "side", "passes"])]
    table: bool,
}

fn main() -> ExitCode {
    let options = Options::try_parse().unwrap_or_else(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let line = match error.kind() {
            ErrorKind::MissingRequiredArgument => "no case, and no --table",
            _ => text.lines().next().unwrap_or("bad arguments").trim_start_matches("error: "),
        };
        eprintln!("investigate: {line}: see --help");
        std::process::exit(2);
    });
    let Some(case) = options.case else {
        return match table::table() {
            Ok(table) => {
                println!("{table}");
                ExitCode::SUCCESS
            }
            Err(message) => {
                eprintln!("investigate: {message}");
                ExitCode::from(2)
            }
        };
    };
    let passes = options.passes.unwrap_or(case.default_passes());
    let ways = options.side.map_or(vec![Way::Slow, Way::Fast], |way| vec![way]);
    for way in ways {
        let ns = case.nanoseconds(way, passes);
        println!("{} {}: {ns:.3} ns per element", case.name(), way.name());
    }
    ExitCode::SUCCESS
}
