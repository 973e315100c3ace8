//! The rows of one shared value among many others.

use phalanx::prelude::*;

use super::Program;
use super::proof::same;

#[component(name = "bench.one_of_many")]
pub struct Count(pub u64);

/// A value of its own for each entity.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region(pub u32);

/// Entities with a shared value each, of which a pass adds one to the row of one value.
pub struct OneOfMany {
    world: World,
    chosen: Region,
}

impl OneOfMany {
    /// As many entities as values. The chosen one is in the middle.
    pub fn new(chunk: ChunkSize, values: u32) -> Self {
        let mut world = World::builder().chunk_size(chunk).build();
        for value in 0..values {
            let entity = world.spawn(Count(0));
            world.insert_shared(entity, Region(value)).expect("a row fits a chunk");
        }
        Self { world, chosen: Region(values / 2) }
    }
}

impl Program for OneOfMany {
    fn pass(&mut self) {
        for counts in self.world.query_mut::<&mut Count>().where_shared(&self.chosen) {
            counts.iter_mut().for_each(|count| count.0 += 1);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let sum = |(rows, sum): (usize, u64), count: &Count| (rows + 1, sum + count.0);
        let of_chosen = self.world.query::<&Count>().where_shared(&self.chosen);
        let (rows, chosen) = of_chosen.rows().fold((0, 0), sum);
        same("the number of rows of the chosen value", rows, 1)?;
        same("the count of the chosen value", chosen, passes)?;
        let (_, all) = self.world.query::<&Count>().rows().fold((0, 0), sum);
        same("the sum of all counts", all, passes)
    }
}
