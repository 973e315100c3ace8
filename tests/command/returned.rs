//! Ids of a dropped buffer: every call acts at once as if they had never been lent.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

use crate::common::components::{Four, sound};
use crate::fixtures::apply;

/// A world of at most eight entities: a dropped buffer held all except `alive`. Also returns an id
/// that the buffer handed out.
fn after_drop(alive: u32) -> (World, Entity) {
    let mut world = World::builder().entities_max(8).build();
    world.spawn_batch((0..alive).map(Four));
    let mut buffer = world.command_buffer(8 - alive).unwrap();
    let seen = buffer.spawn(Four(9));
    assert!(world.try_spawn(()).is_err(), "all ids are lent");
    drop(buffer);
    (world, seen)
}

type Call = fn(&mut World, Entity) -> usize;

/// Every call that makes entities or room for them, and the minimum number of entities afterwards.
const CALLS: [(&str, Call); 12] = [
    ("try_spawn", |world, _| {
        (0..7).for_each(|i| {
            world.try_spawn(Four(i)).unwrap();
        });
        8
    }),
    ("try_spawn_batch", |world, _| {
        world.try_spawn_batch((0..7).map(Four)).unwrap();
        8
    }),
    ("spawn_columns", |world, _| {
        world.spawn_columns((&[Four(1); 7][..],)).unwrap();
        8
    }),
    ("instantiate", |world, _| {
        let entity = world.query::<Entity>().iter().flatten().copied().next().unwrap();
        world.instantiate(entity, 7).unwrap();
        8
    }),
    ("spawn_at", |world, seen| {
        let next = Entity::from_bits(seen.to_bits() + 1);
        world.spawn_at(next, ()).unwrap();
        2
    }),
    ("spawn_at an index that was never handed out", |world, _| {
        world.spawn_at(Entity::from_bits(5 << 32 | 1), ()).unwrap();
        2
    }),
    ("reserve", |world, _| {
        world.reserve::<Four>(7).unwrap();
        1
    }),
    ("reserve_entity", |world, _| {
        let ids: Vec<_> = (0..7).map(|_| world.reserve_entity().unwrap()).collect();
        assert!(ids.iter().all(|&id| world.contains(id)));
        8
    }),
    ("reserve_entities", |world, _| {
        assert!(world.reserve_entities(8).is_err());
        assert_eq!(world.reserve_entities(7).unwrap().len(), 7);
        8
    }),
    ("reserve_entities in two threads", |world, _| {
        let world = &*world;
        std::thread::scope(|threads| {
            threads.spawn(|| assert_eq!(world.reserve_entities(4).unwrap().count(), 4));
            threads.spawn(|| (0..3).for_each(|_| assert!(world.reserve_entity().is_ok())));
        });
        8
    }),
    ("command_buffer", |world, _| {
        let mut buffer = world.command_buffer(7).unwrap();
        (0..7).for_each(|i| assert!(buffer.try_spawn(Four(i)).is_ok()));
        apply(world, &mut buffer);
        8
    }),
    ("apply of a batch", |world, _| {
        let mut buffer = world.command_buffer(0).unwrap();
        buffer.spawn_batch((0..7).map(Four));
        apply(world, &mut buffer);
        8
    }),
];

#[test]
fn every_call_has_the_ids_of_a_dropped_buffer() {
    for (name, call) in CALLS {
        let (mut world, seen) = after_drop(1);
        sound(&world);
        let entities = call(&mut world, seen);
        sound(&world);
        assert!(!world.contains(seen), "{name}: the id never means another entity");
        world.query_mut::<Entity>().iter_mut().for_each(drop); // brings reserved ids to life
        assert_eq!(world.len(), entities, "{name}");
        sound(&world);
    }
}

/// The hash, followed by the next ids that each kind of call gives.
fn next_ids(mut world: World) -> (u64, Vec<Entity>, Vec<Entity>) {
    let hash = world.hash();
    let reserved: Vec<_> =
        world.reserve_entity().into_iter().chain(world.reserve_entities(3).unwrap()).collect();
    assert_eq!(world.hash(), world.hash());
    let spawned = world.spawn_batch([(); 3]).to_vec();
    sound(&world);
    (hash, reserved, spawned)
}

#[test]
fn ids_that_wait_and_ids_that_were_taken_back_are_the_same() {
    let taken_back = || {
        let (mut world, _) = after_drop(1);
        world.query_mut::<Entity>().iter_mut().for_each(drop);
        world
    };
    let (waiting, again) = (after_drop(1).0, after_drop(1).0);
    assert_eq!(waiting.hash(), waiting.hash(), "to look changes nothing");
    let want = next_ids(taken_back());
    assert_eq!(next_ids(waiting), want);
    let mut spawned = again;
    let mut other = taken_back();
    assert_eq!(spawned.spawn_batch([(); 7]), other.spawn_batch([(); 7]));
    // Returning ids creates no archetype and no version.
    assert_eq!(spawned.hash(), other.hash());
}

#[test]
fn buffers_are_dropped_in_any_order_on_any_thread() {
    let ids = |order: [usize; 3], threads: bool| {
        let mut world = World::builder().entities_max(30).build();
        let mut buffers: Vec<_> = (0..3).map(|_| Some(world.command_buffer(10).unwrap())).collect();
        for (i, buffer) in buffers.iter_mut().flatten().enumerate() {
            (0..i).for_each(|_| assert!(buffer.try_spawn(()).is_ok()));
        }
        for i in order {
            let buffer = buffers[i].take();
            if threads {
                std::thread::spawn(move || drop(buffer)).join().unwrap();
            }
        }
        sound(&world);
        let reserved: Vec<_> = world.reserve_entities(12).unwrap().collect();
        let spawned = world.spawn_batch([(); 18]).to_vec();
        sound(&world);
        assert_eq!(world.len(), 30);
        (reserved, spawned)
    };
    let want = ids([0, 1, 2], false);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        assert_eq!(ids(order, false), want);
        assert_eq!(ids(order, true), want);
    }
}

#[test]
fn a_buffer_that_is_dropped_while_ids_are_reserved_gives_back_the_rest() {
    let mut world = World::builder().entities_max(8).build();
    let buffer = world.command_buffer(5).unwrap();
    let early: Vec<_> = world.reserve_entities(2).unwrap().collect();
    drop(buffer);
    let late: Vec<_> = world.reserve_entities(6).unwrap().collect();
    assert!(world.reserve_entity().is_err());
    sound(&world);
    let clone: Vec<_> = early.iter().chain(&late).copied().collect();
    assert!(clone.iter().all(|&id| world.contains(id)));
    world.insert(late[0], Four(1)).unwrap();
    assert_eq!(world.len(), 8);
    assert!(clone.iter().all(|&id| world.contains(id)));
    sound(&world);
}

#[test]
fn the_iterator_of_a_batch_may_drop_a_buffer() {
    let mut world = World::builder().entities_max(8).build();
    let mut buffer = Some(world.command_buffer(8).unwrap());
    let rows = (0..8).map(|i| {
        drop(buffer.take());
        Four(i)
    });
    assert_eq!(world.try_spawn_batch(rows).unwrap().len(), 8);
    sound(&world);
}

#[test]
fn a_closure_of_a_buffer_may_drop_another() {
    let mut world = World::builder().entities_max(8).build();
    let held = world.command_buffer(8).unwrap();
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.run(move |_| drop(held));
    buffer.spawn_batch((0..4).map(Four));
    buffer.run(|world| {
        world.spawn(());
    });
    apply(&mut world, &mut buffer);
    assert_eq!(world.len(), 5);
    assert!(world.try_spawn_batch([(); 3]).is_ok());
    sound(&world);
}

#[test]
fn a_buffer_may_outlive_its_world_or_be_dropped_in_a_panic_or_be_forgotten() {
    let mut world = World::builder().entities_max(8).build();
    let buffer = world.command_buffer(8).unwrap();
    drop(world);
    drop(buffer);

    let (mut world, _) = after_drop(0);
    let mut buffer = world.command_buffer(8).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(move || {
        buffer.spawn(());
        panic!("in the middle");
    }));
    assert!(panic.is_err());
    assert_eq!(world.reserve_entities(8).unwrap().count(), 8);
    sound(&world);

    let (mut world, _) = after_drop(0);
    // A forgotten buffer is never dropped. This one is dropped, but only at the end of the test, so
    // that no memory leaks.
    let forgotten = world.command_buffer(3).unwrap();
    assert!(world.try_spawn_batch([(); 6]).is_err(), "what is forgotten stays lent");
    assert!(world.try_spawn_batch([(); 5]).is_ok());
    sound(&world);
    drop(forgotten);
}

#[test]
fn ids_go_back_to_the_world_that_lent_them() {
    let [mut here, mut there] = [(); 2].map(|()| World::builder().entities_max(4).build());
    let mut buffer = here.command_buffer(4).unwrap();
    buffer.spawn(());
    assert!(there.apply(&mut buffer).is_err());
    core::mem::swap(&mut here, &mut there);
    drop(buffer);
    assert_eq!(here.spawn_batch([(); 4]).len(), 4);
    assert_eq!(there.spawn_batch([(); 4]).len(), 4);
    sound(&here);
    sound(&there);
}

#[test]
fn an_index_whose_last_generation_was_handed_out_is_retired() {
    let mut world = World::builder().entities_max(2).build();
    let last = Entity::from_bits(u64::from(u32::MAX));
    world.spawn_at(Entity::from_bits(u64::from(u32::MAX - 1)), ()).unwrap();
    world.clear();
    let mut buffer = world.command_buffer(1).unwrap();
    assert_eq!(buffer.spawn(()), last);
    drop(buffer);
    assert!(world.reserve_entities(2).is_err());
    let id = world.reserve_entity().unwrap();
    assert_eq!(id.index(), 1);
    assert!(world.try_spawn(()).is_err());
    assert!(world.contains(id) && !world.contains(last));
    sound(&world);
}

#[test]
fn a_buffer_that_a_command_drops_gives_its_ids_to_the_batch_after_it() {
    let spawn_at_once = |world: &mut World, entity| {
        world.despawn(entity).unwrap();
        world.spawn_batch([0, 1, 2].map(Four));
    };
    let spawn_by_commands = |world: &mut World, entity| {
        let mut buffer = world.command_buffer(0).unwrap();
        buffer.despawn(entity);
        buffer.spawn_batch([0, 1, 2].map(Four));
        apply(world, &mut buffer);
    };
    #[component(sparse)]
    struct Held(std::sync::Mutex<CommandBuffer>);
    let indices = |change: fn(&mut World, Entity)| {
        let mut world = World::new();
        let dropped = world.command_buffer(3).unwrap();
        let entity = world.spawn(());
        world.insert(entity, Held(std::sync::Mutex::new(dropped))).unwrap();
        change(&mut world, entity);
        sound(&world);
        world
            .query::<(Entity, &Four)>()
            .rows()
            .map(|(entity, _)| entity.index())
            .collect::<Vec<_>>()
    };
    assert_eq!(indices(spawn_by_commands), indices(spawn_at_once));
}
