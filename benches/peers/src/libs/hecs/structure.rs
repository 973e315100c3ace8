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
                w.insert_one(e, B(0.0)).expect("alive");
            }
        },
        |(w, e)| {
            for &e in &*e {
                w.remove_one::<B>(e).expect("has B");
            }
        },
        |(w, _)| holders(w),
        |(w, e)| kept(w, e),
    );
}

pub(super) fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| (A(i as f32),))).collect();
    (w, e)
}

pub(super) fn kept(w: &World, e: &[Entity]) -> Outcome {
    Outcome::kept(e.iter().map(|&e| w.get::<&A>(e).expect("A").0), holders(w))
}

pub(super) fn holders(w: &World) -> usize {
    w.query::<&B>().iter().count()
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(w.spawn((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
        },
        |(w, es): &mut (World, Vec<Entity>)| {
            for e in es.drain(..) {
                w.despawn(e).expect("alive");
            }
        },
        |(w, _)| w.len() as usize,
        |(w, _)| Outcome::Count(w.len() as usize),
    );
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| w.get::<&Data>(e).expect("has data").0);
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(wide)).collect();
    tagged_and_untagged(h, Pairs::in_order((w, e)), |w, e| {
        macro_rules! get {
            ($c:ident) => {
                *w.get::<&$c>(e).expect("wide")
            };
        }
        wide_sum!(get)
    });
}

fn tagged_and_untagged(
    h: &mut Harness,
    pairs: Pairs<World, Entity>,
    value: impl Fn(&World, Entity) -> f32,
) {
    pairs::run(
        h,
        "",
        pairs,
        |w, e| e.iter().for_each(|&e| w.insert_one(e, New).expect("alive")),
        |w, e| e.iter().for_each(|&e| _ = w.remove_one::<New>(e).expect("is new")),
        |w, _| w.query::<&New>().iter().count(),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
