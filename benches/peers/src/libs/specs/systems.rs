use super::*;

macro_rules! system {
    ($name:ident, $a:ident, $b:ident) => {
        struct $name;
        impl<'a> System<'a> for $name {
            type SystemData = (WriteStorage<'a, $a>, WriteStorage<'a, $b>);
            fn run(&mut self, (mut a, mut b): Self::SystemData) {
                (&mut a, &mut b).join().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            }
        }
    };
}
system!(SwapAB, A, B);
system!(SwapCD, C, D);
system!(SwapCE, C, E);

pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    let d = DispatcherBuilder::new()
        .with(SwapAB, "ab", &[])
        .with(SwapCD, "cd", &[])
        .with(SwapCE, "ce", &[])
        .build();
    h.run("", (abcde(n), d), |(w, d)| d.dispatch(w), |(w, _)| sums(w));
}

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    let in_order = |w: &mut World| {
        SwapAB.run_now(w);
        SwapCD.run_now(w);
        SwapCE.run_now(w);
    };
    h.run("", abcde(n), in_order, sums);
}

fn abcde(n: usize) -> World {
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
    w
}

fn sums(w: &mut World) -> Outcome {
    Outcome::Sums([
        sum_of::<A>(w, |x| f64::from(x.0)),
        sum_of::<B>(w, |x| f64::from(x.0)),
        sum_of::<C>(w, |x| f64::from(x.0)),
        sum_of::<D>(w, |x| f64::from(x.0)),
        sum_of::<E>(w, |x| f64::from(x.0)),
    ])
}
