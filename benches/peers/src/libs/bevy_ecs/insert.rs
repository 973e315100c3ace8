use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::new, |w, i| {
        w.spawn(Position::new(pos0(i)));
        pos_sum(w)
    });
}

pub(crate) fn batch(h: &mut Harness, n: usize) {
    h.run_fresh(
        "spawn_batch",
        World::new,
        |mut w| {
            w.spawn_batch((0..n).map(full));
            w
        },
        rows,
    );
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    h.run_fresh(
        "",
        World::new,
        |mut w| {
            for i in 0..n {
                w.spawn(full(i));
            }
            w
        },
        rows,
    );
}

pub(super) fn rows(mut w: World) -> Outcome {
    let transforms = sum_of::<Transform>(&mut w, |t| t.sum());
    let velocities = sum_of::<Velocity>(&mut w, |v| v.sum());
    Outcome::Sum(pos_sum(&mut w) + transforms + velocities)
}
