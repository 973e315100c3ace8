//! Queries over so few rows that most of the work is the start of a pass.

use phalanx::prelude::*;

use super::Program;
use super::components::{Data, Position, world};
use super::proof::{full_archetypes, same, sum_of_data};

/// Archetypes of the query.
pub const ARCHETYPES: usize = 2;

/// Rows of each.
pub const ROWS: usize = 20;

/// Queries of a pass.
pub const STARTS: usize = 100;

/// One query, made again and again, which adds 1 to every datum.
pub struct PassStart {
    world: World,
}

impl PassStart {
    /// [`ROWS`] rows of each archetype.
    pub fn new(chunk: ChunkSize) -> Self {
        let mut world = world(chunk);
        world.spawn_batch([Data(0.0); ROWS]);
        world.spawn_batch([(Data(0.0), Position::default()); ROWS]);
        Self { world }
    }
}

impl Program for PassStart {
    fn pass(&mut self) {
        for _ in 0..STARTS {
            for data in self.world.query_mut::<&mut Data>() {
                data.iter_mut().for_each(|data| data.0 += 1.0);
            }
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        full_archetypes(&self.world, ARCHETYPES)?;
        let added = (passes * (STARTS * ARCHETYPES * ROWS) as u64) as f64;
        same("the sum of the data", sum_of_data(&self.world), added)
    }
}
