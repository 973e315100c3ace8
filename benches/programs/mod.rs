//! The programs that are measured: each makes a world, runs passes over it and proves its result.
//!
//! A program is written once, here, and measured three ways: Criterion and the table of ratios time
//! it beside flat `Vec`s (`benches/common`), iai-callgrind counts its instructions and misses
//! (`benches/misses.rs`), cachegrind counts its misses beside the least possible (`cachegrind/`, a
//! package of its own). So this code uses only phalanx and the standard library.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each way of measuring includes this module, and uses its own part"
)]

pub mod archetypes;
pub mod changed;
pub mod churn;
pub mod columns;
pub mod components;
pub mod fragments;
pub mod insert;
pub mod kept_levels;
pub mod life;
pub mod list_outside;
pub mod lookup;
pub mod new_archetypes;
pub mod new_worlds;
pub mod objects;
pub mod one_by_one;
pub mod one_of_many;
pub mod pass_start;
pub mod proof;
pub mod random;
pub mod sparse_pairs;
pub mod structure;
pub mod write_one;

/// A world, a pass over it, and a check of the result.
pub trait Program {
    /// Runs the workload once.
    fn pass(&mut self);

    /// Checks the result after a number of passes.
    ///
    /// # Errors
    ///
    /// A line with the expected and the found value.
    fn check(&self, passes: u64) -> Result<(), String>;
}
