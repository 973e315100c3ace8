//! Values of options, and the threads that an option asks for.

use clap::builder::RangedI64ValueParser;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::ops::RangeInclusive;

/// Parses a number in a range: the `value_parser` of an option.
#[must_use]
pub fn number(range: RangeInclusive<i64>) -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(range)
}

/// A pool of this number of threads, or of as many as the machine has. A schedule, and the parallel
/// loops in its systems, run on the threads of the pool in which they are started.
///
/// # Errors
///
/// If the threads cannot be started.
pub fn pool(threads: Option<u32>) -> Result<ThreadPool, ThreadPoolBuildError> {
    // To rayon, zero threads are all of the machine.
    ThreadPoolBuilder::new().num_threads(threads.map_or(0, |threads| threads as usize)).build()
}
