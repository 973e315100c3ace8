use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<Entity>)) {
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "prepared view",
        (w, order, PreparedQuery::<&Position>::new(), 0f64),
        |(w, o, q, out)| {
            let view = q.view_mut(w);
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += view.get(e).expect("alive").x;
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
                s += w.get::<&Position>(e).expect("alive").x;
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
                    w.insert_one(e, $t).expect("alive");
                }
            )* };
        }
        for_few_tags!(add);
    }
    (w, e)
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
    let (w, e) = world_pv(n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "prepared view",
        (w, order, PreparedQuery::<&mut Position>::new()),
        |(w, o, q)| {
            let mut view = q.view_mut(w);
            for &e in black_box(&*o) {
                view.get_mut(e).expect("alive").x += 1.0;
            }
        },
        |(w, _, _)| {
            let s: f64 = w.query::<&Position>().iter().map(|p| p.x as f64).sum();
            Outcome::Sum(s)
        },
    );
}
