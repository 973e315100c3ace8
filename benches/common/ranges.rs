//! Rows with a key in a range: a window of time over a million entries.
//!
//! A pass sums the values of the entries in a window, which begins somewhere else each time and has
//! one in a hundred of all keys. The limit is two flat `Vec`s: with a binary search where they are
//! sorted, and with a comparison of each key where they are not. `phalanx_loop` is the comparison
//! in a query.

use core::hint::black_box;
use core::ops::Range;

use std::time::Instant;

use phalanx::prelude::*;
use phalanx::rows::{ChunkBounds, SortKey};

use super::programs::random::random_index;
use super::sides::{Side, Workload, partial};
use super::world;

const ROWS: usize = 1_000_000;
const WINDOW: usize = ROWS / 100;
/// Keys that change before a pass of `range_changed`.
const CHANGED: usize = 100;

#[component(name = "bench.born")]
struct Born {
    tick: u32,
}

struct ByTick;

impl SortKey for ByTick {
    type Columns = Born;
    type Key = u32;

    fn key(born: &Born) -> u32 {
        born.tick
    }
}

#[component(name = "bench.amount")]
struct Amount(u32);

/// The order of the keys, and whether some change before each pass.
#[derive(Clone, Copy)]
enum Keys {
    Sorted,
    Changed,
    Random,
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let kinds = [
        ("range_sorted", Keys::Sorted),
        ("range_changed", Keys::Changed),
        ("range_random", Keys::Random),
    ];
    kinds.map(|(name, keys)| window(name, keys)).into()
}

fn window(name: &'static str, keys: Keys) -> Workload {
    Workload::new(name, ROWS, WINDOW)
        .limit(move || flat_side(keys))
        .phalanx("phalanx", move |chunk| {
            let bounds = ChunkBounds::<ByTick>::new();
            side(chunk, keys, move |world, ticks| {
                let mut sum = 0;
                let entries = world.query::<(&Amount, &Born)>();
                for (amounts, _) in bounds.between(entries, ticks) {
                    sum += amounts.iter().map(|amount| u64::from(amount.0)).sum::<u64>();
                }
                sum
            })
        })
        .phalanx("phalanx_loop", move |chunk| {
            side(chunk, keys, |world, ticks| {
                let entries = world.query::<(&Amount, &Born)>().rows();
                let inside = entries.filter(|(_, born)| ticks.contains(&born.tick));
                inside.map(|(amount, _)| u64::from(amount.0)).sum()
            })
        })
}

/// The keys: each once.
fn ticks(keys: Keys) -> Vec<u32> {
    let mut ticks: Vec<u32> = (0..).take(ROWS).collect();
    if matches!(keys, Keys::Random) {
        let mut random = random_index();
        (1..ROWS).rev().for_each(|i| ticks.swap(i, random(i + 1)));
    }
    ticks
}

/// The windows, one for each pass.
fn windows() -> impl FnMut() -> Range<u32> {
    let mut random = random_index();
    move || {
        let start = u32::try_from(random(ROWS - WINDOW)).expect("a tick");
        start..start + u32::try_from(WINDOW).expect("few ticks")
    }
}

/// Two neighbours that exchange their keys, so that no window has another sum of keys.
fn exchanged(random: &mut impl FnMut(usize) -> usize) -> [usize; 2] {
    let row = random(ROWS - 1);
    [row, row + 1]
}

fn side(
    chunk: ChunkSize,
    keys: Keys,
    sum: impl Fn(&World, Range<u32>) -> u64 + 'static,
) -> impl Side {
    let mut world = world(chunk);
    let rows = ticks(keys).into_iter().map(|tick| (Born { tick }, Amount(tick)));
    let entities = world.spawn_batch(rows).to_vec();
    let (mut windows, mut random) = (windows(), random_index());
    partial(
        world,
        move |world| {
            if matches!(keys, Keys::Changed) {
                for _ in 0..CHANGED / 2 {
                    let rows = exchanged(&mut random).map(|row| entities[row]);
                    let ticks = rows.map(|entity| world.get::<Born>(entity).expect("alive").tick);
                    for (entity, tick) in rows.into_iter().zip([ticks[1], ticks[0]]) {
                        world.get_mut::<Born>(entity).expect("alive").tick = tick;
                        world.get_mut::<Amount>(entity).expect("alive").0 = tick;
                    }
                }
            }
            let window = windows();
            let start = Instant::now();
            let sum = black_box(sum(world, window.clone()));
            let time = start.elapsed();
            assert_eq!(sum, expected(window), "another window");
            time
        },
        |world| assert_eq!(world.len(), ROWS, "a row was lost"),
    )
}

fn flat_side(keys: Keys) -> impl Side {
    let born = ticks(keys);
    let mut windows = windows();
    partial(
        (born.clone(), born),
        move |(born, amounts)| {
            let window = windows();
            let start = Instant::now();
            let sum: u64 = if matches!(keys, Keys::Sorted) {
                let from = born.partition_point(|tick| *tick < window.start);
                let until = born.partition_point(|tick| *tick < window.end);
                amounts[from..until].iter().map(|&amount| u64::from(amount)).sum()
            } else {
                let all = born.iter().zip(amounts.iter());
                let inside = all.filter(|(tick, _)| window.contains(tick));
                inside.map(|(_, &amount)| u64::from(amount)).sum()
            };
            let sum = black_box(sum);
            let time = start.elapsed();
            assert_eq!(sum, expected(window), "another window");
            time
        },
        |(born, amounts)| assert_eq!(born, amounts, "a row was lost"),
    )
}

/// The sum of a window, of which each key is in one row.
fn expected(window: Range<u32>) -> u64 {
    window.map(u64::from).sum()
}
