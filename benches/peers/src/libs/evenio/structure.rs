use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn add_remove_one(h: &mut Harness, n: usize) {
    one_by_one(h, "", n);
}

/// The library has no call for all matches of a query.
pub(crate) fn add_remove_query(h: &mut Harness, n: usize) {
    one_by_one(h, "one by one", n);
}

fn one_by_one(h: &mut Harness, variant: &str, n: usize) {
    h.run_halves(
        variant,
        entities_with_a(n),
        |(w, e)| {
            for &e in &*e {
                w.insert(e, B(0.0));
            }
        },
        |(w, e)| {
            for &e in &*e {
                w.remove::<B>(e);
            }
        },
        |(w, e)| holders::<B>(w, e),
        |(w, e)| kept(w, e),
    );
}

pub(super) fn entities_with_a(n: usize) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let spawn = |i| {
        let e = w.spawn();
        w.insert(e, A(i as f32));
        e
    };
    let e = (0..n).map(spawn).collect();
    (w, e)
}

pub(super) fn kept(w: &World, e: &[EntityId]) -> Outcome {
    let left_over = holders::<B>(w, e);
    Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
}

pub(super) fn holders<C: Component>(w: &World, e: &[EntityId]) -> usize {
    e.iter().filter(|&&e| w.get::<C>(e).is_some()).count()
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<EntityId>)| {
            for i in 0..n {
                let e = w.spawn();
                w.insert(e, Position::new(pos0(i)));
                w.insert(e, Velocity::new(vel0(i)));
                es.push(e);
            }
        },
        |(w, es): &mut (World, Vec<EntityId>)| {
            for e in es.drain(..) {
                w.despawn(e);
            }
        },
        |(w, _)| w.entities().len() as usize,
        |(w, _)| Outcome::Count(w.entities().len() as usize),
    );
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| w.get::<Data>(e).expect("has data").0);
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let spawn = |i| {
        let (t, m, q, p, r, v, c, tally) = wide(i);
        let e = w.spawn();
        w.insert(e, t);
        w.insert(e, m);
        w.insert(e, q);
        w.insert(e, p);
        w.insert(e, r);
        w.insert(e, v);
        w.insert(e, c);
        w.insert(e, tally);
        e
    };
    let e = (0..n).map(spawn).collect();
    tagged_and_untagged(h, Pairs::in_order((w, e)), |w, e| {
        macro_rules! get {
            ($c:ident) => {
                *w.get::<$c>(e).expect("wide")
            };
        }
        wide_sum!(get)
    });
}

fn tagged_and_untagged(
    h: &mut Harness,
    pairs: Pairs<World, EntityId>,
    value: impl Fn(&World, EntityId) -> f32,
) {
    pairs::run(
        h,
        "",
        pairs,
        |w, e| e.iter().for_each(|&e| w.insert(e, New)),
        |w, e| e.iter().for_each(|&e| w.remove::<New>(e)),
        |w, e| holders::<New>(w, e),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
