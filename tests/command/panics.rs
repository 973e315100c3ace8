//! Panics in the caller's code and rows that do not fit a chunk: the rest is applied, the world is
//! sound, and the buffer is empty and usable.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use phalanx::command::{ApplyError, CommandErrorKind, CommandVerb};
use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Page, Tag, sound};
use crate::fixtures::{apply, errors, world_and_buffer};

#[test]
fn a_closure_that_panics_loses_nothing_else() {
    let (mut world, mut buffer) = world_and_buffer(4);
    let before = buffer.spawn(Four(1));
    buffer.run(|world| {
        world.spawn(Byte(1));
        panic!("the first");
    });
    let behind = buffer.spawn(Four(2));
    buffer.insert(before, Byte(2));
    buffer.spawn_batch([Tag; 3]);
    buffer.run(|_| panic!("the second"));
    buffer.run(|world| assert!(world.spawn(Byte(3)).index() > 0, "it runs"));
    let panic = catch_unwind(AssertUnwindSafe(|| world.apply(&mut buffer))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the first"));
    sound(&world);
    assert!(buffer.is_empty());
    assert_eq!(world.get::<Byte>(before), Ok(&Byte(2)));
    assert_eq!(world.get::<Four>(behind), Ok(&Four(2)));
    assert_eq!(world.query::<&Tag>().rows().count(), 3);
    assert_eq!(world.query::<&Byte>().iter().flatten().map(|byte| byte.0).sum::<u8>(), 6);
    let again = buffer.spawn(Four(3));
    apply(&mut world, &mut buffer);
    assert_eq!(world.get::<Four>(again), Ok(&Four(3)));
}

#[test]
fn a_closure_sees_what_was_recorded_before_it_and_nothing_else() {
    let (mut world, mut buffer) = world_and_buffer(2);
    let first = buffer.spawn(Four(1));
    buffer.run(move |world| {
        assert_eq!(world.get::<Four>(first), Ok(&Four(1)));
        assert_eq!(world.len(), 1);
        world.get_mut::<Four>(first).expect("alive").0 += 10;
    });
    let second = buffer.spawn(Four(2));
    buffer.run(move |world| {
        assert_eq!(world.get::<Four>(second), Ok(&Four(2)));
        world.despawn(first).expect("alive");
        world.spawn_batch([(); 7]);
    });
    buffer.insert(first, Byte(1));
    assert_eq!(errors(&mut world, &mut buffer).len(), 1);
    assert_eq!(world.len(), 8);
    sound(&world);
}

#[test]
fn a_closure_may_use_another_buffer_of_the_world() {
    let (mut world, mut buffer) = world_and_buffer(1);
    buffer.run(|world| {
        let mut inner = world.command_buffer(1).expect("ids");
        let entity = inner.spawn(Four(5));
        world.apply(&mut inner).expect("sound");
        assert!(world.contains(entity));
    });
    buffer.spawn(Four(6));
    apply(&mut world, &mut buffer);
    assert_eq!(world.query::<&Four>().iter().flatten().map(|four| four.0).sum::<u32>(), 11);
}

#[test]
fn a_closure_that_replaces_the_world_ends_the_playback() {
    let (mut world, mut buffer) = world_and_buffer(2);
    let entity = buffer.spawn(Four(1));
    buffer.run(|world| {
        let old = std::mem::take(world);
        assert_eq!(old.len(), 1);
    });
    buffer.insert(entity, Byte(1));
    buffer.spawn_batch([Tag; 3]);
    assert_eq!(world.apply(&mut buffer), Err(ApplyError::OtherWorld));
    assert!(world.is_empty() && buffer.is_empty());
    sound(&world);
}

#[test]
fn a_batch_whose_iterator_panics_records_nothing() {
    let (mut world, mut buffer) = world_and_buffer(1);
    buffer.spawn(Four(1));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        buffer.spawn_batch((0..).map(|i| {
            assert!(i < 10, "stop");
            Four(i)
        }));
    }));
    assert!(panic.is_err());
    buffer.spawn_batch([Byte(7); 2]);
    apply(&mut world, &mut buffer);
    assert_eq!(world.len(), 3);
    assert_eq!(world.query::<&Byte>().iter().flatten().map(|byte| byte.0).sum::<u8>(), 14);
}

#[test]
fn an_insert_that_makes_a_row_too_large_is_an_error_and_the_entity_is_as_it_was() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut buffer = world.command_buffer(2).unwrap();
    let entity = world.spawn(Four(1));
    buffer.insert(entity, Byte(1));
    buffer.insert(entity, Page([1; 4096]));
    buffer.insert(entity, Tag);
    let new = buffer.spawn(Four(2));
    buffer.insert(new, Page([1; 4096]));
    buffer.insert(new, Tag);
    let never = buffer.spawn((Four(3), Page([1; 4096])));
    buffer.insert(never, Tag);
    let errors = errors(&mut world, &mut buffer);
    sound(&world);
    let verbs: Vec<_> = errors.iter().map(|error| (error.verb, error.entity)).collect();
    assert_eq!(
        verbs,
        [
            (CommandVerb::Insert, entity),
            (CommandVerb::Insert, new),
            (CommandVerb::Spawn, never),
            (CommandVerb::Insert, never),
        ]
    );
    assert!(matches!(errors[0].fault, CommandErrorKind::Layout(_)));
    assert!(matches!(errors[2].fault, CommandErrorKind::Layout(_)));
    assert!(matches!(errors[3].fault, CommandErrorKind::NoSuchEntity(_)));
    for (alive, four) in [(entity, 1), (new, 2)] {
        assert_eq!(world.get::<Four>(alive), Ok(&Four(four)));
        assert!(world.has::<Tag>(alive) && !world.has::<Page>(alive));
    }
    assert!(!world.contains(never));
    let next = [buffer.spawn(()), buffer.spawn(())];
    assert!(!next.contains(&never), "an id that was seen is not used again");
    apply(&mut world, &mut buffer);
}

#[test]
fn a_row_that_is_too_large_only_on_the_way_is_no_error() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut buffer = world.command_buffer(0).unwrap();
    let entity = world.spawn(Big([1; 250]));
    buffer.insert(entity, Page([2; 4096]));
    buffer.remove::<Big>(entity);
    apply(&mut world, &mut buffer);
    assert!(world.has::<Page>(entity) && !world.has::<Big>(entity));
}

#[test]
fn a_batch_and_a_query_that_make_rows_too_large_are_errors() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut buffer = world.command_buffer(0).unwrap();
    let (small, large) = (world.spawn(Tag), world.spawn((Tag, Big([1; 250]))));
    buffer.spawn_batch([(Page([0; 4096]), Four(1)); 2]);
    buffer.insert_where::<&Tag, (), _>(Page([3; 4096]));
    let errors = errors(&mut world, &mut buffer);
    let verbs: Vec<_> = errors.iter().map(|error| (error.verb, error.entity)).collect();
    assert_eq!(verbs, [(CommandVerb::Spawn, Entity::NULL), (CommandVerb::Insert, Entity::NULL)]);
    assert!(!world.has::<Page>(small) && !world.has::<Page>(large), "all of a query or nothing");
    sound(&world);
}

/// A payload of a panic, with a destructor that panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload's destructor");
    }
}

#[test]
#[cfg_attr(miri, ignore = "a payload that panics is leaked")]
fn a_second_payload_whose_destructor_panics_loses_nothing() {
    let (mut world, mut buffer) = world_and_buffer(2);
    let dead = world.spawn(());
    buffer.run(|_| panic!("the first"));
    buffer.run(|_| panic_any(Bomb));
    let entity = buffer.spawn(Four(1));
    buffer.despawn(dead);
    let panic = catch_unwind(AssertUnwindSafe(|| world.apply(&mut buffer))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the first"));
    assert!(world.contains(entity) && !world.contains(dead) && buffer.is_empty());
    sound(&world);
}
