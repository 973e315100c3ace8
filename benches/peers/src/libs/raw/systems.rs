use super::kernels::swap;
use super::*;

/// A to E, for four groups of entities: AB, ABC, ABCD, ABCE.
type Columns = [Vec<f32>; 5];

pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    let k = n / 4;
    let columns: Columns =
        [vec![1.0; 4 * k], vec![2.0; 4 * k], vec![3.0; 3 * k], vec![4.0; k], vec![5.0; k]];
    swapped(h, "1 thread", columns.clone(), swap);
    for k in kernels() {
        let variant = format!("{}, 1 thread", k.name);
        // SAFETY: the processor has the features of `k`.
        swapped(h, &variant, columns.clone(), |a, b| unsafe { (k.swap)(a, b) });
    }
}

fn swapped(
    h: &mut Harness,
    variant: &str,
    columns: Columns,
    swap: impl Fn(&mut [f32], &mut [f32]),
) {
    h.run(
        variant,
        columns,
        |[a, b, c, d, e]| {
            let k = d.len();
            swap(black_box(a), black_box(b));
            swap(black_box(&mut c[k..2 * k]), black_box(d));
            swap(black_box(&mut c[2 * k..]), black_box(e));
        },
        |columns| {
            let sum = |column: &Vec<f32>| column.iter().map(|&x| f64::from(x)).sum();
            Outcome::Sums(columns.each_ref().map(sum))
        },
    );
}
