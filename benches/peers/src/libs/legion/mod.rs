//! legion 0.4: cached `Query`; plain rows use `for_each_mut`, `[chunks]` uses
//! `for_each_chunk_mut` with component slices.

mod access;
mod archetypes;
mod commands;
mod copies;
mod heavy;
mod insert;
mod iterate;
mod life;
mod snapshots;
mod structure;
mod systems;

use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::libs::Row;
use crate::outcome::Outcome;
use crate::snapshots::{Call, Written};
use legion::query::Query;
use legion::storage::Component;
use legion::systems::ParallelRunnable;
use legion::world::{Entity, SubWorld, World};
use legion::{IntoQuery, IntoSoa, Read, Resources, Schedule, Write};
use std::hint::black_box;

components! {}
slice_loops! {}
wide_rows! {}

type PV = Query<
    (Write<Position>, Read<Velocity>),
    <(Write<Position>, Read<Velocity>) as legion::query::DefaultFilter>::Filter,
>;
type QW<T> = Query<Write<T>, <Write<T> as legion::query::DefaultFilter>::Filter>;

fn sum_of<C: Component>(w: &World, f: impl Fn(&C) -> f64) -> f64 {
    <Read<C>>::query().iter(w).map(f).sum()
}
fn pos_sum(w: &World) -> f64 {
    sum_of::<Position>(w, |p| p.sum())
}
fn full(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (
        black_box(Transform([1.0; 16])),
        Position::new(pos0(i)),
        Rotation::new([0.0; 3]),
        Velocity::new(vel0(i)),
    )
}
fn world_pv(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::default();
    let e = w
        .extend(
            (0..n).map(|i| (Position::new(pos0(i)), Velocity::new(vel0(i)))).collect::<Vec<_>>(),
        )
        .to_vec();
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
    ("schedule/scheduler", systems::scheduler),
    ("schedule/by_hand", systems::by_hand),
    ("snapshot_take/all", |h, n| snapshots::written(h, n, (Call::Take, Written::All))),
    ("snapshot_take/part", |h, n| snapshots::written(h, n, (Call::Take, Written::Part))),
    ("snapshot_restore/all", |h, n| snapshots::written(h, n, (Call::Restore, Written::All))),
    ("snapshot_restore/part", |h, n| snapshots::written(h, n, (Call::Restore, Written::Part))),
    ("world_new", insert::world_new),
];

fn heavy_state(n: usize) -> (World, QW<Mat>) {
    let mut w = World::default();
    w.extend((0..n).map(|_| (Mat(mat0()),)).collect::<Vec<_>>());
    (w, <Write<Mat>>::query())
}
fn heavy_sum(w: &World) -> f64 {
    sum_of::<Mat>(w, |m| mat_sum(&m.0))
}
