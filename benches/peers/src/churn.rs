//! `churn` and `spawn_despawn`: entities that come and go, beside many that stay.

use crate::data::{pos0, shuffled};
use crate::harness::Harness;
use crate::outcome::Outcome;

pub(crate) const CHURN_ENTITIES: usize = 100_000;
/// Entities that are replaced in a frame.
pub(crate) const REPLACED: usize = 1_000;
/// Archetypes of `churn`: the pairs of `for_pairs`.
pub(crate) const CHURN_KINDS: usize = 50;
/// Entities that live at the same time in `spawn_despawn`, and pairs of an iteration.
pub(crate) const RESIDENTS: usize = 10_000;

/// The archetype of an entity, as good as random.
pub(crate) fn kind_of(serial: usize) -> usize {
    ((serial as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % CHURN_KINDS
}

/// A frame of `churn`: the places of the replaced entities in the list of all, and the serial
/// number of the first new one.
#[derive(Clone, Copy)]
pub(crate) struct Replaced<'a> {
    pub(crate) places: &'a [usize],
    pub(crate) first: usize,
}

impl Replaced<'_> {
    /// The place, the serial number and the archetype of each new entity.
    pub(crate) fn births(self) -> impl ExactSizeIterator<Item = (usize, usize, usize)> {
        let with_kind = move |(i, &place): (usize, &usize)| {
            let serial = self.first + i;
            (place, serial, kind_of(serial))
        };
        self.places.iter().enumerate().map(with_kind)
    }
}

/// The frames of `churn`, each with other random places.
struct Frames {
    order: Vec<usize>,
    frame: usize,
}

impl Frames {
    fn new() -> Self {
        Self { order: shuffled(CHURN_ENTITIES, 0xC4A7_0000_0000_0001), frame: 0 }
    }

    fn next(&mut self) -> Replaced<'_> {
        let begin = self.frame * REPLACED % CHURN_ENTITIES;
        let first = CHURN_ENTITIES + self.frame * REPLACED;
        self.frame += 1;
        Replaced { places: &self.order[begin..begin + REPLACED], first }
    }
}

/// Runs `churn`: `replace` despawns the entities at these places of the list and puts new ones
/// there, `x` returns the value of an entity, `len` the number of all.
pub(crate) fn churn<W, E: Copy>(
    h: &mut Harness,
    variant: &str,
    (world, entities): (W, Vec<E>),
    mut replace: impl FnMut(&mut W, &mut [E], Replaced<'_>),
    mut x: impl FnMut(&W, E) -> f32,
    mut len: impl FnMut(&mut W) -> usize,
) {
    h.run(
        variant,
        (world, entities, Frames::new()),
        |(world, entities, frames)| replace(world, entities, frames.next()),
        |(world, entities, _)| {
            let len = len(world);
            Outcome::kept(entities.iter().map(|&entity| x(world, entity)), len)
        },
    );
}

/// The outcome of `churn`, from a list of serial numbers.
pub(crate) fn expected_churn(steps: u64) -> Outcome {
    let mut serials: Vec<usize> = (0..CHURN_ENTITIES).collect();
    let mut frames = Frames::new();
    for _ in 0..steps {
        frames.next().births().for_each(|(place, serial, _)| serials[place] = serial);
    }
    Outcome::kept(serials.into_iter().map(|serial| pos0(serial)[0]), CHURN_ENTITIES)
}

/// Runs `spawn_despawn`: `spawn` makes the entity of a serial number, and the oldest of the
/// residents goes after each.
pub(crate) fn spawn_despawn<W, E: Copy>(
    h: &mut Harness,
    variant: &str,
    mut world: W,
    spawn: impl Fn(&mut W, usize) -> E,
    despawn: impl Fn(&mut W, E),
    mut x: impl FnMut(&W, E) -> f32,
    mut len: impl FnMut(&mut W) -> usize,
) {
    let residents: Vec<E> = (0..RESIDENTS).map(|serial| spawn(&mut world, serial)).collect();
    h.run(
        variant,
        (world, residents, RESIDENTS),
        |(world, residents, serial)| {
            for resident in residents {
                let new = spawn(world, *serial);
                *serial += 1;
                despawn(world, std::mem::replace(resident, new));
            }
        },
        |(world, residents, _)| {
            let len = len(world);
            Outcome::kept(residents.iter().map(|&entity| x(world, entity)), len)
        },
    );
}

/// The outcome of `spawn_despawn`: each iteration replaces all residents in order.
pub(crate) fn expected_pairs(steps: u64) -> Outcome {
    let first = RESIDENTS * (steps as usize);
    Outcome::kept((first..first + RESIDENTS).map(|serial| pos0(serial)[0]), RESIDENTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_frame_replaces_different_entities_by_all_kinds() {
        let mut frames = Frames::new();
        let (first, second) = (frames.next().places.to_vec(), frames.next().places.to_vec());
        assert_ne!(first, second);
        let places: BTreeSet<_> = first.iter().chain(&second).collect();
        assert_eq!(places.len(), 2 * REPLACED);
        let kinds: BTreeSet<_> = frames.next().births().map(|(_, _, kind)| kind).collect();
        assert_eq!(kinds.len(), CHURN_KINDS);
    }
}
