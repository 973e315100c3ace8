use super::kernels::{swap_ab, swap_cd, swap_ce};
use super::*;

pub(super) fn schedule(h: &mut Harness, n: usize) {
    let k = n / 4;
    let mut w = World::new();
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))));
    h.run(
        "by hand",
        w,
        |w| {
            for (a, b) in w.query_mut::<(&mut A, &mut B)>() {
                swap_ab(a, b);
            }
            for (a, b) in w.query_mut::<(&mut C, &mut D)>() {
                swap_cd(a, b);
            }
            for (a, b) in w.query_mut::<(&mut C, &mut E)>() {
                swap_ce(a, b);
            }
        },
        |w| {
            let sums = [
                w.query::<&A>().flatten().map(|x| x.0 as f64).sum(),
                w.query::<&B>().flatten().map(|x| x.0 as f64).sum(),
                w.query::<&C>().flatten().map(|x| x.0 as f64).sum(),
                w.query::<&D>().flatten().map(|x| x.0 as f64).sum(),
                w.query::<&E>().flatten().map(|x| x.0 as f64).sum(),
            ];
            Outcome::Sums(sums)
        },
    );
}
