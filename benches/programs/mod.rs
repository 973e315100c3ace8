//! The programs that are measured: each makes a world, runs passes over it and proves its result.
//!
//! A program is written once, here, and measured three ways: Criterion and the table of ratios time
//! it beside flat `Vec`s (`benches/common`), iai-callgrind counts its instructions and misses
//! (`benches/misses.rs`), cachegrind counts what it misses beside the least (`cachegrind/`, a
//! package of its own). So nothing here uses more than phalanx and the standard library.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each way of measuring includes this module, and uses its own part"
)]

pub mod archetypes;
pub mod changed;
pub mod columns;
pub mod components;
pub mod fragments;
pub mod insert;
pub mod life;
pub mod lookup;
pub mod new_archetypes;
pub mod objects;
pub mod one_of_many;
pub mod proof;
pub mod random;
pub mod structure;

/// A world, what a pass does with it, and what must come of it.
pub trait Program {
    /// Runs the workload once.
    fn pass(&mut self);

    /// What is wrong with the result after a number of passes, if anything is.
    ///
    /// # Errors
    ///
    /// A line that says what was wanted and what was found.
    fn check(&self, passes: u64) -> Result<(), String>;
}
