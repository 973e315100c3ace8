//! Recording by several threads: the world is the same for any timing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Link, Serial, Tag, sound};
use crate::fixtures::{apply, world_and_buffer};

/// The components of an entity.
type Row = (Entity, Option<u32>, Option<u8>, Option<u32>);

/// All live entities, row by row.
fn rows(world: &World) -> Vec<Row> {
    let query = world.query::<(Entity, Option<&Four>, Option<&Byte>, Option<&Serial>)>();
    query.rows().map(|(e, f, b, s)| (e, f.map(|f| f.0), b.map(|b| b.0), s.map(|s| s.0))).collect()
}

/// Records for all chunks in this order of chunks, each on a thread of its own.
fn run(order: impl Fn(usize) -> Vec<usize>) -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    // Four rows a chunk.
    let n = if cfg!(miri) { 30 } else { 400 };
    world.spawn_batch((0..n).map(|i| (Four(i), Big([i; 250]))));
    let mut buffer = world.command_buffer(1).unwrap();
    let hub = buffer.spawn(Tag);
    let chunks: Vec<_> = world.query::<(Entity, &Four)>().into_iter().collect();
    let mut writers = buffer.par_writers(chunks.len());
    let mut slots: Vec<_> = writers.iter_mut().map(Some).collect();
    thread::scope(|threads| {
        for i in order(chunks.len()) {
            let (writer, (entities, fours)) = (slots[i].take().expect("once"), chunks[i]);
            let record = threads.spawn(move || {
                for (&entity, four) in entities.iter().zip(fours) {
                    match four.0 % 5 {
                        0 => writer.despawn(entity),
                        1 => writer.spawn((Serial(four.0), Link(entity))),
                        2 => writer.insert(entity, (Byte(four.0.to_le_bytes()[0]), Link(hub))),
                        3 => writer.exchange::<Four, _>(entity, Serial(four.0)),
                        _ => writer.remove::<Four>(entity),
                    }
                }
            });
            if i % 2 == 0 {
                record.join().expect("no panic");
            }
        }
    });
    drop(writers);
    buffer.insert(hub, Byte(1));
    apply(&mut world, &mut buffer);
    world
}

#[test]
fn the_order_in_which_threads_record_does_not_matter() {
    let expected = rows(&run(|chunks| (0..chunks).collect()));
    assert!(expected.len() >= 24, "a fifth was despawned, as many were spawned");
    for _ in 0..if cfg!(miri) { 1 } else { 3 } {
        assert_eq!(rows(&run(|chunks| (0..chunks).rev().collect())), expected);
        let halves = |chunks: usize| (0..chunks).step_by(2).chain((1..chunks).step_by(2)).collect();
        assert_eq!(rows(&run(halves)), expected);
    }
}

#[test]
fn chunks_follow_one_another_and_stand_where_the_writers_were_made() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let entity = world.spawn(());
    buffer.insert(entity, (Four(0), Serial(0)));
    let mut writers = buffer.par_writers(3);
    for (i, four) in [(2, 12), (0, 10), (1, 11)] {
        writers[i].insert(entity, Four(four));
    }
    writers[1].insert(entity, Serial(5));
    drop(writers);
    buffer.insert(entity, Byte(1));
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.commands, applied.moved), (6, 1), "merged over all of them");
    assert_eq!(world.get::<Four>(entity), Ok(&Four(12)));
    assert_eq!(world.get::<Serial>(entity), Ok(&Serial(5)));
}

#[test]
fn spawns_without_ids_get_them_at_playback() {
    let mut world = World::builder().entities_max(6).build();
    let mut buffer = world.command_buffer(1).unwrap();
    let named = buffer.spawn(Four(0));
    let mut writers = buffer.par_writers(2);
    (0..3).for_each(|i| writers[1].spawn(Four(i)));
    (3..6).for_each(|i| writers[0].spawn(Four(i)));
    drop(writers);
    let errors = crate::fixtures::errors(&mut world, &mut buffer);
    assert_eq!(errors.len(), 1, "six ids, seven spawns");
    assert!(errors[0].to_string().contains("entities_max"), "{}", errors[0]);
    sound(&world);
    let fours: Vec<_> = world.query::<&Four>().iter().flatten().map(|four| four.0).collect();
    assert_eq!(fours, [0, 3, 4, 5, 0, 1], "in the order of the chunks");
    assert!(world.contains(named));
}

#[test]
fn leaked_writers_lose_what_they_recorded_and_nothing_else() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let mut writers = buffer.par_writers(2);
    writers[0].spawn(Four(1));
    std::mem::forget(writers);
    let mut writers = buffer.par_writers(1);
    writers[0].spawn(Four(2));
    drop(writers);
    assert_eq!(apply(&mut world, &mut buffer).spawned, 1);
}

/// Records, on some threads, a despawn of each third entity and a spawn for each fifth.
fn record_in_parallel(threads: usize) -> (u64, usize) {
    let (mut world, mut buffer) = world_and_buffer(0);
    let rows = if cfg!(miri) { 300 } else { 50_000 };
    world.spawn_batch((0..rows).map(Four));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let query = world.query_mut::<(Entity, &mut Four)>();
        query.par().record(&mut buffer, |(entities, fours), commands| {
            for (&entity, four) in entities.iter().zip(fours) {
                match four.0 % 15 {
                    0 | 5 | 10 => commands.spawn((Four(four.0), Tag)),
                    3 | 6 | 9 | 12 => commands.despawn(entity),
                    _ => four.0 += 1,
                }
            }
        });
    });
    apply(&mut world, &mut buffer);
    (world.hash(), world.len())
}

#[test]
fn what_a_pass_records_does_not_depend_on_its_threads() {
    let alone = record_in_parallel(1);
    for threads in [2, 4] {
        assert_eq!(record_in_parallel(threads), alone, "{threads} threads");
    }
}

#[test]
fn a_pass_that_panics_leaves_what_it_recorded() {
    let (mut world, mut buffer) = world_and_buffer(0);
    world.spawn_batch((0..10).map(Four));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        world.query::<(Entity, &Four)>().par().record(&mut buffer, |(entities, _), commands| {
            commands.despawn(entities[0]);
            panic!("in the middle");
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(buffer.len(), 1);
    apply(&mut world, &mut buffer);
    assert_eq!(world.len(), 9);
}

#[test]
fn a_pass_over_no_chunk_records_nothing() {
    let (world, mut buffer) = world_and_buffer(0);
    world.query::<&Four>().par().record(&mut buffer, |_, _| panic!("there is no chunk"));
    assert!(buffer.is_empty());
}
