//! Loops over the columns of one archetype.

use phalanx::prelude::*;

use super::Program;
use super::components::{Position, Velocity, moving_world, world};
use super::insert::row_of_100_bytes;
use super::proof::{moved, sum_of_world};

/// Seconds of one step. A power of two: products are exact, and so are sums for millions of steps.
pub const DT: f32 = 0.5;

/// One Euler step, as in the README.
#[kernel]
pub fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    }
}

/// One step of length one.
#[kernel]
fn advance(position: &mut [Position], velocity: &[Velocity]) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x;
        p.y += v.y;
        p.z += v.z;
    }
}

/// `position += velocity * dt`, in rows without other columns.
pub struct PosVel {
    pub world: World,
}

impl PosVel {
    /// `len` entities.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self { world: moving_world(chunk, len).0 }
    }
}

impl Program for PosVel {
    fn pass(&mut self) {
        for (p, v) in self.world.query_mut::<(&mut Position, &Velocity)>() {
            integrate(p, v, DT);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        moved(sum_of_world(&self.world), self.world.len(), passes, DT)
    }
}

/// `position += velocity`, in rows that also hold a matrix and a rotation.
pub struct SimpleIter {
    pub world: World,
}

impl SimpleIter {
    /// `len` entities.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        world.spawn_batch((0..len).map(row_of_100_bytes));
        Self { world }
    }
}

impl Program for SimpleIter {
    fn pass(&mut self) {
        for (p, v) in self.world.query_mut::<(&mut Position, &Velocity)>() {
            advance(p, v);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        moved(sum_of_world(&self.world), self.world.len(), passes, 1.0)
    }
}
