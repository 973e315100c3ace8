//! `phalanx-cachegrind profile PROGRAM [ARGUMENT]...`: a profile by function.
//!
//! Exit code 0 on success; 2 after one line of advice.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use phalanx_cachegrind::cachegrind::Event;
use phalanx_cachegrind::profile::Profile;

/// Counts instructions and cache misses with cachegrind.
#[derive(Parser)]
#[command(name = "phalanx-cachegrind")]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints the share of instructions and misses of each function of a program.
    Profile {
        /// The event by which functions are sorted.
        #[arg(long, value_enum, default_value_t = By::Instructions)]
        by: By,
        /// The most functions that are shown.
        #[arg(long, value_name = "N", default_value_t = 12)]
        top: usize,
        /// Keeps the file of cachegrind, which `cg_annotate` reads.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The program.
        program: PathBuf,
        /// Its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum By {
    /// Instructions.
    Instructions,
    /// First-level data misses.
    D1,
    /// First-level instruction misses.
    I1,
    /// Last-level misses.
    Ll,
}

fn main() -> ExitCode {
    let options = Options::try_parse().unwrap_or_else(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let line = text.lines().next().unwrap_or("bad arguments").trim_start_matches("error: ");
        eprintln!("phalanx-cachegrind: {line}: see --help");
        std::process::exit(2);
    });
    let Command::Profile { by, top, out, program, arguments } = options.command;
    let by = match by {
        By::Instructions => Event::Instructions,
        By::D1 => Event::D1Misses,
        By::I1 => Event::I1Misses,
        By::Ll => Event::LlMisses,
    };
    match (Profile { program, arguments, by, functions: top, out }).run() {
        Ok(table) => {
            println!("{table}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("phalanx-cachegrind: {message}");
            ExitCode::from(2)
        }
    }
}
