use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run(
        "",
        entities_with_a(n),
        |(w, e)| {
            w.run(|ents: EntitiesView, mut b: ViewMut<B>| {
                for &e in &*e {
                    ents.add_component(e, &mut b, B(0.0));
                }
                for &e in &*e {
                    b.delete(e);
                }
            })
        },
        kept,
    );
}

pub(super) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run(
        "add one, clear",
        entities_with_a(n),
        |(w, e)| {
            w.run(|ents: EntitiesView, mut b: ViewMut<B>| {
                for &e in &*e {
                    ents.add_component(e, &mut b, B(0.0));
                }
                b.clear();
            })
        },
        kept,
    );
}

pub(super) fn create_destroy(h: &mut Harness, n: usize) {
    h.run(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<EntityId>)| {
            for i in 0..n {
                es.push(w.add_entity((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
            for e in es.drain(..) {
                assert!(w.delete_entity(e));
            }
        },
        |(w, _)| w.run(|p: View<Position>| Outcome::Count(p.len())),
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
