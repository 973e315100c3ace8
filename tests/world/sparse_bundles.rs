//! Bundles of components of both kinds: each call takes them as it takes columns alone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::error::{EntityError, NoSuchEntity};
use phalanx::prelude::*;
use phalanx::reflect::BytesError;
use phalanx::snapshot::ReadError;
use phalanx::sparse::SparseComponent as _;

use crate::common::components::{Four, Number, Tag, Text, sound};
use crate::pairs::Likes;
use crate::relations::Target;
use crate::sparse::{Drops, Noted};

type Mixed = (Four, (Text, Tag), Number);

fn mixed(number: u32) -> Mixed {
    (Four(number), (Text(number.to_string()), Tag), Number(number))
}

#[track_caller]
fn assert_has(world: &World, entity: Entity, number: u32) {
    assert_eq!(world.get::<Four>(entity), Ok(&Four(number)));
    assert_eq!(world.get::<Text>(entity).unwrap().0, number.to_string());
    assert_eq!(*world.get::<Number>(entity).unwrap(), Number(number));
    assert!(world.has::<Tag>(entity) && world.has::<Text>(entity) && world.has::<Number>(entity));
    assert_eq!(world.entity(entity).unwrap().get::<Number>().unwrap().0, number);
}

#[test]
fn every_call_takes_a_mixed_bundle() {
    let mut world = World::new();
    let spawned = world.spawn(mixed(1));
    let tried = world.try_spawn(mixed(2)).unwrap();
    let at = world.spawn(());
    world.despawn(at).unwrap();
    world.spawn_at(at, mixed(3)).unwrap();
    let batch = world.spawn_batch((4..6).map(mixed)).to_vec();
    let tried_batch = world.try_spawn_batch((6..8).map(mixed)).unwrap().to_vec();
    let inserted = world.spawn(());
    world.insert(inserted, mixed(8)).unwrap();
    let reserved = world.reserve_entity().unwrap();
    world.insert(reserved, mixed(9)).unwrap();
    let all = [&[spawned, tried, at][..], &batch, &tried_batch, &[inserted, reserved]].concat();
    for (entity, number) in all.iter().zip(1..) {
        assert_has(&world, *entity, number);
    }
    assert_eq!(world.sparse::<Text>().iter().map(|(entity, _)| entity).collect::<Vec<_>>(), all);
    sound(&world);

    world.insert(spawned, mixed(10)).unwrap();
    assert_has(&world, spawned, 10);
    world.get_mut::<Text>(spawned).unwrap().0.push('!');
    let (four, (text, _), number) = world.remove::<Mixed>(spawned).unwrap();
    assert_eq!((four, text, number), (Four(10), Text::from("10!"), Number(10)));
    assert!(!world.has::<Text>(spawned) && !world.has::<Four>(spawned));
    let (text, four) = world.exchange::<(Text, Four), _>(tried, (Tag, Number(20))).unwrap();
    assert_eq!((text, four), (Text::from("2"), Four(2)));
    assert_eq!(*world.get::<Number>(tried).unwrap(), Number(20));
    let number = world.exchange::<Number, _>(tried, Text::from("again")).unwrap();
    assert_eq!((number, world.has::<Number>(tried)), (Number(20), false));
    for entity in all {
        world.despawn(entity).unwrap();
    }
    assert!(world.sparse::<Text>().is_empty() && world.sparse::<Number>().is_empty());
    sound(&world);
}

#[test]
fn calls_that_are_refused_change_neither_kind() {
    let mut world = World::new();
    let entity = world.spawn((Four(1), Text::from("one")));
    let lacks = |component| Err(EntityError::Missing { entity, component });
    // The column, or the sparse component, is what it lacks.
    assert_eq!(world.remove::<(Text, Tag)>(entity).map(drop), lacks(Tag::NAME));
    assert_eq!(world.remove::<(Four, Number)>(entity).map(drop), lacks(Number::NAME));
    assert_eq!(world.remove::<Number>(entity), lacks(Number::NAME).map(|()| Number(0)));
    assert_eq!(world.exchange::<Number, _>(entity, Tag).map(drop), lacks(Number::NAME));
    assert_eq!(world.exchange::<(Tag, Text), _>(entity, Number(1)).map(drop), lacks(Tag::NAME));
    assert_eq!(
        world.get::<Number>(entity).map(|number| *number),
        lacks(Number::NAME).map(|()| Number(0))
    );
    assert!(world.get_mut::<Number>(entity).is_err());
    assert!(world.has::<Four>(entity) && world.has::<Text>(entity) && !world.has::<Number>(entity));

    world.despawn(entity).unwrap();
    let (drops, dead) = (Drops::default(), NoSuchEntity { entity });
    assert_eq!(world.insert(entity, (drops.value(1), Four(1))), Err(dead.into()));
    assert_eq!(world.insert(entity, drops.value(2)), Err(dead.into()));
    assert_eq!(world.remove::<Noted>(entity).map(drop), Err(dead.into()));
    assert_eq!(world.exchange::<(), _>(entity, drops.value(3)), Err(dead.into()));
    assert_eq!(world.get::<Noted>(entity).map(drop), Err(dead.into()));
    let other = world.spawn(());
    assert!(world.spawn_at(other, drops.value(4)).is_err());
    assert_eq!(drops.take(), [1, 2, 3, 4]);
    sound(&world);
}

#[test]
fn a_value_that_is_replaced_is_dropped_once() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn((drops.value(0), Four(0)));
    world.insert(entity, (Four(1), drops.value(1))).unwrap();
    assert_eq!(drops.take(), [0]);
    let removed = world.remove::<(Noted, Four)>(entity).unwrap();
    assert!(drops.take().is_empty());
    drop(removed);
    assert_eq!(drops.take(), [1]);
    world.insert(entity, drops.value(2)).unwrap();
    let exchanged = world.exchange::<Noted, _>(entity, (drops.value(3), Tag)).unwrap();
    assert!(drops.take().is_empty() && exchanged.number == 2);
    drop(world);
    assert_eq!(drops.take(), [3]);
}

/// A second component with a destructor.
#[component(sparse)]
struct Second(Noted);

#[test]
fn a_destructor_that_panics_stops_no_other_value_of_a_bundle() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn((drops.panicking(0), Second(drops.panicking(1)), Four(0)));
    let bundle = (Second(drops.value(3)), Four(1), drops.value(2));
    let insert = catch_unwind(AssertUnwindSafe(|| world.insert(entity, bundle)));
    let panic = insert.expect_err("two destructors panic");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "destructor 1", "the first one goes on");
    assert_eq!(drops.take(), [1, 0]);
    assert_eq!(world.get::<Noted>(entity).unwrap().number, 2);
    assert_eq!(world.get::<Second>(entity).unwrap().0.number, 3);
    assert_eq!(world.get::<Four>(entity), Ok(&Four(1)));
    sound(&world);
}

#[test]
fn several_destructors_of_a_refused_call_may_panic() {
    let drops = Drops::default();
    let pair = |first| (drops.panicking(first), Four(0), Second(drops.panicking(first + 1)));
    let mut world = World::new();
    let dead = world.spawn(());
    world.despawn(dead).unwrap();
    let alive = world.spawn(());
    let panic_of = |call: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("two destructors panic");
        panic
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
    };
    assert_eq!(panic_of(&mut || _ = world.insert(dead, pair(0))), "destructor 0");
    assert_eq!(panic_of(&mut || _ = world.spawn_at(alive, pair(2))), "destructor 2");
    assert_eq!(panic_of(&mut || _ = world.exchange::<(), _>(dead, pair(4))), "destructor 4");
    // The panic of the iterator goes on, or that of the name.
    let bundles = || (0..3).map(|i| if i < 2 { pair(10 * i) } else { panic!("halfway") });
    assert_eq!(panic_of(&mut || _ = world.try_spawn_batch(bundles()).is_ok()), "halfway");
    // Those of a batch are dropped component by component.
    assert_eq!(drops.take(), [0, 1, 2, 3, 4, 5, 0, 10, 1, 11]);
    assert_eq!(world.len(), 1);
    world.insert(alive, Health(1.0)).unwrap();
    let named = || (drops.panicking(1), SparseHealth(1), Second(drops.panicking(2)));
    assert!(panic_of(&mut || _ = world.insert(alive, named())).contains("health"));
    assert_eq!(drops.take(), [1, 2]);
    sound(&world);
}

#[test]
fn an_exchange_whose_destructor_panics_drops_the_removed_values() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn((drops.panicking(0), Second(drops.panicking(1))));
    let exchange = catch_unwind(AssertUnwindSafe(|| {
        let removed = world.exchange::<Noted, _>(entity, (Second(drops.value(2)), Tag));
        removed.is_ok()
    }));
    let panic = exchange.expect_err("two destructors panic");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "destructor 1");
    assert_eq!(drops.take(), [1, 0]);
    assert_eq!(world.get::<Second>(entity).unwrap().0.number, 2);
    assert!(world.has::<Tag>(entity) && !world.has::<Noted>(entity));
    sound(&world);
}

#[test]
fn a_batch_whose_iterator_panics_spawns_nothing() {
    let drops = Drops::default();
    let mut world = World::new();
    let bundles = (0..10).map(|i| {
        assert!(i < 5, "halfway");
        (drops.value(i), Four(i))
    });
    let batch = catch_unwind(AssertUnwindSafe(|| world.spawn_batch(bundles).len()));
    assert!(batch.is_err() && world.is_empty() && world.sparse::<Noted>().is_empty());
    assert_eq!(drops.take(), [0, 1, 2, 3, 4]);
    sound(&world);
}

#[test]
fn each_change_of_sparse_components_alone_spends_a_version() {
    let mut world = World::new();
    let [one, two] = [world.spawn(Four(1)), world.spawn(())];
    let before = world.version();
    let spent = |world: &World| world.version().to_bits() - before.to_bits();
    world.insert(one, Text::from("one")).unwrap();
    world.exchange::<(), _>(two, Number(2)).unwrap();
    world.exchange::<Number, _>(two, Text::from("two")).unwrap();
    assert!(world.exchange::<Number, _>(two, Text::from("no")).is_err());
    world.remove::<Text>(two).unwrap();
    assert_eq!(spent(&world), 4, "none for a call that is refused");
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.insert(one, Number(3));
    buffer.insert(two, Number(4));
    buffer.run(|_| {});
    buffer.exchange::<Number, _>(one, Text::from("played alone"));
    buffer.run(|_| {});
    buffer.insert(one, Number(5));
    buffer.remove::<Number>(one);
    assert_eq!(world.apply(&mut buffer).unwrap().moved, 0);
    assert_eq!(spent(&world), 7, "one for the commands up to a barrier");
    assert_eq!(world.get::<Text>(one).unwrap().0, "played alone");
    assert_eq!((world.has::<Number>(one), *world.get::<Number>(two).unwrap()), (false, Number(4)));
    world.insert(one, (Number(6), Tag)).unwrap();
    assert_eq!(spent(&world), 8, "one for components of both kinds");
    assert!(world.get_mut::<Number>(two).is_ok() && world.get_mut::<Number>(Entity::NULL).is_err());
    assert_eq!(spent(&world), 9, "none for a value that does not exist");
    sound(&world);
}

mod other {
    use phalanx::prelude::*;

    #[component(sparse, name = "health")]
    pub(super) struct Health(pub(super) String);
}

#[component(name = "health")]
#[derive(Debug, PartialEq)]
struct Health(f32);

#[component(sparse, name = "health")]
struct SparseHealth(u8);

fn panics(work: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(work)).is_err()
}

#[test]
fn a_name_belongs_to_one_component_of_either_kind() {
    let text = || other::Health("full".to_owned());
    let mut world = World::new();
    let entity = world.spawn(Health(1.0));
    assert!(panics(|| _ = world.insert(entity, text())));
    assert!(panics(|| _ = world.spawn((Tag, text()))));
    assert!(panics(|| _ = world.has::<other::Health>(entity)));
    assert!(panics(|| _ = world.sparse::<SparseHealth>().len()));
    assert!(panics(|| _ = world.sparse_mut::<SparseHealth>().len()));
    assert_eq!((world.len(), world.get::<Health>(entity)), (1, Ok(&Health(1.0))));
    sound(&world);

    let mut world = World::new();
    let entity = world.spawn(text());
    assert!(panics(|| _ = world.insert(entity, Health(1.0))));
    assert!(panics(|| _ = world.insert(entity, SparseHealth(1))));
    assert!(panics(|| _ = world.query::<&Health>().count_rows()));
    assert_eq!(world.get::<other::Health>(entity).unwrap().0, "full");

    // A world that has taken a name refuses another one's entities.
    let mut level = World::new();
    let theirs = level.spawn((Health(1.0), Tag));
    assert!(world.move_from(level.matching::<&Health>()).is_err() && level.contains(theirs));
    let mut level = World::new();
    level.spawn((SparseHealth(1), Tag));
    assert!(world.merge(level).is_err());
    sound(&world);
}

#[test]
fn a_call_that_is_refused_takes_no_name() {
    let mut world = World::builder().entities_max(2).build();
    let dead = world.spawn(());
    world.despawn(dead).unwrap();
    let alive = world.spawn(());
    let value = || (SparseHealth(1), Four(1));
    assert!(world.get_mut::<SparseHealth>(alive).is_err());
    assert!(world.insert(dead, SparseHealth(1)).is_err() && world.insert(dead, value()).is_err());
    assert!(world.remove::<SparseHealth>(alive).is_err());
    assert!(world.exchange::<Tag, _>(alive, value()).is_err());
    assert!(world.exchange::<Number, _>(alive, SparseHealth(1)).is_err());
    assert!(world.spawn_at(alive, value()).is_err());
    assert!(world.try_spawn_batch([(); 2].map(|()| value())).is_err());
    world.insert(alive, Health(1.0)).unwrap();
    assert!(panics(|| _ = world.get_mut::<SparseHealth>(alive)));
    assert!(panics(|| _ = world.spawn(SparseHealth(1))) && panics(|| _ = world.spawn(value())));
    assert_eq!(world.len(), 1);
    sound(&world);

    // Of two components of one call, the second is refused.
    world.insert(alive, Text::from("own")).unwrap();
    let calls: [fn(&mut World, Entity); 6] = [
        |world, entity| _ = world.insert(entity, (Fresh(1), SparseHealth(1))),
        |world, entity| _ = world.insert(entity, (Tag, Fresh(1), SparseHealth(1))),
        |world, entity| _ = world.exchange::<Text, _>(entity, (Fresh(1), SparseHealth(1))),
        |world, _| _ = world.spawn((Fresh(1), SparseHealth(1))),
        |world, _| world.register::<(Fresh, SparseHealth)>(),
        |world, _| world.register::<(FreshColumn, SparseHealth)>(),
    ];
    for call in calls {
        assert!(panics(|| call(&mut world, alive)));
        assert_eq!((world.explain().sparse.len(), world.has::<Text>(alive)), (1, true));
    }
    // Either can have the name.
    assert!(!world.has::<Fresh>(alive));
    world.insert(alive, FreshColumn(1)).unwrap();
    assert!(panics(|| _ = world.has::<Fresh>(alive)));
    let mut world = World::new();
    world.register::<Health>();
    assert!(panics(|| world.register::<(FreshColumn, SparseHealth)>()));
    world.register::<Fresh>();
    sound(&world);
}

#[component(sparse, name = "fresh")]
struct Fresh(u8);
#[component(name = "fresh")]
struct FreshColumn(u32);

#[test]
fn names_of_components_that_no_coming_entity_has_are_free() {
    let level = || {
        let mut level = World::new();
        let entity = level.spawn((SparseHealth(1), Tag));
        level.remove::<SparseHealth>(entity).unwrap();
        level
    };
    let mut world = World::new();
    world.spawn(Health(1.0));
    assert_eq!(world.merge(level()).unwrap().len(), 1);
    let mut world = World::new();
    assert_eq!(world.merge(level()).unwrap().len(), 1);
    let mut level = level();
    let named = level.spawn((SparseHealth(2), Four(1)));
    assert_eq!(world.move_from(level.matching::<Entity>().with::<Tag>()).unwrap().len(), 1);
    sound(&world);
    // Neither has taken the name.
    world.spawn(Health(1.0));
    assert!(world.move_from(level.matching::<&Four>()).is_err() && level.contains(named));
    let mut free = World::new();
    let new = free.move_from(level.matching::<&Four>()).unwrap().get(named).unwrap();
    assert_eq!(free.get::<SparseHealth>(new).unwrap().0, 2);
    assert!(panics(|| _ = free.spawn(Health(1.0))));
    assert!(world.merge(free).is_err());
    sound(&world);
}

#[test]
fn calls_by_name_say_that_a_component_is_sparse() {
    let mut world = World::new();
    world.register::<(Text, Four)>();
    let entity = world.spawn((Four(1), Text::from("one"), Number(2)));
    // Relations are sparse components, and bytes of a target would have no reverse index.
    world.register::<(Target, Targets<Likes>)>();
    let bytes = entity.to_bits().to_ne_bytes();
    let before = (world.hash(), world.len());
    for name in [Text::NAME, Target::NAME, Targets::<Likes>::NAME] {
        let refused = BytesError::Sparse { name: name.to_owned() };
        assert!(refused.to_string().contains("is sparse: calls by name do not reach its values"));
        let mut world = world.reflect_mut();
        assert_eq!(world.insert(entity, [(name, &bytes[..])]), Err(refused.clone()));
        assert_eq!(world.remove(entity, [name]), Err(refused.clone()));
        assert_eq!(world.spawn([(Four::NAME, &[0; 4][..]), (name, &bytes)]), Err(refused));
    }
    assert_eq!((world.hash(), world.len()), before);
    assert!(world.relation::<Target>().is_empty() && world.relation::<Likes>().is_empty());
    let view = world.entity(entity).unwrap();
    let text = format!("{view:?}");
    assert!(text.contains(&format!("{}: sparse", Text::NAME)), "{text}");
    assert!(text.contains(&format!("{}: sparse", Number::NAME)), "{text}");
    assert!(view.component(Text::NAME).is_none() && view.sparse().count() == 2);

    // Bytes of a world in which the name is that of a column.
    let mut source = World::new();
    source.spawn(Health(1.0));
    let mut bytes = Vec::new();
    source.snapshot().unwrap().write_to(&mut bytes).unwrap();
    world.register::<SparseHealth>();
    let read = world.read_snapshot(&bytes).map(drop);
    assert!(matches!(read, Err(ReadError::SparseComponent { name }) if *name == *"health"));
}
