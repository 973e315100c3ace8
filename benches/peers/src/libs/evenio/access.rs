use super::*;

pub(super) fn random_get(h: &mut Harness, n: usize) {
    let (mut w, e) = world_pv(n);
    let order: Vec<EntityId> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    w.add_handler(move |_: Receiver<Tick>, f: Fetcher<&Position>| {
        let mut s = 0f32;
        for &e in black_box(&order) {
            s += f.get(e).expect("alive").x;
        }
        put(s as f64);
    });
    h.run(
        "Fetcher::get",
        w,
        |w| w.send(Tick),
        |w| {
            w.send(Tick);
            Outcome::Sum(f64::from_bits(OUT.load(Ordering::Relaxed)))
        },
    );
}

pub(super) fn random_get_mut(h: &mut Harness, n: usize) {
    let (mut w, e) = world_pv(n);
    let order: Vec<EntityId> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    w.add_handler(move |_: Receiver<Tick>, mut f: Fetcher<&mut Position>| {
        for &e in black_box(&order) {
            f.get_mut(e).expect("alive").x += 1.0;
        }
    });
    w.add_handler(|_: Receiver<Sum>, f: Fetcher<&Position>| {
        put(f.iter().map(|p| p.x as f64).sum())
    });
    h.run("Fetcher::get_mut", w, |w| w.send(Tick), |w| Outcome::Sum(asked_sum(w)))
}
