use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        heavy_world(n),
        |w| w.run(|mut m: ViewMut<Mat>| (&mut m).iter().for_each(|m| heavy(&mut m.0))),
        |w| Outcome::Sum(heavy_sum(w)),
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    h.run(
        "par_iter",
        heavy_world(n),
        |w| w.run(|mut m: ViewMut<Mat>| (&mut m).par_iter().for_each(|m| heavy(&mut m.0))),
        |w| Outcome::Sum(heavy_sum(w)),
    );
}
