use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn add_remove_one(h: &mut Harness, n: usize) {
    one_by_one(h, "", n);
}

/// Only the removal has a call for all.
pub(crate) fn add_remove_query(h: &mut Harness, n: usize) {
    one_by_one(h, "one by one", n);
    h.run_halves(
        "insert one, clear",
        entities_with_a(n),
        insert_in_each,
        |(w, _)| w.write_storage::<B>().clear(),
        |(w, _)| rows_of::<B>(w),
        |(w, e)| kept(w, e),
    );
}

fn insert_in_each((w, e): &mut (World, Vec<Entity>)) {
    let mut b = w.write_storage::<B>();
    for &e in &*e {
        let _ = b.insert(e, B(0.0));
    }
}

fn one_by_one(h: &mut Harness, variant: &str, n: usize) {
    h.run_halves(
        variant,
        entities_with_a(n),
        insert_in_each,
        |(w, e)| {
            let mut b = w.write_storage::<B>();
            for &e in &*e {
                b.remove(e);
            }
        },
        |(w, _)| rows_of::<B>(w),
        |(w, e)| kept(w, e),
    );
}

pub(super) fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = fresh();
    let e = (0..n).map(|i| w.create_entity().with(A(i as f32)).build()).collect();
    (w, e)
}

pub(super) fn kept(w: &World, e: &[Entity]) -> Outcome {
    let a = w.read_storage::<A>();
    Outcome::kept(e.iter().map(|&e| a.get(e).expect("A").0), rows_of::<B>(w))
}

pub(super) fn rows_of<C: Component>(w: &World) -> usize {
    w.read_storage::<C>().count()
}

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (fresh(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(
                    w.create_entity()
                        .with(Position::new(pos0(i)))
                        .with(Velocity::new(vel0(i)))
                        .build(),
                );
            }
        },
        |(w, es): &mut (World, Vec<Entity>)| {
            for e in es.drain(..) {
                w.delete_entity(e).expect("alive");
            }
        },
        |(w, _)| rows_of::<Position>(w),
        |(w, _)| Outcome::Count(rows_of::<Position>(w)),
    );
    h.run_halves(
        "delete_entities",
        (fresh(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(
                    w.create_entity()
                        .with(Position::new(pos0(i)))
                        .with(Velocity::new(vel0(i)))
                        .build(),
                );
            }
        },
        |(w, es): &mut (World, Vec<Entity>)| {
            w.delete_entities(es).expect("alive");
            es.clear();
        },
        |(w, _)| rows_of::<Position>(w),
        |(w, _)| Outcome::Count(rows_of::<Position>(w)),
    );
}

pub(crate) fn cold_archetypes(h: &mut Harness, archetypes: usize) {
    let world = iterate::tagged(archetypes, |i| i as f32);
    tagged_and_untagged(h, Pairs::cold(world), |w, e| {
        w.read_storage::<Data>().get(e).expect("has data").0
    });
}

pub(crate) fn add_remove_wide(h: &mut Harness, n: usize) {
    let mut w = fresh();
    w.register::<Quad>();
    w.register::<Tally>();
    w.register::<New>();
    let spawn = |i| {
        let (t, m, q, p, r, v, c, tally) = wide(i);
        let entity = w.create_entity().with(t).with(m).with(q).with(p);
        entity.with(r).with(v).with(c).with(tally).build()
    };
    let e = (0..n).map(spawn).collect();
    tagged_and_untagged(h, Pairs::in_order((w, e)), |w, e| {
        macro_rules! get {
            ($c:ident) => {
                *w.read_storage::<$c>().get(e).expect("wide")
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
        |w, e| {
            let mut new = w.write_storage();
            e.iter().for_each(|&e| _ = new.insert(e, New).expect("alive"));
        },
        |w, e| {
            let mut new = w.write_storage::<New>();
            e.iter().for_each(|&e| _ = new.remove(e));
        },
        |w, _| rows_of::<New>(w),
        |w, e, left| Outcome::kept(e.iter().map(|&e| value(w, e)), left),
    );
}
