//! Every entity in turn, in each possible way: chunks and a kernel, chunks and a plain loop, rows,
//! and the ids one after the other.
//!
//! Code outside a `#[kernel]` runs at the level of the build: `chunks` against `loop` is the gain
//! of the kernel, `loop` against `rows` the price of rows.

use std::hint::black_box;

use bytemuck::cast_slice;
use phalanx::prelude::*;

use super::iterate::{flat_pos_vel, our_pos_vel};
use super::sides::{Side, Workload, steady};
use super::{
    DT, Position, Velocity, check_moved, flat, moving_world, position, positions, sum_of_world,
};

const ENTITIES: usize = 100_000;

/// Half of the positions are above it.
const THRESHOLD: f32 = 31.0;

/// The number of `x` above the threshold.
#[kernel]
fn count_above(positions: &[Position], threshold: f32) -> u32 {
    positions.iter().map(|p| u32::from(p.x > threshold)).sum()
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![each_read(), each_write(), each_field()]
}

/// Counts the entities whose `x` is above a threshold: an order-free reduction, so that no side
/// waits for its own last addition.
fn each_read() -> Workload {
    Workload::new("each_read", ENTITIES, ENTITIES)
        .limit(|| {
            steady(
                (positions(ENTITIES), 0),
                |(positions, count)| *count = flat::count_above(cast_slice(positions), THRESHOLD),
                |(_, count), _| check_count(*count),
            )
        })
        .phalanx("phalanx_chunks", |chunk| {
            reading(chunk, |world, _| {
                world.query::<&Position>().iter().map(|p| count_above(p, THRESHOLD)).sum()
            })
        })
        .phalanx("phalanx_get", |chunk| {
            reading(chunk, |world, entities| {
                let of = |&entity| world.get::<Position>(entity).expect("alive");
                entities.iter().map(|entity| above(of(entity))).sum()
            })
        })
        .phalanx("phalanx_lookup", |chunk| {
            reading(chunk, |world, entities| {
                let lookup = world.lookup::<Position>();
                let of = |&entity| lookup.get(entity).expect("alive");
                entities.iter().map(|entity| above(of(entity))).sum()
            })
        })
        .phalanx("phalanx_loop", |chunk| {
            reading(chunk, |world, _| {
                let mut count = 0;
                for positions in world.query::<&Position>() {
                    for p in positions {
                        count += above(p);
                    }
                }
                count
            })
        })
        .phalanx("phalanx_rows", |chunk| {
            reading(chunk, |world, _| {
                let mut count = 0;
                for p in world.query::<&Position>().rows() {
                    count += above(p);
                }
                count
            })
        })
        .phalanx("phalanx_rows_sum", |chunk| {
            reading(chunk, |world, _| world.query::<&Position>().rows().map(above).sum())
        })
}

#[inline(always)]
fn above(position: &Position) -> u32 {
    u32::from(position.x > THRESHOLD)
}

fn reading(chunk: ChunkSize, count: impl Fn(&World, &[Entity]) -> u32) -> impl Side {
    let (world, entities) = moving_world(chunk, ENTITIES);
    steady(
        (world, entities, 0),
        move |(world, entities, counted)| *counted = count(world, black_box(entities)),
        |(_, _, counted), _| check_count(*counted),
    )
}

fn check_count(found: u32) {
    let want = (0..ENTITIES).filter(|&i| position(i).x > THRESHOLD).count();
    assert_eq!(found as usize, want, "entities above the threshold");
}

/// `position += velocity * dt` for every entity.
fn each_write() -> Workload {
    Workload::new("each_write", ENTITIES, ENTITIES)
        .limit(|| flat_pos_vel(ENTITIES, 1))
        .phalanx("phalanx_chunks", |chunk| our_pos_vel(chunk, ENTITIES, 1))
        .phalanx("phalanx_get_mut", |chunk| {
            writing(chunk, |world, entities| {
                for &entity in entities {
                    let velocity = *world.get::<Velocity>(entity).expect("alive");
                    advance(world.get_mut::<Position>(entity).expect("alive"), &velocity);
                }
            })
        })
        .phalanx("phalanx_loop", |chunk| {
            writing(chunk, |world, _| {
                for (positions, velocities) in world.query_mut::<(&mut Position, &Velocity)>() {
                    for (p, v) in positions.iter_mut().zip(velocities) {
                        advance(p, v);
                    }
                }
            })
        })
        .phalanx("phalanx_rows", |chunk| {
            writing(chunk, |world, _| {
                for (p, v) in world.query_mut::<(&mut Position, &Velocity)>().rows() {
                    advance(p, v);
                }
            })
        })
        .phalanx("phalanx_rows_for_each", |chunk| {
            writing(chunk, |world, _| {
                let rows = world.query_mut::<(&mut Position, &Velocity)>().rows();
                rows.for_each(|(p, v)| advance(p, v));
            })
        })
}

#[inline(always)]
fn advance(p: &mut Position, v: &Velocity) {
    p.x += v.x * DT;
    p.y += v.y * DT;
    p.z += v.z * DT;
}

fn writing(chunk: ChunkSize, write: impl Fn(&mut World, &[Entity])) -> impl Side {
    steady(
        moving_world(chunk, ENTITIES),
        move |(world, entities)| write(world, black_box(entities)),
        |(world, _), steps| check_moved(sum_of_world(world), ENTITIES, steps, DT),
    )
}

/// One field of the struct of every entity: `y = -y`.
///
/// No vector has only values that are written, so LLVM writes a field at a time, or by scatters
/// where it may use AVX-512: `chunks` against `rows_for_each` is the price of these.
fn each_field() -> Workload {
    Workload::new("each_field", ENTITIES, ENTITIES)
        .limit(|| {
            steady(
                positions(ENTITIES),
                |positions| positions.iter_mut().for_each(turn),
                |positions, steps| check_turned(positions.iter(), steps),
            )
        })
        .phalanx("phalanx_chunks", |chunk| {
            turning(chunk, |world| {
                world.query_mut::<&mut Position>().into_iter().for_each(turn_all)
            })
        })
        .phalanx("phalanx_loop", |chunk| {
            turning(chunk, |world| {
                for positions in world.query_mut::<&mut Position>() {
                    positions.iter_mut().for_each(turn);
                }
            })
        })
        .phalanx("phalanx_rows", |chunk| {
            turning(chunk, |world| {
                for position in world.query_mut::<&mut Position>().rows() {
                    turn(position);
                }
            })
        })
        .phalanx("phalanx_rows_for_each", |chunk| {
            turning(chunk, |world| world.query_mut::<&mut Position>().rows().for_each(turn))
        })
}

#[inline(always)]
fn turn(position: &mut Position) {
    position.y = -position.y;
}

#[kernel]
fn turn_all(positions: &mut [Position]) {
    positions.iter_mut().for_each(turn);
}

fn turning(chunk: ChunkSize, turn: impl Fn(&mut World)) -> impl Side {
    steady(
        moving_world(chunk, ENTITIES).0,
        move |world| turn(world),
        |world, steps| check_turned(world.query::<&Position>().rows(), steps),
    )
}

/// Bit by bit, in the order of the rows.
fn check_turned<'p>(positions: impl Iterator<Item = &'p Position>, steps: u64) {
    let mut rows = 0;
    for (i, found) in positions.enumerate() {
        let mut want = position(i);
        if steps % 2 == 1 {
            turn(&mut want);
        }
        let bits = |p: &Position| [p.x, p.y, p.z].map(f32::to_bits);
        assert_eq!(bits(found), bits(&want), "position {i} after {steps} passes");
        rows += 1;
    }
    assert_eq!(rows, ENTITIES, "rows");
}
