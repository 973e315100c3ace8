use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    let (w, e) = world_pv(n);
    let order: Vec<_> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "ecs_find",
        (w, order, 0f64),
        |(w, o, out)| {
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += ecs_find!(w, e, |p: &Position| p.x).expect("alive");
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.2),
    );
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
    let (w, e) = world_pv(n);
    let order: Vec<_> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "ecs_find",
        (w, order),
        |(w, o)| {
            for &e in black_box(&*o) {
                ecs_find!(w, e, |p: &mut Position| p.x += 1.0).expect("alive");
            }
        },
        |(w, _)| {
            let mut sum = 0.0;
            ecs_iter!(w, |p: &Position| sum += f64::from(p.x));
            Outcome::Sum(sum)
        },
    );
}
