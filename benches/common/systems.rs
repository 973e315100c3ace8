//! Three systems through a schedule, beside the same functions called one after another.
//!
//! The entities are the ones of ecs_bench_suite's "schedule": 40,000 in four archetypes. Light
//! systems swap two columns, some microseconds each; heavy ones compute for some hundred. `limit`
//! calls the functions with queries of the world: the difference is the cost of the schedule.

use phalanx::prelude::*;

use super::sides::{Side, Workload, steady};
use super::world;

/// Entities of each of the four archetypes AB, ABC, ABCD and ABCE.
pub(crate) const ROWS: usize = 10_000;

/// The first value in each column.
pub(crate) const START: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// Rounds of a heavy system.
const ROUNDS: u32 = 100;

/// Exchanges the two, value by value.
#[kernel]
pub(crate) fn swap<L: Pod, R: Pod>(left: &mut [L], right: &mut [R]) {
    for (l, r) in scalars_mut::<f32>(left).iter_mut().zip(scalars_mut::<f32>(right)) {
        std::mem::swap(l, r);
    }
}

/// Much arithmetic for each value, which leaves small whole numbers unchanged.
#[kernel]
fn churn<T: Pod>(values: &mut [T]) {
    let values = scalars_mut::<f32>(values);
    for _ in 0..ROUNDS {
        for value in values.iter_mut() {
            *value = (*value * 2.0 + 8.0) * 0.5 - 4.0;
        }
    }
}

macro_rules! columns {
    ($($column:ident)*) => {
        $(
            #[derive(Clone, Copy, Debug, Pod, Zeroable)]
            #[repr(transparent)]
            pub(crate) struct $column(f32);
        )*
        impl_component!($($column),*);
    };
}
columns! { A B C D E }

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![light(), heavy()]
}

fn ab(query: Query<'_, (&mut A, &mut B)>) {
    query.into_iter().for_each(|(a, b)| swap(a, b));
}

fn cd(query: Query<'_, (&mut C, &mut D)>) {
    query.into_iter().for_each(|(c, d)| swap(c, d));
}

fn ce(query: Query<'_, (&mut C, &mut E)>) {
    query.into_iter().for_each(|(c, e)| swap(c, e));
}

fn light() -> Workload {
    fn calls(world: &mut World) {
        ab(world.query_mut());
        cd(world.query_mut());
        ce(world.query_mut());
    }
    fn scheduled(chunk: ChunkSize, threads: Option<usize>) -> impl Side {
        let mut schedule = Schedule::new();
        schedule.add(ab);
        schedule.add(cd);
        schedule.add(ce);
        through(schedule, threads, chunk, check_swapped)
    }
    Workload::new("systems_light", 4 * ROWS, 6 * ROWS)
        .limit(|| {
            steady(entities(ChunkSize::KIB_16), calls, |world, steps| check_swapped(world, steps))
        })
        .phalanx("phalanx_one_thread", |chunk| scheduled(chunk, Some(1)))
        .phalanx("phalanx_threads", |chunk| scheduled(chunk, None))
}

fn heavy_a(query: Query<'_, &mut A>) {
    query.into_iter().for_each(churn);
}

fn heavy_b(query: Query<'_, &mut B>) {
    query.into_iter().for_each(churn);
}

fn heavy_c(query: Query<'_, &mut C>) {
    query.into_iter().for_each(churn);
}

fn heavy() -> Workload {
    fn calls(world: &mut World) {
        heavy_a(world.query_mut());
        heavy_b(world.query_mut());
        heavy_c(world.query_mut());
    }
    fn scheduled(chunk: ChunkSize, threads: Option<usize>) -> impl Side {
        let mut schedule = Schedule::new();
        schedule.add(heavy_a);
        schedule.add(heavy_b);
        schedule.add(heavy_c);
        through(schedule, threads, chunk, |world, _| check_swapped(world, 0))
    }
    Workload::new("systems_heavy", 4 * ROWS, 11 * ROWS)
        .limit(|| steady(entities(ChunkSize::KIB_16), calls, |world, _| check_swapped(world, 0)))
        .phalanx("phalanx_one_thread", |chunk| scheduled(chunk, Some(1)))
        .phalanx("phalanx_threads", |chunk| scheduled(chunk, None))
}

/// A pass is a run of the schedule, on a number of threads or on all.
fn through(
    mut schedule: Schedule,
    threads: Option<usize>,
    chunk: ChunkSize,
    check: fn(&World, u64),
) -> impl Side {
    if let Some(threads) = threads {
        schedule.threads(threads);
    }
    steady(
        (entities(chunk), schedule),
        |(world, schedule)| schedule.run(world).expect("nothing can be missing"),
        move |(world, _), steps| check(world, steps),
    )
}

pub(crate) fn entities(chunk: ChunkSize) -> World {
    let mut world = world(chunk);
    let [a, b, c, d, e] = START;
    let rows = || 0..ROWS;
    world.spawn_batch(rows().map(|_| (A(a), B(b))));
    world.spawn_batch(rows().map(|_| (A(a), B(b), C(c))));
    world.spawn_batch(rows().map(|_| (A(a), B(b), C(c), D(d))));
    world.spawn_batch(rows().map(|_| (A(a), B(b), C(c), E(e))));
    world
}

/// After an odd number of swaps the pairs have each other's values.
pub(crate) fn check_swapped(world: &World, steps: u64) {
    fn sum<C: Component + Pod>(world: &World) -> f64 {
        world.query::<&C>().iter().flat_map(scalars::<f32>).copied().map(f64::from).sum()
    }
    let sums =
        [sum::<A>(world), sum::<B>(world), sum::<C>(world), sum::<D>(world), sum::<E>(world)];
    check_sums(sums, steps);
}

/// The same, by the sums of the columns.
pub(crate) fn check_sums(found: [f64; 5], steps: u64) {
    let [a, b, c, d, e] = START.map(|start| f64::from(start) * ROWS as f64);
    let want = if steps.is_multiple_of(2) {
        [4.0 * a, 4.0 * b, 3.0 * c, d, e]
    } else {
        [4.0 * b, 4.0 * a, c + d + e, c, c]
    };
    assert_eq!(found, want, "the sums of the columns after {steps} passes");
}
