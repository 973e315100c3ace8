//! The frame of the programs with options: command line, threads, progress, files, numbers, hashes.
//!
//! Not part of any program's subject, so that a program's own files show the library.
//!
//! - [`program`] starts a program, and prints its error as one line;
//! - [`options`] parses numbers and makes the pool of threads; [`progress`] draws a bar;
//! - [`output`] creates a file before a run and writes it afterwards;
//! - [`chance`] has pseudo-random numbers, [`hash`] sums up a state in 64 bits.

#![forbid(unsafe_code)]

pub mod chance;
pub mod hash;
pub mod options;
pub mod output;
pub mod program;
pub mod progress;
