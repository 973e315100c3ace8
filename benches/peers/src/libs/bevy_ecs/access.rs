use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<Entity>)) {
    let (mut w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    let q = w.query::<&Position>();
    h.run(
        "Query::get",
        (w, order, q, 0f64),
        |(w, o, q, out)| {
            let q = q.query(w);
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += q.get(e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.3),
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
    let (mut w, e) = world_pv(n);
    for (i, &e) in e.iter().enumerate() {
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $(
                if i >> $bit & 1 == 1 {
                    w.entity_mut(e).insert($t);
                }
            )* };
        }
        for_few_tags!(add);
    }
    (w, e)
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
    let (mut w, e) = world_pv(n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    let q = w.query::<&mut Position>();
    h.run(
        "Query::get_mut",
        (w, order, q),
        |(w, o, q)| {
            let mut q = q.query_mut(w);
            for &e in black_box(&*o) {
                q.get_mut(e).expect("alive").x += 1.0;
            }
        },
        |(w, _, _)| Outcome::Sum(sum_of::<Position>(w, |p| p.x as f64)),
    );
}
