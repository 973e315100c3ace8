use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| A(i as f32))).to_vec();
    h.run(
        "",
        (w, e),
        |(w, e)| {
            for &e in &*e {
                w.insert(e, B(0.0)).expect("alive");
            }
            for &e in &*e {
                w.remove::<B>(e).expect("has B");
            }
        },
        |(w, e)| {
            let left_over = w.query::<&B>().flatten().count();
            Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
        },
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
