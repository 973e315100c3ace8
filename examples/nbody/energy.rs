//! The energy of all bodies, which must stay the same.

use crate::model::{Mass, Position, SOFTENING, Velocity};
use phalanx::prelude::World;

/// The energy of motion and of gravity, added in 64 bits.
///
/// All pairs, row by row: the convenient form is fast enough, since it runs twice in all.
pub(crate) fn of(world: &World) -> f64 {
    let motion: f64 = world
        .query::<(&Velocity, &Mass)>()
        .rows()
        .map(|(v, mass)| 0.5 * f64::from(mass.0) * square([v.x, v.y, v.z]))
        .sum();
    let pairs = world.query::<(&Position, &Mass)>().rows().combinations();
    let gravity: f64 = pairs
        .map(|[(a, mass_a), (b, mass_b)]| {
            let distance2 = square([a.x - b.x, a.y - b.y, a.z - b.z]) + f64::from(SOFTENING);
            -f64::from(mass_a.0) * f64::from(mass_b.0) / distance2.sqrt()
        })
        .sum();
    motion + gravity
}

fn square(vector: [f32; 3]) -> f64 {
    vector.iter().map(|&v| f64::from(v) * f64::from(v)).sum()
}
