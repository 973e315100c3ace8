use super::*;

pub(super) fn schedule(h: &mut Harness, n: usize) {
    let k = n / 4;
    let mut w = World::new();
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0))));
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0), C(3.0))));
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))));
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))));
    macro_rules! sys {
        ($n:ident, $a:ident, $b:ident) => {
            fn $n(mut a: ViewMut<$a>, mut b: ViewMut<$b>) {
                (&mut a, &mut b).iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            }
        };
    }
    sys!(ab, A, B);
    sys!(cd, C, D);
    sys!(ce, C, E);
    Workload::new("swaps")
        .with_system(ab)
        .with_system(cd)
        .with_system(ce)
        .add_to_world(&w)
        .expect("workload");
    h.run(
        "",
        w,
        |w| w.run_workload("swaps").expect("runs"),
        |w| {
            let s = [
                w.run(|x: View<A>| x.iter().map(|x| x.0 as f64).sum()),
                w.run(|x: View<B>| x.iter().map(|x| x.0 as f64).sum()),
                w.run(|x: View<C>| x.iter().map(|x| x.0 as f64).sum()),
                w.run(|x: View<D>| x.iter().map(|x| x.0 as f64).sum()),
                w.run(|x: View<E>| x.iter().map(|x| x.0 as f64).sum()),
            ];
            Outcome::Sums(s)
        },
    );
}
