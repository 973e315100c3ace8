use super::*;
use bevy_tasks::{ComputeTaskPool, TaskPool};

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        heavy_state(n),
        |(w, q)| q.iter_mut(w).for_each(|mut m| heavy(&mut m.0)),
        |(w, _)| Outcome::Sum(heavy_sum(w)),
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    ComputeTaskPool::get_or_init(TaskPool::default);
    h.run(
        "par_iter_mut",
        heavy_state(n),
        |(w, q)| q.par_iter_mut(w).for_each(|mut m| heavy(&mut m.0)),
        |(w, _)| Outcome::Sum(heavy_sum(w)),
    );
}
