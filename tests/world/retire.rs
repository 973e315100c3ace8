//! Archetypes without entities are removed.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Tag, Third, Twelve, sound};
use crate::structural::filled;

fn names(world: &World) -> Vec<usize> {
    world.reflect().archetypes().map(|archetype| archetype.components().count()).collect()
}

#[test]
fn what_has_no_entity_goes_and_the_rest_moves_up_in_order() {
    let mut world = World::new();
    let gone = world.spawn(Byte(1));
    let first = world.spawn((Four(1), Tag));
    let also_gone = world.spawn(Third);
    let entities = world.spawn_batch((0..3_000).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    assert_eq!(world.memory_mut().retire_archetypes(), 0, "all have entities");
    world.despawn(gone).expect("alive");
    world.despawn(also_gone).expect("alive");
    let before: Vec<u32> = world.query::<&Four>().rows().map(|four| four.0).collect();
    let version = world.version();
    assert_eq!(names(&world), [1, 2, 1, 2]);
    assert_eq!(world.memory_mut().retire_archetypes(), 2);
    assert_eq!((names(&world), world.version()), (vec![2, 2], version));
    sound(&world);
    assert_eq!(world.query::<&Four>().rows().map(|four| four.0).collect::<Vec<_>>(), before);
    assert_eq!(world.get::<Four>(first), Ok(&Four(1)));
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([i; 3])));
    }
    assert_eq!(world.memory_mut().retire_archetypes(), 0);
}

#[test]
fn cached_queries_bundles_and_edges_are_those_of_the_new_numbers() {
    let mut world = World::new();
    let entity = world.spawn(Byte(7));
    let sum = |world: &World| world.query::<&Four>().rows().map(|four| four.0).sum::<u32>();
    // One archetype after the other, each with a chunk of its own and found by a cached query.
    for turn in 1..=20 {
        world.insert(entity, Four(turn)).expect("room");
        world.query_mut::<&mut Four>().for_each_chunk(|four| four[0].0 += 100);
        assert_eq!(sum(&world), turn + 100);
        world.insert(entity, (Tag, Twelve([turn; 3]))).expect("room");
        let other = world.spawn((Four(1_000), Tag));
        assert_eq!(sum(&world), turn + 1_100);
        world.despawn(other).expect("alive");
        world.remove::<(Four, Tag, Twelve)>(entity).expect("it has them");
        // {Byte} stays; {Byte, Four}, all, and {Four, Tag} are removed.
        assert_eq!(world.memory_mut().retire_archetypes(), 3);
        sound(&world);
        assert_eq!(world.get::<Byte>(entity), Ok(&Byte(7)));
        assert_eq!(sum(&world), 0);
    }
}

#[test]
fn a_set_that_comes_back_is_the_last_archetype() {
    let mut world = World::new();
    let first = world.spawn(Four(1));
    world.spawn((Four(2), Tag));
    world.despawn(first).expect("alive");
    let hash = world.hash();
    world.memory_mut().retire_archetypes();
    assert_ne!(world.hash(), hash, "the order of archetypes has changed");
    world.spawn(Four(3));
    let order: Vec<u32> = world.query::<&Four>().rows().map(|four| four.0).collect();
    assert_eq!(order, [2, 3]);
}

#[test]
fn reserved_rows_and_ids_are_no_obstacle() {
    let (mut world, _) = filled(100);
    world.reserve::<(Four, Tag)>(10_000).expect("room");
    let reserved = world.reserve_entity().expect("few");
    assert_eq!(world.memory_mut().retire_archetypes(), 1, "of reserved rows alone");
    sound(&world);
    assert!(world.contains(reserved), "it is spawned first, and its archetype stays");
    world.clear();
    assert_eq!(world.memory_mut().retire_archetypes(), 2);
    assert_eq!((world.reflect().archetypes().len(), world.memory().block_bytes), (0, 0));
    world.spawn((Four(1), Tag));
    sound(&world);
}

#[test]
fn buffers_and_chunks_that_change_owner_find_the_new_numbers() {
    let mut world = World::new();
    let mut buffer = world.command_buffer(4).expect("few");
    for turn in 0..10 {
        let spawned = buffer.spawn((Four(turn), Byte(1)));
        buffer.insert(spawned, Tag);
        buffer.insert_where::<&Four, Without<Tag>, _>(Twelve([turn; 3]));
        world.apply(&mut buffer).expect("alive");
        assert_eq!(world.matching::<&Four>().remove::<Tag>(), 1);
        assert_eq!(world.get::<Four>(spawned), Ok(&Four(turn)));
        world.despawn(spawned).expect("alive");
        // With the tag, and without.
        assert_eq!(world.memory_mut().retire_archetypes(), 2);
        sound(&world);
    }
}
