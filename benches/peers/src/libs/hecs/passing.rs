use super::*;
use crate::passing::{Groups, passing};

pub(crate) fn toggle(h: &mut Harness, n: usize) {
    passing(
        h,
        "",
        Groups::Halves,
        spawned(n),
        |w, passed| {
            passed.to.iter().for_each(|&e| w.insert_one(e, New).expect("alive"));
            passed.from.iter().for_each(|&e| _ = w.remove_one::<New>(e).expect("is new"));
        },
        |w, e| (x(w, e), w.get::<&New>(e).is_ok().then_some(0.0)),
        |w| w.query::<&New>().iter().count(),
    );
}

pub(crate) fn sparse(h: &mut Harness, n: usize) {
    passing(
        h,
        "",
        Groups::Random,
        spawned(n),
        |w, passed| {
            passed.to.iter().for_each(|&e| w.insert_one(e, Data(passed.value)).expect("alive"));
            passed.from.iter().for_each(|&e| _ = w.remove_one::<Data>(e).expect("has data"));
        },
        |w, e| (x(w, e), w.get::<&Data>(e).ok().map(|data| data.0)),
        |w| w.query::<&Data>().iter().count(),
    );
}

fn spawned(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| (Position::new(pos0(i)),))).collect();
    (w, e)
}

fn x(w: &World, e: Entity) -> f32 {
    w.get::<&Position>(e).expect("alive").x
}
