//! Change filters over 1,000,000 rows.
//!
//! In `changed_filter_*` 10,000 rows are written each frame, in one run that wanders. `scan` times
//! the search for changes and the sum over them; `frame` also the writes, each by its entity. The
//! limit knows the run and needs no search. A unit is a changed entity; phalanx also sums the
//! unchanged rows of the chunks it finds, at its own cost.
//!
//! In `changed_share` the size is the percentage of rows that were written, once and for all, and a
//! unit is a row of the world, changed or not. The written rows are one run, or lie scattered, so
//! that nearly every chunk holds one; `lines` finds scattered rows by the versions of lines, and
//! `all` is the sum over all rows without a filter.

use std::hint::black_box;
use std::time::Instant;

use bytemuck::cast_slice;
use phalanx::prelude::*;

use super::programs::changed::{Changed, ChangedLines, scan, sum_x};
use super::sides::{Workload, partial, steady};
use super::timed::timed;
use super::{Position, flat, position, positions, world};

const ENTITIES: usize = 1_000_000;
const RUN: usize = 10_000;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let frames = [changed("changed_filter_frame", true), changed("changed_filter_scan", false)];
    frames.into_iter().chain([0, 1, 10, 100].map(changed_share)).collect()
}

fn changed_share(percent: usize) -> Workload {
    let changed = ENTITIES / 100 * percent;
    let workload = Workload::new("changed_share", percent, ENTITIES)
        .phalanx("phalanx_all", move |chunk| {
            let tracked = Tracked::new(chunk);
            steady(
                (tracked, 0.0),
                |(tracked, sum)| {
                    let sums =
                        tracked.world.query::<&Position>().into_iter().map(sum_x).map(f64::from);
                    *sum = sums.sum();
                },
                |(_, sum), _| check_written(*sum, 0),
            )
        })
        .phalanx("phalanx_run", move |chunk| timed(Changed::new(chunk, ENTITIES, 0..changed)))
        .phalanx("phalanx_scattered", move |chunk| {
            let scattered = (0..ENTITIES).step_by(100 / percent.max(1)).take(changed);
            timed(Changed::new(chunk, ENTITIES, scattered))
        })
        .phalanx("phalanx_lines", move |chunk| {
            let scattered = (0..ENTITIES).step_by(100 / percent.max(1)).take(changed);
            timed(ChangedLines::new(chunk, ENTITIES, scattered))
        });
    if changed == 0 {
        return workload;
    }
    workload.limit(move || {
        steady(
            (positions(ENTITIES), 0.0),
            move |(positions, sum)| *sum = flat::sum_x(cast_slice(&positions[..changed])),
            move |(positions, sum), _| {
                let want = sum_of_x(&positions[..changed]);
                assert_eq!(f64::from(*sum), want, "the sum of the run");
            },
        )
    })
}

fn changed(name: &'static str, with_writes: bool) -> Workload {
    Workload::new(name, ENTITIES, RUN)
        .limit(move || {
            partial(
                (positions(ENTITIES), 0),
                move |(positions, frame)| {
                    let run = &mut positions[start(*frame)..][..RUN];
                    *frame += 1;
                    let with_writes_from = Instant::now();
                    run.iter_mut().for_each(|p| p.x += 1.0);
                    let from = if with_writes { with_writes_from } else { Instant::now() };
                    black_box(flat::sum_x(cast_slice(black_box(run))));
                    from.elapsed()
                },
                |(positions, frame)| check_written(sum_of_x(positions), *frame),
            )
        })
        .phalanx("phalanx", move |chunk| {
            partial(
                Tracked::new(chunk),
                move |tracked| {
                    let with_writes_from = Instant::now();
                    let before = tracked.write_run();
                    let from = if with_writes { with_writes_from } else { Instant::now() };
                    let (seen, sum) = scan(&tracked.world, before);
                    let time = from.elapsed();
                    black_box(sum);
                    tracked.check_seen(seen);
                    time
                },
                Tracked::check,
            )
        })
}

/// A world with a run that is written by entity.
struct Tracked {
    world: World,
    entities: Vec<Entity>,
    frame: usize,
}

impl Tracked {
    fn new(chunk: ChunkSize) -> Self {
        let mut world = world(chunk);
        let entities = world.spawn_batch((0..ENTITIES).map(position)).to_vec();
        Self { world, entities, frame: 0 }
    }

    /// Writes the frame's run and returns the version before the writes.
    fn write_run(&mut self) -> Version {
        let before = self.world.version();
        for &entity in &self.entities[start(self.frame)..][..RUN] {
            self.world.get_mut::<Position>(entity).expect("alive").x += 1.0;
        }
        self.frame += 1;
        before
    }

    /// At least the run, at most the run and the two chunks that it cuts.
    fn check_seen(&self, seen: usize) {
        let chunk_rows = self.world.reflect().archetypes().map(|a| a.capacity()).max().unwrap_or(0);
        let most = RUN + 2 * chunk_rows;
        assert!((RUN..=most).contains(&seen), "{seen} rows seen, of {RUN} to {most}");
    }

    /// One more frame, with a search for its run row by row; afterwards the sum of all frames.
    fn check(&mut self) {
        let run = start(self.frame)..start(self.frame) + RUN;
        let before = self.write_run();
        let mut found = vec![false; ENTITIES];
        let changed = self.world.query::<(Entity, &Position)>().changed_since::<Position>(before);
        for entity in changed.into_iter().flat_map(|(entities, _)| entities) {
            let i = self.entities.binary_search_by_key(&entity.index(), |e| e.index());
            found[i.expect("spawned here")] = true;
        }
        assert!(found[run].iter().all(|&found| found), "every written row is found");
        let sum = self.world.query::<&Position>().iter().map(sum_of_x).sum();
        check_written(sum, self.frame);
    }
}

/// The start of a frame's run.
fn start(frame: usize) -> usize {
    (frame * 10_007) % (ENTITIES - RUN)
}

fn sum_of_x(positions: &[Position]) -> f64 {
    positions.iter().map(|p| f64::from(p.x)).sum()
}

fn check_written(got: f64, frames: usize) {
    let want = sum_of_x(&positions(ENTITIES)) + (frames * RUN) as f64;
    assert_eq!(got, want, "the sum of x after {frames} frames");
}
