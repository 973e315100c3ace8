//! Rows in the order of a key: sprites that are sorted by depth in each frame.
//!
//! A pass is one sort, by `sort_by_key` or by `sort_by`; the change of the keys before it is not
//! timed. The limit is two flat `Vec`s: pairs of key and row are sorted by `std`, and both `Vec`s
//! are gathered in their order. It has no entities; in phalanx their ids stay valid.

use std::time::{Duration, Instant};

use phalanx::prelude::*;
use phalanx::rows::{SortKey, total_order};

use super::programs::random::random_index;
use super::sides::{Side, Workload, partial};
use super::world;

const ROWS: usize = 1_000_000;
/// Keys that change before a pass of `sort_changed`: one in a hundred.
const CHANGED: usize = ROWS / 100;

#[component(name = "bench.sprite")]
struct Sprite {
    depth: f32,
    x: f32,
    y: f32,
}

/// By depth.
struct NearToFar;

impl SortKey for NearToFar {
    type Columns = Sprite;
    type Key = i32;

    fn key(sprite: &Sprite) -> i32 {
        total_order(sprite.depth)
    }
}

/// The number of the sprite, in a column of the size of the other one.
#[component(name = "bench.order.number")]
struct Number([u32; 3]);

/// The keys that change before each pass.
#[derive(Clone, Copy)]
enum Keys {
    All,
    Few,
    None,
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let kinds =
        [("sort_random", Keys::All), ("sort_changed", Keys::Few), ("sort_again", Keys::None)];
    kinds.map(|(name, keys)| sorting(name, keys)).into()
}

fn sorting(name: &'static str, keys: Keys) -> Workload {
    Workload::new(name, ROWS, ROWS)
        .limit(move || flat_side(keys))
        .phalanx("phalanx", move |chunk| side::<false>(chunk, keys))
        .phalanx("phalanx_sort_by", move |chunk| side::<true>(chunk, keys))
}

/// The row that gets a new key, and the key.
fn changes(
    keys: Keys,
    mut random: impl FnMut(usize) -> usize,
) -> impl Iterator<Item = (usize, f32)> {
    let len = match keys {
        Keys::All => ROWS,
        Keys::Few => CHANGED,
        Keys::None => 0,
    };
    (0..len).map(move |i| {
        let row = if len == ROWS { i } else { random(ROWS) };
        (row, random(1 << 24) as f32)
    })
}

fn rows() -> impl Iterator<Item = (Sprite, Number)> {
    let mut random = random_index();
    (0_u32..).take(ROWS).map(move |i| {
        let depth = random(1 << 24) as f32;
        (Sprite { depth, x: i as f32, y: depth }, Number([i; 3]))
    })
}

/// `KEPT`: by `sort_by`, which knows the chunks that it has sorted.
fn side<const KEPT: bool>(chunk: ChunkSize, keys: Keys) -> impl Side {
    let mut world = world(chunk);
    let entities = world.spawn_batch(rows()).to_vec();
    let mut random = random_index();
    partial(
        (world, entities),
        move |(world, entities)| {
            for (row, depth) in changes(keys, &mut random) {
                let sprite = world.get_mut::<Sprite>(entities[row]).expect("alive");
                (sprite.depth, sprite.y) = (depth, depth);
            }
            let start = Instant::now();
            let sprites = world.matching::<&Sprite>();
            if KEPT {
                sprites.sort_by::<NearToFar>();
            } else {
                sprites.sort_by_key(NearToFar::key);
            }
            start.elapsed()
        },
        |(world, entities)| {
            check(world.query::<(&Sprite, &Number)>().rows());
            for (i, &entity) in entities.iter().enumerate() {
                let number = world.get::<Number>(entity).expect("alive").0[0];
                assert_eq!(number as usize, i, "the id of another row");
            }
        },
    )
}

fn flat_side(keys: Keys) -> impl Side {
    let (sprites, numbers): (Vec<_>, Vec<_>) = rows().unzip();
    let mut random = random_index();
    partial(
        (sprites, numbers),
        move |(sprites, numbers)| {
            for (row, depth) in changes(keys, &mut random) {
                (sprites[row].depth, sprites[row].y) = (depth, depth);
            }
            flat_sort(sprites, numbers)
        },
        |(sprites, numbers)| check(sprites.iter().zip(numbers.iter())),
    )
}

fn flat_sort(sprites: &mut Vec<Sprite>, numbers: &mut Vec<Number>) -> Duration {
    let start = Instant::now();
    let keys = sprites.iter().map(|sprite| total_order(sprite.depth));
    if !keys.clone().is_sorted() {
        let mut order: Vec<_> = keys.zip(0_u32..).collect();
        order.sort();
        *sprites = order.iter().map(|&(_, row)| sprites[row as usize]).collect();
        *numbers = order.iter().map(|&(_, row)| numbers[row as usize]).collect();
    }
    start.elapsed()
}

fn check<'a>(rows: impl Iterator<Item = (&'a Sprite, &'a Number)>) {
    let mut last = f32::MIN;
    let mut seen = 0;
    for (sprite, number) in rows {
        assert!(last <= sprite.depth, "a row is out of order");
        assert_eq!(sprite.x, number.0[2] as f32, "a column of another row");
        assert_eq!(sprite.y, sprite.depth, "a cell of another row");
        last = sprite.depth;
        seen += 1;
    }
    assert_eq!(seen, ROWS, "a row was lost");
}
