use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::default, |w, i| {
        w.push((Position::new(pos0(i)),));
        pos_sum(w)
    });
}

pub(crate) fn batch(h: &mut Harness, n: usize) {
    h.run_fresh(
        "extend",
        World::default,
        |mut w| {
            w.extend((0..n).map(full));
            w
        },
        rows,
    );
    h.run_fresh(
        "extend soa",
        World::default,
        |mut w| {
            let m: Vec<Transform> = (0..n).map(|_| black_box(Transform([1.0; 16]))).collect();
            let p: Vec<Position> = (0..n).map(|i| Position::new(pos0(i))).collect();
            let r: Vec<Rotation> = (0..n).map(|_| Rotation::new([0.0; 3])).collect();
            let v: Vec<Velocity> = (0..n).map(|i| Velocity::new(vel0(i))).collect();
            w.extend((m, p, r, v).into_soa());
            w
        },
        rows,
    );
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    h.run_fresh(
        "",
        World::default,
        |mut w| {
            for i in 0..n {
                w.push(full(i));
            }
            w
        },
        rows,
    );
}

pub(super) fn rows(w: World) -> Outcome {
    let transforms = sum_of::<Transform>(&w, |t| t.sum());
    let velocities = sum_of::<Velocity>(&w, |v| v.sum());
    Outcome::Sum(pos_sum(&w) + transforms + velocities)
}
