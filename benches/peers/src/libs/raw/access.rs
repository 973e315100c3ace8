use super::*;

pub(super) fn random_get(h: &mut Harness, n: usize) {
    h.run(
        "index",
        (positions(n), lookup_order(), 0.0),
        |(p, order, out)| {
            let mut s = 0f32;
            for &i in black_box(&*order) {
                s += p[i as usize].x;
            }
            *out = f64::from(s);
        },
        |(_, _, out)| Outcome::Sum(*out),
    );
}

pub(super) fn random_get_mut(h: &mut Harness, n: usize) {
    h.run(
        "index",
        (positions(n), lookup_order()),
        |(p, order)| {
            for &i in black_box(&*order) {
                p[i as usize].x += 1.0;
            }
        },
        |(p, _)| Outcome::Sum(p.iter().map(|p| f64::from(p.x)).sum()),
    );
}
