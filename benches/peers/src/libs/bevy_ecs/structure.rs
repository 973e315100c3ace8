use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        entities_with_a(n),
        |(w, e)| {
            for &e in &*e {
                w.entity_mut(e).insert(B(0.0));
            }
        },
        |(w, e)| {
            for &e in &*e {
                w.entity_mut(e).remove::<B>();
            }
        },
        |(w, _)| rows_of::<B>(w),
        |(w, e)| kept(w, e),
    );
}

pub(crate) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run_halves(
        "insert_batch, remove one",
        entities_with_a(n),
        |(w, e)| w.insert_batch(e.iter().map(|&e| (e, B(0.0)))),
        |(w, e)| {
            for &e in &*e {
                w.entity_mut(e).remove::<B>();
            }
        },
        |(w, _)| rows_of::<B>(w),
        |(w, e)| kept(w, e),
    );
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(w.spawn((Position::new(pos0(i)), Velocity::new(vel0(i)))).id());
            }
        },
        |(w, es): &mut (World, Vec<Entity>)| {
            for e in es.drain(..) {
                assert!(w.despawn(e));
            }
        },
        |(w, _)| rows_of::<Position>(w),
        |(w, _)| Outcome::Count(rows_of::<Position>(w)),
    );
}

pub(super) fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| A(i as f32))).collect();
    (w, e)
}

pub(super) fn kept(w: &mut World, e: &[Entity]) -> Outcome {
    let left_over = rows_of::<B>(w);
    Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
}

pub(super) fn rows_of<C: Component>(w: &mut World) -> usize {
    w.query::<&C>().iter(w).count()
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| w.get::<Data>(e).expect("has data").0);
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(wide)).collect();
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
    pairs: Pairs<World, Entity>,
    value: impl Fn(&World, Entity) -> f32,
) {
    pairs::run(
        h,
        "",
        pairs,
        |w, e| e.iter().for_each(|&e| _ = w.entity_mut(e).insert(New)),
        |w, e| e.iter().for_each(|&e| _ = w.entity_mut(e).remove::<New>()),
        |w, _| rows_of::<New>(w),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
