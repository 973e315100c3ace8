//! The systems of a step, and their order.

use crate::census::Census;
use crate::disease::{Chances, Infected};
use crate::model::{Place, Side, State};
use crate::random::{Key, Purpose};
use phalanx::prelude::*;

/// The seed of all random numbers, and the number of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) seed: u64,
    pub(crate) step: u32,
}

impl Clock {
    const fn key(self, purpose: Purpose) -> Key {
        Key::new(self.seed, self.step, purpose)
    }
}

/// All systems. Each needs the results of the one before it, so they run one after the other;
/// within each of them the chunks are divided among threads.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add((tick, walk, meet, progress)).chain();
    schedule.add(count).after(progress);
    schedule
}

fn tick(mut clock: ResMut<Clock>) {
    clock.step += 1;
}

/// Each agent goes to a cell beside its own, or stays.
fn walk(agents: Query<(Entity, &mut Place)>, clock: Res<Clock>, side: Res<Side>) {
    let (key, side) = (clock.key(Purpose::Walk), *side);
    agents.par().for_each_chunk(|(agents, places)| wander(agents, places, side.0, key));
}

/// Counts the infected agents of each cell.
fn meet(agents: Query<(&Place, &State)>, mut infected: ResMut<Infected>, side: Res<Side>) {
    infected.clear();
    let (infected, side) = (&*infected, *side);
    agents.par().for_each_chunk(|(places, states)| infected.add(places, states, side));
}

/// Susceptible agents become ill near ill ones, and ill agents recover after some time.
///
/// In many chunks no agent changes. For these the loop returns `Modified::No`, and their version
/// stays.
fn progress(
    agents: Query<(Entity, &Place, &mut State)>,
    infected: Res<Infected>,
    chances: Res<Chances>,
    clock: Res<Clock>,
    side: Res<Side>,
) {
    let (infected, chances) = (&*infected, &*chances);
    let step = (*side, clock.key(Purpose::Disease));
    agents.par().for_each_chunk(|(agents, places, states)| {
        chances.progress(agents, places, states, infected, step)
    });
}

/// Counts again where a state changed since the last step.
fn count(changed: Query<&State, Changed<State>>, mut census: ResMut<Census>) {
    census.update(changed);
}

/// Moves agents by -1, 0 or 1 along each axis, chosen by two bits of the random number.
#[kernel]
fn wander(agents: &[Entity], places: &mut [Place], side: u16, key: Key) {
    for (&agent, place) in agents.iter().zip(places) {
        let number = key.number(agent);
        place.x = moved(place.x, number, side);
        place.y = moved(place.y, number >> 2, side);
    }
}

/// The coordinate plus one for the bits 01, minus one for 10, and unchanged for 00 and 11.
#[inline(always)]
fn moved(at: u16, bits: u32, side: u16) -> u16 {
    let farther = if at + 1 == side { 0 } else { at + 1 };
    let nearer = if at == 0 { side - 1 } else { at - 1 };
    match bits & 3 {
        1 => farther,
        2 => nearer,
        _ => at,
    }
}
