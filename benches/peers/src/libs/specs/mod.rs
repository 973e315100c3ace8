//! specs 0.20: `VecStorage` joins, parallel joins, dispatcher.

pub(crate) mod access;
pub(crate) mod changes;
pub(crate) mod commands;
pub(crate) mod events;
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
use specs::prelude::*;
use specs::storage::{DenseVecStorage, NullStorage, VecStorage};
use specs::{Component, WriteStorage};
use std::hint::black_box;

components! {}
slice_loops! {}
wide_rows! {}

macro_rules! vec_storage {
    ($($n:ident)*) => { $( impl Component for $n { type Storage = VecStorage<Self>; } )* };
}
vec_storage!(Transform Quad Position Rotation Velocity Mat Data A B C D E Cell Tally);
macro_rules! marker_storage {
    ($($n:ident)*) => { $( impl Component for $n { type Storage = DenseVecStorage<Self>; } )* };
}
marker_storage!(F G H I J K L M N O P Q R S T U V W X Y Z);
macro_rules! null_storage {
    ($($n:ident $bit:literal),*) => { $(
        impl Component for $n { type Storage = NullStorage<Self>; }
        impl Default for $n { fn default() -> Self { $n } }
    )* };
}
for_tags!(null_storage);
null_storage!(New 16);

#[derive(Clone, Copy)]
struct Tracked(Position);
impl Component for Tracked {
    type Storage = FlaggedStorage<Self, VecStorage<Self>>;
}

fn fresh() -> World {
    let mut w = World::new();
    w.register::<Transform>();
    w.register::<Position>();
    w.register::<Rotation>();
    w.register::<Velocity>();
    w.register::<Data>();
    w.register::<Mat>();
    w.register::<Cell>();
    w.register::<A>();
    w.register::<B>();
    w.register::<C>();
    w.register::<D>();
    w.register::<E>();
    w
}
/// Registers the tags as well; every deletion of an entity looks through them.
fn fresh_with_tags() -> World {
    let mut w = fresh();
    macro_rules! register {
        ($($t:ident $bit:literal),*) => { $( w.register::<$t>(); )* };
    }
    for_tags!(register);
    w.register::<New>();
    w
}
fn sum_of<C: Component>(w: &World, f: impl Fn(&C) -> f64) -> f64 {
    let s = w.read_storage::<C>();
    (&s).join().map(f).sum()
}
fn pos_sum(w: &World) -> f64 {
    sum_of::<Position>(w, |p| p.sum())
}
fn spawn_full(w: &mut World, n: usize) {
    for i in 0..n {
        w.create_entity()
            .with(black_box(Transform([1.0; 16])))
            .with(Position::new(pos0(i)))
            .with(Rotation::new([0.0; 3]))
            .with(Velocity::new(vel0(i)))
            .build();
    }
}
fn world_pv(n: usize) -> (World, Vec<Entity>) {
    let mut w = fresh();
    let e = (0..n)
        .map(|i| {
            w.create_entity().with(Position::new(pos0(i))).with(Velocity::new(vel0(i))).build()
        })
        .collect();
    (w, e)
}

fn heavy_world(n: usize) -> World {
    let mut w = fresh();
    for _ in 0..n {
        w.create_entity().with(Mat(mat0())).build();
    }
    w
}
