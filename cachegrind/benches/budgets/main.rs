//! The budgets of phalanx: its programs, counted by cachegrind, with limits.
//!
//!     cachegrind/run
//!     cachegrind/run pos_vel_10000
//!
//! The programs are shared with the benchmarks (`benches/programs`), and `rows` describes how each
//! is counted.

use std::process::ExitCode;

#[path = "../../../benches/programs/mod.rs"]
mod programs;
mod rows;

fn main() -> ExitCode {
    phalanx_cachegrind::main(rows::rows())
}
