//! The summary of a run.

use crate::model::{Hatched, Life, Predator};
use phalanx::prelude::*;
use phalanx::{error::MissingResource, schedule::Timings};
use std::fmt::{self, Display};
use std::time::Duration;

/// The printed summary of a run.
#[derive(Debug)]
pub(crate) struct Report<'r> {
    pub(crate) boids: usize,
    pub(crate) predators: usize,
    pub(crate) hatched: usize,
    pub(crate) frames: u32,
    pub(crate) threads: usize,
    /// The time of all frames.
    pub(crate) spent: Duration,
    /// The timings of the last frame.
    pub(crate) timings: &'r Timings,
    pub(crate) hash: u64,
}

impl<'r> Report<'r> {
    /// # Errors
    ///
    /// If the world has no [`Hatched`].
    pub(crate) fn new(
        world: &World,
        timings: &'r Timings,
        frames: u32,
        threads: usize,
        spent: Duration,
    ) -> Result<Self, MissingResource> {
        Ok(Self {
            boids: world.query::<&Life>().count_rows(),
            predators: world.query::<&Predator>().count_rows(),
            hatched: world.resource::<Hatched>()?.0,
            frames,
            threads,
            spent,
            timings,
            hash: world.hash(),
        })
    }
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { boids, predators, hatched, frames, threads, spent, timings, hash } = self;
        writeln!(f, "{boids} boids, {predators} predators, threads: {threads}\n")?;
        writeln!(f, "the last frame, in microseconds:\n\n{timings}\n")?;
        let frame = spent.as_secs_f64() / f64::from(*frames);
        writeln!(f, "{frames} frames: {:.1} a second, {:.2} ms each", 1.0 / frame, frame * 1e3)?;
        writeln!(f, "{hatched} boids hatched, as many died")?;
        write!(f, "hash {hash:016x}")
    }
}
