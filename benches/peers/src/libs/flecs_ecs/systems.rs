use super::*;

/// flecs runs systems one after another and splits each over the threads.
pub(super) fn schedule(h: &mut Harness, n: usize) {
    for threads in [1, 2] {
        swapped(h, n, threads);
    }
}

fn swapped(h: &mut Harness, n: usize, threads: i32) {
    let k = n / 4;
    let w = World::new();
    for _ in 0..k {
        w.entity().set(A(1.0)).set(B(2.0));
        w.entity().set(A(1.0)).set(B(2.0)).set(C(3.0));
        w.entity().set(A(1.0)).set(B(2.0)).set(C(3.0)).set(D(4.0));
        w.entity().set(A(1.0)).set(B(2.0)).set(C(3.0)).set(E(5.0));
    }
    macro_rules! sys {
        ($a:ident, $b:ident) => {
            if threads == 1 {
                w.system::<(&mut $a, &mut $b)>().run(|mut it| {
                    while it.next() {
                        let mut a = it.field_mut::<$a>(0);
                        let mut b = it.field_mut::<$b>(1);
                        for (a, b) in a.as_mut_slice().iter_mut().zip(b.as_mut_slice()) {
                            std::mem::swap(&mut a.0, &mut b.0);
                        }
                    }
                });
            } else {
                w.system::<(&mut $a, &mut $b)>()
                    .par_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            }
        };
    }
    sys!(A, B);
    sys!(C, D);
    sys!(C, E);
    if threads > 1 {
        w.set_threads(threads);
    }
    h.run(
        if threads == 1 { "1 thread" } else { "par_each, 2 threads" },
        w,
        |w| {
            w.progress();
        },
        |w| {
            let mut s = [0.0; 5];
            w.new_query::<&A>().each(|x| s[0] += x.0 as f64);
            w.new_query::<&B>().each(|x| s[1] += x.0 as f64);
            w.new_query::<&C>().each(|x| s[2] += x.0 as f64);
            w.new_query::<&D>().each(|x| s[3] += x.0 as f64);
            w.new_query::<&E>().each(|x| s[4] += x.0 as f64);
            Outcome::Sums(s)
        },
    );
}
