//! Worlds taken over by another one, whole or in part.
//!
//! The size is the number of added entities; a unit is one of them. Each has four components of 32
//! bytes together, and perhaps the id of another one. The limit makes only the writes that every
//! merge of entities with new ids needs, into existing memory: a place for each id, the ids in the
//! order of rows, and the new id of each old one.

use std::hint::black_box;
use std::time::Instant;

use phalanx::prelude::*;

use super::sides::{Side, Workload, fresh, partial};
use super::{Position, Velocity, position, velocity};

const ROWS: usize = 100_000;

#[component]
struct Health(f32);
#[component]
struct Number(u32);
#[component]
struct Odd;
#[component]
struct Friend(Entity);

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![merge(), move_from()]
}

fn merge() -> Workload {
    Workload::new("merge", ROWS, ROWS)
        .limit(limit)
        .phalanx("phalanx_into_empty", |chunk| merging(move || (empty(chunk), level(chunk))))
        .phalanx("phalanx_into_as_many", |chunk| merging(move || (level(chunk), level(chunk))))
        .phalanx("phalanx_references", |chunk| {
            merging(move || (empty(chunk), with_friends(level(chunk))))
        })
        .phalanx("phalanx_again", again)
}

/// All rows, and every second one, which leaves no chunk whole.
fn move_from() -> Workload {
    Workload::new("move_from", ROWS, ROWS)
        .limit(limit)
        .phalanx("phalanx_all", |chunk| {
            fresh(
                move || (empty(chunk), level(chunk)),
                |(mut world, mut level)| {
                    let moved = world.move_from(level.matching::<&Position>());
                    (world, moved.expect("there is room").len(), level)
                },
                |(world, moved, _)| assert_eq!((world.len(), *moved), (ROWS, ROWS), "all came"),
            )
        })
        .phalanx("phalanx_half", |chunk| {
            fresh(
                move || {
                    let mut level = level(chunk);
                    let all: Vec<_> = level.query::<Entity>().rows().collect();
                    for &entity in all.iter().step_by(2) {
                        level.insert(entity, Odd).expect("it is alive");
                    }
                    (empty(chunk), level)
                },
                |(mut world, mut level)| {
                    let moved = world.move_from(level.matching::<&Position>().with::<Odd>());
                    (world, moved.expect("there is room").len(), level)
                },
                |(world, moved, level)| {
                    let halves = (world.len(), level.len());
                    assert_eq!((halves, *moved), ((ROWS / 2, ROWS / 2), ROWS / 2), "half came");
                },
            )
        })
}

fn limit() -> impl Side {
    let arrays = (vec![[0u32; 3]; ROWS], vec![0u64; ROWS], vec![0u64; ROWS], 0u32);
    partial(
        arrays,
        |(places, rows, ids, pass)| {
            *pass += 1;
            let start = Instant::now();
            let new = black_box(*pass);
            places.iter_mut().zip(0..).for_each(|(place, row)| *place = [new, 3, row]);
            rows.iter_mut().zip(u64::from(new)..).for_each(|(id, new)| *id = new);
            ids.iter_mut().zip(u64::from(new)..).for_each(|(id, new)| *id = new);
            start.elapsed()
        },
        |(places, rows, ids, pass)| {
            assert_eq!(places[ROWS - 1][0], *pass, "the last place");
            assert_eq!((rows[0], ids[0]), (u64::from(*pass), u64::from(*pass)), "the first ids");
        },
    )
}

fn empty(chunk: ChunkSize) -> World {
    World::builder().chunk_size(chunk).build()
}

fn level(chunk: ChunkSize) -> World {
    let mut level = empty(chunk);
    level.spawn_batch((0..ROWS).map(|i| (position(i), velocity(i), Health(1.0), Number(u32::MAX))));
    level
}

/// The level: each entity has the id of another one.
fn with_friends(mut level: World) -> World {
    level.matching::<&Number>().insert(Friend(Entity::NULL)).expect("there is room");
    let all: Vec<_> = level.query::<Entity>().rows().collect();
    for (i, friend) in level.query_mut::<&mut Friend>().rows().enumerate() {
        friend.0 = all[i * 7919 % ROWS];
    }
    level
}

/// A new world takes over another one.
fn merging(worlds: impl Fn() -> (World, World)) -> impl Side {
    fresh(
        worlds,
        |(mut world, level)| {
            let before = world.len();
            let merged = world.merge(level).expect("there is room");
            (world, merged, before)
        },
        |(world, merged, before)| {
            assert_eq!((world.len(), merged.len()), (before + ROWS, ROWS), "all came");
            let friends = world.query::<&Friend>();
            assert!(friends.rows().all(|friend| world.contains(friend.0)), "with new ids");
        },
    )
}

/// A world that had taken over such a level before, and despawned its entities.
fn again(chunk: ChunkSize) -> impl Side {
    let mut world = empty(chunk);
    world.merge(level(chunk)).expect("there is room");
    partial(
        world,
        move |world| {
            world.matching::<&Position>().despawn();
            let level = level(chunk);
            let start = Instant::now();
            let merged = black_box(world.merge(level).expect("there is room"));
            let time = start.elapsed();
            drop(merged);
            time
        },
        |world| assert_eq!(world.query::<(&Position, &Velocity)>().count_rows(), ROWS, "one level"),
    )
}
