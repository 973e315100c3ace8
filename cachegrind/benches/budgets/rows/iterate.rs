//! The least of loops over columns.

use phalanx::explain::QueryExplanation;
use phalanx::prelude::*;
use phalanx_cachegrind::Work;

use crate::programs::archetypes::ManyArchetypes;
use crate::programs::columns::{PosVel, SimpleIter};
use crate::programs::components::{Data, Position, Velocity};
use crate::programs::fragments::FragmentedIter;

use super::Counted;

impl Counted for PosVel {
    fn work(&self) -> Work {
        Work::of_query(&movement(&self.world))
    }
}

impl Counted for SimpleIter {
    fn work(&self) -> Work {
        Work::of_query(&movement(&self.world))
    }
}

fn movement(world: &World) -> QueryExplanation {
    world.query::<(&Position, &Velocity)>().explain()
}

impl Counted for FragmentedIter {
    fn work(&self) -> Work {
        Work::of_query(&self.world.query::<&Data>().explain())
    }
}

impl Counted for ManyArchetypes {
    /// A unit is an archetype: the cost of the walk is per archetype.
    fn work(&self) -> Work {
        Work::of_query(&self.world.query::<&Data>().explain()).in_units(self.archetypes as u64)
    }
}
