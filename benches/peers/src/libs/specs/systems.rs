use super::*;

pub(super) fn schedule(h: &mut Harness, n: usize) {
    let k = n / 4;
    let mut w = fresh();
    for _ in 0..k {
        w.create_entity().with(A(1.0)).with(B(2.0)).build();
    }
    for _ in 0..k {
        w.create_entity().with(A(1.0)).with(B(2.0)).with(C(3.0)).build();
    }
    for _ in 0..k {
        w.create_entity().with(A(1.0)).with(B(2.0)).with(C(3.0)).with(D(4.0)).build();
    }
    for _ in 0..k {
        w.create_entity().with(A(1.0)).with(B(2.0)).with(C(3.0)).with(E(5.0)).build();
    }
    macro_rules! sys {
        ($n:ident, $a:ident, $b:ident) => {
            struct $n;
            impl<'a> System<'a> for $n {
                type SystemData = (WriteStorage<'a, $a>, WriteStorage<'a, $b>);
                fn run(&mut self, (mut a, mut b): Self::SystemData) {
                    (&mut a, &mut b).join().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
                }
            }
        };
    }
    sys!(SwapAB, A, B);
    sys!(SwapCD, C, D);
    sys!(SwapCE, C, E);
    let d = DispatcherBuilder::new()
        .with(SwapAB, "ab", &[])
        .with(SwapCD, "cd", &[])
        .with(SwapCE, "ce", &[])
        .build();
    h.run(
        "",
        (w, d),
        |(w, d)| d.dispatch(w),
        |(w, _)| {
            let s = [
                sum_of::<A>(w, |x| x.0 as f64),
                sum_of::<B>(w, |x| x.0 as f64),
                sum_of::<C>(w, |x| x.0 as f64),
                sum_of::<D>(w, |x| x.0 as f64),
                sum_of::<E>(w, |x| x.0 as f64),
            ];
            Outcome::Sums(s)
        },
    );
}
