//! Moves the bodies: the method called leapfrog, which keeps the energy well.

use crate::gravity::{self, Source};
use crate::model::{Acceleration, Position, Velocity};
use phalanx::kernel;
use phalanx::prelude::World;

/// A way to compute the accelerations of all bodies.
pub(crate) type Gravity = fn(&mut World, &[Source]);

/// Runs some steps of this length: half a step of the velocities, a step of the positions, the new
/// accelerations, and the other half.
pub(crate) fn run(world: &mut World, gravity: Gravity, steps: u32, dt: f32) {
    let mut sources = Vec::new();
    let mut accelerate = |world: &mut World| {
        gravity::gather(world, &mut sources);
        gravity(world, &sources);
    };
    accelerate(world);
    for _ in 0..steps {
        kick(world, 0.5 * dt);
        drift(world, dt);
        accelerate(world);
        kick(world, 0.5 * dt);
    }
}

fn kick(world: &mut World, dt: f32) {
    for (v, a) in world.query_mut::<(&mut Velocity, &Acceleration)>() {
        advance(v.x, a.x, dt);
        advance(v.y, a.y, dt);
        advance(v.z, a.z, dt);
    }
}

fn drift(world: &mut World, dt: f32) {
    for (p, v) in world.query_mut::<(&mut Position, &Velocity)>() {
        advance(p.x, v.x, dt);
        advance(p.y, v.y, dt);
        advance(p.z, v.z, dt);
    }
}

#[kernel]
fn advance(values: &mut [f32], rates: &[f32], dt: f32) {
    for (value, rate) in values.iter_mut().zip(rates) {
        *value += rate * dt;
    }
}
