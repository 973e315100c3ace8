//! References between entities: each child follows its parent, found by id.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin lookup
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

#[component]
struct Place {
    x: f32,
    y: f32,
}
#[component]
struct Offset {
    x: f32,
    y: f32,
}
#[component]
struct Parent(Entity);

/// The parents' places are read while the children's are written: the filters keep them apart.
fn follow(
    children: Query<(&mut Place, &Offset, &Parent)>,
    parents: Query<&Place, Without<Parent>>,
) {
    let parents = parents.lookup();
    for (place, offset, parent) in children.rows() {
        // A parent that was despawned is an error, and its child stays where it is.
        if let Ok(at) = parents.get(parent.0) {
            *place = Place { x: at.x + offset.x, y: at.y + offset.y };
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let ship = world.spawn(Place { x: 10.0, y: 20.0 });
    let guns =
        [-1.0, 1.0].map(|x| world.spawn((Place::default(), Offset { x, y: 0.5 }, Parent(ship))));

    world.run(follow);
    world.get_mut::<Place>(ship)?.x = 15.0;
    world.run(follow);
    world.despawn(ship)?;
    world.run(follow);

    // One component of many entities: a view looks the type up once.
    let places = world.lookup::<Place>();
    let xs = guns.map(|gun| places.get(gun).map_or(0.0, |place| place.x));
    println!("the guns are at {xs:?}");
    assert_eq!(xs, [14.0, 16.0]);
    assert!(places.get(ship).is_err());
    Ok(())
}
