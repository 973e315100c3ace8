//! Enable bits: passes over rows, some of them disabled, and the cost of a switch.
//!
//! Enabled rows are chosen at random, the worst case for runs. Rows can also be left out by a
//! branch for each row (`phalanx_branch`) or by an archetype of their own (`phalanx_archetype`),
//! where each switch moves a row. The limit has the enabled rows alone, side by side.
//!
//! `enable_rows` visits the enabled rows one by one; its branch reads a `bool` column.

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx::simd::vectors::{F32x16, Mask16};

use super::column::Column;
use super::flat;
use super::programs::random::random_indices;
use super::sides::{Side, Workload, steady};
use super::world;

const ROWS: usize = 100_000;

/// Rows that are switched together.
const MANY: usize = 1_000_000;

const DT: f32 = 0.5;

#[component(name = "bench.height")]
struct Height(f32);
#[component(name = "bench.speed")]
struct Speed(f32);
#[component(name = "bench.is_awake")]
struct IsAwake(bool);
#[component(name = "bench.moved")]
struct Moved;

#[component(enableable, name = "bench.awake")]
struct Awake;

#[kernel]
fn rise(heights: &mut [Height], speeds: &[Speed], dt: f32) {
    for (height, speed) in heights.iter_mut().zip(speeds) {
        height.0 += speed.0 * dt;
    }
}

#[kernel]
fn rise_if(heights: &mut [Height], speeds: &[Speed], awake: &[IsAwake], dt: f32) {
    for ((height, speed), awake) in heights.iter_mut().zip(speeds).zip(awake) {
        if awake.0 {
            height.0 += speed.0 * dt;
        }
    }
}

/// Computes all rows and keeps the old values of disabled ones.
#[kernel]
fn rise_masked(heights: &mut [F32x16], speeds: &[F32x16], words: &[u64], dt: f32) {
    for (i, (height, speed)) in heights.iter_mut().zip(speeds).enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "a quarter of the word")]
        let awake = Mask16::from_bits((words[i / 4] >> (i % 4 * 16)) as u16);
        *height = awake.select(*height + *speed * F32x16::splat(dt), *height);
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let passes = [
        ("enable_pass_000", 0),
        ("enable_pass_001", 1),
        ("enable_pass_050", 50),
        ("enable_pass_099", 99),
        ("enable_pass_100", 100),
    ];
    let mut workloads: Vec<_> = passes.map(|(name, percent)| pass(name, percent)).into();
    workloads.extend([
        each_row("enable_rows_050", |i| is_on(i, 50)),
        each_row("enable_rows_second", |i| i.is_multiple_of(2)),
        switch_many(),
        switch_one(),
    ]);
    workloads
}

/// Whether row `i` is enabled: a share of the rows, at random.
fn is_on(i: usize, percent: usize) -> bool {
    (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 100 < percent
}

fn speed(i: usize) -> f32 {
    (i % 4) as f32
}

/// A pass over the enabled rows.
fn pass(name: &'static str, percent: usize) -> Workload {
    let on = move |i| is_on(i, percent);
    let mut workload = Workload::new(name, ROWS, ROWS);
    if percent > 0 {
        workload = workload.limit(move || enabled_alone(on));
    }
    workload
        .phalanx("phalanx_runs", move |chunk| {
            risen(chunk, on, |world, _| {
                let awake = world.query_mut::<(&mut Height, &Speed)>().with::<Awake>();
                awake.into_iter().for_each(|(heights, speeds)| rise(heights, speeds, DT));
            })
        })
        .phalanx("phalanx_masked", move |chunk| {
            risen(chunk, on, |world, words| {
                let awake = world.query_mut::<(&mut Height, &Speed)>().with::<Awake>();
                for (mask, (heights, speeds)) in awake.masked().padded() {
                    words.clear();
                    words.extend(mask.words());
                    rise_masked(lanes_mut(heights), lanes(speeds), words, DT);
                }
            })
        })
        .phalanx("phalanx_branch", move |chunk| {
            risen(chunk, on, |world, _| {
                for (heights, speeds, awake) in world.query_mut::<(&mut Height, &Speed, &IsAwake)>()
                {
                    rise_if(heights, speeds, awake, DT);
                }
            })
        })
        .phalanx("phalanx_archetype", move |chunk| {
            risen(chunk, on, |world, _| {
                let awake = world.query_mut::<(&mut Height, &Speed)>().with::<Moved>();
                awake.into_iter().for_each(|(heights, speeds)| rise(heights, speeds, DT));
            })
        })
}

/// The enabled rows, side by side.
fn enabled_alone(on: impl Fn(usize) -> bool) -> impl Side {
    let speeds: Vec<_> = (0..ROWS).filter(|&i| on(i)).map(speed).collect();
    steady(
        (Column::new(&vec![0f32; speeds.len()], 0), Column::new(&speeds, 1)),
        |(heights, speeds)| flat::add_scaled(heights.write(), speeds.read(), DT),
        |(heights, speeds), passes| {
            let after = speeds.read().iter().map(|speed: &f32| speed * DT * passes as f32);
            assert!(heights.read::<f32>().iter().copied().eq(after), "heights");
        },
    )
}

/// A pass over the enabled rows, row by row.
fn each_row(name: &'static str, on: fn(usize) -> bool) -> Workload {
    Workload::new(name, ROWS, ROWS)
        .limit(move || enabled_alone(on))
        .phalanx("phalanx_for", move |chunk| {
            risen(chunk, on, |world, _| {
                for (height, speed) in
                    world.query_mut::<(&mut Height, &Speed)>().with::<Awake>().rows()
                {
                    height.0 += speed.0 * DT;
                }
            })
        })
        .phalanx("phalanx_for_each", move |chunk| {
            risen(chunk, on, |world, _| {
                let awake = world.query_mut::<(&mut Height, &Speed)>().with::<Awake>();
                awake.rows().for_each(|(height, speed)| height.0 += speed.0 * DT);
            })
        })
        .phalanx("phalanx_slices", move |chunk| {
            risen(chunk, on, |world, _| {
                for (heights, speeds) in world.query_mut::<(&mut Height, &Speed)>().with::<Awake>()
                {
                    for (height, speed) in heights.iter_mut().zip(speeds) {
                        height.0 += speed.0 * DT;
                    }
                }
            })
        })
        .phalanx("phalanx_bool_for", move |chunk| {
            risen(chunk, on, |world, _| {
                for (height, speed, awake) in
                    world.query_mut::<(&mut Height, &Speed, &IsAwake)>().rows()
                {
                    if awake.0 {
                        height.0 += speed.0 * DT;
                    }
                }
            })
        })
        .phalanx("phalanx_bool_for_each", move |chunk| {
            risen(chunk, on, |world, _| {
                let all = world.query_mut::<(&mut Height, &Speed, &IsAwake)>();
                all.rows().for_each(|(height, speed, awake)| {
                    if awake.0 {
                        height.0 += speed.0 * DT;
                    }
                });
            })
        })
}

/// A side over two sets of rows: one with a bit and a `bool` for each row, one with a separate
/// archetype of enabled rows.
fn risen(
    chunk: ChunkSize,
    on: impl Fn(usize) -> bool + Copy + 'static,
    rise: impl Fn(&mut World, &mut Vec<u64>),
) -> impl Side {
    let mut world = world(chunk);
    let row = |i| (Height(0.0), Speed(speed(i)), IsAwake(on(i)), Awake);
    world.spawn_batch((0..ROWS).map(row));
    for (awake, mut bits) in world.query_mut::<(&IsAwake, EnabledMut<Awake>)>() {
        bits.assign(|row| awake[row].0);
    }
    let enabled = (0..ROWS).filter(|&i| on(i));
    world.spawn_batch(enabled.map(|i| (Height(0.0), Speed(speed(i)), Moved)));
    steady(
        (world, Vec::new()),
        move |(world, words)| rise(world, words),
        move |(world, _), passes| {
            let all = world.query::<(&Height, &Speed, Option<&IsAwake>)>();
            let mut risen = 0;
            for (height, speed, awake) in all.rows().filter(|row| row.1.0 != 0.0) {
                // The side under test has raised one of the two sets.
                if height.0 != 0.0 {
                    assert_eq!(height.0, speed.0 * DT * passes as f32, "a height");
                    assert!(awake.is_none_or(|awake| awake.0), "a row that is disabled has risen");
                    risen += 1;
                }
            }
            let enabled = (0..ROWS).filter(|&i| on(i) && speed(i) != 0.0);
            assert_eq!(risen, enabled.count(), "rows that rose");
        },
    )
}

/// All rows of a query are disabled, or enabled again.
fn switch_many() -> Workload {
    Workload::new("enable_many", MANY, MANY)
        .limit(|| {
            steady(
                vec![0u64; MANY.div_ceil(64)],
                |words| words.iter_mut().for_each(|word| *word = !*word),
                |words, passes| {
                    let all = if passes % 2 == 0 { 0 } else { u64::MAX };
                    assert!(words.iter().all(|&word| word == all), "words");
                },
            )
        })
        .phalanx("phalanx_bits", |chunk| {
            let mut world = world(chunk);
            world.spawn_batch((0..MANY).map(|i| (Speed(i as f32), Awake)));
            steady(
                (world, true),
                |(world, are_on)| {
                    let all = world.matching::<&Speed>();
                    let switched =
                        if *are_on { all.disable::<Awake>() } else { all.enable::<Awake>() };
                    *are_on = !*are_on;
                    assert_eq!(switched, MANY, "rows that were switched");
                },
                |(world, are_on), _| {
                    let on = world.query::<&Awake>().count_rows();
                    assert_eq!(on, if *are_on { MANY } else { 0 }, "rows that are enabled");
                },
            )
        })
        .phalanx("phalanx_archetype", |chunk| {
            let mut world = world(chunk);
            world.spawn_batch((0..MANY).map(|i| (Speed(i as f32), Moved)));
            steady(
                (world, true),
                |(world, are_on)| {
                    let all = world.matching::<&Speed>();
                    let moved = match *are_on {
                        true => all.remove::<Moved>(),
                        false => all.insert(Moved).expect("a row fits"),
                    };
                    *are_on = !*are_on;
                    assert_eq!(moved, MANY, "rows that moved");
                },
                |(world, are_on), _| {
                    let on = world.query::<&Moved>().count_rows();
                    assert_eq!(on, if *are_on { MANY } else { 0 }, "rows that have it");
                },
            )
        })
}

/// Switches entities off or on again, one by one in random order.
fn switch_one() -> Workload {
    Workload::new("enable_one", ROWS, ROWS)
        .limit(|| {
            let order: Vec<_> = random_indices(ROWS, ROWS).collect();
            steady(
                (vec![0u64; ROWS.div_ceil(64)], order, true),
                |(words, order, are_on)| {
                    for &i in black_box(&*order) {
                        let bit = 1 << (i % 64);
                        let word = &mut words[i / 64];
                        *word = if *are_on { *word | bit } else { *word & !bit };
                    }
                    *are_on = !*are_on;
                },
                |(words, order, are_on), _| {
                    let is_off = |&i: &usize| words[i / 64] >> (i % 64) & 1 == 1;
                    assert!(order.iter().all(|i| is_off(i) != *are_on), "bits");
                },
            )
        })
        .phalanx("phalanx_bits", |chunk| {
            switched(chunk, |world, order, on| {
                let mut awake = world.lookup_mut::<Awake>();
                for &entity in order {
                    awake.set_enabled(entity, on).expect("alive");
                }
            })
        })
        .phalanx("phalanx_single", |chunk| {
            switched(chunk, |world, order, on| {
                for &entity in order {
                    world.set_enabled::<Awake>(entity, on).expect("alive");
                }
            })
        })
        .phalanx("phalanx_commands", |chunk| {
            switched(chunk, |world, order, on| {
                let mut buffer = world.command_buffer(0).expect("no ids");
                for &entity in order {
                    buffer.set_enabled::<Awake>(entity, on);
                }
                world.apply(&mut buffer).expect("alive");
            })
        })
        .phalanx("phalanx_archetype", |chunk| {
            switched(chunk, |world, order, on| {
                // An entity may occur twice in the order.
                for &entity in order {
                    match on {
                        true => world.insert(entity, Awake).expect("alive"),
                        false => _ = world.remove::<Awake>(entity),
                    }
                }
            })
        })
}

fn switched(chunk: ChunkSize, switch: impl Fn(&mut World, &[Entity], bool)) -> impl Side {
    let mut world = world(chunk);
    let rows = (0..ROWS).map(|i| (Height(0.0), Speed(i as f32), Awake));
    let entities = world.spawn_batch(rows).to_vec();
    let order: Vec<_> = random_indices(ROWS, ROWS).map(|i| entities[i]).collect();
    let distinct = order.iter().collect::<std::collections::HashSet<_>>().len();
    steady(
        (world, order, true),
        move |(world, order, are_on)| {
            *are_on = !*are_on;
            switch(world, black_box(&*order), *are_on);
        },
        move |(world, _, are_on), _| {
            let on = world.query::<&Awake>().count_rows();
            assert_eq!(on, if *are_on { ROWS } else { ROWS - distinct }, "rows that are enabled");
        },
    )
}
