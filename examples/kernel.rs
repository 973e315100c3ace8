//! A kernel over the columns of a million bodies, and the instruction set that it runs at.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin kernel
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Position {
    x: f32,
    y: f32,
    z: f32,
}
#[component]
struct Velocity {
    x: f32,
    y: f32,
    z: f32,
}

/// One Euler step. The function is compiled once for each level, and chosen at the call.
#[kernel]
fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    }
}

fn main() {
    let mut world = World::new();
    let velocity = Velocity { x: 1.0, y: 0.0, z: -1.0 };
    world.spawn_batch((0..1_000_000).map(|_| (Position::default(), velocity)));

    let mut chunks = 0;
    for _ in 0..4 {
        // Slices of one chunk at a time, of equal length.
        for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>() {
            integrate(position, velocity, 0.25);
            chunks += 1;
        }
    }
    let all_moved = world.query::<&Position>().rows().all(|p| (p.x, p.z) == (1.0, -1.0));
    assert!(all_moved, "four quarters of a second");
    println!("{chunks} calls of the kernel at level {}", Level::current());
}
