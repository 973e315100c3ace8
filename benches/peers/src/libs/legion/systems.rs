use super::*;

pub(super) fn schedule(h: &mut Harness, n: usize) {
    let make = || {
        let k = n / 4;
        let mut w = World::default();
        w.extend((0..k).map(|_| (A(1.0), B(2.0))).collect::<Vec<_>>());
        w.extend((0..k).map(|_| (A(1.0), B(2.0), C(3.0))).collect::<Vec<_>>());
        w.extend((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))).collect::<Vec<_>>());
        w.extend((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))).collect::<Vec<_>>());
        w
    };
    macro_rules! sys {
        ($a:ident, $b:ident) => {
            legion::SystemBuilder::new(concat!(stringify!($a), stringify!($b)))
                .with_query(<(Write<$a>, Write<$b>)>::query())
                .build(|_, world: &mut SubWorld, _, q| {
                    q.for_each_chunk_mut(world, |c| {
                        let (a, b) = c.into_components();
                        for (a, b) in a.iter_mut().zip(b) {
                            std::mem::swap(&mut a.0, &mut b.0);
                        }
                    })
                })
        };
    }
    let s = Schedule::builder()
        .add_system(sys!(A, B))
        .add_system(sys!(C, D))
        .add_system(sys!(C, E))
        .build();
    h.run(
        "chunks",
        (make(), s, Resources::default()),
        |(w, s, r)| s.execute(w, r),
        |(w, _, _)| {
            let sums = [
                sum_of::<A>(w, |x| x.0 as f64),
                sum_of::<B>(w, |x| x.0 as f64),
                sum_of::<C>(w, |x| x.0 as f64),
                sum_of::<D>(w, |x| x.0 as f64),
                sum_of::<E>(w, |x| x.0 as f64),
            ];
            Outcome::Sums(sums)
        },
    );
}
