use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    inverted(h, n, false);
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    inverted(h, n, true);
}

fn inverted(h: &mut Harness, n: usize, par: bool) {
    let mut w = World::new();
    for _ in 0..n {
        let e = w.spawn();
        w.insert(e, Mat(mat0()));
    }
    if par {
        w.add_handler(|_: Receiver<Tick>, f: Fetcher<&mut Mat>| {
            f.into_par_iter().for_each(|m| heavy(&mut m.0))
        });
    } else {
        w.add_handler(|_: Receiver<Tick>, f: Fetcher<&mut Mat>| {
            f.into_iter().for_each(|m| heavy(&mut m.0))
        });
    }
    w.add_handler(|_: Receiver<Sum>, f: Fetcher<&Mat>| put(f.iter().map(|m| mat_sum(&m.0)).sum()));
    h.run("", w, |w| w.send(Tick), |w| Outcome::Sum(asked_sum(w)))
}
