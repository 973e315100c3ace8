//! phalanx: `kernel!` functions over the slices of a query, in chunks of 16 KiB.
//!
//! `[256 KiB]` is the same in larger chunks, `[plain loop]` the loop without `kernel!`, as a
//! closure or the body of a `for` would have it.

mod access;
mod archetypes;
mod changes;
mod commands;
mod copies;
mod heavy;
mod insert;
mod iterate;
mod kernels;
mod life;
mod snapshots;
mod structure;
mod systems;

use crate::changes::{Part, Pattern};
use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::libs::Row;
use crate::outcome::Outcome;
use crate::snapshots::{Call, Written};
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
component!(Transform, Mat, Quad, Data, Position, Rotation, Velocity, Cell, Tally);
component!(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z);
component!(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, New);

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
    ("changed_filter/frame", |h, _| changes::changed(h, (Pattern::Run, Part::Frame))),
    ("changed_filter/scan", |h, _| changes::changed(h, (Pattern::Run, Part::Scan))),
    ("changed_scattered/frame", |h, _| changes::changed(h, (Pattern::Scattered, Part::Frame))),
    ("changed_scattered/scan", |h, _| changes::changed(h, (Pattern::Scattered, Part::Scan))),
    ("snapshot_take/all", |h, n| snapshots::written(h, n, (Call::Take, Written::All))),
    ("snapshot_take/part", |h, n| snapshots::written(h, n, (Call::Take, Written::Part))),
    ("snapshot_restore/all", |h, n| snapshots::written(h, n, (Call::Restore, Written::All))),
    ("snapshot_restore/part", |h, n| snapshots::written(h, n, (Call::Restore, Written::Part))),
    ("snapshot_restore/replaced", snapshots::replaced),
    ("world_new", insert::world_new),
];

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
