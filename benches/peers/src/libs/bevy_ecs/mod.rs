//! bevy_ecs 0.20: cached `QueryState`; plain rows use `for_each` over
//! `Mut<T>`/`&T` items, `[contig]` uses `contiguous_iter_mut` (marks every row
//! changed, as `DerefMut` does), `[contig, no ticks]` adds
//! `bypass_change_detection`.

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod changes;
pub(crate) mod churn;
pub(crate) mod commands;
pub(crate) mod copies;
pub(crate) mod events;
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
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use bevy_ecs::schedule::Schedule;
use bytemuck::Pod;
use std::hint::black_box;

components! { #[derive(Component)] }
slice_loops! {}
wide_rows! {}

fn sum_of<C: Component>(w: &mut World, f: impl Fn(&C) -> f64) -> f64 {
    let mut q = w.query::<&C>();
    q.iter(w).map(f).sum()
}
fn pos_sum(w: &mut World) -> f64 {
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
type PV = QueryState<(&'static mut Position, &'static Velocity)>;
fn with_pv(mut w: World) -> (World, PV) {
    let q = w.query::<(&mut Position, &Velocity)>();
    (w, q)
}

/// A cached query that writes one component.
type Write<T> = QueryState<&'static mut T>;

fn heavy_state(n: usize) -> (World, Write<Mat>) {
    let mut w = World::new();
    w.spawn_batch((0..n).map(|_| Mat(mat0())));
    let q = w.query::<&mut Mat>();
    (w, q)
}
fn heavy_sum(w: &mut World) -> f64 {
    sum_of::<Mat>(w, |m| mat_sum(&m.0))
}
