//! Changes of structure.

use std::hint::black_box;

use phalanx::prelude::*;

use super::{
    Data, LINE, Least, PLACE, Position, Program, Rotation, Transform, Velocity, position,
    row_of_100_bytes, same, velocity,
};

const LEN: usize = 10_000;

/// A float added to each entity in turn, then taken from each in turn.
struct AddRemove {
    world: World,
    entities: Vec<Entity>,
}

/// 10,000 entities with a position.
pub(super) fn add_remove() -> Box<dyn Program> {
    let mut world = World::new();
    let entities = world.spawn_batch((0..LEN).map(position)).to_vec();
    Box::new(AddRemove { world, entities })
}

impl Program for AddRemove {
    fn pass(&mut self) {
        for &entity in &self.entities {
            self.world.insert(entity, Data(1.0)).expect("alive");
        }
        for &entity in &self.entities {
            black_box(self.world.remove::<Data>(entity).expect("was just added"));
        }
    }

    fn check(&self, _: u64) -> Result<(), String> {
        same("the number of floats left", self.world.query::<&Data>().count(), 0)?;
        let kept = |(i, &entity): (usize, &Entity)| self.world.get(entity) == Ok(&position(i));
        same("the number kept", self.entities.iter().enumerate().filter(|&e| kept(e)).count(), LEN)
    }

    /// Two walks; each reads the list of entities, reads the rows of one archetype and writes those
    /// of the other, each with its entity beside it, and changes the place of every entity. Rows
    /// are read in the order they are written in, so every line comes once a walk.
    fn least(&self) -> Least {
        let entity = size_of::<Entity>() as u64;
        let rows = (size_of::<Position>() as u64 + entity) * 2 + size_of::<Data>() as u64;
        let bytes = (entity + rows + PLACE) * 2 * LEN as u64;
        Least { units: LEN as u64, lines: bytes as f64 / LINE as f64 }
    }
}

/// A batch spawned into a world that was cleared; a pass ends with clearing it again.
struct SpawnBatch {
    world: World,
    /// Of the last pass, before it was cleared.
    spawned: usize,
    lines: u64,
}

/// 10,000 rows of 100 bytes. Clearing is a part of the pass: a world cannot be filled twice without.
pub(super) fn spawn_batch() -> Box<dyn Program> {
    let mut world = World::new();
    world.spawn_batch((0..LEN).map(row_of_100_bytes));
    let all = world.query::<(&Transform, &Position, &Rotation, &Velocity)>();
    let lines = all.explain().lines();
    world.clear();
    Box::new(SpawnBatch { world, spawned: LEN, lines })
}

impl Program for SpawnBatch {
    fn pass(&mut self) {
        self.spawned = self.world.spawn_batch((0..LEN).map(row_of_100_bytes)).len();
        black_box(&mut self.world).clear();
    }

    /// What a pass spawned is gone after it, so one more batch is spawned and compared, row by row.
    fn check(&self, _: u64) -> Result<(), String> {
        same("the number spawned", self.spawned, LEN)?;
        same("the number left", self.world.len(), 0)?;
        let mut world = World::new();
        let entities = world.spawn_batch((0..LEN).map(row_of_100_bytes)).to_vec();
        let is_right = |(i, &entity): (usize, &Entity)| {
            world.get(entity) == Ok(&position(i)) && world.get(entity) == Ok(&velocity(i))
        };
        same("the number right", entities.iter().enumerate().filter(|&e| is_right(e)).count(), LEN)
    }

    /// The lines of the rows, the entity beside each row, and the place of each entity.
    fn least(&self) -> Least {
        let beside = (size_of::<Entity>() as u64 + PLACE) * LEN as u64;
        let lines = self.lines as f64 + beside as f64 / LINE as f64;
        Least { units: LEN as u64, lines }
    }
}
