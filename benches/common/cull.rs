//! Chunks skipped by a value of their own: a tenth of a million rows is in view.
//!
//! Rows lie in the order of their places, as in a level that is loaded tile by tile. The limit has
//! an array of bounds, one for each block; a block has about the rows of a chunk.

use std::ops::Range;

use phalanx::prelude::*;
use phalanx::simd::fold;

use super::column::Column;
use super::flat;
use super::sides::{Side, Workload, steady};
use super::world;

const ROWS: usize = 1_000_000;

/// Rows of a block of the limit: about the rows of a chunk.
const BLOCK: usize = 1_360;

const DT: f32 = 0.5;

/// The places in view. Both are bounds of rows, so the limit has no partial block to test.
const VIEW: (f32, f32) = (450_000.0, 550_000.0);

#[component(name = "bench.place")]
struct Place(f32);
#[component(name = "bench.cull_height")]
struct Height(f32);
#[component(name = "bench.cull_speed")]
struct Speed(f32);

/// The first and the last place of a chunk's rows.
#[component(name = "bench.bounds")]
struct Bounds {
    low: f32,
    high: f32,
}

impl Bounds {
    fn of(places: &[Place]) -> Self {
        let all = scalars::<f32>(places);
        let ends = (fold::min(all), fold::max(all));
        Self { low: ends.0.expect("a chunk has rows"), high: ends.1.expect("a chunk has rows") }
    }

    const fn is_in_view(&self) -> bool {
        self.high >= VIEW.0 && self.low < VIEW.1
    }
}

#[kernel]
fn rise_in_view(heights: &mut [Height], speeds: &[Speed], places: &[Place], dt: f32) {
    for ((height, speed), place) in heights.iter_mut().zip(speeds).zip(places) {
        let is_in_view = place.0 >= VIEW.0 && place.0 < VIEW.1;
        height.0 += if is_in_view { speed.0 * dt } else { 0.0 };
    }
}

/// The rows in view of a block that begins at a place.
#[expect(clippy::cast_possible_truncation, reason = "places are row numbers")]
fn rows_in_view(low: f32, len: usize) -> Range<usize> {
    (VIEW.0 - low).max(0.0) as usize..((VIEW.1 - low) as usize).min(len)
}

fn speed(i: usize) -> f32 {
    (i % 4) as f32
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![pass(), measure()]
}

/// A pass over the rows in view.
fn pass() -> Workload {
    Workload::new("cull_pass", ROWS, ROWS)
        .limit(|| {
            let speeds: Vec<_> = (0..ROWS).map(speed).collect();
            let bounds: Vec<_> = (0..ROWS.div_ceil(BLOCK))
                .map(|block| (block * BLOCK) as f32)
                .map(|low| (low, low + (BLOCK - 1) as f32))
                .collect();
            steady(
                (Column::new(&vec![0f32; ROWS], 0), Column::new(&speeds, 1), bounds),
                |(heights, speeds, bounds)| {
                    let blocks = heights.write().chunks_mut(BLOCK).zip(speeds.read().chunks(BLOCK));
                    for ((heights, speeds), &(low, high)) in blocks.zip(&*bounds) {
                        if high >= VIEW.0 && low < VIEW.1 {
                            let rows = rows_in_view(low, heights.len());
                            flat::add_scaled(&mut heights[rows.clone()], &speeds[rows], DT);
                        }
                    }
                },
                |(heights, ..), passes| assert_risen(heights.read::<f32>().iter().copied(), passes),
            )
        })
        .phalanx("phalanx_where", |chunk| {
            risen(chunk, |world| {
                let all = world.query_mut::<(&mut Height, &Speed, &Place)>();
                let near = all.where_chunk(Bounds::is_in_view);
                near.into_iter().for_each(|(h, s, p)| rise_in_view(h, s, p, DT));
            })
        })
        .phalanx("phalanx_modified", |chunk| {
            risen(chunk, |world| {
                let all = world.query_mut::<(PerChunk<Bounds>, &mut Height, &Speed, &Place)>();
                all.for_each_chunk(|(bounds, heights, speeds, places)| {
                    if !bounds.is_in_view() {
                        return Modified::No;
                    }
                    rise_in_view(heights, speeds, places, DT);
                    Modified::Yes
                });
            })
        })
        .phalanx("phalanx_rows", |chunk| {
            risen(chunk, |world| {
                let all = world.query_mut::<(&mut Height, &Speed, &Place)>();
                all.into_iter().for_each(|(h, s, p)| rise_in_view(h, s, p, DT));
            })
        })
}

/// The bounds of all chunks are computed again.
fn measure() -> Workload {
    Workload::new("cull_measure", ROWS, ROWS)
        .phalanx("phalanx_all", |chunk| {
            steady(
                filled(chunk),
                |world| {
                    for (places, mut bounds) in world.query_mut::<(&Place, PerChunkMut<Bounds>)>() {
                        *bounds = Bounds::of(places);
                    }
                },
                |world, _| assert_measured(world),
            )
        })
        .phalanx("phalanx_changed", |chunk| {
            let world = filled(chunk);
            let since = world.version();
            steady(
                (world, since),
                |(world, since)| {
                    let moved = world.query_mut::<(&Place, PerChunkMut<Bounds>)>();
                    for (places, mut bounds) in moved.changed_since::<Place>(*since) {
                        *bounds = Bounds::of(places);
                    }
                },
                |(world, _), _| assert_measured(world),
            )
        })
}

fn assert_measured(world: &World) {
    for (places, bounds) in &world.query::<(&Place, PerChunk<Bounds>)>() {
        let ends = [places[0].0, places[places.len() - 1].0];
        assert_eq!([bounds.low, bounds.high], ends, "bounds");
    }
}

fn filled(chunk: ChunkSize) -> World {
    let mut world = world(chunk);
    let row = |i| (Height(0.0), Speed(speed(i)), Place(i as f32), PerChunk::<Bounds>::TAG);
    world.spawn_batch((0..ROWS).map(row));
    for (places, mut bounds) in world.query_mut::<(&Place, PerChunkMut<Bounds>)>() {
        *bounds = Bounds::of(places);
    }
    world
}

fn risen(chunk: ChunkSize, rise: impl Fn(&mut World)) -> impl Side {
    steady(filled(chunk), rise, |world, passes| {
        assert_risen(world.query::<&Height>().rows().map(|height| height.0), passes);
    })
}

fn assert_risen(heights: impl Iterator<Item = f32>, passes: u64) {
    for (i, height) in heights.enumerate() {
        let is_in_view = (VIEW.0..VIEW.1).contains(&(i as f32));
        let risen = if is_in_view { speed(i) * DT * passes as f32 } else { 0.0 };
        assert_eq!(height, risen, "the height of row {i}");
    }
}
