//! Filling a world with rows of a matrix, a position, a rotation and a velocity: 100 bytes.

use std::hint::black_box;

use phalanx::prelude::*;

use super::Program;
use super::components::{Position, Rotation, Transform, Velocity, position, velocity, world};
use super::proof::same;

/// The row of entity `i`. The matrix is opaque, so that no loop turns into a fill.
#[inline(always)]
pub fn row_of_100_bytes(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (black_box(Transform([1.0; 16])), position(i), Rotation::default(), velocity(i))
}

/// Whether the world has the rows 0 to `len` once for each pass, in this order.
///
/// # Errors
///
/// A line with what is wrong.
pub fn full_rows(world: &World, len: usize, passes: u64) -> Result<(), String> {
    let rows = len as u64 * passes;
    same("the number of rows", world.len() as u64, rows)?;
    let all = world.query::<(&Position, &Velocity)>().rows();
    let is_right = |(row, (p, v)): &(usize, (&Position, &Velocity))| {
        let i = row % len;
        **p == position(i) && **v == velocity(i)
    };
    let right = all.enumerate().filter(is_right).count();
    same("the number of rows that are right", right as u64, rows)
}

/// A batch spawned into a world, which grows by one batch at each pass.
pub struct SpawnBatch {
    pub world: World,
    len: usize,
}

impl SpawnBatch {
    /// Batches of `len` rows.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self { world: world(chunk), len }
    }
}

impl Program for SpawnBatch {
    fn pass(&mut self) {
        self.world.spawn_batch((0..self.len).map(row_of_100_bytes));
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        full_rows(&self.world, self.len, passes)
    }
}

/// A batch of rows with relations to parents, which grow by 100 children each at each pass.
pub struct SpawnChildren {
    world: World,
    parents: Vec<Entity>,
}

/// The children of a parent in one pass.
const CHILDREN: usize = 100;

#[relation(tree)]
struct ChildOf;

impl SpawnChildren {
    /// Batches of `len` rows.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        let parents = world.spawn_batch((0..len / CHILDREN).map(|_| ())).to_vec();
        Self { world, parents }
    }
}

impl Program for SpawnChildren {
    fn pass(&mut self) {
        let Self { world, parents } = self;
        let row = |(i, parent)| (position(i), velocity(i), ChildOf::of(parent));
        let all = parents.iter().flat_map(|&parent| [parent; CHILDREN]);
        world.spawn_batch(all.enumerate().map(row));
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let children = CHILDREN as u64 * passes;
        let of = |&parent| self.world.relation::<ChildOf>().sources(parent).len() as u64;
        let wrong = self.parents.iter().map(of).find(|&len| len != children);
        same("the children of a parent", wrong.unwrap_or(children), children)
    }
}

/// A batch spawned into a cleared world; a pass ends with clearing it again.
///
/// So a pass finds the world in the same state as the pass before it, and can be repeated any
/// number of times.
pub struct SpawnAndClear {
    pub world: World,
    pub len: usize,
    pub chunk: ChunkSize,
    /// Rows of all passes: the world is as it was before a pass.
    spawned: u64,
}

impl SpawnAndClear {
    /// Batches of `len` rows, into a world that has held `len` rows before.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        world.spawn_batch((0..len).map(row_of_100_bytes));
        world.clear();
        Self { world, len, spawned: 0, chunk }
    }
}

impl Program for SpawnAndClear {
    fn pass(&mut self) {
        self.spawned += self.world.spawn_batch((0..self.len).map(row_of_100_bytes)).len() as u64;
        black_box(&mut self.world).clear();
    }

    /// The rows of a pass are gone after it, so one more batch is spawned and proven.
    fn check(&self, passes: u64) -> Result<(), String> {
        same("the number spawned", self.spawned, passes * self.len as u64)?;
        same("the number left", self.world.len(), 0)?;
        let mut batch = SpawnBatch::new(self.chunk, self.len);
        batch.pass();
        batch.check(1)
    }
}
