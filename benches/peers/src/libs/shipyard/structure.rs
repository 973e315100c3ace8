use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        entities_with_a(n),
        add_to_each,
        |(w, e)| {
            w.run(|mut b: ViewMut<B>| {
                for &e in &*e {
                    b.delete(e);
                }
            })
        },
        |(w, _)| len_of::<B>(w),
        kept,
    );
}

pub(crate) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run_halves(
        "add one, clear",
        entities_with_a(n),
        add_to_each,
        |(w, _)| w.run(|mut b: ViewMut<B>| b.clear()),
        |(w, _)| len_of::<B>(w),
        kept,
    );
}

fn add_to_each((w, e): &mut (World, Vec<EntityId>)) {
    w.run(|entities: EntitiesView, mut b: ViewMut<B>| {
        for &e in &*e {
            entities.add_component(e, &mut b, B(0.0));
        }
    });
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<EntityId>)| {
            for i in 0..n {
                es.push(w.add_entity((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
        },
        |(w, es): &mut (World, Vec<EntityId>)| {
            for e in es.drain(..) {
                assert!(w.delete_entity(e));
            }
        },
        |(w, _)| len_of::<Position>(w),
        |(w, _)| Outcome::Count(len_of::<Position>(w)),
    );
}

fn entities_with_a(n: usize) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let e = w.bulk_add_entity((0..n).map(|i| A(i as f32))).collect();
    (w, e)
}

fn kept((w, e): &mut (World, Vec<EntityId>)) -> Outcome {
    w.run(|a: View<A>, b: View<B>| Outcome::kept(e.iter().map(|&e| a[e].0), b.len()))
}

fn len_of<C: Component<Tracking = track::Untracked> + Send + Sync>(w: &World) -> usize {
    w.run(|values: View<C>| values.len())
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| w.get::<&Data>(e).expect("has data").0);
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e = w.bulk_add_entity((0..n).map(wide)).collect();
    tagged_and_untagged(h, Pairs::in_order((w, e)), |w, e| {
        macro_rules! get {
            ($c:ident) => {
                **w.get::<&$c>(e).expect("wide")
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
        |w, e| {
            w.run(|entities: EntitiesView, mut new: ViewMut<New>| {
                e.iter().for_each(|&e| entities.add_component(e, &mut new, New));
            });
        },
        |w, e| {
            w.run(|mut new: ViewMut<New>| e.iter().for_each(|&e| _ = new.delete(e)));
        },
        |w, _| len_of::<New>(w),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
