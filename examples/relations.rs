//! Relations: a ship with turrets and a gun, its enemy, its harbour, and the end of each.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin relations
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

/// A hierarchy: a part goes with its ship, and its own parts with it.
#[relation(tree, on_delete = despawn)]
struct PartOf;

/// An aim: it ends with the ship at which it points.
#[relation]
struct Target;

/// A harbour is not closed while a ship is in it.
#[relation(on_delete = refuse)]
struct MooredAt;

#[component]
struct Place {
    own: f32,
    world: f32,
}

#[component(sparse)]
struct Burning;

/// Places of entities that are parts of nothing, with parts or without: in whole chunks.
fn place_roots(mut roots: Query<&mut Place, Without<PartOf>>) {
    roots.rows_mut().for_each(|place| place.world = place.own);
}

/// Places of parts, level after level: a parent is done before its parts. The first level is left
/// out: it has the roots.
fn place_parts(parts: Relation<PartOf>, mut places: LookupMut<Place>) {
    for level in parts.levels().iter().skip(1) {
        for &part in level {
            let above = parts.target(part).and_then(|above| places.get(above).ok());
            let base = above.map_or(0.0, |place| place.world);
            if let Ok(place) = places.get_mut(part) {
                place.world = base + place.own;
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let place = |own| Place { own, world: 0.0 };
    let harbour = world.spawn(place(1000.0));
    let [ship, enemy] = [200.0, 300.0].map(|own| world.spawn((place(own), MooredAt::of(harbour))));
    let turrets = world.spawn_batch((0..4).map(|i| (place(i as f32), PartOf::of(ship)))).to_vec();
    let gun = world.spawn((place(0.5), PartOf::of(turrets[3]), Target::of(enemy)));

    let mut schedule = Schedule::new();
    schedule.add(place_roots).then(place_parts);
    schedule.run(&mut world)?;
    assert_eq!(world.get::<Place>(gun)?.world, 203.5);
    assert_eq!(world.get::<Place>(harbour)?.world, 1000.0);
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
