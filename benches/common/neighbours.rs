//! Neighbours in space: the sum of one number of eight neighbours of each of a million rows.
//!
//! The rows are points of a cube of 1,024 cells a side. They lie in random order
//! (`neighbours_random`), or sorted by the Morton key of their cell (`neighbours_morton`), so that
//! points that are near each other lie near each other. Neighbours are points that are near in the
//! order of the keys; the lists of a pass are in the order of the rows.
//!
//! `phalanx_id` finds the neighbours by entity, `phalanx_place` by the places of their rows, which
//! were found before the pass. `phalanx_find` is the search for all places, by entity. The limit is
//! a flat `Vec` of the points in the same order, and `u32` indices.

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx::rows::{RowPlace, SortKey};

use super::programs::random::random_index;
use super::sides::{Side, Workload, steady};
use super::world;

const ROWS: usize = 1_000_000;
const NEAR: usize = 8;
/// Cells along each axis.
const CELLS: usize = 1024;

#[component(name = "bench.neighbours.point")]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[component(name = "bench.neighbours.number")]
struct Number(u32);

/// By the cell of a point, along a curve on which cells that follow each other are neighbours.
struct Morton;

impl SortKey for Morton {
    type Columns = Point;
    type Key = u32;

    fn key(point: &Point) -> u32 {
        spread(point.x) | spread(point.y) << 1 | spread(point.z) << 2
    }
}

/// The bits of the number of a cell, each followed by two zeros.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1023")]
fn spread(cell: f32) -> u32 {
    let bits = cell as u32 & 0x3ff;
    let bits = (bits | bits << 16) & 0x0300_00ff;
    let bits = (bits | bits << 8) & 0x0300_f00f;
    let bits = (bits | bits << 4) & 0x030c_30c3;
    (bits | bits << 2) & 0x0924_9249
}

/// The order of rows.
#[derive(Clone, Copy)]
enum Order {
    Random,
    Morton,
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    [("neighbours_random", Order::Random), ("neighbours_morton", Order::Morton)]
        .map(|(name, order)| {
            Workload::new(name, ROWS, ROWS)
                .limit(move || flat(order))
                .phalanx("phalanx_id", move |chunk| by_entity(Points::new(chunk, order)))
                .phalanx("phalanx_place", move |chunk| by_place(Points::new(chunk, order)))
                .phalanx("phalanx_find", move |chunk| find(Points::new(chunk, order)))
        })
        .into()
}

/// The world, and the neighbours of each row in the order of rows.
struct Points {
    world: World,
    near: Vec<[Entity; NEAR]>,
    /// The sum of a pass.
    sum: f64,
}

impl Points {
    fn new(chunk: ChunkSize, order: Order) -> Self {
        let mut world = world(chunk);
        let mut random = random_index();
        let points = (0_u32..).take(ROWS).map(|i| {
            let [x, y, z] = [(); 3].map(|()| random(CELLS) as f32);
            (Point { x, y, z }, Number(i))
        });
        let entities = world.spawn_batch(points).to_vec();
        // The points in the order of the keys, and the number of each point in it.
        let points: Vec<Point> = world.query::<&Point>().rows().copied().collect();
        let mut curve: Vec<_> = points.iter().map(Morton::key).zip(0_usize..).collect();
        curve.sort_unstable();
        let mut ranks = vec![0; ROWS];
        for (rank, &(_, point)) in curve.iter().enumerate() {
            ranks[point] = rank;
        }
        if matches!(order, Order::Morton) {
            world.matching::<&Point>().sort_by::<Morton>();
        }
        let mut sum = 0.0;
        let near = |number: &Number| {
            let rank = ranks[number.0 as usize];
            core::array::from_fn(|k| {
                let point = curve[(rank + 1 + k * 37 % 300) % ROWS].1;
                sum += f64::from(points[point].x);
                entities[point]
            })
        };
        let near = world.query::<&Number>().rows().map(near).collect();
        Self { world, near, sum }
    }
}

/// Sums of whole numbers, which are exact in any order.
fn sum_of(points: impl Iterator<Item = f32>) -> f64 {
    points.map(f64::from).sum()
}

fn flat(order: Order) -> impl Side {
    let points = Points::new(ChunkSize::KIB_16, order);
    let rows: Vec<Point> = points.world.query::<&Point>().rows().copied().collect();
    let ids = points.world.query::<Entity>().rows();
    let mut row_of = vec![0; ROWS];
    for (row, id) in (0_u32..).zip(ids) {
        row_of[id.index() as usize] = row;
    }
    let near: Vec<[u32; NEAR]> =
        points.near.iter().map(|near| near.map(|id| row_of[id.index() as usize])).collect();
    let sum = points.sum;
    steady(
        (rows, near, 0.0),
        |(rows, near, sum)| {
            *sum = sum_of(black_box(&*near).iter().flatten().map(|&row| rows[row as usize].x));
        },
        move |(_, _, found), _| assert_eq!(*found, sum, "the sum of all neighbours"),
    )
}

fn by_entity(points: Points) -> impl Side {
    steady(
        (points, 0.0),
        |(Points { world, near, .. }, sum)| {
            let found = world.lookup::<Point>();
            let x = |&id| found.get(id).expect("alive").x;
            *sum = sum_of(black_box(&*near).iter().flatten().map(x));
        },
        |(points, sum), _| assert_eq!(*sum, points.sum, "the sum of all neighbours"),
    )
}

fn by_place(points: Points) -> impl Side {
    let places = places(&points);
    steady(
        (points, places, 0.0),
        |(Points { world, .. }, places, sum)| {
            let found = world.lookup::<Point>().by_place();
            let x = |&place| found.at(place).expect("no row has moved").x;
            *sum = sum_of(black_box(&*places).iter().flatten().map(x));
        },
        |(points, _, sum), _| assert_eq!(*sum, points.sum, "the sum of all neighbours"),
    )
}

fn find(points: Points) -> impl Side {
    let found = places(&points);
    steady(
        (points, found),
        |(points, found)| {
            let lookup = points.world.lookup::<Point>().by_place();
            for (found, near) in found.iter_mut().zip(black_box(&points.near)) {
                *found = near.map(|id| lookup.place(id).expect("alive"));
            }
        },
        |(points, found), _| {
            let lookup = points.world.lookup::<Point>().by_place();
            let x = |&place| lookup.at(place).expect("no row has moved").x;
            let sum = sum_of(found.iter().flatten().map(x));
            assert_eq!(sum, points.sum, "the sum of all neighbours");
        },
    )
}

/// The places of the neighbours of each row.
fn places(points: &Points) -> Vec<[RowPlace; NEAR]> {
    let found = points.world.lookup::<Point>().by_place();
    points.near.iter().map(|near| near.map(|id| found.place(id).expect("alive"))).collect()
}
