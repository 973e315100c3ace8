//! `hierarchy`: a forest of eight levels, in which the place of a node is the sum of all offsets on
//! the way from its root. The roots move in each step, so every place changes.

use crate::data::{pos0, shuffled};
use crate::harness::Harness;
use crate::outcome::Outcome;

pub(crate) const NODES: usize = 100_000;
/// A level has three times the nodes of the one above it; the last one is not quite full.
const ROOTS: usize = 31;
const GROWTH: usize = 3;

/// The parent of each node but the roots, level by level: a random node of the level above.
pub(crate) fn parents() -> Vec<usize> {
    let random = shuffled(NODES, 0x41E2_A2C4_0000_0001);
    let (mut parents, mut above, mut len) = (Vec::new(), 0, ROOTS);
    while above + len < NODES {
        let next = above + len;
        let below = (GROWTH * len).min(NODES - next);
        parents.extend(random[next..next + below].iter().map(|number| above + number % len));
        (above, len) = (next, GROWTH * len);
    }
    parents
}

/// A list outside of a world: the roots, and all other nodes with their parents, level by level.
#[derive(Clone)]
pub(crate) struct Forest<E> {
    pub(crate) roots: Vec<E>,
    pub(crate) links: Vec<Link<E>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Link<E> {
    pub(crate) child: E,
    pub(crate) parent: E,
}

impl<E: Copy> Forest<E> {
    /// The forest of these nodes.
    pub(crate) fn of(nodes: &[E]) -> Self {
        let link = |(&child, parent): (&E, usize)| Link { child, parent: nodes[parent] };
        Self {
            roots: nodes[..ROOTS].to_vec(),
            links: nodes[ROOTS..].iter().zip(parents()).map(link).collect(),
        }
    }
}

/// The components, defined for each library.
macro_rules! nodes {
    ([$($m:tt)*]) => {
        crate::components::components_vec3! { [$($m)*] Offset Place }
        impl Offset {
            fn of(node: usize) -> Self {
                Self::new($crate::data::pos0(node))
            }

            /// Moves a root, and returns its place.
            #[inline(always)]
            fn shift(&mut self) -> Place {
                self.x += 1.0;
                Place { x: self.x, y: self.y, z: self.z }
            }
        }
        impl Place {
            #[inline(always)]
            fn plus(self, offset: &Offset) -> Self {
                Self { x: self.x + offset.x, y: self.y + offset.y, z: self.z + offset.z }
            }

            fn numbers(self) -> [f32; 3] {
                [self.x, self.y, self.z]
            }
        }
    };
}
pub(crate) use nodes;

/// Runs the workload: `step` moves the roots and places all nodes, `places` returns the places of
/// the nodes in order.
pub(crate) fn hierarchy<S>(
    h: &mut Harness,
    variant: &str,
    state: S,
    step: impl FnMut(&mut S),
    mut places: impl FnMut(&mut S) -> Vec<[f32; 3]>,
) {
    h.run(variant, state, step, |state| outcome(places(state)));
}

fn outcome(places: Vec<[f32; 3]>) -> Outcome {
    Outcome::floats(places.into_iter().flatten())
}

/// The outcome after a number of steps: whole numbers, which are exact in any order.
pub(crate) fn expected(steps: u64) -> Outcome {
    let mut places: Vec<[f32; 3]> = (0..NODES).map(pos0).collect();
    places[..ROOTS].iter_mut().for_each(|place| place[0] += steps as f32);
    for (node, parent) in (ROOTS..).zip(parents()) {
        let above = places[parent];
        places[node].iter_mut().zip(above).for_each(|(place, above)| *place += above);
    }
    outcome(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forest_has_eight_levels_and_parents_come_first() {
        let mut levels = vec![1; NODES];
        for (node, parent) in (ROOTS..).zip(parents()) {
            assert!(parent < node);
            levels[node] = levels[parent] + 1;
        }
        assert_eq!(parents().len(), NODES - ROOTS);
        assert!(levels.is_sorted());
        assert_eq!(levels.last(), Some(&8));
    }

    #[test]
    fn every_step_moves_all_places() {
        assert_ne!(expected(2), expected(3));
    }
}
