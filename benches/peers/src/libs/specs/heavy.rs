use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        heavy_world(n),
        |w| (&mut w.write_storage::<Mat>()).join().for_each(|m| heavy(&mut m.0)),
        |w| Outcome::Sum(sum_of::<Mat>(w, |m| mat_sum(&m.0))),
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    h.run(
        "par_join",
        heavy_world(n),
        |w| (&mut w.write_storage::<Mat>()).par_join().for_each(|m| heavy(&mut m.0)),
        |w| Outcome::Sum(sum_of::<Mat>(w, |m| mat_sum(&m.0))),
    );
}
