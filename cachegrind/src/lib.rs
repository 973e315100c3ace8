//! Counts of cache misses, held to budgets: what `cachegrind/run` is made of.
//!
//! `rows` are the programs that are counted, `valgrind` counts them, `output` reads what it writes,
//! `budgets` are the limits, `report` prints the table and says what is above its limit.

pub mod budgets;
pub mod output;
pub mod report;
pub mod rows;
pub mod valgrind;
