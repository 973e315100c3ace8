//! The particles of the fluid, and the order of their rows.

use phalanx::prelude::*;
use phalanx::rows::SortKey;

/// The distance at which particles act on each other, the unit of length.
pub(crate) const REACH: f32 = 1.0;
/// Particles per unit of length when the fluid is spawned.
const PER_LENGTH: f32 = 2.0;
/// The height of the fluid when it is spawned, in particles.
const HEIGHT: usize = 40;

/// A place in the tank.
#[component]
#[derive(Debug)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// Units of length per frame.
#[component]
#[derive(Debug)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// The pressure of particles within reach, and of particles that are too near.
#[component]
#[derive(Debug)]
pub(crate) struct Pressure {
    pub(crate) far: f32,
    pub(crate) near: f32,
}

/// The size of the tank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tank {
    pub(crate) width: f32,
    pub(crate) height: f32,
}

/// The cell of a particle along a Morton curve: cells that follow each other on it are neighbours,
/// so particles within reach of each other have rows near each other.
pub(crate) struct Morton;

impl SortKey for Morton {
    type Columns = Position;
    type Key = u32;

    fn key(position: &Position) -> u32 {
        spread(position.x) | spread(position.y) << 1
    }
}

/// The bits of the number of a cell, each followed by a zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
const fn spread(place: f32) -> u32 {
    let bits = (place / REACH) as u16 as u32;
    let bits = (bits | bits << 8) & 0x00ff_00ff;
    let bits = (bits | bits << 4) & 0x0f0f_0f0f;
    let bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// A world with a column of fluid in the left half of a tank. The particles are spawned in a random
/// order, as after many births and deaths.
pub(crate) fn world(particles: usize, seed: u64) -> World {
    let mut order: Vec<usize> = (0..particles).collect();
    let mut random = random(seed);
    for last in (1..particles).rev() {
        order.swap(last, random(last + 1));
    }
    let mut world = World::new();
    world.spawn_batch(order.into_iter().map(|number| {
        // Every second row is shifted, and no particle stands on an edge.
        let (column, row) = (number / HEIGHT, number % HEIGHT);
        let x = (column as f32 + 0.25 + (row % 2) as f32 / 2.0) / PER_LENGTH;
        let y = (row as f32 + 0.5) / PER_LENGTH;
        let (velocity, pressure) = (Velocity::default(), Pressure::default());
        (Position { x, y }, velocity, pressure)
    }));
    let columns = particles.div_ceil(HEIGHT) + 1;
    let width = 2.0 * columns as f32 / PER_LENGTH;
    world.insert_resource(Tank { width, height: 2.0 * HEIGHT as f32 / PER_LENGTH });
    world
}

/// Random numbers below a length: SplitMix64.
#[expect(clippy::cast_possible_truncation, reason = "smaller than `len`")]
fn random(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |len| {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % len as u64) as usize
    }
}
