//! Relations: a ship with turrets and a gun, its enemy, its harbour, and the end of each.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin relations
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;
use phalanx::rows::LevelPlan;

/// A hierarchy: a part goes with its ship, and its own parts with it.
#[relation(tree, on_delete = despawn)]
struct PartOf;

/// An aim: it ends with the ship at which it points.
#[relation]
struct Target;

/// A harbour is not closed while a ship is in it.
#[relation(on_delete = refuse)]
struct MooredAt;

/// The place of an entity, counted from the one that it is a part of.
#[component]
struct Own(f32);

#[component]
struct Place(f32);

#[component(sparse)]
struct Burning;

/// The places of all entities, level after level: the places of parts are added to those above.
fn place(
    parts: Relation<PartOf>,
    mut plan: Local<LevelPlan<PartOf>>,
    all: Query<(&mut Place, &Own)>,
) {
    parts.propagate(&mut plan, all, &Place(0.0), add);
}

#[kernel]
fn add(places: &mut [Place], own: &[Own], above: &[Place]) {
    for ((place, own), above) in places.iter_mut().zip(own).zip(above) {
        place.0 = above.0 + own.0;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let place = |own| (Place(0.0), Own(own));
    let harbour = world.spawn(place(1000.0));
    let [ship, enemy] = [200.0, 300.0].map(|own| world.spawn((place(own), MooredAt::of(harbour))));
    let turrets = world.spawn_batch((0..4).map(|i| (place(i as f32), PartOf::of(ship)))).to_vec();
    let gun = world.spawn((place(0.5), PartOf::of(turrets[3]), Target::of(enemy)));

    let mut schedule = Schedule::new();
    schedule.add(self::place);
    schedule.run(&mut world)?;
    assert_eq!(world.get::<Place>(gun)?.0, 203.5);
    assert_eq!(world.get::<Place>(harbour)?.0, 1000.0);
    assert!(world.relation::<PartOf>().ancestors(gun).eq([turrets[3], ship]));

    // The parts that aim at an entity that burns.
    world.insert(enemy, Burning)?;
    let burning = world.query::<Entity>().with::<Burning>();
    let aims = world.query::<(Entity, &Target)>().with::<PartOf>();
    let aims = aims.rows().filter(|(_, aim)| burning.contains(aim.target()));
    assert!(aims.map(|(part, _)| part).eq([gun]));

    // A ship is not a part of its own turret, and the error says so.
    println!("{}", world.insert(ship, PartOf::of(gun)).expect_err("a cycle"));
    println!("{}", world.despawn(harbour).expect_err("two ships are in it"));

    world.despawn(enemy)?;
    assert!(!world.has::<Target>(gun), "it aims at nothing");
    world.despawn(ship)?;
    println!("{} entity is left, with {} ships", world.len(), world.relation::<MooredAt>().len());
    Ok(world.despawn(harbour)?)
}
