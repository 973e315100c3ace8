use super::column::Column;
use super::kernels::{
    add_dt_flat, add_dt_structs, add_flat, add_structs, double, sum_flat, sum_structs,
};
use super::*;

pub(crate) fn simple_iter(h: &mut Harness, n: usize) {
    moved(h, n, "", add_structs);
    moved(h, n, "flat", add_flat);
    for k in kernels() {
        // SAFETY: the processor has the features of `k`.
        moved(h, n, &format!("{}, structs", k.name), |p, v| unsafe { (k.add)(p, v) });
        // SAFETY: as above.
        moved(h, n, k.name, |p, v| unsafe { (k.add_flat)(p, v) });
    }
}

pub(crate) fn pos_vel(h: &mut Harness, n: usize) {
    moved(h, n, "", add_dt_structs);
    moved(h, n, "flat", add_dt_flat);
    for k in kernels() {
        // SAFETY: the processor has the features of `k`.
        moved(h, n, &format!("{}, structs", k.name), |p, v| unsafe { (k.add_dt)(p, v) });
        // SAFETY: as above.
        moved(h, n, k.name, |p, v| unsafe { (k.add_dt_flat)(p, v) });
    }
}

fn moved(h: &mut Harness, n: usize, variant: &str, kernel: impl Fn(&mut [Position], &[Velocity])) {
    let columns = (Column::new(&positions(n), 0), Column::new(&velocities(n), 1));
    h.run(
        variant,
        columns,
        |(p, v)| kernel(black_box(p.write()), black_box(v.read())),
        |(p, _)| Outcome::Sum(pos_sum(p.read())),
    );
}

pub(crate) fn sum_column(h: &mut Harness, n: usize) {
    let tallies: Vec<_> = (0..n).map(|i| Tally::new(tally0(i))).collect();
    let tallies = Column::new(&tallies, 0);
    let outcome = |(_, sum): &mut (&[Tally], u32)| Outcome::Sum(f64::from(*sum));
    h.run("", (tallies.read(), 0), |(t, out)| *out = sum_structs(black_box(t)), outcome);
    h.run("flat", (tallies.read(), 0), |(t, out)| *out = sum_flat(black_box(t)), outcome);
    for k in kernels() {
        // SAFETY: the processor has the features of `k`.
        let step = |(t, out): &mut (&[Tally], u32)| *out = unsafe { (k.sum)(black_box(t)) };
        h.run(&format!("{}, structs", k.name), (tallies.read(), 0), step, outcome);
        // SAFETY: as above.
        let step = |(t, out): &mut (&[Tally], u32)| *out = unsafe { (k.sum_flat)(black_box(t)) };
        h.run(k.name, (tallies.read(), 0), step, outcome);
    }
}

pub(crate) fn fragmented_iter(h: &mut Harness, n: usize) {
    // Separate short vectors, as archetypes would hold them.
    let columns = vec![vec![1.0; FRAGMENT_ROWS]; n / FRAGMENT_ROWS];
    doubled(h, "", columns.clone(), double);
    for k in kernels() {
        // SAFETY: the processor has the features of `k`.
        doubled(h, k.name, columns.clone(), |d| unsafe { (k.double)(d) });
    }
}

pub(crate) fn many_archetypes(h: &mut Harness, archetypes: usize) {
    let rows = |archetype: usize| (MANY_ENTITIES - archetype).div_ceil(archetypes);
    let columns: Vec<_> = (0..archetypes).map(|archetype| vec![1.0; rows(archetype)]).collect();
    doubled(h, "vec per archetype", columns.clone(), double);
    for k in kernels() {
        let variant = format!("{}, vec per archetype", k.name);
        // SAFETY: the processor has the features of `k`.
        doubled(h, &variant, columns.clone(), |d| unsafe { (k.double)(d) });
    }
}

fn doubled(h: &mut Harness, variant: &str, columns: Vec<Vec<f32>>, kernel: impl Fn(&mut [f32])) {
    h.run_doubling(
        variant,
        columns,
        |columns| black_box(columns).iter_mut().for_each(|column| kernel(column)),
        |columns, f| columns.iter_mut().flatten().for_each(f),
    );
}
