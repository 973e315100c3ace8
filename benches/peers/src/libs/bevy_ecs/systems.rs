use super::*;
use bevy_tasks::{ComputeTaskPool, TaskPool};

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
    let sums = |w: &mut World| -> [f64; 5] {
        [
            sum_of::<A>(w, |x| x.0 as f64),
            sum_of::<B>(w, |x| x.0 as f64),
            sum_of::<C>(w, |x| x.0 as f64),
            sum_of::<D>(w, |x| x.0 as f64),
            sum_of::<E>(w, |x| x.0 as f64),
        ]
    };
    ComputeTaskPool::get_or_init(TaskPool::default);
    macro_rules! sys {
        ($plain:ident, $contig:ident, $a:ident, $b:ident) => {
            fn $plain(mut q: Query<(&mut $a, &mut $b)>) {
                q.iter_mut().for_each(|(mut a, mut b)| std::mem::swap(&mut a.0, &mut b.0));
            }
            fn $contig(mut q: Query<(&mut $a, &mut $b)>) {
                for (mut a, mut b) in q.contiguous_iter_mut().expect("dense") {
                    for (a, b) in a.iter_mut().zip(b.iter_mut()) {
                        std::mem::swap(&mut a.0, &mut b.0);
                    }
                }
            }
        };
    }
    sys!(ab, ab_c, A, B);
    sys!(cd, cd_c, C, D);
    sys!(ce, ce_c, C, E);
    let mut plain = Schedule::default();
    plain.add_systems((ab, cd, ce));
    let mut contig = Schedule::default();
    contig.add_systems((ab_c, cd_c, ce_c));
    let mut single = Schedule::default();
    single.add_systems((ab_c, cd_c, ce_c));
    single.set_executor(bevy_ecs::schedule::SingleThreadedExecutor::new());
    for (name, s) in [("", plain), ("contig", contig), ("contig, 1 thread", single)] {
        h.run(
            name,
            (make(), s),
            |(w, s)| {
                s.run(w);
            },
            |(w, _)| Outcome::Sums(sums(w)),
        );
    }
}
