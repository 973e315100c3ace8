//! Command buffers: the cost of recording and playing back a command, beside the same changes made
//! directly.
//!
//! The limit is the direct call for each entity, in the same world and the same order. Only the
//! part in the name is timed; its preparation, and undoing it, are not.

use std::time::{Duration, Instant};

use phalanx::prelude::*;

use super::programs::random::random;
use super::sides::{Side, Workload, partial};
use super::{Position, Velocity, position, velocity, world};

const ENTITIES: usize = 10_000;

/// The component that stays.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Kept(f32);

/// Components that are added and removed.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Added(f32);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Second(f32);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Third(f32);

impl_component!(
    Kept as "bench.commands.kept",
    Added as "bench.commands.added",
    Second as "bench.commands.second",
    Third as "bench.commands.third"
);

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        insert("commands_insert", false),
        insert("commands_insert_scattered", true),
        insert_three(),
        spawn(),
        despawn(),
    ]
}

/// A world, its entities in the order of the commands, and a buffer.
struct Frame {
    world: World,
    entities: Vec<Entity>,
    buffer: CommandBuffer,
}

impl Frame {
    /// `ENTITIES` entities, to be changed in their order or in another.
    fn new(chunk: ChunkSize, scattered: bool) -> Self {
        let mut world = world(chunk);
        let mut entities = world.spawn_batch((0..ENTITIES).map(|i| Kept(i as f32))).to_vec();
        if scattered {
            let mut random = random(7);
            entities.sort_by_cached_key(|_| random());
        }
        let buffer = world.command_buffer(0).expect("none");
        Self { world, entities, buffer }
    }

    fn check<C: Component>(&mut self) {
        assert_eq!(self.world.query::<&C>().iter().count(), 0, "all were removed");
        assert_eq!(self.world.query::<&Kept>().rows().count(), ENTITIES, "the other stays");
    }
}

/// The time that `f` takes.
fn time(f: impl FnOnce()) -> Duration {
    let start = Instant::now();
    f();
    start.elapsed()
}

/// A side that times one of two steps of a frame.
fn frame<const RECORD: bool>(
    mut frame: Frame,
    mut record: impl FnMut(&mut Frame),
    mut undo: impl FnMut(&mut Frame),
    check: impl FnMut(&mut Frame),
) -> impl Side {
    frame.buffer.clear();
    partial(
        frame,
        move |frame| {
            let recorded = time(|| record(frame));
            let applied = time(|| _ = frame.world.apply(&mut frame.buffer).expect("all alive"));
            undo(frame);
            if RECORD { recorded } else { applied }
        },
        check,
    )
}

/// One component for every entity.
fn insert(name: &'static str, scattered: bool) -> Workload {
    fn record(frame: &mut Frame) {
        for &entity in &frame.entities {
            frame.buffer.insert(entity, Added(1.0));
        }
    }
    fn undo(frame: &mut Frame) {
        for &entity in &frame.entities {
            assert_eq!(frame.world.remove::<Added>(entity), Ok(Added(1.0)), "was just added");
        }
    }
    let new = move |chunk| Frame::new(chunk, scattered);
    Workload::new(name, ENTITIES, ENTITIES)
        .limit(move || {
            partial(
                new(ChunkSize::KIB_16),
                |frame| {
                    let time = time(|| {
                        for &entity in &frame.entities {
                            frame.world.insert(entity, Added(1.0)).expect("alive");
                        }
                    });
                    undo(frame);
                    time
                },
                Frame::check::<Added>,
            )
        })
        .phalanx("phalanx_playback", move |chunk| {
            frame::<false>(new(chunk), record, undo, Frame::check::<Added>)
        })
        .phalanx("phalanx_record", move |chunk| {
            frame::<true>(new(chunk), record, undo, Frame::check::<Added>)
        })
}

/// Three components for every entity, in three rounds: three commands, one move.
fn insert_three() -> Workload {
    fn record(frame: &mut Frame) {
        let Frame { entities, buffer, .. } = frame;
        entities.iter().for_each(|&entity| buffer.insert(entity, Added(1.0)));
        entities.iter().for_each(|&entity| buffer.insert(entity, Second(2.0)));
        entities.iter().for_each(|&entity| buffer.insert(entity, Third(3.0)));
    }
    fn undo(frame: &mut Frame) {
        let three = Ok((Added(1.0), Second(2.0), Third(3.0)));
        for &entity in &frame.entities {
            let removed = frame.world.remove::<(Added, Second, Third)>(entity);
            assert_eq!(removed, three, "were just added");
        }
    }
    Workload::new("commands_insert_three", ENTITIES, 3 * ENTITIES)
        .limit(|| {
            partial(
                Frame::new(ChunkSize::KIB_16, false),
                |frame| {
                    let Frame { world, entities, .. } = frame;
                    let time = time(|| {
                        for &entity in &*entities {
                            world.insert(entity, Added(1.0)).expect("alive");
                        }
                        for &entity in &*entities {
                            world.insert(entity, Second(2.0)).expect("alive");
                        }
                        for &entity in &*entities {
                            world.insert(entity, Third(3.0)).expect("alive");
                        }
                    });
                    undo(frame);
                    time
                },
                Frame::check::<Added>,
            )
        })
        .phalanx("phalanx_playback", |chunk| {
            frame::<false>(Frame::new(chunk, false), record, undo, Frame::check::<Third>)
        })
}

/// An entity of two components for each command; a batch of all of them is one command.
fn spawn() -> Workload {
    fn new(chunk: ChunkSize) -> Frame {
        let mut world = world(chunk);
        let buffer = world.command_buffer(u32::try_from(ENTITIES).expect("few")).expect("enough");
        Frame { world, entities: Vec::new(), buffer }
    }
    fn record(frame: &mut Frame) {
        for i in 0..ENTITIES {
            frame.buffer.spawn((position(i), velocity(i)));
        }
    }
    fn undo(frame: &mut Frame) {
        assert_eq!(frame.world.len(), ENTITIES, "all were spawned");
        frame.world.clear();
    }
    fn check(frame: &mut Frame) {
        let rows = frame.world.query::<(&Position, &Velocity)>().rows().count();
        assert_eq!(rows, 0, "all were cleared");
    }
    Workload::new("commands_spawn", ENTITIES, ENTITIES)
        .limit(|| {
            partial(
                new(ChunkSize::KIB_16),
                |frame| {
                    let time = time(|| {
                        for i in 0..ENTITIES {
                            frame.world.spawn((position(i), velocity(i)));
                        }
                    });
                    undo(frame);
                    time
                },
                check,
            )
        })
        .phalanx("phalanx_playback", |chunk| frame::<false>(new(chunk), record, undo, check))
        .phalanx("phalanx_record", |chunk| frame::<true>(new(chunk), record, undo, check))
        .phalanx("phalanx_batch", |chunk| {
            let record = |frame: &mut Frame| {
                frame.buffer.spawn_batch((0..ENTITIES).map(|i| (position(i), velocity(i))));
            };
            frame::<false>(new(chunk), record, undo, check)
        })
}

/// Despawns every entity, from the first on.
fn despawn() -> Workload {
    fn refill(frame: &mut Frame) {
        assert!(frame.world.is_empty(), "all were despawned");
        frame.entities.clear();
        let spawned = frame.world.spawn_batch((0..ENTITIES).map(|i| Kept(i as f32)));
        frame.entities.extend_from_slice(spawned);
    }
    fn record(frame: &mut Frame) {
        let Frame { entities, buffer, .. } = frame;
        entities.iter().for_each(|&entity| buffer.despawn(entity));
    }
    Workload::new("commands_despawn", ENTITIES, ENTITIES)
        .limit(|| {
            partial(
                Frame::new(ChunkSize::KIB_16, false),
                |frame| {
                    let time = time(|| {
                        for &entity in &frame.entities {
                            frame.world.despawn(entity).expect("alive");
                        }
                    });
                    refill(frame);
                    time
                },
                Frame::check::<Added>,
            )
        })
        .phalanx("phalanx_playback", |chunk| {
            frame::<false>(Frame::new(chunk, false), record, refill, Frame::check::<Added>)
        })
}
