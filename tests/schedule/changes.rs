//! The effects that systems see of each other: changes, commands, new archetypes.

use phalanx::prelude::*;

use super::{A, B, C, Mark, world};

/// The number of chunks that a system saw in each run.
#[derive(Default)]
struct Seen(Vec<usize>);

#[test]
fn changed_compares_with_when_the_system_last_began() {
    let mut world = world();
    world.insert_resource(Seen::default());
    world.insert_resource(false);
    let mut schedule = Schedule::new();
    schedule.add(|a: Query<&mut A>, write: Res<bool>| {
        if *write {
            a.into_iter().flatten().for_each(|a| a.0 += 1);
        }
    });
    schedule
        .add(|a: Query<&A, Changed<A>>, mut seen: ResMut<Seen>| seen.0.push(a.into_iter().count()));
    let chunks = world.query::<&A>().iter().count();
    for write in [false, false, true, false, true, true] {
        world.insert_resource(write);
        schedule.run(&mut world).unwrap();
    }
    let seen = &world.resource::<Seen>().unwrap().0;
    assert_eq!(*seen, [chunks, 0, chunks, 0, chunks, chunks], "the first run sees everything");
}

#[test]
fn a_writer_later_in_the_order_is_seen_in_the_next_run() {
    let mut world = world();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule
        .add(|a: Query<&A, Changed<A>>, mut seen: ResMut<Seen>| seen.0.push(a.into_iter().count()));
    schedule.add(|mut runs: Local<u32>, a: Query<&mut A>| {
        *runs += 1;
        if *runs == 2 {
            a.into_iter().flatten().for_each(|a| a.0 += 1);
        }
    });
    let chunks = world.query::<&A>().iter().count();
    for _ in 0..4 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(world.resource::<Seen>().unwrap().0, [chunks, 0, chunks, 0]);
}

#[test]
fn a_system_does_not_trigger_itself() {
    let mut world = world();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(|a: Query<&mut A, Changed<A>>, mut seen: ResMut<Seen>| {
        seen.0.push(a.into_iter().map(|a| a[0].0 += 1).count());
    });
    let chunks = world.query::<&A>().iter().count();
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(world.resource::<Seen>().unwrap().0, [chunks, 0, 0]);
}

#[test]
fn every_third_run_sees_three_runs_of_changes() {
    let mut world = world();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    // Each run writes one chunk, a different one than the last run.
    schedule.add(|mut run: Local<usize>, a: Query<&mut A>| {
        let mut chunk = 0;
        a.for_each_chunk(|_| {
            chunk += 1;
            if chunk - 1 == *run % 4 { Modified::Yes } else { Modified::No }
        });
        *run += 1;
    });
    schedule
        .add(|a: Query<&A, Changed<A>>, mut seen: ResMut<Seen>| seen.0.push(a.into_iter().count()))
        .run_if(every(3));
    for _ in 0..7 {
        schedule.run(&mut world).unwrap();
    }
    let chunks = world.query::<&A>().iter().count();
    assert!(chunks >= 4, "a chunk for each of the runs that are looked at together");
    assert_eq!(world.resource::<Seen>().unwrap().0, [chunks, 3, 3]);
}

#[test]
fn added_sees_who_was_spawned_since() {
    let mut world = World::new();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(|mut run: Local<u32>, mut commands: Commands| {
        *run += 1;
        if *run == 2 {
            commands.spawn(A(7));
        }
    });
    schedule.add(|a: Query<&A, Arrived>, mut seen: ResMut<Seen>| {
        seen.0.push(a.into_iter().flatten().count())
    });
    for _ in 0..4 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(world.resource::<Seen>().unwrap().0, [0, 0, 1, 0], "applied after it ran");
}

#[test]
fn who_is_put_after_sees_what_commands_did() {
    for put_after in [false, true] {
        let mut world = World::new();
        world.insert_resource(Seen::default());
        let mut schedule = Schedule::new();
        schedule
            .add(|mut commands: Commands| {
                commands.spawn(A(1));
            })
            .named("spawn");
        let count = |a: Query<&A>, mut seen: ResMut<Seen>| seen.0.push(a.count_rows());
        let entry = schedule.add(count);
        if put_after {
            entry.after("spawn");
        }
        for _ in 0..3 {
            schedule.run(&mut world).unwrap();
        }
        let want = if put_after { [1, 2, 3] } else { [0, 1, 2] };
        assert_eq!(world.resource::<Seen>().unwrap().0, want);
        assert_eq!(schedule.timings().sync_points, 1);
        assert_eq!(world.len(), 3);
    }
}

#[test]
fn sync_points_are_as_few_as_the_order_needs() {
    let record = |_: Commands| ();
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(record).named("a");
    schedule.add(|_: Query<&A>| ()).after("a").named("sees a");
    schedule.add(record).named("b");
    schedule.add(|_: Query<&A>| ()).after("b").named("sees b");
    schedule.run(&mut world).unwrap();
    assert_eq!(schedule.timings().sync_points, 1);
    schedule.add(record).after("sees a").after("a").named("c");
    schedule.run(&mut world).unwrap();
    assert_eq!(schedule.timings().sync_points, 2, "c sees a, and is applied at the end");
    schedule.sync();
    schedule.add(|| ());
    schedule.run(&mut world).unwrap();
    assert_eq!(schedule.timings().sync_points, 2, "the one by hand is where c's is");
    schedule.sync();
    schedule.run(&mut world).unwrap();
    assert_eq!(schedule.timings().sync_points, 3);
}

#[test]
fn commands_are_applied_in_the_order_of_the_systems() {
    for threads in [1, 2, 4] {
        let mut world = World::new();
        world.insert_resource(Vec::<u32>::new());
        let mut schedule = Schedule::new();
        schedule.threads(threads).shuffle(threads as u64);
        for system in 0..6u32 {
            schedule.add(move |mut commands: Commands| {
                for command in 0..3 {
                    commands.run(move |world| {
                        world.resource_mut::<Vec<u32>>().unwrap().push(system * 10 + command);
                    });
                }
            });
        }
        schedule.run(&mut world).unwrap();
        let want: Vec<u32> = (0..6).flat_map(|s| (0..3).map(move |c| s * 10 + c)).collect();
        assert_eq!(*world.resource::<Vec<u32>>().unwrap(), want);
    }
}

#[test]
fn ids_do_not_depend_on_threads() {
    const RUNS: usize = if cfg!(miri) { 2 } else { 5 };
    // Few ids make short lanes: Miri takes minutes for lists of thousands.
    const IDS_MAX: u32 = if cfg!(miri) { 1_000 } else { u32::MAX };
    let spawned = |threads: usize| {
        let mut world = World::builder().entities_max(IDS_MAX).build();
        let mut schedule = Schedule::new();
        schedule.threads(threads).shuffle(threads as u64);
        for system in 0..5u64 {
            schedule.add(move |mut commands: Commands, mut run: Local<u64>| {
                *run += 1;
                // More than in the last run, so that lanes are used.
                for i in 0..system * *run * *run {
                    let entity = commands.spawn(A(i));
                    commands.insert(entity, B(system));
                }
            });
        }
        for _ in 0..RUNS {
            schedule.run(&mut world).unwrap();
        }
        world.check().unwrap();
        let rows = world.query::<(Entity, &A, &B)>().rows();
        rows.map(|(entity, a, b)| (entity.to_bits(), a.0, b.0)).collect::<Vec<_>>()
    };
    let on_one = spawned(1);
    assert_eq!(on_one.len(), 10 * (1..=RUNS).map(|run| run * run).sum::<usize>());
    assert_eq!(spawned(2), on_one);
    assert_eq!(spawned(4), on_one);
}

#[test]
fn versions_do_not_depend_on_threads() {
    let versions = |threads: usize| {
        let mut world = world();
        let mut schedule = Schedule::new();
        schedule.threads(threads).shuffle(threads as u64);
        schedule.add(|a: Query<&mut A, With<Mark>>| a.into_iter().for_each(drop));
        schedule.add(|b: Query<&mut B>| b.into_iter().for_each(drop));
        schedule.add(|a: Query<&mut A, Without<Mark>>| a.into_iter().for_each(drop));
        schedule.add(|| ()).run_if(|| false);
        for _ in 0..3 {
            schedule.run(&mut world).unwrap();
        }
        let chunks = world.query::<(&A, &B)>().chunks();
        let stamps = chunks.map(|chunk| (chunk.version::<A>(), chunk.version::<B>()));
        (stamps.collect::<Vec<_>>(), world.version())
    };
    assert_eq!(versions(1), versions(2));
    assert_eq!(versions(1), versions(4));
}

#[test]
fn archetypes_that_appear_are_seen() {
    let mut world = World::new();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(|c: Query<(&mut C, &A)>, mut seen: ResMut<Seen>| {
        seen.0.push(c.rows().map(|(c, _)| c.0 += 1).count());
    });
    schedule.run(&mut world).unwrap();
    let entity = world.spawn(A(1));
    schedule.run(&mut world).unwrap();
    world.insert(entity, C(0)).unwrap();
    schedule.run(&mut world).unwrap();
    world.insert(entity, Mark).unwrap();
    schedule.run(&mut world).unwrap();
    assert_eq!(world.resource::<Seen>().unwrap().0, [0, 0, 1, 1]);
    assert_eq!(world.get::<C>(entity).unwrap().0, 2);
}

#[test]
fn what_a_system_records_it_sees_in_its_next_run() {
    let mut world = World::new();
    let entity = world.spawn(A(0));
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(
        move |a: Query<&A, Changed<A>>, mut commands: Commands, mut seen: ResMut<Seen>| {
            seen.0.push(a.into_iter().count());
            if seen.0.len() < 3 {
                commands.insert(entity, A(seen.0.len() as u64));
            }
        },
    );
    for _ in 0..4 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(world.resource::<Seen>().unwrap().0, [1, 1, 1, 0], "applied after it began");
}
