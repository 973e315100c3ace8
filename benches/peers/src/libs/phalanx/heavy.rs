use super::kernels::invert;
use super::*;
use rayon::prelude::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        matrices(n),
        |w| {
            for m in w.query_mut::<&mut Mat>() {
                invert(m);
            }
        },
        outcome,
    );
    // The same code at the instruction set of the build, as all peers have it.
    h.run(
        "plain loop",
        matrices(n),
        |w| {
            for m in w.query_mut::<&mut Mat>() {
                m.iter_mut().for_each(|m| heavy(&mut m.0));
            }
        },
        outcome,
    );
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    // Shares the rows if, after the first microseconds, the others seem to take 30 or more.
    h.run("", matrices(n), |w| w.query_mut::<&mut Mat>().par().for_each_chunk(invert), outcome);
    // Divides by chunks, for callers who know that a row is much work.
    h.run(
        "par_chunks",
        matrices(n),
        |w| w.query_mut::<&mut Mat>().par().chunks().for_each(invert),
        outcome,
    );
}

fn matrices(n: usize) -> World {
    let mut w = World::new();
    w.spawn_batch((0..n).map(|_| Mat(mat0())));
    w
}

fn outcome(w: &mut World) -> Outcome {
    let matrices = w.query::<&Mat>().into_iter().flatten();
    Outcome::Sum(matrices.map(|m| mat_sum(&m.0)).sum())
}
