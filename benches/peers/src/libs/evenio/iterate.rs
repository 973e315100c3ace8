use super::*;

pub(super) fn simple_iter(h: &mut Harness, n: usize) {
    let mut w = World::new();
    spawn_full(&mut w, n);
    w.add_handler(|_: Receiver<Tick>, f: Fetcher<(&mut Position, &Velocity)>| {
        f.into_iter().for_each(|(p, v)| {
            p.x += v.x;
            p.y += v.y;
            p.z += v.z;
        })
    });
    w.add_handler(pos_sum_handler);
    h.run("", w, |w| w.send(Tick), |w| Outcome::Sum(sum(w)))
}

pub(super) fn pos_vel(h: &mut Harness, n: usize) {
    let (mut w, _) = world_pv(n);
    w.add_handler(|_: Receiver<Tick>, f: Fetcher<(&mut Position, &Velocity)>| {
        f.into_iter().for_each(|(p, v)| {
            p.x += v.x * DT;
            p.y += v.y * DT;
            p.z += v.z * DT;
        })
    });
    w.add_handler(pos_sum_handler);
    h.run("", w, |w| w.send(Tick), |w| Outcome::Sum(sum(w)))
}

pub(super) fn fragmented_iter(h: &mut Harness, _: usize) {
    let mut w = World::new();
    macro_rules! spawn {
            ($($m:ident)*) => { $(
                for _ in 0..FRAGMENT_ROWS {
                    let e = w.spawn();
                    w.insert(e, $m(0.0));
                    w.insert(e, Data(1.0));
                }
            )* };
        }
    for_letters!(spawn);
    h.run("", with_data(w), |w| w.send(Tick), |w| Outcome::Sum(sum(w)))
}

/// schedule, changed_filter: evenio has neither a parallel scheduler nor change detection.
pub(super) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    let (w, _) = tagged(archetypes);
    h.run("", with_data(w), |w| w.send(Tick), |w| Outcome::Sum(sum(w)))
}

/// A world of many archetypes, and its entities in order. Tags come one by one, which leaves empty
/// archetypes behind.
pub(super) fn tagged(archetypes: usize) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let e = w.spawn();
        w.insert(e, Data(1.0));
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $( if mask >> $bit & 1 == 1 { w.insert(e, $t); } )* };
        }
        for_tags!(add);
        e
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(super) fn sum_column(h: &mut Harness, n: usize) {
    let mut w = World::new();
    for i in 0..n {
        let e = w.spawn();
        w.insert(e, Tally::new(tally0(i)));
        w.insert(e, Velocity::new(vel0(i)));
    }
    w.add_handler(|_: Receiver<Tick>, f: Fetcher<&Tally>| {
        put(f64::from(f.iter().fold(0, |sum: u32, t| sum.wrapping_add(t.sum()))));
    });
    h.run("", w, |w| w.send(Tick), |_| Outcome::Sum(f64::from_bits(OUT.load(Ordering::Relaxed))));
}
