//! The result of a game.

use crate::model::{Bullet, Enemy, Health, Player, Position, Score};
use phalanx::error::MissingResource;
use phalanx::prelude::*;
use phalanx_examples::hash::fnv1a;
use std::fmt::{self, Display};

#[derive(Debug)]
pub(crate) struct Report {
    steps: u32,
    score: Score,
    players: usize,
    enemies: usize,
    bullets: usize,
    /// The hash of the places and the health, row by row: the same for any size of chunks.
    state: u64,
    /// The hash of the whole world, including its versions. It depends on the size of chunks.
    world: u64,
}

impl Report {
    /// # Errors
    ///
    /// If the world has no [`Score`].
    pub(crate) fn new(world: &World, steps: u32) -> Result<Self, MissingResource> {
        Ok(Self {
            steps,
            score: *world.resource::<Score>()?,
            players: world.query::<&Player>().count_rows(),
            enemies: world.query::<&Enemy>().count_rows(),
            bullets: world.query::<&Bullet>().count_rows(),
            state: state(world),
            world: world.hash(),
        })
    }
}

/// A hash of everything that a player would see.
fn state(world: &World) -> u64 {
    let all = world.query::<(&Position, Option<&Health>)>();
    fnv1a(all.rows().flat_map(|(position, health)| {
        let health = health.map_or(0, |health| health.0.cast_unsigned());
        [position.x.to_bits(), position.y.to_bits(), health]
    }))
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { steps, score, players, enemies, bullets, state, world } = self;
        let Score { points, shots, hits, kills, bites } = score;
        writeln!(f, "{steps} steps, score {points}")?;
        writeln!(f, "{shots} shots, {hits} hits, {kills} kills, {bites} bites")?;
        writeln!(f, "{players} players, {enemies} enemies, {bullets} bullets")?;
        writeln!(f, "state {state:016x}")?;
        write!(f, "world {world:016x}")
    }
}
