//! The disease: its infection and its end.

use crate::model::{Place, Side, State};
use crate::random::Key;
use phalanx::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering};

/// The chance that one infected agent infects another in its cell, in one step.
const INFECTION: f64 = 0.03;
/// The chance that an infected agent recovers in one step.
const RECOVERY: f64 = 0.02;
/// More infected agents than this in one cell count as this many.
const MOST: usize = 63;

/// The number of infected agents in each cell.
///
/// Threads count in one map at the same time. Additions can be done in any order, so the counts do
/// not depend on the threads.
#[derive(Debug)]
pub(crate) struct Infected(Vec<AtomicU8>);

impl Infected {
    pub(crate) fn new(side: Side) -> Self {
        Self((0..side.cells()).map(|_| AtomicU8::new(0)).collect())
    }

    pub(crate) fn clear(&mut self) {
        self.0.par_iter_mut().for_each(|count| *count.get_mut() = 0);
    }

    /// Adds the infected agents of a chunk.
    pub(crate) fn add(&self, places: &[Place], states: &[State], side: Side) {
        let rows = places.iter().zip(states);
        for (&place, _) in rows.filter(|&(_, &state)| state == State::Infected) {
            let count = &self.0[side.cell(place)];
            let more = |count: u8| (usize::from(count) < MOST).then_some(count + 1);
            // An error means that the count is at its limit.
            let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }

    fn at(&self, place: Place, side: Side) -> usize {
        self.0[side.cell(place)].load(Ordering::Relaxed).into()
    }
}

/// The chances, as limits for random numbers of 32 bits: a number below the limit means yes.
#[derive(Debug)]
pub(crate) struct Chances {
    /// The chance to be infected among this many infected agents.
    infection: [u32; MOST + 1],
    recovery: u32,
}

impl Chances {
    pub(crate) fn new() -> Self {
        let mut healthy = 1.0;
        let infection = [(); MOST + 1].map(|()| {
            let limit = limit(1.0 - healthy);
            healthy *= 1.0 - INFECTION;
            limit
        });
        Self { infection, recovery: limit(RECOVERY) }
    }

    /// The step of the disease for the agents of a chunk. Returns whether a state changed.
    pub(crate) fn progress(
        &self,
        agents: &[Entity],
        places: &[Place],
        states: &mut [State],
        infected: &Infected,
        (side, key): (Side, Key),
    ) -> Modified {
        let mut modified = Modified::No;
        for ((&agent, &place), state) in agents.iter().zip(places).zip(states) {
            let (limit, next) = match *state {
                State::Susceptible => (self.infection[infected.at(place, side)], State::Infected),
                State::Infected => (self.recovery, State::Recovered),
                State::Recovered => continue,
            };
            if limit > 0 && key.number(agent) < limit {
                *state = next;
                modified = Modified::Yes;
            }
        }
        modified
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a chance is at most 1, and 1 saturates")]
#[expect(clippy::cast_sign_loss, reason = "a chance is not negative")]
fn limit(chance: f64) -> u32 {
    (chance * 4_294_967_296.0) as u32
}
