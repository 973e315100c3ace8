//! evenio 0.6: handlers over `Fetcher`, driven by a global event. It has no
//! batch spawn and no frame scheduler (events call handlers in order on the
//! calling thread), and its iteration is only reachable inside handlers.

pub(crate) mod access;
pub(crate) mod archetypes;
pub(crate) mod commands;
pub(crate) mod events;
pub(crate) mod heavy;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod iterate;
pub(crate) mod life;
pub(crate) mod many;
pub(crate) mod passing;
pub(crate) mod structure;
pub(crate) mod systems;

use crate::components::*;
use crate::data::*;
use crate::forms::slice_loops;
use crate::harness::Harness;
use crate::outcome::Outcome;
use evenio::prelude::*;
use evenio::rayon::prelude::*;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

components! { #[derive(evenio::component::Component)] }
slice_loops! {}
wide_rows! {}

#[derive(GlobalEvent)]
struct Tick;
/// Asks the summing handler to store its sum in `OUT`.
#[derive(GlobalEvent)]
struct Sum;

static OUT: AtomicU64 = AtomicU64::new(0);
fn put(x: f64) {
    OUT.store(x.to_bits(), Ordering::Relaxed);
}
fn asked_sum(w: &mut World) -> f64 {
    w.send(Sum);
    f64::from_bits(OUT.load(Ordering::Relaxed))
}
fn pos_sum_handler(_: Receiver<Sum>, f: Fetcher<&Position>) {
    put(f.iter().map(|p| p.sum()).sum());
}

fn world_pv(n: usize) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let e = (0..n)
        .map(|i| {
            let e = w.spawn();
            w.insert(e, Position::new(pos0(i)));
            w.insert(e, Velocity::new(vel0(i)));
            e
        })
        .collect();
    (w, e)
}
fn spawn_full(w: &mut World, n: usize) {
    for i in 0..n {
        let e = w.spawn();
        w.insert(e, Position::new(pos0(i)));
        w.insert(e, Rotation::new([0.0; 3]));
        w.insert(e, Velocity::new(vel0(i)));
        // The widest last: each insert moves the components already present.
        w.insert(e, black_box(Transform([1.0; 16])));
    }
}
