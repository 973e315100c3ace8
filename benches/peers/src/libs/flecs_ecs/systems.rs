use super::*;
use crate::forms::swap;
use bytemuck::Pod;

/// flecs runs systems one after another and splits each over the threads.
pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    for form in Form::OF_ONE {
        let w = abcde(n);
        w.system::<(&mut A, &mut B)>().run(move |it| swap_tables::<A, B>(it, form));
        w.system::<(&mut C, &mut D)>().run(move |it| swap_tables::<C, D>(it, form));
        w.system::<(&mut C, &mut E)>().run(move |it| swap_tables::<C, E>(it, form));
        h.run(&form.of("1 thread"), w, |w| _ = w.progress(), |w| sums(w));
    }
    for form in Form::OF_ONE {
        let w = abcde(n);
        w.system::<(&mut A, &mut B)>().par_run(move |it| swap_tables::<A, B>(it, form));
        w.system::<(&mut C, &mut D)>().par_run(move |it| swap_tables::<C, D>(it, form));
        w.system::<(&mut C, &mut E)>().par_run(move |it| swap_tables::<C, E>(it, form));
        w.set_threads(2);
        h.run(&form.of("par_run, 2 threads"), w, |w| _ = w.progress(), |w| sums(w));
    }
    let w = abcde(n);
    w.system::<(&mut A, &mut B)>().par_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
    w.system::<(&mut C, &mut D)>().par_each(|(c, d)| std::mem::swap(&mut c.0, &mut d.0));
    w.system::<(&mut C, &mut E)>().par_each(|(c, e)| std::mem::swap(&mut c.0, &mut e.0));
    w.set_threads(2);
    h.run("par_each, 2 threads", w, |w| _ = w.progress(), |w| sums(w));
}

/// Swaps the columns of each table of a system or a query.
fn swap_tables<X, Y>(mut it: TableIter, form: Form)
where
    X: ComponentId<UnderlyingType = X> + DataComponent + Pod,
    Y: ComponentId<UnderlyingType = Y> + DataComponent + Pod,
{
    while it.next() {
        let mut x = it.field_mut::<X>(0);
        let mut y = it.field_mut::<Y>(1);
        swap(form, x.as_mut_slice(), y.as_mut_slice());
    }
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
    q.run(|it| swap_tables::<X, Y>(it, form));
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
