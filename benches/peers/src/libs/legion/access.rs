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
        "Query::get",
        (w, order, <Read<Position>>::query(), 0f64),
        |(w, o, q, out)| {
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += q.get(w, e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.3),
    );
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "entry_ref",
        (w, order, 0f64),
        |(w, o, out)| {
            use legion::EntityStore;
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += w.entry_ref(e).expect("alive").into_component::<Position>().expect("has").x;
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
                    w.entry(e).expect("alive").add_component($t);
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
        "entry_mut",
        (w, order),
        |(w, o)| {
            use legion::EntityStore;
            for &e in black_box(&*o) {
                w.entry_mut(e).expect("alive").get_component_mut::<Position>().expect("has").x +=
                    1.0;
            }
        },
        |(w, _)| Outcome::Sum(sum_of::<Position>(w, |p| p.x as f64)),
    );
}
