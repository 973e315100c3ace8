use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(16, n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<Entity>)) {
    read_by(h, "lookup", world(), |w, order| {
        let view = w.lookup::<Position>();
        sum_of(order, |e| view.get(e).expect("alive").x)
    });
    read_by(h, "Query::lookup", world(), |w, order| {
        let query = w.query::<&Position>();
        let view = query.lookup();
        sum_of(order, |e| view.get(e).expect("alive").x)
    });
    read_by(h, "World::get", world(), |w, order| {
        sum_of(order, |e| w.get::<Position>(e).expect("alive").x)
    });
}

fn read_by(
    h: &mut Harness,
    variant: &str,
    world: (World, Vec<Entity>),
    sum: impl Fn(&World, &[Entity]) -> f32,
) {
    let (w, order) = in_random_order(world);
    h.run(
        variant,
        (w, order, 0f64),
        |(w, order, out)| {
            let s = sum(w, black_box(&*order));
            *out = f64::from(s);
            black_box(s);
        },
        |(_, _, out)| Outcome::Sum(*out),
    );
}

#[inline(always)]
fn sum_of(order: &[Entity], x: impl Fn(Entity) -> f32) -> f32 {
    let mut s = 0f32;
    for &e in order {
        s += x(e);
    }
    s
}

/// A world, and the entities of the lookups.
fn in_random_order((w, e): (World, Vec<Entity>)) -> (World, Vec<Entity>) {
    let order = lookup_order().iter().map(|&i| e[i as usize]).collect();
    (w, order)
}

/// Rows in 16 archetypes, neighbours in different ones.
fn world_mixed(n: usize) -> (World, Vec<Entity>) {
    let (mut w, e) = world_pv(16, n);
    for (i, &e) in e.iter().enumerate() {
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $(
                if i >> $bit & 1 == 1 {
                    w.insert(e, $t).expect("alive");
                }
            )* };
        }
        for_few_tags!(add);
    }
    (w, e)
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
    write_by(h, "lookup", n, |w, order| {
        let mut view = w.lookup_mut::<Position>();
        order.iter().for_each(|&e| view.get_mut(e).expect("alive").x += 1.0);
    });
    write_by(h, "Query::lookup_mut", n, |w, order| {
        let mut query = w.query_mut::<&mut Position>();
        let mut view = query.lookup_mut();
        order.iter().for_each(|&e| view.get_mut(e).expect("alive").x += 1.0);
    });
    write_by(h, "World::get_mut", n, |w, order| {
        order.iter().for_each(|&e| w.get_mut::<Position>(e).expect("alive").x += 1.0);
    });
}

fn write_by(h: &mut Harness, variant: &str, n: usize, write: impl Fn(&mut World, &[Entity])) {
    h.run(
        variant,
        in_random_order(world_pv(16, n)),
        |(w, order)| write(w, black_box(&*order)),
        |(w, _)| Outcome::Sum(w.query::<&Position>().rows().map(|p| f64::from(p.x)).sum()),
    );
}
