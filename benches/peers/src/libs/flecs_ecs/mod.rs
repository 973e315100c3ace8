//! flecs_ecs 0.2 (C core): cached queries; plain rows use `run` with field
//! slices, `[each]` uses `each`; `[unchecked]` rows use the unsafe variants that
//! skip the run-time aliasing locks.

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
use flecs_ecs::prelude::*;
use std::hint::black_box;

components! { #[derive(Component)] }
slice_loops! {}
wide_rows! {}

type PV = Query<(&'static mut Position, &'static Velocity)>;

fn pos_sum(w: &World) -> f64 {
    let mut s = 0.0;
    w.new_query::<&Position>().each(|p| s += p.sum());
    s
}
fn bulk_full(w: &World, n: usize) {
    let m: Vec<Transform> = (0..n).map(|_| black_box(Transform([1.0; 16]))).collect();
    let p: Vec<Position> = (0..n).map(|i| Position::new(pos0(i))).collect();
    let r: Vec<Rotation> = (0..n).map(|_| Rotation::new([0.0; 3])).collect();
    let v: Vec<Velocity> = (0..n).map(|i| Velocity::new(vel0(i))).collect();
    black_box(w.entity_bulk(n as u32).set(&m).set(&p).set(&r).set(&v).build());
}
fn world_pv(n: usize) -> (World, Vec<Entity>) {
    let w = World::new();
    let p: Vec<Position> = (0..n).map(|i| Position::new(pos0(i))).collect();
    let v: Vec<Velocity> = (0..n).map(|i| Velocity::new(vel0(i))).collect();
    let e = w.entity_bulk(n as u32).set(&p).set(&v).build();
    (w, e)
}
fn cached_pv(w: World) -> (PV, World) {
    let q = w.query::<(&mut Position, &Velocity)>().set_cached().build();
    (q, w)
}

/// Register every component that a fresh world will need, outside the timing.
fn fresh() -> World {
    let w = World::new();
    w.component::<Transform>();
    w.component::<Position>();
    w.component::<Rotation>();
    w.component::<Velocity>();
    w
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

fn heavy_world(n: usize) -> World {
    let w = World::new();
    for _ in 0..n {
        w.entity().set(Mat(mat0()));
    }
    w
}
fn heavy_sum(w: &World) -> f64 {
    let mut s = 0.0;
    w.new_query::<&Mat>().each(|m| s += mat_sum(&m.0));
    s
}
