//! Entities that are spawned and despawned in batches.
//!
//! One call spawns the batch. Despawning is entity by entity in two orders (from the first, so that
//! each removal moves the last row into the hole; from the last, so that no row moves), or all at
//! once.
//!
//! `batch_spawn_children` spawns the children of parents with their relations in one batch. Beside
//! it are a batch of neighbours with different parents, a batch without relations, and a batch with
//! relations that are inserted one by one.

use phalanx::prelude::*;

use super::hierarchy::ChildOf;
use super::sides::{Side, Workload, steady};
use super::structure::{Slots, check_lived};
use super::{Position, position, velocity, world};

const SIZES: [usize; 2] = [10_000, 100_000];

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let sizes = SIZES.into_iter();
    sizes.flat_map(|len| [batch_spawn_despawn(len), batch_spawn_children(len)]).collect()
}

/// The children of a parent.
const CHILDREN: usize = 100;

fn batch_spawn_children(len: usize) -> Workload {
    Workload::new("batch_spawn_children", len, len)
        .limit(move || {
            let parents = vec![Vec::with_capacity(CHILDREN); len / CHILDREN];
            steady(
                (Slots::default(), parents, 0),
                move |(slots, parents, lived)| {
                    for i in 0..len {
                        parents[i / CHILDREN].push(slots.spawn((position(i), velocity(i))));
                    }
                    *lived += slots.ids.len();
                    for id in parents.iter_mut().rev().flat_map(|some| some.drain(..).rev()) {
                        slots.despawn(id);
                    }
                },
                move |(slots, _, lived), steps| check_lived(*lived, slots.ids.len(), len, steps),
            )
        })
        .phalanx("phalanx", move |chunk| {
            families(chunk, len, move |world, parents| {
                let row = |i| (position(i), velocity(i), ChildOf::of(parents[i / CHILDREN]));
                world.spawn_batch((0..len).map(row));
            })
        })
        .phalanx("phalanx_alternating", move |chunk| {
            families(chunk, len, move |world, parents| {
                let parent = |i| ChildOf::of(parents[i % parents.len()]);
                world.spawn_batch((0..len).map(|i| (position(i), velocity(i), parent(i))));
            })
        })
        .phalanx("phalanx_one_by_one", move |chunk| {
            families(chunk, len, move |world, parents| {
                let rows = (0..len).map(|i| (position(i), velocity(i)));
                let children = world.spawn_batch(rows).to_vec();
                for (i, child) in children.into_iter().enumerate() {
                    world.insert(child, ChildOf::of(parents[i / CHILDREN])).expect("no cycle");
                }
            })
        })
        .phalanx("phalanx_without_parents", move |chunk| {
            families(chunk, len, move |world, _| {
                world.spawn_batch((0..len).map(|i| (position(i), velocity(i))));
            })
        })
}

/// A side that spawns children, of which the parents are reserved ids, and clears the world.
fn families(chunk: ChunkSize, len: usize, spawn: impl Fn(&mut World, &[Entity])) -> impl Side {
    steady(
        (world(chunk), 0),
        move |(world, lived)| {
            let parents: Vec<_> = (0..len / CHILDREN)
                .map(|_| world.reserve_entity().expect("there are ids"))
                .collect();
            spawn(world, &parents);
            *lived += world.query::<&Position>().count_rows();
            world.clear();
        },
        move |(world, lived), steps| check_lived(*lived, world.len(), len, steps),
    )
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
