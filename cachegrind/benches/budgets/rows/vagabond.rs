//! The example of the article "Entity-Component-System, part 1" by the author of the game Vagabond:
//! flat positions and velocities of two floats, and 1,000 updates. A line holds eight values, so an
//! update of an entity misses at least 0.25 lines.

use phalanx::prelude::*;
use phalanx_cachegrind::Work;

use crate::programs::Program;
use crate::programs::proof::same;

use super::Counted;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Velocity {
    x: f32,
    y: f32,
}

impl_component!(Position as "vagabond.position", Velocity as "vagabond.velocity");

/// Seconds of an update: a power of two keeps every position exact.
const DT: f32 = 0.5;

/// One update.
#[kernel]
fn update(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
    }
}

/// A world of moving entities.
pub(super) struct Vagabond(World);

impl Vagabond {
    /// `len` entities.
    pub(super) fn new(len: usize) -> Self {
        let mut world = World::new();
        let row = |i: usize| (Position { x: 0.0, y: 0.0 }, Velocity { x: 1.0, y: (i % 4) as f32 });
        world.spawn_batch((0..len).map(row));
        Self(world)
    }
}

impl Program for Vagabond {
    fn pass(&mut self) {
        for (p, v) in self.0.query_mut::<(&mut Position, &Velocity)>() {
            update(p, v, DT);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let sum = |p: &Position| f64::from(p.x) + f64::from(p.y);
        let got: f64 = self.0.query::<&Position>().iter().flatten().map(sum).sum();
        let speed: f64 = (0..self.0.len()).map(|i| 1.0 + (i % 4) as f64).sum();
        same("the sum of the positions", got, speed * f64::from(DT) * passes as f64)
    }
}

impl Counted for Vagabond {
    fn work(&self) -> Work {
        Work::of_query(&self.0.query::<(&Position, &Velocity)>().explain())
    }
}
