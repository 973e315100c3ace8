//! Two worlds: a level is filled on another thread, and its entities change owner in one call.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin merge
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use std::thread;

use phalanx::prelude::*;

#[component]
struct Tile {
    height: f32,
}
#[component]
struct Door {
    leads_to: Entity,
}

/// A world is `Send`, and shares nothing with another one.
fn load() -> World {
    let mut level = World::new();
    level.spawn_batch((0..100_000).map(|i| Tile { height: (i % 7) as f32 }));
    let room = level.spawn(Tile { height: 3.0 });
    level.spawn(Door { leads_to: room });
    level
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let player = world.spawn(());

    let level = thread::spawn(load).join().expect("the level loads");
    let door = level.query::<(Entity, &Door)>().rows().next().expect("a door");
    let (old_door, old_room) = (door.0, door.1.leads_to);
    let merged = world.merge(level)?;

    // Entities have new ids, also where a component names one.
    let door = merged.get(old_door).expect("it came");
    let room = world.get::<Door>(door)?.leads_to;
    assert_eq!(Some(room), merged.get(old_room));
    assert_eq!(world.get::<Tile>(room)?.height, 3.0);
    assert!(world.contains(player));
    println!("{} entities came, the world has {}", merged.len(), world.len());
    assert_eq!((merged.len(), world.len()), (100_002, 100_003));
    Ok(())
}
