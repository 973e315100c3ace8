//! Enable bits: components that are switched off where they are. No row moves.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin enable_bits
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Position(f32);
#[component(enableable)]
struct Awake;

/// Visits the rows in which `Awake` is on.
fn walk(walkers: Query<&mut Position, With<Awake>>) {
    walkers.rows().for_each(|position| position.0 += 1.0);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let all = world.spawn_batch((0..10_000).map(|_| (Position(0.0), Awake))).to_vec();

    // One entity, then all that a query matches.
    world.set_enabled::<Awake>(all[3], false)?;
    assert!(!world.is_enabled::<Awake>(all[3])?);
    world.run(walk);
    assert_eq!(world.get::<Position>(all[3])?.0, 0.0, "it sleeps");
    assert_eq!(world.query::<&Position>().rows().map(|p| p.0).sum::<f32>(), 9_999.0);

    let fallen_asleep = world.matching::<&Position>().disable::<Awake>();
    let awake = world.query::<Entity>().with::<Awake>().count_rows();
    println!("{fallen_asleep} fell asleep, {awake} are awake");
    assert_eq!((fallen_asleep, awake), (9_999, 0));
    // The component is still there: its row has not moved.
    assert!(world.has::<Awake>(all[3]));
    Ok(())
}
