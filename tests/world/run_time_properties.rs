//! Properties of components that exist at run time only, beside types that have the same ones.

use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::reflect::{BytesError, NamedQuery, RegisterError};
use phalanx::snapshot::ReadError;

use crate::common::components::{Byte, Four, sound};

const FIELDS: [(&str, &str); 1] = [("volts", "u16")];
const VOLTS: &[u8] = &[230, 0];

/// A world with a layout of some properties, and five entities: the first two have it.
fn world<const N: usize>(properties: [&str; N]) -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut reflect = world.reflect_mut();
    reflect.register_layout_with("mod.power", properties, FIELDS).expect("a valid layout");
    let entities = world.spawn_batch((0..5).map(Four)).to_vec();
    for &entity in &entities[..2] {
        insert(&mut world, entity);
    }
    sound(&world);
    (world, entities)
}

fn insert(world: &mut World, entity: Entity) {
    world.reflect_mut().insert(entity, [("mod.power", VOLTS)]).expect("it is alive");
}

/// The entities that a query of names sees, in the order of their ids.
fn seen(world: &World, query: &NamedQuery) -> Vec<Entity> {
    let chunks = world.reflect().chunks(query).expect("all names are known");
    let mut seen: Vec<_> = chunks.flat_map(|chunk| chunk.entities().to_vec()).collect();
    seen.sort_unstable();
    seen
}

#[test]
fn a_hidden_one_hides_its_entities_from_queries_that_do_not_name_it() {
    let (mut world, entities) = world(["hidden"]);
    assert!(world.reflect().component("mod.power").expect("it is registered").is_hidden());
    assert_eq!(world.query::<&Four>().count_rows(), 3);
    assert_eq!(seen(&world, &NamedQuery::new().read(Four::NAME)), entities[2..]);
    let naming = NamedQuery::new().read(Four::NAME).with("mod.power");
    assert_eq!(seen(&world, &naming), entities[..2]);
    assert_eq!(seen(&world, &NamedQuery::new().read("mod.power")), entities[..2]);
    assert_eq!(seen(&world, &NamedQuery::new().without("mod.power")), entities[2..]);
    world.reflect_mut().remove(entities[0], ["mod.power"]).expect("it is alive");
    assert_eq!(world.query::<&Four>().count_rows(), 4);
    sound(&world);
}

#[test]
fn one_of_cleanup_outlives_the_despawn_of_its_entity() {
    let (mut world, entities) = world(["cleanup"]);
    assert_eq!(world.despawn_batch(&entities[..3]), 3);
    assert_eq!((world.len(), world.contains(entities[0])), (4, false), "two are gone");
    let gone = NamedQuery::new().read("mod.power").with(Gone::NAME);
    assert_eq!(seen(&world, &gone), entities[..2]);
    let refused = world.reflect_mut().insert(entities[0], [("mod.power", VOLTS)]);
    assert!(matches!(refused, Err(BytesError::Entity(EntityError::NoSuchEntity(_)))));
    let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
    other.merge(world).expect("it has room");
    let gone = seen(&other, &gone);
    assert_eq!(gone.len(), 2, "the other world has learnt of `Gone`");
    for entity in gone {
        other.reflect_mut().remove(entity, ["mod.power"]).expect("it is gone, and has it");
        assert!(other.entity(entity).is_err(), "it is free");
    }
    assert_eq!(other.len(), 2);
    sound(&other);
}

#[test]
fn one_of_cleanup_is_not_copied() {
    let (mut world, entities) = world(["cleanup"]);
    let copy = world.instantiate(entities[0], 1).expect("it is alive")[0];
    let view = world.entity(copy).expect("it is alive");
    assert_eq!((view.component("mod.power").is_none(), view.get::<Four>()), (true, Ok(&Four(0))));
}

#[test]
fn an_enableable_one_is_switched_by_name() {
    let (mut world, entities) = world(["enableable"]);
    let query = NamedQuery::new().read("mod.power");
    let switch = |world: &mut World, entity, enabled| {
        world.reflect_mut().set_enabled(entity, "mod.power", enabled)
    };
    assert_eq!(switch(&mut world, entities[0], false), Ok(true));
    assert_eq!(switch(&mut world, entities[0], false), Ok(false));
    assert_eq!(seen(&world, &query), entities[1..2]);
    let lacking = NamedQuery::new().read(Four::NAME).without("mod.power");
    assert_eq!(seen(&world, &lacking).len(), 4);
    let is_enabled = |world: &World, entity| {
        let view = world.entity(entity).expect("it is alive");
        view.component("mod.power").expect("it has one").is_enabled()
    };
    assert!(!is_enabled(&world, entities[0]) && is_enabled(&world, entities[1]));

    // The bit follows the row, into copies, into other archetypes and through bytes.
    let copy = world.instantiate(entities[0], 1).expect("it is alive")[0];
    world.insert(entities[0], Byte(1)).expect("it is alive");
    assert!(!is_enabled(&world, copy) && !is_enabled(&world, entities[0]));
    let bytes = world.snapshot().and_then(|state| state.to_bytes()).expect("all is plain");
    let (mut read, _) = self::world(["enableable"]);
    read.register::<(Four, Byte)>();
    let state = read.read_snapshot(&bytes).expect("the same components");
    read.restore(&state).expect("it was made for this world");
    assert_eq!((read.hash(), seen(&read, &query)), (world.hash(), seen(&world, &query)));
    let (mut other, _) = self::world([]);
    other.register::<(Four, Byte)>();
    let refused = other.read_snapshot(&bytes).expect_err("it has no bits there");
    assert!(matches!(refused, ReadError::OtherComponent { .. }), "{refused}");

    insert(&mut world, entities[0]);
    assert!(is_enabled(&world, entities[0]), "an inserted component is enabled");
    assert_eq!(switch(&mut world, copy, true), Ok(false));
    sound(&world);
}

#[test]
fn what_cannot_be_switched_is_an_error() {
    let (mut world, entities) = world(["enableable"]);
    let mut switch = |entity, name| world.reflect_mut().set_enabled(entity, name, false);
    let error = switch(entities[2], "mod.power").expect_err("it has none");
    assert!(matches!(error, BytesError::Entity(EntityError::Missing { .. })), "{error}");
    let error = switch(Entity::NULL, "mod.power").expect_err("it is dead");
    assert!(matches!(error, BytesError::Entity(EntityError::NoSuchEntity(_))), "{error}");
    let error = switch(entities[0], Four::NAME).expect_err("it has no bits");
    assert_eq!(error, BytesError::NotEnableable { name: Four::NAME.to_owned() });
    let error = switch(entities[0], "mod.pover").expect_err("a misspelt name");
    assert!(error.to_string().ends_with("did you mean `mod.power`?"), "{error}");
}

#[test]
fn properties_belong_to_the_component() {
    let (mut world, _) = world(["hidden", "enableable"]);
    let info = *world.reflect().component("mod.power").expect("it is registered");
    let mut register = |words: &[&'static str]| {
        let words = words.iter().copied();
        world.reflect_mut().register_layout_with("mod.power", words, FIELDS)
    };
    assert_eq!(register(&["enableable", "hidden", "hidden"]), Ok(info));
    for words in [&[][..], &["hidden"], &["hidden", "enableable", "cleanup"]] {
        let error = register(words).expect_err("another component");
        let RegisterError::Taken { owner, .. } = error else { panic!("{error}") };
        assert_eq!(owner, "layout(hidden, enableable) { volts: u16 }");
    }
    for (word, text) in [
        ("enabelable", "(did you mean `enableable`?)"),
        ("sparse", "cannot be `sparse`, which is for types of the program only"),
        ("", "cannot be ``: its properties are `hidden`, `cleanup` and `enableable`"),
    ] {
        let error = register(&["hidden", word]).expect_err("no property");
        assert!(matches!(&error, RegisterError::Property { property, .. } if property == word));
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn all_properties_at_once() {
    let (mut world, entities) = world(["hidden", "cleanup", "enableable"]);
    assert_eq!(world.reflect_mut().set_enabled(entities[0], "mod.power", false), Ok(true));
    assert_eq!(world.despawn_batch(&entities), 5);
    let gone = NamedQuery::new().read("mod.power").with(Gone::NAME);
    assert_eq!(seen(&world, &gone), entities[1..2], "the bit is kept");
    for &entity in &entities[..2] {
        world.reflect_mut().remove(entity, ["mod.power"]).expect("it is gone, and has it");
    }
    assert_eq!(world.len(), 0);
    sound(&world);
}

#[test]
fn a_type_that_took_the_name_of_gone_leaves_no_layout_of_cleanup() {
    #[component(name = "phalanx::Gone")]
    struct Other(u32);
    let mut world = World::new();
    world.register::<Other>();
    let taken = world.reflect_mut().register_layout_with("mod.power", ["cleanup"], FIELDS);
    let Err(RegisterError::Taken { name, .. }) = taken else { panic!("two have the name") };
    assert_eq!(name, "phalanx::Gone");
    assert_eq!(world.reflect().components().len(), 1);
    world.reflect_mut().register_layout("mod.power", FIELDS).expect("the name is free");
    sound(&world);
}
