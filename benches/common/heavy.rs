//! Arithmetic alone: 1,000 matrices inverted 100 times, on one thread and on all.
//!
//! Both sides run the same body, so the difference is the code around it.

use phalanx::prelude::*;
use rayon::prelude::*;

use super::matrix::{Matrix, START, check_inverted, invert};
use super::sides::{Side, Workload, steady};
use super::{flat, world};

const MATRICES: usize = 1_000;
const TIMES: u32 = 100;

/// Matrices that a thread of the limit takes at once.
const TASK: usize = 64;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![heavy_compute(), heavy_compute_parallel()]
}

fn heavy_compute() -> Workload {
    Workload::new("heavy_compute", MATRICES, MATRICES)
        .limit(|| flat_matrices(MATRICES, TIMES))
        .phalanx("phalanx", |chunk| our_matrices(chunk, MATRICES, TIMES))
}

fn heavy_compute_parallel() -> Workload {
    Workload::new("heavy_compute_parallel", MATRICES, MATRICES)
        .limit(|| {
            steady(
                vec![START.0; MATRICES],
                |matrices| {
                    matrices.par_chunks_mut(TASK).for_each(|task| flat::invert(task, TIMES));
                },
                |matrices, steps| check_inverted(matrices.iter(), MATRICES, steps),
            )
        })
        .phalanx("phalanx", |chunk| our_parallel_matrices(chunk, MATRICES, TIMES))
}

/// The limit: `len` matrices, inverted `times` times a pass.
pub(crate) fn flat_matrices(len: usize, times: u32) -> impl Side {
    steady(
        vec![START.0; len],
        move |matrices| flat::invert(matrices, times),
        move |matrices, steps| check_inverted(matrices.iter(), len, steps),
    )
}

/// The same in a world.
pub(crate) fn our_matrices(chunk: ChunkSize, len: usize, times: u32) -> impl Side {
    steady(
        matrix_world(chunk, len),
        move |world| {
            for matrices in world.query_mut::<&mut Matrix>() {
                invert(matrices, times);
            }
        },
        move |world, steps| check_world(world, len, steps),
    )
}

/// The same on rayon's threads.
pub(crate) fn our_parallel_matrices(chunk: ChunkSize, len: usize, times: u32) -> impl Side {
    steady(
        matrix_world(chunk, len),
        move |world| {
            world.query_mut::<&mut Matrix>().par().for_each_chunk(|matrices| {
                invert(matrices, times);
            });
        },
        move |world, steps| check_world(world, len, steps),
    )
}

fn matrix_world(chunk: ChunkSize, len: usize) -> World {
    let mut world = world(chunk);
    world.spawn_batch((0..len).map(|_| START));
    world
}

fn check_world(world: &World, len: usize, steps: u64) {
    check_inverted(world.query::<&Matrix>().iter().flatten().map(|matrix| &matrix.0), len, steps);
}
