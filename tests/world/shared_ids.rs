//! Shared values that contain ids of entities, and worlds that take them over: the ids are
//! replaced, or the worlds stay as they were.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use phalanx::Merged;
use phalanx::error::MergeErrorKind;
use phalanx::prelude::*;
use phalanx::shared::SharedValue;

use crate::common::components::{Serial, Tag, small_world, sound};

#[component(enableable)]
struct Awake;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Owner(Entity);

#[derive(Debug, PartialEq, Eq, Hash)]
enum Member {
    Of(Entity),
    Nothing,
    Number(u64),
}

/// Hashes its id with a hasher of its own, or through a reference to one.
#[derive(Debug, PartialEq, Eq)]
struct Wrapped(Entity, bool);

impl Hash for Wrapped {
    fn hash<H: Hasher>(&self, mut state: &mut H) {
        if self.1 {
            return self.0.hash(&mut state);
        }
        let mut own = DefaultHasher::new();
        self.0.hash(&mut own);
        state.write_u64(own.finish());
    }
}

fn map_owners(world: &mut World) {
    world.shared_mut().map_entities(|owner: &Owner, id| Owner(id(owner.0)));
}

/// Asserts that a world with the value is refused and comes back, by both ways.
#[track_caller]
fn assert_refused<T: SharedValue>(value: impl Fn(Entity) -> T) {
    let (mut world, mut other) = (small_world(), small_world());
    world.spawn_batch((0..3).map(Serial));
    let friend = other.spawn(Serial(10));
    let entity = other.spawn(Serial(11));
    other.insert_shared(entity, value(friend)).expect("alive");
    let hashes = [world.hash(), other.hash()];
    let error = world.move_from(other.matching::<&Serial>()).expect_err("it has an id");
    let MergeErrorKind::SharedEntities { name } = error else { panic!("{error}") };
    assert_eq!(name, std::any::type_name::<T>());
    assert!(error.to_string().contains("SharedValuesMut::map_entities"), "{error}");
    assert_eq!([world.hash(), other.hash()], hashes);
    let error = world.merge(other).expect_err("it has an id");
    assert!(matches!(error.kind(), MergeErrorKind::SharedEntities { .. }), "{error}");
    let mut other = error.into_world();
    assert_eq!([world.hash(), other.hash()], hashes);
    sound(&world);
    sound(&other);
    // Values of entities that do not move do not count.
    let moved = world.move_from(other.matching::<&Serial>().filter::<WithoutShared<T>>());
    assert_eq!(moved.expect("no value comes").len(), 1);
    other.remove_shared::<T>(entity).expect("it has one");
    assert_eq!(world.merge(other).expect("the value is gone").len(), 1);
}

#[test]
fn ids_are_found_wherever_they_are() {
    assert_refused(|id| id);
    assert_refused(Owner);
    assert_refused(Member::Of);
    assert_refused(|id| (1u8, [id; 2]));
    assert_refused(|id| vec![None, Some(Box::new(id))]);
    assert_refused(|id| Arc::new(("red", BTreeSet::from([id]))));
    assert_refused(|id| BTreeMap::from([(id, 7u8)]));
    assert_refused(|id| Wrapped(id, true));
    assert_refused(|id| Wrapped(id, false));
    assert_refused(|_| Owner(Entity::NULL));
}

#[test]
fn values_without_ids_need_no_function() {
    let (mut world, mut other) = (small_world(), small_world());
    let all = other.spawn_batch((0..4).map(Serial)).to_vec();
    other.insert_shared(all[0], Member::Nothing).expect("alive");
    other.insert_shared(all[1], Member::Number(all[2].to_bits())).expect("alive");
    other.insert_shared(all[1], vec![None::<Entity>]).expect("alive");
    other.insert_shared(all[3], "red").expect("alive");
    let merged = world.merge(other).expect("no value has an id");
    let entity = merged.get(all[1]).expect("it has come");
    assert_eq!(world.shared::<Vec<Option<Entity>>>().get(entity), Ok(&vec![None]));
    sound(&world);
}

/// A world in which some ids were used before, and one of the others is free.
fn used() -> World {
    let mut world = small_world();
    let all = world.spawn_batch((0..9).map(Serial)).to_vec();
    for entity in [all[7], all[2], all[4]] {
        world.despawn(entity).expect("alive");
    }
    world
}

/// A world with entities of several archetypes. Most have an owner; some owners are gone.
fn owned(seed: u32) -> (World, Vec<Entity>) {
    let mut world = used();
    let rows = if cfg!(miri) { 12 } else { 60 };
    let mut all: Vec<_> = (100..100 + rows).map(|i| world.spawn(Serial(i))).collect();
    for (i, &entity) in (0..).zip(&all) {
        let chance = (i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed * 97) >> 7;
        match chance % 3 {
            0 => world.insert(entity, Tag).expect("alive"),
            1 => world.insert(entity, Awake).expect("alive"),
            _ => {}
        }
        if chance % 3 == 1 && chance.is_multiple_of(2) {
            world.set_enabled::<Awake>(entity, false).expect("it has one");
        }
        if !chance.is_multiple_of(5) {
            let owner = Owner(all[chance as usize % 11 % all.len()]);
            world.insert_shared(entity, owner).expect("alive");
        }
    }
    for _ in 0..3 {
        world.despawn(all.remove(3)).expect("alive");
    }
    (world, all)
}

/// Compares each moved entity with its former state.
fn assert_come(world: &World, before: &[(Entity, u32, Option<Owner>)], merged: &Merged) {
    sound(world);
    let mut owners = BTreeSet::new();
    for &(old, serial, owner) in before {
        let Some(new) = merged.get(old) else { continue };
        assert_eq!(world.get::<Serial>(new), Ok(&Serial(serial)), "{old} is {new}");
        let expected = owner.map(|owner| Owner(merged.get(owner.0).unwrap_or(Entity::NULL)));
        assert_eq!(world.shared::<Owner>().get(new).ok().copied(), expected, "{old} is {new}");
        owners.extend(expected.map(|owner| owner.0));
    }
    for &owner in &owners {
        let with = world.query::<Option<Shared<Owner>>>().rows();
        let with = with.filter(|found| *found == Some(&Owner(owner))).count();
        assert_eq!(world.query::<()>().where_shared(&Owner(owner)).count_rows(), with);
    }
    let values: Vec<_> = world.shared::<Owner>().iter().map(|owner| owner.0).collect();
    let distinct: BTreeSet<_> = values.iter().copied().collect();
    assert_eq!(distinct.len(), values.len(), "equal values are one");
}

fn all_of(world: &World) -> Vec<(Entity, u32, Option<Owner>)> {
    let rows = world.query::<(Entity, &Serial, Option<Shared<Owner>>)>().rows();
    rows.map(|(entity, serial, owner)| (entity, serial.0, owner.copied())).collect()
}

#[test]
fn ids_are_those_of_the_world_that_takes_over() {
    for seed in 0..if cfg!(miri) { 2 } else { 40 } {
        for told in [true, false] {
            let ((mut world, mine), (mut other, _)) = (owned(seed), owned(seed + 1));
            // One of the two worlds has the function, and values of this one may be equal to new
            // ones.
            map_owners(if told { &mut world } else { &mut other });
            world.insert_shared(mine[0], Owner(Entity::NULL)).expect("alive");
            let (before, own) = (all_of(&other), all_of(&world));
            let merged = world.merge(other).expect("the ids are replaced");
            assert_eq!(merged.len(), before.len());
            assert_come(&world, &before, &merged);
            for (entity, _, owner) in own {
                assert_eq!(world.shared::<Owner>().get(entity).ok().copied(), owner);
            }
        }
    }
}

#[test]
fn ids_of_some_entities_are_replaced_and_others_are_null() {
    for seed in 0..if cfg!(miri) { 2 } else { 40 } {
        for part in 0..4 {
            let ((mut world, _), (mut other, _)) = (owned(seed), owned(seed + 1));
            map_owners(&mut world);
            let before = all_of(&other);
            let merged = match part {
                0 => world.move_from(other.matching::<&Serial>()),
                1 => world.move_from(other.matching::<&Serial>().with::<Tag>()),
                2 => world.move_from(other.matching::<(&Serial, &Awake)>()),
                _ => world.move_from(other.matching::<&Serial>().filter::<WithShared<Owner>>()),
            };
            let merged = merged.expect("the ids are replaced");
            assert!(!merged.is_empty());
            assert_come(&world, &before, &merged);
            sound(&other);
            for &(entity, _, owner) in &before {
                if merged.get(entity).is_none() {
                    assert_eq!(other.shared::<Owner>().get(entity).ok().copied(), owner);
                }
            }
        }
    }
}

#[test]
fn values_that_become_equal_are_one() {
    let (mut world, mut other) = (small_world(), small_world());
    map_owners(&mut world);
    let kept = world.spawn(Serial(0));
    world.insert_shared(kept, Owner(Entity::NULL)).expect("alive");
    let all = other.spawn_batch((1..7).map(Serial)).to_vec();
    for pair in all.chunks(2) {
        other.insert_shared(pair[0], Owner(pair[1])).expect("alive");
        other.despawn(pair[1]).expect("alive");
    }
    assert_eq!(other.shared::<Owner>().iter().count(), 3);
    let state = world.snapshot().expect("no ids are reserved");
    let merged = world.merge(other).expect("the ids are replaced");
    assert_eq!((merged.len(), world.shared::<Owner>().iter().count()), (3, 1));
    assert_eq!(world.query::<()>().where_shared(&Owner(Entity::NULL)).count_rows(), 4);
    assert_eq!(world.reflect().archetypes().filter(|a| !a.is_empty()).count(), 1);
    sound(&world);
    world.restore(&state).expect("it is of this world");
    sound(&world);

    // Without a kept one, they join each other.
    let (mut world, mut other) = (small_world(), small_world());
    map_owners(&mut other);
    let all = other.spawn_batch((1..7).map(Serial)).to_vec();
    for pair in all.chunks(2) {
        other.insert_shared(pair[0], Owner(pair[1])).expect("alive");
    }
    let odd = other.matching::<&Serial>().filter::<WithShared<Owner>>();
    assert_eq!(world.move_from(odd).expect("the ids are replaced").len(), 3);
    assert!(world.shared::<Owner>().iter().eq(&[Owner(Entity::NULL)]));
    sound(&world);
    // The function stays with the world that was told.
    let (entity, friend) = (world.spawn(()), world.spawn(()));
    world.insert_shared(entity, Owner(friend)).expect("alive");
    let error = small_world().merge(world).expect_err("neither world was told");
    assert!(matches!(error.kind(), MergeErrorKind::SharedEntities { .. }));
}
