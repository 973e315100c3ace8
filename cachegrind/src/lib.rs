//! Counts cache misses and compares them with budgets: the library of `cachegrind/run`.
//!
//! `programs` are those of the benchmarks. `rows` defines how each is counted, `valgrind` counts
//! it, and `output` parses the result. `budgets` has the limits. `report` prints the table and the
//! rows above their limits.

pub mod budgets;
pub mod output;
pub mod report;
pub mod rows;
pub mod valgrind;

#[path = "../../benches/programs/mod.rs"]
pub mod programs;
