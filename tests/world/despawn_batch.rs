//! Many entities are despawned at once: the same rows and ids remain as after single despawns.

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Tag, Twelve, sound};
use crate::structural::filled;

/// The entities and their values, in the order of a query over all archetypes.
fn rows(world: &World) -> Vec<(Entity, u32)> {
    world.query::<(Entity, &Four)>().rows().map(|(entity, four)| (entity, four.0)).collect()
}

#[test]
fn nothing_changes_without_an_entity_that_is_alive() {
    let (mut world, entities) = filled(10);
    let dead = entities[3];
    world.despawn(dead).expect("alive");
    let before = world.hash();
    assert_eq!(world.despawn_batch(&[]), 0);
    let never = Entity::from_bits(u64::MAX);
    assert_eq!(world.despawn_batch(&[Entity::NULL, dead, never]), 0);
    assert_eq!(world.hash(), before, "no entity, no change and no version");
    let mut buffer = world.command_buffer(0).expect("no ids");
    let before = world.hash();
    buffer.despawn(dead);
    assert_eq!(world.apply(&mut buffer).expect("a despawn never fails").despawned, 0);
    assert_eq!(world.hash(), before);
    sound(&world);
}

#[test]
fn an_entity_that_is_named_twice_ends_once() {
    let (mut world, entities) = filled(100);
    let twice: Vec<_> = entities.iter().flat_map(|&entity| [entity, entity]).collect();
    assert_eq!(world.despawn_batch(&twice), 100);
    assert!(world.is_empty());
    sound(&world);
}

#[test]
fn reserved_ids_are_entities() {
    let mut world = World::new();
    let reserved: Vec<_> = world.reserve_entities(5).expect("few").collect();
    assert_eq!(world.despawn_batch(&reserved), 5);
    assert!(world.is_empty());
}

#[test]
fn the_batch_has_one_version_and_stamps_the_chunks_that_lose_rows() {
    let (mut world, entities) = filled(2_000);
    let before = world.version();
    assert_eq!(world.despawn_batch(&[entities[0], entities[1]]), 2);
    let changed = |world: &World| {
        let query = world.query::<&Four>();
        let chunks = query.chunks().filter(|chunk| chunk.order_version() > before);
        chunks.map(|chunk| chunk.index()).collect::<Vec<_>>()
    };
    let last = world.query::<&Four>().chunks().count() - 1;
    assert_eq!(changed(&world), [0, last], "the gap and where its row came from");
}

proptest! {
    #[test]
    fn it_leaves_what_single_despawns_leave(
        rows_len in 0u32..3_000,
        tagged in proptest::collection::vec(0usize..3_000, 0..200),
        ended in proptest::collection::vec(0usize..3_100, 0..600),
    ) {
        let make = || {
            let (mut world, mut entities) = filled(rows_len);
            for at in tagged.iter().filter(|&&at| at < entities.len()) {
                world.insert(entities[*at], Tag).expect("alive");
            }
            // Ids that were never alive.
            entities.extend((0..50).map(|i| Entity::from_bits(i << 33 | 7)));
            (world, entities)
        };
        let (mut singly, entities) = make();
        let (mut together, _) = make();
        let ended: Vec<_> =
            ended.iter().filter_map(|&at| entities.get(at)).copied().collect();
        let count = ended.iter().filter(|&&entity| singly.despawn(entity).is_ok()).count();
        prop_assert_eq!(together.despawn_batch(&ended), count);
        sound(&together);
        prop_assert_eq!(rows(&together), rows(&singly));
        let next = |world: &mut World| world.spawn_batch([(Four(0), Twelve([0; 3])); 20]).to_vec();
        prop_assert_eq!(next(&mut together), next(&mut singly), "ids are used again in one order");
    }
}
