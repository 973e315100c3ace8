//! The components, their initial values, and worlds of them.

use phalanx::prelude::*;

/// A matrix: most of the bytes of a row of 100.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Transform(pub [f32; 16]);

/// The place of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Position {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// A third column of three floats, inserted and never read.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Rotation {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// The velocity of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// One float to be doubled.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Data(pub f32);

impl_component!(Transform, Position, Rotation, Velocity, Data);

/// A position with a bit for each row that changed.
#[component(lines)]
pub struct Tracked(pub Position);

/// The first position of entity `i`.
pub fn position(i: usize) -> Position {
    Position { x: (i % 64) as f32, y: 1.0, z: 2.0 }
}

/// The velocity of entity `i`.
pub fn velocity(i: usize) -> Velocity {
    Velocity { x: 1.0, y: 2.0, z: (i % 4) as f32 }
}

/// A world with chunks of the given size.
pub fn world(chunk: ChunkSize) -> World {
    World::builder().chunk_size(chunk).build()
}

/// A world of `len` entities with a position and a velocity, in order.
pub fn moving_world(chunk: ChunkSize, len: usize) -> (World, Vec<Entity>) {
    let mut world = world(chunk);
    let entities = world.spawn_batch((0..len).map(|i| (position(i), velocity(i)))).to_vec();
    (world, entities)
}
