//! `World::merge` after random changes of both worlds: every entity keeps its components.

use std::sync::Arc;

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{
    Byte, Four, Hundred, Line, Link, Odd, Other, Owned, Serial, Tag, Third, small_world, sound,
};
use crate::common::effort::effort;
use crate::merge::{Awake, Edge, Group, Handle, Nearest, Pooled, merge_checked};

/// The bundles that entities are spawned with, in an order that depends on the world, so that
/// components have other ids in each.
fn spawn(world: &mut World, kind: u32, n: u32, link: Entity) -> Entity {
    let byte = n.to_le_bytes()[0];
    let group = Group {
        members: [link, Entity::NULL, link],
        leader: Link(link),
        is_open: n.is_multiple_of(2),
        pad: [byte; 7],
    };
    match kind % 10 {
        0 => world.spawn((Four(n), Odd([byte; 3]))),
        1 => world.spawn((Link(link), Four(n), Tag)),
        2 => world.spawn((group, Byte(byte))),
        3 => world.spawn((Awake(n), Link(link))),
        4 => world.spawn((Serial(n), Pooled, group)),
        5 => world.spawn((Handle(n), Line([n; 16]), Four(n))),
        6 => world.spawn((Edge { from: link, to: Entity::NULL, length: 0.5 }, Awake(n))),
        7 => world.spawn((PerChunk::<Nearest>::TAG, Hundred([n; 25]))),
        8 => world.spawn((Tag, Other)),
        _ => world.spawn(()),
    }
}

/// Makes a change of a world that depends on three numbers. `all` has every entity that ever
/// existed.
pub(crate) fn change(world: &mut World, all: &mut Vec<Entity>, (action, a, b): (u8, u32, u32)) {
    let link = all.get(b as usize % all.len().max(1)).copied().unwrap_or(Entity::NULL);
    let entity = all.get(a as usize % all.len().max(1)).copied().unwrap_or(Entity::NULL);
    // An entity that is not alive, or lacks the component to change, stays as it is.
    match action % 10 {
        0..=2 => all.push(spawn(world, a, b, link)),
        3 => {
            let rows = if cfg!(miri) { 3 } else { 1 + b % 700 };
            (0..rows).for_each(|i| all.push(spawn(world, a, i, link)));
        }
        4 => drop(world.despawn(entity)),
        5 => drop(world.insert(entity, (Third, Link(link)))),
        6 => drop(world.set_enabled::<Awake>(entity, b % 2 == 0)),
        7 => drop(world.insert_shared(entity, format!("value {}", b % 3))),
        8 => _ = world.insert(entity, Owned(Arc::new(b))),
        _ => drop(world.remove::<(Four,)>(entity)),
    }
}

pub(crate) fn changed(world: &mut World, changes: &[(u8, u32, u32)]) -> Vec<Entity> {
    let mut all = Vec::new();
    changes.iter().for_each(|&numbers| change(world, &mut all, numbers));
    all
}

pub(crate) fn changes() -> impl Strategy<Value = Vec<(u8, u32, u32)>> {
    let len = if cfg!(miri) { 8 } else { 40 };
    prop::collection::vec((any::<u8>(), 0..100u32, 0..1000u32), 0..len)
}

/// Compacts a world, and clears it in two steps. Returns the memory that it has left.
pub(crate) fn slab_bytes_in_the_end(world: &mut World) -> usize {
    while !world.memory_mut().compact(usize::MAX).finished {}
    sound(world);
    world.matching::<&Link>().despawn();
    sound(world);
    world.clear();
    world.memory_mut().compact(usize::MAX);
    sound(world);
    world.memory().slab_bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { effort(6) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_told_of_entities_is_the_same_after_a_merge(
        (ours, first, second, after) in (changes(), changes(), changes(), changes()),
    ) {
        let mut world = small_world();
        let mut all = changed(&mut world, &ours);
        for changes in [first, second] {
            let mut other = small_world();
            changed(&mut other, &changes);
            let merged = merge_checked(&mut world, other);
            all.extend(merged.iter().map(|(_, new)| new));
        }
        // All changes also work on the entities from the other world.
        after.iter().for_each(|&numbers| change(&mut world, &mut all, numbers));
        sound(&world);
        world.matching::<&Four>().insert(Other).unwrap();
        sound(&world);
        prop_assert_eq!(slab_bytes_in_the_end(&mut world), 0);
    }
}
