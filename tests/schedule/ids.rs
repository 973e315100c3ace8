//! Ids that systems take: their cost, their reach in a world of few ids, and their independence of
//! everything but the program.

use std::sync::{Arc, Mutex};

use phalanx::Lookup;
use phalanx::prelude::*;
use phalanx::schedule::Local;

use crate::A;

/// A schedule of systems that spawn beside each other: system `i` spawns `spawns(i, run)` entities.
fn spawners(systems: u32, spawns: impl Fn(u32, u32) -> u32 + Copy + Send + 'static) -> Schedule {
    let mut schedule = Schedule::new();
    for i in 0..systems {
        schedule.add(move |mut commands: Commands, mut run: Local<u32>| {
            for n in 0..spawns(i, *run) {
                commands.spawn(A(u64::from(n)));
            }
            *run += 1;
        });
    }
    schedule
}

fn run(schedule: &mut Schedule, world: &mut World) {
    schedule.run(world).unwrap();
    world.check().unwrap();
}

/// Bytes of bookkeeping of a world with entities that were spawned in one call.
fn least_bytes(entities: usize) -> usize {
    let mut world = World::new();
    world.spawn_batch((0..entities as u64).map(A));
    world.memory().bookkeeping_bytes
}

/// Asserts that the bookkeeping exceeds the bookkeeping of the same entities spawned in one call by
/// at most 16 bytes an entity and 4 KiB.
fn assert_lean(world: &World, entities: usize, what: &str) {
    let (bytes, least) = (world.memory().bookkeeping_bytes, least_bytes(entities));
    let most = least + 16 * entities + 4096;
    let each = bytes.saturating_sub(least) as f64 / entities.max(1) as f64;
    assert!(bytes <= most, "{what}: {bytes} bytes, {least} in one call, {each} B an entity more");
}

#[test]
fn a_spawn_costs_sixteen_bytes_of_bookkeeping_at_most_for_any_number_of_systems() {
    let (systems, spawns): (&[u32], &[u32]) = match cfg!(miri) {
        true => (&[1, 5], &[1, 40]),
        false => (&[0, 1, 2, 3, 8, 64, 200], &[0, 1, 2, 63, 64, 65, 1000, 30_000]),
    };
    type Spawns = fn(u32, u32, u32) -> u32;
    let patterns: [(&str, Spawns); 4] = [
        ("the first", |i, _, n| if i == 0 { n } else { 0 }),
        ("the last", |i, systems, n| if i + 1 == systems { n } else { 0 }),
        ("all, a share each", |_, systems, n| n / systems),
        ("each half as much as the one before", |i, _, n| n.checked_shr(1 + i).unwrap_or(0)),
    ];
    for &systems in systems {
        for &n in spawns {
            for (pattern, spawns) in patterns {
                let what = format!("{systems} systems, {n} entities, {pattern}");
                let mut world = World::new();
                let mut schedule = spawners(systems, move |i, run| {
                    [spawns(i, systems, n), 0][run.min(1) as usize]
                });
                for _ in 0..3 {
                    run(&mut schedule, &mut world);
                    assert_lean(&world, world.len(), &what);
                }
                let entities: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
                assert_eq!(entities.len(), world.len());
                assert!(entities.iter().all(|&id| world.get::<A>(id).is_ok()), "{what}");
                // The indices come back: a second time costs no memory.
                world.clear();
                world.check().unwrap();
                world.spawn_batch((0..entities.len() as u64).map(A));
                assert_lean(&world, entities.len(), &what);
            }
        }
    }
}

#[test]
fn a_system_that_spawns_in_every_run_uses_the_same_indices() {
    let runs = if cfg!(miri) { 5 } else { 60 };
    for systems in [1, 2, 7] {
        // One system spawns always, one now and then, one more each time, the others none for long.
        let mut schedule = spawners(systems, |i, run| match i {
            0 => 300,
            1 if run % 10 == 9 => 1000,
            2 => run,
            3 if run == 40 => 500,
            _ => 0,
        });
        let mut killer = Schedule::new();
        killer.add(|all: Query<Entity>, mut commands: Commands| {
            all.into_iter().flatten().for_each(|&id| commands.despawn(id));
        });
        let mut world = World::new();
        let mut most = 0;
        for _ in 0..runs {
            run(&mut schedule, &mut world);
            most = most
                .max(world.query::<Entity>().iter().flatten().map(|id| id.index()).max().unwrap());
            run(&mut killer, &mut world);
            assert!(world.is_empty());
        }
        // Each system has at most the number of indices that it ever took at once; lanes spread a
        // first burst over all systems.
        let free = world.memory().bookkeeping_bytes / 16;
        assert!(free < 4500, "{systems} systems: {free} free slots");
        assert!(most < 20_000, "{systems} systems: index {most}");
    }
}

#[test]
fn systems_spawn_in_every_run_of_a_world_at_its_limit() {
    let runs = if cfg!(miri) { 7 } else { 20 };
    for systems in if cfg!(miri) { 2..3 } else { 1..4 } {
        for &limit in if cfg!(miri) { &[9][..] } else { &[8, 9, 100] } {
            let mut world = World::builder().entities_max(limit).build();
            let mut schedule = Schedule::new();
            // One system despawns all entities and spawns half of the limit; the others only take
            // lanes.
            let each = limit / 2;
            let failed = Arc::new(Mutex::new(Vec::new()));
            let noted = Arc::clone(&failed);
            schedule.add(move |all: Query<Entity>, mut commands: Commands, mut run: Local<u32>| {
                all.into_iter().flatten().for_each(|&id| commands.despawn(id));
                *run += 1;
                for _ in 0..each {
                    if commands.try_spawn(A(1)).is_err() {
                        noted.lock().unwrap().push(*run);
                    }
                }
            });
            for _ in 1..systems {
                schedule.add(|_: Commands| ());
            }
            for number in 0..runs {
                run(&mut schedule, &mut world);
                // Lanes share the indices that no system took before: the first runs may be short.
                if number >= 4 {
                    assert_eq!(world.len(), each as usize, "run {number}");
                }
            }
            let failed = failed.lock().unwrap();
            assert!(failed.iter().all(|&run| run < 4), "{systems}, {limit}: runs {failed:?}");
            // Buffers hold no ids between runs.
            assert!(world.try_spawn_batch((0..limit - each).map(|i| A(i.into()))).is_ok());
            assert!(world.try_spawn(()).is_err());
            run(&mut Schedule::new(), &mut world);
        }
    }
}

#[test]
fn a_system_that_begins_to_spawn_in_a_full_world_is_not_left_out() {
    let mut world = World::builder().entities_max(10).build();
    let mut schedule = Schedule::new();
    schedule.add(|mut commands: Commands, mut run: Local<u32>| {
        *run += 1;
        let n = if *run == 1 { 10 } else { 5 };
        for _ in 0..n {
            assert!(commands.try_spawn(A(0)).is_ok() || *run < 3, "run {}", *run);
        }
    });
    schedule.add(|mut commands: Commands, mut run: Local<u32>| {
        *run += 1;
        for _ in 0..if *run > 5 { 3 } else { 0 } {
            assert!(commands.try_spawn(A(1)).is_ok() || *run < 7, "run {}", *run);
        }
    });
    for number in 1..12 {
        run(&mut schedule, &mut world);
        let want = if number >= 7 { 8 } else { 5 };
        assert!(world.len() >= want, "run {number}: {} entities", world.len());
        world.clear();
    }
}

#[test]
fn every_id_of_a_full_world_can_be_taken_by_one_system() {
    let mut world = World::builder().entities_max(64).build();
    let mut spawn = Schedule::new();
    spawn.add(|mut commands: Commands, mut failed: ResMut<usize>| {
        *failed += (0..65).filter(|_| commands.try_spawn(()).is_err()).count();
    });
    for _ in 0..5 {
        world.insert_resource(0usize);
        run(&mut spawn, &mut world);
        assert_eq!((world.len(), *world.resource::<usize>().unwrap()), (64, 1));
        world.clear();
    }
    // All indices but one are retired.
    for index in 0..63 {
        world.spawn_at(Entity::from_bits(index << 32 | u64::from(u32::MAX)), ()).unwrap();
    }
    world.clear();
    world.insert_resource(0usize);
    run(&mut spawn, &mut world);
    assert_eq!((world.len(), *world.resource::<usize>().unwrap()), (1, 64));
}

#[test]
fn far_ids_are_ids_like_others() {
    let systems = if cfg!(miri) { 4 } else { 64 };
    let (n, more) = if cfg!(miri) { (30, 50) } else { (3000, 5000) };
    let ids = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ids);
    let mut schedule = spawners(systems - 1, |_, _| 0);
    schedule.add(move |mut commands: Commands, mut run: Local<u32>| {
        *run += 1;
        if *run == 1 {
            noted.lock().unwrap().extend((0..n).map(|i| commands.spawn(A(i))));
        }
    });
    let mut world = World::builder().entities_max(2_000_000).build();
    let buffer = world.command_buffer(3).unwrap();
    run(&mut schedule, &mut world);
    drop(buffer);
    let ids = ids.lock().unwrap().clone();
    let far = *ids.last().unwrap();
    assert!(far.index() as usize > ids.len() * 2, "systems have indices of their own");
    assert!(ids.iter().zip(0..).all(|(&id, i)| world.get::<A>(id) == Ok(&A(i))));

    let mut look = Schedule::new();
    let seen = ids.clone();
    look.add(move |a: Lookup<A>| {
        assert!(seen.iter().zip(0..).all(|(&id, i)| a.get(id).ok() == Some(&A(i))));
    });
    run(&mut look, &mut world);

    // Despawned, spawned at, reserved, lent, cleared.
    world.despawn(far).unwrap();
    assert!(!world.contains(far) && world.get::<A>(far).is_err());
    world.check().unwrap();
    let again = Entity::from_bits(far.to_bits() + 1);
    world.spawn_at(again, A(7)).unwrap();
    assert!(world.spawn_at(far, A(7)).is_err(), "occupied");
    world.spawn_at(Entity::from_bits(u64::from(far.index() - 1) << 32 | 9), A(8)).unwrap_err();
    let reserved: Vec<_> = world.reserve_entities(more).unwrap().collect();
    assert!(reserved.iter().all(|id| world.contains(*id) && !ids.contains(id)));
    assert!(reserved.iter().all(|&id| id != again));
    world.check().unwrap();
    let mut buffer = world.command_buffer(more).unwrap();
    let lent: Vec<_> = (0..more).map(|_| buffer.spawn(A(1))).collect();
    world.apply(&mut buffer).unwrap();
    world.check().unwrap();
    let spawned = world.spawn_batch((0..u64::from(more)).map(A)).to_vec();
    world.check().unwrap();
    let mut all: Vec<_> = [&ids[..ids.len() - 1], &[again], &reserved, &lent, &spawned].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), ids.len() + 3 * more as usize, "no id twice");
    assert!(all.iter().all(|&id| world.contains(id)));
    assert_eq!(world.len(), all.len());
    world.memory_mut().grow_indices(if cfg!(miri) { 1000 } else { 1_000_000 }).unwrap();
    world.check().unwrap();
    assert!(all.iter().all(|&id| world.contains(id)));
    world.clear();
    world.check().unwrap();
    assert!(!all.iter().any(|&id| world.contains(id)));
    while !world.memory_mut().compact(usize::MAX).finished {}
    world.check().unwrap();
}

#[test]
fn ids_depend_on_the_program_and_not_on_threads() {
    let (rounds, spawns) = if cfg!(miri) { (2, 1) } else { (30, 7) };
    let ids = |threads: usize, seed: Option<u64>| {
        let mut schedule = spawners(9, move |i, run| match (i * 7 + run * 5) % 11 {
            0..4 => 0,
            n => n * n * (i % 3) * spawns,
        });
        schedule.add(|all: Query<(Entity, &A)>, mut commands: Commands| {
            all.rows().filter(|(_, a)| a.0 % 3 == 0).for_each(|(id, _)| commands.despawn(id));
        });
        schedule.threads(threads);
        if let Some(seed) = seed {
            schedule.shuffle(seed);
        }
        let mut world = World::builder().entities_max(60_000).build();
        let mut hashes = Vec::new();
        for _ in 0..rounds {
            run(&mut schedule, &mut world);
            hashes.push(world.hash());
        }
        let all: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
        (hashes, all, world.memory().bookkeeping_bytes)
    };
    let want = ids(1, None);
    let others = [(2, 5), (4, 7), (1, 3), (2, 11)];
    for (threads, seed) in others.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
        assert!(ids(threads, Some(seed)) == want, "{threads} threads, shuffled by {seed}");
    }
}

#[test]
fn a_system_that_panics_or_stops_has_its_ids_back() {
    let mut world = World::builder().entities_max(10).build();
    for _ in 0..5 {
        let mut schedule = Schedule::new();
        schedule.add(|mut commands: Commands| {
            (0..10).for_each(|_| assert!(commands.try_spawn(()).is_ok()));
            panic!("stop");
        });
        let run = std::panic::AssertUnwindSafe(|| schedule.run(&mut world));
        assert!(std::panic::catch_unwind(run).is_err());
        world.check().unwrap();
        assert!(world.is_empty());
        assert_eq!(world.reserve_entities(10).unwrap().len(), 10);
        world.clear();
    }
}

#[test]
fn a_buffer_that_is_dropped_by_its_system_gives_its_ids_back() {
    let mut world = World::builder().entities_max(100).build();
    for _ in 0..4 {
        let mut spare = Some(world.command_buffer(0).unwrap());
        let mut schedule = Schedule::new();
        schedule.add(move |mut commands: Commands| {
            commands.spawn(());
            if let Some(spare) = spare.take() {
                drop(std::mem::replace(&mut *commands, spare));
                assert!(commands.try_spawn(()).is_err());
            }
        });
        run(&mut schedule, &mut world);
        assert!(world.is_empty());
        run(&mut schedule, &mut world);
        assert_eq!(world.len(), 1);
        world.clear();
        schedule.reset();
        assert_eq!(world.spawn_batch([(); 100]).len(), 100);
        world.clear();
    }
}

#[test]
fn a_system_in_the_place_of_a_greedy_one_leaves_ids_to_others() {
    let mut world = World::builder().entities_max(100).build();
    run(&mut spawners(1, |_, _| 90), &mut world);
    let mut both = spawners(2, |_, _| 1);
    run(&mut both, &mut world);
    assert_eq!(world.len(), 92);
}
