use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    let make = || {
        let mut w = World::default();
        w.extend((0..n).map(full).collect::<Vec<_>>());
        (w, <(Write<Position>, Read<Velocity>)>::query())
    };
    let check = |s: &mut (World, PV)| Outcome::Sum(pos_sum(&s.0));
    h.run(
        "",
        make(),
        |(w, q)| {
            q.for_each_mut(w, |(p, v)| {
                p.x += v.x;
                p.y += v.y;
                p.z += v.z;
            })
        },
        check,
    );
    by_chunks(h, make, add);
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    let make = || (world_pv(n).0, <(Write<Position>, Read<Velocity>)>::query());
    let check = |s: &mut (World, PV)| Outcome::Sum(pos_sum(&s.0));
    h.run(
        "",
        make(),
        |(w, q)| {
            q.for_each_mut(w, |(p, v)| {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            })
        },
        check,
    );
    by_chunks(h, make, add_dt);
}

fn by_chunks(
    h: &mut Harness,
    state: impl Fn() -> (World, PV),
    add: impl Fn(Form, &mut [Position], &[Velocity]),
) {
    for form in Form::ALL {
        h.run(
            &form.of("chunks"),
            state(),
            |(w, q)| {
                q.for_each_chunk_mut(w, |c| {
                    let (p, v) = c.into_components();
                    add(form, p, v);
                })
            },
            |(w, _)| Outcome::Sum(pos_sum(w)),
        );
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    doubled(h, || {
        let mut w = World::default();
        macro_rules! spawn {
                ($($m:ident)*) => { $( w.extend((0..FRAGMENT_ROWS).map(|_| ($m(0.0), Data(1.0))).collect::<Vec<_>>()); )* };
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
    // No way to push a run-time set of types: add the tags one by one
    // (this leaves empty intermediate archetypes behind).
    let mut w = World::default();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let id = w.push((Data(value(i)),));
        let mut e = w.entry(id).expect("alive");
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $( if mask >> $bit & 1 == 1 { e.add_component($t); } )* };
        }
        for_tags!(add);
        id
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let mut w = World::default();
    let rows = (0..n).map(|i| (Tally::new(tally0(i)), Velocity::new(vel0(i))));
    w.extend(rows.collect::<Vec<_>>());
    h.run(
        "",
        (&w, <Read<Tally>>::query(), 0),
        |(w, q, out)| *out = q.iter(*w).fold(0, |sum: u32, t| sum.wrapping_add(t.sum())),
        |(_, _, out)| Outcome::Sum(f64::from(*out)),
    );
    for form in Form::ALL {
        h.run(
            &form.of("chunks"),
            (&w, <Read<Tally>>::query(), 0),
            |(w, q, out)| {
                let sums = q.iter_chunks(*w).map(|c| sum(form, c.into_components()));
                *out = sums.fold(0, u32::wrapping_add);
            },
            |(_, _, out)| Outcome::Sum(f64::from(*out)),
        );
    }
}

fn doubled(h: &mut Harness, make: impl Fn() -> World) {
    let state = || (make(), <Write<Data>>::query());
    type State = (World, QW<Data>);
    let each = |(w, _): &mut State, f: &mut dyn FnMut(&mut f32)| {
        <Write<Data>>::query().for_each_mut(w, |d| f(&mut d.0));
    };
    h.run_doubling("", state(), |(w, q)| q.for_each_mut(w, |d| d.0 *= 2.0), each);
    h.run_doubling(
        "chunks",
        state(),
        |(w, q)| {
            q.for_each_chunk_mut(w, |c| {
                for d in c.into_components() {
                    d.0 *= 2.0;
                }
            })
        },
        each,
    );
}
