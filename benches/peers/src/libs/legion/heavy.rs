use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        heavy_state(n),
        |(w, q)| q.for_each_mut(w, |m| heavy(&mut m.0)),
        |(w, _)| Outcome::Sum(heavy_sum(w)),
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    h.run(
        "par_for_each_mut",
        heavy_state(n),
        |(w, q)| q.par_for_each_mut(w, |m| heavy(&mut m.0)),
        |(w, _)| Outcome::Sum(heavy_sum(w)),
    );
}
