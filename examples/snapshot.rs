//! States: taken, put back, and sent as the difference from an older one.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin snapshot
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Position(f32);
#[component]
struct Velocity(f32);
/// A relation, which is a part of states like the columns.
#[relation(tree)]
struct MoonOf;

fn step(bodies: Query<(&mut Position, &Velocity)>) {
    bodies.rows().for_each(|(position, velocity)| position.0 += velocity.0);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let planets =
        world.spawn_batch((0..100_000).map(|i| (Position(0.0), Velocity(i as f32)))).to_vec();
    let moon = world.spawn((Position(1.0), MoonOf::of(planets[3])));

    // A rollback: the world is put back, runs again, and is the same, bit for bit.
    let state = world.snapshot()?;
    world.run(step);
    let hash = world.hash();
    world.restore(&state)?;
    world.run(step);
    assert_eq!(world.hash(), hash);

    // Another world gets the whole state, and later the difference only.
    let mut mirror = World::new();
    mirror.register::<(Position, Velocity, MoonOf)>();
    let mut known = mirror.read_snapshot(&state.to_bytes()?)?;
    world.restore(&state)?;
    world.get_mut::<Position>(planets[0])?.0 = 5.0;
    world.insert(moon, MoonOf::of(planets[4]))?;
    let delta = state.delta(&mut world)?;
    println!("{} bytes of a state, {} of a difference", state.to_bytes()?.len(), delta.len());
    known.read_delta(&mut mirror, &delta)?;
    mirror.restore(&known)?;
    assert_eq!(mirror.get::<Position>(planets[0])?.0, 5.0);
    assert_eq!(mirror.relation::<MoonOf>().sources(planets[4]), [moon]);
    assert_eq!(mirror.hash(), world.hash());
    Ok(())
}
