use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(16, n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<Entity>)) {
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "lookup",
        (w, order, 0f64),
        |(w, o, out)| {
            let view = w.lookup::<Position>();
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += view.get(e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.2),
    );
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "Query::lookup",
        (w, order, 0f64),
        |(w, o, out)| {
            let query = w.query::<&Position>();
            let view = query.lookup();
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += view.get(e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.2),
    );
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "World::get",
        (w, order, 0f64),
        |(w, o, out)| {
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += w.get::<Position>(e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.2),
    );
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
    let sum = |w: &World| {
        let s: f64 = w.query::<&Position>().iter().flatten().map(|p| p.x as f64).sum();
        Outcome::Sum(s)
    };
    let (w, e) = world_pv(16, n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "lookup",
        (w, order),
        |(w, o)| {
            let mut view = w.lookup_mut::<Position>();
            for &e in black_box(&*o) {
                view.get_mut(e).expect("alive").x += 1.0;
            }
        },
        |(w, _)| sum(w),
    );
    let (w, e) = world_pv(16, n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "Query::lookup_mut",
        (w, order),
        |(w, o)| {
            let mut query = w.query_mut::<&mut Position>();
            let mut view = query.lookup_mut();
            for &e in black_box(&*o) {
                view.get_mut(e).expect("alive").x += 1.0;
            }
        },
        |(w, _)| sum(w),
    );
    let (w, e) = world_pv(16, n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "World::get_mut",
        (w, order),
        |(w, o)| {
            for &e in black_box(&*o) {
                w.get_mut::<Position>(e).expect("alive").x += 1.0;
            }
        },
        |(w, _)| sum(w),
    );
}
