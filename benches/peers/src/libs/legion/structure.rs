use super::*;
use crate::pairs::{self, Pairs};
use legion::EntityStore;

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
                w.entry(e).expect("alive").add_component(B(0.0));
            }
        },
        |(w, e)| {
            for &e in &*e {
                w.entry(e).expect("alive").remove_component::<B>();
            }
        },
        |(w, _)| rows_of::<B>(w),
        |(w, e)| kept(w, e),
    );
}

pub(super) fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::default();
    let e = w.extend((0..n).map(|i| (A(i as f32),)).collect::<Vec<_>>()).to_vec();
    (w, e)
}

pub(super) fn kept(w: &World, e: &[Entity]) -> Outcome {
    Outcome::kept(e.iter().map(|&e| component::<A>(w, e).0), rows_of::<B>(w))
}

pub(super) fn rows_of<C: Component>(w: &World) -> usize {
    <Read<C>>::query().iter(w).count()
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (World::default(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(w.push((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
        },
        |(w, es): &mut (World, Vec<Entity>)| {
            for e in es.drain(..) {
                assert!(w.remove(e));
            }
        },
        |(w, _)| w.len(),
        |(w, _)| Outcome::Count(w.len()),
    );
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| component::<Data>(w, e).0);
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = World::default();
    let e = w.extend((0..n).map(wide).collect::<Vec<_>>()).to_vec();
    tagged_and_untagged(h, Pairs::in_order((w, e)), |w, e| {
        macro_rules! get {
            ($c:ident) => {
                component::<$c>(w, e)
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
        |w, e| e.iter().for_each(|&e| w.entry(e).expect("alive").add_component(New)),
        |w, e| e.iter().for_each(|&e| w.entry(e).expect("alive").remove_component::<New>()),
        |w, _| rows_of::<New>(w),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}

fn component<C: Component + Copy>(w: &World, e: Entity) -> C {
    *w.entry_ref(e).expect("alive").into_component::<C>().expect("has it")
}
