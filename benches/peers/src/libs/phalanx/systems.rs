use super::kernels::{swap_ab, swap_cd, swap_ce};
use super::*;
use crate::forms::swap;

pub(crate) fn scheduler(h: &mut Harness, n: usize) {
    h.run("", (abcde(n), scheduled(None)), |(w, s)| run(w, s), |(w, _)| sums(w));
    h.run("one thread", (abcde(n), scheduled(Some(1))), |(w, s)| run(w, s), |(w, _)| sums(w));
}

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    h.run("", abcde(n), by_kernels, sums);
    h.run("plain loop", abcde(n), by_loops, sums);
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

fn by_kernels(w: &mut World) {
    for (a, b) in w.query_mut::<(&mut A, &mut B)>() {
        swap_ab(a, b);
    }
    for (c, d) in w.query_mut::<(&mut C, &mut D)>() {
        swap_cd(c, d);
    }
    for (c, e) in w.query_mut::<(&mut C, &mut E)>() {
        swap_ce(c, e);
    }
}

fn by_loops(w: &mut World) {
    for (a, b) in w.query_mut::<(&mut A, &mut B)>() {
        swap(Form::Structs, a, b);
    }
    for (c, d) in w.query_mut::<(&mut C, &mut D)>() {
        swap(Form::Structs, c, d);
    }
    for (c, e) in w.query_mut::<(&mut C, &mut E)>() {
        swap(Form::Structs, c, e);
    }
}

fn scheduled(threads: Option<usize>) -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(|ab: Query<(&mut A, &mut B)>| ab.into_iter().for_each(|(a, b)| swap_ab(a, b)));
    schedule.add(|cd: Query<(&mut C, &mut D)>| cd.into_iter().for_each(|(c, d)| swap_cd(c, d)));
    schedule.add(|ce: Query<(&mut C, &mut E)>| ce.into_iter().for_each(|(c, e)| swap_ce(c, e)));
    if let Some(threads) = threads {
        schedule.threads(threads);
    }
    schedule
}

fn run(w: &mut World, schedule: &mut Schedule) {
    schedule.run(w).expect("no system fails");
}

fn sums(w: &mut World) -> Outcome {
    let sums = [
        w.query::<&A>().iter().flatten().map(|x| x.0 as f64).sum(),
        w.query::<&B>().iter().flatten().map(|x| x.0 as f64).sum(),
        w.query::<&C>().iter().flatten().map(|x| x.0 as f64).sum(),
        w.query::<&D>().iter().flatten().map(|x| x.0 as f64).sum(),
        w.query::<&E>().iter().flatten().map(|x| x.0 as f64).sum(),
    ];
    Outcome::Sums(sums)
}
