use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
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

/// Sixteen columns, and the place of each row, as archetypes would have them.
pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    const COLUMNS: usize = 16;
    let column = |first| (first..n).step_by(COLUMNS).map(|i| Position::new(pos0(i))).collect();
    let columns: Vec<Vec<Position>> = (0..COLUMNS).map(column).collect();
    let place = |i: u32| (i as usize % COLUMNS, i as usize / COLUMNS);
    let places: Vec<(usize, usize)> = lookup_order().into_iter().map(place).collect();
    h.run(
        "index",
        (columns, places, 0.0),
        |(columns, places, out)| {
            let mut s = 0f32;
            for &(column, row) in black_box(&*places) {
                s += columns[column][row].x;
            }
            *out = f64::from(s);
        },
        |(_, _, out)| Outcome::Sum(*out),
    );
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
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
