use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run(
        "",
        entities_with_a(n),
        |(w, e)| {
            for &e in &*e {
                w.entity_mut(e).insert(B(0.0));
            }
            for &e in &*e {
                w.entity_mut(e).remove::<B>();
            }
        },
        kept,
    );
}

pub(super) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run(
        "insert_batch, remove one",
        entities_with_a(n),
        |(w, e)| {
            w.insert_batch(e.iter().map(|&e| (e, B(0.0))));
            for &e in &*e {
                w.entity_mut(e).remove::<B>();
            }
        },
        kept,
    );
}

pub(super) fn create_destroy(h: &mut Harness, n: usize) {
    h.run(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(w.spawn((Position::new(pos0(i)), Velocity::new(vel0(i)))).id());
            }
            for e in es.drain(..) {
                assert!(w.despawn(e));
            }
        },
        |(w, _)| Outcome::Count(w.query::<&Position>().iter(w).count()),
    );
}

fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| A(i as f32))).collect();
    (w, e)
}

fn kept((w, e): &mut (World, Vec<Entity>)) -> Outcome {
    let left_over = w.query::<&B>().iter(w).count();
    Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
}
