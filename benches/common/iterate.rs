//! Loops over columns: the reason for the library.

use phalanx::prelude::*;
use phalanx::simd::fold;

use super::column::Column;
use super::programs::columns::{PosVel, SimpleIter};
use super::programs::fragments::{ARCHETYPES, FragmentedIter, ROWS};
use super::sides::{Side, Workload, steady};
use super::timed::{timed, timed_rounds};
use super::{
    DT, Position, Velocity, check_doubled, check_moved, flat, moving_world, positions,
    sum_of_positions, velocities,
};

/// From the L2 cache to memory.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 8_000_000];

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let mut all = vec![fragmented_iter()];
    all.extend(SIZES.map(pos_vel));
    all.push(simple_iter(10_000));
    all.extend(SIZES.map(sum));
    all
}

/// The positions and the velocities of `len` entities, at the best addresses.
fn flat_columns(len: usize) -> (Column<Position>, Column<Velocity>) {
    (Column::new(&positions(len), 0), Column::new(&velocities(len), 1))
}

/// `position += velocity` in a world with a matrix and a rotation in each row as well.
fn simple_iter(len: usize) -> Workload {
    Workload::new("simple_iter", len, len)
        .limit(move || {
            steady(
                flat_columns(len),
                |(p, v)| flat::add(p.write(), v.read()),
                move |(p, _), steps| check_moved(sum_of_positions(p.read()), len, steps, 1.0),
            )
        })
        .phalanx("phalanx", move |chunk| timed(SimpleIter::new(chunk, len)))
}

/// `position += velocity * dt` over all rows.
fn pos_vel(len: usize) -> Workload {
    Workload::new("pos_vel", len, len)
        .limit(move || flat_pos_vel(len, 1))
        .phalanx("phalanx", move |chunk| our_pos_vel(chunk, len, 1))
        .phalanx_at("phalanx_256KiB", 256, move |chunk| our_pos_vel(chunk, len, 1))
}

/// The limit of `position += velocity * dt`, run `repeat` times a pass.
pub(crate) fn flat_pos_vel(len: usize, rounds: u64) -> impl Side {
    steady(
        flat_columns(len),
        move |(p, v)| {
            for _ in 0..rounds {
                flat::add_scaled(p.write(), v.read(), DT);
            }
        },
        move |(p, _), steps| check_moved(sum_of_positions(p.read()), len, steps * rounds, DT),
    )
}

/// The same in a world.
pub(crate) fn our_pos_vel(chunk: ChunkSize, len: usize, rounds: u64) -> impl Side {
    timed_rounds(PosVel::new(chunk, len), rounds)
}

/// The sum of all coordinates, in rows with a second column that is not read.
fn sum(len: usize) -> Workload {
    Workload::new("sum", len, len)
        .limit(move || flat_sum(len))
        .phalanx("phalanx", move |chunk| our_sum(chunk, len))
        .phalanx_at("phalanx_256KiB", 256, move |chunk| our_sum(chunk, len))
}

/// The limit of the sum of all coordinates.
pub(crate) fn flat_sum(len: usize) -> impl Side {
    steady(
        (flat_columns(len), 0.0),
        |((p, _), total)| *total = flat::sum(p.read()),
        move |(_, total), _| check_moved(*total, len, 0, DT),
    )
}

/// The same in a world.
pub(crate) fn our_sum(chunk: ChunkSize, len: usize) -> impl Side {
    let (world, _) = moving_world(chunk, len);
    steady(
        (world, 0.0),
        |(world, total)| {
            *total = world
                .query::<&Position>()
                .iter()
                .map(|p| f64::from(fold::sum(scalars::<f32>(p))))
                .sum();
        },
        move |(_, total), _| check_moved(*total, len, 0, DT),
    )
}

/// A few rows in each of 26 archetypes: the cost of very short loops.
fn fragmented_iter() -> Workload {
    let len = ARCHETYPES * ROWS;
    Workload::new("fragmented_iter", len, len)
        .limit(move || {
            steady(
                vec![vec![1f32; ROWS]; ARCHETYPES],
                |columns| columns.iter_mut().for_each(|data| flat::double(data)),
                move |columns, steps| {
                    let sum = columns.iter().flatten().copied().map(f64::from).sum();
                    check_doubled(sum, len, steps);
                },
            )
        })
        .phalanx("phalanx", |chunk| timed(FragmentedIter::new(chunk)))
}
