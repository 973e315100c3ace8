//! The limit, without any library: plain `Vec`s, one for each component.
//!
//! The plain variant loops over structs with the features of the build's own target; `[flat]` over
//! the same memory as numbers. `[avx2]` and `[avx512]` are the flat loops, compiled for these
//! instruction sets, and `[.., structs]` the struct loops.

mod access;
mod changes;
mod column;
mod copies;
mod heavy;
mod insert;
mod iterate;
mod kernels;
mod life;
mod snapshots;
mod systems;

use crate::changes::{Part, Pattern};
use crate::components::*;
use crate::data::*;
use crate::harness::Harness;
use crate::libs::Row;
use crate::outcome::Outcome;
use crate::snapshots::{Call, Written};
use glam::Mat4;
use kernels::kernels;
use rayon::prelude::*;
use std::hint::black_box;

components_inner! { [] Transform([f32; 16]) }
components_vec3! { [] Position Rotation Velocity }
components_cell! { [] }
transform_sum! {}

/// The workloads that need no library.
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
    ("random_get", access::random_get),
    ("instantiate", copies::instantiate),
    ("random_get_mixed", access::random_get_mixed),
    ("random_get_mut", access::random_get_mut),
    ("game_of_life", life::game_of_life),
    ("schedule/scheduler", systems::by_hand),
    ("schedule/by_hand", systems::by_hand),
    ("changed_filter/frame", |h, _| changes::changed(h, (Pattern::Run, Part::Frame))),
    ("changed_filter/scan", |h, _| changes::changed(h, (Pattern::Run, Part::Scan))),
    ("changed_scattered/frame", |h, _| changes::changed(h, (Pattern::Scattered, Part::Frame))),
    ("changed_scattered/scan", |h, _| changes::changed(h, (Pattern::Scattered, Part::Scan))),
    ("snapshot_take/all", |h, n| snapshots::written(h, n, (Call::Take, Written::All))),
    ("snapshot_take/part", |h, n| snapshots::written(h, n, (Call::Take, Written::Part))),
    ("snapshot_restore/all", |h, n| snapshots::written(h, n, (Call::Restore, Written::All))),
    ("snapshot_restore/part", |h, n| snapshots::written(h, n, (Call::Restore, Written::Part))),
];

fn positions(n: usize) -> Vec<Position> {
    (0..n).map(|i| Position::new(pos0(i))).collect()
}

fn velocities(n: usize) -> Vec<Velocity> {
    (0..n).map(|i| Velocity::new(vel0(i))).collect()
}

fn pos_sum(p: &[Position]) -> f64 {
    p.iter().map(|p| p.sum()).sum()
}
