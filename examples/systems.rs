//! Systems in a schedule: their parameters declare their access, so two of them run side by side.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin systems
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Position(f32);
#[component]
struct Velocity(f32);
#[component]
struct Age(u32);

/// A resource: a value of the world that belongs to no entity.
struct Step(f32);

fn fall(velocities: Query<&mut Velocity>, step: Res<Step>) {
    velocities.rows().for_each(|velocity| velocity.0 -= 9.81 * step.0);
}

fn drift(bodies: Query<(&mut Position, &Velocity)>, step: Res<Step>) {
    bodies.rows().for_each(|(position, velocity)| position.0 += velocity.0 * step.0);
}

/// Accesses no component of the others, so it runs beside them.
fn grow_old(ages: Query<&mut Age>) {
    ages.rows().for_each(|age| age.0 += 1);
}

fn main() -> Result<(), ScheduleError> {
    let mut world = World::new();
    world.insert_resource(Step(0.01));
    world.spawn_batch((0..1_000).map(|i| (Position(100.0), Velocity(0.0), Age(i))));

    let mut schedule = Schedule::new();
    schedule.add((fall, drift)).chain();
    schedule.add(grow_old);
    println!("{schedule}");
    for _ in 0..100 {
        schedule.run(&mut world)?;
    }
    let (height, age) = world.query::<(&Position, &Age)>().rows().next().expect("a body");
    println!("after a second: {:.2} m, {} steps old", height.0, age.0);
    assert!((height.0 - 95.05).abs() < 0.01 && age.0 == 100);
    Ok(())
}
