//! Commands that name components by text: one move each, and an error that tells what is refused.

use phalanx::command::{CommandErrorKind, CommandVerb, DeadEntityPolicy};
use phalanx::error::SpawnError;
use phalanx::prelude::*;
use phalanx::reflect::BytesError;
use phalanx::schedule::ScheduleError;

use crate::common::components::{Byte, Four, Tag, sound};
use crate::fixtures::{apply, errors, world_and_buffer};

#[component(name = "named.door")]
#[derive(Debug, PartialEq)]
struct Door {
    keys: u8,
    is_open: bool,
}
#[component(name = "named.page")]
struct Page([u8; 4096]);

fn world(ids: u32) -> (World, CommandBuffer) {
    let (mut world, buffer) = world_and_buffer(ids);
    world.register::<(Door, Byte, Four, Tag)>();
    let fields = [("litres", "f32"), ("valves", "[bool; 4]")];
    world.reflect_mut().register_layout("mod.fuel", fields).expect("a valid layout");
    (world, buffer)
}

const FUEL: &[u8] = &[0, 0, 0, 0, 1, 0, 1, 0];

#[test]
fn several_components_are_one_move() {
    let (mut world, mut buffer) = world(2);
    let entity = world.spawn(Four(1));
    buffer.insert_named(entity, [("mod.fuel", FUEL), ("named.door", &[3, 1]), (Tag::NAME, &[])]);
    let new = buffer.spawn_named([("named.door", &[4, 0][..]), ("mod.fuel", FUEL)]).expect("an id");
    buffer.insert(new, Four(9));
    assert_eq!(buffer.len(), 3);
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.commands, applied.spawned, applied.moved), (3, 1, 2));
    assert_eq!(world.get::<Door>(entity), Ok(&Door { keys: 3, is_open: true }));
    assert_eq!(world.get::<Door>(new), Ok(&Door { keys: 4, is_open: false }));
    assert_eq!(world.get::<Four>(new), Ok(&Four(9)));
    for entity in [entity, new] {
        let view = world.entity(entity).expect("alive");
        assert_eq!(view.component("mod.fuel").expect("it has some").bytes(), FUEL);
    }
    buffer.remove_named(entity, ["mod.fuel", Tag::NAME, Byte::NAME]);
    assert_eq!(apply(&mut world, &mut buffer).moved, 1);
    assert!(world.has::<Door>(entity) && !world.has::<Tag>(entity));
}

#[test]
fn a_component_is_switched_by_its_name() {
    let (mut world, mut buffer) = world(0);
    let mut reflect = world.reflect_mut();
    reflect.register_layout_with("mod.power", ["enableable"], []).expect("a valid layout");
    let [on, off] = [(); 2].map(|()| reflect.spawn([("mod.power", &[][..])]).expect("it is known"));
    let without = world.spawn(Byte(1));
    buffer.set_enabled_named(off, "mod.power", false);
    buffer.set_enabled_named(on, "mod.power", false);
    buffer.set_enabled_named(on, "mod.power", true);
    buffer.set_enabled_named(without, "mod.power", false);
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.commands, applied.moved), (4, 0), "it has none, and is no error");
    let was_enabled = [on, off].map(|one| world.reflect_mut().set_enabled(one, "mod.power", true));
    assert_eq!(was_enabled, [Ok(true), Ok(false)]);
    buffer.set_enabled_named(without, Byte::NAME, false);
    buffer.set_enabled_named(without, "mod.pover", true);
    buffer.set_enabled_named(Entity::NULL, "mod.power", true);
    let errors = errors(&mut world, &mut buffer);
    let [fixed, unknown, dead] = &errors[..] else { panic!("three errors: {errors:?}") };
    assert_eq!((fixed.verb, unknown.verb), (CommandVerb::Disable, CommandVerb::Enable));
    assert!(fixed.to_string().contains("cannot be disabled"), "{fixed}");
    assert!(unknown.to_string().contains("did you mean `mod.power`?"), "{unknown}");
    assert!(matches!(dead.fault, CommandErrorKind::NoSuchEntity(_)), "{dead}");
    // Each writer has it as well.
    buffer.par_writers(1)[0].set_enabled_named(on, "mod.power", false);
    apply(&mut world, &mut buffer);
    assert_eq!(world.reflect_mut().set_enabled(on, "mod.power", true), Ok(false));
}

#[test]
fn a_message_has_ten_names() {
    let (mut world, mut buffer) = world(0);
    let names: Vec<_> = (0..3_000).map(|number| format!("mod.{number}")).collect();
    for name in &names {
        world.reflect_mut().register_layout(name, []).expect("a valid name");
    }
    buffer.remove_named(Entity::NULL, names.iter().map(String::as_str).chain(["mod.fule"]));
    let errors = errors(&mut world, &mut buffer);
    let text = errors[0].to_string();
    assert!(text.starts_with("remove of `mod.0`, `mod.1`, "), "{text}");
    assert!(text.contains("`mod.9` and 2990 more, recorded at"), "{text}");
    assert!(text.len() < 500 && errors[0].components.len() == 3_000, "{text}");
}

#[test]
fn they_follow_the_order_of_recording() {
    let (mut world, mut buffer) = world(0);
    let [entity, gone] = [(); 2].map(|()| world.spawn(()));
    buffer.insert(entity, Byte(1));
    buffer.insert_named(entity, [(Byte::NAME, &[2][..])]);
    buffer.insert_named(entity, [(Byte::NAME, &[3][..])]);
    buffer.remove::<Byte>(entity);
    buffer.insert_named(entity, [(Byte::NAME, &[4][..])]);
    buffer.despawn(gone);
    buffer.insert_named(gone, [(Byte::NAME, &[5][..])]);
    let errors = errors(&mut world, &mut buffer);
    assert_eq!(world.get::<Byte>(entity), Ok(&Byte(4)));
    let [error] = &errors[..] else { panic!("one error: {errors:?}") };
    assert!(matches!(error.fault, CommandErrorKind::NoSuchEntity(_)));
    assert_eq!((error.verb, &error.components[..]), (CommandVerb::Insert, &[Byte::NAME][..]));
}

#[test]
fn a_command_is_refused_as_a_whole_and_says_why() {
    let (mut world, mut buffer) = world(8);
    let entity = world.spawn(Four(1));
    let good = ("named.door", &[3, 1][..]);
    let mut ids = Vec::new();
    let mut refused = |world: &mut World, value: (&str, &[u8])| {
        buffer.insert_named(entity, [good, value]);
        ids.push(buffer.spawn_named([value, good]).expect("an id"));
        buffer.insert(entity, Four(1));
        let errors = errors(world, &mut buffer);
        let [insert, spawn] = &errors[..] else { panic!("two errors: {errors:?}") };
        assert_eq!((insert.verb, spawn.verb), (CommandVerb::Insert, CommandVerb::Spawn));
        assert_eq!((insert.entity, spawn.entity), (entity, ids[ids.len() - 1]));
        assert!(insert.components.contains(&"named.door") && insert.place.file() == file!());
        assert!(!world.contains(spawn.entity) && !world.has::<Door>(entity));
        sound(world);
        insert.to_string()
    };
    let text = refused(&mut world, ("mod.fuel", &[0, 0, 0, 0, 1, 0, 2, 0]));
    let reason = "the field `valves` of `mod.fuel` has bytes that are no `[bool; 4]`";
    assert!(text.contains("insert of `named.door`, `mod.fuel`, recorded at"), "{text}");
    assert!(text.contains(reason), "{text}");
    let text = refused(&mut world, ("mod.fule", FUEL));
    assert!(text.contains("insert of `named.door`, recorded at"), "{text}");
    assert!(text.ends_with("did you mean `mod.fuel`?"), "{text}");
    let text = refused(&mut world, ("mod.fuel", &FUEL[1..]));
    assert!(text.ends_with("a value of `mod.fuel` has 8 bytes, and 7 were given"), "{text}");
    let text = refused(&mut world, ("named.door", &[1, 1]));
    assert!(text.ends_with("`named.door` is named twice: name it once"), "{text}");
    let text = refused(&mut world, (Gone::NAME, &[]));
    assert!(text.contains("use `despawn`"), "{text}");
    assert_eq!((world.len(), world.get::<Four>(entity)), (1, Ok(&Four(1))));
}

#[test]
fn a_row_that_does_not_fit_is_refused_and_its_id_is_used_again() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.register::<(Page, Byte)>();
    let entity = world.spawn(Byte(1));
    let mut buffer = world.command_buffer(1).expect("a new world has ids");
    let page = [("named.page", &[1; 4096][..]), (Byte::NAME, &[2])];
    buffer.insert_named(entity, page);
    let lost = buffer.spawn_named(page).expect("an id");
    assert!(buffer.spawn_named(page).is_err(), "no id is left");
    assert_eq!(buffer.len(), 2, "a spawn without an id is not recorded");
    let errors = errors(&mut world, &mut buffer);
    assert!(errors.iter().all(|error| matches!(error.fault, CommandErrorKind::Layout(_))));
    assert_eq!((errors.len(), world.len(), world.contains(lost)), (2, 1, false));
    let refused = world.reflect_mut().spawn(page).expect_err("too large");
    assert!(matches!(refused, BytesError::Spawn(SpawnError::Layout(_))));
    let next = buffer.spawn_named([(Byte::NAME, &[2][..])]).expect("a new id");
    apply(&mut world, &mut buffer);
    assert_eq!(world.get::<Byte>(next), Ok(&Byte(2)));
}

#[test]
fn a_discarded_spawn_leaves_no_entity() {
    let (mut world, mut buffer) = world(2);
    let never = buffer.spawn_named([("mod.fuel", FUEL)]).expect("an id");
    buffer.clear();
    let entity = buffer.spawn_named([("mod.fuel", FUEL)]).expect("an id");
    buffer.despawn(entity);
    apply(&mut world, &mut buffer);
    assert!(!world.contains(never) && !world.contains(entity));
    assert_eq!(world.len(), 0);
}

#[test]
fn the_policy_decides_about_dead_entities_and_not_about_names() {
    let (mut world, mut buffer) = world(0);
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    let entity = world.spawn(());
    buffer.remove_named(Entity::NULL, [Byte::NAME]);
    buffer.insert_named(entity, [("unheard of", &[][..])]);
    let errors = errors(&mut world, &mut buffer);
    let [error] = &errors[..] else { panic!("one error: {errors:?}") };
    let unknown = CommandErrorKind::Bytes(BytesError::UnknownName {
        name: "unheard of".to_owned(),
        nearest: None,
    });
    assert_eq!((&error.fault, error.components.len()), (&unknown, 0));
    // A name that is registered later is found.
    world.reflect_mut().register_layout("unheard of", []).expect("a valid name");
    buffer.insert_named(entity, [("unheard of", &[][..])]);
    apply(&mut world, &mut buffer);
}

#[test]
fn writers_record_them_in_the_order_of_chunks() {
    let (mut world, mut buffer) = world(0);
    let entities = world.spawn_batch([(); 3]).to_vec();
    let mut writers = buffer.par_writers(3);
    for (n, writer) in (1_u8..).zip(writers.iter_mut()) {
        for &entity in &entities {
            writer.insert_named(entity, [(Byte::NAME, &[n][..])]);
        }
        writer.remove_named(entities[1], [Byte::NAME]);
    }
    drop(writers);
    apply(&mut world, &mut buffer);
    let values = [0, 1, 2].map(|n| world.get::<Byte>(entities[n]).copied().ok());
    assert_eq!(values, [Some(Byte(3)), None, Some(Byte(3))]);
}

#[test]
fn a_system_reports_one_error_for_a_call_site() {
    let (mut world, _) = world(0);
    world.spawn_batch([Byte(1); 50]);
    let mut schedule = Schedule::new();
    schedule.add(|bytes: Query<Entity>, mut commands: Commands| {
        for (number, entity) in bytes.rows().enumerate() {
            commands.insert_named(entity, [(&*format!("mod.{number}"), &[][..])]);
        }
    });
    let error = schedule.run(&mut world).expect_err("no name is known");
    let ScheduleError::Commands(failed) = &error else { panic!("{error}") };
    assert_eq!(failed.count, 50, "{error}");
    assert!(error.to_string().contains("the component `mod.0` is not registered"), "{error}");
}

#[test]
fn an_unknown_name_is_told_once() {
    let (mut world, mut buffer) = world(1);
    let entity = world.spawn(());
    buffer.remove_named(entity, ["mod.feul"]);
    buffer.spawn_named([("mod.feul", FUEL)]).expect("an id");
    for error in errors(&mut world, &mut buffer) {
        let text = error.to_string();
        assert!(!text.contains("no components"), "{text}");
        assert_eq!(text.matches("mod.feul").count(), 1, "{text}");
        assert!(text.ends_with("is not registered; did you mean `mod.fuel`?"), "{text}");
    }
}
