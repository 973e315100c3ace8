//! Snapshots of a world that are taken and restored, after writes to a part of the world.
//!
//! The size is the percentage of chunks written since the last snapshot, one after the other; a
//! unit is a row of the world, written or not. The limit copies the same number of bytes by
//! `memcpy` between two existing `Vec`s. The writes are not timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytemuck::{cast_slice, cast_slice_mut};
use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use super::sides::{Side, Workload, partial};
use super::{Position, Velocity, moving_world};

const ROWS: usize = 1_000_000;

/// Bytes of a row, and so of a row of a snapshot.
const ROW_BYTES: usize = size_of::<(Position, Velocity)>();

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    [0, 1, 10, 100].map(again).into_iter().chain([exchanged(), first(), bytes()]).collect()
}

/// A snapshot that is taken, or restored, again and again.
fn again(percent: usize) -> Workload {
    let workload = Workload::new("snapshot_again", percent, ROWS);
    let workload = if percent == 0 {
        workload
    } else {
        workload.limit(move || {
            let words = ROWS * ROW_BYTES / 8;
            partial(
                (vec![1u64; words], vec![0u64; words], 1),
                move |(live, saved, pass)| {
                    *pass += 1;
                    let written = words / 100 * percent;
                    live[..written].fill(*pass);
                    time(|| {
                        let to: &mut [u8] = cast_slice_mut(&mut saved[..written]);
                        to.copy_from_slice(black_box(cast_slice(&live[..written])));
                    })
                },
                move |(_, saved, pass)| {
                    assert_eq!(saved[words / 100 * percent - 1], *pass, "the last copied word");
                },
            )
        })
    };
    workload
        .phalanx("phalanx_take", move |chunk| {
            kept(chunk, move |world, saved| {
                write(world, percent);
                time(|| world.snapshot_into(saved).expect("no buffers"))
            })
        })
        .phalanx("phalanx_restore", move |chunk| {
            kept(chunk, move |world, saved| {
                write(world, percent);
                time(|| world.restore(saved).expect("it is of this world"))
            })
        })
        .phalanx("phalanx_delta", move |chunk| {
            delta(chunk, percent, |world, saved, delta| {
                *delta = saved.delta(world).expect("no buffers");
            })
        })
        .phalanx("phalanx_write_delta", move |chunk| {
            delta(chunk, percent, |world, saved, delta| {
                delta.clear();
                saved.write_delta(world, delta).expect("a vector takes all");
            })
        })
}

/// One entity is despawned and another spawned between two snapshots. The limit copies the
/// necessary parts: the refilled row, the new row, and their entities.
fn exchanged() -> Workload {
    Workload::new("snapshot_exchanged", 1, ROWS)
        .limit(|| {
            let words = 2 * (ROW_BYTES + size_of::<Entity>()) / 8;
            partial(
                (vec![1u64; words], vec![0u64; words]),
                |(live, saved)| time(|| saved.copy_from_slice(black_box(live))),
                |(_, saved)| assert!(saved.iter().all(|&word| word == 1), "all words"),
            )
        })
        .phalanx("phalanx_take", |chunk| {
            kept(chunk, |world, saved| {
                exchange(world);
                time(|| world.snapshot_into(saved).expect("no buffers"))
            })
        })
        .phalanx("phalanx_restore", |chunk| {
            kept(chunk, |world, saved| {
                exchange(world);
                time(|| world.restore(saved).expect("it is of this world"))
            })
        })
        .phalanx("phalanx_delta", |chunk| {
            let (mut world, _) = moving_world(chunk, ROWS);
            let saved = world.snapshot().expect("no buffers");
            partial(
                (world, saved, Vec::new()),
                |(world, saved, delta)| {
                    exchange(world);
                    let spent = time(|| *delta = saved.delta(world).expect("no buffers"));
                    world.snapshot_into(saved).expect("no buffers");
                    spent
                },
                |(_, _, delta)| assert!(delta.len() < 2_000, "{} bytes", delta.len()),
            )
        })
}

/// Despawns an entity in the middle, and spawns another.
fn exchange(world: &mut World) {
    let middle = world.query::<Entity>().into_iter().nth(7).expect("chunks")[0];
    world.despawn(middle).expect("alive");
    world.spawn((Position::default(), Velocity::default()));
}

/// The difference from the previous snapshot, as bytes: complete, and little else.
fn delta(
    chunk: ChunkSize,
    percent: usize,
    make: impl Fn(&mut World, &Snapshot, &mut Vec<u8>),
) -> impl Side {
    let (mut world, _) = moving_world(chunk, ROWS);
    let saved = world.snapshot().expect("no buffers");
    partial(
        (world, saved, Vec::new()),
        move |(world, saved, delta)| {
            write(world, percent);
            let spent = time(|| make(world, saved, delta));
            world.snapshot_into(saved).expect("no buffers");
            spent
        },
        move |(_, _, delta)| {
            // One component of each position and velocity was written, of three.
            let written = ROWS * ROW_BYTES / 100 * percent;
            assert!(delta.len() >= written, "{} bytes of {written}", delta.len());
            assert!(delta.len() < written + ROWS * ROW_BYTES / 50, "and versions");
        },
    )
}

/// A snapshot as bytes, in existing memory, and a snapshot from bytes.
fn bytes() -> Workload {
    let state = |chunk| {
        let mut world = moving_world(chunk, ROWS).0;
        let saved = world.snapshot().expect("no buffers");
        let bytes = saved.to_bytes().expect("nothing is shared");
        (world, saved, bytes)
    };
    Workload::new("snapshot_bytes", ROWS, ROWS)
        .limit(move || {
            let (_, _, bytes) = state(ChunkSize::default());
            partial(
                (bytes.clone(), bytes),
                |(from, to)| time(|| to.copy_from_slice(black_box(from))),
                |(from, to)| assert!(from == to, "all bytes"),
            )
        })
        .phalanx("phalanx_write", move |chunk| {
            partial(
                state(chunk),
                |(_, saved, bytes)| {
                    bytes.clear();
                    time(|| saved.write_to(bytes).expect("a vector takes all"))
                },
                is_read_back,
            )
        })
        .phalanx("phalanx_write_lz4", move |chunk| {
            partial(
                state(chunk),
                |(_, saved, bytes)| {
                    bytes.clear();
                    time(|| saved.write_compressed(bytes).expect("a vector takes all"))
                },
                is_read_back,
            )
        })
        .phalanx("phalanx_read_lz4", move |chunk| {
            let (world, saved, mut bytes) = state(chunk);
            bytes.clear();
            saved.write_compressed(&mut bytes).expect("a vector takes all");
            reading((world, saved, bytes))
        })
        .phalanx("phalanx_read", move |chunk| reading(state(chunk)))
}

/// A world, a snapshot of it, and the snapshot as bytes.
type Written = (World, Snapshot, Vec<u8>);

fn is_read_back((world, saved, bytes): &mut Written) {
    let state = world.read_snapshot(bytes).expect("it was written");
    assert_eq!(state.len(), saved.len(), "all rows are in it");
}

/// Makes a snapshot from bytes, again and again.
fn reading(written: Written) -> impl Side {
    partial(
        (written, Snapshot::new()),
        |((world, _, bytes), read)| {
            time(|| *read = world.read_snapshot(bytes).expect("it was written"))
        },
        |((world, _, _), read)| {
            let hash = world.hash();
            world.clear();
            world.restore(read).expect("it was read here");
            assert_eq!(world.hash(), hash, "the state of the bytes");
        },
    )
}

/// The first snapshot, in memory that the system must provide.
fn first() -> Workload {
    Workload::new("snapshot_first", ROWS, ROWS)
        .limit(|| {
            partial(
                vec![1u64; ROWS * (ROW_BYTES + size_of::<Entity>()) / 8],
                |live| time(|| drop(black_box(live.clone()))),
                |live| assert_eq!(live[0], 1, "it is only read"),
            )
        })
        .phalanx("phalanx", |chunk| {
            partial(
                moving_world(chunk, ROWS).0,
                |world| time(|| drop(black_box(world.snapshot()))),
                |world| {
                    let rows = world.snapshot().map(|saved| saved.len());
                    assert_eq!(rows, Ok(ROWS), "all rows are in it");
                },
            )
        })
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Writes all columns of the first chunks.
fn write(world: &mut World, percent: usize) {
    let chunks = world.query::<&Position>().iter().count();
    let mut left = (chunks * percent).div_ceil(100);
    world.query_mut::<(&mut Position, &mut Velocity)>().for_each_chunk(
        |(positions, velocities)| {
            if left == 0 {
                return Modified::No;
            }
            left -= 1;
            positions.iter_mut().for_each(|p| p.x += 1.0);
            velocities.iter_mut().for_each(|v| v.x += 1.0);
            Modified::Yes
        },
    );
}

/// A world with a snapshot of it. After the last step the world equals the snapshot, or, if it is
/// never restored, its initial state.
fn kept(
    chunk: ChunkSize,
    mut step: impl FnMut(&mut World, &mut Snapshot) -> Duration,
) -> impl Side {
    let (mut world, _) = moving_world(chunk, ROWS);
    let saved = world.snapshot().expect("no buffers");
    let first = world.hash();
    partial(
        (world, saved),
        move |(world, saved)| step(world, saved),
        move |(world, saved)| {
            let hash = world.hash();
            let is_later = saved.version() == world.version();
            assert!(is_later || hash == first, "the world was put back");
            world.clear();
            world.restore(saved).expect("it is of this world");
            assert_eq!(world.hash(), hash, "the state of the snapshot");
        },
    )
}
