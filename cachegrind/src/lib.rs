//! Counts of cache misses, held to budgets: what `cachegrind/run` is made of.
//!
//! `programs` are those of the benchmarks, `rows` says how each is counted, `valgrind` counts it, `output` reads what it writes,
//! `budgets` are the limits, `report` prints the table and says what is above its limit.

pub mod budgets;
pub mod output;
pub mod report;
pub mod rows;
pub mod valgrind;

#[path = "../../benches/programs/mod.rs"]
pub mod programs;
