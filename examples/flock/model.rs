//! The components of boids and predators, their sky, and how both are spawned.

use phalanx::prelude::*;

/// A place in the sky, from (0, 0) to its size. The unit is the distance that a boid sees.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// Units of length per second.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// Seconds until a boid dies.
#[component]
#[derive(Debug)]
pub(crate) struct Life(pub(crate) f32);

/// A predator. Ids are plain data, so a component can name another entity.
#[component]
#[derive(Debug)]
pub(crate) struct Predator {
    /// The boid that it hunts, which may be despawned.
    pub(crate) prey: Entity,
}

/// Seconds between two frames.
pub(crate) const STEP: f32 = 1.0 / 30.0;
/// The most seconds that a boid lives.
const LIFE_MAX: f32 = 60.0;
/// The highest initial speed of boids.
const SPEED: f32 = 4.0;
/// The area of the sky per boid: about nine boids see each other if all are spread evenly.
const AREA: f32 = 0.35;
/// Boids per predator. There is one predator more.
const BOIDS_PER_PREDATOR: usize = 10_000;

/// The size of the sky. An entity that leaves it on one side returns on the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sky {
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Sky {
    /// A sky for this number of boids, with a ratio of 4 : 3, and large enough for a grid.
    fn new(boids: usize) -> Self {
        let unit = (AREA * boids as f32 / 12.0).sqrt().max(2.0);
        Self { width: 4.0 * unit, height: 3.0 * unit }
    }

    /// The shortest way from one place to another, which may lead over the edge.
    #[inline(always)]
    pub(crate) fn way(self, from: Position, to: Position) -> (f32, f32) {
        (shortest(to.x - from.x, self.width), shortest(to.y - from.y, self.height))
    }
}

#[inline(always)]
fn shortest(way: f32, size: f32) -> f32 {
    let way = if way > 0.5 * size { way - size } else { way };
    if way < -0.5 * size { way + size } else { way }
}

/// The intended number of boids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Population(pub(crate) usize);

/// The number of boids that hatched during the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hatched(pub(crate) usize);

/// Random numbers, the same for the same seed.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number of SplitMix64.
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below `len`.
    #[expect(clippy::cast_possible_truncation, reason = "smaller than `len`")]
    pub(crate) const fn below(&mut self, len: usize) -> usize {
        (self.next() % len as u64) as usize
    }

    /// From 0 to below 1.
    const fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// A point in the circle of this radius around the origin.
    fn within(&mut self, radius: f32) -> (f32, f32) {
        loop {
            // Points of a square are drawn until one is in the circle. A sine would have different
            // bits with different system libraries.
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            if x * x + y * y < 1.0 {
                return (radius * x, radius * y);
            }
        }
    }
}

/// A boid at a random place.
pub(crate) fn boid(sky: Sky, random: &mut Random) -> (Position, Velocity, Life) {
    let position = Position { x: sky.width * random.unit(), y: sky.height * random.unit() };
    let (x, y) = random.within(SPEED);
    (position, Velocity { x, y }, Life(LIFE_MAX * random.unit()))
}

/// A boid that hatches beside its parent, with the same velocity.
pub(crate) fn child(
    beside: Position,
    along: Velocity,
    random: &mut Random,
) -> (Position, Velocity, Life) {
    let (x, y) = random.within(0.5);
    // It may be slightly outside of the sky: the next frame wraps it.
    let position = Position { x: beside.x + x, y: beside.y + y };
    (position, along, Life(LIFE_MAX * (0.5 + 0.5 * random.unit())))
}

/// A world of boids and predators, with the resources that the systems use.
pub(crate) fn world(boids: usize, seed: u64) -> World {
    let (sky, mut random) = (Sky::new(boids), Random::new(seed));
    let mut world = World::new();
    let flock = (0..boids).map(|_| boid(sky, &mut random));
    let flock = world.spawn_batch(flock).to_vec();
    for _ in 0..=boids / BOIDS_PER_PREDATOR {
        let (position, velocity, _) = boid(sky, &mut random);
        let prey = flock[random.below(flock.len())];
        world.spawn((position, velocity, Predator { prey }));
    }
    world.insert_resource(sky);
    world.insert_resource(Population(boids));
    world.insert_resource(Hatched::default());
    world.insert_resource(random);
    world
}
