//! Worlds that are made and dropped empty.

use std::hint::black_box;

use phalanx::prelude::*;

use super::Program;
use super::proof::same;

/// Worlds of a pass.
pub const WORLDS: usize = 100;

/// Worlds by [`World::new`], one after the other.
#[derive(Default)]
pub struct NewWorlds {
    made: u64,
    entities: usize,
}

impl Program for NewWorlds {
    fn pass(&mut self) {
        for _ in 0..WORLDS {
            self.entities += black_box(World::new()).len();
            self.made += 1;
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        same("the number of worlds", self.made, passes * WORLDS as u64)?;
        same("the number of their entities", self.entities, 0)
    }
}
