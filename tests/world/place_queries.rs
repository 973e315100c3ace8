//! Rows of queries at places: whatever the terms and filters, a place gives the row, or the error,
//! that its entity gives, and writes are recorded alike.

use core::fmt::Debug;

use phalanx::prelude::*;
use phalanx::rows::{RowError, RowPlace};

use crate::common::components::{Four, Number, Tag, Text, Twelve, small_world, sound};

#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Awake(u16);
#[component(hidden)]
#[derive(Debug)]
struct Editor;
#[component]
#[derive(Debug)]
struct Key(u64);

/// Entities in 16 archetypes and several chunks, of which some are disabled, hidden, or have sparse
/// components. Every row has a [`Key`].
fn mixed_world() -> (World, Vec<Entity>) {
    let mut world = small_world();
    let rows = if cfg!(miri) { 200 } else { 6_000 };
    let all = world.spawn_batch((0..rows).map(|i| (Key(i), Four(0)))).to_vec();
    for (i, &entity) in (0_u32..).zip(&all) {
        if i % 2 == 0 {
            world.insert(entity, Awake(3)).expect("alive");
        }
        if i % 3 == 0 {
            world.insert(entity, (Twelve([i; 3]), Tag)).expect("alive");
        }
        if i % 5 == 0 {
            world.remove::<Four>(entity).expect("it has one");
        }
        if i % 7 == 0 {
            world.insert(entity, Editor).expect("alive");
        }
        if i % 4 == 0 {
            world.set_enabled::<Awake>(entity, i % 8 == 0).expect("it has one");
        }
        if i % 11 == 0 {
            world.insert(entity, Number(i)).expect("alive");
        }
        if i % 13 == 0 {
            world.insert(entity, Text(format!("{i}"))).expect("alive");
        }
    }
    (world, all)
}

fn places(world: &World, all: &[Entity]) -> Vec<RowPlace> {
    let keys = world.lookup::<Key>().by_place();
    all.iter().map(|&entity| keys.place(entity).expect("every row has a key")).collect()
}

/// Compares two results, values by their text.
#[track_caller]
fn alike<T: Debug>(by_place: Result<T, RowError>, by_entity: Result<T, RowError>) -> bool {
    let is_found = by_place.is_ok();
    assert_eq!(format!("{by_place:?}"), format!("{by_entity:?}"));
    is_found
}

/// Asserts for each query that some rows match it and some do not.
macro_rules! compare {
    ($all:ident $places:ident: $($query:expr;)*) => {$(
        let query = $query;
        let rows = query.lookup();
        let found = $all.iter().zip(&$places).filter(|&(&entity, &place)| {
            alike(rows.at(place), rows.get(entity))
        });
        let found = found.count();
        assert!(0 < found && found < $all.len(), "{}: {found}", stringify!($query));
        let one_by_one = $all.iter().filter(|&&entity| query.get(entity).is_ok()).count();
        assert_eq!(found, one_by_one, "{}", stringify!($query));
    )*};
}

#[test]
fn a_place_gives_what_its_entity_gives_in_every_query() {
    let (mut world, all) = mixed_world();
    let before = world.version();
    for &entity in all.iter().step_by(17) {
        if let Ok(twelve) = world.get_mut::<Twelve>(entity) {
            twelve.0[0] += 1;
        }
        if let Ok(number) = world.get_mut::<Number>(entity) {
            number.0 += 1;
        }
    }
    let places = places(&world, &all);
    compare! {
        all places:
        world.query::<(Entity, &Four)>();
        world.query::<(Entity, Option<&Twelve>)>();
        world.query::<(Entity, &Awake)>();
        world.query::<(Entity, Enabled<Awake>)>();
        world.query::<(Entity, &Awake)>().filter::<IgnoreEnabled>();
        world.query::<Entity>().filter::<With<Tag>>();
        world.query::<Entity>().filter::<(Without<Tag>, IncludeHidden)>();
        world.query::<Entity>().filter::<Or<(With<Tag>, With<Number>)>>();
        world.query::<(Entity, &Key)>().filter::<Not<With<Number>>>();
        world.query::<(&Number, Option<&Four>)>();
        world.query::<(&Text, &Number)>();
        world.query::<(Entity, Option<&Text>)>();
        world.query::<&Key>().filter::<(With<Text>, Without<Number>)>();
        world.query::<(Entity, &Twelve)>().changed_since::<Twelve>(before);
        world.query::<&Editor>();
    }
    sound(&world);
    world.despawn(all[0]).expect("alive");
    let query = world.query::<&Key>();
    let rows = query.lookup();
    assert!(places.iter().all(|&place| matches!(rows.at(place), Err(RowError::Moved))));
}

#[test]
fn writes_at_places_are_recorded_as_writes_by_entity() {
    let [(mut one, all), (mut other, same)] = [mixed_world(), mixed_world()];
    assert_eq!((&all, one.hash()), (&same, other.hash()));
    let (before, places) = (one.version(), places(&one, &all));
    let mut at = one.query_mut::<(&mut Twelve, &Key)>();
    let mut by = other.query_mut::<(&mut Twelve, &Key)>();
    let (mut at, mut by) = (at.lookup_mut(), by.lookup_mut());
    for (&place, &entity) in places.iter().zip(&all).rev().step_by(5) {
        let written = [at.at_mut(place), by.get_mut(entity)].map(|row| {
            row.map(|(twelve, key)| twelve.0[1] ^= u32::try_from(key.0).expect("small"))
        });
        assert_eq!(written[0], written[1]);
    }
    assert_eq!(one.hash(), other.hash());
    let changed = [&one, &other].map(|world| {
        let rows = world.query::<(Entity, &Twelve)>().changed_since::<Twelve>(before).rows();
        rows.map(|(entity, _)| entity).collect::<Vec<_>>()
    });
    assert!(!changed[0].is_empty() && changed[0] == changed[1]);

    // A place and its entity are one row.
    let mut fours = one.query_mut::<&mut Four>();
    let mut fours = fours.lookup_mut();
    let (place, entity) = (places[1], all[1]);
    fours.at_mut(place).expect("it has one").0 += 1;
    fours.get_mut(entity).expect("it has one").0 += 1;
    assert_eq!(one.get::<Four>(entity), Ok(&Four(2)));
    for world in [&one, &other] {
        sound(world);
    }
}
