//! Copies of an entity.

use phalanx::error::{NoSuchEntity, OutOfIds, SpawnError};
use phalanx::prelude::*;

use crate::common::components::small_world as world;
use crate::common::components::{
    Big, Byte, Four, Line, Link, Nth, Other, Tag, Twelve, capacity, sound,
};

#[test]
fn copies_of_every_number_are_equal() {
    let mut world = world();
    let prototype = world.spawn((Four(7), Twelve([1, 2, 3]), Tag, Line([9; 16])));
    let others = world.spawn((Four(8), Twelve([4; 3]), Tag, Line([8; 16])));
    let mut born = Vec::new();
    let numbers =
        if cfg!(miri) { vec![0, 1, 17, 80] } else { vec![0, 1, 2, 15, 16, 17, 300, 5_000] };
    for copies in numbers {
        let copied = world.instantiate(prototype, copies).expect("room");
        assert_eq!(copied.len(), copies);
        born.extend_from_slice(copied);
        sound(&world);
    }
    for &entity in &born {
        assert_eq!(world.get::<Four>(entity), Ok(&Four(7)));
        assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([1, 2, 3])));
        assert_eq!(world.get::<Line>(entity), Ok(&Line([9; 16])));
        assert!(world.has::<Tag>(entity));
    }
    assert_eq!(world.get::<Four>(others), Ok(&Four(8)));
    assert_eq!(world.len(), born.len() + 2);
    let again = world.instantiate(born[born.len() - 1], 3).expect("a copy of a copy").to_vec();
    assert!(again.iter().all(|&entity| world.get::<Twelve>(entity) == Ok(&Twelve([1, 2, 3]))));
}

#[test]
fn copies_of_nothing_and_of_tags() {
    let mut world = world();
    let many = if cfg!(miri) { 500 } else { 70_000 };
    let nothing = world.spawn(());
    let tags = world.spawn((Tag, Other));
    let reserved = world.reserve_entity().expect("room");
    assert_eq!(world.instantiate(nothing, many).map(<[_]>::len), Ok(many));
    assert_eq!(world.instantiate(tags, many).map(<[_]>::len), Ok(many));
    assert_eq!(world.instantiate(reserved, 3).map(<[_]>::len), Ok(3), "it lives by now");
    assert_eq!(world.query::<&Other>().count_rows(), many + 1);
    sound(&world);
}

#[test]
fn a_copy_names_whom_the_prototype_named() {
    let mut world = world();
    let target = world.spawn(());
    let prototype = world.spawn(Link(target));
    let copy = world.instantiate(prototype, 1).expect("room")[0];
    assert_eq!(world.get::<Link>(copy), Ok(&Link(target)));
}

#[test]
fn a_prototype_of_many_columns_is_copied_whole() {
    let mut world = world();
    type All = (Nth<0>, Nth<1>, Nth<2>, Nth<3>, Nth<4>, Nth<5>, Nth<6>, Byte, Big);
    let all: All = (Nth(0), Nth(1), Nth(2), Nth(3), Nth(4), Nth(5), Nth(6), Byte(3), Big([5; 250]));
    let prototype = world.spawn(all);
    // More than a chunk.
    let copies = if cfg!(miri) { 20 } else { 100 };
    world.instantiate(prototype, copies).expect("room");
    let rows = world.query::<(&Nth<0>, &Nth<3>, &Nth<6>, &Byte, &Big)>().rows();
    let expected = (&Nth(0), &Nth(3), &Nth(6), &Byte(3), &Big([5; 250]));
    assert_eq!(rows.filter(|row| *row == expected).count(), copies + 1);
    assert!(capacity(&world) > 0);
    sound(&world);
}

#[test]
fn a_prototype_that_is_dead_or_has_too_many_copies_leaves_the_world_as_it_was() {
    let mut world = World::builder().entities_max(10).build();
    let prototype = world.spawn(Four(1));
    let blocks = world.memory().block_bytes;
    let exhausted = SpawnError::Exhausted(OutOfIds::InWorld { limit: 10 });
    assert_eq!(world.instantiate(prototype, 10), Err(exhausted));
    assert_eq!(world.instantiate(prototype, usize::MAX), Err(exhausted));
    assert_eq!((world.len(), world.memory().block_bytes), (1, blocks));
    assert_eq!(world.instantiate(prototype, 9).map(<[_]>::len), Ok(9));
    world.despawn(prototype).expect("alive");
    let dead = SpawnError::NoSuchEntity(NoSuchEntity { entity: prototype });
    assert_eq!(world.instantiate(prototype, 1), Err(dead));
    sound(&world);
}
