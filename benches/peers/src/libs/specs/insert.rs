use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::new, |w, i| {
        w.register::<Position>();
        w.create_entity().with(Position::new(pos0(i))).build();
        pos_sum(w)
    });
}

pub(crate) fn batch(h: &mut Harness, n: usize) {
    h.run_fresh(
        "create_iter",
        fresh,
        |w| {
            {
                let ents = w.entities();
                let mut m = w.write_storage::<Transform>();
                let mut p = w.write_storage::<Position>();
                let mut r = w.write_storage::<Rotation>();
                let mut v = w.write_storage::<Velocity>();
                for (i, e) in ents.create_iter().take(n).enumerate() {
                    let _ = m.insert(e, black_box(Transform([1.0; 16])));
                    let _ = p.insert(e, Position::new(pos0(i)));
                    let _ = r.insert(e, Rotation::new([0.0; 3]));
                    let _ = v.insert(e, Velocity::new(vel0(i)));
                }
            }
            w
        },
        rows,
    );
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    h.run_fresh(
        "",
        fresh,
        |mut w| {
            spawn_full(&mut w, n);
            w
        },
        rows,
    );
}

fn rows(w: World) -> Outcome {
    let transforms = sum_of::<Transform>(&w, |t| t.sum());
    let velocities = sum_of::<Velocity>(&w, |v| v.sum());
    Outcome::Sum(pos_sum(&w) + transforms + velocities)
}
