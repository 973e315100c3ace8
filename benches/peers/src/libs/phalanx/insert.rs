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
            w.spawn_batch((0..n).map(row));
            w
        },
        rows,
    );
    h.run_fresh(
        "spawn_columns",
        World::new,
        |mut w| {
            let m: Vec<Transform> = (0..n).map(|_| black_box(Transform([1.0; 16]))).collect();
            let p: Vec<Position> = (0..n).map(|i| Position::new(pos0(i))).collect();
            let r: Vec<Rotation> = (0..n).map(|_| Rotation::new([0.0; 3])).collect();
            let v: Vec<Velocity> = (0..n).map(|i| Velocity::new(vel0(i))).collect();
            w.spawn_columns((&m[..], &p[..], &r[..], &v[..])).expect("columns");
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
                w.spawn(row(i));
            }
            w
        },
        rows,
    );
}

pub(super) fn rows(w: World) -> Outcome {
    let transforms: f64 = w.query::<&Transform>().iter().flatten().map(|t| t.sum()).sum();
    let velocities: f64 = w.query::<&Velocity>().iter().flatten().map(|v| v.sum()).sum();
    Outcome::Sum(pos_sum(&w) + transforms + velocities)
}
