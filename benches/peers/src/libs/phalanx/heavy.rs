use super::kernels::invert;
use super::*;

pub(super) fn serial(h: &mut Harness, n: usize) {
    h.run(
        "",
        matrices(16, n),
        |w| {
            for m in w.query_mut::<&mut Mat>() {
                invert(m);
            }
        },
        outcome,
    );
}

pub(super) fn parallel(h: &mut Harness, n: usize) {
    // A thousand matrices are four chunks of 16 KiB: smaller ones divide better.
    for kib in [16, 4] {
        h.run(
            &chunk_variant(kib),
            matrices(kib, n),
            |w| w.query_mut::<&mut Mat>().par_for_each_chunk(invert),
            outcome,
        );
    }
}

fn matrices(chunk_kib: usize, n: usize) -> World {
    let mut w = world(chunk_kib);
    w.spawn_batch((0..n).map(|_| Mat(mat0())));
    w
}

fn outcome(w: &mut World) -> Outcome {
    let matrices = w.query::<&Mat>().flatten();
    Outcome::Sum(matrices.map(|m| mat_sum(&m.0)).sum())
}
