//! Worlds with equal relations, of which the orders differ, as `testing::compare` tells them apart.

use phalanx::prelude::*;
use phalanx::testing::{Difference, compare};

use crate::common::components::sound;
use crate::common::world;

use super::relations::Target;
use super::snapshot_shared::bytes_of;

#[relation(on_delete = despawn, name = "first")]
struct First;

#[relation(on_delete = despawn, name = "second")]
struct Second;

/// A world in which two sources have a target each. Sources in `again` get the other's target, and
/// then their own again.
fn targets(again: &[usize]) -> (World, Vec<Entity>) {
    let mut world = world();
    let ids = world.spawn_batch([(); 4]).to_vec();
    let relate = |world: &mut World, at: usize, to: usize| {
        world.insert(ids[at], Target::of(ids[to])).expect("both are alive");
    };
    (0..2).for_each(|at| relate(&mut world, at, 2 + at));
    for &at in again {
        relate(&mut world, at, 3 - at);
        relate(&mut world, at, 2 + at);
    }
    (world, ids)
}

/// A world in which three sources have one target. They get another one, and then it again, in an
/// order.
fn sources(order: [usize; 3]) -> (World, Vec<Entity>) {
    let mut world = world();
    let ids = world.spawn_batch([(); 5]).to_vec();
    let all = (0..3).map(|at| (at, 3)).chain(order.into_iter().flat_map(|at| [(at, 4), (at, 3)]));
    all.for_each(|(at, to)| world.insert(ids[at], Target::of(ids[to])).expect("both are alive"));
    (world, ids)
}

#[test]
fn another_order_of_sources_is_named() {
    let ((a, ids), (b, _)) = (sources([0, 1, 2]), sources([0, 2, 1]));
    let [ours, theirs] = [&a, &b].map(|world| world.relation::<Target>().sources(ids[3]).to_vec());
    assert_ne!(ours, theirs);
    let place = |of: &[Entity], source| of.iter().position(|&one| one == source);
    let first = ids.iter().copied().find(|&one| place(&ours, one) != place(&theirs, one));
    let difference = compare(&a, &b).unwrap_err();
    let Difference::Sources { component: "target", source } = difference else {
        panic!("{difference}");
    };
    assert_eq!(Some(source), first);
    assert!(difference.to_string().contains("`target`"), "{difference}");
    assert_eq!(compare(&a, &sources([0, 1, 2]).0), Ok(()));
}

#[test]
fn another_order_of_targets_is_named() {
    let ((a, ids), (b, _)) = (targets(&[]), targets(&[0]));
    assert!(a.relation::<Target>().iter().eq(b.relation::<Target>().iter()), "equal relations");
    let (component, expected, found) = ("target", Some(ids[2]), Some(ids[3]));
    let difference = Difference::Targets { component, place: 0, expected, found };
    assert_eq!(compare(&a, &b), Err(difference));
    assert_ne!(a.hash(), b.hash(), "the order is a part of the state");
}

#[test]
fn a_cascade_follows_the_names_of_relations_and_not_their_first_use() {
    let mut world = world();
    let [hub, by_second, by_first] = [(); 3].map(|()| world.spawn(()));
    world.insert(by_second, Second::of(hub)).expect("both are alive");
    world.insert(by_first, First::of(hub)).expect("both are alive");
    let mut mirror = mirror_of(&mut world);
    let mut lost = [&mut world, &mut mirror].map(|world| {
        let mut reader = world.cursor::<Despawns>();
        world.despawn(hub).expect("no one refuses");
        sound(world);
        (reader.read(world).to_vec(), world.hash())
    });
    assert_eq!(lost[0], lost[1]);
    lost[0].0.sort_unstable();
    assert_eq!(lost[0].0, [hub, by_second, by_first]);
    for world in [&mut world, &mut mirror] {
        world.spawn_batch([(); 3]);
    }
    assert_eq!(world.hash(), mirror.hash());
    assert_eq!(compare(&world, &mirror), Ok(()));
}

/// A world in the same state that has used the relations in the other order.
fn mirror_of(world: &mut World) -> World {
    let mut mirror = crate::common::world();
    mirror.register::<(First, Second)>();
    let state = mirror.read_snapshot(&bytes_of(world)).expect("the types are known");
    mirror.restore(&state).expect("it is of this world");
    assert_eq!(mirror.hash(), world.hash());
    mirror
}
