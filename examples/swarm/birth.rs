//! Creates particles: three nozzles that circle the centre.

use crate::model::{Charge, GRAVITY, Heat, Life, Position, Velocity, Weightless};
use std::f32::consts::TAU;

/// The most seconds that a particle lives.
const LIFE_MAX: f32 = 4.0;
const NOZZLES: u64 = 3;
/// Turns of the nozzles per second.
const TURNS: f32 = -0.15;
/// Probes on a side of a square tile: the probes of a tile fill a chunk of 16 KiB.
const TILE_SIDE: usize = 32;

/// A source of particles, the same for the same seed.
pub(crate) struct Births {
    state: u64,
}

impl Births {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A particle that leaves a nozzle at `time`.
    pub(crate) fn dust(&mut self, time: f32) -> (Position, Velocity, Life) {
        let nozzle = self.next() % NOZZLES;
        let angle = TAU * (TURNS * time + nozzle as f32 / NOZZLES as f32) + self.around(0.1);
        let (sin, cos) = angle.sin_cos();
        let radius = 0.6 + self.around(0.08);
        let position = Position { x: radius * cos, y: radius * sin, z: self.around(0.08) };
        // Slightly below the speed of a circular orbit, so that paths are rosettes.
        let speed = (GRAVITY / radius).sqrt() * (0.75 + self.around(0.15));
        let velocity = Velocity {
            x: -speed * sin + self.around(0.05),
            y: speed * cos + self.around(0.05),
            z: self.around(0.3),
        };
        (position, velocity, Life(LIFE_MAX * self.unit()))
    }

    /// Dust that is turned by the magnetic field.
    pub(crate) fn charged(&mut self, time: f32) -> (Position, Velocity, Life, Charge) {
        let (position, velocity, life) = self.dust(time);
        (position, velocity, life, Charge(if self.next().is_multiple_of(2) { 1.0 } else { -1.0 }))
    }

    /// Dust that flies in a straight line.
    pub(crate) fn weightless(&mut self, time: f32) -> (Position, Velocity, Life, Weightless) {
        let (position, velocity, life) = self.dust(time);
        (position, velocity, life, Weightless)
    }

    /// The next number of SplitMix64.
    const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    const fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// From `-reach` to below `reach`, with a peak at 0.
    const fn around(&mut self, reach: f32) -> f32 {
        (self.unit() + self.unit() - 1.0) * reach
    }
}

/// Probes in the floor, a square of square tiles: the most that fit in `n_max`.
///
/// They are spawned tile by tile. Entities spawned together are stored together, so a chunk of
/// probes is one patch of the floor, and heat in one place changes few chunks.
pub(crate) fn probes(n_max: usize) -> impl ExactSizeIterator<Item = (Position, Heat)> {
    let side = n_max.isqrt().min(TILE_SIDE);
    let tiles = n_max.isqrt() / side.max(1);
    let pitch = 2.0 / (tiles * side) as f32;
    let place = move |tile, cell| pitch * ((tile * side + cell) as f32 + 0.5) - 1.0;
    (0..(tiles * side).pow(2)).map(move |probe| {
        let (tile, cell) = (probe / (side * side), probe % (side * side));
        let x = place(tile % tiles, cell % side);
        let y = place(tile / tiles, cell / side);
        (Position { x, y, z: -1.0 }, Heat(0.0))
    })
}
