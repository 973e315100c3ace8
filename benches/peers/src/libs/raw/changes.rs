use super::*;

pub(super) fn frame(h: &mut Harness, n: usize) {
    changed(h, n, true);
}

pub(super) fn scan(h: &mut Harness, n: usize) {
    changed(h, n, false);
}

/// The run of changed entities is known: nothing has to be searched.
fn changed(h: &mut Harness, n: usize, whole: bool) {
    h.run_part(
        "known run",
        whole,
        (positions(n), 0),
        |(p, frame)| {
            let run = &mut p[changed_start(*frame)..][..CHANGED_RUN];
            *frame += 1;
            black_box(&mut *run).iter_mut().for_each(|p| p.x += 1.0);
            let start = Instant::now();
            black_box(black_box(run).iter().map(|p| p.x).sum::<f32>());
            start.elapsed()
        },
        |(p, _)| Outcome::Sum(p.iter().map(|p| f64::from(p.x)).sum()),
    );
}
