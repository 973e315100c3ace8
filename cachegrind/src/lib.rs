//! Counts of cache misses and instructions, held to limits, and a profile by function.
//!
//! A count does not depend on the load of the machine, so limits can be tight: two per cent above
//! the least lines that the layout of a query allows. [`main`] is a whole benchmark of [`Row`]s,
//! which starts itself under cachegrind; `README.md` builds one from an empty folder.
//!
//! `row` declares rows, `work` their least, `limits` their limits. `measure` counts a row,
//! `cachegrind` runs the counting program and reads its output, `places` are the lines of source in
//! that output. `report` prints, and `run` is the command line. `warm_row` is a row for another
//! harness.

pub mod cachegrind;
mod limits;
mod measure;
mod places;
pub mod profile;
mod report;
mod row;
mod run;
mod warm_row;
mod work;

pub use row::{Row, Workload};
pub use run::main;
pub use warm_row::WarmRow;
pub use work::{D1_BYTES, Work};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
