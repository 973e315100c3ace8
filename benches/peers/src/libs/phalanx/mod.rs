//! phalanx: `#[kernel]` functions over the slices of a query, in chunks of 16 KiB.
//!
//! `[256 KiB]` is the same in larger chunks, `[plain loop]` the loop without `#[kernel]`, as a
//! closure or the body of a `for` would have it.

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
mod kernels;
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
use phalanx::prelude::*;
use std::hint::black_box;

components_inner! { []
    Transform([f32; 16]) Mat(glam::Mat4) Quad([f32; 4]) Data(f32)
    A(f32) B(f32) C(f32) D(f32) E(f32) F(f32) G(f32) H(f32) I(f32) J(f32) K(f32) L(f32) M(f32)
    N(f32) O(f32) P(f32) Q(f32) R(f32) S(f32) T(f32) U(f32) V(f32) W(f32) X(f32) Y(f32) Z(f32)
}
components_vec3! { [] Position Rotation Velocity }
components_cell! { [] }
components_tag! { [#[derive(Pod, Zeroable)] #[repr(C)]]
    T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 New
}
transform_sum! {}
slice_loops! {}
wide_rows! {}
impl_component!(Transform, Mat, Quad, Data, Position, Rotation, Velocity, Cell, Tally);
impl_component!(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z);
impl_component!(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, New);

/// The default size of a chunk, and the largest.
const CHUNK_KIB: [usize; 2] = [16, 256];

fn world(chunk_kib: usize) -> World {
    let size = ChunkSize::new(chunk_kib * 1024).expect("a power of two");
    World::builder().chunk_size(size).build()
}

fn chunk_variant(chunk_kib: usize) -> String {
    if chunk_kib == CHUNK_KIB[0] { String::new() } else { format!("{chunk_kib} KiB") }
}

fn world_pv(chunk_kib: usize, n: usize) -> (World, Vec<Entity>) {
    let mut w = world(chunk_kib);
    let rows = (0..n).map(|i| (Position::new(pos0(i)), Velocity::new(vel0(i))));
    let e = w.spawn_batch(rows).to_vec();
    (w, e)
}

fn row(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (
        black_box(Transform([1.0; 16])),
        Position::new(pos0(i)),
        Rotation::new([0.0; 3]),
        Velocity::new(vel0(i)),
    )
}

fn pos_sum(w: &World) -> f64 {
    w.query::<&Position>().iter().flatten().map(|p| p.sum()).sum()
}
