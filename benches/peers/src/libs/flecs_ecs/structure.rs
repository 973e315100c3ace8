use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        entities_with_a(n),
        |(e, w)| {
            for &e in &*e {
                w.entity_from_id(e).set(B(0.0));
            }
        },
        |(e, w)| {
            for &e in &*e {
                w.entity_from_id(e).remove(B::id());
            }
        },
        |(_, w)| rows_of::<B>(w),
        |(e, w)| kept(w, e),
    );
}

pub(crate) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run_halves(
        "set one, remove_all",
        entities_with_a(n),
        |(e, w)| {
            for &e in &*e {
                w.entity_from_id(e).set(B(0.0));
            }
        },
        |(_, w)| w.remove_all(B::id()),
        |(_, w)| rows_of::<B>(w),
        |(e, w)| kept(w, e),
    );
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    let w = World::new();
    w.component::<Position>();
    w.component::<Velocity>();
    h.run_halves(
        "",
        (Vec::with_capacity(n), w),
        |(es, w): &mut (Vec<Entity>, World)| {
            for i in 0..n {
                es.push(w.entity().set(Position::new(pos0(i))).set(Velocity::new(vel0(i))).id());
            }
        },
        |(es, w): &mut (Vec<Entity>, World)| {
            for e in es.drain(..) {
                w.entity_from_id(e).destruct();
            }
        },
        |(_, w)| rows_of::<Position>(w),
        |(_, w)| Outcome::Count(rows_of::<Position>(w)),
    );
}

pub(super) fn entities_with_a(n: usize) -> (Vec<Entity>, World) {
    let w = World::new();
    let a: Vec<A> = (0..n).map(|i| A(i as f32)).collect();
    w.component::<B>();
    let e = w.entity_bulk(n as u32).set(&a).build();
    (e, w)
}

pub(super) fn kept(w: &World, e: &[Entity]) -> Outcome {
    let left_over = rows_of::<B>(w);
    Outcome::kept(e.iter().map(|&e| w.entity_from_id(e).get::<&A>(|a| a.0)), left_over)
}

/// Without a query, which would be an entity more in the world.
pub(super) fn rows_of<C: ComponentId>(w: &World) -> usize {
    usize::try_from(w.count(C::id())).expect("not negative")
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| {
        w.entity_from_id(e).get::<&Data>(|data| data.0)
    });
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let w = World::new();
    let spawn = |i| {
        let (t, m, q, p, r, v, c, tally) = wide(i);
        w.entity().set(t).set(m).set(q).set(p).set(r).set(v).set(c).set(tally).id()
    };
    let e = (0..n).map(spawn).collect();
    tagged_and_untagged(h, Pairs::in_order((w, e)), |w, e| {
        macro_rules! get {
            ($c:ident) => {
                w.entity_from_id(e).get::<&$c>(|value| *value)
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
        |w, e| e.iter().for_each(|&e| _ = w.entity_from_id(e).add(New::id())),
        |w, e| e.iter().for_each(|&e| _ = w.entity_from_id(e).remove(New::id())),
        |w, _| rows_of::<New>(w),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
