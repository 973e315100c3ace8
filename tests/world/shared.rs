//! Values that entities share.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use phalanx::command::ApplyError;
use phalanx::prelude::*;

use crate::common::components::{Byte, Serial, Tag, Twelve, sound};
use crate::common::world;

/// A value that counts its copies.
#[derive(Clone, Debug)]
struct Counted(u32, #[expect(dead_code, reason = "it counts")] Arc<()>);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Counts the values that exist.
#[derive(Default)]
struct Count(Arc<()>);

impl Count {
    fn value(&self, number: u32) -> Counted {
        Counted(number, Arc::clone(&self.0))
    }

    fn alive(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

#[component(cleanup)]
struct Handle(u32);

#[component(enableable)]
struct Awake;

const ROWS: u32 = if cfg!(miri) { 40 } else { 1_000 };

/// Rows of four values in turn.
fn four(count: &Count) -> (World, Vec<Entity>) {
    let mut world = world();
    let entities = world.spawn_batch((0..ROWS).map(Serial)).to_vec();
    for (i, &entity) in (0..).zip(&entities) {
        world.insert_shared(entity, count.value(i % 4)).expect("it lives");
    }
    sound(&world);
    (world, entities)
}

#[test]
fn equal_values_are_one_and_share_chunks() {
    let count = Count::default();
    let (world, entities) = four(&count);
    assert_eq!(count.alive(), 4, "of {ROWS} that were given");
    assert_eq!(world.shared::<Counted>().iter().count(), 4);
    let mut rows = BTreeMap::new();
    for (value, serials) in world.query::<(Shared<Counted>, &Serial)>() {
        assert!(serials.iter().all(|serial| serial.0 % 4 == value.0), "one value a chunk");
        *rows.entry(value.0).or_insert(0) += serials.len();
    }
    assert_eq!(rows, (0..4).map(|value| (value, ROWS as usize / 4)).collect());
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(world.shared::<Counted>().get(entity).expect("it has one").0, i % 4);
        assert_eq!(world.get::<Serial>(entity), Ok(&Serial(i)), "rows keep their components");
    }
}

#[test]
fn a_value_goes_with_the_last_of_its_entities() {
    let ends: [fn(&mut World, &[Entity]); 9] = [
        |world, all| all.iter().for_each(|&entity| world.despawn(entity).expect("it lives")),
        |world, all| _ = world.despawn_batch(all),
        |world, _| _ = world.matching::<Entity>().despawn(),
        |world, _| world.clear(),
        |world, all| {
            all.iter().for_each(|&entity| world.remove_shared::<Counted>(entity).expect("one"));
        },
        |world, _| assert_eq!(world.matching::<()>().remove_shared::<Counted>(), ROWS as usize),
        |world, all| {
            all.iter().for_each(|&entity| world.insert_shared(entity, "other").expect("lives"));
            all.iter().for_each(|&entity| world.remove_shared::<Counted>(entity).expect("one"));
        },
        |world, _| *world = World::new(),
        |world, _| {
            let mut buffer = world.command_buffer(0).expect("no ids");
            buffer.despawn_where::<Entity, ()>();
            world.apply(&mut buffer).expect("nothing fails");
        },
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let count = Count::default();
        let (mut world, entities) = four(&count);
        end(&mut world, &entities);
        assert_eq!(count.alive(), 0, "after end {number}");
        assert_eq!(world.shared::<Counted>().iter().count(), 0);
        sound(&world);
    }
}

#[test]
fn a_value_lives_while_any_entity_has_it() {
    let count = Count::default();
    let (mut world, entities) = four(&count);
    // Each value in two archetypes; one of them is emptied.
    let moved = world.matching::<&Serial>().where_shared(&count.value(1)).insert(Tag);
    assert_eq!(moved, Ok(ROWS as usize / 4));
    world.remove::<Tag>(entities[1]).expect("it has it");
    world.matching::<&Tag>().despawn();
    assert_eq!(count.alive(), 4);
    assert_eq!(world.query::<&Serial>().where_shared(&count.value(1)).count_rows(), 1);
    // The last one changes its archetype: the value moves along.
    world.insert(entities[1], (Byte(1), Tag)).expect("it lives");
    assert_eq!(world.shared::<Counted>().get(entities[1]).expect("it has one").0, 1);
    assert_eq!(count.alive(), 4);
    world.despawn(entities[1]).expect("it lives");
    assert_eq!(count.alive(), 3);
    sound(&world);
}

#[test]
fn an_equal_value_changes_nothing() {
    let count = Count::default();
    let (mut world, entities) = four(&count);
    let hash = world.hash();
    world.insert_shared(entities[5], count.value(1)).expect("it lives");
    let of_one = world.matching::<()>().where_shared(&count.value(1));
    assert_eq!(of_one.insert_shared(count.value(1)), Ok(0));
    assert_eq!(world.matching::<&Serial>().where_shared(&count.value(9)).despawn(), 0);
    assert_eq!((world.hash(), count.alive()), (hash, 4));
}

#[test]
fn what_is_refused_leaves_the_world_as_it_was() {
    let count = Count::default();
    let (mut world, entities) = four(&count);
    world.insert(entities[0], Handle(1)).expect("it lives");
    world.despawn(entities[0]).expect("it lives");
    world.despawn(entities[1]).expect("it lives");
    let hash = world.hash();
    for gone in [entities[0], entities[1], Entity::NULL] {
        assert!(world.insert_shared(gone, count.value(7)).is_err(), "{gone}");
        assert!(world.remove_shared::<Counted>(gone).is_err(), "{gone}");
        assert!(world.shared::<Counted>().get(gone).is_err(), "{gone}");
    }
    let error = world.remove_shared::<String>(entities[2]).expect_err("it has none");
    assert_eq!(
        error.to_string(),
        world.shared::<String>().get(entities[2]).unwrap_err().to_string()
    );
    assert_eq!((world.hash(), count.alive()), (hash, 4), "and what was given is dropped");
    sound(&world);
}

#[test]
fn several_types_are_each_for_itself() {
    let mut world = world();
    let entities = world.spawn_batch((0..ROWS).map(Serial)).to_vec();
    for (i, &entity) in (0_u32..).zip(&entities) {
        world.insert_shared(entity, i % 2).expect("it lives");
        if i % 3 == 0 {
            world.insert_shared(entity, format!("{}", i % 5)).expect("it lives");
        }
    }
    sound(&world);
    type Both<'a> = (Entity, &'a Serial, Shared<u32>, Option<Shared<String>>);
    let mut seen = 0;
    for (entity, serial, number, text) in world.query::<Both<'_>>().rows() {
        assert_eq!(*number, serial.0 % 2);
        let wanted = (serial.0 % 3 == 0).then(|| format!("{}", serial.0 % 5));
        assert_eq!(text, wanted.as_ref());
        assert_eq!(world.shared::<String>().get(entity).ok(), wanted.as_ref());
        seen += 1;
    }
    assert_eq!(seen, ROWS);
    let even = world.query::<(&Serial, Shared<String>)>().where_shared(&0_u32);
    let (even, wanted) = (even.rows().count(), (0..ROWS).filter(|i| i % 6 == 0).count());
    assert_eq!(even, wanted);
    assert_eq!(world.matching::<()>().remove_shared::<u32>(), ROWS as usize);
    assert_eq!(world.shared::<String>().iter().count(), 5);
    assert_eq!(world.shared::<u32>().iter().count(), 0);
    sound(&world);
}

#[test]
fn copies_share_and_what_is_gone_does_not() {
    let count = Count::default();
    let mut world = world();
    let prototype = world.spawn((Serial(1), Handle(3), Prototype));
    world.insert_shared(prototype, count.value(4)).expect("it lives");
    world.instantiate(prototype, 100).expect("room");
    assert_eq!(world.query::<&Serial>().where_shared(&count.value(4)).count_rows(), 100);
    let hidden = world.query::<&Serial>().filter::<IncludeHidden>().where_shared(&count.value(4));
    assert_eq!(hidden.count_rows(), 101);
    world.matching::<&Serial>().despawn();
    assert_eq!(count.alive(), 1, "the prototype has it");
    world.despawn(prototype).expect("it lives");
    assert!(world.has::<Gone>(prototype), "and has its handle yet");
    assert_eq!(count.alive(), 0);
    sound(&world);
}

#[test]
fn rows_are_seen_by_their_bits_and_by_id() {
    let mut world = world();
    let entities = world.spawn_batch((0..ROWS).map(|i| (Serial(i), Awake))).to_vec();
    world.matching::<&Serial>().insert_shared("left").expect("it fits");
    for &entity in entities.iter().step_by(2) {
        world.set_enabled::<Awake>(entity, false).expect("it can be");
    }
    for &entity in &entities[..10] {
        world.insert_shared(entity, "right").expect("it lives");
    }
    let awake = world.query::<(Entity, &Awake, Shared<&str>)>();
    let awake: Vec<_> = awake.rows().map(|(entity, _, side)| (entity, *side)).collect();
    assert_eq!(awake.len(), ROWS as usize / 2);
    assert_eq!(awake.iter().filter(|(_, side)| *side == "right").count(), 5);
    let query = world.query::<(&Serial, Shared<&str>)>();
    assert_eq!(query.get(entities[3]).map(|(serial, side)| (serial.0, *side)), Ok((3, "right")));
    assert!(query.where_shared(&"left").get(entities[3]).is_err(), "another value");
    // Rows that are chosen by bits move one by one.
    let sleepers = world.matching::<&Serial>().filter::<WithDisabled<Awake>>();
    assert_eq!(sleepers.insert_shared("asleep"), Ok(ROWS as usize / 2));
    assert_eq!(world.query::<&Serial>().where_shared(&"asleep").count_rows(), ROWS as usize / 2);
    assert!(!world.is_enabled::<Awake>(entities[0]).expect("it has it"), "bits follow");
    sound(&world);
}

#[test]
fn parallel_systems_read_values_beside_writers_of_components() {
    let mut world = world();
    world.spawn_batch((0..ROWS).map(|i| (Serial(i), Twelve([0; 3]))));
    world.matching::<&Serial>().insert_shared(3_u64).expect("it fits");
    fn first(rows: Query<(&mut Serial, Shared<u64>)>) {
        rows.par().for_each_chunk(|(serials, factor)| {
            let factor = u32::try_from(*factor).expect("3");
            serials.iter_mut().for_each(|serial| serial.0 *= factor);
        });
    }
    fn second(rows: Query<(&mut Twelve, Shared<u64>)>) {
        for (twelve, &factor) in rows.into_iter().map(|(twelve, factor)| (twelve, factor.get())) {
            twelve.iter_mut().for_each(|twelve| twelve.0[0] = u32::try_from(factor).expect("3"));
        }
    }
    fn third(rows: Query<(Entity, &Serial), ()>, mut commands: Commands) {
        for (entity, serial) in rows.where_shared(&3_u64).rows().take(2) {
            let new = u64::from(serial.0);
            commands.insert_shared(entity, new);
        }
    }
    let mut schedule = Schedule::new();
    schedule.add((first, second, third));
    schedule.run(&mut world).expect("nothing fails");
    let rows: Vec<_> = world.query::<(&Serial, &Twelve)>().rows().collect();
    assert_eq!(rows.len(), ROWS as usize);
    assert_eq!(
        rows.iter().map(|(_, twelve)| u64::from(twelve.0[0])).sum::<u64>(),
        u64::from(3 * ROWS)
    );
    assert_eq!(world.query::<()>().where_shared(&3_u64).count_rows(), ROWS as usize - 1, "0 and 3");
    sound(&world);
}

#[test]
fn recorded_changes_leave_values_alone() {
    let count = Count::default();
    let (mut world, entities) = four(&count);
    let mut buffer = world.command_buffer(0).expect("no ids");
    for (i, &entity) in (0_u32..).zip(&entities) {
        match i % 3 {
            0 => buffer.insert(entity, (Tag, Byte(1))),
            1 => buffer.exchange::<Serial, _>(entity, Byte(2)),
            _ => buffer.despawn(entity),
        }
    }
    world.apply(&mut buffer).expect("nothing fails");
    for (i, &entity) in (0_u32..).zip(&entities).filter(|(i, _)| i % 3 < 2) {
        assert_eq!(world.shared::<Counted>().get(entity).expect("it has one").0, i % 4);
    }
    assert_eq!(count.alive(), 4);
    sound(&world);
}

#[test]
fn recorded_values_are_given_in_order_and_refused_by_name() {
    let count = Count::default();
    let (mut world, entities) = four(&count);
    let mut buffer = world.command_buffer(1).expect("ids");
    let born = buffer.spawn(Serial(ROWS));
    buffer.insert_shared(born, count.value(7));
    buffer.insert(born, Tag);
    buffer.insert_shared(entities[0], count.value(7));
    buffer.insert_shared(entities[0], count.value(8));
    buffer.remove_shared::<Counted>(entities[1]);
    buffer.remove_shared::<Counted>(entities[1]);
    buffer.remove_shared::<String>(entities[2]);
    buffer.despawn(entities[3]);
    buffer.insert_shared(entities[3], count.value(9));
    buffer.remove_shared::<Counted>(entities[3]);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
        panic!("two are dead")
    };
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("insert of a shared value, recorded at tests/world/shared.rs:"));
    assert!(errors[1].starts_with("removal of a shared value, recorded at "), "{errors:?}");
    let number = |entity| world.shared::<Counted>().get(entity).map(|value| value.0).ok();
    assert_eq!([born, entities[0], entities[1]].map(number), [Some(7), Some(8), None]);
    assert!(world.has::<Tag>(born) && !world.shared::<Counted>().contains(entities[1]));
    assert_eq!(count.alive(), 6, "four, 7 and 8");

    let mut buffer = world.command_buffer(0).expect("no ids");
    buffer.insert_shared_where::<&Serial, WithoutShared<Counted>, _>(count.value(3));
    assert_eq!(world.apply(&mut buffer).expect("nothing fails").matched, 1);
    let mut writers = world.command_buffer(0).expect("no ids");
    for (writer, &entity) in writers.par_writers(2).iter_mut().zip(&entities[1..]) {
        writer.insert_shared(entity, "by a writer");
        writer.remove_shared::<Counted>(entity);
    }
    world.apply(&mut writers).expect("nothing fails");
    let with =
        world.query::<&Serial>().filter::<WithShared<&str>>().filter::<WithoutShared<Counted>>();
    assert_eq!(with.count_rows(), 2);
    assert_eq!(world.matching::<()>().filter::<WithShared<&str>>().despawn(), 2);
    assert_eq!(world.matching::<()>().filter::<WithoutShared<Counted>>().despawn(), 0);
    sound(&world);
}

#[test]
fn the_hash_covers_values_and_not_their_tags() {
    let filled = |values: [&'static str; 2]| {
        let mut world = world();
        for value in values {
            let entity = world.spawn(Serial(1));
            world.insert_shared(entity, value).expect("it lives");
        }
        world.hash()
    };
    assert_eq!(filled(["a", "b"]), filled(["a", "b"]));
    assert_ne!(filled(["a", "b"]), filled(["a", "c"]));
    assert_ne!(filled(["a", "b"]), filled(["b", "a"]));
}

#[test]
fn tags_of_values_that_are_gone_are_used_again() {
    let values = if cfg!(miri) { 20 } else { 500 };
    let mut world = world();
    let entity = world.spawn(Serial(0));
    for value in 0..values {
        world.insert_shared(entity, value).expect("it lives");
    }
    assert_eq!(world.reflect().archetypes().len(), 3, "the old value and the new one in turn");
    assert_eq!(world.shared::<u32>().get(entity), Ok(&(values - 1)));
    let entities = world.spawn_batch((0..values).map(Serial)).to_vec();
    for round in 0..4 {
        for (i, &entity) in (0..).zip(&entities) {
            world.insert_shared(entity, round * values + i).expect("it lives");
        }
        assert_eq!(world.shared::<u32>().iter().count(), values as usize);
        world.despawn(entity).ok();
        // A new value lives beside the one that it replaces.
        let len = world.reflect().archetypes().len();
        assert!(len <= values as usize + 3, "{len} archetypes for {values} values");
    }
    sound(&world);
    world.memory_mut().retire_archetypes();
    assert_eq!(world.reflect().archetypes().len(), values as usize);
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(world.shared::<u32>().get(entity), Ok(&(3 * values + i)));
    }
    sound(&world);
}

#[test]
fn chunks_change_owner_where_a_query_shares() {
    let count = Count::default();
    let mut world = world();
    world.spawn_batch((0..ROWS).map(Serial));
    let before = world.version();
    let address = |world: &World| world.query::<&Serial>().iter().next().expect("one").as_ptr();
    let was = address(&world);
    assert_eq!(world.matching::<&Serial>().insert_shared(count.value(1)), Ok(ROWS as usize));
    assert_eq!(world.matching::<&Serial>().insert_shared(count.value(2)), Ok(ROWS as usize));
    assert_eq!(address(&world), was, "no component is copied");
    assert_eq!(world.query::<&Serial>().changed_since(before).count_rows(), 0, "nor written");
    assert_eq!(
        world.query::<&Serial>().filter_since::<Arrived>(before).count_rows(),
        ROWS as usize
    );
    assert_eq!(count.alive(), 1);
}

#[test]
fn values_are_listed_and_warned_of() {
    let count = Count::default();
    let (mut world, entities) = four(&count);
    let view = world.entity(entities[0]).expect("it lives");
    assert_eq!(view.components().len(), 1, "a shared value is no component");
    let name = std::any::type_name::<Counted>();
    assert!(view.shared_types().eq([name]));
    let archetype =
        world.reflect().archetypes().find(|archetype| !archetype.is_empty()).expect("one");
    assert_eq!((archetype.components().len(), archetype.shared_types().count()), (1, 1));
    assert_eq!(world.reflect().components().count(), 1);
    assert!(world.reflect().component(name).is_none(), "it cannot be inserted by name");
    let shared = world.explain().shared;
    assert_eq!((shared.len(), shared[0].type_name, shared[0].values), (1, name, 4));
    assert_eq!(shared[0].rows, ROWS as usize);
    for (i, &entity) in (0..).zip(&entities) {
        world.insert_shared(entity, count.value(i)).expect("it lives");
    }
    let explanation = world.explain();
    assert!(explanation.shared[0].is_sparse());
    assert!(explanation.to_string().contains("full: share what thousands of rows have"));
    let query = world.query::<(&Serial, Shared<Counted>)>().explain().to_string();
    assert!(query.contains("Counted") && !query.contains("entities, beside"), "{query}");
}
