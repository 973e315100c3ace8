//! Two component types of one name: one clear error at the first use of the second, everywhere.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::command::{ApplyError, CommandError, CommandErrorKind, CommandVerb};
use phalanx::error::NameTaken;
use phalanx::prelude::*;
use phalanx::{Lookup, LookupMut};

mod first {
    use phalanx::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    pub(crate) struct Health(pub(crate) u32);
    impl_component!(Health as "health");
}

mod second {
    use phalanx::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    pub(crate) struct Health(pub(crate) u32);
    impl_component!(Health as "health");
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Other(u32);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Tag;
impl_component!(Other, Tag);

/// The error in a world that met the first type first.
const TAKEN: NameTaken = NameTaken {
    name: "health",
    owner: "component::names::first::Health",
    refused: "component::names::second::Health",
};

/// A world with one entity of the first type.
fn world() -> (World, Entity) {
    let mut world = World::new();
    let entity = world.spawn((first::Health(1), Other(1)));
    (world, entity)
}

/// The text of a panic.
fn panic_of<R: Debug>(body: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(body)).expect_err("it should panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

/// Uses the second type in a world that has the first one.
#[track_caller]
fn refused<R: Debug>(what: &str, body: impl FnOnce(&mut World, Entity) -> R) {
    let (mut world, entity) = world();
    assert_eq!(panic_of(|| body(&mut world, entity)), TAKEN.to_string(), "{what}");
    assert_eq!(world.check(), Ok(()), "{what}");
    assert_eq!(world.query::<&first::Health>().copies().gather(), [first::Health(1)], "{what}");
    world.spawn((first::Health(2), Tag));
    assert_eq!(world.query::<&first::Health>().count_rows(), 2, "{what}");
}

#[test]
fn the_text_names_both_types_by_their_paths_and_what_to_do() {
    assert_eq!(
        TAKEN.to_string(),
        "two component types are named `health`: this world has `component::names::first::Health`, \
         so `component::names::second::Health` cannot be used in it; give one of them \
         another name: `#[component(name = \"name\")]` where it is defined, \
         `impl_component!(Type as \"name\")` where it is not"
    );
}

#[test]
fn every_change_refuses_the_second_type() {
    use second::Health;
    refused("spawn", |w, _| w.spawn(Health(2)));
    refused("try_spawn", |w, _| w.try_spawn((Tag, Health(2))).is_ok());
    refused("spawn_at", |w, _| w.spawn_at(Entity::from_bits(7 << 32 | 1), Health(2)).is_ok());
    refused("spawn_batch", |w, _| w.spawn_batch([Health(2)]).len());
    refused("spawn_columns", |w, _| w.spawn_columns(&[Health(2)][..]).is_ok());
    refused("reserve", |w, _| w.reserve::<Health>(10).is_ok());
    refused("insert", |w, e| w.insert(e, (Tag, Health(2))).is_ok());
    refused("remove", |w, e| w.remove::<Health>(e).is_ok());
    refused("exchange", |w, e| w.exchange::<Other, _>(e, Health(2)).is_ok());
    refused("matching", |w, _| w.matching::<&Health>().despawn());
    refused("insert by query", |w, _| w.matching::<&Other>().insert(Health(2)).is_ok());
    refused("remove by query", |w, _| w.matching::<&Other>().remove::<Health>());
}

#[test]
fn every_look_refuses_the_second_type() {
    use second::Health;
    refused("get", |w, e| w.get::<Health>(e).is_ok());
    refused("get_mut", |w, e| w.get_mut::<Health>(e).is_ok());
    refused("has", |w, e| w.has::<Health>(e));
    refused("lookup", |w, e| w.lookup::<Health>().get(e).is_ok());
    refused("lookup_mut", |w, e| w.lookup_mut::<Health>().get(e).is_ok());
    refused("query", |w, _| w.query::<&Health>().iter().count());
    refused("optional", |w, _| w.query::<(Entity, Option<&Health>)>().rows().count());
    refused("with", |w, _| w.query::<Entity>().with::<Health>().iter().count());
    refused("without", |w, _| w.query::<Entity>().without::<Health>().count_rows());
    refused("AnyOf", |w, _| w.query::<Entity>().filter::<AnyOf<(Other, Health)>>().iter().count());
    refused("changed_since", |w, _| {
        w.query::<(&Other,)>().changed_since::<Health>(Version::NEVER).iter().count()
    });
    refused("query_mut", |w, _| w.query_mut::<&mut Health>().iter_mut().count());
    refused("explain", |w, _| w.query::<&Health>().explain().to_string());
}

#[test]
fn gather_and_scatter_go_by_type() {
    use second::Health;
    refused("gather", |w, _| w.query::<(&first::Health, Entity)>().copies().gather::<Health>());
    refused("scatter", |w, _| {
        w.query_mut::<(&mut first::Health, Entity)>().scatter(&[Health(9)]).is_ok()
    });
    // A world that has neither type removes and inserts no component.
    let mut empty = World::new();
    assert_eq!(empty.query::<(&first::Health, Entity)>().copies().gather::<Health>(), []);
    assert_eq!(empty.query_mut::<(&mut first::Health, Entity)>().scatter::<Health>(&[]), Ok(()));
    let (world, _) = world();
    let chunk = world.query::<&first::Health>().chunks().next().unwrap();
    assert!(chunk.version::<first::Health>().is_some());
    assert_eq!(chunk.version::<Health>(), None);
}

#[test]
fn a_query_made_before_the_world_met_the_name_is_refused_when_it_starts_again() {
    let mut world = World::new();
    for _ in 0..2 {
        assert_eq!(
            world.query::<&second::Health>().iter().count(),
            0,
            "looking gives no type a name"
        );
    }
    // No archetype has the first type yet.
    assert_eq!(world.query_mut::<&mut first::Health>().iter_mut().count(), 0);
    assert_eq!(panic_of(|| world.query::<&second::Health>().iter().count()), TAKEN.to_string());
    world.spawn(first::Health(1));
    assert_eq!(panic_of(|| world.query::<&second::Health>().iter().count()), TAKEN.to_string());
    assert_eq!(
        panic_of(|| world.query_mut::<&second::Health>().iter_mut().count()),
        TAKEN.to_string()
    );
    world.spawn((first::Health(1), Tag));
    assert_eq!(panic_of(|| world.query::<&second::Health>().iter().count()), TAKEN.to_string());
    assert_eq!((world.query::<&first::Health>().count_rows(), world.check()), (2, Ok(())));
}

#[test]
fn a_query_made_before_the_world_met_its_type_finds_it_as_soon_as_there_is_one() {
    let mut world = World::new();
    let count = |world: &World| world.query::<&second::Health>().iter().count();
    assert_eq!(count(&world), 0);
    world.spawn(Other(1));
    assert_eq!(count(&world), 0);
    for entities in 1..3 {
        world.spawn(second::Health(1));
        assert_eq!(world.query::<&second::Health>().count_rows(), entities);
        assert_eq!(count(&world), 1);
    }
    assert_eq!(
        panic_of(|| world.has::<first::Health>(Entity::NULL)).len(),
        TAKEN.to_string().len()
    );
    assert_eq!(count(&world), 1);
}

#[test]
fn a_world_takes_either_type_and_another_world_the_other() {
    let mut world = World::new();
    let entity = world.spawn(second::Health(3));
    assert_eq!(world.get::<second::Health>(entity), Ok(&second::Health(3)));
    let text = panic_of(|| world.get::<first::Health>(entity).is_ok());
    assert!(text.contains("this world has `component::names::second::Health`"), "{text}");
}

#[test]
fn two_types_of_one_name_in_one_query_are_refused() {
    let mut world = World::new();
    for _ in 0..2 {
        let shared = || world.query::<(&first::Health, &second::Health)>().iter().count();
        assert_eq!(panic_of(shared), TAKEN.to_string(), "the world has met neither");
    }
    let exclusive =
        || world.query_mut::<&first::Health>().without::<second::Health>().iter_mut().count();
    assert_eq!(panic_of(exclusive), TAKEN.to_string());
}

/// The errors of a playback that has some.
#[track_caller]
fn errors(world: &mut World, buffer: &mut CommandBuffer) -> Vec<CommandError> {
    let Err(ApplyError::Commands(errors)) = world.apply(buffer) else {
        panic!("commands should have failed")
    };
    assert_eq!((world.check(), buffer.len()), (Ok(()), 0));
    errors.into_iter().collect()
}

#[test]
fn a_command_of_the_second_type_fails_with_its_place_and_nothing_else_is_lost() {
    let (mut world, entity) = world();
    let mut buffer = world.command_buffer(8).unwrap();
    let before = buffer.spawn(Other(2));
    let never = buffer.spawn((Other(3), second::Health(3)));
    let line = line!() - 1;
    buffer.insert(entity, Tag);
    buffer.insert(entity, second::Health(4));
    buffer.insert(entity, Other(5));
    buffer.insert(never, Tag);
    buffer.despawn(never);
    buffer.spawn_batch([second::Health(6); 3]);
    buffer.remove::<second::Health>(entity);
    buffer.exchange::<Other, _>(before, (Tag, second::Health(7)));
    buffer.insert_where::<&Other, (), _>(second::Health(8));
    buffer.remove_where::<&second::Health, (), Other>();
    buffer.despawn_where::<Entity, Without<second::Health>>();
    buffer.run(|world| assert_eq!(world.query::<&Other>().count_rows(), 2));
    let behind = buffer.spawn(Other(9));
    let failed = errors(&mut world, &mut buffer);

    let fault = CommandErrorKind::NameTaken(TAKEN);
    let told: Vec<_> = failed.iter().map(|e| (e.verb, e.entity, e.fault == fault)).collect();
    assert_eq!(
        told,
        [
            (CommandVerb::Spawn, never, true),
            (CommandVerb::Insert, entity, true),
            // The entity that should get the component never lives.
            (CommandVerb::Insert, never, false),
            (CommandVerb::Spawn, Entity::NULL, true),
            (CommandVerb::Remove, entity, true),
            (CommandVerb::Exchange, before, true),
            (CommandVerb::Insert, Entity::NULL, true),
            (CommandVerb::Remove, Entity::NULL, true),
            (CommandVerb::Despawn, Entity::NULL, true),
        ]
    );
    assert_eq!((failed[0].place.file(), failed[0].place.line()), (file!(), line));
    assert_eq!(failed[0].components, [Other::NAME, "health"]);
    let text = failed[0].to_string();
    assert!(
        text.starts_with("spawn of `component::names::Other`, `health`, recorded at tests"),
        "{text}"
    );
    assert!(text.ends_with(&TAKEN.to_string()), "{text}");
    assert!(failed[8].to_string().starts_with("despawn, recorded at "), "{}", failed[8]);

    assert_eq!(world.get::<Other>(before), Ok(&Other(2)));
    assert_eq!(world.get::<Other>(behind), Ok(&Other(9)));
    assert_eq!(world.get::<Other>(entity), Ok(&Other(5)));
    assert!(world.has::<Tag>(entity) && !world.contains(never));
    assert_eq!(world.query::<&first::Health>().copies().gather(), [first::Health(1)]);

    let again = [(); 8].map(|()| buffer.spawn(Other(0)));
    assert!(!again.contains(&never), "an id that was seen is not used again");
    buffer.insert(again[0], second::Health(1));
    assert_eq!(errors(&mut world, &mut buffer).len(), 1);
    assert!(again.iter().all(|&entity| world.contains(entity)));
}

#[test]
fn of_two_types_that_the_world_has_not_met_the_one_recorded_first_is_taken() {
    let mut world = World::new();
    let mut buffer = world.command_buffer(4).unwrap();
    let (one, two) = (buffer.spawn(first::Health(1)), buffer.spawn(second::Health(2)));
    let mut writers = buffer.par_writers(2);
    writers[0].spawn(second::Health(3));
    writers[1].spawn(first::Health(4));
    drop(writers);
    let errors = errors(&mut world, &mut buffer);
    assert!(errors.iter().all(|error| error.fault == CommandErrorKind::NameTaken(TAKEN)));
    assert_eq!((errors.len(), world.len()), (2, 2));
    assert!(world.has::<first::Health>(one) && !world.contains(two));
    assert_eq!(
        world.query::<&first::Health>().copies().gather(),
        [first::Health(1), first::Health(4)]
    );
}

#[test]
fn a_closure_that_meets_the_second_type_panics_and_the_rest_is_applied() {
    let (mut world, _) = world();
    let mut buffer = world.command_buffer(1).unwrap();
    buffer.run(|world| {
        world.spawn(second::Health(1));
    });
    buffer.spawn(Tag);
    assert_eq!(panic_of(|| world.apply(&mut buffer).is_ok()), TAKEN.to_string());
    assert_eq!((world.query::<&Tag>().count_rows(), world.check()), (1, Ok(())));
}

#[test]
fn systems_are_refused_when_they_are_added_or_prepared_and_the_schedule_can_be_kept() {
    let mut schedule = Schedule::new();
    // Without other threads, because rayon does not pass Miri's strictest rules.
    schedule.threads(1);
    schedule.add(|_: Query<&first::Health>| ());
    let text = panic_of(|| {
        schedule.add(|_: Lookup<second::Health>| ());
    });
    assert_eq!(text, TAKEN.to_string(), "two systems of one schedule");
    let (mut world, _) = world();
    schedule.run(&mut world).expect("the other system was not added");

    let mut other = Schedule::new();
    other.threads(1);
    other.add(|mut commands: Commands| {
        commands.spawn(Tag);
    });
    other.add(|_: LookupMut<second::Health>| ());
    for _ in 0..2 {
        assert_eq!(panic_of(|| other.run(&mut world).is_ok()), TAKEN.to_string());
        assert_eq!(world.query::<&Tag>().count_rows(), 0, "nothing has run");
    }
    other.reset();
    other.run(&mut World::new()).expect("a world without the first type");
}

#[test]
fn a_system_that_records_the_second_type_is_told_by_the_schedule() {
    let (mut world, _) = world();
    let mut schedule = Schedule::new();
    schedule
        .add(|mut commands: Commands| {
            commands.spawn(second::Health(1));
            commands.spawn(Tag);
        })
        .named("spawner");
    for run in 1..3 {
        let error = schedule.run(&mut world).unwrap_err().to_string();
        assert!(error.contains("`spawner`") && error.ends_with(&TAKEN.to_string()), "{error}");
        assert_eq!((world.query::<&Tag>().count_rows(), world.check()), (run, Ok(())));
    }
}
