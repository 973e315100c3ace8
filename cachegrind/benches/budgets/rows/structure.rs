//! The least of structural changes.

use phalanx::prelude::*;
use phalanx_cachegrind::Work;

use crate::programs::Program;
use crate::programs::components::{Position, Rotation, Transform, Velocity};
use crate::programs::insert::{SpawnAndClear, SpawnBatch};
use crate::programs::new_archetypes::{MADE, NewArchetypes};
use crate::programs::structure::{AddRemove, Added, Kept};

use super::{Counted, LINE, SLOT};

impl Counted for AddRemove {
    /// Two walks. Each reads the list of entities, reads the rows of one archetype, writes the rows
    /// of the other, with their entities, and changes the slot of every entity. Rows are read in
    /// the order in which they are written, so every line is loaded once per walk.
    fn work(&self) -> Work {
        let entity = size_of::<Entity>() as u64;
        let rows = (size_of::<Kept>() as u64 + entity) * 2 + size_of::<Added>() as u64;
        let pairs = self.entities.len() as u64;
        let bytes = (entity + rows + SLOT) * 2 * pairs;
        Work::of_units(pairs, bytes as f64 / LINE as f64)
    }
}

impl Counted for SpawnAndClear {
    /// The lines of the rows, the entity of each row, and the slot of each entity. Between
    /// passes the world is empty, so the lines are counted in another world.
    fn work(&self) -> Work {
        let mut batch = SpawnBatch::new(self.chunk, self.len);
        batch.pass();
        let all = batch.world.query::<(&Transform, &Position, &Rotation, &Velocity)>();
        let beside = (size_of::<Entity>() as u64 + SLOT) * self.len as u64;
        let lines = all.explain().lines() as f64 + beside as f64 / LINE as f64;
        Work::of_units(self.len as u64, lines)
    }
}

impl Counted for NewArchetypes {
    /// The budget is in instructions: the least misses of the lists of a hundred queries are not
    /// known.
    fn work(&self) -> Work {
        Work::of_units(MADE as u64, 0.0)
    }
}
