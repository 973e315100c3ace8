//! The least of loops over columns.

use phalanx::explain::QueryExplanation;
use phalanx::prelude::*;

use crate::programs::archetypes::ManyArchetypes;
use crate::programs::columns::{PosVel, SimpleIter};
use crate::programs::components::{Data, Position, Velocity};
use crate::programs::fragments::FragmentedIter;

use super::{Counted, Least};

impl Counted for PosVel {
    fn least(&self) -> Least {
        Least::of_loop(self.world.len(), &movement(&self.world))
    }
}

impl Counted for SimpleIter {
    fn least(&self) -> Least {
        Least::of_loop(self.world.len(), &movement(&self.world))
    }
}

fn movement(world: &World) -> QueryExplanation {
    world.query::<(&Position, &Velocity)>().explain()
}

impl Counted for FragmentedIter {
    fn least(&self) -> Least {
        Least::of_loop(self.world.len(), &self.world.query::<&Data>().explain())
    }
}

impl Counted for ManyArchetypes {
    /// A unit is an archetype: the cost of the walk is per archetype.
    fn least(&self) -> Least {
        Least::of_loop(self.archetypes, &self.world.query::<&Data>().explain())
    }
}
