use super::*;

/// hecs has no scheduler: run the three systems in order, and the two that
/// do not conflict with rayon::join.
pub(super) fn schedule(h: &mut Harness, n: usize) {
    let make = || {
        let k = n / 4;
        let mut w = World::new();
        w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0))));
        w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0))));
        w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))));
        w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))));
        w
    };
    let sums = |w: &World| -> [f64; 5] {
        [
            w.query::<&A>().iter().map(|x| x.0 as f64).sum(),
            w.query::<&B>().iter().map(|x| x.0 as f64).sum(),
            w.query::<&C>().iter().map(|x| x.0 as f64).sum(),
            w.query::<&D>().iter().map(|x| x.0 as f64).sum(),
            w.query::<&E>().iter().map(|x| x.0 as f64).sum(),
        ]
    };
    fn ab(w: &World) {
        w.query::<(&mut A, &mut B)>().iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
    }
    fn cd(w: &World) {
        w.query::<(&mut C, &mut D)>().iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
    }
    fn ce(w: &World) {
        w.query::<(&mut C, &mut E)>().iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
    }
    h.run(
        "no scheduler, 1 thread",
        make(),
        |w| {
            ab(w);
            cd(w);
            ce(w);
        },
        |w| Outcome::Sums(sums(w)),
    );
    h.run(
        "rayon::join",
        make(),
        |w| {
            let w = &*w;
            rayon::join(
                || ab(w),
                || {
                    cd(w);
                    ce(w);
                },
            );
        },
        |w| Outcome::Sums(sums(w)),
    );
}
