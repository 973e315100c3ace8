//! The components of the game, its rules, and the world at the start.

use crate::random::Random;
use phalanx::prelude::*;

/// A place in the arena, in metres, from (0, 0) to ([`ARENA`], [`ARENA`]).
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// Metres per second.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// Points of health. At zero and below the entity is despawned.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Health(pub(crate) i32);

/// A player, and the steps until its gun is loaded again.
#[component]
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) reload: u32,
}

/// An enemy of one of two kinds.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) enum Enemy {
    Runner,
    Brute,
}

/// A bullet, and the steps that it still flies.
#[component]
#[derive(Debug)]
pub(crate) struct Bullet {
    pub(crate) steps: u32,
}

/// The length of a side of the arena.
pub(crate) const ARENA: f32 = 96.0;
/// Steps per second, and the seconds of one step.
pub(crate) const RATE: u32 = 50;
pub(crate) const STEP: f32 = 1.0 / RATE as f32;
/// The distance at which a player sees an enemy.
pub(crate) const SIGHT: f32 = 16.0;
/// The distance at which a bullet hits, and at which an enemy bites.
pub(crate) const REACH: f32 = 0.6;
/// Steps between two shots of a player, and the speed of bullets.
pub(crate) const RELOAD: u32 = 3;
pub(crate) const BULLET_SPEED: f32 = 25.0;
/// The steps after which a bullet is gone: it flies a little farther than players see.
pub(crate) const BULLET_STEPS: u32 = 40;
/// The damage of a bullet and of a bite.
pub(crate) const BULLET_DAMAGE: i32 = 10;
pub(crate) const BITE_DAMAGE: i32 = 2;
const PLAYER_HEALTH: i32 = 2000;
const PLAYER_SPEED: f32 = 3.0;

impl Enemy {
    /// Metres per second.
    pub(crate) const fn speed(self) -> f32 {
        match self {
            Self::Runner => 4.0,
            Self::Brute => 2.0,
        }
    }

    const fn health(self) -> Health {
        match self {
            Self::Runner => Health(10),
            Self::Brute => Health(50),
        }
    }

    /// The points that its death adds to the score.
    pub(crate) const fn points(self) -> u64 {
        match self {
            Self::Runner => 1,
            Self::Brute => 5,
        }
    }
}

/// The highest number of enemies at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnemiesMax(pub(crate) usize);

/// The events of the game so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) points: u64,
    pub(crate) shots: u64,
    pub(crate) hits: u64,
    pub(crate) kills: u64,
    pub(crate) bites: u64,
}

/// An enemy at a random place of the edge. Every fourth is a brute, on average.
pub(crate) fn enemy(random: &mut Random) -> (Position, Velocity, Health, Enemy) {
    let along = ARENA * random.unit();
    let position = match random.below(4) {
        0 => Position { x: along, y: 0.0 },
        1 => Position { x: along, y: ARENA },
        2 => Position { x: 0.0, y: along },
        _ => Position { x: ARENA, y: along },
    };
    let kind = if random.below(4) == 0 { Enemy::Brute } else { Enemy::Runner };
    (position, Velocity::default(), kind.health(), kind)
}

/// A world with this number of players, near the middle, and the resources of the systems.
pub(crate) fn world(players: usize, enemies_max: usize, seed: u64, chunks: ChunkSize) -> World {
    let mut random = Random::new(seed);
    let mut world = World::builder().chunk_size(chunks).build();
    world.spawn_batch((0..players).map(|_| {
        let place = |random: &mut Random| ARENA * (0.25 + 0.5 * random.unit());
        let position = Position { x: place(&mut random), y: place(&mut random) };
        let velocity = Velocity { x: PLAYER_SPEED, y: 0.0 };
        (position, velocity, Health(PLAYER_HEALTH), Player { reload: 0 })
    }));
    world.insert_resource(EnemiesMax(enemies_max));
    world.insert_resource(Score::default());
    world.insert_resource(random);
    world
}
