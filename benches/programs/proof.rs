//! The results that prove passes. Values are small whole numbers or halves of them, so that sums
//! are exact in any order.

use std::fmt::Display;

use phalanx::prelude::*;

use super::components::{Data, Position, Velocity, position, velocity};

/// Compares two values.
///
/// # Errors
///
/// A line with both, if they differ.
pub fn same<T: PartialEq + Display>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what} is {got}, and must be {want}")) }
}

/// The sum of all coordinates.
pub fn sum_of_positions(positions: &[Position]) -> f64 {
    positions.iter().map(|p| f64::from(p.x) + f64::from(p.y) + f64::from(p.z)).sum()
}

/// The sum of all coordinates in a world.
pub fn sum_of_world(world: &World) -> f64 {
    world.query::<&Position>().iter().map(sum_of_positions).sum()
}

/// The sum of all data in a world.
pub fn sum_of_data(world: &World) -> f64 {
    world.query::<&Data>().iter().flatten().map(|data| f64::from(data.0)).sum()
}

/// Steps that leave every coordinate a multiple of a half below 2^22: exact in `f32`.
const EXACT_STEPS: u64 = 1 << 20;

/// Whether the sum is right for `len` positions after `steps` steps of `velocity * dt`, with a half
/// or one as `dt`.
///
/// Positions and velocities repeat after 64 rows. These rows are moved along: in one stride as far
/// as it is exact, and step by step from where `f32` rounds.
///
/// # Errors
///
/// A line with both sums.
pub fn moved(got: f64, len: usize, steps: u64, dt: f32) -> Result<(), String> {
    const STARTS: usize = 64;
    let stride = steps.min(EXACT_STEPS);
    let mut at: [Position; STARTS] = std::array::from_fn(position);
    let by: [Velocity; STARTS] = std::array::from_fn(|i| {
        let Velocity { x, y, z } = velocity(i);
        Velocity { x: x * dt, y: y * dt, z: z * dt }
    });
    let (moving, by) = (scalars_mut::<f32>(&mut at), scalars::<f32>(&by));
    moving.iter_mut().zip(by).for_each(|(at, by)| *at += by * stride as f32);
    for _ in stride..steps {
        moving.iter_mut().zip(by).for_each(|(at, by)| *at += by);
    }
    let want: f64 = (0..len).map(|i| sum_of_positions(&at[i % STARTS..][..1])).sum();
    same(&format!("the sum of the positions after {steps} steps"), got, want)
}

/// Whether the sum is right for `len` ones doubled `steps` times (infinite from 128 steps on).
///
/// # Errors
///
/// A line with both sums.
pub fn doubled(got: f64, len: usize, steps: u64) -> Result<(), String> {
    let one = if steps < 128 { 2f64.powf(steps as f64) } else { f64::INFINITY };
    same(&format!("the sum of the data after {steps} doublings"), got, one * len as f64)
}

/// Whether this number of archetypes holds entities.
///
/// # Errors
///
/// A line with both numbers.
pub fn full_archetypes(world: &World, want: usize) -> Result<(), String> {
    let full = world.reflect().archetypes().filter(|archetype| !archetype.is_empty()).count();
    same("the number of archetypes that hold entities", full, want)
}
