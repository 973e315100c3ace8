//! The drops of sparse components: each is dropped once, in order, on every way to despawn its
//! entity, even if destructors panic.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use phalanx::prelude::*;

use crate::common::components::{Four, Tag, small_world, sound};
use crate::sparse::{Drops, Noted};

/// A separate type. Its set comes second.
#[component(sparse)]
struct Second(Noted);

/// Entities of a world.
const ENTITIES: u32 = if cfg!(miri) { 40 } else { 3_000 };

/// A world of entities with their numbers in `Four`. Entities with even numbers are tagged, and
/// have a value each, unless the number is a multiple of six.
fn world(drops: &Drops) -> (World, Vec<Entity>) {
    let mut world = small_world();
    let entities: Vec<Entity> = (0..ENTITIES)
        .map(|i| if is_tagged(i) { world.spawn((Four(i), Tag)) } else { world.spawn(Four(i)) })
        .collect();
    // In a different order than the entities.
    for i in (0..ENTITIES).rev() {
        if i % 6 != 0 {
            world.sparse_mut().insert(entities[i as usize], drops.value(i)).unwrap();
        }
    }
    (world, entities)
}

fn is_tagged(i: u32) -> bool {
    i.is_multiple_of(2)
}

type Way = (&'static str, fn(&mut World, &[Entity]));

/// All ways to despawn the entities of a list, which are the tagged ones.
const WAYS: [Way; 14] = [
    ("despawn", |world, ids| ids.iter().for_each(|&id| world.despawn(id).unwrap())),
    ("despawn_batch", |world, ids| assert_eq!(world.despawn_batch(ids), ids.len())),
    ("a batch of repeated and dead ids", |world, ids| {
        let doubled: Vec<_> = ids.iter().flat_map(|&id| [id, Entity::NULL, id]).collect();
        assert_eq!(world.despawn_batch(&doubled), ids.len());
    }),
    ("retain", |world, ids| {
        let ended = world.matching::<&Four>().retain(keep_untagged);
        assert_eq!(ended, ids.len());
    }),
    ("by query", |world, ids| {
        assert_eq!(world.matching::<Entity>().with::<Tag>().despawn(), ids.len());
    }),
    ("by query of changed chunks", |world, ids| {
        let never = Version::default();
        let matching = world.matching::<&Four>().with::<Tag>().changed_since(never);
        assert_eq!(matching.despawn(), ids.len());
    }),
    ("commands", |world, ids| {
        let mut buffer = world.command_buffer(0).unwrap();
        ids.iter().for_each(|&id| buffer.despawn(id));
        assert_eq!(world.apply(&mut buffer).unwrap().despawned, ids.len());
    }),
    ("commands that are merged", |world, ids| {
        let mut buffer = world.command_buffer(1).unwrap();
        buffer.spawn(());
        for &id in ids {
            buffer.insert(id, Four(7));
            buffer.despawn(id);
        }
        assert_eq!(world.apply(&mut buffer).unwrap().despawned, ids.len());
    }),
    ("commands of writers", |world, ids| {
        let mut buffer = world.command_buffer(0).unwrap();
        let mut writers = buffer.par_writers(2);
        ids.iter().for_each(|&id| writers[1].despawn(id));
        drop(writers);
        world.apply(&mut buffer).unwrap();
    }),
    ("a command by query", |world, _| {
        let mut buffer = world.command_buffer(0).unwrap();
        buffer.despawn_where::<&Four, With<Tag>>();
        world.apply(&mut buffer).unwrap();
    }),
    ("a command that retains", |world, _| {
        let mut buffer = world.command_buffer(0).unwrap();
        buffer.retain_where::<&Four, ()>(keep_untagged);
        world.apply(&mut buffer).unwrap();
    }),
    ("a closure of a command", |world, ids| {
        let mut buffer = world.command_buffer(0).unwrap();
        let ids = ids.to_vec();
        buffer.run(move |world| ids.iter().for_each(|&id| world.despawn(id).unwrap()));
        world.apply(&mut buffer).unwrap();
    }),
    ("barriers between commands", |world, ids| {
        let mut buffer = world.command_buffer(0).unwrap();
        for &id in ids {
            buffer.despawn(id);
            buffer.run(|_| ());
        }
        world.apply(&mut buffer).unwrap();
    }),
    ("moves before the end", |world, ids| {
        ids.iter().for_each(|&id| world.remove::<Four>(id).map(drop).unwrap());
        world.matching::<Entity>().with::<Tag>().insert(Four(9)).unwrap();
        world.memory_mut().compact(usize::MAX);
        assert_eq!(world.matching::<Entity>().with::<Tag>().despawn(), ids.len());
    }),
];

fn keep_untagged(numbers: &[Four], keep: &mut [bool]) {
    numbers.iter().zip(keep).for_each(|(four, keep)| *keep = !is_tagged(four.0));
}

#[test]
fn a_value_is_dropped_once_on_each_way_by_which_its_entity_ends() {
    for (name, despawn) in WAYS {
        let drops = Drops::default();
        let (mut world, entities) = world(&drops);
        let ending: Vec<_> = entities.iter().copied().step_by(2).collect();
        despawn(&mut world, &ending);
        sound(&world);
        let mut dropped = drops.take();
        dropped.sort_unstable();
        let expected: Vec<_> = (0..ENTITIES).filter(|i| is_tagged(*i) && i % 6 != 0).collect();
        assert_eq!(dropped, expected, "{name}");
        let values = world.sparse::<Noted>();
        assert_eq!(values.len(), ENTITIES as usize / 2, "{name}");
        for (i, &entity) in (0..ENTITIES).zip(&entities) {
            let value = values.get(entity).map(|value| value.number);
            assert_eq!(value, (!is_tagged(i)).then_some(i), "{name}");
        }
        drop(values);
        drop(world);
        assert_eq!(drops.take().len(), ENTITIES as usize / 2, "{name}");
    }
}

#[test]
fn destructors_that_panic_leave_the_world_sound_and_all_others_run() {
    for (name, despawn) in WAYS {
        // A loop of single calls ends at the first panic.
        if matches!(name, "despawn" | "a closure of a command") {
            continue;
        }
        let drops = Drops::default();
        let (mut world, entities) = world(&drops);
        for i in [2, 8, 14] {
            world.sparse_mut::<Noted>().get_mut(entities[i]).unwrap().panics = true;
        }
        let ending: Vec<_> = entities.iter().copied().step_by(2).collect();
        let panic = catch_unwind(AssertUnwindSafe(|| despawn(&mut world, &ending))).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "destructor 2", "{name}");
        sound(&world);
        assert!(ending.iter().all(|&entity| !world.contains(entity)), "{name}");
        let expected = (0..ENTITIES).filter(|i| is_tagged(*i) && i % 6 != 0);
        assert_eq!(drops.take().len(), expected.count(), "{name}");
    }
}

#[test]
fn a_single_despawn_whose_destructor_panics_is_done() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn(Four(1));
    world.sparse_mut().insert(entity, drops.panicking(5)).unwrap();
    world.sparse_mut().insert(entity, Second(drops.value(6))).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| world.despawn(entity))).is_err());
    assert_eq!(drops.take(), [5, 6]);
    assert!(!world.contains(entity) && world.sparse::<Second>().is_empty());
    sound(&world);
}

#[test]
fn the_end_of_a_world_and_its_clearing_drop_every_value_in_spite_of_panics() {
    type End = fn(&mut World);
    let ends: [(&str, End); 4] = [
        ("clear", World::clear),
        ("drop", |world| drop(std::mem::take(world))),
        ("replacement", |world| *world = World::new()),
        ("replacement by a command", |world| {
            let mut buffer = world.command_buffer(0).unwrap();
            buffer.run(|world| *world = World::new());
            let _ = world.apply(&mut buffer);
        }),
    ];
    for panics in [false, true] {
        for (name, end) in ends {
            let drops = Drops::default();
            let mut world = World::new();
            let entities = world.spawn_batch([(); 5]).to_vec();
            for (i, &entity) in (0..).zip(&entities) {
                let value = if panics { drops.panicking(i) } else { drops.value(i) };
                world.sparse_mut().insert(entity, value).unwrap();
                world.sparse_mut().insert(entity, Second(drops.value(10 + i))).unwrap();
            }
            let ended = catch_unwind(AssertUnwindSafe(|| end(&mut world)));
            assert_eq!(ended.is_err(), panics, "{name}");
            assert_eq!(drops.take(), [0, 1, 2, 3, 4, 10, 11, 12, 13, 14], "{name}");
            assert!(world.is_empty() && world.sparse::<Noted>().is_empty(), "{name}");
            sound(&world);
        }
    }
}

#[test]
fn values_are_dropped_set_by_set_in_the_order_of_the_entities() {
    let drops = Drops::default();
    let mut world = World::new();
    let entities = world.spawn_batch((0..6).map(Four)).to_vec();
    for (i, &entity) in (0u32..6).zip(&entities).rev() {
        world.sparse_mut().insert(entity, Second(drops.value(10 + i))).unwrap();
        world.sparse_mut().insert(entity, drops.value(i)).unwrap();
    }
    world.despawn_batch(&[entities[3], entities[0], entities[4]]);
    assert_eq!(drops.take(), [13, 10, 14, 3, 0, 4]);
    let order: Vec<u32> = world.query::<&Four>().rows().map(|four| four.0).collect();
    world.matching::<Entity>().despawn();
    let expected: Vec<_> = order.iter().map(|i| 10 + i).chain(order.iter().copied()).collect();
    assert_eq!(drops.take(), expected);
}

#[test]
fn a_world_that_is_dropped_by_a_panic_drops_its_values_without_another() {
    let drops = Drops::default();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new();
        for i in 0..3 {
            let entity = world.spawn(());
            world.sparse_mut().insert(entity, drops.panicking(i)).unwrap();
        }
        panic!("the first");
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the first"));
    assert_eq!(drops.take(), [0, 1, 2]);
}

#[test]
fn the_last_generation_of_an_index_ends_like_others() {
    let drops = Drops::default();
    let mut world = World::new();
    let last = Entity::from_bits(5 << 32 | u64::from(u32::MAX));
    world.spawn_at(last, ()).unwrap();
    world.sparse_mut().insert(last, drops.value(1)).unwrap();
    world.despawn(last).unwrap();
    assert_eq!(drops.take(), [1]);
    sound(&world);
}

/// Drops of [`Throws`].
static THROWN: AtomicU32 = AtomicU32::new(0);

/// A value with a destructor that panics, with a payload that panics in its destructor as well.
#[component(sparse)]
struct Throws;
/// A second component.
#[component(sparse)]
struct ThrowsToo(Throws);

impl Drop for Throws {
    fn drop(&mut self) {
        THROWN.fetch_add(1, Relaxed);
        panic_any(Bomb);
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload's destructor");
    }
}

#[test]
#[cfg_attr(miri, ignore = "a payload that panics is leaked")]
fn payloads_whose_destructors_panic_end_nothing() {
    let filled = || {
        let mut world = World::new();
        for _ in 0..3 {
            let entity = world.spawn(());
            assert!(world.insert(entity, Throws).is_ok());
            assert!(world.insert(entity, ThrowsToo(Throws)).is_ok());
        }
        world.insert_resource((Throws, 1_u16));
        world
    };
    let mut world = filled();
    let panic = catch_unwind(AssertUnwindSafe(|| world.matching::<Entity>().despawn()));
    forget(panic.expect_err("a destructor panics"));
    assert_eq!(THROWN.swap(0, Relaxed), 6);
    sound(&world);
    forget(catch_unwind(AssertUnwindSafe(|| drop(world))).expect_err("the resource panics"));
    assert_eq!(THROWN.swap(0, Relaxed), 1);
    let panic = catch_unwind(|| {
        let _world = filled();
        panic!("the first");
    });
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the first"));
    assert_eq!(THROWN.swap(0, Relaxed), 7);
}

#[test]
fn a_world_drops_its_values_and_all_its_resources() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn(());
    world.sparse_mut().insert(entity, drops.panicking(0)).unwrap();
    world.insert_resource(drops.panicking(1));
    world.insert_resource(Second(drops.panicking(2)));
    world.insert_resource((drops.value(3), 4_u8));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(world))).is_err());
    let mut dropped = drops.take();
    dropped.sort_unstable();
    assert_eq!(dropped, [0, 1, 2, 3]);
}

#[test]
fn retain_drops_what_it_leaves_out_in_the_order_of_the_set() {
    let drops = Drops::default();
    let mut world = World::new();
    let all = world.spawn_batch([(); 6]).to_vec();
    for (&entity, number) in all.iter().zip(0..) {
        world.insert(entity, drops.value(number)).unwrap();
    }
    let asked = catch_unwind(AssertUnwindSafe(|| {
        world.sparse_mut::<Noted>().retain(|_, noted| {
            assert!(noted.number < 3, "asked for the fourth");
            false
        });
    }));
    assert!(asked.is_err() && drops.take().is_empty(), "a panic of the closure removes none");
    world.sparse_mut::<Noted>().retain(|entity, noted| {
        assert_eq!(entity, all[noted.number as usize]);
        noted.number % 2 == 1
    });
    assert_eq!(drops.take(), [0, 2, 4]);
    let left: Vec<Entity> = world.query::<Entity>().with::<Noted>().rows().collect();
    assert_eq!(left, [all[1], all[3], all[5]]);
    sound(&world);
}
