use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    let mut w = fresh();
    spawn_full(&mut w, n);
    h.run(
        "",
        w,
        |w| {
            let (mut p, v) = (w.write_storage::<Position>(), w.read_storage::<Velocity>());
            (&mut p, &v).join().for_each(|(p, v)| {
                p.x += v.x;
                p.y += v.y;
                p.z += v.z;
            });
        },
        |w| Outcome::Sum(pos_sum(w)),
    );
    let full = || {
        let mut w = fresh();
        spawn_full(&mut w, n);
        w
    };
    by_slices(h, full, add);
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    h.run(
        "",
        world_pv(n).0,
        |w| {
            let (mut p, v) = (w.write_storage::<Position>(), w.read_storage::<Velocity>());
            (&mut p, &v).join().for_each(|(p, v)| {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            });
        },
        |w| Outcome::Sum(pos_sum(w)),
    );
    by_slices(h, || world_pv(n).0, add_dt);
}

/// Slices of two storages, which start with the first of all entities: right only where every
/// entity has both components and none was deleted.
fn by_slices(
    h: &mut Harness,
    world: impl Fn() -> World,
    add: impl Fn(Form, &mut [Position], &[Velocity]),
) {
    for form in Form::ALL {
        h.run(
            &form.of("slices, unsafe"),
            world(),
            |w| {
                let (mut p, v) = (w.write_storage::<Position>(), w.read_storage::<Velocity>());
                // SAFETY: every entity has both components.
                let p = unsafe { p.as_mut_slice().assume_init_mut() };
                // SAFETY: as above.
                let v = unsafe { v.as_slice().assume_init_ref() };
                add(form, p, v);
            },
            |w| Outcome::Sum(pos_sum(w)),
        );
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    let mut w = fresh();
    macro_rules! spawn {
            ($($m:ident)*) => { $(
                w.register::<$m>();
                for _ in 0..FRAGMENT_ROWS {
                    w.create_entity().with($m(0.0)).with(Data(1.0)).build();
                }
            )* };
        }
    for_letters!(spawn);
    doubled(h, w);
}

pub(crate) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    doubled(h, tagged(archetypes, |_| 1.0).0);
}

fn doubled(h: &mut Harness, w: World) {
    h.run_doubling(
        "",
        w,
        |w| {
            let mut d = w.write_storage::<Data>();
            (&mut d).join().for_each(|d| d.0 *= 2.0);
        },
        |w, f| (&mut w.write_storage::<Data>()).join().for_each(|d| f(&mut d.0)),
    );
}

/// A world of many sets of tags, and its entities in order, with a value each.
pub(super) fn tagged(archetypes: usize, value: impl Fn(usize) -> f32) -> (World, Vec<Entity>) {
    let mut w = fresh_with_tags();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let mut e = w.create_entity().with(Data(value(i)));
        macro_rules! add {
            ($($t:ident $bit:literal),*) => {
                $( if mask >> $bit & 1 == 1 { e = e.with($t); } )*
            };
        }
        for_tags!(add);
        e.build()
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let mut w = fresh();
    w.register::<Tally>();
    for i in 0..n {
        w.create_entity().with(Tally::new(tally0(i))).with(Velocity::new(vel0(i))).build();
    }
    h.run(
        "",
        (&w, 0),
        |(w, out)| {
            let t = w.read_storage::<Tally>();
            *out = (&t).join().fold(0, |sum: u32, t| sum.wrapping_add(t.sum()));
        },
        |(_, out)| Outcome::Sum(f64::from(*out)),
    );
    for form in Form::ALL {
        h.run(
            &form.of("slices, unsafe"),
            (&w, 0),
            |(w, out)| {
                let t = w.read_storage::<Tally>();
                // SAFETY: every entity has a tally.
                *out = sum(form, unsafe { t.as_slice().assume_init_ref() });
            },
            |(_, out)| Outcome::Sum(f64::from(*out)),
        );
    }
}
