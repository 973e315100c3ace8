//! The systems of a frame: double density relaxation, after Clavet, Beaudoin and Poulin (2005).

use crate::model::{Position, Pressure, REACH, Tank, Velocity};
use crate::neighbours::{Neighbours, Reference};
use phalanx::prelude::*;

/// The density of the fluid at rest, and the pressure per density.
const REST: f32 = 4.0;
const STIFFNESS: f32 = 0.002;
const STIFFNESS_NEAR: f32 = 0.006;
const GRAVITY: f32 = 0.0008;
/// The part of the difference between two velocities that a frame removes.
const VISCOSITY: f32 = 0.02;
/// The highest speed. No particle passes another one in a frame.
const SPEED_MAX: f32 = 0.2;

/// All systems, with neighbours by id or by place.
pub(crate) fn schedule<R: Reference>() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(find::<R>).named("find");
    schedule.add(press::<R>).named("press");
    schedule.add(push::<R>).named("push");
    schedule.add(flow).named("flow");
    schedule
}

/// Finds the neighbours of each particle.
fn find<R: Reference>(
    particles: Query<(Entity, &Position)>,
    positions: Lookup<Position>,
    tank: Res<Tank>,
    mut neighbours: ResMut<Neighbours<R>>,
) {
    neighbours.find(particles, &positions.by_place(), *tank);
}

/// Computes the pressure at each particle from the distances of its neighbours.
fn press<R: Reference>(
    particles: Query<(&Position, &mut Pressure)>,
    positions: Lookup<Position>,
    neighbours: Res<Neighbours<R>>,
) {
    let positions = positions.by_place();
    for ((position, pressure), near) in particles.rows().zip(neighbours.iter()) {
        let mut density = (0.0, 0.0);
        for other in near.iter().filter_map(|other| other.follow(&positions)) {
            let (_, closeness) = way(*position, *other);
            density.0 += closeness * closeness;
            density.1 += closeness * closeness * closeness;
        }
        pressure.far = STIFFNESS * (density.0 - REST);
        pressure.near = STIFFNESS_NEAR * density.1;
    }
}

/// Pushes each particle away from its neighbours, and drags it along with them.
///
/// All particles are pushed by the pressures and places of the same moment: the new velocities are
/// computed first, and written afterwards.
fn push<R: Reference>(
    particles: Query<&Position>,
    positions: Lookup<Position>,
    pressures: Lookup<Pressure>,
    mut velocities: Query<&mut Velocity>,
    neighbours: Res<Neighbours<R>>,
    mut pushed: Local<Vec<(f32, f32)>>,
) {
    let (positions, pressures) = (positions.by_place(), pressures.by_place());
    let force = |(position, near): (&Position, &[R])| {
        let mut force = (0.0, 0.0);
        for &other in near {
            let found = (other.follow(&positions), other.follow(&pressures));
            let (Some(other), Some(pressure)) = found else { continue };
            let ((x, y), closeness) = way(*position, *other);
            let push = pressure.far * closeness + pressure.near * closeness * closeness;
            force.0 -= push * x;
            force.1 -= push * y;
        }
        force
    };
    pushed.clear();
    pushed.extend(particles.rows().zip(neighbours.iter()).map(force));
    for (velocity, force) in velocities.rows_mut().zip(&*pushed) {
        velocity.x += force.0;
        velocity.y += force.1 - GRAVITY;
    }
}

/// Moves all particles, and keeps them in the tank.
fn flow(particles: Query<(&mut Position, &mut Velocity)>, tank: Res<Tank>) {
    for (positions, velocities) in particles {
        advance(positions, velocities, *tank);
    }
}

/// The direction from one place to another, and the closeness of the two: 1 at the same place, 0
/// out of reach.
#[inline(always)]
fn way(from: Position, to: Position) -> ((f32, f32), f32) {
    let (x, y) = (to.x - from.x, to.y - from.y);
    let distance = (x * x + y * y).sqrt();
    ((x / distance, y / distance), (1.0 - distance / REACH).max(0.0))
}

#[kernel]
fn advance(positions: &mut [Position], velocities: &mut [Velocity], tank: Tank) {
    for (position, velocity) in positions.iter_mut().zip(velocities) {
        (position.x, velocity.x) = along(position.x, velocity.x, tank.width);
        (position.y, velocity.y) = along(position.y, velocity.y, tank.height);
    }
}

/// A place and a velocity along one axis after a frame. A wall reflects a third of the velocity.
#[inline(always)]
fn along(place: f32, velocity: f32, size: f32) -> (f32, f32) {
    let velocity = velocity.clamp(-SPEED_MAX, SPEED_MAX) * (1.0 - VISCOSITY);
    let place = place + velocity;
    let inside = place.clamp(0.0, size);
    (inside, if inside == place { velocity } else { velocity / -3.0 })
}
