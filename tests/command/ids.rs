//! Ids lent in advance: when they are valid, and how unused ones return.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::error::{AllocAtError, OutOfIds, SpawnError};
use phalanx::prelude::*;

use crate::common::components::{Byte, Four, sound};
use crate::fixtures::{apply, errors, world_and_buffer};

#[test]
fn a_lent_id_is_not_alive_and_is_given_out_once() {
    let (mut world, mut buffer) = world_and_buffer(3);
    let lent: BTreeSet<_> = (0..3).map(|_| buffer.spawn(())).collect();
    assert!(world.is_empty());
    let mut others: BTreeSet<_> = world.spawn_batch([(); 50]).iter().copied().collect();
    others.extend(world.reserve_entities(50).unwrap());
    assert!(lent.is_disjoint(&others) && lent.iter().all(|&e| !world.contains(e)));
    let first = *lent.first().unwrap();
    assert_eq!(
        world.spawn_at(first, ()),
        Err(SpawnError::Id(AllocAtError::Lent { entity: first }))
    );
    sound(&world);
    apply(&mut world, &mut buffer);
    assert_eq!(world.len(), 103);
    assert!(lent.iter().all(|&e| world.contains(e)));
}

#[test]
fn a_buffer_without_ids_says_what_to_do() {
    let (mut world, mut buffer) = world_and_buffer(2);
    buffer.spawn(());
    buffer.spawn(());
    let error = buffer.try_spawn(Four(1)).unwrap_err();
    assert_eq!(error, OutOfIds::InBuffer { ids: 2 });
    assert_eq!(buffer.len(), 2, "nothing was recorded");
    let panic = catch_unwind(AssertUnwindSafe(|| buffer.spawn(()))).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("spawn_batch") && text.contains("2 ids"), "{text}");
    apply(&mut world, &mut buffer);
    assert!(buffer.try_spawn(()).is_ok(), "playback lends again");
}

#[test]
fn playback_lends_as_many_ids_as_were_used() {
    let (mut world, mut buffer) = world_and_buffer(10);
    let mut all = BTreeSet::new();
    for round in 0..10 {
        let ids: Vec<_> = (0..round).map(|i| buffer.spawn(Four(i))).collect();
        assert!(ids.iter().all(|&id| all.insert(id)), "no id twice");
        apply(&mut world, &mut buffer);
    }
    assert_eq!(world.len(), all.len());
}

#[test]
fn a_dropped_buffer_gives_back_ids_it_never_handed_out_and_ends_the_others() {
    let mut world = World::builder().entities_max(8).build();
    let mut buffer = world.command_buffer(8).unwrap();
    let seen = buffer.spawn(());
    assert!(world.try_spawn(()).is_err(), "all ids are lent");
    drop(buffer);
    sound(&world);
    let mut next = world.command_buffer(8).unwrap();
    let ids: Vec<_> = (0..8).map(|_| next.spawn(())).collect();
    apply(&mut world, &mut next);
    assert!(!ids.contains(&seen) && !world.contains(seen), "the id never means another entity");
    assert!(ids.iter().any(|id| id.index() == seen.index()), "but its index does");
}

#[test]
fn a_cleared_buffer_ends_the_ids_that_it_handed_out() {
    let (mut world, mut buffer) = world_and_buffer(4);
    let never = [buffer.spawn(()), buffer.spawn(())];
    buffer.clear();
    assert!(buffer.is_empty());
    let lives = buffer.spawn(());
    apply(&mut world, &mut buffer);
    assert!(world.contains(lives) && !never.iter().any(|&e| world.contains(e)));
    let later: Vec<_> = (0..4).map(|_| buffer.spawn(())).collect();
    apply(&mut world, &mut buffer);
    assert!(later.iter().all(|id| !never.contains(id)));

    // Their indices are used again, or two would not be enough.
    let mut world = World::builder().entities_max(2).build();
    let mut buffer = world.command_buffer(2).unwrap();
    for _ in 0..10 {
        buffer.spawn(());
        buffer.spawn(());
        buffer.clear();
        apply(&mut world, &mut buffer);
    }
}

#[test]
fn a_world_without_ids_lends_what_it_has() {
    let mut world = World::builder().entities_max(5).build();
    assert!(world.command_buffer(6).is_err());
    let mut buffer = world.command_buffer(4).unwrap();
    let ids: Vec<_> = (0..4).map(|_| buffer.spawn(())).collect();
    apply(&mut world, &mut buffer);
    assert!(buffer.try_spawn(()).is_ok(), "one was left");
    assert!(buffer.try_spawn(()).is_err());
    buffer.despawn(ids[0]);
    apply(&mut world, &mut buffer);
    assert!(buffer.try_spawn(()).is_ok(), "one is free again");
    sound(&world);
}

#[test]
fn a_batch_that_finds_no_ids_is_an_error_and_the_rest_is_applied() {
    let mut world = World::builder().entities_max(5).build();
    let entity = world.spawn(());
    let mut buffer = world.command_buffer(1).unwrap();
    buffer.spawn_batch([Four(1); 4]);
    buffer.spawn_batch([Four(2); 3]);
    buffer.insert(entity, Byte(1));
    let errors = errors(&mut world, &mut buffer);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].to_string().contains("entities_max"), "{}", errors[0]);
    assert_eq!(world.query::<&Four>().iter().flatten().filter(|four| four.0 == 2).count(), 3);
    assert!(world.has::<Byte>(entity));
    sound(&world);
}

#[test]
fn clearing_the_world_leaves_loans_alone() {
    let (mut world, mut buffer) = world_and_buffer(4);
    let old = world.spawn(());
    let early = buffer.spawn(Four(1));
    buffer.insert(old, Byte(1));
    world.clear();
    sound(&world);
    world.spawn_batch([(); 20]);
    let late = buffer.spawn(Four(2));
    assert_eq!(errors(&mut world, &mut buffer).len(), 1, "what the clear has ended");
    assert_eq!(world.get::<Four>(early), Ok(&Four(1)));
    assert_eq!(world.get::<Four>(late), Ok(&Four(2)));
    assert_eq!(world.len(), 22);
}

#[test]
fn reserved_ids_come_to_life_before_the_buffer_is_played_back() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let reserved = world.reserve_entity().unwrap();
    buffer.insert(reserved, Byte(1));
    buffer.spawn(());
    apply(&mut world, &mut buffer);
    assert_eq!(world.get::<Byte>(reserved), Ok(&Byte(1)));
}

#[test]
fn a_buffer_is_used_a_thousand_times() {
    let rounds = if cfg!(miri) { 20 } else { 1000 };
    let (mut world, mut buffer) = world_and_buffer(8);
    let mut alive: Vec<Entity> = Vec::new();
    for round in 0..rounds {
        alive.drain(..).for_each(|entity| buffer.despawn(entity));
        alive.extend((0..8).map(|_| buffer.spawn(Four(round))));
        alive.iter().for_each(|&entity| buffer.insert(entity, Byte(1)));
        apply(&mut world, &mut buffer);
    }
    assert_eq!(world.len(), 8);
    assert!(alive.iter().all(|e| e.index() < 32), "indices are used again");
}
