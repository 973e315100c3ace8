//! Values that rows share: a million rows of 16 kinds, spawned in turn.
//!
//! The limit has two flat arrays for each kind. The alternative stores the number of the kind in
//! each row.
//!
//! In addition, one value is chosen among many values with a row each: a shared value, a value that
//! an index finds, or a value that a loop over all rows compares. The limit finds it in a hash map.

use std::collections::HashMap;

use phalanx::prelude::*;
use phalanx::rows::ValueIndex;

use super::column::Column;
use super::flat;
use super::programs::one_of_many::{Count, OneOfMany, Region};
use super::sides::{Side, Workload, steady};
use super::timed::timed;
use super::world;

const ROWS: usize = 1_000_000;
const KINDS: usize = 16;
/// Entities that receive another value one by one.
const MOVED: usize = 10_000;
/// Values of which one is chosen.
const VALUES: u32 = 10_000;
/// The kind that is chosen.
const CHOSEN: u8 = 5;

#[component(name = "bench.shared_height")]
struct Height(f32);
#[component(name = "bench.shared_speed")]
struct Speed(f32);
#[component(name = "bench.kind")]
#[derive(PartialEq, Eq, Hash)]
struct KindId(u32);
#[component(name = "bench.left")]
struct Left;
#[component(name = "bench.right")]
struct Right;

/// The values shared by the rows of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Kind(u8);

impl Kind {
    const fn gravity(self) -> f32 {
        GRAVITY[self.0 as usize]
    }
}

/// Powers of two, so that sums are exact.
const GRAVITY: [f32; KINDS] = {
    let mut all = [0.125; KINDS];
    let mut i = 0;
    while i < KINDS {
        all[i] *= (1 << (i % 4)) as f32;
        i += 1;
    }
    all
};

#[kernel]
fn fall(heights: &mut [Height], speeds: &[Speed], gravity: f32) {
    for (height, speed) in heights.iter_mut().zip(speeds) {
        height.0 += speed.0 * gravity;
    }
}

#[kernel]
fn fall_by_kind(heights: &mut [Height], speeds: &[Speed], kinds: &[KindId]) {
    for ((height, speed), kind) in heights.iter_mut().zip(speeds).zip(kinds) {
        height.0 += speed.0 * GRAVITY[kind.0 as usize % KINDS];
    }
}

#[kernel]
fn count_if(counts: &mut [Count], kinds: &[KindId], chosen: u32) {
    for (count, kind) in counts.iter_mut().zip(kinds) {
        count.0 += u64::from(kind.0 == chosen);
    }
}

#[kernel]
fn fall_if(heights: &mut [Height], speeds: &[Speed], kinds: &[KindId], gravity: f32) {
    for ((height, speed), kind) in heights.iter_mut().zip(speeds).zip(kinds) {
        height.0 += if kind.0 == u32::from(CHOSEN) { speed.0 * gravity } else { 0.0 };
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![pass(), filter(), one_of_many(), change()]
}

fn speed(i: usize) -> f32 {
    (i / KINDS % 4) as f32
}

/// All rows, with the value of their kind.
fn pass() -> Workload {
    Workload::new("shared_pass", ROWS, ROWS)
        .limit(|| {
            steady(
                columns(),
                |columns| {
                    for ((heights, speeds), gravity) in columns.iter_mut().zip(GRAVITY) {
                        flat::add_scaled(heights.write(), speeds.read(), gravity);
                    }
                },
                |columns, passes| assert_fallen(of_columns(columns), passes, |_| true),
            )
        })
        .phalanx("phalanx_shared", |chunk| {
            let fall = |world: &mut World| {
                for (kind, h, s) in world.query_mut::<(Shared<Kind>, &mut Height, &Speed)>() {
                    fall(h, s, kind.gravity());
                }
            };
            fallen(sharing(chunk), fall, |_| true)
        })
        .phalanx("phalanx_rows", |chunk| {
            let fall = |world: &mut World| {
                for (h, s, kinds) in world.query_mut::<(&mut Height, &Speed, &KindId)>() {
                    fall_by_kind(h, s, kinds);
                }
            };
            fallen(numbered(chunk), fall, |_| true)
        })
}

/// The rows of one kind.
fn filter() -> Workload {
    let is_chosen = |i: usize| i % KINDS == usize::from(CHOSEN);
    Workload::new("shared_filter", ROWS, ROWS)
        .limit(move || {
            steady(
                columns(),
                |columns| {
                    let (heights, speeds) = &mut columns[usize::from(CHOSEN)];
                    flat::add_scaled(heights.write(), speeds.read(), Kind(CHOSEN).gravity());
                },
                move |columns, passes| assert_fallen(of_columns(columns), passes, is_chosen),
            )
        })
        .phalanx("phalanx_where", move |chunk| {
            let fall = |world: &mut World| {
                let kind = Kind(CHOSEN);
                let all = world.query_mut::<(&mut Height, &Speed)>();
                for (h, s) in all.where_shared(&kind) {
                    fall(h, s, kind.gravity());
                }
            };
            fallen(sharing(chunk), fall, is_chosen)
        })
        .phalanx("phalanx_rows", move |chunk| {
            let fall = |world: &mut World| {
                for (h, s, kinds) in world.query_mut::<(&mut Height, &Speed, &KindId)>() {
                    fall_if(h, s, kinds, Kind(CHOSEN).gravity());
                }
            };
            fallen(numbered(chunk), fall, is_chosen)
        })
}

/// The row of one value among many.
fn one_of_many() -> Workload {
    let chosen = VALUES / 2;
    let proof = move |all: &mut dyn Iterator<Item = u64>, passes: u64| {
        let all: Vec<_> = all.collect();
        assert_eq!(all.len(), VALUES as usize, "a row for each value");
        assert_eq!(all.iter().copied().max(), Some(passes), "the chosen row");
        assert_eq!(all.iter().sum::<u64>(), passes, "no other row");
    };
    Workload::new("shared_one_of_many", VALUES as usize, 1)
        .limit(move || {
            let columns: HashMap<_, _> = (0..VALUES).map(|i| (Region(i), vec![0u64])).collect();
            steady(
                columns,
                move |columns| {
                    let counts = columns.get_mut(&Region(chosen)).expect("it is there");
                    counts.iter_mut().for_each(|count| *count += 1);
                },
                move |columns, passes| proof(&mut columns.values().flatten().copied(), passes),
            )
        })
        .phalanx("phalanx_where", |chunk| timed(OneOfMany::new(chunk, VALUES)))
        .phalanx("phalanx_index", move |chunk| indexed(chunk, proof, |_| {}))
        // Each search reads the values of one chunk again.
        .phalanx("phalanx_index_changed", move |chunk| {
            indexed(chunk, proof, |world| {
                let mut kinds = world.query_mut::<&mut KindId>();
                kinds.rows_mut().take(1).for_each(|kind| kind.0 = 0);
            })
        })
        .phalanx("phalanx_rows", move |chunk| {
            let mut world = world(chunk);
            world.spawn_batch((0..VALUES).map(|i| (Count(0), KindId(i))));
            steady(
                world,
                move |world| {
                    for (counts, kinds) in world.query_mut::<(&mut Count, &KindId)>() {
                        count_if(counts, kinds, chosen);
                    }
                },
                move |world, passes| {
                    proof(&mut world.query::<&Count>().rows().map(|count| count.0), passes);
                },
            )
        })
}

/// The row of one value, found by an index of the values, after a change.
fn indexed(
    chunk: ChunkSize,
    proof: impl Fn(&mut dyn Iterator<Item = u64>, u64) + Copy,
    change: impl Fn(&mut World) + Copy,
) -> impl Side {
    let mut world = world(chunk);
    world.spawn_batch((0..VALUES).map(|i| (Count(0), KindId(i))));
    steady(
        (world, ValueIndex::new()),
        move |(world, index)| {
            change(world);
            let found = index.find(&world.query::<&KindId>(), &KindId(VALUES / 2));
            for entity in found {
                world.get_mut::<Count>(entity).expect("it has a count").0 += 1;
            }
        },
        move |(world, _), passes| {
            proof(&mut world.query::<&Count>().rows().map(|count| count.0), passes);
        },
    )
}

/// Each entity in turn receives another value, and afterwards its own again. A unit is both.
fn change() -> Workload {
    Workload::new("shared_change", MOVED, MOVED)
        .phalanx("phalanx_shared", |chunk| {
            let mut world = world(chunk);
            let entities = world.spawn_batch((0..MOVED).map(|i| (Height(0.0), Speed(i as f32))));
            let entities = entities.to_vec();
            world.matching::<&Height>().insert_shared(Kind(0)).expect("a row fits a chunk");
            steady(
                (world, entities),
                |(world, entities)| {
                    for kind in [Kind(1), Kind(0)] {
                        for &entity in &*entities {
                            world.insert_shared(entity, kind).expect("it lives");
                        }
                    }
                },
                |(world, _), _| {
                    let own = world.query::<()>().where_shared(&Kind(0)).count_rows();
                    assert_eq!(own, MOVED, "entities of their own kind");
                },
            )
        })
        .phalanx("phalanx_tag", |chunk| {
            let mut world = world(chunk);
            let row = |i| (Height(0.0), Speed(i as f32), Left);
            let entities = world.spawn_batch((0..MOVED).map(row)).to_vec();
            steady(
                (world, entities),
                |(world, entities)| {
                    for &entity in &*entities {
                        world.exchange::<Left, _>(entity, Right).expect("it is left");
                    }
                    for &entity in &*entities {
                        world.exchange::<Right, _>(entity, Left).expect("it is right");
                    }
                },
                |(world, _), _| {
                    let own = world.query::<&Left>().count_rows();
                    assert_eq!(own, MOVED, "entities with their own tag");
                },
            )
        })
}

/// Heights and speeds of one kind.
type Columns = (Column<f32>, Column<f32>);

fn columns() -> Vec<Columns> {
    let of_kind = |kind| {
        let speeds: Vec<_> = (kind..ROWS).step_by(KINDS).map(speed).collect();
        (Column::new(&vec![0f32; speeds.len()], 0), Column::new(&speeds, 1))
    };
    (0..KINDS).map(of_kind).collect()
}

/// The heights in the order of the rows.
fn of_columns(columns: &[Columns]) -> impl Iterator<Item = (usize, f32)> {
    (0..ROWS).map(|i| (i, columns[i % KINDS].0.read()[i / KINDS]))
}

/// Rows that share the values of their kinds. Their ids give the order in which they were spawned.
fn sharing(chunk: ChunkSize) -> World {
    let mut world = world(chunk);
    let entities = world.spawn_batch((0..ROWS).map(|i| (Height(0.0), Speed(speed(i))))).to_vec();
    for (i, entity) in entities.into_iter().enumerate() {
        let kind = Kind(u8::try_from(i % KINDS).expect("a small number"));
        world.insert_shared(entity, kind).expect("it lives");
    }
    world
}

/// Rows that store the numbers of their kinds.
fn numbered(chunk: ChunkSize) -> World {
    let mut world = world(chunk);
    let kind = |i: usize| KindId(u32::try_from(i % KINDS).expect("a small number"));
    world.spawn_batch((0..ROWS).map(|i| (Height(0.0), Speed(speed(i)), kind(i))));
    world
}

fn fallen(
    world: World,
    fall: impl Fn(&mut World),
    falls: impl Fn(usize) -> bool + Copy,
) -> impl Side {
    steady(world, fall, move |world, passes| {
        let rows = world.query::<(Entity, &Height)>().rows();
        assert_fallen(rows.map(|(entity, h)| (entity.index() as usize, h.0)), passes, falls);
    })
}

fn assert_fallen(
    rows: impl Iterator<Item = (usize, f32)>,
    passes: u64,
    falls: impl Fn(usize) -> bool,
) {
    let mut seen = 0;
    for (i, height) in rows {
        let fallen = speed(i) * GRAVITY[i % KINDS] * passes as f32;
        assert_eq!(height, if falls(i) { fallen } else { 0.0 }, "the height of row {i}");
        seen += 1;
    }
    assert_eq!(seen, ROWS, "rows");
}
