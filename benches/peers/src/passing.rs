//! `toggle` and `sparse_add_remove`: a component that passes from one group of entities to the next
//! in each step, and so is added and removed as often in each.

use crate::data::{pos0, shuffled};
use crate::harness::Harness;
use crate::outcome::Outcome;

pub(crate) const TOGGLED_ENTITIES: usize = 10_000;
pub(crate) const SPARSE_ENTITIES: usize = 100_000;
/// Entities of `sparse_add_remove` that have the component: one in a hundred.
pub(crate) const SPARSE_HOLDERS: usize = SPARSE_ENTITIES / 100;

/// The groups of a workload, as numbers of entities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Groups {
    /// The even numbers, and the odd ones.
    Halves,
    /// A hundred groups in random order.
    Random,
}

impl Groups {
    fn numbers(self) -> Vec<Vec<usize>> {
        match self {
            Self::Halves => {
                [0, 1].map(|first| (first..TOGGLED_ENTITIES).step_by(2).collect()).into()
            }
            Self::Random => {
                let order = shuffled(SPARSE_ENTITIES, 0x5BA2_5E00_0000_0001);
                order.chunks(SPARSE_HOLDERS).map(<[_]>::to_vec).collect()
            }
        }
    }

    fn entities(self) -> usize {
        match self {
            Self::Halves => TOGGLED_ENTITIES,
            Self::Random => SPARSE_ENTITIES,
        }
    }
}

/// A step: the entities that get the component, its value, and the entities that lose it.
#[derive(Clone, Copy)]
pub(crate) struct Passed<'a, E> {
    pub(crate) to: &'a [E],
    pub(crate) value: f32,
    pub(crate) from: &'a [E],
}

/// The value in a step. A tag has none, and counts as 0.
fn value(groups: Groups, step: u64) -> f32 {
    match groups {
        Groups::Halves => 0.0,
        Groups::Random => (step % 1_024) as f32,
    }
}

/// Runs a workload on a world and its entities in order, all without the component: `pass` makes a
/// step, `read` returns the `x` of an entity and the value that it holds, and `holders` the
/// number of rows that a query of the component finds.
pub(crate) fn passing<W, E: Copy>(
    h: &mut Harness,
    variant: &str,
    groups: Groups,
    (mut world, entities): (W, Vec<E>),
    mut pass: impl FnMut(&mut W, Passed<'_, E>),
    mut read: impl FnMut(&mut W, E) -> (f32, Option<f32>),
    mut holders: impl FnMut(&mut W) -> usize,
) {
    let of = |numbers: Vec<usize>| numbers.into_iter().map(|number| entities[number]).collect();
    let lists: Vec<Vec<E>> = groups.numbers().into_iter().map(of).collect();
    pass(&mut world, Passed { to: &lists[0], value: value(groups, 0), from: &[] });
    let list = |step: u64| &lists[step as usize % lists.len()][..];
    h.run(
        variant,
        (world, 0),
        |(world, step)| {
            let from = list(*step);
            *step += 1;
            pass(world, Passed { to: list(*step), value: value(groups, *step), from });
        },
        |(world, _)| {
            let rows: Vec<_> = entities.iter().map(|&entity| read(world, entity)).collect();
            outcome(rows, holders(world))
        },
    );
}

fn outcome(rows: Vec<(f32, Option<f32>)>, holders: usize) -> Outcome {
    Outcome::kept(rows.into_iter().flat_map(|(x, held)| [x, held.unwrap_or(-1.0)]), holders)
}

/// The outcome after a number of steps.
pub(crate) fn expected(groups: Groups, steps: u64) -> Outcome {
    let lists = groups.numbers();
    let list = &lists[steps as usize % lists.len()];
    let mut rows: Vec<_> = (0..groups.entities()).map(|i| (pos0(i)[0], None)).collect();
    list.iter().for_each(|&number| rows[number].1 = Some(value(groups, steps)));
    outcome(rows, list.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_entity_is_in_one_group() {
        for (groups, count) in [(Groups::Halves, 2), (Groups::Random, 100)] {
            let lists = groups.numbers();
            assert_eq!(lists.len(), count);
            assert!(lists.iter().all(|list| list.len() == lists[0].len()));
            let all: BTreeSet<_> = lists.into_iter().flatten().collect();
            assert_eq!(all, (0..groups.entities()).collect());
        }
    }

    #[test]
    fn neighbouring_steps_have_different_outcomes() {
        for groups in [Groups::Halves, Groups::Random] {
            assert_ne!(expected(groups, 2), expected(groups, 3));
        }
    }
}
