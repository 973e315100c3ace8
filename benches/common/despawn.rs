//! Entities that end anywhere in a large world: some each frame, replaced by an equal number.
//!
//! The limit is one table of dense `Vec`s with swap removal, as in [`structure`](super::structure).

use std::time::{Duration, Instant};

use phalanx::prelude::*;

use super::programs::random::random_index;
use super::sides::{Side, Workload, partial};
use super::structure::Slots;
use super::{Position, Velocity, position, velocity, world};

const ENTITIES: usize = 1_000_000;
/// Frames of a life.
const FRAMES: u32 = 200;
/// Entities that end in one frame.
const ENDING: usize = ENTITIES / FRAMES as usize;

/// The frame in which an entity ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Ends(u32);

impl_component!(Ends as "bench.despawn.ends");

type Row = (Position, Velocity, Ends);

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![despawn_scattered(), retain()]
}

/// Despawns entities with known ids.
fn despawn_scattered() -> Workload {
    let by = |despawn: fn(&mut World, &mut CommandBuffer, &[Entity])| {
        move |chunk| {
            frames(chunk, move |world, buffer, frame| {
                let ended = ended(world, frame);
                let start = Instant::now();
                despawn(world, buffer, &ended);
                start.elapsed()
            })
        }
    };
    Workload::new("despawn_scattered", ENTITIES, ENDING)
        .limit(|| {
            flat_frames(|slots, frame| {
                let ended = flat_ended(slots, frame);
                let start = Instant::now();
                ended.into_iter().for_each(|id| slots.despawn(id));
                start.elapsed()
            })
        })
        .phalanx(
            "phalanx",
            by(|world, _, ended| assert_eq!(world.despawn_batch(ended), ended.len(), "alive")),
        )
        .phalanx(
            "phalanx_one_by_one",
            by(|world, _, ended| {
                for &entity in ended {
                    world.despawn(entity).expect("alive");
                }
            }),
        )
        .phalanx(
            "phalanx_commands",
            by(|world, buffer, ended| {
                ended.iter().for_each(|&entity| buffer.despawn(entity));
                world.apply(buffer).expect("a despawn never fails");
            }),
        )
}

/// Finds the rows that end, and despawns them.
fn retain() -> Workload {
    Workload::new("retain", ENTITIES, ENDING)
        .limit(|| {
            flat_frames(|slots, frame| {
                let start = Instant::now();
                flat_ended(slots, frame).into_iter().for_each(|id| slots.despawn(id));
                start.elapsed()
            })
        })
        .phalanx("phalanx", |chunk| {
            frames(chunk, |world, _, frame| {
                let start = Instant::now();
                let ended = world.matching::<&Ends>().retain(|ends, keep| mark(ends, keep, frame));
                let time = start.elapsed();
                assert_eq!(ended, ENDING, "as many as end");
                time
            })
        })
        .phalanx("phalanx_by_hand", |chunk| {
            frames(chunk, |world, _, frame| {
                let start = Instant::now();
                let ended = ended(world, frame);
                world.despawn_batch(&ended);
                start.elapsed()
            })
        })
}

#[kernel]
fn mark(ends: &[Ends], keep: &mut [bool], frame: u32) {
    for (ends, keep) in ends.iter().zip(keep) {
        *keep = ends.0 != frame;
    }
}

/// The entities that end in a frame.
fn ended(world: &World, frame: u32) -> Vec<Entity> {
    let mut ended = Vec::new();
    for (entities, ends) in world.query::<(Entity, &Ends)>() {
        let of_frame = entities.iter().zip(ends).filter(|(_, ends)| ends.0 == frame);
        ended.extend(of_frame.map(|(&entity, _)| entity));
    }
    ended
}

/// The same, in the limit's table.
fn flat_ended(slots: &Slots<Row>, frame: u32) -> Vec<(u32, u32)> {
    let ends = &slots.columns.2;
    let of_frame = slots.ids.iter().zip(ends).filter(|(_, ends)| ends.0 == frame);
    of_frame.map(|(&index, _)| (index, slots.generations[index as usize])).collect()
}

/// The frames in which the first entities end: an equal number in each, in random order.
fn first_ends() -> Vec<Ends> {
    let mut ends: Vec<_> = (0..FRAMES).cycle().take(ENTITIES).map(Ends).collect();
    let mut random = random_index();
    for i in (1..ENTITIES).rev() {
        ends.swap(i, random(i + 1));
    }
    ends
}

fn row(i: usize, ends: Ends) -> Row {
    (position(i), velocity(i), ends)
}

/// A world in which entities end frame after frame. `end` despawns the entities of a frame and
/// returns the time; their replacements are spawned untimed.
fn frames(
    chunk: ChunkSize,
    mut end: impl FnMut(&mut World, &mut CommandBuffer, u32) -> Duration,
) -> impl Side {
    let mut world = world(chunk);
    world.spawn_batch((0..).zip(first_ends()).map(|(i, ends)| row(i, ends)));
    let buffer = world.command_buffer(0).expect("no ids");
    partial(
        (world, buffer, 0),
        move |(world, buffer, frame)| {
            let time = end(world, buffer, *frame);
            world.spawn_batch((0..ENDING).map(|i| row(i, Ends(*frame + FRAMES))));
            *frame += 1;
            time
        },
        |(world, _, frame)| {
            assert_eq!(world.len(), ENTITIES, "as many have come as have ended");
            let mut ends = world.query::<&Ends>().into_iter().flatten();
            assert!(ends.all(|ends| ends.0 >= *frame), "those that ended are gone");
        },
    )
}

/// The same with the limit's table.
fn flat_frames(mut end: impl FnMut(&mut Slots<Row>, u32) -> Duration) -> impl Side {
    let mut slots = Slots::default();
    for (i, ends) in (0..).zip(first_ends()) {
        slots.spawn(row(i, ends));
    }
    partial(
        (slots, 0),
        move |(slots, frame)| {
            let time = end(slots, *frame);
            for i in 0..ENDING {
                slots.spawn(row(i, Ends(*frame + FRAMES)));
            }
            *frame += 1;
            time
        },
        |(slots, frame)| {
            assert_eq!(slots.ids.len(), ENTITIES, "as many have come as have ended");
            assert!(slots.columns.2.iter().all(|ends| ends.0 >= *frame), "the others are gone");
        },
    )
}
