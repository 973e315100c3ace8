//! Three systems in a row: each swaps two columns of the archetypes that have both.
//!
//! The library has no scheduler yet: the systems are three loops. A unit is one swap.

use super::flat;
use super::sides::{Workload, steady};
use super::systems::{A, B, C, D, E, ROWS, START, check_sums, check_swapped, entities, swap};

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![schedule()]
}

fn schedule() -> Workload {
    let [a, b, c, d, e] = START;
    Workload::new("schedule", 4 * ROWS, 6 * ROWS)
        .limit(move || {
            let columns =
                [(a, 4), (b, 4), (c, 3), (d, 1), (e, 1)].map(|(start, n)| vec![start; n * ROWS]);
            steady(
                columns,
                |[a, b, c, d, e]| {
                    flat::swap(a, b);
                    flat::swap(&mut c[ROWS..2 * ROWS], d);
                    flat::swap(&mut c[2 * ROWS..], e);
                },
                |columns, steps| check_sums(columns.each_ref().map(|column| sum(column)), steps),
            )
        })
        .phalanx("phalanx_loops", move |chunk| {
            steady(
                entities(chunk),
                |world| {
                    for (a, b) in world.query_mut::<(&mut A, &mut B)>() {
                        swap(a, b);
                    }
                    for (c, d) in world.query_mut::<(&mut C, &mut D)>() {
                        swap(c, d);
                    }
                    for (c, e) in world.query_mut::<(&mut C, &mut E)>() {
                        swap(c, e);
                    }
                },
                |world, steps| check_swapped(world, steps),
            )
        })
}

fn sum(values: &[f32]) -> f64 {
    values.iter().copied().map(f64::from).sum()
}
