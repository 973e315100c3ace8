//! Cleanup components: entities that are new, tracked and gone.

use crate::common::components::{Four, Other, Owned, Tag, Twelve, small_world as world, sound};
use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::error::{EntityError, NoSuchEntity};
use phalanx::prelude::*;
use phalanx::{Previous, reflect::BytesError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{collections::BTreeSet, sync::Arc};

#[component(cleanup)]
#[derive(Debug, PartialEq)]
pub(crate) struct Sound {
    pub(crate) channel: u32,
}
#[component(cleanup)]
struct Listed;
#[component(split, cleanup)]
#[derive(Debug, PartialEq)]
struct Body {
    x: f32,
    y: f32,
}

const GONE: [Sound; 1] = [Sound { channel: 7 }];

fn one() -> (World, Entity) {
    let mut world = world();
    world.spawn_batch((0..5).map(|i| (Four(i), Tag)));
    let entity = world.spawn((Four(9), Sound { channel: 7 }, Tag));
    (world, entity)
}

fn gone_channels(world: &World) -> Vec<u32> {
    let gone = world.query::<&Sound>().with::<Gone>();
    let mut channels: Vec<_> = gone.rows().map(|sound| sound.channel).collect();
    channels.sort_unstable();
    channels
}

/// Asserts that an entity has only its cleanup components left.
#[track_caller]
fn assert_gone(world: &World, entity: Entity) {
    sound(world);
    assert!(!world.contains(entity) && world.has::<Gone>(entity));
    assert!(world.has::<Sound>(entity) && !world.has::<Four>(entity) && !world.has::<Tag>(entity));
    assert_eq!(world.get::<Sound>(entity), Ok(&GONE[0]));
    assert_eq!(world.lookup::<Sound>().get(entity), Ok(&GONE[0]));
    assert_eq!(world.query::<&Sound>().count_rows(), 0);
    assert_eq!(gone_channels(world), [7]);
    let names: Vec<_> =
        world.entity(entity).expect("a row").components().map(|c| c.info().name()).collect();
    assert_eq!(names, [Gone::NAME, Sound::NAME]);
}

#[test]
fn new_tracked_and_gone_are_three_queries() {
    fn enter(new: Query<(Entity, &Four), Without<Sound>>, mut commands: Commands) {
        for (entity, four) in new.rows() {
            commands.insert(entity, Sound { channel: four.0 });
        }
    }
    fn follow(tracked: Query<(&Four, &mut Sound)>) {
        for (four, sound) in tracked.rows() {
            sound.channel = four.0;
        }
    }
    fn leave(gone: Query<(Entity, &Sound), With<Gone>>, mut commands: Commands) {
        for (entity, _) in gone.rows() {
            commands.remove::<Sound>(entity);
        }
    }
    let counts = |world: &World| {
        [
            world.query::<&Four>().without::<Sound>().count_rows(),
            world.query::<(&Four, &Sound)>().count_rows(),
            world.query::<&Sound>().with::<Gone>().count_rows(),
        ]
    };
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add((enter, follow, leave)).chain();
    let entities = world.spawn_batch((0..500).map(Four)).to_vec();
    assert_eq!(counts(&world), [500, 0, 0]);
    schedule.run(&mut world).expect("nothing fails");
    assert_eq!(counts(&world), [0, 500, 0]);
    world.despawn_batch(&entities[..200]);
    world.spawn_batch((0..3).map(Four));
    assert_eq!(counts(&world), [3, 300, 200]);
    schedule.run(&mut world).expect("nothing fails");
    assert_eq!(counts(&world), [0, 303, 0]);
    assert_eq!(world.len(), 303);
    sound(&world);
}

#[test]
fn all_ways_to_despawn_keep_the_cleanup_components() {
    let commands = |world: &mut World, record: &dyn Fn(&mut CommandBuffer)| {
        let mut buffer = world.command_buffer(1).expect("room");
        record(&mut buffer);
        world.apply(&mut buffer).expect("nothing fails");
    };
    type Way<'a> = Box<dyn Fn(&mut World, Entity) + 'a>;
    let ways: [Way<'_>; 9] = [
        Box::new(|world, entity| world.despawn(entity).expect("it is alive")),
        Box::new(|world, entity| assert_eq!(world.despawn_batch(&[entity, entity]), 1)),
        Box::new(|world, _| assert_eq!(world.matching::<&Sound>().despawn(), 1)),
        Box::new(|world, _| assert_eq!(world.matching::<&Sound>().retain(|_, k| k.fill(false)), 1)),
        Box::new(|world, entity| commands(world, &|buffer| buffer.despawn(entity))),
        Box::new(|world, entity| {
            commands(world, &|buffer| {
                buffer.insert(entity, Other);
                buffer.despawn(entity);
            });
        }),
        Box::new(|world, _| commands(world, &CommandBuffer::despawn_where::<&Sound, ()>)),
        Box::new(|world, _| {
            commands(world, &|buffer| buffer.retain_where::<&Sound, ()>(|_, k| k.fill(false)));
        }),
        Box::new(|world, entity| {
            commands(world, &|buffer| {
                buffer.run(move |world| world.despawn(entity).expect("it is alive"));
            });
        }),
    ];
    for way in ways {
        let (mut world, entity) = one();
        way(&mut world, entity);
        assert_gone(&world, entity);
        assert_eq!((world.len(), world.query::<&Four>().count_rows()), (6, 5));
        assert_eq!(world.remove::<Sound>(entity), Ok(Sound { channel: 7 }));
        assert!(!world.has::<Gone>(entity) && world.entity(entity).is_err());
        assert_eq!(world.len(), 5);
        assert_eq!(world.spawn(()).index(), entity.index(), "the id is used again");
        sound(&world);
    }
}

#[test]
fn all_ways_to_remove_the_last_cleanup_component_free_the_id() {
    type Way = fn(&mut World, Entity);
    let ways: [Way; 6] = [
        |world, entity| assert_eq!(world.remove::<Sound>(entity), Ok(GONE[0])),
        |world, entity| world.reflect_mut().remove(entity, [Sound::NAME]).expect("it has one"),
        |world, _| assert_eq!(world.matching::<&Sound>().with::<Gone>().remove::<Sound>(), 1),
        |world, entity| {
            let mut buffer = world.command_buffer(0).expect("room");
            buffer.remove::<Sound>(entity);
            assert_eq!(world.apply(&mut buffer).expect("nothing fails").moved, 1);
        },
        |world, _| {
            let mut buffer = world.command_buffer(0).expect("room");
            buffer.remove_where::<&Sound, With<Gone>, Sound>();
            assert_eq!(world.apply(&mut buffer).expect("nothing fails").matched, 1);
        },
        // A change of an entity that is gone is refused, and does not prevent the change of the
        // other.
        |world, entity| {
            let mut buffer = world.command_buffer(0).expect("room");
            buffer.insert(entity, Four(1));
            buffer.remove::<Sound>(entity);
            let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
                panic!("an insertion is refused")
            };
            let fault = CommandErrorKind::NoSuchEntity(NoSuchEntity { entity });
            assert_eq!((errors.len(), &errors.as_slice()[0].fault), (1, &fault));
        },
    ];
    for way in ways {
        let (mut world, entity) = one();
        world.despawn(entity).expect("it is alive");
        way(&mut world, entity);
        assert!(!world.has::<Sound>(entity) && world.entity(entity).is_err());
        assert_eq!(world.len(), 5);
        sound(&world);
        assert_eq!(world.remove::<Sound>(entity), Err(NoSuchEntity { entity }.into()), "twice");
        assert_eq!(world.spawn(()).index(), entity.index());
        sound(&world);
    }
}

#[test]
fn what_is_gone_is_not_alive() {
    let (mut world, entity) = one();
    world.despawn(entity).expect("it is alive");
    assert!(world.spawn_at(entity, ()).is_err(), "the id is in use");
    let (version, hash) = (world.version(), world.hash());
    let dead = NoSuchEntity { entity };
    assert_eq!(world.despawn(entity), Err(dead.into()));
    assert_eq!(world.despawn_batch(&[entity; 3]), 0);
    assert_eq!(world.insert(entity, Four(1)), Err(dead.into()));
    assert_eq!(world.insert(entity, Sound { channel: 8 }), Err(dead.into()));
    assert_eq!(world.insert(entity, ()), Err(dead.into()));
    assert_eq!(world.exchange::<Sound, _>(entity, Four(1)), Err(dead.into()));
    assert_eq!(world.remove::<Four>(entity), Err(dead.into()));
    assert_eq!(world.remove::<()>(entity), Err(dead.into()));
    assert_eq!(world.instantiate(entity, 1), Err(phalanx::error::SpawnError::NoSuchEntity(dead)));
    assert_eq!(world.insert(entity, Owned(Arc::new(1))), Err(dead.into()));
    let four = [(Four::NAME, &[1, 0, 0, 0][..])];
    assert_eq!(world.reflect_mut().insert(entity, four), Err(EntityError::from(dead).into()));
    assert_eq!(world.reflect_mut().remove(entity, [Gone::NAME]), Err(BytesError::Gone));
    assert_eq!(world.reflect_mut().insert(entity, [(Gone::NAME, &[][..])]), Err(BytesError::Gone));
    assert_eq!(world.matching::<Entity>().with::<Gone>().despawn(), 0);
    assert_eq!(world.matching::<Entity>().with::<Gone>().insert(Four(1)), Ok(0));
    assert_eq!(world.matching::<&Sound>().filter::<IncludeHidden>().insert(()), Ok(0));
    assert_eq!((world.version(), world.hash()), (version, hash), "nothing has changed");
    world.get_mut::<Sound>(entity).expect("it has one").channel = 8;
    assert_eq!(gone_channels(&world), [8]);
    let mut buffer = world.command_buffer(0).expect("room");
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    buffer.despawn(entity);
    buffer.insert(entity, Four(3));
    let applied = world.apply(&mut buffer).expect("nothing that counts");
    assert_eq!((applied.despawned, applied.moved), (0, 0));
    assert_eq!(gone_channels(&world), [8]);
    sound(&world);
}

#[test]
fn an_id_is_free_when_the_last_of_several_is_removed() {
    let mut world = world();
    let entity = world.spawn((Sound { channel: 1 }, Listed, Body { x: 1.0, y: 2.0 }, Four(0)));
    let other = world.spawn((Listed, Disabled));
    world.despawn(entity).expect("it is alive");
    world.despawn(other).expect("it is alive");
    assert!(!world.has::<Disabled>(other), "it is not kept");
    assert_eq!(world.get::<Body>(entity), Ok(Body { x: 1.0, y: 2.0 }));
    world.remove::<Listed>(entity).expect("it has one");
    assert_eq!(world.len(), 2);
    world.remove::<Sound>(entity).expect("it has one");
    assert!(world.has::<Gone>(entity));
    assert_ne!(world.spawn(()).index(), entity.index());
    assert_eq!(world.remove::<Body>(entity), Ok(Body { x: 1.0, y: 2.0 }));
    assert_eq!(world.spawn(()).index(), entity.index());
    assert_eq!(world.matching::<&Listed>().with::<Gone>().remove::<(Listed, Sound)>(), 1);
    assert_eq!(world.len(), 2);
    sound(&world);
}

#[test]
fn commands_of_one_entity_have_the_effect_of_their_order() {
    type Case = (fn(&mut CommandBuffer, Entity), &'static [u32]);
    let cases: [Case; 7] = [
        (|buffer, _| _ = buffer.spawn(Sound { channel: 3 }), &[]),
        (
            |buffer, entity| {
                buffer.remove::<Sound>(entity);
                buffer.despawn(entity);
            },
            &[],
        ),
        (
            |buffer, entity| {
                buffer.insert(entity, Sound { channel: 8 });
                buffer.insert(entity, Other);
                buffer.despawn(entity);
            },
            &[8],
        ),
        (
            |buffer, entity| {
                buffer.despawn(entity);
                buffer.remove::<Sound>(entity);
            },
            &[],
        ),
        (
            |buffer, _| {
                let spawned = buffer.spawn((Four(1), Sound { channel: 3 }));
                buffer.despawn(spawned);
            },
            &[3],
        ),
        (
            |buffer, _| {
                let spawned = buffer.spawn(Four(1));
                buffer.insert(spawned, Sound { channel: 4 });
                buffer.despawn(spawned);
                buffer.remove::<Sound>(spawned);
            },
            &[],
        ),
        (
            |buffer, entity| {
                buffer.exchange::<Sound, _>(entity, Listed);
                buffer.despawn(entity);
            },
            &[],
        ),
    ];
    for (record, left) in cases {
        let (mut world, entity) = one();
        let mut buffer = world.command_buffer(2).expect("room");
        record(&mut buffer, entity);
        world.apply(&mut buffer).expect("nothing fails");
        assert_eq!(gone_channels(&world), left);
        sound(&world);
    }
    // An entity that is spawned and despawned by one buffer never exists, as in a world without
    // cleanup components.
    let (mut world, _) = one();
    let mut buffer = world.command_buffer(1).expect("room");
    let spawned = buffer.spawn(Four(1));
    buffer.despawn(spawned);
    assert_eq!(world.apply(&mut buffer).expect("nothing fails").spawned, 0);
}

#[test]
fn sparse_components_are_dropped_at_the_despawn() {
    #[component(sparse)]
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    for by_query in [false, true] {
        let (mut world, entity) = one();
        let value = Arc::new(7);
        world.insert(entity, Owned(Arc::clone(&value))).expect("it is alive");
        match by_query {
            true => assert_eq!(world.matching::<&Sound>().despawn(), 1),
            false => world.despawn(entity).expect("it is alive"),
        }
        assert_eq!(Arc::strong_count(&value), 1);
        assert_gone(&world, entity);

        let (mut world, entity) = one();
        world.insert(entity, Loud).expect("it is alive");
        let despawn = || match by_query {
            true => assert_eq!(world.matching::<&Sound>().despawn(), 1),
            false => world.despawn(entity).expect("it is alive"),
        };
        assert!(catch_unwind(AssertUnwindSafe(despawn)).is_err());
        assert_gone(&world, entity);
    }
}

#[test]
fn copies_have_no_cleanup_components() {
    let (mut world, entity) = one();
    let copies = world.instantiate(entity, 40).expect("room").to_vec();
    for &copy in &copies {
        assert_eq!(world.get::<Four>(copy), Ok(&Four(9)));
        assert!(world.has::<Tag>(copy) && !world.has::<Sound>(copy));
    }
    assert_eq!(world.query::<&Sound>().count_rows(), 1);
    let only = world.spawn((Sound { channel: 1 }, Listed, Prototype));
    let nothing = world.instantiate(only, 2).expect("room").to_vec();
    assert!(nothing.iter().all(|&e| world.entity(e).expect("a row").components().len() == 0));
    world.despawn(copies[0]).expect("it is alive");
    assert!(world.entity(copies[0]).is_err());
    sound(&world);
}

#[test]
fn clear_and_drop_keep_nothing() {
    let (mut world, entity) = one();
    world.despawn(entity).expect("it is alive");
    world.spawn(Sound { channel: 1 });
    world.clear();
    assert!(world.is_empty() && !world.has::<Gone>(entity));
    assert_eq!(world.query::<Entity>().filter::<IncludeHidden>().count_rows(), 0);
    sound(&world);
    let (mut world, entity) = one();
    world.despawn(entity).expect("it is alive");
    drop(world);
}

#[test]
fn the_kept_columns_keep_their_versions() {
    let (mut world, entity) = one();
    let before = world.version();
    world.despawn(entity).expect("it is alive");
    let gone = || world.query::<&Sound>().with::<Gone>();
    assert_eq!(gone().changed_since(before).count_rows(), 0);
    assert_eq!(gone().filter_since::<Arrived>(before).count_rows(), 1);
    let tags = world.query::<&Gone>();
    assert_eq!(tags.changed_since(before).count_rows(), 1);
}

#[test]
fn worlds_with_the_same_calls_have_the_same_hash() {
    let run = |together: bool| {
        let mut world = world();
        let entities: Vec<_> =
            (0..100).map(|i| world.spawn((Four(i), Sound { channel: i }))).collect();
        let mut buffer = world.command_buffer(0).expect("room");
        for &entity in &entities[10..40] {
            buffer.despawn(entity);
            if !together {
                world.apply(&mut buffer).expect("nothing fails");
            }
        }
        world.apply(&mut buffer).expect("nothing fails");
        let gone: Vec<_> = world.query::<Entity>().with::<Gone>().rows().collect();
        (world.hash(), gone)
    };
    assert_eq!(run(true), run(true));
    assert_eq!(run(true).1, run(false).1, "in one order");
}

#[test]
fn columns_that_were_exchanged_are_kept_as_they_are() {
    let mut world = world();
    let entity = world.spawn(Sound { channel: 1 });
    world.flip::<Sound>().expect("it fits");
    world.get_mut::<Sound>(entity).expect("it has one").channel = 2;
    assert_eq!(world.get::<Previous<Sound>>(entity).expect("it has one").channel, 1);
    world.despawn(entity).expect("it is alive");
    world.flip::<Sound>().expect("it fits");
    assert!(!world.has::<Previous<Sound>>(entity), "it is another component");
    assert_eq!(gone_channels(&world), [2]);
    sound(&world);
}

#[test]
fn archetypes_that_are_given_back_may_come_again() {
    let (mut world, entity) = one();
    for round in 0..3 {
        let entity = if round == 0 { entity } else { world.spawn((Four(1), GONE[0])) };
        world.despawn(entity).expect("it is alive");
        assert!(world.memory_mut().retire_archetypes() > 0);
        assert_gone(&world, entity);
        world.remove::<Sound>(entity).expect("it has one");
        assert!(world.memory_mut().retire_archetypes() > 0, "one has no cleanup component");
        assert_eq!(world.len(), 5);
        sound(&world);
    }
}

#[test]
fn entities_of_thousands_of_archetypes_are_gone_in_one() {
    macro_rules! tags {
        ($($name:ident)*) => {
            $(#[component] struct $name;)*
            const TAGS: &[&str] = &[$($name::NAME),*];
            type Tags = ($($name,)*);
        };
    }
    tags! { T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 }
    let bits = if cfg!(miri) { 4 } else { TAGS.len() };
    let mut world = world();
    world.register::<(Tags, T12, T13)>();
    #[component]
    struct T12;
    #[component]
    struct T13;
    let mut entities = Vec::new();
    let all = 10_000.min(1_u32 << (bits + 2));
    for set in 0..all {
        let entity = world.spawn(Sound { channel: set });
        let names = TAGS.iter().copied().chain([T12::NAME, T13::NAME]).enumerate();
        let set = names.filter(|&(bit, _)| set >> bit & 1 == 1).map(|(_, name)| (name, &[][..]));
        world.reflect_mut().insert(entity, set).expect("tags fit");
        entities.push(entity);
    }
    assert!(world.reflect().archetypes().len() >= all as usize);
    let half = entities.len() / 2;
    assert_eq!(world.despawn_batch(&entities[..half]), half);
    assert_eq!(world.matching::<&Sound>().despawn(), entities.len() - half);
    assert!(gone_channels(&world).into_iter().eq(0..all));
    let with_rows = world.reflect().archetypes().filter(|archetype| !archetype.is_empty()).count();
    assert_eq!((with_rows, world.len()), (1, entities.len()));
    sound(&world);
    let explanation = world.query::<&Sound>().with::<Gone>().explain();
    assert_eq!(explanation.rows(), entities.len());
    let shown = world.explain().archetypes.iter().any(|one| one.rows == entities.len());
    assert!(shown, "explanations show entities that are gone");
    assert_eq!(world.matching::<Entity>().with::<Gone>().remove::<Sound>(), entities.len());
    assert!(world.is_empty());
    let again: BTreeSet<_> = entities.iter().map(|_| world.spawn(()).index()).collect();
    assert_eq!(again, entities.iter().map(|entity| entity.index()).collect());
    sound(&world);
}

#[test]
fn many_commands_on_gone_entities_are_played_together() {
    let mut world = world();
    let entities: Vec<_> =
        (0..300).map(|i| world.spawn((Four(i), GONE[0], Twelve([i; 3])))).collect();
    let mut buffer = world.command_buffer(0).expect("room");
    for &entity in &entities[..200] {
        buffer.despawn(entity);
    }
    assert_eq!(world.apply(&mut buffer).expect("nothing fails").despawned, 200);
    for &entity in &entities {
        buffer.remove::<Sound>(entity);
    }
    assert_eq!(world.apply(&mut buffer).expect("nothing fails").moved, 300);
    assert_eq!((world.len(), world.query::<&Four>().count_rows()), (100, 100));
    sound(&world);
    for &entity in &entities[200..] {
        buffer.despawn(entity);
    }
    world.apply(&mut buffer).expect("nothing fails");
    assert!(world.is_empty());
    sound(&world);
}
