use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<EntityId>)) {
    let (mut w, e) = world();
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

/// Rows in 16 archetypes, neighbours in different ones.
fn world_mixed(n: usize) -> (World, Vec<EntityId>) {
    let (mut w, e) = world_pv(n);
    for (i, &e) in e.iter().enumerate() {
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $(
                if i >> $bit & 1 == 1 {
                    w.insert(e, $t);
                }
            )* };
        }
        for_few_tags!(add);
    }
    (w, e)
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
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
