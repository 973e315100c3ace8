//! A small made-up world explains where its bytes lie and what a query touches.
//!
//! ```text
//! cargo run --release --example explain
//! ```

use std::time::Instant;

use phalanx::CopyBandwidth;
use phalanx::prelude::*;

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Position([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Velocity([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Health(f32);
/// Written once and hardly ever read, but it shares chunks with what is read in every frame.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Biography([u8; 100]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Frozen;
phalanx::component!(Position, Velocity, Health, Biography, Frozen);

kernel! {
    /// One Euler step.
    fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
        for (p, v) in position.iter_mut().zip(velocity) {
            for (p, v) in p.0.iter_mut().zip(v.0) {
                *p += v * dt;
            }
        }
    }
}

fn main() {
    let mut world = World::new();
    let moving = || (Position::default(), Velocity([1.0, 0.0, 0.0]));
    world.spawn_batch((0..5000).map(|_| moving()));
    world.spawn_batch((0..300).map(|_| (Position::default(), Health(1.0), Biography([0; 100]))));
    world.spawn_batch((0..20).map(|_| (Position::default(), Velocity::default(), Frozen)));
    println!("{}", world.explain());

    let pass = world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>().explain();
    println!("{pass}");
    let start = Instant::now();
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>()
    {
        integrate(position, velocity, 0.016);
    }
    println!("integrate: {}\n", pass.roofline(start.elapsed(), &CopyBandwidth::probe()));

    // One entity is moved by hand: only its chunk has changed since.
    let before = world.version();
    let first = world.query::<(Entity, &Position)>().rows().next().map(|(entity, _)| entity);
    if let Some(position) = first.and_then(|entity| world.get_mut::<Position>(entity).ok()) {
        position.0[0] = 1.0;
    }
    print!("{}", world.query::<&Position>().changed_since(before).explain());
}
