use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<EntityId>)) {
    let (w, e) = world();
    let order: Vec<EntityId> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "view get",
        (w, order, 0f64),
        |(w, o, out)| {
            let p = w.borrow::<View<Position>>().expect("view");
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += (&p).get(e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.2),
    );
}

/// Rows in 16 archetypes, neighbours in different ones.
fn world_mixed(n: usize) -> (World, Vec<EntityId>) {
    let (mut w, e) = world_pv(n);
    for (i, &e) in e.iter().enumerate() {
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $(
                if i >> $bit & 1 == 1 {
                    w.add_component(e, $t);
                }
            )* };
        }
        for_few_tags!(add);
    }
    (w, e)
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
    let (w, e) = world_pv(n);
    let order: Vec<EntityId> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "view get",
        (w, order),
        |(w, o)| {
            let mut p = w.borrow::<ViewMut<Position>>().expect("view");
            for &e in black_box(&*o) {
                (&mut p).get(e).expect("alive").x += 1.0;
            }
        },
        |(w, _)| {
            let s: f64 = w.run(|p: View<Position>| p.iter().map(|p| p.x as f64).sum());
            Outcome::Sum(s)
        },
    );
}
