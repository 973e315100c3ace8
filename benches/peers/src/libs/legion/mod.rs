//! legion 0.4: cached `Query`; plain rows use `for_each_mut`, `[chunks]` uses
//! `for_each_chunk_mut` with component slices.

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod commands;
pub(crate) mod copies;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod life;
pub(crate) mod passing;
pub(crate) mod snapshots;
pub(crate) mod structure;
pub(crate) mod systems;

use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::outcome::Outcome;
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

fn heavy_state(n: usize) -> (World, QW<Mat>) {
    let mut w = World::default();
    w.extend((0..n).map(|_| (Mat(mat0()),)).collect::<Vec<_>>());
    (w, <Write<Mat>>::query())
}
fn heavy_sum(w: &World) -> f64 {
    sum_of::<Mat>(w, |m| mat_sum(&m.0))
}
