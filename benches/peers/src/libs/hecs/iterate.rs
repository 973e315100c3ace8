use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    h.run(
        "",
        (world_full(n), PreparedQuery::<(&mut Position, &Velocity)>::new()),
        |(w, q)| {
            q.query_mut(w).for_each(|(p, v)| {
                p.x += v.x;
                p.y += v.y;
                p.z += v.z;
            })
        },
        |(w, _)| Outcome::Sum(pos_sum(w)),
    );
    by_columns(h, || world_full(n), add);
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    h.run(
        "",
        (world_pv(n).0, PreparedQuery::<(&mut Position, &Velocity)>::new()),
        |(w, q)| {
            q.query_mut(w).for_each(|(p, v)| {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            })
        },
        |(w, _)| Outcome::Sum(pos_sum(w)),
    );
    h.run(
        "query_mut",
        world_pv(n).0,
        |w| {
            w.query_mut::<(&mut Position, &Velocity)>().into_iter().for_each(|(p, v)| {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            })
        },
        |w| Outcome::Sum(pos_sum(w)),
    );
    by_columns(h, || world_pv(n).0, add_dt);
}

fn by_columns(
    h: &mut Harness,
    world: impl Fn() -> World,
    add: impl Fn(Form, &mut [Position], &[Velocity]),
) {
    for form in Form::ALL {
        h.run(
            &form.of("columns"),
            world(),
            |w| {
                for a in w.archetypes() {
                    let columns = (a.get::<&mut Position>(), a.get::<&Velocity>());
                    if let (Some(mut p), Some(v)) = columns {
                        add(form, &mut p, &v);
                    }
                }
            },
            |w| Outcome::Sum(pos_sum(w)),
        );
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    let make = || {
        let mut w = World::new();
        macro_rules! spawn {
                ($($m:ident)*) => { $( w.spawn_batch((0..FRAGMENT_ROWS).map(|_| ($m(0.0), Data(1.0)))); )* };
            }
        for_letters!(spawn);
        w
    };
    doubled(h, make);
    h.run_doubling(
        "columns",
        make(),
        |w| {
            for a in w.archetypes() {
                if let Some(mut d) = a.get::<&mut Data>() {
                    for d in d.iter_mut() {
                        d.0 *= 2.0;
                    }
                }
            }
        },
        each_float,
    );
}

pub(crate) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    doubled(h, || tagged(archetypes, |_| 1.0).0);
}

fn doubled(h: &mut Harness, make: impl Fn() -> World) {
    h.run_doubling(
        "",
        (make(), PreparedQuery::<&mut Data>::new()),
        |(w, q)| q.query_mut(w).for_each(|d| d.0 *= 2.0),
        |(w, _), f| each_float(w, f),
    );
    h.run_doubling(
        "query_mut",
        make(),
        |w| w.query_mut::<&mut Data>().into_iter().for_each(|d| d.0 *= 2.0),
        each_float,
    );
}

fn each_float(w: &mut World, f: &mut dyn FnMut(&mut f32)) {
    w.query_mut::<&mut Data>().into_iter().for_each(|d| f(&mut d.0));
}

/// A world of many archetypes, and its entities in order, with a value each.
pub(super) fn tagged(archetypes: usize, value: impl Fn(usize) -> f32) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let mut b = EntityBuilder::new();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        b.add(Data(value(i)));
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $( if mask >> $bit & 1 == 1 { b.add($t); } )* };
        }
        for_tags!(add);
        w.spawn(b.build())
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let world = || {
        let mut w = World::new();
        w.spawn_batch((0..n).map(|i| (Tally::new(tally0(i)), Velocity::new(vel0(i)))));
        w
    };
    h.run(
        "",
        (world(), PreparedQuery::<&Tally>::new(), 0),
        |(w, q, out)| {
            *out = q.query_mut(w).fold(0, |sum: u32, t| sum.wrapping_add(t.sum()));
        },
        |(_, _, out)| Outcome::Sum(f64::from(*out)),
    );
    for form in Form::ALL {
        h.run(
            &form.of("columns"),
            (world(), 0),
            |(w, out)| {
                let columns = w.archetypes().filter_map(|a| a.get::<&Tally>());
                *out = columns.map(|t| sum(form, &t)).fold(0, u32::wrapping_add);
            },
            |(_, out)| Outcome::Sum(f64::from(*out)),
        );
    }
}
