//! Reading by entity: a million random reads over 100,000 entities.

use std::hint::black_box;

use phalanx::prelude::*;

use super::programs::lookup::{RandomLookup, sum_read};
use super::programs::random::random_indices;
use super::sides::{Side, Workload, steady};
use super::timed::timed;
use super::{Position, Rotation, Transform, Velocity, moving_world, position, positions, world};

const ENTITIES: usize = 100_000;
const READS: usize = 1_000_000;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![random_get(), random_get_among(), random_get_mut()]
}

/// Sums `x` of entities in random order, through the world and through a lookup made earlier.
fn random_get() -> Workload {
    Workload::new("random_get", ENTITIES, READS)
        .limit(flat_reads)
        .phalanx("phalanx_get", |chunk| {
            steady(
                read_world(chunk),
                |(world, order, sum)| {
                    let world = &*world;
                    *sum = black_box(&*order)
                        .iter()
                        .map(|&entity| world.get::<Position>(entity).expect("alive").x)
                        .sum();
                },
                |(_, _, sum), _| check(*sum),
            )
        })
        .phalanx("phalanx_lookup", |chunk| timed(RandomLookup::new(chunk, ENTITIES, READS)))
}

/// The same of a flat array, by index.
fn flat_reads() -> impl Side {
    steady(
        (positions(ENTITIES), order(), 0f32),
        |(positions, order, sum)| {
            *sum = black_box(&*order).iter().map(|&i| positions[i as usize].x).sum();
        },
        |(_, _, sum), _| check(*sum),
    )
}

/// [`random_get`] with entities spread over eight archetypes.
fn random_get_among() -> Workload {
    Workload::new("random_get_among_8", ENTITIES, READS).limit(flat_reads).phalanx(
        "phalanx_lookup",
        |chunk| {
            let mut world = world(chunk);
            let entities: Vec<_> =
                (0..ENTITIES).map(|i| spawn_among_8(&mut world, i, position(i))).collect();
            let firsts = world.query::<&Position>().chunks().filter(|chunk| chunk.index() == 0);
            assert_eq!(firsts.count(), 8, "archetypes");
            let order: Vec<_> = order().into_iter().map(|i| entities[i as usize]).collect();
            steady(
                (world, order, 0f32),
                |(world, order, sum)| {
                    let positions = world.lookup::<Position>();
                    *sum = black_box(&*order)
                        .iter()
                        .map(|&entity| positions.get(entity).expect("alive").x)
                        .sum();
                },
                |(_, _, sum), _| check(*sum),
            )
        },
    )
}

/// Entities of eight component sets in turn: each of three more components is present or absent.
fn spawn_among_8(world: &mut World, i: usize, position: Position) -> Entity {
    let (t, r, v) = (Transform([0.0; 16]), Rotation::default(), Velocity::default());
    match i % 8 {
        0 => world.spawn(position),
        1 => world.spawn((position, t)),
        2 => world.spawn((position, r)),
        3 => world.spawn((position, v)),
        4 => world.spawn((position, t, r)),
        5 => world.spawn((position, t, v)),
        6 => world.spawn((position, r, v)),
        _ => world.spawn((position, t, r, v)),
    }
}

/// Adds one to `x` of entities in random order.
fn random_get_mut() -> Workload {
    Workload::new("random_get_mut", ENTITIES, READS)
        .limit(|| {
            steady(
                (positions(ENTITIES), order()),
                |(positions, order)| {
                    for &i in black_box(&*order) {
                        positions[i as usize].x += 1.0;
                    }
                },
                |(positions, _), steps| check_written(positions, steps),
            )
        })
        .phalanx("phalanx_get_mut", |chunk| {
            steady(
                read_world(chunk),
                |(world, order, _)| {
                    for &entity in black_box(&*order) {
                        world.get_mut::<Position>(entity).expect("alive").x += 1.0;
                    }
                },
                |(world, _, _), steps| check_world(world, steps),
            )
        })
        .phalanx("phalanx_lookup_mut", |chunk| {
            steady(
                read_world(chunk),
                |(world, order, _)| {
                    let mut positions = world.lookup_mut::<Position>();
                    for &entity in black_box(&*order) {
                        positions.get_mut(entity).expect("alive").x += 1.0;
                    }
                },
                |(world, _, _), steps| check_world(world, steps),
            )
        })
}

fn check_world(world: &World, steps: u64) {
    let positions: Vec<_> = world.query::<&Position>().iter().flatten().copied().collect();
    check_written(&positions, steps);
}

/// Each position has moved by one for every time its index occurs in the order.
fn check_written(positions: &[Position], steps: u64) {
    let mut times = vec![0; ENTITIES];
    order().into_iter().for_each(|i| times[i as usize] += steps);
    for (i, (found, times)) in positions.iter().zip(times).enumerate() {
        assert_eq!(found.x, position(i).x + times as f32, "x of entity {i}");
    }
}

/// Indices in reading order.
fn order() -> Vec<u32> {
    random_indices(ENTITIES, READS).map(|i| u32::try_from(i).expect("an index")).collect()
}

fn read_world(chunk: ChunkSize) -> (World, Vec<Entity>, f32) {
    let (world, entities) = moving_world(chunk, ENTITIES);
    (world, order().into_iter().map(|i| entities[i as usize]).collect(), 0.0)
}

fn check(sum: f32) {
    assert_eq!(sum, sum_read(ENTITIES, READS), "the sum of what was read");
}
