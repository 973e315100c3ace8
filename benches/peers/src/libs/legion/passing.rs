use super::*;
use crate::passing::{Groups, passing};
use legion::EntityStore;

pub(crate) fn toggle(h: &mut Harness, n: usize) {
    pass(h, Groups::Halves, n, |_| New, |_| 0.0);
}

pub(crate) fn sparse(h: &mut Harness, n: usize) {
    pass(h, Groups::Random, n, Data, |data| data.0);
}

fn pass<C: Component>(
    h: &mut Harness,
    groups: Groups,
    n: usize,
    new: impl Fn(f32) -> C,
    value: impl Fn(&C) -> f32,
) {
    let mut w = World::default();
    let e = w.extend((0..n).map(|i| (Position::new(pos0(i)),)).collect::<Vec<_>>()).to_vec();
    passing(
        h,
        "",
        groups,
        (w, e),
        |w, passed| {
            for &e in passed.to {
                w.entry(e).expect("alive").add_component(new(passed.value));
            }
            for &e in passed.from {
                w.entry(e).expect("alive").remove_component::<C>();
            }
        },
        |w, e| {
            let entry = w.entry_ref(e).expect("alive");
            let x = entry.get_component::<Position>().expect("has a position").x;
            (x, entry.get_component::<C>().ok().map(&value))
        },
        |w| <Read<C>>::query().iter(w).count(),
    );
}
