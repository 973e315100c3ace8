//! Readers of gained and lost components: their order, the readers, the losses that count, and
//! memory. `row_logs` tests that every way to get or lose a component is recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Tag, Twelve};
use crate::row_logs::pairs;

#[test]
fn what_comes_is_in_the_order_of_the_call() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut fours = world.cursor::<Insertions<Four>>();
    let mut tags = world.cursor::<Insertions<Tag>>();
    let spawned = world.spawn_batch((0..3000).map(Four)).to_vec();
    let (entities, values) = fours.read(&world);
    assert!(entities == spawned && values.iter().map(|four| four.0).eq(0..3000));
    for &entity in &spawned[10..20] {
        world.insert(entity, (Tag, Four(9))).unwrap();
    }
    let more = world.spawn_batch((0..50).map(|i| (Four(i), Tag))).to_vec();
    let tagged: Vec<_> = spawned[10..20].iter().chain(&more).copied().collect();
    assert_eq!(tags.read(&world).0, tagged);
    assert_eq!(fours.read(&world).0, more, "the others had one");
    // Into an archetype that already has rows, where the last chunk stays the last.
    let order: Vec<_> = world.query::<Entity>().without::<Tag>().rows().collect();
    world.matching::<&Four>().insert((Tag, Twelve([3; 3]))).unwrap();
    assert_eq!(tags.read(&world).0, order);
    world.matching::<&Tag>().remove::<(Tag, Twelve)>();
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    world.spawn_batch((0..700).map(|i| (Four(i), Tag)));
    assert_eq!(tags.read(&world).0.len(), 700);
    world.matching::<&Four>().without::<Tag>().insert(Tag).unwrap();
    assert_eq!(tags.read(&world).0, order, "chunks that change owner");
    assert!(fours.read(&world).0.len() == 700);
}

#[test]
fn the_order_is_that_of_the_call() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = if cfg!(miri) { 200 } else { 2000 };
    let fours = world.spawn_batch((0..rows).map(Four)).to_vec();
    let tagged = world.spawn_batch((rows..2 * rows).map(|i| (Four(i), Tag))).to_vec();
    let all: Vec<_> = fours.iter().chain(&tagged).copied().collect();
    let mut despawned = world.cursor::<Despawns>();
    let mut removed = world.cursor::<Removals<Four>>();
    let backwards: Vec<_> = fours[..100].iter().rev().copied().collect();
    world.despawn_batch(&backwards);
    assert_eq!(despawned.read(&world), backwards);
    assert_eq!(removed.read(&world).0, backwards);

    let in_order: Vec<_> = world.query::<Entity>().with::<Four>().rows().collect();
    world.matching::<Entity>().with::<Four>().remove::<Four>();
    let (entities, values) = removed.read(&world);
    assert_eq!(entities, in_order);
    let of_each = |entity| all.iter().position(|&e| e == entity).expect("one of them");
    assert!(entities.iter().zip(values).all(|(&e, four)| of_each(e) == four.0 as usize));
    assert!(despawned.read(&world).is_empty());

    let in_order: Vec<_> = world.query::<Entity>().rows().collect();
    world.clear();
    assert_eq!(despawned.read(&world), in_order);
    assert!(removed.read(&world).0.is_empty(), "none has a `Four` any more");
}

#[test]
fn a_reader_sees_what_goes_after_it_was_made() {
    let mut world = World::new();
    let orcs: Vec<_> = (0..3).map(|i| world.spawn(Four(i))).collect();
    world.despawn(orcs[0]).unwrap();
    let mut early = world.cursor::<Removals<Four>>();
    world.despawn(orcs[1]).unwrap();
    let mut late = world.cursor::<Removals<Four>>();
    world.despawn(orcs[2]).unwrap();
    assert_eq!(pairs(early.read(&world)), [(orcs[1], 1), (orcs[2], 2)]);
    assert_eq!(pairs(late.read(&world)), [(orcs[2], 2)]);
    assert_eq!((early.missed(&world), late.missed(&world)), (0, 0));
}

#[test]
fn what_stays_is_not_gone() {
    #[component]
    struct Phase(u32);
    let mut world = World::new();
    let entity = world.spawn((Four(1), Tag, Phase(1)));
    world.spawn_batch((0..5000).map(|i| (Four(i), Phase(i))));
    let mut four = world.cursor::<Removals<Four>>();
    let mut tag = world.cursor::<Removals<Tag>>();
    let mut phase = world.cursor::<Removals<Phase>>();
    let mut despawned = world.cursor::<Despawns>();
    world.flip::<Phase>().unwrap();
    world.insert(entity, Four(2)).unwrap();
    world.insert(entity, Byte(2)).unwrap();
    world.exchange::<Four, _>(entity, (Four(3), Twelve([0; 3]))).unwrap();
    world.remove::<Twelve>(entity).unwrap();
    world.flip::<Phase>().unwrap();
    world.matching::<&Four>().insert((Byte(1), Four(9))).unwrap();
    world.matching::<&Four>().remove::<Byte>();
    world.memory_mut().retire_archetypes();
    while !world.memory_mut().compact(100).finished {}
    assert_eq!(world.despawn(Entity::NULL).is_err(), world.remove::<Twelve>(entity).is_err());
    let mut buffer = world.command_buffer(1).unwrap();
    buffer.remove::<(Four, Tag)>(entity);
    buffer.insert(entity, (Tag, Four(4)));
    let brief = buffer.spawn((Four(1), Tag));
    buffer.despawn(brief);
    world.apply(&mut buffer).unwrap();
    let read = (four.read(&world).0.len(), tag.read(&world).0.len(), phase.read(&world).0.len());
    assert_eq!((read, despawned.read(&world).len()), ((0, 0, 0), 0));
    world.flip::<Phase>().unwrap();
    let current = world.get::<Phase>(entity).unwrap().0;
    world.despawn(entity).unwrap();
    assert_eq!(phase.read(&world).1[0].0, current, "the value of the column of now");
    assert_eq!(four.read(&world).1, [Four(4)]);
}

#[test]
fn an_entity_is_listed_as_often_as_it_loses_its_component() {
    let mut world = World::new();
    let entity = world.spawn(());
    let mut removed = world.cursor::<Removals<Four>>();
    for i in 0..5 {
        world.insert(entity, Four(i)).unwrap();
        world.remove::<Four>(entity).unwrap();
        assert!(world.remove::<Four>(entity).is_err(), "it has none");
    }
    world.insert(entity, Four(5)).unwrap();
    world.despawn(entity).unwrap();
    assert!(world.despawn(entity).is_err() && world.despawn_batch(&[entity]) == 0);
    assert_eq!(pairs(removed.read(&world)), (0..6).map(|i| (entity, i)).collect::<Vec<_>>());
}

#[test]
fn reserved_ids_that_are_despawned_are_entities() {
    let mut world = World::new();
    let mut despawned = world.cursor::<Despawns>();
    let reserved: Vec<_> = world.reserve_entities(3).unwrap().collect();
    world.despawn(reserved[1]).unwrap();
    world.clear();
    assert_eq!(despawned.read(&world), [reserved[1], reserved[0], reserved[2]]);
}

#[test]
fn a_kernel_or_a_destructor_that_panics_loses_no_entity() {
    #[component(sparse)]
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("it explodes");
        }
    }
    let mut world = World::new();
    let entities = world.spawn_batch((0..10).map(Four)).to_vec();
    let mut removed = world.cursor::<Removals<Four>>();
    let torn = catch_unwind(AssertUnwindSafe(|| {
        world.matching::<&Four>().retain(|_, keep| {
            keep.fill(false);
            panic!("halfway");
        })
    }));
    assert!(torn.is_err() && removed.read(&world).0.is_empty());
    world.insert(entities[3], Bomb).unwrap();
    let torn = catch_unwind(AssertUnwindSafe(|| world.despawn(entities[3])));
    assert!(torn.is_err() && removed.read(&world).0 == [entities[3]]);
    world.insert(entities[4], Bomb).unwrap();
    let torn = catch_unwind(AssertUnwindSafe(|| world.clear()));
    assert!(torn.is_err() && removed.read(&world).0.len() == 9);
}

#[test]
fn readers_take_no_memory_when_they_are_gone() {
    let mut world = World::new();
    let runs = if cfg!(miri) { 100 } else { 100_000 };
    world.memory_mut().keep_log::<Despawns>(64 * size_of::<Entity>());
    world.memory_mut().keep_log::<Removals<Four>>(64 * (size_of::<Entity>() + size_of::<Four>()));
    let mut despawned = world.cursor::<Despawns>();
    let four = world.cursor::<Removals<Four>>();
    let cycle = |world: &mut World, turns| {
        for _ in 0..turns {
            let entity = world.spawn(Four(1));
            world.despawn(entity).unwrap();
            world.memory_mut().age_logs();
        }
    };
    cycle(&mut world, runs);
    assert!(world.memory().log_bytes < 6000, "{}", world.memory().log_bytes);
    assert_eq!(despawned.read(&world).len(), 64.min(runs));
    assert_eq!(four.missed(&world), runs as u64 - 64);
    drop((despawned, four));
    cycle(&mut world, 2);
    world.memory_mut().compact(0);
    assert_eq!(world.memory().log_bytes, 0);
    // Without a call that ages: as long as it is read, and when there is no reader any more.
    let mut despawned = world.cursor::<Despawns>();
    for turn in 0..runs {
        let entity = world.spawn(());
        world.despawn(entity).unwrap();
        assert_eq!(despawned.read(&world), [entity], "turn {turn}");
    }
    drop(despawned);
    for _ in 0..runs {
        let entity = world.spawn(());
        world.despawn(entity).unwrap();
    }
    assert!(world.memory().log_bytes < 500, "{}", world.memory().log_bytes);
}

#[test]
#[should_panic(expected = "the cursor was made by another world")]
fn a_cursor_is_of_one_world() {
    let mut world = World::new();
    let mut despawned = world.cursor::<Despawns>();
    despawned.read(&World::new());
}

#[test]
#[should_panic(expected = "the cursor was made by another world")]
fn a_cursor_of_a_component_is_of_one_world() {
    let removed = World::new().cursor::<Removals<Four>>();
    let _ = removed.missed(&World::new());
}

#[test]
fn a_second_type_of_one_name_has_no_reader() {
    mod other {
        use phalanx::prelude::*;
        #[component(name = "Impostor")]
        pub struct Impostor(pub u32);
    }
    #[component(name = "Impostor")]
    struct Impostor(u64);
    let mut world = World::new();
    world.spawn(Impostor(1));
    let refused = catch_unwind(AssertUnwindSafe(|| world.cursor::<Removals<other::Impostor>>()));
    assert!(refused.is_err());
    let mut removed = world.cursor::<Removals<Impostor>>();
    world.clear();
    assert_eq!(removed.read(&world).1[0].0, 1);
}
