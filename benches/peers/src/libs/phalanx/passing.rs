use super::*;
use crate::passing::{Groups, passing};

#[component(enableable)]
struct Tag;
#[component(sparse)]
struct Mark;

/// A tag of all entities that is enabled and disabled; `[sparse]` is a sparse component, and
/// `[insert, remove]` one in columns.
pub(crate) fn toggle(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| (Position::new(pos0(i)), Tag))).to_vec();
    w.matching::<&Tag>().disable::<Tag>();
    passing(
        h,
        "",
        Groups::Halves,
        (w, e),
        |w, passed| {
            let mut tags = w.lookup_mut::<Tag>();
            for &e in passed.to {
                tags.set_enabled(e, true).expect("has the tag");
            }
            for &e in passed.from {
                tags.set_enabled(e, false).expect("has the tag");
            }
        },
        |w, e| (x(w, e), w.lookup_mut::<Tag>().is_enabled(e).expect("alive").then_some(0.0)),
        |w| w.query::<&Tag>().count_rows(),
    );
    passing(
        h,
        "sparse",
        Groups::Halves,
        spawned(n),
        |w, passed| {
            let mut marks = w.sparse_mut::<Mark>();
            passed.to.iter().for_each(|&e| _ = marks.insert(e, Mark).expect("alive"));
            passed.from.iter().for_each(|&e| _ = marks.remove(e).expect("is marked"));
        },
        |w, e| (x(w, e), w.has::<Mark>(e).then_some(0.0)),
        |w| w.sparse::<Mark>().len(),
    );
    passing(
        h,
        "insert, remove",
        Groups::Halves,
        spawned(n),
        |w, passed| {
            passed.to.iter().for_each(|&e| w.insert(e, New).expect("alive"));
            passed.from.iter().for_each(|&e| _ = w.remove::<New>(e).expect("is new"));
        },
        |w, e| (x(w, e), w.get::<New>(e).is_ok().then_some(0.0)),
        |w| w.query::<&New>().count_rows(),
    );
}

/// A value by entity, which lies outside of the archetypes.
#[component(sparse)]
pub(super) struct Apart(pub(super) f32);

/// A sparse component; `[insert, remove]` is a component in columns.
pub(crate) fn sparse(h: &mut Harness, n: usize) {
    passing(
        h,
        "",
        Groups::Random,
        spawned(n),
        |w, passed| {
            let mut data = w.sparse_mut::<Apart>();
            for &e in passed.to {
                data.insert(e, Apart(passed.value)).expect("alive");
            }
            for &e in passed.from {
                data.remove(e).expect("has a value");
            }
        },
        |w, e| (x(w, e), w.sparse::<Apart>().get(e).map(|data| data.0)),
        |w| w.sparse::<Apart>().iter().count(),
    );
    passing(
        h,
        "insert, remove",
        Groups::Random,
        spawned(n),
        |w, passed| {
            passed.to.iter().for_each(|&e| w.insert(e, Data(passed.value)).expect("alive"));
            passed.from.iter().for_each(|&e| _ = w.remove::<Data>(e).expect("has data"));
        },
        |w, e| (x(w, e), w.get::<Data>(e).ok().map(|data| data.0)),
        |w| w.query::<&Data>().count_rows(),
    );
}

fn spawned(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| Position::new(pos0(i)))).to_vec();
    (w, e)
}

fn x(w: &World, e: Entity) -> f32 {
    w.get::<Position>(e).expect("alive").x
}
