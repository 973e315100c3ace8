//! `par().for_each_chunk` against the loop, by size: from which size on another thread pays.
//!
//! Light is `position += velocity * dt`, a few instructions a row; heavy inverts a matrix four
//! times, some hundred instructions. `limit` is serial: `n` cores can reach one `n`th of it at
//! best.

use phalanx::prelude::*;

use super::heavy::{flat_matrices, our_matrices, our_parallel_matrices};
use super::iterate::{flat_pos_vel, our_pos_vel};
use super::programs::columns::integrate;
use super::sides::{Side, Workload, steady};
use super::{DT, Position, Velocity, check_moved, moving_world, sum_of_world};

const LIGHT: [usize; 7] = [1_000, 8_000, 32_000, 64_000, 128_000, 512_000, 4_000_000];
const HEAVY: [usize; 6] = [100, 400, 1_600, 6_400, 12_800, 25_600];
const TIMES: u32 = 4;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    HEAVY.map(heavy).into_iter().chain(LIGHT.map(light)).collect()
}

fn heavy(len: usize) -> Workload {
    Workload::new("parallel_heavy", len, len)
        .limit(move || flat_matrices(len, TIMES))
        .phalanx("phalanx_parallel", move |chunk| our_parallel_matrices(chunk, len, TIMES))
        .phalanx("phalanx_serial", move |chunk| our_matrices(chunk, len, TIMES))
}

fn light(len: usize) -> Workload {
    Workload::new("parallel_light", len, len)
        .limit(move || flat_pos_vel(len, 1))
        .phalanx("phalanx_parallel", move |chunk| parallel_pos_vel(chunk, len))
        .phalanx("phalanx_serial", move |chunk| our_pos_vel(chunk, len, 1))
}

fn parallel_pos_vel(chunk: ChunkSize, len: usize) -> impl Side {
    steady(
        moving_world(chunk, len).0,
        |world| {
            let moving = world.query_mut::<(&mut Position, &Velocity)>();
            moving.par().for_each_chunk(|(p, v)| integrate(p, v, DT));
        },
        move |world, steps| check_moved(sum_of_world(world), len, steps, DT),
    )
}
