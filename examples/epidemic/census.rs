//! Counts the agents in each state.

use crate::model::State;
use phalanx::prelude::*;
use std::ops::Add;

/// Agents in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) susceptible: u32,
    pub(crate) infected: u32,
    pub(crate) recovered: u32,
}

impl Counts {
    pub(crate) const fn total(self) -> u32 {
        self.susceptible + self.infected + self.recovered
    }

    /// The counts of a chunk.
    fn of(states: &[State]) -> Self {
        Self {
            susceptible: count(states, State::Susceptible),
            infected: count(states, State::Infected),
            recovered: count(states, State::Recovered),
        }
    }

    /// The counts of all agents, from the start.
    pub(crate) fn of_all(world: &World) -> Self {
        world.query::<&State>().iter().map(Self::of).fold(Self::default(), Add::add)
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            susceptible: self.susceptible + other.susceptible,
            infected: self.infected + other.infected,
            recovered: self.recovered + other.recovered,
        }
    }
}

/// The number of agents in this state.
#[kernel]
fn count(states: &[State], of: State) -> u32 {
    states.iter().map(|&state| u32::from(state == of)).sum()
}

/// The counts of each chunk. A chunk with unchanged states keeps its counts.
///
/// All agents have the same components, so there is one archetype, and the number of a chunk in it
/// is its place in the list.
#[derive(Debug, Default)]
pub(crate) struct Census {
    chunks: Vec<Counts>,
    /// The numbers of chunks that were counted and that were skipped.
    pub(crate) counted: u64,
    pub(crate) skipped: u64,
}

impl Census {
    /// Counts the chunks that a query yields.
    pub(crate) fn update(&mut self, changed: Query<&State, Changed<State>>) {
        let mut counted = 0;
        for chunk in changed.chunks() {
            let index = chunk.index();
            if index >= self.chunks.len() {
                self.chunks.resize(index + 1, Counts::default());
            }
            self.chunks[index] = Counts::of(chunk.slices());
            counted += 1;
        }
        self.counted += counted;
        self.skipped += self.chunks.len() as u64 - counted;
    }

    pub(crate) fn total(&self) -> Counts {
        self.chunks.iter().copied().fold(Counts::default(), Add::add)
    }
}
