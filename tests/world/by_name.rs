//! Components without their types: views of entities, and values by name.

use phalanx::error::{EntityError, SpawnError};
use phalanx::prelude::*;
use phalanx::reflect::BytesError;
use phalanx::reflect::ComponentShape;

#[component(name = "place")]
#[derive(Debug, PartialEq)]
struct Place {
    x: f32,
    y: f32,
}
#[component(name = "door")]
#[derive(Debug, PartialEq)]
struct Door {
    is_open: bool,
    keys: u8,
}
#[component(name = "state")]
#[derive(Debug, PartialEq)]
enum State {
    Idle,
    Walking,
    Dead = 9,
}
#[component(name = "secret")]
struct Secret(u16);
#[component(name = "marked")]
#[derive(Debug, PartialEq)]
struct Marked;
#[component(name = "page")]
struct Page {
    bytes: [u8; 4096],
}

/// A world that knows the components, and an entity with some.
fn world() -> (World, Entity) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.register::<(Place, Door, State, Secret, Marked, Page)>();
    world.spawn((Place { x: 9.0, y: 9.0 }, Secret(9), State::Idle, Marked));
    let entity = world.spawn((Place { x: 1.0, y: 2.0 }, Secret(0x0201), State::Dead, Marked));
    (world, entity)
}

#[test]
fn a_view_has_all_components_by_name_with_their_bytes() {
    let (world, entity) = world();
    let view = world.entity(entity).expect("alive");
    assert_eq!(view.id(), entity);
    let names: Vec<_> = view.components().map(|component| component.info().name()).collect();
    assert_eq!(names, ["marked", "place", "secret", "state"]);
    let bytes = |name| view.component(name).expect("it has one").bytes().to_vec();
    assert_eq!(bytes("place"), [1f32.to_ne_bytes(), 2f32.to_ne_bytes()].concat());
    assert_eq!(bytes("state"), [9]);
    assert_eq!(bytes("marked"), [0u8; 0]);
    assert!(view.component("door").is_none(), "it has none");
    assert!(view.component("unheard of").is_none());
    assert_eq!(view.get::<State>(), Ok(&State::Dead));
    assert!(matches!(view.get::<Door>(), Err(EntityError::Missing { .. })));
}

#[test]
fn a_view_prints_as_the_types_do() {
    let (world, entity) = world();
    let view = world.entity(entity).expect("alive");
    let print = |name| format!("{:?}", view.component(name).expect("it has one"));
    assert_eq!(print("place"), "Place { x: 1.0, y: 2.0 }");
    assert_eq!(print("state"), "Dead");
    assert_eq!(print("marked"), "Marked");
    assert_eq!(print("secret"), format!("{:02x?}", 0x0201u16.to_ne_bytes()), "it has no `Debug`");
    let all = format!("{view:?}");
    assert!(all.contains("place: Place { x: 1.0, y: 2.0 }, secret: ["), "{all}");
}

#[test]
fn a_view_of_a_dead_entity_is_an_error() {
    let (mut world, entity) = world();
    world.despawn(entity).expect("alive");
    assert!(world.entity(entity).is_err());
    assert!(world.entity(Entity::NULL).is_err());
}

#[test]
fn an_entity_is_copied_to_another_world_by_names() {
    let (world, entity) = world();
    let (mut other, _) = self::world();
    let copy = other.spawn(());
    let view = world.entity(entity).expect("alive");
    let values: Vec<_> = view.components().map(|one| (one.info().name(), one.bytes())).collect();
    let archetypes = other.reflect().archetypes().count();
    other.reflect_mut().insert(copy, values).expect("all are known");
    assert!(other.reflect().archetypes().count() <= archetypes + 1, "one move");
    let copied = other.entity(copy).expect("alive");
    let print = |view: phalanx::reflect::EntityView<'_>| {
        let text = format!("{view:?}");
        text[text.find('{').expect("a map")..].to_owned()
    };
    assert_eq!(print(copied), print(view));
    other.check().expect("sound");
}

#[test]
fn bytes_that_are_no_value_are_refused_and_nothing_changes() {
    let (mut world, entity) = world();
    let hash = world.hash();
    let good = [("place", &[0u8; 8][..])];
    // An enum has no fields.
    let field_of = |name| (name == "door").then_some("is_open");
    let refused = |world: &mut World, value: (&str, &[u8])| {
        world.reflect_mut().insert(entity, good.into_iter().chain([value])).expect_err("refused")
    };
    let size = |name: &str, size, len| BytesError::Size { name: name.to_owned(), size, len };
    assert_eq!(refused(&mut world, ("secret", &[1])), size("secret", 2, 1));
    assert_eq!(refused(&mut world, ("secret", &[1, 2, 3])), size("secret", 2, 3));
    assert_eq!(refused(&mut world, ("marked", &[0])), size("marked", 0, 1));
    for (name, bytes) in [("door", &[2, 0][..]), ("state", &[2]), ("state", &[255])] {
        let BytesError::Value { name: refused, field } = refused(&mut world, (name, bytes)) else {
            panic!("`{name}` has other bytes")
        };
        assert_eq!((&*refused, field.map(|field| field.name)), (name, field_of(name)));
    }
    let unknown = refused(&mut world, ("unheard of", &[]));
    assert!(unknown.to_string().contains("`unheard of`"), "{unknown}");
    assert!(
        unknown.to_string().contains("without `#[component(name = \"…\")]` its name is a path")
    );
    assert!(matches!(unknown, BytesError::UnknownName { nearest: None, .. }));
    let misspelt = refused(&mut world, ("secrt", &[1, 2]));
    assert!(misspelt.to_string().ends_with("did you mean `secret`?"), "{misspelt}");
    let repeated = refused(&mut world, ("place", &[0; 8]));
    assert_eq!(repeated, BytesError::Repeated { name: "place".to_owned() });
    assert!(
        matches!(refused(&mut world, ("page", &[0; 4096])), BytesError::Entity(_)),
        "too large"
    );
    let dead = world.reflect_mut().insert(Entity::NULL, good);
    assert!(matches!(dead, Err(BytesError::Entity(EntityError::NoSuchEntity(_)))));
    assert_eq!(world.hash(), hash, "nothing has changed");
    assert_eq!(
        world.reflect_mut().insert(entity, [("door", &[1, 7][..]), ("state", &[9])]),
        Ok(())
    );
    assert_eq!(world.get::<Door>(entity), Ok(&Door { is_open: true, keys: 7 }));
}

#[test]
fn an_entity_is_spawned_with_all_its_values_or_not_at_all() {
    let (mut world, _) = world();
    let (archetypes, len) = (world.reflect().archetypes().count(), world.len());
    let values = [("door", &[1, 7][..]), ("marked", &[]), ("secret", &[1, 2])];
    let entity = world.reflect_mut().spawn(values).expect("all are known");
    assert_eq!(world.reflect().archetypes().count(), archetypes + 1, "no move");
    assert_eq!(world.get::<Door>(entity), Ok(&Door { is_open: true, keys: 7 }));
    assert_eq!(world.get::<Secret>(entity).map(|secret| secret.0.to_ne_bytes()), Ok([1, 2]));
    assert!(world.has::<Marked>(entity));
    let empty = world.reflect_mut().spawn([]).expect("an entity without components");
    assert_eq!(world.entity(empty).expect("alive").components().count(), 0);
    let hash = world.hash();
    for wrong in [("door", &[0, 0][..]), ("state", &[2]), ("place", &[0; 9]), ("plaice", &[0; 8])] {
        let refused = world.reflect_mut().spawn(values.into_iter().chain([wrong]));
        assert!(refused.is_err(), "{wrong:?}");
    }
    let large = world.reflect_mut().spawn([("page", &[0; 4096][..]), ("secret", &[1, 2])]);
    let large = large.expect_err("too large");
    assert!(matches!(large, BytesError::Spawn(SpawnError::Layout(_))), "{large}");
    assert_eq!((world.len(), world.hash()), (len + 2, hash), "nothing has changed");
    world.check().expect("sound");
    let mut full = World::builder().entities_max(1).build();
    full.spawn(());
    let refused = full.reflect_mut().spawn([]).expect_err("no id is left");
    assert!(matches!(refused, BytesError::Spawn(SpawnError::Exhausted(_))), "{refused}");
}

#[test]
fn components_are_removed_by_name() {
    let (mut world, entity) = world();
    assert_eq!(world.reflect_mut().remove(entity, ["secret", "door", "secret"]), Ok(()));
    assert!(!world.has::<Secret>(entity) && world.has::<Place>(entity));
    let unknown = world.reflect_mut().remove(entity, ["place", "unheard of"]);
    assert!(matches!(unknown, Err(BytesError::UnknownName { .. })));
    assert!(world.has::<Place>(entity), "all or nothing");
    assert!(world.reflect_mut().remove(Entity::NULL, ["place"]).is_err());
    world.check().expect("sound");
}

#[test]
fn shapes_name_fields_and_variants() {
    let (world, _) = world();
    let shape = |name| world.reflect().component(name).expect("registered").shape();
    let ComponentShape::Struct(fields) = shape("door") else { panic!("it is a struct") };
    let fields: Vec<_> = fields.iter().map(|f| (f.name, f.type_name, f.offset, f.size)).collect();
    assert_eq!(fields, [("is_open", "bool", 0, 1), ("keys", "u8", 1, 1)]);
    let ComponentShape::Struct([field]) = shape("secret") else { panic!("it has one field") };
    assert_eq!((field.name, field.type_name), ("0", "u16"));
    assert_eq!(shape("marked"), ComponentShape::Struct(&[]));
    let ComponentShape::Enum(variants) = shape("state") else { panic!("it is an enum") };
    let variants: Vec<_> = variants.iter().map(|v| (v.name, v.value)).collect();
    assert_eq!(variants, [("Idle", 0), ("Walking", 1), ("Dead", 9)]);
    assert_eq!(world.reflect().components().len(), 6);
}
