use super::passing::Apart;
use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        entities_with_a(n),
        |(w, e)| {
            for &e in &*e {
                w.insert(e, B(0.0)).expect("alive");
            }
        },
        |(w, e)| {
            for &e in &*e {
                w.remove::<B>(e).expect("has B");
            }
        },
        |(w, _)| holders(w),
        |(w, e)| kept(w, e),
    );
    h.run_halves(
        "sparse",
        entities_with_a(n),
        |(w, e)| {
            let mut values = w.sparse_mut::<Apart>();
            for &e in &*e {
                values.insert(e, Apart(0.0)).expect("alive");
            }
        },
        |(w, e)| {
            let mut values = w.sparse_mut::<Apart>();
            for &e in &*e {
                values.remove(e).expect("has a value");
            }
        },
        |(w, _)| w.sparse::<Apart>().len(),
        |(w, e)| {
            let left_over = w.sparse::<Apart>().len();
            Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
        },
    );
    // A component of every entity that is switched on and off: no row moves.
    h.run_halves(
        "enable bits",
        entities_with_switch(n),
        |(w, e)| {
            let mut switches = w.lookup_mut::<Switch>();
            for &e in &*e {
                switches.set_enabled(e, true).expect("alive");
            }
        },
        |(w, e)| {
            let mut switches = w.lookup_mut::<Switch>();
            for &e in &*e {
                switches.set_enabled(e, false).expect("has a switch");
            }
        },
        |(w, _)| switched_on(w),
        |(w, e)| switched_off(w, e),
    );
}

#[component(enableable)]
pub(super) struct Switch(f32);

/// Entities with the switch off.
fn entities_with_switch(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| (A(i as f32), Switch(0.0)))).to_vec();
    w.matching::<&A>().disable::<Switch>();
    (w, e)
}

fn switched_on(w: &World) -> usize {
    w.query::<&Switch>().count_rows()
}

fn switched_off(w: &World, e: &[Entity]) -> Outcome {
    Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), switched_on(w))
}

pub(crate) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        entities_with_a(n),
        |(w, _)| _ = w.matching::<&A>().insert(B(0.0)).expect("a row fits"),
        |(w, _)| _ = w.matching::<&B>().remove::<B>(),
        |(w, _)| holders(w),
        |(w, e)| kept(w, e),
    );
    h.run_halves(
        "enable bits",
        entities_with_switch(n),
        |(w, _)| _ = w.matching::<&A>().enable::<Switch>(),
        |(w, _)| _ = w.matching::<&A>().disable::<Switch>(),
        |(w, _)| switched_on(w),
        |(w, e)| switched_off(w, e),
    );
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
        |(w, _)| w.len(),
        |(w, _)| Outcome::Count(w.len()),
    );
}

pub(super) fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| A(i as f32))).to_vec();
    (w, e)
}

pub(super) fn kept(w: &World, e: &[Entity]) -> Outcome {
    Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), holders(w))
}

pub(super) fn holders(w: &World) -> usize {
    w.query::<&B>().count_rows()
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| w.get::<Data>(e).expect("has data").0);
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(wide)).to_vec();
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
        |w, e| e.iter().for_each(|&e| w.insert(e, New).expect("alive")),
        |w, e| e.iter().for_each(|&e| _ = w.remove::<New>(e).expect("is new")),
        |w, _| w.query::<&New>().count_rows(),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
