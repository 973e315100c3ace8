use super::*;
use crate::passing::{Groups, passing};
use bevy_ecs::component::Mutable;

#[derive(Component)]
#[component(storage = "SparseSet")]
struct SparseTag;

#[derive(Component)]
#[component(storage = "SparseSet")]
struct SparseData(f32);

/// A tag in a sparse set; `[table]` has it in the tables.
pub(crate) fn toggle(h: &mut Harness, n: usize) {
    let no_value = |_: &_| 0.0;
    pass(h, "sparse set", Groups::Halves, n, |_| SparseTag, no_value);
    pass(h, "table", Groups::Halves, n, |_| New, |_| 0.0);
}

pub(crate) fn sparse(h: &mut Harness, n: usize) {
    pass(h, "sparse set", Groups::Random, n, SparseData, |data| data.0);
    pass(h, "table", Groups::Random, n, Data, |data| data.0);
}

fn pass<C: Component<Mutability = Mutable>>(
    h: &mut Harness,
    variant: &str,
    groups: Groups,
    n: usize,
    new: impl Fn(f32) -> C,
    value: impl Fn(&C) -> f32,
) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| Position::new(pos0(i)))).collect();
    passing(
        h,
        variant,
        groups,
        (w, e),
        |w, passed| {
            passed.to.iter().for_each(|&e| _ = w.entity_mut(e).insert(new(passed.value)));
            passed.from.iter().for_each(|&e| _ = w.entity_mut(e).remove::<C>());
        },
        |w, e| (w.get::<Position>(e).expect("alive").x, w.get::<C>(e).map(&value)),
        |w| w.query::<&C>().iter(w).count(),
    );
}
