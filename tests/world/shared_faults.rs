//! Shared values with methods that panic or lie, and changes that are refused.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

use crate::common::components::{Serial, Tag, sound};
use crate::common::world;

#[component(cleanup)]
struct Handle(u32);

/// A value with a destructor, comparison or hash that panics.
struct Bomb(u32, &'static str);

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

impl Bomb {
    fn explode(&self, what: &str) {
        assert!(self.1 != what || !ARMED.get(), "a bomb");
    }
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        self.explode("eq");
        self.0 == other.0
    }
}

impl Eq for Bomb {}

impl Hash for Bomb {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.explode("hash");
        self.1.hash(state);
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.explode("drop");
    }
}

#[test]
fn comparisons_and_hashes_that_panic_change_nothing() {
    for what in ["eq", "hash"] {
        let mut world = world();
        let entities = world.spawn_batch((0..3).map(Serial)).to_vec();
        world.insert_shared(entities[0], Bomb(1, what)).expect("it lives");
        let hash = world.hash();
        ARMED.set(true);
        let shared =
            catch_unwind(AssertUnwindSafe(|| world.insert_shared(entities[1], Bomb(2, what))));
        let filtered = catch_unwind(AssertUnwindSafe(|| {
            world.query::<()>().where_shared(&Bomb(1, what)).count_rows()
        }));
        ARMED.set(false);
        assert!(shared.is_err() && filtered.is_err(), "{what}");
        assert_eq!(world.hash(), hash);
        sound(&world);
        world.insert_shared(entities[1], Bomb(2, what)).expect("it lives");
        assert_eq!(world.shared::<Bomb>().iter().count(), 2);
    }
}

#[test]
fn a_destructor_that_panics_disturbs_nothing() {
    let mut world = world();
    let entities = world.spawn_batch((0..8).map(Serial)).to_vec();
    for (i, &entity) in (0..).zip(&entities) {
        world.insert_shared(entity, Bomb(i, "drop")).expect("it lives");
    }
    ARMED.set(true);
    world.despawn(entities[0]).expect("it lives");
    world.insert(entities[1], Tag).expect("it lives");
    world.remove_shared::<Bomb>(entities[2]).expect("it has one");
    assert_eq!(world.matching::<&Serial>().despawn(), 7);
    assert!(world.is_empty());
    sound(&world);
    drop(world);

    let mut world = self::world();
    for i in 0..3 {
        let entity = world.spawn(());
        world.insert_shared(entity, Bomb(i, "drop")).expect("it lives");
    }
    drop(world);
    ARMED.set(false);
}

#[test]
fn what_is_refused_and_what_matches_nothing_leave_the_hash() {
    let mut world = world();
    let entity = world.spawn(Serial(0));
    // Tags without values, with empty archetypes.
    (0..17_u32).for_each(|value| world.insert_shared(entity, value).expect("it lives"));
    let gone = world.spawn(Handle(1));
    world.despawn(gone).expect("it lives");
    let hash = world.hash();
    assert!(world.insert_shared(gone, 999_u32).is_err());
    assert_eq!(world.hash(), hash);
    assert_eq!(world.matching::<&Tag>().insert_shared(998_u32), Ok(0));
    assert_eq!(world.hash(), hash);
}

#[test]
fn values_in_turn_make_no_archetypes() {
    let mut world = world();
    let entity = world.spawn(Serial(0));
    (0..200).for_each(|i| world.insert_shared(entity, i % 2 == 0).expect("it lives"));
    assert_eq!(world.reflect().archetypes().len(), 3, "without, true and false");
}

#[test]
fn types_of_one_name_are_explained_apart() {
    let mut world = world();
    let entities = world.spawn_batch((0..4).map(Serial)).to_vec();
    {
        #[derive(PartialEq, Eq, Hash)]
        struct X(u32);
        world.insert_shared(entities[0], X(1)).expect("it lives");
    }
    #[derive(PartialEq, Eq, Hash)]
    struct X(u32);
    world.insert_shared(entities[1], X(1)).expect("it lives");
    let values: Vec<_> = world.explain().shared.iter().map(|of| of.values).collect();
    assert_eq!(values, [1, 1]);
}

/// Never equal to itself.
struct Lost;

impl Hash for Lost {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl PartialEq for Lost {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

impl Eq for Lost {}

#[test]
fn values_that_lie_about_equality_are_as_many_as_they_say() {
    let mut world = world();
    let entities = world.spawn_batch((0..50).map(Serial)).to_vec();
    entities.iter().for_each(|&entity| world.insert_shared(entity, Lost).expect("it lives"));
    assert_eq!(world.shared::<Lost>().iter().count(), 50);
    assert_eq!(world.query::<()>().where_shared(&Lost).count_rows(), 0);
    world.matching::<&Serial>().insert_shared(Lost).expect("it fits");
    assert_eq!(world.shared::<Lost>().iter().count(), 1);
    sound(&world);
}
