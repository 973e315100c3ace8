//! Commands: changes that a system records, applied when no system runs.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin commands
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Health(f32);
#[component]
struct Poisoned {
    damage: f32,
}
#[component]
struct Grave;

/// Runs on several threads: each chunk records with a writer of its own, and the order of the
/// commands does not depend on the threads.
fn poison(patients: Query<(Entity, &mut Health, &Poisoned)>, mut commands: Commands) {
    patients.par().record(&mut commands, |(entities, health, poison), commands| {
        for ((&entity, health), poison) in entities.iter().zip(health).zip(poison) {
            health.0 -= poison.damage;
            if health.0 <= 0.0 {
                commands.despawn(entity);
                commands.spawn(Grave);
            }
        }
    });
}

fn main() -> Result<(), ScheduleError> {
    let mut world = World::new();
    world.spawn_batch((0..10_000).map(|i| (Health(i as f32 / 1_000.0), Poisoned { damage: 1.0 })));

    let mut schedule = Schedule::new();
    schedule.add(poison);
    for day in 1..=5 {
        schedule.run(&mut world)?;
        let (ill, graves) =
            (world.query::<&Health>().count_rows(), world.query::<&Grave>().count_rows());
        println!("day {day}: {ill} are ill, {graves} graves");
        assert_eq!(ill + graves, 10_000);
    }
    // Outside of a schedule, a buffer records and the world applies it.
    let mut buffer = world.command_buffer(1).expect("an id");
    let healer = buffer.spawn(Health(10.0));
    buffer.despawn_where::<&Grave, ()>();
    world.apply(&mut buffer).expect("all commands have an effect");
    assert!(world.contains(healer) && world.query::<&Grave>().is_empty());
    Ok(())
}
