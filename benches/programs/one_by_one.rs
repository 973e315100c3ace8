//! Changes of structure, each finished before the next: rows that come, rows that go, and a
//! component that an entity has for a moment.

use std::hint::black_box;

use phalanx::prelude::*;

use super::Program;
use super::components::world;
use super::insert::{full_rows, row_of_100_bytes};
use super::proof::same;

/// Rows of 100 bytes, spawned one by one into a world, which grows by them at each pass.
pub struct SpawnOne {
    world: World,
    len: usize,
}

impl SpawnOne {
    /// `len` rows at each pass.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self { world: world(chunk), len }
    }
}

impl Program for SpawnOne {
    fn pass(&mut self) {
        for i in 0..self.len {
            black_box(self.world.spawn(row_of_100_bytes(i)));
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        full_rows(&self.world, self.len, passes)
    }
}

/// Rows of 100 bytes, despawned one by one in an order that leaves gaps everywhere.
pub struct DespawnOne {
    world: World,
    order: Vec<Entity>,
}

impl DespawnOne {
    /// `len` rows, which all go in the first pass.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        // A prime that does not divide `len`: each row occurs once.
        const STRIDE: usize = 7_919;
        assert!(!len.is_multiple_of(STRIDE), "{len} rows in strides of {STRIDE}");
        let mut world = world(chunk);
        let entities = world.spawn_batch((0..len).map(row_of_100_bytes)).to_vec();
        let order = (0..len).map(|i| entities[i * STRIDE % len]).collect();
        Self { world, order }
    }
}

impl Program for DespawnOne {
    fn pass(&mut self) {
        for &entity in &self.order {
            self.world.despawn(entity).expect("alive");
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        same("the number of passes", passes, 1)?;
        same("the number of rows left", self.world.len(), 0)?;
        let alive = self.order.iter().filter(|&&entity| self.world.contains(entity)).count();
        same("the number of entities left", alive, 0)
    }
}

/// The component that stays. It and the next one are types of this program alone, so that the
/// compiler inlines its calls as if there were no other program.
#[component(name = "bench.owned")]
#[derive(PartialEq)]
struct Owned(f32);

/// The component that is added and removed.
#[component(name = "bench.lent")]
struct Lent(f32);

/// A component that is added to an entity and removed from it before the next entity has it.
pub struct AddAndRemove {
    world: World,
    entities: Vec<Entity>,
    residents: usize,
}

impl AddAndRemove {
    /// `len` entities with a number each, beside others that always have the component. Without
    /// them, the archetype that an entity moves to is empty before and after.
    pub fn new(chunk: ChunkSize, len: usize, residents: usize) -> Self {
        let mut world = world(chunk);
        let entities = world.spawn_batch((0..len).map(|i| Owned(i as f32))).to_vec();
        world.spawn_batch((0..residents).map(|_| (Owned(0.0), Lent(1.0))));
        Self { world, entities, residents }
    }
}

impl Program for AddAndRemove {
    fn pass(&mut self) {
        for &entity in &self.entities {
            self.world.insert(entity, Lent(0.0)).expect("alive");
            black_box(self.world.remove::<Lent>(entity).expect("was just added"));
        }
    }

    /// The order of the rows is the trace of a pass: a row that leaves an archetype has the last
    /// row moved into its place, and a row that comes is the last.
    fn check(&self, passes: u64) -> Result<(), String> {
        let rows = self.world.query::<&Owned>().without::<Lent>().rows();
        let moved = moved_rows(self.entities.len(), passes);
        let in_place = rows.zip(&moved).filter(|(owned, i)| owned.0 == **i as f32).count();
        same("the number of rows in the order of the passes", in_place, moved.len())?;
        let left = self.world.query::<&Lent>().rows().filter(|lent| lent.0 == 1.0).count();
        same("the number of residents", left, self.residents)?;
        let added = self.world.query::<&Lent>().count_rows();
        same("the number of components left", added, self.residents)?;
        let kept = |&(i, &entity): &(usize, &Entity)| {
            self.world.get::<Owned>(entity) == Ok(&Owned(i as f32))
        };
        let count = self.entities.iter().enumerate().filter(kept).count();
        same("the number of entities that kept theirs", count, self.entities.len())
    }
}

/// The entities in the order of their rows, after passes in which each in turn left and came back.
fn moved_rows(len: usize, passes: u64) -> Vec<usize> {
    let mut entities: Vec<usize> = (0..len).collect();
    let mut rows = entities.clone();
    for _ in 0..passes {
        for entity in 0..len {
            let (row, last) = (rows[entity], entities[len - 1]);
            entities.swap(row, len - 1);
            (rows[last], rows[entity]) = (row, len - 1);
        }
    }
    entities
}
