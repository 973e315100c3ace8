use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    let make = || {
        let w = World::new();
        bulk_full(&w, n);
        cached_pv(w)
    };
    let check = |s: &mut (PV, World)| Outcome::Sum(pos_sum(&s.1));
    by_slices(h, make, add);
    h.run(
        "each unchecked",
        make(),
        |(q, _)| {
            // SAFETY: two different components.
            unsafe {
                q.each_unchecked(|(p, v)| {
                    p.x += v.x;
                    p.y += v.y;
                    p.z += v.z;
                })
            }
        },
        check,
    );
    h.run(
        "each",
        make(),
        |(q, _)| {
            q.each(|(p, v)| {
                p.x += v.x;
                p.y += v.y;
                p.z += v.z;
            })
        },
        check,
    );
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    let check = |s: &mut (PV, World)| Outcome::Sum(pos_sum(&s.1));
    by_slices(h, || cached_pv(world_pv(n).0), add_dt);
    h.run(
        "each unchecked",
        cached_pv(world_pv(n).0),
        |(q, _)| {
            // SAFETY: two different components.
            unsafe {
                q.each_unchecked(|(p, v)| {
                    p.x += v.x * DT;
                    p.y += v.y * DT;
                    p.z += v.z * DT;
                })
            }
        },
        check,
    );
    h.run(
        "each",
        cached_pv(world_pv(n).0),
        |(q, _)| {
            q.each(|(p, v)| {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            })
        },
        check,
    );
}

fn by_slices(
    h: &mut Harness,
    state: impl Fn() -> (PV, World),
    add: impl Fn(Form, &mut [Position], &[Velocity]),
) {
    let check = |s: &mut (PV, World)| Outcome::Sum(pos_sum(&s.1));
    for form in Form::ALL {
        h.run(
            &form.of(""),
            state(),
            |(q, _)| {
                q.run(|mut it| {
                    while it.next() {
                        let mut p = it.field_mut::<Position>(0);
                        let v = it.field::<Velocity>(1);
                        add(form, p.as_mut_slice(), v.as_slice());
                    }
                })
            },
            check,
        );
        h.run(
            &form.of("unchecked"),
            state(),
            |(q, _)| {
                q.run(|mut it| {
                    while it.next() {
                        // SAFETY: two different components.
                        let mut p = unsafe { it.field_mut_unchecked::<Position>(0) };
                        // SAFETY: as above.
                        let v = unsafe { it.field_unchecked::<Velocity>(1) };
                        add(form, p.as_mut_slice(), v.as_slice());
                    }
                })
            },
            check,
        );
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    doubled(h, || {
        let w = World::new();
        macro_rules! spawn {
                ($($m:ident)*) => { $(
                    for _ in 0..FRAGMENT_ROWS {
                        w.entity().set($m(0.0)).set(Data(1.0));
                    }
                )* };
            }
        for_letters!(spawn);
        w
    });
}

pub(crate) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    doubled(h, || tagged(archetypes, |_| 1.0).0);
}

/// A world of many archetypes, and its entities in order, with a value each.
pub(super) fn tagged(archetypes: usize, value: impl Fn(usize) -> f32) -> (World, Vec<Entity>) {
    let w = World::new();
    // Deferred commands on one entity are merged into one move.
    w.defer_begin();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let e = w.entity().set(Data(value(i)));
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $( if mask >> $bit & 1 == 1 { e.add($t::id()); } )* };
        }
        for_tags!(add);
        e.id()
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    w.defer_end();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let state = || {
        let w = World::new();
        let t: Vec<Tally> = (0..n).map(|i| Tally::new(tally0(i))).collect();
        let v: Vec<Velocity> = (0..n).map(|i| Velocity::new(vel0(i))).collect();
        black_box(w.entity_bulk(n as u32).set(&t).set(&v).build());
        let q = w.query::<&Tally>().set_cached().build();
        (q, 0_u32, w)
    };
    type State = (Query<&'static Tally>, u32, World);
    let outcome = |(_, out, _): &mut State| Outcome::Sum(f64::from(*out));
    for form in Form::ALL {
        h.run(
            &form.of(""),
            state(),
            |(q, out, _)| {
                *out = 0;
                q.run(|mut it| {
                    while it.next() {
                        let tallies = it.field::<Tally>(0);
                        *out = out.wrapping_add(sum(form, tallies.as_slice()));
                    }
                });
            },
            outcome,
        );
    }
    h.run(
        "each",
        state(),
        |(q, out, _)| {
            *out = 0;
            q.each(|t| *out = out.wrapping_add(t.sum()));
        },
        outcome,
    );
}

fn doubled(h: &mut Harness, make: impl Fn() -> World) {
    type State = (Query<&'static mut Data>, World);
    let each = |(_, w): &mut State, f: &mut dyn FnMut(&mut f32)| {
        w.new_query::<&mut Data>().each(|d| f(&mut d.0));
    };
    let state = || {
        let w = make();
        let q = w.query::<&mut Data>().set_cached().build();
        (q, w)
    };
    h.run_doubling(
        "",
        state(),
        |(q, _)| {
            q.run(|mut it| {
                while it.next() {
                    let mut d = it.field_mut::<Data>(0);
                    for d in d.as_mut_slice() {
                        d.0 *= 2.0;
                    }
                }
            })
        },
        each,
    );
    h.run_doubling(
        "unchecked",
        state(),
        |(q, _)| {
            q.run(|mut it| {
                while it.next() {
                    // SAFETY: the only field of the query.
                    let mut d = unsafe { it.field_mut_unchecked::<Data>(0) };
                    for d in d.as_mut_slice() {
                        d.0 *= 2.0;
                    }
                }
            })
        },
        each,
    );
    h.run_doubling("each", state(), |(q, _)| q.each(|d| d.0 *= 2.0), each);
    h.run_doubling(
        "each unchecked",
        state(), // SAFETY: one component per row, no aliasing.
        |(q, _)| unsafe { q.each_unchecked(|d| d.0 *= 2.0) },
        each,
    );
}
