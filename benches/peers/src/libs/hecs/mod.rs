//! hecs 0.11: `PreparedQuery` / `query_mut` loops, `column_batch` insertion,
//! prepared views for lookups; `[columns]` uses `Archetype::get` slices.

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod changes;
pub(crate) mod churn;
pub(crate) mod commands;
pub(crate) mod copies;
pub(crate) mod frame;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod life;
pub(crate) mod many;
pub(crate) mod passing;
pub(crate) mod relations;
pub(crate) mod snapshots;
pub(crate) mod structure;
pub(crate) mod systems;

use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::outcome::Outcome;
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

fn heavy_world(n: usize) -> World {
    let mut w = World::new();
    w.spawn_batch((0..n).map(|_| (Mat(mat0()),)));
    w
}
fn heavy_sum(w: &World) -> f64 {
    w.query::<&Mat>().iter().map(|m| mat_sum(&m.0)).sum()
}
