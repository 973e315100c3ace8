use super::kernels::{add_dt_rows, add_rows, double, double_vectors, sum_rows};
use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    let make = |kib| {
        let mut w = world(kib);
        w.spawn_batch((0..n).map(row));
        w
    };
    for kib in CHUNK_KIB {
        moved(h, &chunk_variant(kib), make(kib), add_rows);
    }
    for form in Form::ALL {
        moved(h, &form_variant(form), make(CHUNK_KIB[0]), |p, v| add(form, p, v));
    }
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    for kib in CHUNK_KIB {
        moved(h, &chunk_variant(kib), world_pv(kib, n).0, |p, v| add_dt_rows(p, v, DT));
    }
    for form in Form::ALL {
        let w = world_pv(CHUNK_KIB[0], n).0;
        moved(h, &form_variant(form), w, |p, v| add_dt(form, p, v));
    }
}

fn moved(h: &mut Harness, variant: &str, w: World, add: impl Fn(&mut [Position], &[Velocity])) {
    h.run(
        variant,
        w,
        |w| {
            for (p, v) in w.query_mut::<(&mut Position, &Velocity)>() {
                add(p, v);
            }
        },
        |w| Outcome::Sum(pos_sum(w)),
    );
}

/// The plain variant has `#[kernel]` around the loop over structs, so the other one has a name.
fn form_variant(form: Form) -> String {
    form.of(if form == Form::Structs { "plain loop" } else { "" })
}

pub(crate) fn fragmented_iter(h: &mut Harness, _: usize) {
    let world = || {
        let mut w = World::new();
        macro_rules! spawn {
            ($($m:ident)*) => {
                $(w.spawn_batch((0..FRAGMENT_ROWS).map(|_| ($m(0.0), Data(1.0))));)*
            };
        }
        for_letters!(spawn);
        w
    };
    doubled(h, world);
}

pub(crate) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    doubled(h, || tagged(archetypes, |_| 1.0).0);
}

/// A world of many archetypes, and its entities in order, with a value each.
pub(super) fn tagged(archetypes: usize, value: impl Fn(usize) -> f32) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let spawn = |i| {
        let tags = tags_of(i, archetypes);
        let e = spawn_low(&mut w, Data(value(i)), tags);
        insert_high(&mut w, e, tags);
        e
    };
    let e = (0..MANY_ENTITIES).map(spawn).collect();
    (w, e)
}

fn doubled(h: &mut Harness, world: impl Fn() -> World) {
    let each = |w: &mut World, f: &mut dyn FnMut(&mut f32)| {
        w.query_mut::<&mut Data>().rows().for_each(|d| f(&mut d.0));
    };
    // Chunks of a few rows: `for_each` keeps the walk in registers from one to the next, and whole
    // vectors avoid the choice between loops.
    let by_vectors =
        |w: &mut World| w.query_mut::<&mut Data>().padded().iter_mut().for_each(double_vectors);
    let by_kernel = |w: &mut World| w.query_mut::<&mut Data>().iter_mut().for_each(double);
    let by_loop = |w: &mut World| {
        w.query_mut::<&mut Data>()
            .iter_mut()
            .for_each(|data| data.iter_mut().for_each(|d| d.0 *= 2.0));
    };
    h.run_doubling("", world(), by_kernel, each);
    h.run_doubling("padded", world(), by_vectors, each);
    h.run_doubling("plain loop", world(), by_loop, each);
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    for kib in CHUNK_KIB {
        summed(h, &chunk_variant(kib), kib, n, sum_rows);
    }
    for form in Form::ALL {
        summed(h, &form_variant(form), CHUNK_KIB[0], n, |tallies| sum(form, tallies));
    }
}

fn summed(h: &mut Harness, variant: &str, kib: usize, n: usize, sum: impl Fn(&[Tally]) -> u32) {
    let mut w = world(kib);
    w.spawn_batch((0..n).map(|i| (Tally::new(tally0(i)), Velocity::new(vel0(i)))));
    h.run(
        variant,
        (w, 0),
        |(w, out)| {
            let sums = w.query::<&Tally>().into_iter().map(&sum);
            *out = sums.fold(0, u32::wrapping_add);
        },
        |(_, out)| Outcome::Sum(f64::from(*out)),
    );
}

/// Passes the tags of the set bits to `$action`. A bundle is a type: eight tags make 256 of them.
macro_rules! with_tags {
    ($action:ident, $bits:expr, ($($tag:ident)*)) => { $action!($($tag)*) };
    ($action:ident, $bits:expr, ($($tag:ident)*) $next:ident $bit:literal $($rest:tt)*) => {
        if ($bits >> $bit) & 1 == 1 {
            with_tags!($action, $bits, ($($tag)* $next) $($rest)*)
        } else {
            with_tags!($action, $bits, ($($tag)*) $($rest)*)
        }
    };
}

fn spawn_low(w: &mut World, data: Data, tags: u32) -> Entity {
    macro_rules! spawn {
        ($($tag:ident)*) => { w.spawn((data, ($($tag,)*))) };
    }
    with_tags!(spawn, tags, () T0 0 T1 1 T2 2 T3 3 T4 4 T5 5 T6 6 T7 7)
}

fn insert_high(w: &mut World, entity: Entity, tags: u32) {
    macro_rules! insert {
        ($($tag:ident)*) => { w.insert(entity, ($($tag,)*)) };
    }
    with_tags!(insert, tags, () T8 8 T9 9 T10 10 T11 11 T12 12 T13 13 T14 14 T15 15)
        .expect("just spawned");
}
