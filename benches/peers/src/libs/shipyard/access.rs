use super::*;

pub(super) fn random_get(h: &mut Harness, n: usize) {
    let (w, e) = world_pv(n);
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

pub(super) fn random_get_mut(h: &mut Harness, n: usize) {
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
