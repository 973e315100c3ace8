//! Stale ids, invented ids, ids requested by number, and ids of another world.

use phalanx::error::{AllocAtError, EntityError, NoSuchEntity, SpawnError};
use phalanx::prelude::*;

use crate::common::components::{Four, Link, Tag, Twelve, sound};
use crate::common::world;

/// Every call that takes an id refuses this one and leaves the world unchanged.
#[track_caller]
fn refused(world: &mut World, entity: Entity) {
    let dead = NoSuchEntity { entity };
    let len = world.len();
    assert!(!world.contains(entity) && !world.has::<Four>(entity));
    assert_eq!(world.get::<Four>(entity), Err(EntityError::NoSuchEntity(dead)));
    assert!(world.get_mut::<Four>(entity).is_err());
    assert!(world.get_disjoint_mut::<Four, 1>([entity]).is_err());
    assert_eq!(world.lookup::<Four>().get(entity).ok(), None);
    assert_eq!(world.despawn(entity), Err(dead.into()));
    assert!(world.insert(entity, Four(0)).is_err());
    assert!(world.insert(entity, ()).is_err());
    assert!(world.remove::<Four>(entity).is_err());
    assert!(world.remove::<()>(entity).is_err());
    assert!(world.exchange::<Four, _>(entity, Tag).is_err());
    assert_eq!(world.len(), len);
    sound(world);
}

#[test]
fn a_stale_handle_never_resolves_not_even_when_its_slot_lives_again() {
    let mut world = world();
    let a = world.spawn(Four(1));
    world.despawn(a).expect("alive");
    refused(&mut world, a);
    let b = world.spawn(Four(2));
    assert_eq!(a.index(), b.index(), "the slot is used again");
    refused(&mut world, a);
    assert_eq!(world.get::<Four>(b), Ok(&Four(2)));
}

#[test]
fn garbage_ids_are_refused() {
    let mut world = world();
    world.spawn_batch((0..40).map(Four));
    for bits in
        [0, 1 << 32, 39 << 32, 39 << 32 | 2, 40 << 32 | 1, 1 << 63 | 1, u64::MAX, u64::MAX - 1]
    {
        refused(&mut world, Entity::from_bits(bits));
    }
    refused(&mut world, Entity::NULL);
    refused(&mut World::new(), Entity::from_bits(1));
}

#[test]
fn a_second_despawn_frees_nothing() {
    let mut world = world();
    let a = world.spawn(Four(1));
    world.despawn(a).expect("alive");
    assert_eq!(world.despawn(a), Err(NoSuchEntity { entity: a }.into()));
    let (b, c) = (world.spawn(Four(2)), world.spawn(Four(3)));
    assert_ne!(b, c);
    assert_ne!(b.index(), c.index());
    sound(&world);
}

#[test]
fn slots_are_recycled_so_that_indices_stay_below_the_peak() {
    let mut world = world();
    let cycles = if cfg!(miri) { 100 } else { 100_000 };
    let mut alive = std::collections::VecDeque::new();
    for i in 0..cycles {
        let entity = world.spawn(Four(i));
        assert!(entity.index() <= 100, "{entity}");
        alive.push_back(entity);
        if alive.len() > 99 {
            world.despawn(alive.pop_front().expect("a hundred")).expect("alive");
        }
    }
    sound(&world);
}

#[test]
fn an_id_asked_for_by_number_lives_and_its_namesakes_do_not() {
    let mut world = world();
    let far = Entity::from_bits(60 << 32 | 7);
    world.spawn_at(far, Four(7)).expect("free");
    assert_eq!(world.get::<Four>(far), Ok(&Four(7)));
    for generation in [0, 1, 6, 8, u64::from(u32::MAX)] {
        refused(&mut world, Entity::from_bits(60 << 32 | generation));
    }
    let error = world.spawn_at(Entity::from_bits(60 << 32 | 1), Tag).expect_err("taken");
    assert!(
        matches!(error, SpawnError::Id(AllocAtError::Occupied { occupant, .. }) if occupant == far)
    );
    assert!(world.spawn_at(Entity::NULL, Tag).is_err());
    assert!(world.spawn_at(Entity::from_bits(u64::MAX), Tag).is_err());
    assert!(world.spawn_at(Entity::from_bits(2_000_000 << 32 | 1), Tag).is_err(), "too far");
    assert_eq!(world.len(), 1);
    let others = world.spawn_batch((0..100).map(Four)).to_vec();
    assert!(!others.contains(&far));
    sound(&world);
}

#[test]
fn a_slot_whose_generations_are_used_up_is_retired() {
    let mut world = world();
    let last = Entity::from_bits(3 << 32 | u64::from(u32::MAX));
    world.spawn_at(last, Four(1)).expect("free");
    world.despawn(last).expect("alive");
    refused(&mut world, last);
    let made = world.spawn_batch((0..20).map(Four)).to_vec();
    assert!(made.iter().all(|e| e.index() != 3), "{made:?}");
    let error = world.spawn_at(last, ()).expect_err("retired");
    assert!(matches!(error, SpawnError::Id(AllocAtError::Retired { .. })), "{error}");
    world.clear();
    assert_eq!(world.spawn_batch([(); 30]).iter().filter(|e| e.index() == 3).count(), 0);
    sound(&world);
}

#[test]
fn reserved_ids_live_at_the_next_change_and_meet_no_other() {
    let mut world = world();
    let old = world.spawn_batch((0..10).map(Four)).to_vec();
    old[..5].iter().for_each(|&e| world.despawn(e).expect("alive"));
    let mut reserved: Vec<_> = world.reserve_entities(8).expect("room").collect();
    reserved.push(world.reserve_entity().expect("room"));
    assert_eq!(world.len(), 5, "not yet");
    assert!(reserved.iter().all(|&e| world.contains(e)));
    assert!(matches!(world.get::<Four>(reserved[0]), Err(EntityError::Missing { .. })));
    let spawned = world.spawn(Four(1));
    assert!(!reserved.contains(&spawned));
    assert_eq!(world.len(), 15);
    for (i, &entity) in (0..).zip(&reserved) {
        world.insert(entity, Four(i + 50)).expect("alive");
    }
    let late = world.reserve_entity().expect("room");
    assert_eq!(world.despawn(late), Ok(()), "a reserved id can die");
    let late = world.reserve_entity().expect("room");
    assert!(world.spawn_at(late, ()).is_err(), "and is given to no other entity");
    sound(&world);
    let sum: u32 = reserved.iter().map(|&e| world.get::<Four>(e).expect("alive").0).sum();
    assert_eq!(sum, (50..59).sum());
}

#[test]
fn reserving_more_ids_than_there_are_reserves_none() {
    let mut world = World::builder().entities_max(10).build();
    world.spawn_batch([(); 4]);
    assert!(world.reserve_entities(7).is_err());
    assert_eq!(world.reserve_entities(6).expect("six are left").count(), 6);
    assert!(world.reserve_entity().is_err());
    assert!(world.try_spawn(()).is_err());
    assert_eq!(world.len(), 10);
    sound(&world);
    let mut none = World::builder().entities_max(0).build();
    assert!(none.try_spawn(Tag).is_err() && none.reserve_entity().is_err());
    sound(&none);
}

#[test]
fn two_worlds_are_independent() {
    let (mut a, mut b) = (world(), World::builder().chunk_size(ChunkSize::KIB_4).build());
    let in_a = a.spawn_batch((0..100).map(|i| (Four(i), Tag))).to_vec();
    // The other world numbers the same types in another order.
    let in_b = b.spawn_batch((0..50).map(|i| (Twelve([i; 3]), Four(i + 500)))).to_vec();
    a.query_mut::<&mut Four>().iter_mut().flatten().for_each(|four| four.0 += 1);
    let before = b.version();
    a.clear();
    assert_eq!(b.version(), before);
    assert_eq!(b.len(), 50);
    assert!(in_a.iter().skip(50).all(|&e| !b.contains(e)));
    assert_eq!(b.query::<&Tag>().iter().count(), 0);
    assert!(in_b.iter().zip(500..).all(|(&e, i)| b.get::<Four>(e) == Ok(&Four(i))));
    drop(a);
    sound(&b);
}

#[test]
fn ids_as_component_values_keep_their_bits() {
    let mut world = world();
    let target = world.spawn(());
    let holder = world.spawn((Link(target), Four(9)));
    world.despawn(target).expect("alive");
    let Link(kept) = *world.get::<Link>(holder).expect("there");
    assert_eq!(kept, target);
    assert!(!world.contains(kept), "and says that it is dead");
    let null = world.spawn(Link(Entity::NULL));
    assert_eq!(world.get::<Link>(null).expect("there").0.some(), None);
}
