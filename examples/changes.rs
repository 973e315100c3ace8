//! Change versions: a pass over the chunks that were written, and a system that reads losses.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin changes
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
#[derive(Debug)]
struct Health(f32);
#[component]
struct Shield;

/// Each loss once, in the order in which it happened.
fn report(mut lost: Removed<Shield>) {
    let (entities, _) = lost.read();
    println!("{} entities have lost their shield", entities.len());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let all = world.spawn_batch((0..100_000).map(|_| (Health(1.0), Shield))).to_vec();
    let mut schedule = Schedule::new();
    schedule.add(report);
    schedule.run(&mut world)?; // The system reads from its first run on.

    // One write stamps the column of its chunk with a new version.
    let before = world.version();
    world.get_mut::<Health>(all[77])?.0 = 0.5;
    let changed = world.query::<&Health>().changed_since(before);
    println!(
        "{} of {} chunks changed",
        changed.iter().count(),
        world.query::<&Health>().iter().count()
    );
    assert_eq!(changed.iter().count(), 1);
    assert!(changed.rows().any(|health| health.0 == 0.5));

    world.remove::<Shield>(all[0])?;
    world.despawn(all[1])?;
    schedule.run(&mut world)?;
    Ok(())
}
