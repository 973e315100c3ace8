//! Rows are added, removed and moved between archetypes, and are found at their places.

use phalanx::error::EntityError;
use phalanx::prelude::*;

use crate::common::components::{Big, Four, Link, Nth, Other, Page, Tag, Third, Twelve, sound};
use crate::common::world;

/// A world of `rows` rows `(Four(i), Twelve([i; 3]))`.
pub(crate) fn filled(rows: u32) -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entities = world.spawn_batch((0..rows).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    (world, entities)
}

#[track_caller]
fn all_but(world: &World, entities: &[Entity], gone: &[usize]) {
    sound(world);
    for (i, &entity) in entities.iter().enumerate() {
        let value = u32::try_from(i).expect("few");
        if gone.contains(&i) {
            assert!(!world.contains(entity), "{i} is gone");
            assert!(world.get::<Four>(entity).is_err(), "{i} is gone");
        } else {
            assert_eq!(world.get::<Four>(entity), Ok(&Four(value)));
            assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([value; 3])));
        }
    }
    for (ids, fours) in world.query::<(Entity, &Four)>() {
        for (id, four) in ids.iter().zip(fours) {
            assert_eq!(entities[four.0 as usize], *id, "the id beside the row is the row's");
        }
    }
}

#[test]
fn removing_the_first_row_moves_the_last_one_in() {
    let (mut world, entities) = filled(600);
    world.despawn(entities[0]).expect("alive");
    all_but(&world, &entities, &[0]);
    assert_eq!(world.query::<Entity>().iter().flatten().next(), Some(&entities[599]));
}

#[test]
fn removing_a_middle_row_moves_the_last_one_in() {
    let (mut world, entities) = filled(600);
    world.despawn(entities[256]).expect("alive");
    world.despawn(entities[300]).expect("alive");
    all_but(&world, &entities, &[256, 300]);
}

#[test]
fn removing_the_last_row_moves_none() {
    let (mut world, entities) = filled(600);
    world.despawn(entities[599]).expect("alive");
    all_but(&world, &entities, &[599]);
    assert_eq!(
        world.query::<Entity>().iter().flatten().copied().collect::<Vec<_>>(),
        entities[..599]
    );
}

#[test]
fn removing_the_only_row_leaves_an_empty_archetype() {
    let (mut world, entities) = filled(1);
    world.despawn(entities[0]).expect("alive");
    all_but(&world, &entities, &[0]);
    assert_eq!(world.memory().block_bytes, 1024, "the small first block waits for another row");
    assert_eq!(world.query::<&Four>().iter().count(), 0);
    world.memory_mut().compact(0);
    assert_eq!(world.memory().block_bytes, 0);
    let again = world.spawn((Four(0), Twelve([0; 3])));
    assert_ne!(again, entities[0]);
    assert_eq!(world.get::<Four>(again), Ok(&Four(0)));
}

#[test]
fn removing_the_only_row_of_the_last_chunk_gives_the_chunk_back() {
    let (mut world, entities) = filled(257);
    let chunks = |world: &World| world.reflect().archetypes().next().expect("one").chunk_len();
    assert_eq!(chunks(&world), 2);
    world.despawn(entities[256]).expect("alive");
    assert_eq!(chunks(&world), 1);
    all_but(&world, &entities, &[256]);
    world.spawn((Four(0), Twelve([0; 3])));
    assert_eq!(chunks(&world), 2);
    sound(&world);
}

#[test]
fn rows_removed_from_either_end_leave_the_others_as_they_were() {
    let rows = if cfg!(miri) { 40 } else { 600 };
    for reversed in [false, true] {
        let (mut world, entities) = filled(rows);
        let mut gone = Vec::new();
        for i in 0..entities.len() {
            let i = if reversed { entities.len() - 1 - i } else { i };
            world.despawn(entities[i]).expect("alive");
            gone.push(i);
            if gone.len() % 37 == 0 {
                all_but(&world, &entities, &gone);
            }
        }
        assert!(world.is_empty());
        sound(&world);
    }
}

#[test]
fn components_inserted_in_any_order_lead_to_one_archetype() {
    let mut world = world();
    let orders: [[usize; 3]; 6] =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let entity = world.spawn(());
        for part in order {
            match part {
                0 => world.insert(entity, Four(1)),
                1 => world.insert(entity, Tag),
                _ => world.insert(entity, Twelve([2; 3])),
            }
            .expect("room");
        }
    }
    world.spawn((Twelve([2; 3]), (Tag, Four(1))));
    world.spawn((Four(1), Twelve([2; 3]), Tag));
    let full: Vec<_> = world.reflect().archetypes().filter(|a| a.components().len() == 3).collect();
    assert_eq!(full.len(), 1, "one archetype");
    assert_eq!(full[0].len(), 8);
    sound(&world);
}

#[test]
fn ids_in_components_survive_moves_through_twenty_archetypes() {
    let mut world = world();
    let rows = if cfg!(miri) { 5 } else { 60 };
    let entities: Vec<_> = (0..rows).map(|i| world.spawn(Four(i))).collect();
    for (i, &entity) in entities.iter().enumerate() {
        let target = entities[(i + 1) % entities.len()];
        world.insert(entity, Link(target)).expect("room");
    }
    macro_rules! moves {
        ($($n:literal)*) => {
            for &entity in &entities {
                $(world.insert(entity, Nth::<$n>($n)).expect("room");)*
            }
            sound(&world);
            for &entity in entities.iter().rev() {
                $(assert_eq!(world.remove::<Nth<$n>>(entity), Ok(Nth($n)));)*
            }
        };
    }
    moves!(0 1 2 3 4 5 6 7 8 9 10 11);
    assert!(
        world.reflect().archetypes().count() > 20,
        "{} archetypes",
        world.reflect().archetypes().count()
    );
    for (i, &entity) in entities.iter().enumerate() {
        let Link(target) = *world.get::<Link>(entity).expect("kept");
        let value = u32::try_from((i + 1) % entities.len()).expect("few");
        assert_eq!(world.get::<Four>(target), Ok(&Four(value)));
    }
    sound(&world);
}

#[test]
fn inserting_what_is_there_overwrites_in_place() {
    let (mut world, entities) = filled(300);
    let before = world.reflect().archetypes().count();
    world.insert(entities[5], (Four(1_000), Twelve([9; 3]))).expect("room");
    world.insert(entities[5], ()).expect("nothing");
    assert_eq!(world.get::<Four>(entities[5]), Ok(&Four(1_000)));
    assert_eq!(world.get::<Twelve>(entities[5]), Ok(&Twelve([9; 3])));
    assert_eq!(world.reflect().archetypes().count(), before);
    assert_eq!(world.query::<Entity>().iter().flatten().copied().collect::<Vec<_>>(), entities);
}

#[test]
fn inserting_part_new_part_old_keeps_the_rest() {
    let (mut world, entities) = filled(300);
    for (i, &entity) in (0..).zip(&entities) {
        world.insert(entity, (Big([i; 250]), (Tag, Twelve([i + 1; 3])))).expect("room");
    }
    sound(&world);
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(world.get::<Four>(entity), Ok(&Four(i)), "untouched");
        assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([i + 1; 3])), "overwritten");
        assert_eq!(world.get::<Big>(entity), Ok(&Big([i; 250])), "new");
    }
}

#[test]
fn removing_what_is_not_there_is_an_error_that_names_it() {
    let (mut world, entities) = filled(3);
    let missing = EntityError::Missing { entity: entities[1], component: Tag::NAME };
    let before = world.version();
    assert_eq!(world.remove::<Tag>(entities[1]), Err(missing));
    assert_eq!(world.remove::<(Four, Tag)>(entities[1]), Err(missing));
    assert_eq!(world.remove::<()>(entities[1]), Ok(()));
    assert!(world.exchange::<(Tag, Four), _>(entities[1], Other).is_err());
    assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 0);
    all_but(&world, &entities, &[]);
    // The same once more, now that the world knows the types.
    assert_eq!(world.remove::<(Four, Tag)>(entities[1]), Err(missing));
    all_but(&world, &entities, &[]);
}

#[test]
fn an_exchange_moves_once_and_may_give_back_what_it_took() {
    let (mut world, entities) = filled(20);
    let e = entities[3];
    assert_eq!(world.exchange::<Four, _>(e, (Tag, Big([1; 250]))), Ok(Four(3)));
    assert!(world.has::<Tag>(e) && !world.has::<Four>(e));
    assert_eq!(world.get::<Twelve>(e), Ok(&Twelve([3; 3])));
    assert_eq!(world.exchange::<Twelve, _>(e, Twelve([4; 3])), Ok(Twelve([3; 3])), "in place");
    assert_eq!(world.get::<Twelve>(e), Ok(&Twelve([4; 3])));
    let taken = world.exchange::<(Tag, Twelve), _>(e, (Twelve([5; 3]), Third));
    assert_eq!(taken, Ok((Tag, Twelve([4; 3]))));
    assert_eq!(world.get::<Twelve>(e), Ok(&Twelve([5; 3])));
    assert_eq!(world.exchange::<(), _>(e, ()), Ok(()));
    sound(&world);
}

#[test]
fn a_bundle_of_twelve_and_nested_bundles_make_a_round_trip() {
    type Twelve = (
        Nth<0>,
        Nth<1>,
        Nth<2>,
        Nth<3>,
        Nth<4>,
        Nth<5>,
        Nth<6>,
        Nth<7>,
        Nth<8>,
        Nth<9>,
        Nth<10>,
        Nth<11>,
    );
    let bundle: Twelve = (
        Nth(0),
        Nth(1),
        Nth(2),
        Nth(3),
        Nth(4),
        Nth(5),
        Nth(6),
        Nth(7),
        Nth(8),
        Nth(9),
        Nth(10),
        Nth(11),
    );
    let mut world = world();
    let entity = world.spawn(bundle);
    assert_eq!(world.get::<Nth<11>>(entity), Ok(&Nth(11)));
    assert_eq!(world.remove::<Twelve>(entity), Ok(bundle));
    world.insert(entity, ((bundle,), (((Tag,),), ()))).expect("room");
    assert_eq!(world.remove::<(Nth<7>, (Nth<3>, (Tag,)))>(entity), Ok((Nth(7), (Nth(3), (Tag,)))));
    assert_eq!(world.reflect().archetypes().last().expect("one").components().len(), 10);
    world.insert(entity, (Nth::<3>(30),)).expect("room");
    assert_eq!(world.get::<Nth<3>>(entity), Ok(&Nth(30)));
    sound(&world);
}

#[test]
fn clearing_leaves_a_world_that_works_and_no_old_id() {
    let rows = if cfg!(miri) { 100 } else { 700 };
    let (mut world, entities) = filled(rows);
    let bare = world.reserve_entity().expect("room");
    world.clear();
    assert!(world.is_empty() && !world.contains(bare));
    all_but(&world, &entities, &(0..rows as usize).collect::<Vec<_>>());
    let again = world.spawn_batch((0..rows).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    assert!(again.iter().all(|e| !entities.contains(e)), "ids are new");
    all_but(&world, &again, &[]);
}

#[test]
fn wide_rows_survive_a_storm_of_moves() {
    // One row a chunk: every removal and every move crosses blocks.
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let page = |i: u8| Page([i; 4096]);
    let rows = if cfg!(miri) { 6 } else { 60 };
    let mut entities: Vec<_> = (0..rows).map(|i| world.spawn(page(i))).collect();
    for i in (0..rows).step_by(3) {
        world.insert(entities[usize::from(i)], Tag).expect("tags have no bytes");
    }
    assert!(world.insert(entities[0], Four(1)).is_err(), "nothing else fits");
    for (i, &entity) in (0u8..).zip(&entities) {
        assert_eq!(world.get::<Page>(entity), Ok(&page(i)));
    }
    while let Some(entity) = entities.pop() {
        assert_eq!(
            world.remove::<Page>(entity),
            Ok(page(u8::try_from(entities.len()).expect("few")))
        );
        sound(&world);
    }
    assert_eq!(world.query::<Entity>().iter().flatten().count(), usize::from(rows));
}
