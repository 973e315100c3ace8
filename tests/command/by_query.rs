//! Commands on all entities that a query matches at their playback.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Tag, Twelve};
use crate::fixtures::{apply, world_and_buffer};

#[test]
fn the_query_is_asked_at_playback() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let early = world.spawn(Four(1));
    buffer.insert_where::<&Four, (), _>(Byte(1));
    let behind = buffer.spawn(Four(2));
    let late = world.spawn(Four(3));
    let applied = apply(&mut world, &mut buffer);
    assert_eq!(applied.matched, 2);
    assert!(world.has::<Byte>(early) && world.has::<Byte>(late));
    assert!(!world.has::<Byte>(behind), "it was recorded behind the query");
}

#[test]
fn the_query_sees_what_was_recorded_before_it() {
    let (mut world, mut buffer) = world_and_buffer(2);
    let new = buffer.spawn(Four(1));
    let gone = buffer.spawn(Four(2));
    buffer.despawn(gone);
    buffer.insert_where::<&Four, (), _>(Tag);
    buffer.remove::<Tag>(new);
    assert_eq!(apply(&mut world, &mut buffer).matched, 1);
    assert!(!world.has::<Tag>(new));
}

#[test]
fn filters_choose() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let plain = world.spawn(Four(1));
    let tagged = world.spawn((Four(1), Tag));
    let both = world.spawn((Four(1), Tag, Byte(1)));
    buffer.insert_where::<&Four, (With<Tag>, Without<Byte>), _>(Twelve([9; 3]));
    apply(&mut world, &mut buffer);
    assert!(!world.has::<Twelve>(plain) && !world.has::<Twelve>(both));
    assert_eq!(world.get::<Twelve>(tagged), Ok(&Twelve([9; 3])));
    buffer.remove_where::<Entity, AnyOf<(Tag, Byte)>, (Twelve, Tag)>();
    assert_eq!(apply(&mut world, &mut buffer).matched, 2, "what they lack is no obstacle");
    assert!(!world.has::<Tag>(tagged) && !world.has::<Twelve>(tagged) && !world.has::<Tag>(both));
    buffer.despawn_where::<(&Four, &Byte), ()>();
    apply(&mut world, &mut buffer);
    assert!(!world.contains(both) && world.len() == 2);
}

#[test]
fn a_type_that_the_world_has_never_seen_matches_nothing() {
    let (mut world, mut buffer) = world_and_buffer(0);
    world.spawn(Four(1));
    buffer.despawn_where::<&Twelve, ()>();
    buffer.remove_where::<&Four, (), Twelve>();
    apply(&mut world, &mut buffer);
    assert_eq!(world.len(), 1);
}

#[test]
fn rows_that_a_kernel_does_not_keep_end_at_playback() {
    let (mut world, mut buffer) = world_and_buffer(1);
    world.spawn_batch((0..1_000).map(Four));
    let kept_to_the_end = buffer.spawn(Four(2_000));
    let from = 500;
    buffer.retain_where::<&Four, Without<Tag>>(move |fours, keep| {
        fours.iter().zip(keep).for_each(|(four, keep)| *keep = four.0 >= from);
    });
    buffer.insert(kept_to_the_end, Tag);
    assert_eq!(world.len(), 1_000, "the kernel has not run yet");
    assert_eq!(apply(&mut world, &mut buffer).matched, 500);
    assert_eq!(world.len(), 501);
    assert!(world.has::<Tag>(kept_to_the_end));
}

#[test]
fn a_kernel_that_panics_ends_nothing_and_the_other_commands_are_played() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let entity = world.spawn(Four(1));
    buffer.insert(entity, Tag);
    buffer.retain_where::<&Four, ()>(|_, keep| {
        keep.fill(false);
        panic!("a kernel panics");
    });
    buffer.insert(entity, Byte(1));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.apply(&mut buffer)));
    assert!(panic.is_err());
    assert!(world.has::<Tag>(entity) && world.has::<Byte>(entity));
    assert!(buffer.is_empty());
}

/// The numbers of all rows with one, in their order.
fn fours(world: &World) -> Vec<u32> {
    world.query::<&Four>().rows().map(|four| four.0).collect()
}

#[test]
fn rows_are_sorted_as_they_are_at_playback() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let all = world.spawn_batch((0..2_000).map(|i| Four(i * 997 % 2_000))).to_vec();
    let other = world.spawn((Four(7), Tag));
    buffer.despawn(all[0]); // the row with 0
    let new = buffer.spawn(Four(5_000));
    buffer.insert(all[1], Four(2_997));
    buffer.sort_where::<&Four, Without<Tag>, _>(|four| std::cmp::Reverse(four.0));
    buffer.insert(all[2], Four(3_000)); // after the sort: it stays where it is
    let applied = apply(&mut world, &mut buffer);
    let mut want: Vec<_> = (1..2_000).filter(|&four| four != 997).chain([2_997, 5_000]).collect();
    want.sort_unstable_by(|a, b| b.cmp(a));
    assert!(applied.matched > 1_900, "{} rows have new places", applied.matched);
    want.iter_mut().filter(|four| **four == 1_994).for_each(|four| *four = 3_000);
    assert_eq!(fours(&world)[..want.len()], want);
    assert_eq!(
        (world.get::<Four>(new), world.get::<Four>(other)),
        (Ok(&Four(5_000)), Ok(&Four(7)))
    );
    buffer.sort_where::<&Four, With<Tag>, _>(|four| four.0);
    assert_eq!(apply(&mut world, &mut buffer).matched, 0, "one row is in order");
}

#[test]
fn a_key_that_panics_moves_no_row_and_the_other_commands_are_played() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let all = world.spawn_batch((0..500).rev().map(Four)).to_vec();
    let before = fours(&world);
    buffer.insert(all[0], Tag);
    buffer.sort_where::<&Four, (), _>(|four| {
        assert_ne!(four.0, 123, "a key panics");
        four.0
    });
    buffer.remove::<Tag>(all[0]);
    buffer.insert(all[1], Byte(1));
    buffer.remove::<Byte>(all[1]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.apply(&mut buffer)));
    assert!(panic.is_err() && buffer.is_empty());
    assert!(!world.has::<Tag>(all[0]) && !world.has::<Byte>(all[1]), "the others were played");
    let mut after = fours(&world);
    assert!(!after.is_sorted(), "no row has moved by the sort");
    after.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(after, before);
}

#[test]
fn despawns_alone_have_the_effect_of_despawns_among_others() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let entities = world.spawn_batch((0..2_000).map(Four)).to_vec();
    let mut other = World::new();
    let others = other.spawn_batch((0..2_000).map(Four)).to_vec();
    // In no order, some twice, and one that is dead.
    world.despawn(entities[7]).expect("alive");
    other.despawn(others[7]).expect("alive");
    for i in (0..3_000).map(|i| i * 997 % 1_500) {
        buffer.despawn(entities[i]);
        let _ = other.despawn(others[i]);
    }
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.despawned, applied.commands), (1_499, 3_000));
    let rows = |world: &World| world.query::<&Four>().rows().copied().collect::<Vec<_>>();
    assert_eq!(rows(&world), rows(&other));
}
