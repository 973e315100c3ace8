//! Threads: inside a system, around a schedule.

use std::sync::atomic::{AtomicUsize, Ordering};

use phalanx::prelude::*;

use super::{A, B, Mark};

const ROWS: u64 = if cfg!(miri) { 300 } else { 100_000 };

fn wide() -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..ROWS).map(|i| (A(i), B(i))));
    world.spawn_batch((0..ROWS).map(|i| (A(i), B(i), Mark)));
    world
}

/// Systems that split their chunks while others run.
fn splitting() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(|a: Query<&mut A, With<Mark>>| {
        a.par().for_each_chunk(|a| a.iter_mut().for_each(|a| a.0 = a.0.wrapping_mul(3)));
    });
    schedule.add(|a: Query<&mut A, Without<Mark>>| {
        a.par().for_each_chunk(|a| a.iter_mut().for_each(|a| a.0 ^= 5));
    });
    schedule.add(|b: Query<&mut B>| {
        b.par().for_each_chunk(|b| b.iter_mut().for_each(|b| b.0 += 1));
    });
    schedule.add(|both: Query<(&mut A, &B)>| {
        both.par().for_each_chunk(|(a, b)| a.iter_mut().zip(b).for_each(|(a, b)| a.0 += b.0));
    });
    schedule
}

fn values(world: &World) -> Vec<(u64, u64)> {
    world.query::<(&A, &B)>().rows().map(|(a, b)| (a.0, b.0)).collect()
}

#[test]
fn systems_split_their_chunks_inside_their_slot() {
    let mut on_one = wide();
    let mut schedule = splitting();
    schedule.threads(1);
    (0..5).for_each(|_| schedule.run(&mut on_one).unwrap());
    for threads in [2, 3, 4] {
        let mut world = wide();
        let mut schedule = splitting();
        schedule.threads(threads).shuffle(threads as u64);
        (0..5).for_each(|_| schedule.run(&mut world).unwrap());
        assert!(values(&world) == values(&on_one), "{threads} threads");
        world.check().unwrap();
    }
}

#[component(lines)]
struct Heat(u64);

/// Writes the rows with a multiple of three.
fn warm(heats: Query<LinesMut<Heat>>) {
    heats.par().for_each_chunk(|mut heats| {
        for row in 0..heats.len() {
            if heats[row].0.is_multiple_of(3) {
                heats.row_mut(row).0 += 1;
            }
        }
    });
}

/// Writes all rows.
fn warm_all(heats: Query<LinesMut<Heat>>) {
    heats.par().for_each_chunk(|mut heats| heats.all_mut().iter_mut().for_each(|heat| heat.0 += 1));
}

#[test]
fn parts_of_a_parallel_loop_leave_the_same_versions_of_rows() {
    let hashes = |threads| -> Vec<_> {
        let mut world = World::new();
        world.spawn_batch((0..ROWS.min(1_000)).map(Heat));
        let mut schedule = Schedule::new();
        schedule.threads(threads).add((warm, warm_all));
        let mut hash = || {
            schedule.run(&mut world).unwrap();
            world.check().unwrap();
            world.hash()
        };
        (0..4).map(|_| hash()).collect()
    };
    let on_one = hashes(1);
    for threads in [2, 3, 4] {
        assert_eq!(hashes(threads), on_one, "{threads} threads");
    }
}

#[test]
#[cfg(not(miri))] // Miri has no work that is long enough to be shared.
fn parallel_loops_use_the_threads_of_their_schedule_and_no_others() {
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::{ThreadId, current};

    /// The threads that rows were visited by.
    #[derive(Default)]
    struct Seen(Mutex<HashSet<ThreadId>>);

    /// Takes long enough for other threads to take a part.
    fn slowly(a: Query<&mut A>, seen: Res<Seen>) {
        a.par().for_each_chunk(|a| {
            for a in a {
                a.0 = (0..200).fold(a.0, |hash, i| (hash ^ i).wrapping_mul(0x9E37_79B9));
            }
            seen.0.lock().unwrap().insert(current().id());
        });
    }

    let elsewhere: HashSet<_> = rayon::broadcast(|_| current().id()).into_iter().collect();
    for threads in [1, 2, 5] {
        let mut world = wide();
        world.insert_resource(Seen::default());
        // A stage of one system, and one of two which may run at the same time.
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(slowly);
        schedule.sync();
        schedule.add((slowly, |b: Query<&mut B>| b.rows().for_each(|b| b.0 += 1)));
        (0..3).for_each(|_| schedule.run(&mut world).unwrap());
        let seen = world.remove_resource::<Seen>().unwrap().0.into_inner().unwrap();
        assert!(seen.is_disjoint(&elsewhere), "{threads} threads: a thread of another pool");
        match threads {
            1 => assert_eq!(seen, HashSet::from([current().id()])),
            // The caller's thread tries the loop first.
            _ => assert!((2..=threads + 1).contains(&seen.len()), "{threads} threads: {seen:?}"),
        }
    }
}

#[test]
fn a_schedule_runs_on_the_pool_of_its_caller() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut world = wide();
    world.insert_resource(0usize);
    let mut schedule = Schedule::new();
    for _ in 0..2 {
        schedule.add(|| assert_eq!(rayon::current_num_threads(), 3));
    }
    pool.install(|| schedule.run(&mut world)).unwrap();
}

#[test]
fn one_thread_is_the_callers() {
    let caller = std::thread::current().id();
    let mut world = wide();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    for _ in 0..4 {
        schedule.add(move |_: Query<&A>| assert_eq!(std::thread::current().id(), caller));
    }
    schedule.run(&mut world).unwrap();
}

#[test]
fn every_system_runs_once_in_each_run() {
    static RUNS: [AtomicUsize; 30] = [const { AtomicUsize::new(0) }; 30];
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.threads(4);
    for (i, runs) in RUNS.iter().enumerate() {
        let count = move || {
            runs.fetch_add(1, Ordering::Relaxed);
            // Long enough to be worth a thread.
            std::thread::sleep(std::time::Duration::from_micros(20));
        };
        let entry = schedule.add(count).named(&format!("s{i}"));
        if i >= 3 {
            entry.after(&format!("s{}", i / 3));
        }
    }
    let turns = if cfg!(miri) { 2 } else { 50 };
    (0..turns).for_each(|_| schedule.run(&mut world).unwrap());
    assert!(RUNS.iter().all(|runs| runs.load(Ordering::Relaxed) == turns));
}
