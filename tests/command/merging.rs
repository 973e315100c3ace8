//! The combined effect of commands on one entity, at the cost of one move.

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Link, Tag, Twelve};
use crate::fixtures::{apply, world_and_buffer};

#[test]
fn add_then_remove_cancels() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let entity = world.spawn(Four(1));
    let before = world.version();
    buffer.insert(entity, (Byte(1), Tag));
    buffer.remove::<(Tag, Byte)>(entity);
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.commands, applied.moved), (2, 0));
    assert!(!world.has::<Byte>(entity) && !world.has::<Tag>(entity));
    assert_eq!(world.get::<Four>(entity), Ok(&Four(1)));
    assert_eq!(
        world.query::<&Four>().filter_since::<Arrived>(before).iter().count(),
        0,
        "nothing has moved"
    );
}

#[test]
fn remove_then_add_leaves_the_new_value() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let (with, without) = (world.spawn(Four(1)), world.spawn(Tag));
    for entity in [with, without] {
        buffer.remove::<Four>(entity);
        buffer.insert(entity, Four(2));
    }
    let applied = apply(&mut world, &mut buffer);
    assert_eq!(applied.moved, 1, "who had one is overwritten in place");
    assert_eq!(world.get::<Four>(with), Ok(&Four(2)));
    assert_eq!(world.get::<Four>(without), Ok(&Four(2)));
}

#[test]
fn both_orders_of_add_and_remove_say_what_they_mean() {
    // Only the last command on a component decides whether it is there in the end.
    for starts_with in [false, true] {
        let (mut world, mut buffer) = world_and_buffer(0);
        let entity = if starts_with { world.spawn((Tag, Four(0))) } else { world.spawn(Four(0)) };
        buffer.insert(entity, Tag);
        buffer.remove::<Tag>(entity);
        apply(&mut world, &mut buffer);
        assert!(!world.has::<Tag>(entity));
        buffer.remove::<Tag>(entity);
        buffer.insert(entity, Tag);
        apply(&mut world, &mut buffer);
        assert!(world.has::<Tag>(entity));
    }
}

#[test]
fn the_last_value_wins() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let entity = world.spawn(());
    for n in 0..100 {
        buffer.insert(entity, (Four(n), Byte(1)));
        buffer.insert(entity, (Twelve([n; 3]), Four(n + 1)));
    }
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.commands, applied.moved), (200, 1));
    assert_eq!(world.get::<Four>(entity), Ok(&Four(100)));
    assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([99; 3])));
    assert_eq!(world.get::<Byte>(entity), Ok(&Byte(1)));
}

#[test]
fn three_inserts_are_one_move_and_no_archetype_on_the_way() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let entity = world.spawn(Four(1));
    let archetypes = world.reflect().archetypes().count();
    buffer.insert(entity, Byte(2));
    buffer.insert(entity, Twelve([3; 3]));
    buffer.insert(entity, Tag);
    assert_eq!(apply(&mut world, &mut buffer).moved, 1);
    assert_eq!(world.reflect().archetypes().count(), archetypes + 1);

    let spawned = buffer.spawn(Four(1));
    buffer.insert(spawned, Byte(2));
    buffer.insert(spawned, (Twelve([3; 3]), Four(5)));
    buffer.insert(spawned, Tag);
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.spawned, applied.moved), (1, 0), "written once, where it lives");
    assert_eq!(world.reflect().archetypes().count(), archetypes + 1);
    assert_eq!(world.get::<Four>(spawned), Ok(&Four(5)));
    assert_eq!(world.get::<Twelve>(spawned), Ok(&Twelve([3; 3])));
}

#[test]
fn an_exchange_takes_what_is_there_and_gives_the_rest() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let (a, b) = (world.spawn((Four(1), Byte(1))), world.spawn(Twelve([1; 3])));
    for entity in [a, b] {
        buffer.exchange::<(Four, Tag), _>(entity, (Tag, Big([7; 250])));
    }
    assert_eq!(apply(&mut world, &mut buffer).moved, 2);
    for entity in [a, b] {
        assert!(!world.has::<Four>(entity));
        assert!(world.has::<Tag>(entity), "what goes and comes is there");
        assert_eq!(world.get::<Big>(entity), Ok(&Big([7; 250])));
    }
    assert_eq!(world.get::<Byte>(a), Ok(&Byte(1)));
    assert_eq!(world.get::<Twelve>(b), Ok(&Twelve([1; 3])));
}

#[test]
fn components_of_size_zero_come_and_go() {
    let (mut world, mut buffer) = world_and_buffer(2);
    let (bare, tagged) = (buffer.spawn(()), buffer.spawn(Tag));
    buffer.insert(bare, Tag);
    buffer.remove::<Tag>(tagged);
    buffer.spawn_batch([Tag; 1000]);
    apply(&mut world, &mut buffer);
    assert!(world.has::<Tag>(bare) && !world.has::<Tag>(tagged));
    assert_eq!(world.query::<&Tag>().rows().count(), 1001);
}

#[test]
fn entities_are_merged_wherever_their_commands_stand() {
    // 64 entities, three rounds of commands, in another order each time.
    let (mut world, mut buffer) = world_and_buffer(64);
    let entities: Vec<_> = (0..64).map(|i| buffer.spawn(Four(i))).collect();
    for i in 0..64 {
        buffer.insert(entities[i * 37 % 64], Byte(1));
    }
    for (n, i) in (0..).zip(0..64) {
        buffer.insert(entities[i * 23 % 64], Twelve([n; 3]));
    }
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.spawned, applied.moved), (64, 0));
    assert_eq!(world.reflect().archetypes().filter(|a| !a.is_empty()).count(), 1);
    for (n, i) in (0..).zip(0..64) {
        assert_eq!(world.get::<Four>(entities[i]), Ok(&Four(n)));
        assert_eq!(world.get::<Twelve>(entities[i * 23 % 64]), Ok(&Twelve([n; 3])));
    }
}

#[test]
fn numbers_of_commands_around_the_powers_of_two() {
    let numbers: &[u32] = match cfg!(miri) {
        true => &[0, 1, 64, 65],
        false => &[0, 1, 63, 64, 65, 255, 256, 257],
    };
    for &n in numbers {
        let (mut world, mut buffer) = world_and_buffer(n);
        let entities: Vec<_> = (0..n).map(|i| buffer.spawn(Four(i))).collect();
        assert_eq!(apply(&mut world, &mut buffer).spawned, n as usize);
        // In order, backwards, and neither, so that grouping takes both of its ways.
        let halves = entities.iter().step_by(2).chain(entities.iter().skip(1).step_by(2));
        let halves: Vec<_> = halves.copied().collect();
        for order in [entities.clone(), entities.iter().rev().copied().collect(), halves] {
            for (i, &entity) in (0..).zip(&order) {
                buffer.insert(entity, (Byte(3), Four(i + 1)));
            }
            let applied = apply(&mut world, &mut buffer);
            assert_eq!(applied.commands, n as usize);
            for (i, &entity) in (0..).zip(&order) {
                assert_eq!(world.get::<Four>(entity), Ok(&Four(i + 1)));
            }
        }
        entities.iter().rev().for_each(|&entity| buffer.despawn(entity));
        assert_eq!(apply(&mut world, &mut buffer).despawned, n as usize);
        assert!(world.is_empty());
    }
}

#[test]
fn ids_are_good_in_the_values_of_later_commands() {
    let (mut world, mut buffer) = world_and_buffer(3);
    let old = world.spawn(());
    let first = buffer.spawn(());
    let second = buffer.spawn(Link(first));
    buffer.insert(first, Link(second));
    buffer.insert(old, Link(first));
    buffer.spawn_batch([Link(second); 2]);
    apply(&mut world, &mut buffer);
    assert_eq!(world.get::<Link>(first), Ok(&Link(second)));
    assert_eq!(world.get::<Link>(second), Ok(&Link(first)));
    assert_eq!(world.get::<Link>(old), Ok(&Link(first)));
    let alive = world.query::<&Link>().iter().flatten().all(|link| world.contains(link.0));
    assert!(alive, "every link leads somewhere");
}

#[test]
fn what_a_buffer_writes_is_newer_than_the_moment_before() {
    let (mut world, mut buffer) = world_and_buffer(1);
    let moved = world.spawn(Four(1));
    let overwritten = world.spawn((Four(1), Byte(1), Tag));
    let before = world.version();
    buffer.insert(moved, Byte(2));
    buffer.insert(overwritten, Four(2));
    buffer.spawn(Twelve([0; 3]));
    apply(&mut world, &mut buffer);
    assert_eq!(
        world.query::<&Byte>().changed_since(before).iter().count(),
        1,
        "only the added one"
    );
    let changed: Vec<_> =
        world.query::<(Entity, &Four)>().changed_since::<Four>(before).rows().collect();
    assert_eq!(changed, [(overwritten, &Four(2))], "a row that moves brings its stamp along");
    assert_eq!(world.query::<&Twelve>().filter_since::<Arrived>(before).iter().count(), 1);
}

#[test]
fn a_huge_buffer_is_played_back() {
    let n: u32 = if cfg!(miri) { 500 } else { 300_000 };
    let (mut world, mut buffer) = world_and_buffer(n);
    let entities: Vec<_> = (0..n).map(|i| buffer.spawn(Four(i))).collect();
    for (i, &entity) in (0..).zip(&entities) {
        buffer.insert(entity, Twelve([i; 3]));
    }
    for &entity in entities.iter().rev().step_by(2) {
        buffer.despawn(entity);
    }
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.spawned, applied.moved), (n as usize / 2, 0));
    for (four, twelve) in world.query::<(&Four, &Twelve)>().rows() {
        assert_eq!([four.0; 3], twelve.0);
    }
}

#[test]
fn indices_are_used_again_in_the_order_that_commands_one_by_one_give() {
    let (mut world, mut buffer) = world_and_buffer(0);
    let entities = world.spawn_batch((0..8).map(Four)).to_vec();
    buffer.insert(entities[5], Byte(0));
    buffer.despawn(entities[3]);
    buffer.insert(entities[6], Byte(0));
    buffer.despawn(entities[5]);
    buffer.despawn(entities[6]);
    buffer.despawn(entities[3]);
    apply(&mut world, &mut buffer);
    let again: Vec<_> = (0..3).map(|_| world.spawn(()).index()).collect();
    assert_eq!(again, [6, 5, 3].map(|i: usize| entities[i].index()));
}
