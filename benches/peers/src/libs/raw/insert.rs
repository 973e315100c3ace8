use super::*;

pub(super) type Columns = (Vec<Transform>, Vec<Position>, Vec<Rotation>, Vec<Velocity>);

pub(crate) fn batch(h: &mut Harness, n: usize) {
    h.run_fresh("", || (), |()| columns(0..n), rows);
}

#[inline(always)]
pub(super) fn columns(of: std::ops::Range<usize>) -> Columns {
    (
        of.clone().map(|_| black_box(Transform([1.0; 16]))).collect(),
        of.clone().map(|i| Position::new(pos0(i))).collect(),
        of.clone().map(|_| Rotation::new([0.0; 3])).collect(),
        of.map(|i| Velocity::new(vel0(i))).collect(),
    )
}

pub(crate) fn one(h: &mut Harness, n: usize) {
    let work = |()| {
        let (mut t, mut p, mut r, mut v): Columns = Default::default();
        for i in 0..n {
            t.push(black_box(Transform([1.0; 16])));
            p.push(Position::new(pos0(i)));
            r.push(Rotation::new([0.0; 3]));
            v.push(Velocity::new(vel0(i)));
        }
        (t, p, r, v)
    };
    h.run_fresh("", || (), work, rows);
}

pub(super) fn rows((t, p, _, v): Columns) -> Outcome {
    let transforms: f64 = t.iter().map(|t| t.sum()).sum();
    let velocities: f64 = v.iter().map(|v| v.sum()).sum();
    Outcome::Sum(pos_sum(&p) + transforms + velocities)
}
