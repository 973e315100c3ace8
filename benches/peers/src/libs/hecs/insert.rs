use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::new, |w, i| {
        w.spawn((Position::new(pos0(i)), Velocity::new(vel0(i))));
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
    h.run_fresh(
        "column_batch",
        World::new,
        |mut w| {
            let mut ty = ColumnBatchType::new();
            ty.add::<Transform>().add::<Position>().add::<Rotation>().add::<Velocity>();
            let b = ty.into_batch(n as u32);
            {
                let mut m = b.writer::<Transform>().expect("column");
                let mut p = b.writer::<Position>().expect("column");
                let mut r = b.writer::<Rotation>().expect("column");
                let mut v = b.writer::<Velocity>().expect("column");
                for i in 0..n {
                    let _ = m.push(black_box(Transform([1.0; 16])));
                    let _ = p.push(Position::new(pos0(i)));
                    let _ = r.push(Rotation::new([0.0; 3]));
                    let _ = v.push(Velocity::new(vel0(i)));
                }
            }
            w.spawn_column_batch(b.build().expect("full batch"));
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

pub(super) fn rows(w: World) -> Outcome {
    let transforms: f64 = w.query::<&Transform>().iter().map(|t| t.sum()).sum();
    let velocities: f64 = w.query::<&Velocity>().iter().map(|v| v.sum()).sum();
    Outcome::Sum(pos_sum(&w) + transforms + velocities)
}
