//! hecs 0.11: `PreparedQuery` / `query_mut` loops, `column_batch` insertion,
//! prepared views for lookups; `[columns]` uses `Archetype::get` slices.

mod access;
mod archetypes;
mod changes;
mod commands;
mod copies;
mod heavy;
mod insert;
mod iterate;
mod life;
mod snapshots;
mod structure;
mod systems;

use crate::changes::{Part, Pattern};
use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::libs::Row;
use crate::outcome::Outcome;
use crate::snapshots::{Call, Written};
use bytemuck::Pod;
use hecs::{ColumnBatchType, Entity, EntityBuilder, PreparedQuery, World};
use rayon::prelude::*;
use std::hint::black_box;

components! {}
slice_loops! {}
wide_rows! {}

fn pos_sum(w: &World) -> f64 {
    w.query::<&Position>().iter().map(|p| p.sum()).sum()
}

fn full(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (
        black_box(Transform([1.0; 16])),
        Position::new(pos0(i)),
        Rotation::new([0.0; 3]),
        Velocity::new(vel0(i)),
    )
}
fn world_full(n: usize) -> World {
    let mut w = World::new();
    w.spawn_batch((0..n).map(full));
    w
}
fn world_pv(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e =
        w.spawn_batch((0..n).map(|i| (Position::new(pos0(i)), Velocity::new(vel0(i))))).collect();
    (w, e)
}

/// The workloads that this library can run.
pub(crate) const ROWS: &[Row] = &[
    ("simple_insert/batch", insert::batch),
    ("simple_insert/one", insert::one),
    ("simple_iter", iterate::simple_iter),
    ("pos_vel", iterate::pos_vel),
    ("sum_column", iterate::sum_column),
    ("fragmented_iter", iterate::fragmented_iter),
    ("many_archetypes", iterate::many_archetypes),
    ("new_archetypes", archetypes::new_archetypes),
    ("heavy_compute/serial", heavy::serial),
    ("heavy_compute/par", heavy::parallel),
    ("add_remove/one", structure::add_remove_one),
    ("add_remove/query", structure::add_remove_query),
    ("create_destroy", structure::create_destroy),
    ("random_get", access::random_get),
    ("cold_archetypes", structure::cold_archetypes),
    ("add_remove/wide", structure::add_remove_wide),
    ("commands", commands::commands),
    ("instantiate", copies::instantiate),
    ("random_get_mixed", access::random_get_mixed),
    ("random_get_mut", access::random_get_mut),
    ("game_of_life", life::game_of_life),
    ("schedule/by_hand", systems::by_hand),
    ("changed_filter/frame", |h, _| changes::changed(h, (Pattern::Run, Part::Frame))),
    ("changed_filter/scan", |h, _| changes::changed(h, (Pattern::Run, Part::Scan))),
    ("changed_scattered/frame", |h, _| changes::changed(h, (Pattern::Scattered, Part::Frame))),
    ("changed_scattered/scan", |h, _| changes::changed(h, (Pattern::Scattered, Part::Scan))),
    ("snapshot_take/all", |h, n| snapshots::written(h, n, (Call::Take, Written::All))),
    ("snapshot_take/part", |h, n| snapshots::written(h, n, (Call::Take, Written::Part))),
    ("snapshot_restore/all", |h, n| snapshots::written(h, n, (Call::Restore, Written::All))),
    ("snapshot_restore/part", |h, n| snapshots::written(h, n, (Call::Restore, Written::Part))),
    ("snapshot_restore/replaced", snapshots::replaced),
    ("world_new", insert::world_new),
];

fn heavy_world(n: usize) -> World {
    let mut w = World::new();
    w.spawn_batch((0..n).map(|_| (Mat(mat0()),)));
    w
}
fn heavy_sum(w: &World) -> f64 {
    w.query::<&Mat>().iter().map(|m| mat_sum(&m.0)).sum()
}
