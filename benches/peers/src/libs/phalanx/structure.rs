use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run(
        "",
        entities_with_a(n),
        |(w, e)| {
            for &e in &*e {
                w.insert(e, B(0.0)).expect("alive");
            }
            for &e in &*e {
                w.remove::<B>(e).expect("has B");
            }
        },
        kept,
    );
}

pub(super) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run(
        "",
        entities_with_a(n),
        |(w, _)| {
            w.matching::<&A>().insert(B(0.0)).expect("a row fits");
            w.matching::<&B>().remove::<B>();
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
                es.push(w.spawn((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
            for e in es.drain(..) {
                w.despawn(e).expect("alive");
            }
        },
        |(w, _)| Outcome::Count(w.len()),
    );
}

fn entities_with_a(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| A(i as f32))).to_vec();
    (w, e)
}

fn kept((w, e): &mut (World, Vec<Entity>)) -> Outcome {
    let left_over = w.query::<&B>().iter().flatten().count();
    Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
}
