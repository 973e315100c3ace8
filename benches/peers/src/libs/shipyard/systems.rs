use super::*;

macro_rules! system {
    ($name:ident, $a:ident, $b:ident) => {
        fn $name(mut a: ViewMut<$a>, mut b: ViewMut<$b>) {
            (&mut a, &mut b).iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
        }
    };
}
system!(ab, A, B);
system!(cd, C, D);
system!(ce, C, E);

pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    let w = abcde(n);
    let swaps = Workload::new("swaps").with_system(ab).with_system(cd).with_system(ce);
    swaps.add_to_world(&w).expect("workload");
    h.run("", w, |w| w.run_workload("swaps").expect("runs"), sums);
}

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    let in_order = |w: &mut World| {
        w.run(ab);
        w.run(cd);
        w.run(ce);
    };
    h.run("", abcde(n), in_order, sums);
}

fn abcde(n: usize) -> World {
    let k = n / 4;
    let mut w = World::new();
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0))));
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0), C(3.0))));
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))));
    w.bulk_add_entity((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))));
    w
}

fn sums(w: &mut World) -> Outcome {
    Outcome::Sums([
        w.run(|x: View<A>| x.iter().map(|x| f64::from(x.0)).sum()),
        w.run(|x: View<B>| x.iter().map(|x| f64::from(x.0)).sum()),
        w.run(|x: View<C>| x.iter().map(|x| f64::from(x.0)).sum()),
        w.run(|x: View<D>| x.iter().map(|x| f64::from(x.0)).sum()),
        w.run(|x: View<E>| x.iter().map(|x| f64::from(x.0)).sum()),
    ])
}
