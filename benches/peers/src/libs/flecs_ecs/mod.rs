//! flecs_ecs 0.2 (C core): cached queries; plain rows use `run` with field
//! slices, `[each]` uses `each`; `[unchecked]` rows use the unsafe variants that
//! skip the run-time aliasing locks.

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod commands;
pub(crate) mod copies;
pub(crate) mod events;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod life;
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
