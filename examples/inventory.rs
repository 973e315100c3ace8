//! Inventories and sockets: bags that keep the order of their items, and swords with gems.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin inventory
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

/// An inventory: the items of a bag stand in an order, and are lost with it.
#[relation(tree, ordered, on_delete = despawn)]
struct ItemOf;

/// A socket: a gem is set into an item at a place, and falls out if the item breaks.
#[relation(many)]
struct SetInto {
    socket: u32,
}

#[component]
struct Weight(f32);
#[component]
struct Power(f32);

/// The weight of a bag and of all that is in it, bags within bags included.
fn load(bag: Entity, items: &Relation<ItemOf>, weights: &Lookup<Weight>) -> f32 {
    let all = items.descendants(bag);
    all.iter().chain([&bag]).filter_map(|&item| weights.get(item).ok()).map(|w| w.0).sum()
}

/// The power of an item: that of the gems which are set into it.
fn power(item: Entity, gems: &Pairs<SetInto>, powers: &Query<&Power>) -> f32 {
    gems.rows_of(item, powers).map(|power| power.0).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let bag = world.spawn(Weight(1.0));
    let [sword, pouch, bread] =
        [4.0, 0.5, 0.5].map(|weight| world.spawn((Weight(weight), ItemOf::of(bag))));
    let coins = world.spawn_batch((0..100).map(|_| (Weight(0.01), ItemOf::of(pouch)))).to_vec();
    let [ruby, opal] = [3.0, 5.0].map(|power| world.spawn((Weight(0.1), Power(power))));

    // The bread is moved to the front, and a coin out of the pouch, between the others.
    world.insert(bread, ItemOf::of(bag).at(0))?;
    world.insert(coins[7], ItemOf::of(bag).at(2))?;
    assert_eq!(world.relation::<ItemOf>().sources(bag), [bread, sword, coins[7], pouch]);
    assert_eq!(world.relation::<ItemOf>().place(pouch), Some(3));
    // A bag is not put into a pouch that is in it.
    println!("{}", world.insert(bag, ItemOf::of(pouch)).expect_err("a cycle"));

    // Two gems are set into the sword, and one of them is moved to another socket.
    world.insert(ruby, SetInto { socket: 1 }.of(sword))?;
    world.insert(opal, SetInto { socket: 2 }.of(sword))?;
    world.insert(opal, SetInto { socket: 0 }.of(sword))?;
    assert_eq!(world.relation::<SetInto>().get(opal, sword).map(|set| set.socket), Some(0));
    let powers = world.run(move |gems: Pairs<_>, all: Query<_>| power(sword, &gems, &all));
    let loaded =
        world.run(move |items: Relation<_>, weights: Lookup<_>| load(bag, &items, &weights));
    println!("the sword has {powers} of power, the bag weighs {loaded:.1}");

    // The sword breaks: the gems stay, and the bag closes the gap.
    world.despawn(sword)?;
    assert!(world.contains(ruby) && !world.has::<SetInto>(ruby) && !world.has::<SetInto>(opal));
    assert_eq!(world.relation::<ItemOf>().sources(bag), [bread, coins[7], pouch]);
    // The bag burns, with the pouch and its coins.
    world.despawn(bag)?;
    println!("{} gems are left, and {} items", world.len(), world.relation::<ItemOf>().len());
    Ok(())
}
