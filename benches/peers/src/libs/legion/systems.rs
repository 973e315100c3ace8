use super::*;
use crate::forms::swap;
use bytemuck::Pod;

pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    for form in Form::OF_ONE {
        let s = Schedule::builder()
            .add_system(system::<A, B>(form))
            .add_system(system::<C, D>(form))
            .add_system(system::<C, E>(form))
            .build();
        h.run(
            &form.of("chunks"),
            (abcde(n), s, Resources::default()),
            |(w, s, r)| s.execute(w, r),
            |(w, ..)| sums(w),
        );
    }
}

fn system<X: Component + Pod, Y: Component + Pod>(form: Form) -> impl ParallelRunnable {
    legion::SystemBuilder::new("swap").with_query(<(Write<X>, Write<Y>)>::query()).build(
        move |_, world: &mut SubWorld, _, q| {
            q.for_each_chunk_mut(world, |c| {
                let (x, y) = c.into_components();
                swap(form, x, y);
            });
        },
    )
}

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    let queries = || {
        let (ab, cd) = (<(Write<A>, Write<B>)>::query(), <(Write<C>, Write<D>)>::query());
        (ab, cd, <(Write<C>, Write<E>)>::query())
    };
    h.run(
        "",
        (abcde(n), queries()),
        |(w, (ab, cd, ce))| {
            ab.for_each_mut(w, |(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            cd.for_each_mut(w, |(c, d)| std::mem::swap(&mut c.0, &mut d.0));
            ce.for_each_mut(w, |(c, e)| std::mem::swap(&mut c.0, &mut e.0));
        },
        |(w, _)| sums(w),
    );
    macro_rules! by_chunks {
        ($world:ident, $form:ident, $($query:ident)*) => { $(
            $query.for_each_chunk_mut($world, |c| {
                let (x, y) = c.into_components();
                swap($form, x, y);
            });
        )* };
    }
    for form in Form::OF_ONE {
        h.run(
            &form.of("chunks"),
            (abcde(n), queries()),
            |(w, (ab, cd, ce))| {
                by_chunks!(w, form, ab cd ce);
            },
            |(w, _)| sums(w),
        );
    }
}

fn abcde(n: usize) -> World {
    let k = n / 4;
    let mut w = World::default();
    w.extend((0..k).map(|_| (A(1.0), B(2.0))).collect::<Vec<_>>());
    w.extend((0..k).map(|_| (A(1.0), B(2.0), C(3.0))).collect::<Vec<_>>());
    w.extend((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))).collect::<Vec<_>>());
    w.extend((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))).collect::<Vec<_>>());
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
