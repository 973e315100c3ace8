//! The least of changes of structure.

use phalanx::prelude::*;

use crate::programs::Program;
use crate::programs::components::{Position, Rotation, Transform, Velocity};
use crate::programs::insert::{SpawnAndClear, SpawnBatch};
use crate::programs::new_archetypes::{MADE, NewArchetypes};
use crate::programs::structure::{AddRemove, Added, Kept};

use super::{Counted, LINE, Least, PLACE};

impl Counted for AddRemove {
    /// Two walks; each reads the list of entities, reads the rows of one archetype and writes those
    /// of the other, each with its entity beside it, and changes the place of every entity. Rows
    /// are read in the order they are written in, so every line comes once a walk.
    fn least(&self) -> Least {
        let entity = size_of::<Entity>() as u64;
        let rows = (size_of::<Kept>() as u64 + entity) * 2 + size_of::<Added>() as u64;
        let pairs = self.entities.len() as u64;
        let bytes = (entity + rows + PLACE) * 2 * pairs;
        Least { units: pairs, lines: bytes as f64 / LINE as f64 }
    }
}

impl Counted for SpawnAndClear {
    /// The lines of the rows, the entity beside each row, and the place of each entity. Between
    /// passes the world is empty, so another one tells the lines.
    fn least(&self) -> Least {
        let mut batch = SpawnBatch::new(self.chunk, self.len);
        batch.pass();
        let all = batch.world.query::<(&Transform, &Position, &Rotation, &Velocity)>();
        let beside = (size_of::<Entity>() as u64 + PLACE) * self.len as u64;
        let lines = all.explain().lines() as f64 + beside as f64 / LINE as f64;
        Least { units: self.len as u64, lines }
    }
}

impl Counted for NewArchetypes {
    /// Its budget is one of instructions: what the lists of a hundred queries must miss is not
    /// known.
    fn least(&self) -> Least {
        Least { units: MADE as u64, lines: 0.0 }
    }
}
