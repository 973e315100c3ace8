//! Commands on entities that are not alive at their playback.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::command::{ApplyError, CommandErrorKind, CommandVerb};
use phalanx::error::NoSuchEntity;
use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Tag, sound};
use crate::fixtures::{apply, errors, world_and_buffer};

#[test]
fn an_insert_on_an_entity_despawned_earlier_in_the_same_buffer_is_reported_where_it_was_recorded() {
    for spare in [false, true] {
        let (mut world, mut buffer) = world_and_buffer(0);
        let (entity, other) = (world.spawn(()), world.spawn(()));
        if spare {
            // Not in the order of ids, so that grouping takes its other way.
            buffer.insert(other, Tag);
        }
        buffer.insert(entity, Byte(1));
        buffer.despawn(entity);
        buffer.insert(entity, (Four(1), Tag));
        let line = line!() - 1;
        buffer.insert(other, Byte(2));
        let errors = errors(&mut world, &mut buffer);
        sound(&world);
        let [error] = &errors[..] else { panic!("one error: {errors:?}") };
        assert_eq!((error.verb, error.entity), (CommandVerb::Insert, entity));
        assert_eq!(error.components, [Four::NAME, Tag::NAME]);
        assert_eq!((error.place.file(), error.place.line()), (file!(), line));
        assert_eq!(error.fault, CommandErrorKind::NoSuchEntity(NoSuchEntity { entity }));
        let text = error.to_string();
        assert!(text.contains(&format!("{}:{line}", file!())), "{text}");
        assert!(text.contains(Tag::NAME) && text.contains(&entity.to_string()), "{text}");
        assert_eq!(world.get::<Byte>(other), Ok(&Byte(2)), "the rest is applied");
        assert!(!world.contains(entity) && buffer.is_empty());
    }
}

#[test]
fn an_insert_on_a_gone_entity_is_reported_although_a_remove_takes_it_back() {
    #[component(cleanup)]
    #[derive(Debug, PartialEq)]
    struct Lease(u32);
    let (mut world, mut buffer) = world_and_buffer(0);
    let entity = world.spawn((Lease(1), Four(1)));
    buffer.despawn(entity);
    buffer.insert(entity, Four(2));
    buffer.remove::<()>(entity);
    buffer.remove::<Four>(entity);
    let errors = errors(&mut world, &mut buffer);
    let fault = CommandErrorKind::NoSuchEntity(NoSuchEntity { entity });
    let faults: Vec<_> = errors.iter().map(|error| &error.fault).collect();
    assert_eq!(faults, [&fault; 2], "{errors:?}");
    assert_eq!(world.get::<Lease>(entity), Ok(&Lease(1)), "it is gone, and not ended");
    sound(&world);
}

#[test]
fn two_despawns_are_one() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let old = world.spawn(());
    let new = buffer.spawn(());
    for entity in [old, new, old, new] {
        buffer.despawn(entity);
    }
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.spawned, applied.despawned), (0, 1));
    assert!(world.is_empty() && !world.contains(new));
    buffer.despawn(old);
    apply(&mut world, &mut buffer);
}

#[test]
fn a_slot_used_again_while_its_old_id_is_in_a_buffer_is_left_alone() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let old = world.spawn(Four(1));
    buffer.insert(old, Four(2));
    buffer.remove::<Four>(old);
    buffer.despawn(old);
    world.despawn(old).unwrap();
    let new = world.spawn(Four(3));
    assert_eq!(new.index(), old.index());
    let errors = errors(&mut world, &mut buffer);
    assert_eq!(
        errors.iter().map(|e| e.verb).collect::<Vec<_>>(),
        [CommandVerb::Insert, CommandVerb::Remove]
    );
    assert_eq!(world.get::<Four>(new), Ok(&Four(3)));
    sound(&world);
}

#[test]
fn a_slot_used_again_by_the_same_buffer_is_another_entity() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let old = world.spawn(Four(1));
    buffer.despawn(old);
    buffer.spawn_batch([Four(2)]);
    buffer.insert(old, Byte(9));
    let errors = errors(&mut world, &mut buffer);
    assert_eq!(errors.len(), 1);
    let rows: Vec<_> = world.query::<(Entity, &Four)>().rows().collect();
    assert_eq!((rows.len(), rows[0].0.index(), *rows[0].1), (1, old.index(), Four(2)));
    assert!(!world.has::<Byte>(rows[0].0));
}

#[test]
fn each_policy_does_what_it_says() {
    let record = |world: &mut World, buffer: &mut CommandBuffer| {
        let dead = world.spawn(());
        world.despawn(dead).unwrap();
        let alive = world.spawn(());
        buffer.insert(dead, Byte(1));
        buffer.exchange::<Tag, _>(dead, Four(1));
        buffer.despawn(dead);
        buffer.insert(alive, Byte(2));
        alive
    };

    let (mut world, mut buffer) = world_and_buffer(0);
    let alive = record(&mut world, &mut buffer);
    let verbs: Vec<_> = errors(&mut world, &mut buffer).iter().map(|e| e.verb).collect();
    assert_eq!(verbs, [CommandVerb::Insert, CommandVerb::Exchange]);
    assert_eq!(world.get::<Byte>(alive), Ok(&Byte(2)));

    let (mut world, mut buffer) = world_and_buffer(0);
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    let alive = record(&mut world, &mut buffer);
    apply(&mut world, &mut buffer);
    assert_eq!(world.get::<Byte>(alive), Ok(&Byte(2)));

    let (mut world, mut buffer) = world_and_buffer(0);
    buffer.on_dead_entity(DeadEntityPolicy::Panic);
    let alive = record(&mut world, &mut buffer);
    let panic = catch_unwind(AssertUnwindSafe(|| world.apply(&mut buffer))).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("Byte") && text.contains("dead.rs"), "{text}");
    assert_eq!(world.get::<Byte>(alive), Ok(&Byte(2)), "the rest was applied");
    sound(&world);
    buffer.insert(alive, Byte(3));
    apply(&mut world, &mut buffer);
}

#[test]
fn errors_come_in_the_order_of_recording() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let dead = world.spawn_batch([(); 3]).to_vec();
    dead.iter().for_each(|&entity| world.despawn(entity).unwrap());
    for &i in &[2, 0, 1, 0, 2, 1] {
        buffer.insert(dead[i], Byte(0));
    }
    buffer.run(|_| {});
    buffer.insert(dead[0], Byte(0));
    let order: Vec<_> = errors(&mut world, &mut buffer).iter().map(|e| e.entity).collect();
    assert_eq!(order, [2, 0, 1, 0, 2, 1, 0].map(|i: usize| dead[i]));
}

#[test]
fn the_null_id_and_made_up_ids_are_reported() {
    let (mut world, mut buffer) = world_and_buffer(0);
    world.spawn(());
    for bits in [0, 1, 2, 1 << 32 | 1, u64::MAX, u64::MAX << 32] {
        if !world.contains(Entity::from_bits(bits)) {
            buffer.insert(Entity::from_bits(bits), Tag);
            buffer.despawn(Entity::from_bits(bits));
        }
    }
    assert_eq!(errors(&mut world, &mut buffer).len(), 5);
    sound(&world);
}

#[test]
fn a_buffer_of_another_world_is_rejected_whole() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let mut other = World::new();
    let stranger = other.spawn_batch([Four(7); 2])[1];
    let entity = buffer.spawn(Four(1));
    buffer.insert(stranger, Four(2));
    assert_eq!(other.apply(&mut buffer), Err(ApplyError::OtherWorld));
    assert_eq!(buffer.len(), 2, "it is as it was");
    assert_eq!(other.get::<Four>(stranger), Ok(&Four(7)));
    sound(&other);
    // In its own world the spawn works; the id of another world is dead there.
    assert_eq!(errors(&mut world, &mut buffer)[0].entity, stranger);
    assert_eq!(world.get::<Four>(entity), Ok(&Four(1)));
}

#[test]
fn a_lent_id_used_in_the_buffer_of_another_world_is_rejected() {
    let (_world, mut buffer) = world_and_buffer(1);
    let (mut other, mut others) = world_and_buffer(1);
    let foreign = buffer.spawn(());
    // It has the bits of an id that the other world has lent, too, but is not alive there.
    others.insert(foreign, Four(1));
    let errors = errors(&mut other, &mut others);
    assert_eq!(errors[0].entity, foreign);
    assert!(other.is_empty());
    sound(&other);
}

#[test]
fn an_id_lent_to_one_buffer_is_good_in_another_once_it_lives() {
    let (mut world, mut first) = world_and_buffer(1);
    let mut second = world.command_buffer(1).unwrap();
    let entity = first.spawn(());
    second.insert(entity, Byte(1));
    assert_eq!(errors(&mut world, &mut second).len(), 1, "too early");
    second.insert(entity, Byte(1));
    apply(&mut world, &mut first);
    apply(&mut world, &mut second);
    assert_eq!(world.get::<Byte>(entity), Ok(&Byte(1)));
}

#[test]
fn errors_say_what_was_done_all_the_same() {
    let (mut world, mut buffer) = world_and_buffer(2);
    let (alive, dead) = (world.spawn(()), world.spawn(()));
    world.despawn(dead).unwrap();
    buffer.spawn(Tag);
    buffer.insert(alive, Tag);
    buffer.insert(dead, Tag);
    buffer.remove::<Tag>(dead);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("one is dead") };
    let applied = errors.applied();
    assert_eq!((applied.commands, applied.spawned, applied.moved), (4, 1, 1));
    let text = errors.to_string();
    assert!(text.ends_with("(and 1 more; `CommandErrors::as_slice` lists them)"), "{text}");
    assert!(text.contains("`World::apply` spawns the entities"), "{text}");
}

#[test]
fn what_fails_for_no_one_entity_names_none() {
    let mut world = World::builder().entities_max(3).build();
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.spawn_batch([Tag; 9]);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("too many") };
    let text = errors.to_string();
    assert!(text.contains("had no effect: not enough") && !text.contains("0v0"), "{text}");
}

#[test]
fn a_buffer_is_brief_about_itself() {
    let (_world, mut buffer) = world_and_buffer(3);
    buffer.spawn(Tag);
    let text = format!("{buffer:?}");
    assert_eq!(text, "CommandBuffer { commands: 1, ids: 2, on_dead_entity: Report, .. }");
}
