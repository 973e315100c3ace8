//! The kernels of a user's crate.

use phalanx::prelude::*;

/// The place of a body.
#[component]
pub struct Position(pub [f32; 3]);
/// The velocity of a body.
#[component]
pub struct Velocity(pub [f32; 3]);
/// The sum of the forces on it.
#[component]
pub struct Force(pub [f32; 3]);

/// One float of each body: a column for each axis.
macro_rules! floats {
    ($($(#[$($doc:tt)*])* $name:ident),*) => {
        $( #[component] $(#[$($doc)*])* pub struct $name(pub f32);)*
    };
}

floats! {
    /// The place of a body, along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
    /// The force on it, along x.
    ForceX,
    /// Along y.
    ForceY,
    /// Along z.
    ForceZ
}

/// One step.
#[kernel]
pub fn step(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in scalars_mut::<f32>(position).iter_mut().zip(scalars::<f32>(velocity)) {
        *p += v * dt;
    }
}

/// The position and mass of a body that pulls others.
pub type Pull = [f32; 4];

/// Keeps the force of a body on itself finite.
const SOFT: f32 = 0.01;

/// Forces as a textbook has them, body by body. A sum of floats has one order, so the inner
/// loop stays scalar.
#[kernel]
pub fn pull_bodies(position: &[Position], force: &mut [Force], pulls: &[Pull]) {
    for (Position(p), force) in position.iter().zip(force) {
        let mut sum = [0.0; 3];
        for &[x, y, z, mass] in pulls {
            let [dx, dy, dz] = [x - p[0], y - p[1], z - p[2]];
            let square = dx * dx + dy * dy + dz * dz + SOFT;
            let scale = mass / (square * square.sqrt());
            sum[0] += dx * scale;
            sum[1] += dy * scale;
            sum[2] += dz * scale;
        }
        force.0 = sum;
    }
}

/// The same forces over columns, with the bodies in the inner loop: eight sums at a time, each
/// in its own order.
#[kernel]
pub fn pull_columns(
    x: &[X],
    y: &[Y],
    z: &[Z],
    fx: &mut [ForceX],
    fy: &mut [ForceY],
    fz: &mut [ForceZ],
    pulls: &[Pull]
) {
    fx.fill(ForceX(0.0));
    fy.fill(ForceY(0.0));
    fz.fill(ForceZ(0.0));
    // Equal lengths, which LLVM sees: no bounds are checked in the loop.
    let len = x.len();
    let (y, z) = (&y[..len], &z[..len]);
    let (fx, fy, fz) = (&mut fx[..len], &mut fy[..len], &mut fz[..len]);
    for &[px, py, pz, mass] in pulls {
        for i in 0..len {
            let [dx, dy, dz] = [px - x[i].0, py - y[i].0, pz - z[i].0];
            let square = dx * dx + dy * dy + dz * dz + SOFT;
            let scale = mass / (square * square.sqrt());
            fx[i].0 += dx * scale;
            fy[i].0 += dy * scale;
            fz[i].0 += dz * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::testing::assert_same_bits;

    #[test]
    fn step_has_the_same_bits_in_all_ways() {
        let spawn = |world: &mut World| {
            world.spawn_batch((0..5_000).map(|i| (Position([0.0; 3]), Velocity([i as f32; 3]))));
        };
        assert_same_bits::<(&mut Position, &Velocity)>(spawn, |(p, v)| step(p, v, 0.3));
    }
}
