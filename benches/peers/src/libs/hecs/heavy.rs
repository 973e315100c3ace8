use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        (heavy_world(n), PreparedQuery::<&mut Mat>::new()),
        |(w, q)| q.query_mut(w).for_each(|m| heavy(&mut m.0)),
        |(w, _)| Outcome::Sum(heavy_sum(w)),
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    h.run(
        "rayon",
        heavy_world(n),
        |w| {
            w.query_mut::<&mut Mat>()
                .into_iter_batched(64)
                .par_bridge()
                .for_each(|batch| batch.for_each(|m| heavy(&mut m.0)));
        },
        |w| Outcome::Sum(heavy_sum(w)),
    );
}
