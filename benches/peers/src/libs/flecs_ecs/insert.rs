use super::*;

pub(crate) fn world_new(h: &mut Harness, n: usize) {
    h.run_worlds(n, World::new, |w, i| {
        w.entity().set(Position::new(pos0(i)));
        pos_sum(w)
    });
}

pub(crate) fn batch(h: &mut Harness, n: usize) {
    h.run_fresh(
        "entity_bulk",
        fresh,
        |w| {
            bulk_full(&w, n);
            w
        },
        rows,
    );
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    for defer in [false, true] {
        h.run_fresh(
            if defer { "deferred" } else { "" },
            fresh,
            |w| {
                if defer {
                    w.defer_begin();
                }
                for i in 0..n {
                    w.entity()
                        .set(Position::new(pos0(i)))
                        .set(Rotation::new([0.0; 3]))
                        .set(Velocity::new(vel0(i)))
                        // The widest last: each `set` moves the components already present.
                        .set(black_box(Transform([1.0; 16])));
                }
                if defer {
                    w.defer_end();
                }
                w
            },
            rows,
        );
    }
}

pub(super) fn rows(w: World) -> Outcome {
    let mut sum = pos_sum(&w);
    w.new_query::<&Transform>().each(|t| sum += t.sum());
    w.new_query::<&Velocity>().each(|v| sum += v.sum());
    Outcome::Sum(sum)
}
