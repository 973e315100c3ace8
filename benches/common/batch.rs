//! Entities that are spawned and despawned in batches.
//!
//! One call spawns the batch. Despawning is entity by entity in two orders (from the first, so that
//! each removal moves the last row into the hole; from the last, so that no row moves), or all at
//! once.

use phalanx::prelude::*;

use super::sides::{Side, Workload, steady};
use super::structure::{Slots, check_lived};
use super::{position, velocity, world};

const SIZES: [usize; 2] = [10_000, 100_000];

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    SIZES.map(batch_spawn_despawn).into()
}

fn batch_spawn_despawn(len: usize) -> Workload {
    Workload::new("batch_spawn_despawn", len, len)
        .limit(move || {
            steady(
                (Slots::default(), Vec::with_capacity(len), 0),
                move |(slots, ids, lived)| {
                    ids.extend((0..len).map(|i| slots.spawn((position(i), velocity(i)))));
                    *lived += slots.ids.len();
                    for id in ids.drain(..).rev() {
                        slots.despawn(id);
                    }
                },
                move |(slots, _, lived), steps| check_lived(*lived, slots.ids.len(), len, steps),
            )
        })
        .phalanx("phalanx_backwards", move |chunk| {
            ours(chunk, len, |world, batch| {
                for &entity in batch.iter().rev() {
                    world.despawn(entity).expect("alive");
                }
            })
        })
        .phalanx("phalanx_clear", move |chunk| ours(chunk, len, |world, _| world.clear()))
        .phalanx("phalanx_forwards", move |chunk| {
            ours(chunk, len, |world, batch| {
                for &entity in batch {
                    world.despawn(entity).expect("alive");
                }
            })
        })
}

/// A side that spawns a batch and despawns it in some way.
fn ours(chunk: ChunkSize, len: usize, end: impl Fn(&mut World, &[Entity])) -> impl Side {
    steady(
        (world(chunk), Vec::with_capacity(len), 0),
        move |(world, batch, lived)| {
            batch.clear();
            let spawned = world.spawn_batch((0..len).map(|i| (position(i), velocity(i))));
            batch.extend_from_slice(spawned);
            *lived += world.len();
            end(world, batch);
        },
        move |(world, _, lived), steps| check_lived(*lived, world.len(), len, steps),
    )
}
