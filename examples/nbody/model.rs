//! The components of a body, and a cluster of bodies.

use phalanx::prelude::*;

/// `#[component(split)]` gives each coordinate a column of its own. So the coordinate x of many
/// bodies is one slice of numbers, as the vectors of the kernels need it.
#[component(split)]
#[derive(Debug, PartialEq)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}
#[component(split)]
#[derive(Debug, PartialEq)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}
#[component(split)]
#[derive(Debug, PartialEq)]
pub(crate) struct Acceleration {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Mass(pub(crate) f32);

/// The square of the length that softens the pull of bodies which are very near each other. It
/// also makes the pull of a body on itself zero, and not a division by zero.
pub(crate) const SOFTENING: f32 = 0.05 * 0.05;

/// A ball of bodies that turns slowly. Its radius and its mass are 1, and so is the constant of
/// gravity.
pub(crate) fn cluster(bodies: usize, seed: u64, chunks: ChunkSize) -> World {
    let mut random = seed;
    let mut world = World::builder().chunk_size(chunks).build();
    world.spawn_batch((0..bodies).map(|_| {
        let [x, y, z] = in_ball(&mut random);
        // At a factor of 1 each body would go round the axis in a circle.
        let velocity = Velocity { x: -0.7 * y, y: 0.7 * x, z: 0.0 };
        let mass = Mass(1.0 / bodies as f32);
        (Position { x, y, z }, velocity, Acceleration::default(), mass)
    }));
    world
}

/// A random point of a ball: points of a cube are drawn until one is in the ball.
fn in_ball(random: &mut u64) -> [f32; 3] {
    loop {
        let point @ [x, y, z] = [(); 3].map(|()| 2.0 * unit(random) - 1.0);
        if x * x + y * y + z * z < 1.0 {
            return point;
        }
    }
}

/// A number from 0 to below 1, and the next state of the generator SplitMix64.
const fn unit(random: &mut u64) -> f32 {
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *random;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
}
