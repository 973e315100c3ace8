//! Structural changes of all matches of a query, beside `memcpy`.
//!
//! The limit makes only the necessary copies: the column that stays is copied to the other table
//! and back, and the added column is filled. It has no entities, so no record has to say where one
//! is; phalanx writes 20 bytes for that, each way.

use std::hint::black_box;

use phalanx::prelude::*;

use super::sides::{Workload, fresh, steady};
use super::{Position, Rotation, Transform, Velocity, position, positions, velocity, world};

const SIZES: [usize; 2] = [10_000, 1_000_000];

/// The component that stays.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Kept(f32);

/// The component that is added and removed.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
struct Added(f32);

/// The same without bytes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Tag;

impl_component!(Kept as "bench.bulk.kept", Added as "bench.bulk.added", Tag as "bench.bulk.tag");

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let of_size = [add_remove, instantiate, gather, scatter];
    of_size.into_iter().flat_map(|workload| SIZES.map(workload)).collect()
}

/// Adds a component to all entities, then removes it from all of them.
fn add_remove(len: usize) -> Workload {
    Workload::new("add_remove_query", len, len)
        .limit(move || {
            let kept: Vec<_> = (0..len).map(|i| Kept(i as f32)).collect();
            steady(
                (kept, vec![Kept(0.0); len], vec![Added(0.0); len]),
                |(kept, other, added)| {
                    other.copy_from_slice(kept);
                    black_box(&mut *added).fill(Added(1.0));
                    kept.copy_from_slice(black_box(other));
                },
                |(kept, _, added), _| {
                    assert!(kept.iter().zip(0..).all(|(k, i)| *k == Kept(i as f32)), "it stays");
                    assert!(added.iter().all(|a| *a == Added(1.0)), "it was added");
                },
            )
        })
        .phalanx("phalanx", move |chunk| {
            let world = kept_world(chunk, len);
            steady(
                (world, 0),
                |(world, changed)| {
                    let added = world.matching::<&Kept>().insert(Added(1.0));
                    *changed += added.expect("a row fits");
                    *changed += world.matching::<&Kept>().remove::<Added>();
                },
                move |(world, changed), steps| check_kept(world, *changed, len, steps),
            )
        })
        .phalanx("phalanx_tag", move |chunk| {
            let world = kept_world(chunk, len);
            steady(
                (world, 0),
                |(world, changed)| {
                    *changed += world.matching::<&Kept>().insert(Tag).expect("a tag fits");
                    *changed += world.matching::<&Kept>().remove::<Tag>();
                },
                move |(world, changed), steps| check_kept(world, *changed, len, steps),
            )
        })
}

fn kept_world(chunk: ChunkSize, len: usize) -> World {
    let mut world = world(chunk);
    world.spawn_batch((0..len).map(|i| Kept(i as f32)));
    world
}

/// Asserts that every pass added something to every entity and took it away again.
fn check_kept(world: &World, changed: usize, len: usize, steps: u64) {
    assert_eq!(changed as u64, 2 * len as u64 * steps, "all gained it and lost it");
    assert_eq!(
        world.query::<&Added>().iter().count() + world.query::<&Tag>().iter().count(),
        0,
        "all lost it"
    );
    let sum: f64 = world.query::<&Kept>().iter().flatten().map(|kept| f64::from(kept.0)).sum();
    assert_eq!(sum, (0..len).map(|i| f64::from(i as f32)).sum::<f64>(), "the other stays");
}

type Row = (Transform, Position, Rotation, Velocity);

fn row() -> Row {
    let rotation = Rotation { x: 1.0, y: 2.0, z: 3.0 };
    (Transform([1.0; 16]), position(3), rotation, velocity(5))
}

/// Makes copies of one entity of 100 bytes without a source array: the limit copies existing
/// columns.
fn instantiate(len: usize) -> Workload {
    Workload::new("instantiate", len, len)
        .limit(move || {
            let (transform, position, rotation, velocity) = row();
            let columns = (
                vec![transform; len],
                vec![position; len],
                vec![rotation; len],
                vec![velocity; len],
            );
            fresh(
                || (),
                move |()| {
                    let (a, b, c, d) = black_box(&columns);
                    (a.to_vec(), b.to_vec(), c.to_vec(), d.to_vec())
                },
                move |(_, positions, ..)| assert_eq!(positions[len - 1], position, "a copy"),
            )
        })
        .phalanx("phalanx", move |chunk| {
            fresh(
                move || {
                    let mut world = world(chunk);
                    let prototype = world.spawn(row());
                    (world, prototype)
                },
                move |(mut world, prototype)| {
                    black_box(world.instantiate(prototype, len).expect("room"));
                    world
                },
                move |world| {
                    let positions = world.query::<&Position>().copies().gather();
                    assert_eq!(positions, vec![position(3); len + 1], "copies of one");
                },
            )
        })
}

/// Copies a column out.
fn gather(len: usize) -> Workload {
    Workload::new("gather", len, len)
        .limit(move || {
            steady(
                (positions(len), Vec::with_capacity(len)),
                |(positions, out)| {
                    out.clear();
                    out.extend_from_slice(black_box(positions));
                },
                move |(_, out), _| assert_eq!(*out, positions(len), "a copy"),
            )
        })
        .phalanx("phalanx", move |chunk| {
            let (world, _) = super::moving_world(chunk, len);
            steady(
                (world, Vec::with_capacity(len)),
                |(world, out)| {
                    out.clear();
                    world.query::<(&Position, &Velocity)>().copies().gather_into::<Position>(out);
                },
                move |(_, out), _| assert_eq!(*out, positions(len), "a copy"),
            )
        })
}

/// Copies a column back.
fn scatter(len: usize) -> Workload {
    Workload::new("scatter", len, len)
        .limit(move || {
            steady(
                (positions(len), vec![Position::default(); len]),
                |(positions, column)| column.copy_from_slice(black_box(positions)),
                move |(_, column), _| assert_eq!(*column, positions(len), "a copy"),
            )
        })
        .phalanx("phalanx", move |chunk| {
            let mut world = world(chunk);
            world.spawn_batch((0..len).map(|i| (Position::default(), velocity(i))));
            steady(
                (world, positions(len)),
                |(world, positions)| {
                    let mut query = world.query_mut::<(&mut Position, &Velocity)>();
                    query.scatter::<Position>(positions).expect("one a row");
                },
                move |(world, _), _| {
                    assert_eq!(
                        world.query::<&Position>().copies().gather(),
                        positions(len),
                        "a copy"
                    );
                },
            )
        })
}
