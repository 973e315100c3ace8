use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    let check = |s: &mut (World, PV)| Outcome::Sum(pos_sum(&mut s.0));
    h.run(
        "",
        with_pv(world_full(n)),
        |(w, q)| {
            q.iter_mut(w).for_each(|(mut p, v)| {
                p.x += v.x;
                p.y += v.y;
                p.z += v.z;
            })
        },
        check,
    );
    by_slices(h, || world_full(n), add);
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    let check = |s: &mut (World, PV)| Outcome::Sum(pos_sum(&mut s.0));
    h.run(
        "",
        with_pv(world_pv(n).0),
        |(w, q)| {
            q.iter_mut(w).for_each(|(mut p, v)| {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            })
        },
        check,
    );
    h.run(
        "no ticks",
        with_pv(world_pv(n).0),
        |(w, q)| {
            q.iter_mut(w).for_each(|(mut p, v)| {
                let p = p.bypass_change_detection();
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            })
        },
        check,
    );
    by_slices(h, || world_pv(n).0, add_dt);
}

fn by_slices(
    h: &mut Harness,
    world: impl Fn() -> World,
    add: impl Fn(Form, &mut [Position], &[Velocity]),
) {
    let check = |s: &mut (World, PV)| Outcome::Sum(pos_sum(&mut s.0));
    for form in Form::ALL {
        h.run(
            &form.of("contig"),
            with_pv(world()),
            |(w, q)| {
                for (mut p, v) in q.contiguous_iter_mut(w).expect("dense") {
                    add(form, &mut p, v);
                }
            },
            check,
        );
        h.run(
            &form.of("contig, no ticks"),
            with_pv(world()),
            |(w, q)| {
                for (mut p, v) in q.contiguous_iter_mut(w).expect("dense") {
                    add(form, p.bypass_change_detection(), v);
                }
            },
            check,
        );
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    doubled(h, || {
        let mut w = World::new();
        macro_rules! spawn {
                ($($m:ident)*) => { $( w.spawn_batch((0..FRAGMENT_ROWS).map(|_| ($m(0.0), Data(1.0)))); )* };
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
    let mut w = World::new();
    let data = w.register_component::<Data>();
    let mut tags: Vec<ComponentId> = vec![];
    macro_rules! reg {
        ($($t:ident $bit:literal),*) => { $( tags.push(w.register_component::<$t>()); )* };
    }
    for_tags!(reg);
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let mut ids = vec![data];
        ids.extend((0..16).filter(|b| mask >> b & 1 == 1).map(|b| tags[b]));
        let mut e = w.spawn_empty();
        insert_by_ids(&mut e, Data(value(i)), &ids);
        e.id()
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let state = || {
        let mut w = World::new();
        w.spawn_batch((0..n).map(|i| (Tally::new(tally0(i)), Velocity::new(vel0(i)))));
        let q = w.query::<&Tally>();
        (w, q, 0)
    };
    type State = (World, QueryState<&'static Tally>, u32);
    let outcome = |(_, _, out): &mut State| Outcome::Sum(f64::from(*out));
    h.run(
        "",
        state(),
        |(w, q, out)| *out = q.iter(w).fold(0, |sum: u32, t| sum.wrapping_add(t.sum())),
        outcome,
    );
    for form in Form::ALL {
        h.run(
            &form.of("contig"),
            state(),
            |(w, q, out)| {
                let sums = q.contiguous_iter(w).expect("dense").map(|t| sum(form, t));
                *out = sums.fold(0, u32::wrapping_add);
            },
            outcome,
        );
    }
}

fn doubled(h: &mut Harness, make: impl Fn() -> World) {
    let state = || {
        let mut w = make();
        let q = w.query::<&mut Data>();
        (w, q)
    };
    let each = |(w, _): &mut (World, Write<Data>), f: &mut dyn FnMut(&mut f32)| {
        w.query::<&mut Data>().iter_mut(w).for_each(|mut d| f(&mut d.0));
    };
    h.run_doubling("", state(), |(w, q)| q.iter_mut(w).for_each(|mut d| d.0 *= 2.0), each);
    h.run_doubling(
        "contig",
        state(),
        |(w, q)| {
            for mut data in q.contiguous_iter_mut(w).expect("dense") {
                for d in data.iter_mut() {
                    d.0 *= 2.0;
                }
            }
        },
        each,
    );
    h.run_doubling(
        "contig, no ticks",
        state(),
        |(w, q)| {
            for mut data in q.contiguous_iter_mut(w).expect("dense") {
                for d in data.bypass_change_detection() {
                    d.0 *= 2.0;
                }
            }
        },
        each,
    );
}

/// Inserts a value and zero-sized tags in one move.
fn insert_by_ids(e: &mut EntityWorldMut, data: Data, ids: &[ComponentId]) {
    use bevy_ecs::ptr::OwningPtr;
    OwningPtr::make(data, |data| {
        let tags = (1..ids.len()).map(|_| {
            // SAFETY: the tags are zero-sized, a dangling pointer is a valid reference to them.
            unsafe { OwningPtr::new(std::ptr::NonNull::dangling()) }
        });
        // SAFETY: the ids come from this world; the first is Data, the others are tags.
        unsafe { e.insert_by_ids(ids, std::iter::once(data).chain(tags)) };
    });
}
