use super::*;

type Columns = (Vec<Transform>, Vec<Position>, Vec<Rotation>, Vec<Velocity>);

pub(super) fn batch(h: &mut Harness, n: usize) {
    let work = |()| -> Columns {
        (
            (0..n).map(|_| black_box(Transform([1.0; 16]))).collect(),
            (0..n).map(|i| Position::new(pos0(i))).collect(),
            (0..n).map(|_| Rotation::new([0.0; 3])).collect(),
            (0..n).map(|i| Velocity::new(vel0(i))).collect(),
        )
    };
    h.run_fresh("", || (), work, rows);
}

pub(super) fn one(h: &mut Harness, n: usize) {
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

fn rows((t, p, _, v): Columns) -> Outcome {
    let transforms: f64 = t.iter().map(|t| t.sum()).sum();
    let velocities: f64 = v.iter().map(|v| v.sum()).sum();
    Outcome::Sum(pos_sum(&p) + transforms + velocities)
}
