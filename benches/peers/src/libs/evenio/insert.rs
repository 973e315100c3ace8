use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::new, |w, i| {
        let e = w.spawn();
        w.insert(e, Position::new(pos0(i)));
        w.add_handler(pos_sum_handler);
        asked_sum(w)
    });
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    h.run_fresh(
        "",
        World::new,
        |mut w| {
            spawn_full(&mut w, n);
            w
        },
        rows,
    );
}

fn rows(mut w: World) -> Outcome {
    w.add_handler(|_: Receiver<Sum>, f: Fetcher<(&Transform, &Position, &Velocity)>| {
        put(f.iter().map(|(t, p, v)| t.sum() + p.sum() + v.sum()).sum());
    });
    Outcome::Sum(asked_sum(&mut w))
}
