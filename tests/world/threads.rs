//! Worlds and threads: sharing, the results of each thread, and their order.
//!
//! The tests with names that begin with `par_` run rayon, which Miri must run with other flags.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use phalanx::prelude::*;
use phalanx::reflect::ArchetypeInfo;
use phalanx::{Lookup, Query, ReservedEntities};
use rayon::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Number(u32);
/// Miri has many chunks of few rows.
const WIDE: usize = if cfg!(miri) { 250 } else { 16 };
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Wide([u32; WIDE]);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Tag;
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Byte(u8);
impl_component!(Number, Wide, Tag, Byte);

const fn sendable<T: Send>() {}
const fn shareable<T: Sync>() {}
const _: () = {
    sendable::<World>();
    shareable::<World>();
    shareable::<Lookup<'static, Number>>();
    sendable::<Lookup<'static, Number>>();
    sendable::<ReservedEntities<'static>>();
    sendable::<ArchetypeInfo<'static>>();
    sendable::<Query<'static, (&'static mut Number, Entity)>>();
};

/// `rows` rows in small chunks, numbered, and a few in other archetypes.
fn numbered(rows: u32) -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..rows).map(|i| (Number(i), Wide([i; WIDE]))));
    world.spawn_batch((0..10).map(|i| (Number(rows + i), Tag)));
    world.spawn_batch([(); 5]);
    world
}

const ROWS: u32 = if cfg!(miri) { 40 } else { 50_000 };

#[test]
fn four_threads_query_one_world_at_once() {
    let world = numbered(ROWS);
    let gate = Barrier::new(4);
    let sums: Vec<u64> = thread::scope(|threads| {
        let work = |i: u32| {
            let (world, gate) = (&world, &gate);
            move || {
                // All threads meet here, so that all of them plan the same new queries at once.
                gate.wait();
                let mut sum = 0;
                for _ in 0..if cfg!(miri) { 2 } else { 50 } {
                    let plain =
                        world.query::<&Number>().into_iter().flatten().map(|n| u64::from(n.0));
                    let wide = world.query::<(&Number, &Wide)>().rows().map(|(n, w)| {
                        assert_eq!((w.0[0], w.0[WIDE - 1]), (n.0, n.0));
                        1
                    });
                    let rest = world.query::<Entity>().without::<Wide>().iter().flatten().count();
                    let none = world.query::<&Wide>().with::<Tag>().iter().count() as u64;
                    sum = plain.sum::<u64>() + wide.sum::<u64>() + rest as u64 + none;
                }
                let lookup = world.lookup::<Number>();
                let some = world.query::<(Entity, &Number)>().rows().nth(i as usize * 7);
                let (entity, number) = some.expect("a row");
                assert_eq!(lookup.get(entity).ok(), Some(number));
                assert_eq!(world.get::<Number>(entity), Ok(number));
                sum
            }
        };
        let handles: Vec<_> = (0..4).map(|i| threads.spawn(work(i))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
    });
    let expected = (0..u64::from(ROWS) + 10).sum::<u64>() + u64::from(ROWS) + 15;
    assert_eq!(sums, [expected; 4]);
}

#[test]
fn ids_are_reserved_from_four_threads_while_others_read() {
    let mut world = numbered(ROWS);
    let old: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    old.iter().step_by(3).for_each(|&e| world.despawn(e).expect("alive"));
    let before = world.len();
    let each = if cfg!(miri) { 20 } else { 2_000 };
    let ids: Vec<Entity> = thread::scope(|threads| {
        let world = &world;
        let reserve = |i| {
            move || {
                let mut ids = Vec::new();
                while ids.len() < each {
                    match i % 2 {
                        0 => ids.push(world.reserve_entity().expect("room")),
                        _ => ids.extend(world.reserve_entities(5).expect("room")),
                    }
                    assert!(ids.last().is_some_and(|&e| world.contains(e)));
                    assert!(world.query::<&Number>().iter().next().is_some());
                }
                ids
            }
        };
        let handles: Vec<_> = (0..4).map(|i| threads.spawn(reserve(i))).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("no panic")).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "all different");
    for (i, &entity) in (0..).zip(&ids) {
        world.insert(entity, Number(i)).expect("they live");
    }
    assert_eq!(world.len(), before + ids.len());
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn two_worlds_live_on_two_threads_and_change_hands() {
    let build = |seed: u32| {
        move || {
            let mut world = crate::common::world();
            let entities = world.spawn_batch((0..ROWS).map(|i| (Number(i + seed), Tag))).to_vec();
            entities.iter().step_by(2).for_each(|&e| world.despawn(e).expect("alive"));
            world.query_mut::<&mut Number>().iter_mut().flatten().for_each(|n| n.0 += 1);
            world
        }
    };
    let (a, b) = thread::scope(|threads| {
        let (a, b) = (threads.spawn(build(0)), threads.spawn(build(7)));
        (a.join().expect("no panic"), b.join().expect("no panic"))
    });
    let sum = |world: World| {
        assert_eq!(world.check(), Ok(()));
        world.query::<&Number>().iter().flatten().map(|n| u64::from(n.0)).sum::<u64>()
    };
    let there = thread::spawn(move || sum(a)).join().expect("no panic");
    assert_eq!(there + 7 * u64::from(ROWS / 2), sum(b));
}

/// Calls `f` in pools of several sizes.
fn in_pools(f: impl Fn() + Send + Sync) {
    let sizes: &[usize] = if cfg!(miri) { &[2] } else { &[1, 2, 3, 8] };
    for &size in sizes {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(size).build().expect("threads");
        pool.install(&f);
    }
}

/// Enough rows for a parallel loop to leave the calling thread (half a MiB of columns; Miri takes
/// long enough over the first chunk).
const MANY: u32 = if cfg!(miri) { 160 } else { 100_000 };

#[test]
fn par_for_each_chunk_visits_every_chunk_exactly_once() {
    in_pools(|| {
        let mut world = numbered(MANY);
        for turn in 0..if cfg!(miri) { 1 } else { 3 } {
            let before = world.version();
            world.query_mut::<(&mut Number, Option<&mut Wide>, Entity)>().par().for_each_chunk(
                |(numbers, wide, ids)| {
                    assert_eq!(numbers.len(), ids.len());
                    numbers.iter_mut().for_each(|n| n.0 += 1);
                    wide.into_iter().flatten().for_each(|w| w.0[3] += 1);
                },
            );
            assert_eq!(
                world.query::<&Number>().changed_since(before).rows().count(),
                MANY as usize + 10
            );
            for (numbers, wide) in world.query::<(&Number, &Wide)>() {
                for (number, wide) in numbers.iter().zip(wide) {
                    assert_eq!(number.0, wide.0[3]);
                    assert_eq!(number.0, wide.0[0] + turn + 1);
                }
            }
        }
        assert_eq!(world.check(), Ok(()));
    });
}

#[test]
fn par_heavy_work_over_few_chunks_is_divided_and_each_row_is_visited_once() {
    in_pools(|| {
        let mut world = World::new();
        world.spawn_batch((0..1_000).map(|i| (Number(i), Byte(0))));
        let chunks = world.query::<&Number>().iter().count();
        let before = world.version();
        let parts = Mutex::new(Vec::new());
        world.query_mut::<(&Number, &mut Byte, Entity)>().par().for_each_chunk(
            |(numbers, bytes, ids)| {
                assert_eq!((numbers.len(), bytes.len()), (ids.len(), ids.len()));
                bytes.iter_mut().for_each(|byte| byte.0 += 1);
                // Longer than it takes to wake a thread.
                thread::sleep(Duration::from_millis(1));
                parts.lock().expect("no panic").push(numbers[0].0);
                // The rows from 960 on.
                if numbers[0].0 == 960 { Modified::Yes } else { Modified::No }
            },
        );
        let mut parts = parts.into_inner().expect("no panic");
        parts.sort_unstable();
        if rayon::current_num_threads() > 1 {
            assert!(parts.len() > chunks, "{parts:?}");
            assert!(parts.iter().all(|start| start % 64 == 0), "lines of {parts:?} are shared");
        }
        assert!(world.query::<&Byte>().rows().all(|byte| byte.0 == 1));
        let changed = world.query::<&Byte>().changed_since(before).iter().count();
        assert_eq!(changed, parts.iter().filter(|&&start| start == 960).count());
    });
}

#[test]
fn par_heavy_work_in_forty_rows_is_divided() {
    in_pools(|| {
        let mut world = World::new();
        world.spawn_batch((0..40).map(Number));
        let parts = AtomicUsize::new(0);
        world.query_mut::<&mut Number>().par().for_each_chunk(|numbers| {
            parts.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
            numbers.iter_mut().for_each(|number| number.0 += 1);
        });
        let parts_max = if rayon::current_num_threads() > 1 { 3 } else { 1 };
        assert_eq!(parts.into_inner(), parts_max, "16, 16 and 8 rows");
        assert!(world.query::<&Number>().rows().zip(1..).all(|(number, i)| number.0 == i));
    });
}

#[test]
fn par_bodies_stamp_the_chunks_they_say_they_touched() {
    in_pools(|| {
        let mut world = numbered(MANY);
        let before = world.version();
        world.query_mut::<(&Number, &mut Wide)>().par().for_each_chunk(|(numbers, _)| {
            if numbers[0].0 / 64 % 5 == 0 { Modified::Yes } else { Modified::No }
        });
        for chunk in world.query::<(&Number, &Wide)>().chunks() {
            let is_changed = chunk.version::<Wide>() > Some(before);
            assert!(chunk.version::<Number>() <= Some(before), "only read");
            assert_eq!(is_changed, chunk.slices().0[0].0 / 64 % 5 == 0);
        }
    });
}

#[test]
fn par_chunks_keeps_the_order_of_chunks() {
    in_pools(|| {
        let mut world = numbered(MANY);
        let starts: Vec<u32> = world.query::<&Number>().par().chunks().map(|n| n[0].0).collect();
        let serial: Vec<u32> = world.query::<&Number>().iter().map(|n| n[0].0).collect();
        assert_eq!(starts, serial);
        let lens = world.query_mut::<(&mut Number, Entity)>().par().chunks().enumerate().map(
            |(i, (numbers, ids))| {
                numbers.iter_mut().for_each(|n| n.0 = u32::try_from(i).expect("few"));
                ids.len()
            },
        );
        assert_eq!(lens.sum::<usize>(), MANY as usize + 10);
        let numbers: Vec<_> = world.query::<&Number>().iter().map(|n| n[0].0 as usize).collect();
        assert_eq!(numbers, (0..serial.len()).collect::<Vec<_>>());
    });
}

#[test]
fn par_loops_over_one_shared_world_run_beside_each_other() {
    in_pools(|| {
        let world = numbered(MANY);
        let sum = || {
            let sums = world.query::<&Number>().par().chunks();
            sums.map(|n| n.iter().map(|n| u64::from(n.0)).sum::<u64>()).sum::<u64>()
        };
        let (a, b) = rayon::join(sum, sum);
        assert_eq!((a, b), (a, (0..u64::from(MANY) + 10).sum()));
    });
}

#[test]
fn threads_that_find_a_plan_behind_bring_it_up_to_date_once() {
    let mut world = numbered(20);
    for round in 0..if cfg!(miri) { 3 } else { 200 } {
        // Plans of a shared world are out of date after each of these.
        world.spawn(Number(round));
        let gate = Barrier::new(4);
        let expected = 20 + 10 + 1 + round as usize;
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    gate.wait();
                    let seen: usize = world.query::<&Number>().iter().map(<[Number]>::len).sum();
                    assert_eq!(seen, expected);
                });
            }
        });
        assert_eq!(world.check(), Ok(()));
    }
}

/// Plans are added to a shared world by several threads at once, some for types that are new to it;
/// every archetype that is made afterwards is found by all of them.
#[test]
fn archetypes_made_after_queries_of_a_shared_world_are_found_by_them() {
    fn counts(world: &World) -> [usize; 6] {
        let numbers = || world.query::<Entity>().with::<Number>();
        [
            world.query::<Entity>().iter().map(<[_]>::len).sum(),
            numbers().into_iter().map(<[_]>::len).sum(),
            numbers().without::<Tag>().into_iter().map(<[_]>::len).sum(),
            world.query::<Entity>().without::<Wide>().iter().map(<[_]>::len).sum(),
            world.query::<Entity>().filter::<AnyOf<(Wide, Tag)>>().iter().map(<[_]>::len).sum(),
            world
                .query::<(Entity, Option<&Wide>)>()
                .iter()
                .filter(|(_, wide)| wide.is_some())
                .count(),
        ]
    }
    let mut world = World::new();
    let ask = |world: &World, want: [usize; 6]| {
        let start = Barrier::new(3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    start.wait();
                    assert_eq!(counts(world), want);
                });
            }
        });
        assert_eq!(world.check(), Ok(()));
    };
    ask(&world, [0; 6]);
    world.spawn(());
    ask(&world, [1, 0, 0, 1, 0, 0]);
    world.spawn(Number(1));
    ask(&world, [2, 1, 1, 2, 0, 0]);
    world.spawn((Number(2), Tag));
    ask(&world, [3, 2, 1, 3, 1, 0]);
    world.spawn(Wide([3; WIDE]));
    ask(&world, [4, 2, 1, 3, 2, 1]);
    world.spawn((Number(4), Wide([4; WIDE]), Tag));
    ask(&world, [5, 3, 1, 3, 3, 2]);
}
