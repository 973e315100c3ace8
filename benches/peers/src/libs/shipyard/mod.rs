//! shipyard 0.11: sparse sets; views held outside the loop, `iter().for_each`.

mod access;
mod changes;
mod copies;
mod heavy;
mod insert;
mod iterate;
mod life;
mod structure;
mod systems;

use crate::changes::{Part, Pattern};
use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::libs::Row;
use crate::outcome::Outcome;
use rayon::prelude::*;
use shipyard::*;
use std::hint::black_box;

components! { #[derive(shipyard::Component)] }
slice_loops! {}
wide_rows! {}

#[derive(shipyard::Component, Clone, Copy)]
#[track(Modification)]
struct Tracked(Position);

fn pos_sum(w: &World) -> f64 {
    w.run(|p: View<Position>| p.iter().map(|p| p.sum()).sum())
}
fn full(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (
        black_box(Transform([1.0; 16])),
        Position::new(pos0(i)),
        Rotation::new([0.0; 3]),
        Velocity::new(vel0(i)),
    )
}
fn world_pv(n: usize) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let e = w
        .bulk_add_entity((0..n).map(|i| (Position::new(pos0(i)), Velocity::new(vel0(i)))))
        .collect();
    (w, e)
}
fn data_sum(w: &World) -> f64 {
    w.run(|d: View<Data>| d.iter().map(|d| d.0 as f64).sum())
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
    ("heavy_compute/serial", heavy::serial),
    ("heavy_compute/par", heavy::parallel),
    ("add_remove/one", structure::add_remove_one),
    ("add_remove/query", structure::add_remove_query),
    ("create_destroy", structure::create_destroy),
    ("random_get", access::random_get),
    ("cold_archetypes", structure::cold_archetypes),
    ("add_remove/wide", structure::add_remove_wide),
    ("instantiate", copies::instantiate),
    ("random_get_mixed", access::random_get_mixed),
    ("random_get_mut", access::random_get_mut),
    ("game_of_life", life::game_of_life),
    ("schedule/scheduler", systems::scheduler),
    ("schedule/by_hand", systems::by_hand),
    ("changed_filter/frame", |h, _| changes::changed(h, (Pattern::Run, Part::Frame))),
    ("changed_filter/scan", |h, _| changes::changed(h, (Pattern::Run, Part::Scan))),
    ("changed_scattered/frame", |h, _| changes::changed(h, (Pattern::Scattered, Part::Frame))),
    ("changed_scattered/scan", |h, _| changes::changed(h, (Pattern::Scattered, Part::Scan))),
    ("world_new", insert::world_new),
];

fn heavy_world(n: usize) -> World {
    let mut w = World::new();
    w.bulk_add_entity((0..n).map(|_| Mat(mat0())));
    w
}
fn heavy_sum(w: &World) -> f64 {
    w.run(|m: View<Mat>| m.iter().map(|m| mat_sum(&m.0)).sum())
}
