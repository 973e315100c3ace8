use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
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
    h.run("", w, |w| w.send(Tick), |w| Outcome::Sum(asked_sum(w)));
    let full = || {
        let mut w = World::new();
        spawn_full(&mut w, n);
        w
    };
    by_columns(h, full, add);
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    let (mut w, _) = world_pv(n);
    w.add_handler(|_: Receiver<Tick>, f: Fetcher<(&mut Position, &Velocity)>| {
        f.into_iter().for_each(|(p, v)| {
            p.x += v.x * DT;
            p.y += v.y * DT;
            p.z += v.z * DT;
        })
    });
    w.add_handler(pos_sum_handler);
    h.run("", w, |w| w.send(Tick), |w| Outcome::Sum(asked_sum(w)));
    by_columns(h, || world_pv(n).0, add_dt);
}

/// Columns outside of handlers, by their address: the library has no slices.
fn by_columns(
    h: &mut Harness,
    world: impl Fn() -> World,
    add: impl Fn(Form, &mut [Position], &[Velocity]),
) {
    for form in Form::ALL {
        let mut w = world();
        w.add_handler(pos_sum_handler);
        let ids = (w.add_component::<Position>().index(), w.add_component::<Velocity>().index());
        h.run(
            &form.of("columns, unsafe"),
            (w, ids),
            |(w, (p, v))| {
                for a in w.archetypes().iter() {
                    let (Some(p), Some(v)) = (a.column_of(*p), a.column_of(*v)) else { continue };
                    let (p, v, rows) =
                        (p.data().cast(), v.data().cast(), a.entity_count() as usize);
                    // SAFETY: a column has a value for each entity, and the world is borrowed
                    // mutably, so no other code uses it.
                    let p = unsafe { std::slice::from_raw_parts_mut(p.as_ptr(), rows) };
                    // SAFETY: as above; it is another column.
                    let v = unsafe { std::slice::from_raw_parts(v.as_ptr(), rows) };
                    add(form, p, v);
                }
            },
            |(w, _)| Outcome::Sum(asked_sum(w)),
        );
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    let (mut w, mut all) = (World::new(), Vec::new());
    macro_rules! spawn {
            ($($m:ident)*) => { $(
                for _ in 0..FRAGMENT_ROWS {
                    let e = w.spawn();
                    w.insert(e, $m(0.0));
                    w.insert(e, Data(1.0));
                    all.push(e);
                }
            )* };
        }
    for_letters!(spawn);
    doubled(h, (w, all));
}

/// schedule, changed_filter: evenio has neither a parallel scheduler nor change detection.
pub(crate) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    doubled(h, tagged(archetypes, |_| 1.0));
}

fn doubled(h: &mut Harness, (mut w, all): (World, Vec<EntityId>)) {
    w.add_handler(|_: Receiver<Tick>, f: Fetcher<&mut Data>| {
        f.into_iter().for_each(|d| d.0 *= 2.0)
    });
    h.run_doubling(
        "",
        w,
        |w| w.send(Tick),
        |w, f| all.iter().for_each(|&e| f(&mut w.get_mut::<Data>(e).expect("has data").0)),
    );
}

/// A world of many archetypes, and its entities in order, with a value each. Tags come one by one,
/// which leaves empty archetypes.
pub(super) fn tagged(archetypes: usize, value: impl Fn(usize) -> f32) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let e = w.spawn();
        w.insert(e, Data(value(i)));
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $( if mask >> $bit & 1 == 1 { w.insert(e, $t); } )* };
        }
        for_tags!(add);
        e
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let mut w = World::new();
    for i in 0..n {
        let e = w.spawn();
        w.insert(e, Tally::new(tally0(i)));
        w.insert(e, Velocity::new(vel0(i)));
    }
    let tally = w.add_component::<Tally>().index();
    w.add_handler(|_: Receiver<Tick>, f: Fetcher<&Tally>| {
        put(f64::from(f.iter().fold(0, |sum: u32, t| sum.wrapping_add(t.sum()))));
    });
    let outcome = |_: &mut &mut World| Outcome::Sum(f64::from_bits(OUT.load(Ordering::Relaxed)));
    h.run("", &mut w, |w| w.send(Tick), outcome);
    for form in Form::ALL {
        h.run(
            &form.of("columns, unsafe"),
            (&w, 0),
            |(w, out)| {
                let columns = w.archetypes().iter().filter_map(|a| {
                    let column = a.column_of(tally)?.data().cast::<Tally>();
                    // SAFETY: a column has a value for each entity, and none is written.
                    Some(unsafe {
                        std::slice::from_raw_parts(column.as_ptr(), a.entity_count() as usize)
                    })
                });
                *out = columns.map(|t| sum(form, t)).fold(0, u32::wrapping_add);
            },
            |(_, out)| Outcome::Sum(f64::from(*out)),
        );
    }
}
