//! A world that is put back runs as the first time, with the ids of the first time, in a schedule
//! that has gone on, in a new one, and in a world that was read from bytes.
#![cfg(not(miri))] // Thousands of ids in safe code.

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use crate::{A, B, Mark};

const FRAMES: usize = 7;

/// Systems of one stage that spawn and despawn beside each other. Their numbers of spawns follow
/// from the rows and grow to a peak, so that a schedule that has gone on took more ids than the
/// world that is put back.
fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    for system in 0..4u64 {
        schedule.add(move |clock: Query<&B>, mut commands: Commands, mut more: Commands| {
            let clock = clock.rows().next().expect("the world has a clock").0;
            let n = match (clock + system) % 7 {
                0 => 7,
                1 => 40,
                2 => 700,
                3 => 3,
                5 => 9,
                6 => 300,
                _ => 0,
            };
            for i in 0..n {
                commands.spawn(A(i));
            }
            if system == 1 {
                more.spawn((A(clock), Mark));
            }
        });
    }
    schedule.add(|clock: Query<&mut B>| clock.rows().for_each(|clock| clock.0 += 1));
    schedule.add(|query: Query<Entity, Without<B>>, mut commands: Commands| {
        query.rows().step_by(3).for_each(|entity| commands.despawn(entity));
    });
    schedule
}

/// The hashes of the world after each of the last frames from `frame` on.
fn run(schedule: &mut Schedule, world: &mut World, frame: usize) -> Vec<u64> {
    let frames = (frame..FRAMES).map(|_| {
        schedule.run(world).unwrap();
        world.check().unwrap();
        world.hash()
    });
    frames.collect()
}

/// A world after all frames, its schedule, the snapshots before each frame, and the hashes after
/// each.
fn first_run() -> (World, Schedule, Vec<Snapshot>, Vec<u64>) {
    let (mut world, mut schedule) = (World::new(), schedule());
    world.spawn(B(0));
    let (mut before, mut hashes) = (Vec::new(), Vec::new());
    for _ in 0..FRAMES {
        before.push(world.snapshot().unwrap());
        schedule.run(&mut world).unwrap();
        hashes.push(world.hash());
    }
    (world, schedule, before, hashes)
}

#[test]
fn a_world_put_back_gives_the_ids_of_the_first_time() {
    let (mut world, mut used, before, hashes) = first_run();
    for frame in (0..FRAMES).rev() {
        world.restore(&before[frame]).unwrap();
        assert_eq!(
            run(&mut used, &mut world, frame),
            hashes[frame..],
            "the same schedule, {frame}"
        );
        world.restore(&before[frame]).unwrap();
        assert_eq!(run(&mut schedule(), &mut world, frame), hashes[frame..], "a new one, {frame}");
    }
}

#[test]
fn a_world_read_from_bytes_gives_the_same_ids() {
    let (_, _, before, hashes) = first_run();
    for (frame, snapshot) in before.iter().enumerate() {
        let mut world = World::new();
        world.register::<(A, B, Mark)>();
        let read = world.read_snapshot(&snapshot.to_bytes().unwrap()).unwrap();
        world.restore(&read).unwrap();
        assert_eq!(run(&mut schedule(), &mut world, frame), hashes[frame..], "frame {frame}");
    }
}

#[test]
fn a_world_that_follows_by_deltas_gives_the_same_ids() {
    let (mut world, mut schedule) = (World::new(), schedule());
    world.spawn(B(0));
    let mut state = world.snapshot().unwrap();
    let mut mirror = World::new();
    mirror.register::<(A, B, Mark)>();
    let mut mirrored = mirror.read_snapshot(&state.to_bytes().unwrap()).unwrap();
    for frame in 0..FRAMES {
        schedule.run(&mut world).unwrap();
        let delta = state.delta(&mut world).unwrap();
        mirrored.read_delta(&mut mirror, &delta).unwrap();
        world.snapshot_into(&mut state).unwrap();
        mirror.restore(&mirrored).unwrap();
        assert_eq!(mirror.hash(), world.hash(), "frame {frame}");
        let mut ahead = World::new();
        ahead.register::<(A, B, Mark)>();
        let read = ahead.read_snapshot(&state.to_bytes().unwrap()).unwrap();
        ahead.restore(&read).unwrap();
        let next = |world: &mut World| run(&mut self::schedule(), world, FRAMES - 1);
        assert_eq!(next(&mut mirror), next(&mut ahead), "after frame {frame}");
    }
}
