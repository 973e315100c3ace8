use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e: Vec<EntityId> = (0..n)
        .map(|i| {
            let e = w.spawn();
            w.insert(e, A(i as f32));
            e
        })
        .collect();
    h.run(
        "",
        (w, e),
        |(w, e)| {
            for &e in &*e {
                w.insert(e, B(0.0));
            }
            for &e in &*e {
                w.remove::<B>(e);
            }
        },
        |(w, e)| {
            let left_over = e.iter().filter(|&&e| w.get::<B>(e).is_some()).count();
            Outcome::kept(e.iter().map(|&e| w.get::<A>(e).expect("A").0), left_over)
        },
    );
}

pub(super) fn create_destroy(h: &mut Harness, n: usize) {
    h.run(
        "",
        (World::new(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<EntityId>)| {
            for i in 0..n {
                let e = w.spawn();
                w.insert(e, Position::new(pos0(i)));
                w.insert(e, Velocity::new(vel0(i)));
                es.push(e);
            }
            for e in es.drain(..) {
                w.despawn(e);
            }
        },
        |(w, _)| Outcome::Count(w.entities().len() as usize),
    );
}
