//! Sparse components: buffs, which few units have for a short time, and names with a `String`.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin sparse
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Health(f32);

/// A value with memory of its own, dropped with its unit.
#[component(sparse)]
struct Name(String);

/// No unit moves to another archetype when it catches fire, or when the fire goes out.
#[component(sparse)]
struct Burning {
    ticks: u32,
}

/// Visits the burning units only: a term chooses rows by a bit each, and finds the values.
fn burn(mut units: Query<(&mut Health, &Burning)>) {
    units.rows_mut().for_each(|(health, _)| health.0 -= 4.0);
}

#[kernel]
fn pass_time(fires: &mut [Burning]) {
    fires.iter_mut().for_each(|fire| fire.ticks -= 1);
}

/// All values of the set are slices for kernels, whatever units have them.
fn tick(mut burning: SparseMut<Burning>) {
    burning.blocks_mut().for_each(|(_, fires)| pass_time(fires));
}

/// Only the set itself gains and loses values.
fn extinguish(mut burning: SparseMut<Burning>) {
    burning.retain(|_, fire| fire.ticks > 0);
}

/// Commands take sparse components like any others.
fn bury(units: Query<(Entity, &Health)>, names: Sparse<Name>, mut commands: Commands) {
    for (unit, _) in units.rows().filter(|(_, health)| health.0 <= 0.0) {
        if let Some(name) = names.get(unit) {
            commands.spawn(Name(format!("the grave of {}", name.0)));
        }
        commands.despawn(unit);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let army = world.spawn_batch((0..10_000).map(|_| Health(100.0))).to_vec();
    let ada = world.spawn((Health(10.0), Name("Ada".to_owned()), Burning { ticks: 5 }));
    world.insert(army[7], Burning { ticks: 2 })?;

    let mut schedule = Schedule::new();
    schedule.add((burn, tick, extinguish, bury));
    (0..3).try_for_each(|_| schedule.run(&mut world))?;

    // A query chooses rows by a sparse component: a bit a row, in the archetypes that have any.
    world.insert(army[9], Burning { ticks: 1 })?;
    let in_flames = world.query::<Entity>().with::<Burning>().without::<Name>();
    assert!(in_flames.rows().eq([army[9]]));

    assert!(world.get::<Health>(army[7])?.0 == 92.0 && !world.has::<Burning>(army[7]));
    assert!(!world.contains(ada), "her name and her fire went with her");
    let names = world.sparse::<Name>();
    names.iter().for_each(|(_, name)| println!("{} of {} entities", name.0, world.len()));
    Ok(())
}
