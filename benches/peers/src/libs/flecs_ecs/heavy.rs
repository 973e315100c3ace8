use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    let w = heavy_world(n);
    let q = w.query::<&mut Mat>().set_cached().build();
    h.run(
        "each",
        (q, w),
        |(q, _)| q.each(|m| heavy(&mut m.0)),
        |(_, w)| Outcome::Sum(heavy_sum(w)),
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    let w = heavy_world(n);
    w.system::<&mut Mat>().par_each(|m| heavy(&mut m.0));
    w.set_threads(2);
    h.run(
        "par_each system",
        w,
        |w| {
            w.progress();
        },
        |w| Outcome::Sum(heavy_sum(w)),
    );
}
