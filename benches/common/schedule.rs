//! Three systems in a row: each swaps two columns of the archetypes that have both.
//!
//! The library has no scheduler yet: the systems are three loops. A unit is one swap.

use phalanx::prelude::*;

use super::sides::{Workload, steady};
use super::{flat, world};

/// Entities of each of the four archetypes AB, ABC, ABCD and ABCE.
const ROWS: usize = 10_000;

/// The first value in each column.
const START: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// Exchanges the two, value by value.
#[kernel]
fn swap<L: Pod, R: Pod>(left: &mut [L], right: &mut [R]) {
    for (l, r) in scalars_mut::<f32>(left).iter_mut().zip(scalars_mut::<f32>(right)) {
        std::mem::swap(l, r);
    }
}

macro_rules! columns {
    ($($column:ident)*) => {
        $(
            #[derive(Clone, Copy, Debug, Pod, Zeroable)]
            #[repr(transparent)]
            struct $column(f32);
        )*
        impl_component!($($column),*);
    };
}
columns! { A B C D E }

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
                |columns, steps| check(columns.each_ref().map(|column| sum(column)), steps),
            )
        })
        .phalanx("phalanx_loops", move |chunk| {
            let mut world = world(chunk);
            let rows = || 0..ROWS;
            world.spawn_batch(rows().map(|_| (A(a), B(b))));
            world.spawn_batch(rows().map(|_| (A(a), B(b), C(c))));
            world.spawn_batch(rows().map(|_| (A(a), B(b), C(c), D(d))));
            world.spawn_batch(rows().map(|_| (A(a), B(b), C(c), E(e))));
            steady(
                world,
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
                |world, steps| check(sums(world), steps),
            )
        })
}

fn sum(values: &[f32]) -> f64 {
    values.iter().copied().map(f64::from).sum()
}

fn sums(world: &World) -> [f64; 5] {
    fn column<C: Component + Pod>(world: &World) -> f64 {
        world.query::<&C>().iter().map(|values| sum(scalars(values))).sum()
    }
    [
        column::<A>(world),
        column::<B>(world),
        column::<C>(world),
        column::<D>(world),
        column::<E>(world),
    ]
}

/// After an odd number of passes the pairs have each other's values.
fn check(found: [f64; 5], steps: u64) {
    let [a, b, c, d, e] = START.map(|start| f64::from(start) * ROWS as f64);
    let want = if steps.is_multiple_of(2) {
        [4.0 * a, 4.0 * b, 3.0 * c, d, e]
    } else {
        [4.0 * b, 4.0 * a, c + d + e, c, c]
    };
    assert_eq!(found, want, "the sums of the columns after {steps} passes");
}
