use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    let mut w = World::new();
    w.bulk_add_entity((0..n).map(full));
    h.run(
        "",
        w,
        |w| {
            w.run(|mut p: ViewMut<Position>, v: View<Velocity>| {
                (&mut p, &v).iter().for_each(|(p, v)| {
                    p.x += v.x;
                    p.y += v.y;
                    p.z += v.z;
                })
            })
        },
        |w| Outcome::Sum(pos_sum(w)),
    );
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    h.run(
        "",
        world_pv(n).0,
        |w| {
            w.run(|mut p: ViewMut<Position>, v: View<Velocity>| {
                (&mut p, &v).iter().for_each(|(p, v)| {
                    p.x += v.x * DT;
                    p.y += v.y * DT;
                    p.z += v.z * DT;
                })
            })
        },
        |w| Outcome::Sum(pos_sum(w)),
    );
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    let mut w = World::new();
    macro_rules! spawn {
            ($($m:ident)*) => { $( w.bulk_add_entity((0..FRAGMENT_ROWS).map(|_| ($m(0.0), Data(1.0)))); )* };
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
        |w| w.run(|mut d: ViewMut<Data>| (&mut d).iter().for_each(|d| d.0 *= 2.0)),
        |w, f| w.run(|mut d: ViewMut<Data>| (&mut d).iter().for_each(|d| f(&mut d.0))),
    );
}

/// A world of many sets of tags, and its entities in order, with a value each.
pub(super) fn tagged(archetypes: usize, value: impl Fn(usize) -> f32) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let spawn = |i| {
        let mask = tags_of(i, archetypes);
        let e = w.add_entity(Data(value(i)));
        macro_rules! add {
            ($($t:ident $bit:literal),*) => {
                $( if mask >> $bit & 1 == 1 { w.add_component(e, $t); } )*
            };
        }
        for_tags!(add);
        e
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let mut w = World::new();
    w.bulk_add_entity((0..n).map(|i| (Tally::new(tally0(i)), Velocity::new(vel0(i)))));
    h.run(
        "",
        (&w, 0),
        |(w, out)| {
            *out =
                w.run(|t: View<Tally>| t.iter().fold(0, |sum: u32, t| sum.wrapping_add(t.sum())));
        },
        |(_, out)| Outcome::Sum(f64::from(*out)),
    );
    for form in Form::ALL {
        h.run(
            &form.of("slice"),
            (&w, 0),
            |(w, out)| *out = w.run(|t: View<Tally>| sum(form, t.as_slice())),
            |(_, out)| Outcome::Sum(f64::from(*out)),
        );
    }
}
