use super::*;
use crate::forms::swap;
use bevy_ecs::component::Mutable;
use bevy_tasks::{ComputeTaskPool, TaskPool};

macro_rules! system {
    ($name:ident, $a:ident, $b:ident) => {
        fn $name(mut q: Query<(&mut $a, &mut $b)>) {
            q.iter_mut().for_each(|(mut a, mut b)| std::mem::swap(&mut a.0, &mut b.0));
        }
    };
}
system!(ab, A, B);
system!(cd, C, D);
system!(ce, C, E);

pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    ComputeTaskPool::get_or_init(TaskPool::default);
    let mut rows = Schedule::default();
    rows.add_systems((ab, cd, ce));
    scheduled(h, n, "", rows);
    for form in Form::OF_ONE {
        for ticks in Ticks::ALL {
            scheduled(h, n, &form.of(ticks.slices()), contiguous(form, ticks));
            let mut single = contiguous(form, ticks);
            single.set_executor(bevy_ecs::schedule::SingleThreadedExecutor::new());
            scheduled(h, n, &form.of(&format!("{}, 1 thread", ticks.slices())), single);
        }
    }
}

/// Whether the rows of a slice are marked as changed.
#[derive(Clone, Copy)]
enum Ticks {
    Set,
    Bypassed,
}

impl Ticks {
    const ALL: [Self; 2] = [Self::Set, Self::Bypassed];

    fn slices(self) -> &'static str {
        match self {
            Self::Set => "contig",
            Self::Bypassed => "contig, no ticks",
        }
    }
}

fn scheduled(h: &mut Harness, n: usize, variant: &str, schedule: Schedule) {
    let state = (abcde(n), schedule);
    h.run(variant, state, |(w, schedule)| schedule.run(w), |(w, _)| sums(w));
}

fn contiguous(form: Form, ticks: Ticks) -> Schedule {
    let mut schedule = Schedule::default();
    schedule.add_systems((
        move |q: Query<(&mut A, &mut B)>| swap_slices(q, form, ticks),
        move |q: Query<(&mut C, &mut D)>| swap_slices(q, form, ticks),
        move |q: Query<(&mut C, &mut E)>| swap_slices(q, form, ticks),
    ));
    schedule
}

fn swap_slices<X, Y>(mut q: Query<(&mut X, &mut Y)>, form: Form, ticks: Ticks)
where
    X: Component<Mutability = Mutable> + Pod,
    Y: Component<Mutability = Mutable> + Pod,
{
    for (mut x, mut y) in q.contiguous_iter_mut().expect("dense") {
        match ticks {
            Ticks::Set => swap(form, &mut x, &mut y),
            Ticks::Bypassed => {
                swap(form, x.bypass_change_detection(), y.bypass_change_detection());
            }
        }
    }
}

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    type Swaps = (
        QueryState<(&'static mut A, &'static mut B)>,
        QueryState<(&'static mut C, &'static mut D)>,
        QueryState<(&'static mut C, &'static mut E)>,
    );
    let state = || {
        let mut w = abcde(n);
        let queries: Swaps = (w.query(), w.query(), w.query());
        (w, queries)
    };
    h.run(
        "",
        state(),
        |(w, (ab, cd, ce))| {
            ab.iter_mut(w).for_each(|(mut a, mut b)| std::mem::swap(&mut a.0, &mut b.0));
            cd.iter_mut(w).for_each(|(mut c, mut d)| std::mem::swap(&mut c.0, &mut d.0));
            ce.iter_mut(w).for_each(|(mut c, mut e)| std::mem::swap(&mut c.0, &mut e.0));
        },
        |(w, _)| sums(w),
    );
    for (form, ticks) in Form::OF_ONE.into_iter().flat_map(|form| Ticks::ALL.map(|t| (form, t))) {
        h.run(
            &form.of(ticks.slices()),
            state(),
            |(w, (ab, cd, ce))| {
                swap_slices(ab.query_mut(&mut *w), form, ticks);
                swap_slices(cd.query_mut(&mut *w), form, ticks);
                swap_slices(ce.query_mut(w), form, ticks);
            },
            |(w, _)| sums(w),
        );
    }
}

fn abcde(n: usize) -> World {
    let k = n / 4;
    let mut w = World::new();
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))));
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
