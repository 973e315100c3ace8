//! Workloads that add a component to many entities and afterwards remove it from all of them.

use crate::data::cold_orders;
use crate::harness::Harness;
use crate::outcome::Outcome;

/// A world, and its entities in three orders.
pub(crate) struct Pairs<W, E> {
    world: W,
    /// In the order of spawning.
    all: Vec<E>,
    /// The entities that receive the component.
    add: Vec<E>,
    /// The same entities, in the order of the removals.
    remove: Vec<E>,
}

impl<W, E: Copy> Pairs<W, E> {
    /// Every entity, in the order of the rows.
    pub(crate) fn in_order((world, all): (W, Vec<E>)) -> Self {
        Self { world, add: all.clone(), remove: all.clone(), all }
    }

    /// Half of the entities, in two random orders: an entity is rarely in the archetype of the last
    /// one.
    pub(crate) fn cold((world, all): (W, Vec<E>)) -> Self {
        let [add, remove] = cold_orders();
        let of = |order: Vec<usize>| order.into_iter().map(|i| all[i]).collect();
        Self { world, add: of(add), remove: of(remove), all }
    }
}

/// Runs the pairs. `holders` counts the entities with the component. `kept` receives their number
/// at the end, and returns it with the remaining values of all entities.
pub(crate) fn run<W, E>(
    h: &mut Harness,
    variant: &str,
    pairs: Pairs<W, E>,
    mut add: impl FnMut(&mut W, &[E]),
    mut remove: impl FnMut(&mut W, &[E]),
    holders: impl Fn(&mut W, &[E]) -> usize,
    mut kept: impl FnMut(&mut W, &[E], usize) -> Outcome,
) {
    h.run_halves(
        variant,
        pairs,
        |pairs| add(&mut pairs.world, &pairs.add),
        |pairs| remove(&mut pairs.world, &pairs.remove),
        |pairs| holders(&mut pairs.world, &pairs.all),
        |pairs| {
            let left = holders(&mut pairs.world, &pairs.all);
            kept(&mut pairs.world, &pairs.all, left)
        },
    );
}
