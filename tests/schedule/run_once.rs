//! `World::run` and `try_run`: one call with the parameters of a system.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::command::ApplyError;
use phalanx::prelude::*;
use phalanx::schedule::RunError;

use super::{A, B, world};

#[component]
struct Parent(Entity);
#[component]
struct Place(i32);

/// A sparse component, and an event.
#[component(sparse)]
struct Label(&'static str);

#[test]
fn accesses_that_exclude_each_other_on_the_world_are_held_at_once() {
    let mut world = World::new();
    let root = world.spawn(Place(1));
    let child = world.spawn((Place(10), Parent(root)));
    world.sparse_mut().insert(child, Label("child")).unwrap();
    let sum = world.run(
        |children: Query<(Entity, &Parent)>,
         mut places: LookupMut<Place>,
         mut labels: SparseMut<Label>| {
            let mut sum = 0;
            for (entity, parent) in children.rows() {
                places.get_mut(parent.0).unwrap().0 += 1;
                labels.get_mut(entity).unwrap().0 = "seen";
                sum += places.get(parent.0).unwrap().0;
            }
            sum
        },
    );
    assert_eq!((sum, world.get::<Place>(root).unwrap().0), (2, 2));
    assert_eq!(world.sparse::<Label>().get(child).unwrap().0, "seen");
}

#[test]
fn a_function_may_borrow_and_consume_and_return_a_borrow() {
    let mut world = world();
    let rows = world.query::<&A>().rows().count();
    let (text, consumed, calls) = (String::from("around"), vec![1, 2, 3], Cell::new(0));
    let returned: &str = world.run(|query: Query<&A>| {
        calls.set(calls.get() + query.rows().count());
        drop(consumed);
        &text[..3]
    });
    assert_eq!((returned, calls.get()), ("aro", rows));

    fn plain(query: Query<&A>, other: Query<&mut B>) -> usize {
        query.rows().count() + other.rows().count()
    }
    assert!(world.run(plain) >= rows);
    assert_eq!(world.run(|| 7), 7, "no parameters");
    let error: Result<(), &str> = world.run(|_: Query<&A>| Err("its own"));
    assert_eq!(error, Err("its own"));
}

#[test]
fn each_call_is_like_a_first_run() {
    let mut world = World::new();
    world.spawn(A(1));
    world.send_batch([1_u32, 2]);
    for _ in 0..3 {
        let seen = world.run(
            |changed: Query<&A, Changed<A>>,
             mut calls: Local<u32>,
             mut events: EventReader<u32>| {
                *calls += 1;
                (changed.rows().count(), *calls, events.read().len())
            },
        );
        assert_eq!(seen, (1, 1, 2));
    }
}

#[test]
fn the_version_advances_once_and_stamps_what_was_written() {
    let mut world = World::new();
    let entity = world.spawn((A(1), B(1)));
    let before = world.version();
    world.run(|written: Query<&mut A>, _: Query<&B>| written.rows().for_each(|a| a.0 += 1));
    assert!(world.version() > before);
    assert_eq!(world.query::<&A>().changed_since::<A>(before).iter().count(), 1);
    assert_eq!(world.get::<A>(entity).unwrap().0, 2);
    world.check().unwrap();
}

#[test]
fn commands_and_events_take_effect_after_the_call() {
    let mut world = World::new();
    let (spawned, before) =
        world.run(|mut commands: Commands, mut sent: EventWriter<u32>, all: Query<Entity>| {
            sent.send(5);
            (commands.spawn(A(3)), all.rows().count())
        });
    assert_eq!((world.get::<A>(spawned).unwrap().0, before), (3, 0));
    assert_eq!(world.run(|mut events: EventReader<u32>| events.read().to_vec()), [5]);
    // Two buffers, and a closure that runs another function.
    world.run(|mut one: Commands, mut other: Commands| {
        one.despawn(spawned);
        other.run(|world| {
            world.run(|mut commands: Commands| {
                commands.spawn_batch([A(1), A(2)]);
            });
        });
    });
    assert!(!world.contains(spawned));
    assert_eq!(world.len(), 2);
    world.check().unwrap();
}

#[test]
fn ids_of_many_calls_are_used_again() {
    let mut world = World::builder().entities_max(10).build();
    for i in 0..100 {
        let entity = world.run(|mut commands: Commands| commands.spawn(A(i)));
        assert!(entity.index() < 10);
        world.run(|mut commands: Commands| commands.despawn(entity));
    }
    assert!(world.is_empty());
    world.check().unwrap();
}

#[component(sparse, cleanup)]
struct Slot(u32);

/// Calls a function that is not called, because the world lacks a resource.
fn refused(world: &mut World) {
    let error = world.try_run(|_: Res<String>| ()).expect_err("the world has no text");
    assert!(matches!(error, RunError::MissingResource(_)), "{error}");
    world.check().expect("the world is consistent");
}

#[test]
fn a_call_without_its_resource_takes_back_no_version_of_rows() {
    let mut world = World::new();
    // A reserved id gets its row.
    world.reserve_entity().expect("ids are left");
    refused(&mut world);
    let mut state = world.snapshot().expect("no buffers");
    world.spawn(());
    world.snapshot_into(&mut state).expect("no buffers");
    assert_eq!(state.len(), 2);
    world.restore(&state).expect("it is its own");
    world.check().expect("the world is consistent");

    // An entity that is gone ends.
    let gone = [1, 2, 3].map(|slot| world.spawn(Slot(slot)));
    world.despawn_batch(&gone);
    for entity in gone {
        world.snapshot_into(&mut state).expect("no buffers");
        assert!(world.sparse_mut::<Slot>().remove(entity).is_some());
        refused(&mut world);
        world.snapshot_into(&mut state).expect("no buffers");
        assert_eq!(state.len(), world.len());
        world.restore(&state).expect("it is its own");
        world.check().expect("the world is consistent");
    }
}

#[test]
fn clashes_and_missing_resources_are_errors_that_change_nothing() {
    let mut world = world();
    let (version, hash) = (world.version(), world.hash());
    let calls = Cell::new(0);
    let call = || calls.set(calls.get() + 1);
    for _ in 0..2 {
        let error = world.try_run(|_: Query<&mut A>, _: Query<&A>| call()).unwrap_err();
        let text = "system `closure in clashes_and_missing_resources_are_errors_that_change_nothing`: \
                    parameters 1 `Query<&mut A>` and 2 `Query<&A>` both name component";
        assert!(error.to_string().starts_with(text), "{error}");
        let error = world.try_run(|_: LookupMut<A>, _: Query<&A>| call()).unwrap_err();
        assert!(matches!(error, RunError::Parameters(_)), "{error}");
        let error = world.try_run(|_: Query<&mut A>, _: ResMut<String>| call()).unwrap_err();
        assert!(matches!(error, RunError::MissingResource(_)), "{error}");
        let error = world.try_run(|mut c: Commands, _: Res<String>| c.clear()).unwrap_err();
        assert!(matches!(error, RunError::MissingResource(_)), "{error}");
    }
    assert_eq!((calls.get(), world.version(), world.hash()), (0, version, hash));
    assert!(world.run(|text: Option<Res<String>>| text.is_none()));
    // Disjoint parameters do not clash.
    world.run(|_: Query<&mut A, With<B>>, _: Query<&A, Without<B>>| ());

    let panic = catch_unwind(AssertUnwindSafe(|| world.run(|_: Res<String>| ()))).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("the world has no resource"), "{text}");
}

#[test]
fn commands_without_effect_are_an_error_and_all_others_are_applied() {
    let mut world = World::new();
    let dead = world.spawn(());
    world.despawn(dead).unwrap();
    let error = world.try_run(|mut one: Commands, mut other: Commands| {
        one.insert(dead, A(1));
        one.spawn(A(2));
        other.spawn(A(3));
    });
    let Err(RunError::Commands(ApplyError::Commands(errors))) = error else { panic!("{error:?}") };
    assert_eq!((errors.as_slice().len(), world.len()), (1, 2));
    world.run(|mut commands: Commands| {
        commands.on_dead_entity(DeadEntityPolicy::Ignore);
        commands.insert(dead, A(1));
    });
    let replaced = world.try_run(|mut commands: Commands| {
        commands.run(|world| drop(std::mem::take(world)));
    });
    assert_eq!(replaced, Err(RunError::Commands(ApplyError::OtherWorld)));
    world.check().unwrap();
}

#[test]
fn a_panic_goes_on_and_commands_and_events_are_discarded() {
    /// Panics when it is dropped.
    struct Bomb(#[expect(dead_code, reason = "its count")] Arc<()>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a destructor");
        }
    }

    let mut world = World::new();
    let entity = world.spawn(A(1));
    let (before, count) = (world.version(), Arc::new(()));
    for bombs in 0..2 {
        let mut taken = Entity::NULL;
        let panic = catch_unwind(AssertUnwindSafe(|| {
            world.run(
                |mut commands: Commands, mut sent: EventWriter<Bomb>, written: Query<&mut A>| {
                    written.rows().for_each(|a| a.0 += 1);
                    taken = commands.spawn(A(7));
                    let bomb = (bombs == 1).then(|| Bomb(Arc::clone(&count)));
                    commands.run(move |_| drop(bomb));
                    (0..bombs).for_each(|_| sent.send(Bomb(Arc::clone(&count))));
                    panic!("halfway");
                },
            );
        }));
        let panic = panic.unwrap_err();
        let text = panic.downcast_ref::<&str>().copied().expect("a text");
        assert!(["halfway", "a destructor"].contains(&text), "{text}");
        assert!(!world.contains(taken), "its id was not spawned");
        world.check().unwrap();
    }
    assert_eq!(world.get::<A>(entity).unwrap().0, 3, "written before the panics");
    assert_eq!(world.query::<&A>().changed_since::<A>(before).iter().count(), 1);
    assert_eq!(world.len(), 1);
    assert_eq!(world.run(|events: EventReader<Bomb>| events.len()), 0);
    let spawned = world.run(|mut commands: Commands| commands.spawn(A(8)));
    assert!(world.contains(spawned) && world.len() == 2);
}

#[test]
fn worlds_do_not_share_what_they_know_of_parameters() {
    let (mut one, mut other) = (World::new(), World::new());
    one.spawn((A(1), B(1)));
    other.spawn((B(2), A(2)));
    let read = |a: Query<(&A, &B)>, b: Lookup<B>| {
        let mut rows = a.rows();
        let first = rows.next().map_or(0, |(a, _)| a.0);
        let _ = b.get(Entity::NULL);
        first
    };
    for _ in 0..2 {
        assert_eq!((one.run(read), other.run(read)), (1, 2));
        std::mem::swap(&mut one, &mut other);
        assert_eq!((one.run(read), other.run(read)), (2, 1));
        std::mem::swap(&mut one, &mut other);
    }
    let state = one.snapshot().unwrap();
    one.run(|mut commands: Commands| commands.spawn((A(9), B(9))));
    one.restore(&state).unwrap();
    assert_eq!(one.run(read), 1);
}

#[test]
fn events_that_a_program_sends_without_a_schedule_are_dropped_when_they_were_read() {
    let mut world = World::new();
    let mut cursor = world.cursor::<Events<u64>>();
    for round in 0..20_u64 {
        world.run(|mut writer: EventWriter<u64>| (0..1_000).for_each(|i| writer.send(i)));
        assert_eq!(cursor.read(&world).len(), 1_000, "round {round}");
        assert!(world.events::<u64>().len() <= 3_000, "round {round}");
    }
}

#[test]
fn the_commands_of_two_buffers_are_applied_though_the_first_panics() {
    let mut world = World::new();
    let two = |mut first: Commands, mut second: Commands| {
        first.run(|_| panic!("in a command"));
        second.spawn(A(7));
    };
    let panic = catch_unwind(AssertUnwindSafe(|| world.run(two))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"in a command"));
    assert_eq!(world.query::<&A>().single().unwrap().0, 7);
}
