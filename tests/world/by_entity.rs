//! Every call that names an entity, called for entities of every state: the calls agree.

use phalanx::Gone;
use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::rows::{Exclusion, RowError};
use phalanx::shared::Shared;

use crate::common::components::{Text, sound};
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Part(u32);
#[component(split)]
#[derive(Debug, PartialEq)]
struct Parts {
    x: f32,
    y: f32,
}
#[component]
struct Other(u32);
#[component(cleanup)]
struct Sound(u32);

/// The answer of a call about an entity and a component.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Has,
    Lacks,
    NotAlive,
}

use Answer::{Has, Lacks, NotAlive};

fn answer<T>(result: Result<T, EntityError>) -> Answer {
    match result {
        Ok(_) => Has,
        Err(EntityError::Missing { .. }) => Lacks,
        Err(EntityError::NoSuchEntity(_)) => NotAlive,
        Err(error) => panic!("another error: {error}"),
    }
}

fn row<T>(result: Result<T, RowError>) -> Answer {
    match result {
        Ok(_) => Has,
        Err(RowError::Excluded { reason: Exclusion::Lacks(_), .. }) => Lacks,
        Err(RowError::NoSuchEntity(_)) => NotAlive,
        Err(error) => panic!("another error: {error}"),
    }
}

/// A world, and the entities of each state with the expected answer.
fn scene() -> (World, Vec<(&'static str, Entity, Answer)>) {
    let mut world = world();
    let with = world.spawn((Part(1), Parts { x: 1.0, y: 2.0 }, Other(1)));
    world.insert_shared(with, 7_u64).unwrap();
    let without = world.spawn(Other(2));
    let bare = world.spawn(());
    let [dead, reused] = [world.spawn(Part(3)), world.spawn(())];
    let gone = world.spawn((Part(4), Sound(4)));
    assert_eq!(world.despawn_batch(&[dead, gone, reused]), 3);
    let mut kept = world.command_buffer(4).unwrap();
    let lent = kept.spawn(Part(5));
    // The ids of a dropped buffer are reserved first.
    let mut dropped = world.command_buffer(3).unwrap();
    dropped.spawn(Part(6));
    drop(dropped);
    let returned = world.reserve_entity().unwrap();
    let mut reserved: Vec<_> = world.reserve_entities(6).unwrap().collect();
    reserved.push(returned);
    drop(kept);
    let far = Entity::from_bits(u64::from(u32::MAX - 1) << 32 | 1);
    let mut all = vec![
        ("with", with, Has),
        ("without", without, Lacks),
        ("bare", bare, Lacks),
        ("dead", dead, NotAlive),
        ("gone", gone, NotAlive),
        ("lent", lent, NotAlive),
        ("null", Entity::NULL, NotAlive),
        ("far", far, NotAlive),
        ("garbage", Entity::from_bits(0xDEAD_BEEF_0BAD_F00D), NotAlive),
        ("of a later generation", Entity::from_bits(with.to_bits() + 5), NotAlive),
        ("of index 0 without one", Entity::from_bits(with.to_bits() & !0xFFFF_FFFF), NotAlive),
    ];
    all.extend(reserved.into_iter().map(|entity| ("reserved", entity, Lacks)));
    (world, all)
}

#[test]
fn calls_of_a_shared_world_agree() {
    let (world, all) = scene();
    let (parts, lookup) = (world.query::<&Part>(), world.lookup::<Part>());
    let rows = parts.lookup();
    let (ids, options) = (world.query::<Entity>(), world.query::<(Option<&Part>, Entity)>());
    for (name, entity, expected) in all {
        let is_alive = expected != NotAlive;
        let answers = [
            ("get", answer(world.get::<Part>(entity))),
            ("get of a split component", answer(world.get::<Parts>(entity))),
            ("lookup", answer(lookup.get(entity))),
            ("is_enabled", answer(world.is_enabled::<Part>(entity))),
            ("lookup().is_enabled", answer(lookup.is_enabled(entity))),
            ("get_shared", answer(world.shared::<u64>().get(entity))),
            ("query.get", row(parts.get(entity))),
            ("query.lookup", row(rows.get(entity))),
            ("query of a split component", row(world.query::<&Parts>().get(entity))),
            ("query of a filter", row(world.query::<()>().with::<Part>().get(entity))),
        ];
        for (call, answer) in answers {
            assert_eq!(answer, expected, "{call} of {name}, {entity}");
        }
        assert_eq!(world.contains(entity), is_alive, "contains of {name}");
        assert_eq!(world.has::<Part>(entity), expected == Has, "has of {name}");
        assert_eq!(world.has::<Parts>(entity), expected == Has, "has of {name}");
        assert_eq!(world.shared::<u64>().contains(entity), expected == Has, "has_shared of {name}");
        assert_eq!(parts.contains(entity), expected == Has, "query.contains of {name}");
        assert_eq!(world.sparse::<Text>().get(entity), None, "{name}");
        // Calls that ask for no component, and for the absence of one.
        assert_eq!(ids.get(entity).ok(), is_alive.then_some(entity), "{name}");
        assert_eq!(world.query::<()>().contains(entity), is_alive, "{name}");
        let optional = options.get(entity).ok();
        let part = (expected == Has).then_some(&Part(1));
        assert_eq!(optional, is_alive.then_some((part, entity)), "{name}");
        let without = world.query::<Option<Shared<u64>>>().without::<Part>();
        assert_eq!(without.contains(entity), expected == Lacks, "{name}");
        let view = world.entity(entity);
        assert_eq!(view.is_ok(), is_alive || name == "gone", "entity of {name}");
        if let Ok(view) = view {
            assert_eq!(view.id(), entity);
            assert_eq!(answer(view.get::<Part>()), expected, "EntityView::get of {name}");
            assert_eq!(view.component(Part::NAME).is_some(), expected == Has, "{name}");
            assert_eq!(view.shared_types().count(), usize::from(expected == Has), "{name}");
            assert_eq!(view.sparse().count(), 0);
            if name == "reserved" || name == "bare" {
                assert_eq!(view.components().len(), 0);
                assert!(format!("{view:?}").ends_with("{}"), "{view:?}");
            }
        }
    }
    assert_eq!(ids.count_rows(), 3, "a pass does not visit what is in no chunk");
}

/// The answers of calls that change the world, each asked of a world of its own.
#[test]
fn calls_of_an_exclusive_world_agree() {
    type Call = fn(&mut World, Entity) -> Answer;
    fn known(result: Result<(), RowError>) -> Answer {
        row(result)
    }
    let calls: &[(&str, Call)] = &[
        ("get_mut", |w, e| answer(w.get_mut::<Part>(e))),
        ("get_mut of a split component", |w, e| answer(w.get_mut::<Parts>(e))),
        ("get_disjoint_mut", |w, e| answer(w.get_disjoint_mut::<Part, 1>([e]))),
        ("lookup_mut().get", |w, e| answer(w.lookup_mut::<Part>().get(e).map(|_| ()))),
        ("lookup_mut().get_mut", |w, e| answer(w.lookup_mut::<Part>().get_mut(e).map(|_| ()))),
        ("lookup_mut().is_enabled", |w, e| answer(w.lookup_mut::<Part>().is_enabled(e))),
        ("lookup_mut().set_enabled", |w, e| answer(w.lookup_mut::<Part>().set_enabled(e, true))),
        ("set_enabled", |w, e| answer(w.set_enabled::<Part>(e, false))),
        ("remove", |w, e| answer(w.remove::<Part>(e))),
        ("remove of a split component", |w, e| answer(w.remove::<Parts>(e))),
        ("exchange", |w, e| answer(w.exchange::<Part, _>(e, Sound(1)))),
        ("remove_shared", |w, e| answer(w.remove_shared::<u64>(e))),
        ("query_mut().get_mut", |w, e| known(w.query_mut::<&mut Part>().get_mut(e).map(|_| ()))),
        ("query_mut().get", |w, e| known(w.query_mut::<&Part>().get(e).map(|_| ()))),
        ("query_mut().lookup_mut", |w, e| {
            known(w.query_mut::<&mut Part>().lookup_mut().get_mut(e).map(|_| ()))
        }),
    ];
    for number in 0..scene().1.len() {
        for (call, ask) in calls {
            let (mut world, all) = scene();
            let (name, entity, expected) = all[number];
            assert_eq!(ask(&mut world, entity), expected, "{call} of {name}");
            sound(&world);
        }
    }
}

#[test]
fn what_asks_for_no_component_is_done_to_all_that_are_alive() {
    type Call = fn(&mut World, Entity) -> bool;
    let calls: &[(&str, Call)] = &[
        ("insert", |w, e| w.insert(e, Other(9)).is_ok()),
        ("insert_shared", |w, e| w.insert_shared(e, "red").is_ok()),
        ("insert sparse", |w, e| w.insert(e, Text::from("Ada")).is_ok()),
        ("sparse_mut().insert", |w, e| w.sparse_mut().insert(e, Text::from("Ada")).is_ok()),
        ("insert_bytes", |w, e| {
            w.reflect_mut().insert(e, [(Other::NAME, &[1, 0, 0, 0][..])]).is_ok()
        }),
        ("instantiate", |w, e| w.instantiate(e, 2).is_ok()),
        ("despawn", |w, e| w.despawn(e).is_ok()),
        ("despawn_batch", |w, e| w.despawn_batch(&[e]) == 1),
        ("query_mut().contains", |w, e| w.query_mut::<Entity>().contains(e)),
        ("a command", |w, e| {
            let mut buffer = w.command_buffer(0).unwrap();
            buffer.insert(e, Other(9));
            w.apply(&mut buffer).is_ok()
        }),
    ];
    for number in 0..scene().1.len() {
        for (call, ask) in calls {
            let (mut world, all) = scene();
            let (name, entity, expected) = all[number];
            assert_eq!(ask(&mut world, entity), expected != NotAlive, "{call} of {name}");
            sound(&world);
        }
    }
}

#[test]
fn what_is_gone_shows_what_it_still_has() {
    let (world, all) = scene();
    let gone = all.iter().find(|(name, ..)| *name == "gone").unwrap().1;
    assert_eq!(world.get::<Sound>(gone).unwrap().0, 4);
    assert_eq!(world.lookup::<Sound>().get(gone).unwrap().0, 4);
    assert!(world.has::<Sound>(gone) && world.has::<Gone>(gone) && !world.contains(gone));
    let hidden = world.query::<&Sound>().get(gone).map(|sound| sound.0);
    assert!(matches!(hidden, Err(RowError::NoSuchEntity(_))), "{hidden:?}");
    assert_eq!(world.query::<&Sound>().with::<Gone>().get(gone).unwrap().0, 4);
    let lacks = world.query::<&Part>().with::<Gone>().get(gone).map(|part| part.0);
    assert!(matches!(lacks, Err(RowError::Excluded { reason: Exclusion::Lacks(_), .. })));
}

#[test]
fn reserved_ids_pass_filters_as_entities_without_components_do() {
    let world = world();
    let seen = world.version();
    let entity = world.reserve_entity().unwrap();
    let excluded = |result: Result<Entity, RowError>| match result {
        Err(RowError::Excluded { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let all = || world.query::<Entity>();
    assert_eq!(all().without::<Part>().get(entity), Ok(entity));
    assert_eq!(all().filter::<IncludeHidden>().get(entity), Ok(entity));
    assert_eq!(excluded(all().with::<Part>().get(entity)), Exclusion::Lacks(Part::NAME));
    assert_eq!(
        excluded(all().filter::<WithDisabled<Part>>().get(entity)),
        Exclusion::Lacks(Part::NAME)
    );
    assert_eq!(excluded(all().filter::<AnyOf<(Part, Other)>>().get(entity)), Exclusion::HasNone);
    assert_eq!(excluded(all().filter_since::<Arrived>(seen).get(entity)), Exclusion::Unchanged);
    let error = world.get::<Part>(entity).unwrap_err();
    assert_eq!(error, EntityError::Missing { entity, component: Part::NAME });
}
