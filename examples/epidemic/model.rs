//! The agents, their town, and the start of the epidemic.

use phalanx::prelude::*;

/// The cell of an agent: a column and a row of the town.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) x: u16,
    pub(crate) y: u16,
}

/// The state of the disease in an agent: one byte.
///
/// Three tags would also work: each state would be an archetype of its own. But in every step
/// some scattered agents change their state, and each of them would move to another archetype.
/// A byte is overwritten in its place.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) enum State {
    Susceptible,
    Infected,
    Recovered,
}

/// Agents per cell, on average.
const DENSITY: f64 = 4.0;
/// The agents that are ill at the start, in each outbreak.
const OUTBREAK: u32 = 10;

/// The side of the town in cells. An agent that leaves it on one side comes back on the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side(pub(crate) u16);

impl Side {
    #[expect(clippy::cast_possible_truncation, reason = "a float that is too large saturates")]
    #[expect(clippy::cast_sign_loss, reason = "a root is not negative")]
    fn of(agents: u32) -> Self {
        Self((f64::from(agents) / DENSITY).sqrt().ceil() as u16)
    }

    pub(crate) fn cells(self) -> usize {
        usize::from(self.0) * usize::from(self.0)
    }

    #[inline(always)]
    pub(crate) fn cell(self, place: Place) -> usize {
        usize::from(place.y) * usize::from(self.0) + usize::from(place.x)
    }
}

/// A world of agents that are spread evenly, cell by cell: the rows of a chunk are neighbours.
pub(crate) fn world(agents: u32, outbreaks: u32, chunks: ChunkSize) -> World {
    let side = Side::of(agents);
    let mut world = World::builder().chunk_size(chunks).build();
    world.spawn_batch((0..agents).map(|agent| {
        let cell = u64::from(agent) * side.cells() as u64 / u64::from(agents);
        let state =
            if is_ill(agent, agents, outbreaks) { State::Infected } else { State::Susceptible };
        (place(cell, side), state)
    }));
    world.insert_resource(side);
    world
}

#[expect(clippy::cast_possible_truncation, reason = "a column and a row are below the side")]
fn place(cell: u64, side: Side) -> Place {
    let side = u64::from(side.0);
    Place { x: (cell % side) as u16, y: (cell / side) as u16 }
}

/// The outbreaks begin at equal distances in the list of agents.
fn is_ill(agent: u32, agents: u32, outbreaks: u32) -> bool {
    let apart = (agents / outbreaks).max(1);
    // Half of the distance comes before the first one.
    (agent + apart - apart / 2) % apart < OUTBREAK
}
