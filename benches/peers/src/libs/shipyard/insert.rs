use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::new, |w, i| {
        w.add_entity(Position::new(pos0(i)));
        pos_sum(w)
    });
}

pub(crate) fn batch(h: &mut Harness, n: usize) {
    h.run_fresh(
        "bulk_add_entity",
        World::new,
        |mut w| {
            w.bulk_add_entity((0..n).map(full));
            w
        },
        rows,
    );
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    h.run_fresh(
        "",
        World::new,
        |w| {
            w.run(
                |mut e: EntitiesViewMut,
                 mut m: ViewMut<Transform>,
                 mut p: ViewMut<Position>,
                 mut r: ViewMut<Rotation>,
                 mut v: ViewMut<Velocity>| {
                    for i in 0..n {
                        e.add_entity((&mut m, &mut p, &mut r, &mut v), full(i));
                    }
                },
            );
            w
        },
        rows,
    );
}

pub(super) fn rows(w: World) -> Outcome {
    let transforms: f64 = w.run(|t: View<Transform>| t.iter().map(|t| t.sum()).sum());
    let velocities: f64 = w.run(|v: View<Velocity>| v.iter().map(|v| v.sum()).sum());
    Outcome::Sum(pos_sum(&w) + transforms + velocities)
}
