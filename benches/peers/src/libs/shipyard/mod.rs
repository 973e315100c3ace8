//! shipyard 0.11: sparse sets; views held outside the loop, `iter().for_each`.

pub(crate) mod access;
pub(crate) mod changes;
pub(crate) mod copies;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod life;
pub(crate) mod passing;
pub(crate) mod relations;
pub(crate) mod structure;
pub(crate) mod systems;

use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
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

fn heavy_world(n: usize) -> World {
    let mut w = World::new();
    w.bulk_add_entity((0..n).map(|_| Mat(mat0())));
    w
}
fn heavy_sum(w: &World) -> f64 {
    w.run(|m: View<Mat>| m.iter().map(|m| mat_sum(&m.0)).sum())
}
