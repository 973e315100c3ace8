use super::*;
use crate::passing::{Groups, passing};
use evenio::mutability::Mutable;

pub(crate) fn toggle(h: &mut Harness, n: usize) {
    pass(h, Groups::Halves, n, |_| New, |_| 0.0);
}

pub(crate) fn sparse(h: &mut Harness, n: usize) {
    pass(h, Groups::Random, n, Data, |data| data.0);
}

fn pass<C: Component<Mutability = Mutable>>(
    h: &mut Harness,
    groups: Groups,
    n: usize,
    new: impl Fn(f32) -> C,
    value: impl Fn(&C) -> f32,
) {
    let mut w = World::new();
    let spawn = |i| {
        let e = w.spawn();
        w.insert(e, Position::new(pos0(i)));
        e
    };
    let e: Vec<EntityId> = (0..n).map(spawn).collect();
    w.add_handler(|_: Receiver<Sum>, f: Fetcher<&C>| put(f.iter().count() as f64));
    passing(
        h,
        "",
        groups,
        (w, e),
        |w, passed| {
            passed.to.iter().for_each(|&e| w.insert(e, new(passed.value)));
            passed.from.iter().for_each(|&e| w.remove::<C>(e));
        },
        |w, e| (w.get::<Position>(e).expect("alive").x, w.get::<C>(e).map(&value)),
        |w| asked_sum(w) as usize,
    );
}
