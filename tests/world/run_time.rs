//! Components that exist at run time only: everything that works for a type works for them.

use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::reflect::{BytesError, ComponentShape, NamedQuery, RegisterError};
use phalanx::snapshot::{ReadError, SnapshotReader};

use crate::common::components::{Byte, Four, Tag, sound};

const FUEL: [(&str, &str); 4] =
    [("litres", "f32"), ("tanker", "Entity"), ("valves", "[bool; 3]"), ("grade", "u8")];

fn register(world: &mut World) {
    world.reflect_mut().register_layout("mod.fuel", FUEL).expect("a valid layout");
}

/// The bytes of some fuel.
fn fuel(litres: f32, tanker: Entity, valves: [u8; 3]) -> Vec<u8> {
    let tanker = [tanker.index(), tanker.generation()].map(u32::to_ne_bytes).concat();
    [&litres.to_ne_bytes()[..], &tanker, &valves, &[7]].concat()
}

fn insert(world: &mut World, entity: Entity, value: &[u8]) -> Result<(), BytesError> {
    world.reflect_mut().insert(entity, [("mod.fuel", value)])
}

/// The bytes of an entity's fuel.
fn fuel_of(world: &World, entity: Entity) -> Option<Vec<u8>> {
    let view = world.entity(entity).expect("alive");
    view.component("mod.fuel").map(|fuel| fuel.bytes().to_vec())
}

/// A world with rows in several archetypes; each tanker is the first entity.
fn fleet() -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    register(&mut world);
    let mut ships = world.spawn_batch((0..300).map(Four)).to_vec();
    ships.extend(world.spawn_batch((0..50).map(|i| (Four(i), Tag))));
    for (litres, &ship) in ships.iter().enumerate().filter(|(i, _)| i % 3 != 1) {
        insert(&mut world, ship, &fuel(litres as f32, ships[0], [1, 0, 1])).expect("alive");
    }
    (world, ships)
}

#[test]
fn values_move_with_their_rows_and_are_overwritten_and_removed() {
    let (mut world, ships) = fleet();
    sound(&world);
    world.insert(ships[2], Byte(1)).expect("alive");
    world.despawn(ships[3]).expect("alive");
    world.matching::<&Tag>().insert(Byte(2)).expect("it fits");
    sound(&world);
    for (i, &ship) in ships.iter().enumerate().filter(|&(i, _)| i != 3) {
        let expected = (i % 3 != 1).then(|| fuel(i as f32, ships[0], [1, 0, 1]));
        assert_eq!(fuel_of(&world, ship), expected);
    }
    insert(&mut world, ships[2], &fuel(9.5, Entity::NULL, [0; 3])).expect("alive");
    assert_eq!(fuel_of(&world, ships[2]), Some(fuel(9.5, Entity::NULL, [0; 3])));
    world.reflect_mut().remove(ships[2], ["mod.fuel"]).expect("alive");
    assert_eq!(fuel_of(&world, ships[2]), None);
    assert_eq!(world.get::<Byte>(ships[2]), Ok(&Byte(1)));
    sound(&world);
}

#[test]
fn bytes_that_are_no_value_are_refused() {
    let (mut world, ships) = fleet();
    let before = world.hash();
    let error = insert(&mut world, ships[1], &fuel(1.0, Entity::NULL, [1, 1, 2]));
    let Err(BytesError::Value { field: Some(field), .. }) = error else { panic!("{error:?}") };
    assert_eq!((field.name, field.type_name), ("valves", "[bool; 3]"));
    let error = insert(&mut world, ships[1], &[0; 15]);
    assert!(matches!(error, Err(BytesError::Size { size: 16, len: 15, .. })));
    let error = insert(&mut world, ships[1], &[0; 32]);
    assert!(matches!(error, Err(BytesError::Size { size: 16, len: 32, .. })));
    assert_eq!(world.hash(), before);

    let query = NamedQuery::new().write("mod.fuel");
    let mut rows = 0;
    let visited = world.reflect_mut().for_each_chunk(&query, |chunk| {
        rows += chunk.len();
        let [fuels] = chunk.columns_mut() else { unreachable!("one term") };
        assert!(matches!(fuels.bytes_mut(), Err(BytesError::NotAllBytes { .. })));
        assert!(matches!(fuels.values_mut::<Sixteen>(), Err(BytesError::OtherType { .. })));
        let refused = fuels.set(0, &fuel(1.0, Entity::NULL, [2, 0, 0]));
        assert!(matches!(refused, Err(BytesError::Value { .. })));
        assert_eq!(fuels.set(0, &fuel(0.5, Entity::NULL, [1; 3])), Ok(()));
        assert_eq!(fuels.row(0), fuel(0.5, Entity::NULL, [1; 3]));
    });
    assert_eq!((visited, rows), (Ok(()), 233));
    sound(&world);
}

/// A type with the size of the bytes of some fuel.
#[component]
struct Sixteen([u8; 16]);

#[test]
fn it_shows_its_fields_and_values() {
    let (world, ships) = fleet();
    let info = world.reflect().component("mod.fuel").expect("registered");
    assert_eq!((info.name(), info.size(), info.align()), ("mod.fuel", 16, 4));
    let ComponentShape::Struct(fields) = info.shape() else { panic!("it has fields") };
    let fields: Vec<_> = fields.iter().map(|field| (field.name, field.type_name)).collect();
    assert_eq!(fields, FUEL);
    let shown = format!("{:?}", world.entity(ships[2]).expect("alive"));
    let tanker = ships[0];
    let fuel = format!(
        "mod.fuel: {{litres: 2.0, tanker: {tanker}, valves: [true, false, true], grade: 7}}"
    );
    assert!(shown.contains(&fuel), "{shown}");
    assert!(world.explain().to_string().contains("mod.fuel"));
}

#[test]
fn a_description_is_the_same_component_in_every_call_and_every_world() {
    let mut world = World::new();
    register(&mut world);
    let blanks = [
        ("litres", " f32"),
        ("tanker", "phalanx::Entity"),
        ("valves", "[ bool ;3 ]"),
        ("grade", "u8"),
    ];
    assert!(world.reflect_mut().register_layout("mod.fuel", blanks).is_ok());
    assert_eq!(world.reflect().components().count(), 1);
    let info = *world.reflect().component("mod.fuel").expect("registered");
    let mut other = World::new();
    other.register::<(Four, Byte)>();
    register(&mut other);
    assert_eq!(other.reflect().component("mod.fuel"), Some(&info));
    let named = other.reflect_mut().register_layout("mod.other", FUEL).expect("free");
    assert_ne!(named, info);
}

#[track_caller]
fn refused<'n, const N: usize>(
    world: &mut World,
    name: &'n str,
    fields: [(&'n str, &'n str); N],
) -> RegisterError {
    let before = world.reflect().components().count();
    let error = world.reflect_mut().register_layout(name, fields).expect_err("refused");
    assert_eq!(world.reflect().components().count(), before, "{error}");
    error
}

#[component(name = "run_time.name")]
struct Named(u8);
#[component(sparse, name = "run_time.sparse")]
struct SparseNamed(u8);

#[test]
fn names_and_fields_are_checked() {
    let mut world = World::new();
    register(&mut world);
    world.register::<(Named, SparseNamed)>();
    let none: [(&str, &str); 0] = [];
    let long = "x".repeat(256);
    let error = refused(&mut world, "", none);
    assert!(matches!(&error, RegisterError::Name { field: None, len: 0, .. }));
    let error = refused(&mut world, &long, none);
    assert!(matches!(error, RegisterError::Name { field: None, len: 256, .. }));
    assert!(world.reflect_mut().register_layout(&long[1..], none).is_ok());
    for (name, owner) in [
        ("run_time.name", "run_time::Named"),
        ("run_time.sparse", "run_time::SparseNamed"),
        ("mod.fuel", "layout { litres: f32, tanker: Entity, valves: [bool; 3], grade: u8 }"),
        (Gone::NAME, Gone::NAME),
        (Disabled::NAME, Disabled::NAME),
        (Prototype::NAME, Prototype::NAME),
    ] {
        let RegisterError::Taken { owner: known, .. } = refused(&mut world, name, none) else {
            panic!("the name is taken")
        };
        assert!(known.ends_with(owner), "{known}");
    }
    let one = |type_name| [("a", type_name)];
    for wrong in ["String", "usize", "", "[u8; x]"] {
        let error = refused(&mut world, "mod.new", one(wrong));
        assert!(matches!(&error, RegisterError::FieldType { type_name, .. } if type_name == wrong));
    }
    let error = refused(&mut world, "mod.new", [("a", "u8"), ("a", "u8")]);
    assert!(matches!(error, RegisterError::Repeated { .. }));
    let error = refused(&mut world, "mod.new", [("a", "u8"), ("", "u8")]);
    assert!(matches!(error, RegisterError::Name { field: Some(1), len: 0, .. }));
    let text = "field 1 of the layout `mod.new`";
    assert!(error.to_string().contains(text), "{error}");
    let error = refused(&mut world, "mod.new", one("float"));
    let text = "the field `a` of the layout `mod.new` cannot be a `float` (did you mean `f32`?)";
    assert!(error.to_string().contains(text), "{error}");
    let error = refused(&mut world, "mod.\n", [("a", "u8")]);
    let text = r"the layout `mod.\n` has a name that has `\n`, which is not shown";
    assert!(error.to_string().starts_with(text), "{error}");
    let error = refused(&mut world, "mod.\u{202e}", none);
    assert!(matches!(error, RegisterError::Control { character: '\u{202e}', .. }), "{error}");
    let error = refused(&mut world, "mod.new", [("a", "u8"), ("b", "u16")]);
    assert!(matches!(error, RegisterError::Padding { bytes: 1, .. }));
    let error = refused(&mut world, "mod.new", one("[u8; 4294967296]"));
    assert!(matches!(error, RegisterError::TooLarge { .. }));
    let large = [("a", "[u8; 4294967295]"), ("b", "[u8; 18446744073709551615]")];
    let error = refused(&mut world, "mod.new", large);
    assert!(matches!(&error, RegisterError::TooLarge { field, .. } if field == "b"));
    let names: Vec<_> = (0..300).map(|i| i.to_string()).collect();
    let many = names.iter().map(|name| (name.as_str(), "u8"));
    let error = world.reflect_mut().register_layout("mod.new", many).expect_err("too many");
    assert!(matches!(error, RegisterError::Fields { .. }));
    let most = names[..256].iter().map(|name| (name.as_str(), "u8"));
    let most = world.reflect_mut().register_layout("mod.new", most).expect("256 fields");
    assert_eq!(most.size(), 256);
}

#[test]
#[should_panic(expected = "two components are named `run_time.name`: this world has `layout {")]
fn a_type_of_a_taken_name_is_refused() {
    let mut world = World::new();
    let layout = world.reflect_mut().register_layout("run_time.name", [("a", "u8")]);
    assert!(layout.is_ok(), "the name is free");
    world.spawn(Named(1));
}

#[test]
#[should_panic(expected = "two components are named `run_time.name`: this world has `layout {")]
fn a_shared_query_that_does_not_know_its_type_is_refused_afterwards() {
    let mut world = World::new();
    assert_eq!(world.query::<&Named>().count_rows(), 0);
    let layout = world.reflect_mut().register_layout("run_time.name", [("a", "u8")]);
    assert!(layout.is_ok(), "the name is free");
    assert_eq!(world.query::<&Named>().count_rows(), 0);
}

#[test]
fn a_layout_without_fields_is_a_tag() {
    let mut world = World::new();
    let none: [(&str, &str); 0] = [];
    let tag = world.reflect_mut().register_layout("mod.docked", none).expect("free");
    assert_eq!((tag.size(), tag.align()), (0, 1));
    let empty = world.reflect_mut().register_layout("mod.empty", [("a", "[u32; 0]")]);
    assert_eq!(empty.expect("free").size(), 0);
    let ships = world.spawn_batch((0..10).map(Byte)).to_vec();
    for &ship in &ships[..4] {
        let value: [(&str, &[u8]); 2] = [("mod.docked", &[]), ("mod.empty", &[])];
        world.reflect_mut().insert(ship, value).expect("alive");
    }
    let docked = NamedQuery::new().read("mod.docked").without("mod.fuel");
    assert!(world.reflect().chunks(&docked).is_err(), "the world does not know the fuel");
    let docked = NamedQuery::new().with("mod.docked").with("mod.empty");
    let rows = world.reflect().chunks(&docked).expect("known").map(|chunk| chunk.len());
    assert_eq!(rows.sum::<usize>(), 4);
    let shown = format!("{:?}", world.entity(ships[0]).expect("alive"));
    assert!(shown.contains("mod.docked: {}, mod.empty: {a: []}"), "{shown}");
    sound(&world);
}

#[test]
fn a_value_that_is_larger_than_a_chunk_is_refused_where_it_is_inserted() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entity = world.spawn(Four(1));
    for (name, len) in [("mod.page", 4096 - 64), ("mod.large", 4096), ("mod.huge", 1 << 20)] {
        let bytes = format!("[u8; {len}]");
        let layout = world.reflect_mut().register_layout(name, [("bytes", bytes.as_str())]);
        assert_eq!(layout.expect("free").size(), len);
        let inserted = world.reflect_mut().insert(entity, [(name, &vec![1; len][..])]);
        match len {
            4096.. => assert!(matches!(inserted, Err(BytesError::Entity(EntityError::Layout(_))))),
            _ => assert_eq!(inserted, Ok(())),
        }
        sound(&world);
    }
    let most = world.reflect_mut().register_layout("mod.most", [("a", "[u8; 4294967295]")]);
    assert_eq!(most.expect("free").size(), 4_294_967_295);
    let inserted = world.reflect_mut().insert(entity, [("mod.most", &[1][..])]);
    assert!(matches!(inserted, Err(BytesError::Size { .. })));
}

#[test]
fn equal_states_have_one_hash_in_any_order_of_registration() {
    let (mut world, ships) = fleet();
    let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
    other.register::<(Byte, Tag, Four)>();
    other.reflect_mut().register_layout("mod.before", [("a", "u128")]).expect("free");
    register(&mut other);
    let mut again = other.spawn_batch((0..300).map(Four)).to_vec();
    again.extend(other.spawn_batch((0..50).map(|i| (Four(i), Tag))));
    for (litres, &ship) in again.iter().enumerate().filter(|(i, _)| i % 3 != 1) {
        insert(&mut other, ship, &fuel(litres as f32, again[0], [1, 0, 1])).expect("alive");
    }
    assert_eq!((&again, other.hash()), (&ships, world.hash()));
    insert(&mut world, ships[5], &fuel(-5.0, ships[0], [1, 0, 1])).expect("alive");
    assert_ne!(other.hash(), world.hash());
}

#[test]
fn states_in_memory_and_as_bytes_have_the_values() {
    let (mut world, ships) = fleet();
    let state = world.snapshot().expect("no buffers");
    let (bytes, hash) = (state.to_bytes().expect("all plain"), world.hash());
    world.reflect_mut().remove(ships[0], ["mod.fuel"]).expect("alive");
    world.despawn(ships[2]).expect("alive");
    let delta = state.delta(&mut world).expect("no buffers");
    let later = world.hash();
    world.restore(&state).expect("it is of this world");
    assert_eq!((world.hash(), fuel_of(&world, ships[2]).is_some()), (hash, true));
    sound(&world);
    let column = state.archetypes().find_map(|archetype| archetype.column("mod.fuel"));
    assert_eq!(column.expect("it has a column").info().size(), 16);

    let mut mirror = World::builder().chunk_size(ChunkSize::KIB_4).build();
    mirror.register::<(Tag, Four)>();
    let error = mirror.read_snapshot(&bytes).expect_err("it is not registered");
    assert!(matches!(&error, ReadError::UnknownComponent { name } if &**name == "mod.fuel"));
    assert!(error.to_string().contains("`ReflectMut::register_layout`"), "{error}");
    let left = SnapshotReader::new(&mut mirror).skip_unknown().read(&bytes);
    assert!(left.is_ok(), "it is left out");
    register(&mut mirror);
    let mut state = mirror.read_snapshot(&bytes).expect("all is registered");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), hash);
    sound(&mirror);
    state.read_delta(&mut mirror, &delta).expect("it is the next");
    mirror.restore(&state).expect("it was read here");
    assert_eq!((mirror.hash(), fuel_of(&mirror, ships[0])), (later, None));
    sound(&mirror);
    for len in 0..bytes.len() {
        assert!(mirror.read_snapshot(&bytes[..len]).is_err(), "{len} bytes");
    }
    assert_eq!(mirror.hash(), later, "it is only read");

    let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
    other.register::<(Tag, Four)>();
    let fields =
        [("litres", "u32"), ("tanker", "Entity"), ("valves", "[bool; 3]"), ("grade", "u8")];
    other.reflect_mut().register_layout("mod.fuel", fields).expect("free");
    let error = other.read_snapshot(&bytes).expect_err("it has other fields");
    assert!(matches!(error, ReadError::OtherComponent { found: 16, own: 16, .. }));
}

#[test]
fn bytes_with_values_that_are_none_are_refused_under_any_checksum() {
    let (mut world, ships) = fleet();
    insert(&mut world, ships[2], &fuel(777.25, ships[0], [1, 0, 1])).expect("alive");
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("all plain");
    let value = fuel(777.25, ships[0], [1, 0, 1]);
    let place = bytes.windows(value.len()).position(|window| window == value);
    let place = place.expect("rows are bytes");
    let sealed = |byte: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[byte] = value;
        let (contents, checksum) = bytes.split_last_chunk_mut::<8>().expect("it has a checksum");
        *checksum = xxhash_rust::xxh3::xxh3_64(contents).to_ne_bytes();
        bytes
    };
    assert!(world.read_snapshot(&sealed(place + 12, 0)).is_ok(), "another value");
    let error = world.read_snapshot(&sealed(place + 12, 2)).expect_err("a `bool` of 2");
    assert!(matches!(error, ReadError::Invalid { .. }), "{error}");
}

#[test]
fn a_type_with_the_same_name_and_fields_reads_the_bytes_of_a_layout() {
    #[component(name = "run_time.door")]
    #[derive(Debug, PartialEq)]
    struct Door {
        is_open: bool,
        keys: [u8; 3],
    }
    let mut world = World::new();
    let entity = world.spawn(());
    let fields = [("is_open", "bool"), ("keys", "[u8; 3]")];
    world.reflect_mut().register_layout("run_time.door", fields).expect("free");
    world.reflect_mut().insert(entity, [("run_time.door", &[1, 2, 3, 4][..])]).expect("alive");
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("all plain");
    let mut typed = World::new();
    typed.register::<Door>();
    let state = typed.read_snapshot(&bytes).expect("the same fields");
    typed.restore(&state).expect("it was read here");
    assert_eq!(typed.get::<Door>(entity), Ok(&Door { is_open: true, keys: [2, 3, 4] }));
    assert_eq!(typed.hash(), world.hash());
    assert!(typed.merge(world).is_err(), "in memory they are two components");
}

#[test]
fn ids_in_fields_are_replaced_in_other_worlds_and_in_copies() {
    let (mut world, ships) = fleet();
    let mut target = World::builder().chunk_size(ChunkSize::KIB_4).build();
    target.spawn_batch([Byte(3); 77]);
    let moved = target.move_from(world.matching::<&Four>().with::<Tag>()).expect("they fit");
    assert_eq!((moved.len(), world.len()), (50, 300));
    let ship = moved.get(ships[302]).expect("it moved");
    let alone = fuel(302.0, Entity::NULL, [1, 0, 1]);
    assert_eq!(fuel_of(&target, ship), Some(alone), "the tanker stayed behind");
    sound(&target);
    let merged = target.merge(world).expect("they fit");
    let [tanker, ship] = [ships[0], ships[5]].map(|old| merged.get(old).expect("it came along"));
    assert_eq!(fuel_of(&target, ship), Some(fuel(5.0, tanker, [1, 0, 1])));
    sound(&target);

    let copies = target.instantiate(ship, 100).expect("they fit").to_vec();
    let of_copy = fuel_of(&target, copies[99]);
    assert_eq!(of_copy, Some(fuel(5.0, tanker, [1, 0, 1])), "the tanker is no copy");
    sound(&target);

    let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
    other.reflect_mut().register_layout("mod.fuel", [("litres", "f32")]).expect("free");
    let error = other.merge(target).expect_err("one name for two components");
    let text = error.to_string();
    assert!(text.contains("this world has `layout { litres: f32 }`"), "{text}");
}

#[relation(tree)]
struct ChildOf;

#[test]
fn ids_in_fields_follow_copies_of_trees() {
    let mut world = World::new();
    register(&mut world);
    let root = world.spawn(Byte(1));
    let child = world.spawn((Byte(2), ChildOf::of(root)));
    insert(&mut world, child, &fuel(1.0, root, [0; 3])).expect("alive");
    insert(&mut world, root, &fuel(2.0, child, [0; 3])).expect("alive");
    let place = world.spawn(());
    let copies = world.instantiate_tree::<ChildOf>(root, [place; 40]).expect("they fit");
    for copy in copies.chunks(2) {
        let [root, child] = *copy else { unreachable!("two entities each") };
        assert_eq!(fuel_of(&world, root), Some(fuel(2.0, child, [0; 3])));
        assert_eq!(fuel_of(&world, child), Some(fuel(1.0, root, [0; 3])));
    }
    sound(&world);
}

#[test]
fn two_layouts_of_one_size_are_two_columns() {
    let mut world = World::new();
    let entities = world.spawn_batch([(); 20]).to_vec();
    for name in ["mod.a", "mod.b"] {
        world.reflect_mut().register_layout(name, [("on", "bool")]).expect("free");
    }
    for (i, &entity) in entities.iter().enumerate() {
        let [a, b] = [[u8::from(i % 2 == 0)], [u8::from(i % 3 == 0)]];
        world.reflect_mut().insert(entity, [("mod.b", &b[..]), ("mod.a", &a)]).expect("alive");
    }
    let query = NamedQuery::new().write("mod.a").read("mod.b");
    let visited = world.reflect_mut().for_each_chunk(&query, |chunk| {
        let [a, b] = chunk.columns_mut() else { unreachable!("two terms") };
        for row in 0..20 {
            a.set(row, b.row(row)).expect("a `bool`");
        }
        assert!(matches!(b.set(0, &[0]), Err(BytesError::ReadOnly { .. })));
    });
    assert_eq!(visited, Ok(()));
    for (i, &entity) in entities.iter().enumerate() {
        let view = world.entity(entity).expect("alive");
        assert_eq!(view.component("mod.a").expect("it has one").bytes(), [u8::from(i % 3 == 0)]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "tens of thousands of layouts")]
fn a_world_has_no_more_layouts_than_types() {
    let mut world = World::new();
    let entity = world.spawn(());
    let names: Vec<_> = (0..65_535).map(|i| format!("mod.{i}")).collect();
    for name in &names {
        world.reflect_mut().register_layout(name, [("a", "u8")]).expect("free");
    }
    let error = world.reflect_mut().register_layout("mod.last", [("a", "u8")]);
    assert!(matches!(error, Err(RegisterError::TooMany { .. })));
    let some = names.iter().step_by(700).map(|name| (name.as_str(), &[1_u8][..]));
    world.reflect_mut().insert(entity, some).expect("a row of 94 bytes");
    assert_eq!(world.entity(entity).expect("alive").components().count(), 94);
    let mut target = World::new();
    target.spawn(Byte(1));
    let merged = target.merge(world).expect("it has room for 94");
    let view = target.entity(merged.get(entity).expect("it came along")).expect("alive");
    assert_eq!(view.components().count(), 94);
    assert_eq!(target.reflect().components().count(), 95);
    sound(&target);
}

#[test]
#[should_panic(expected = "row 99 of 1 rows of `mod.fuel`")]
fn a_row_that_a_chunk_lacks_is_named_with_their_number() {
    let mut world = World::new();
    register(&mut world);
    let entity = world.spawn(());
    insert(&mut world, entity, &fuel(1.0, entity, [0; 3])).expect("it is alive");
    let query = NamedQuery::new().read("mod.fuel");
    for chunk in world.reflect().chunks(&query).expect("a known name") {
        let _ = chunk.columns()[0].row(99);
    }
}
