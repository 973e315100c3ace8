//! The limit, without any library: plain `Vec`s, one for each component.
//!
//! The plain variant loops over structs with the features of the build's own target; `[flat]` over
//! the same memory as numbers. `[avx2]` and `[avx512]` are the flat loops, compiled for these
//! instruction sets, and `[.., structs]` the struct loops.

pub(crate) mod access;
pub(crate) mod changes;
pub(crate) mod churn;
mod column;
pub(crate) mod copies;
pub(crate) mod events;
pub(crate) mod frame;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
mod kernels;
pub(crate) mod life;
pub(crate) mod many;
pub(crate) mod passing;
pub(crate) mod relations;
pub(crate) mod snapshots;
pub(crate) mod systems;

use crate::components::*;
use crate::data::*;
use crate::harness::Harness;
use crate::outcome::Outcome;
use glam::Mat4;
use kernels::kernels;
use rayon::prelude::*;
use std::hint::black_box;

components_inner! { [] Transform([f32; 16]) }
components_vec3! { [] Position Rotation Velocity }
components_cell! { [] }
transform_sum! {}

fn positions(n: usize) -> Vec<Position> {
    (0..n).map(|i| Position::new(pos0(i))).collect()
}

fn velocities(n: usize) -> Vec<Velocity> {
    (0..n).map(|i| Velocity::new(vel0(i))).collect()
}

fn pos_sum(p: &[Position]) -> f64 {
    p.iter().map(|p| p.sum()).sum()
}
