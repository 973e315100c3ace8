use super::*;
use crate::forms::swap;
use bytemuck::Pod;

/// flecs runs systems one after another and splits each over the threads.
pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    for threads in [1, 2] {
        swapped(h, n, threads);
    }
}

fn swapped(h: &mut Harness, n: usize, threads: i32) {
    let w = abcde(n);
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
        |w| sums(w),
    );
}

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    for form in Form::OF_ONE {
        h.run(
            &form.of(""),
            swaps(n),
            |((ab, cd, ce), _)| {
                by_slices(ab, form);
                by_slices(cd, form);
                by_slices(ce, form);
            },
            |(_, w)| sums(w),
        );
    }
    h.run(
        "each",
        swaps(n),
        |((ab, cd, ce), _)| {
            ab.each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            cd.each(|(c, d)| std::mem::swap(&mut c.0, &mut d.0));
            ce.each(|(c, e)| std::mem::swap(&mut c.0, &mut e.0));
        },
        |(_, w)| sums(w),
    );
}

type Swap<X, Y> = Query<(&'static mut X, &'static mut Y)>;

type Swaps = (Swap<A, B>, Swap<C, D>, Swap<C, E>);

/// Queries first: they must be dropped before their world.
fn swaps(n: usize) -> (Swaps, World) {
    let w = abcde(n);
    let ab = w.query::<(&mut A, &mut B)>().set_cached().build();
    let cd = w.query::<(&mut C, &mut D)>().set_cached().build();
    let ce = w.query::<(&mut C, &mut E)>().set_cached().build();
    ((ab, cd, ce), w)
}

fn by_slices<X, Y>(q: &mut Swap<X, Y>, form: Form)
where
    X: ComponentId<UnderlyingType = X> + DataComponent + Pod,
    Y: ComponentId<UnderlyingType = Y> + DataComponent + Pod,
{
    q.run(|mut it| {
        while it.next() {
            let mut x = it.field_mut::<X>(0);
            let mut y = it.field_mut::<Y>(1);
            swap(form, x.as_mut_slice(), y.as_mut_slice());
        }
    });
}

fn abcde(n: usize) -> World {
    let w = World::new();
    for _ in 0..n / 4 {
        w.entity().set(A(1.0)).set(B(2.0));
        w.entity().set(A(1.0)).set(B(2.0)).set(C(3.0));
        w.entity().set(A(1.0)).set(B(2.0)).set(C(3.0)).set(D(4.0));
        w.entity().set(A(1.0)).set(B(2.0)).set(C(3.0)).set(E(5.0));
    }
    w
}

fn sums(w: &World) -> Outcome {
    let mut s = [0.0; 5];
    w.new_query::<&A>().each(|x| s[0] += f64::from(x.0));
    w.new_query::<&B>().each(|x| s[1] += f64::from(x.0));
    w.new_query::<&C>().each(|x| s[2] += f64::from(x.0));
    w.new_query::<&D>().each(|x| s[3] += f64::from(x.0));
    w.new_query::<&E>().each(|x| s[4] += f64::from(x.0));
    Outcome::Sums(s)
}
