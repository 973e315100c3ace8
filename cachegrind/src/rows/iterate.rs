//! The least of loops over columns.

use phalanx::prelude::*;

use crate::programs::archetypes::ManyArchetypes;
use crate::programs::columns::{PosVel, SimpleIter};
use crate::programs::components::{Data, Position, Velocity};
use crate::programs::fragments::FragmentedIter;

use super::{Counted, Least};

impl Counted for PosVel {
    fn least(&self) -> Least {
        Least::of_loop(self.world.len(), lines_of_movement(&self.world))
    }
}

impl Counted for SimpleIter {
    fn least(&self) -> Least {
        Least::of_loop(self.world.len(), lines_of_movement(&self.world))
    }
}

fn lines_of_movement(world: &World) -> u64 {
    world.query::<(&Position, &Velocity)>().explain().lines()
}

impl Counted for FragmentedIter {
    fn least(&self) -> Least {
        Least::of_loop(self.world.len(), self.world.query::<&Data>().explain().lines())
    }
}

impl Counted for ManyArchetypes {
    /// A unit is an archetype: the cost of the walk is per archetype.
    fn least(&self) -> Least {
        Least::of_loop(self.archetypes, self.world.query::<&Data>().explain().lines())
    }
}
