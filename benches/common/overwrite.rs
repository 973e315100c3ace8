//! A column that is written and not read: stores through the caches, and past them.
//!
//! The limit is a flat loop with plain stores. Where the columns are larger than the last-level
//! cache, streaming stores are faster than the limit; everywhere else they are slower.

use phalanx::prelude::*;
use phalanx::simd::{Stores, overwrite};

use super::column::Column;
use super::flat;
use super::sides::{Side, Workload, steady};
use super::world;

/// In the first-level cache, in the last-level cache of most machines, and in none.
const SIZES: [usize; 3] = [4_096, 1_000_000, 16_000_000];

const LEAST: f32 = 8.0;

#[component(name = "bench.source")]
struct Source(f32);
#[component(name = "bench.target")]
struct Target(f32);

#[kernel]
fn at_least(target: &mut [Target], source: &[Source], least: f32) {
    for (target, source) in target.iter_mut().zip(source) {
        target.0 = source.0.max(least);
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    SIZES.iter().map(|&rows| overwriting(rows)).collect()
}

fn overwriting(rows: usize) -> Workload {
    Workload::new("overwrite", rows, rows)
        .limit(move || {
            let source: Vec<f32> = (0..rows).map(value).collect();
            steady(
                (Column::new(&vec![0f32; rows], 0), Column::new(&source, 1)),
                |(target, source)| flat::at_least(target.write(), source.read(), LEAST),
                |(target, _), _| check(target.read()),
            )
        })
        .phalanx("phalanx_cached", move |chunk| side(chunk, rows, Stores::Cached))
        .phalanx("phalanx_streaming", move |chunk| side(chunk, rows, Stores::Streaming))
}

fn side(chunk: ChunkSize, rows: usize, stores: Stores) -> impl Side {
    let mut world = world(chunk);
    world.spawn_batch((0..rows).map(|i| (Source(value(i)), Target(0.0))));
    steady(
        world,
        move |world| {
            for (target, source) in world.query_mut::<(&mut Target, &Source)>().contiguous_chunks()
            {
                overwrite(target, stores, |range, target| at_least(target, &source[range], LEAST));
            }
        },
        |world, _| {
            let targets: Vec<f32> =
                world.query::<&Target>().iter().flat_map(scalars::<f32>).copied().collect();
            check(&targets);
        },
    )
}

fn value(i: usize) -> f32 {
    (i % 17) as f32
}

fn check(target: &[f32]) {
    for (i, target) in target.iter().enumerate() {
        assert_eq!(*target, value(i).max(LEAST), "row {i}");
    }
}
