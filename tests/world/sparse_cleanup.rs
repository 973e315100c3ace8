//! Sparse cleanup components: values that remain when their entities are despawned.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::error::{EntityError, NoSuchEntity};
use phalanx::prelude::*;
use phalanx::reflect::BytesError;

use crate::cleanup::Sound;
use crate::common::components::{Four, Other, Owned, Tag, small_world, sound};

/// A handle that counts its owners.
#[component(sparse, cleanup)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Handle(pub(crate) Arc<u32>);

/// A handle of plain data.
#[component(sparse, plain, cleanup)]
#[derive(Debug, PartialEq)]
pub(crate) struct Slot(pub(crate) u32);

/// A world of five entities without handles and one with one, tagged, with another sparse component
/// that is not kept.
fn one() -> (World, Entity, Arc<u32>) {
    let mut world = small_world();
    world.spawn_batch((0..5).map(|i| (Four(i), Tag)));
    let handle = Arc::new(7);
    let entity = world.spawn((Four(9), Tag, Handle(Arc::clone(&handle)), Owned(Arc::new(1))));
    (world, entity, handle)
}

/// Asserts that an entity has only its handle left.
#[track_caller]
fn assert_gone(world: &World, entity: Entity, handle: &Arc<u32>) {
    sound(world);
    assert!(!world.contains(entity) && world.has::<Gone>(entity) && world.has::<Handle>(entity));
    assert!(!world.has::<Four>(entity) && !world.has::<Tag>(entity));
    assert!(!world.has::<Owned>(entity), "it is no cleanup component");
    assert_eq!(*world.get::<Handle>(entity).expect("it has one").0, 7);
    assert_eq!(world.sparse::<Handle>().get(entity).map(|handle| *handle.0), Some(7));
    assert_eq!(world.query::<&Handle>().count_rows(), 0, "it is hidden");
    let gone: Vec<_> = world.query::<(Entity, &Handle)>().with::<Gone>().rows().collect();
    assert_eq!(gone, [(entity, &Handle(Arc::clone(handle)))]);
    assert_eq!(Arc::strong_count(handle), 2, "it is not dropped");
}

fn commands(world: &mut World, record: impl Fn(&mut CommandBuffer)) {
    let mut buffer = world.command_buffer(0).expect("room");
    record(&mut buffer);
    world.apply(&mut buffer).expect("nothing fails");
}

#[test]
fn all_ways_to_despawn_keep_the_values() {
    type Way = fn(&mut World, Entity);
    let ways: [Way; 10] = [
        |world, entity| world.despawn(entity).expect("it is alive"),
        |world, entity| assert_eq!(world.despawn_batch(&[entity, entity]), 1),
        |world, _| assert_eq!(world.matching::<Entity>().with::<Handle>().despawn(), 1),
        |world, _| assert_eq!(world.matching::<&Four>().with::<Tag>().despawn(), 6),
        |world, _| assert_eq!(world.matching::<&Four>().retain(|_, keep| keep.fill(false)), 6),
        |world, entity| commands(world, |buffer| buffer.despawn(entity)),
        |world, entity| {
            commands(world, |buffer| {
                buffer.insert(entity, Other);
                buffer.despawn(entity);
            });
        },
        |world, _| commands(world, CommandBuffer::despawn_where::<Entity, With<Handle>>),
        |world, _| {
            commands(world, |buffer| buffer.retain_where::<&Four, ()>(|_, keep| keep.fill(false)));
        },
        |world, entity| {
            commands(world, |buffer| {
                buffer.run(move |world| world.despawn(entity).expect("it is alive"));
            });
        },
    ];
    for way in ways {
        let (mut world, entity, handle) = one();
        way(&mut world, entity);
        assert_gone(&world, entity, &handle);
        let len = world.len();
        assert_eq!(len, 1 + world.query::<&Four>().count_rows());
        assert_eq!(*world.remove::<Handle>(entity).expect("it has one").0, 7);
        assert!(!world.has::<Gone>(entity) && world.entity(entity).is_err());
        assert_eq!((world.len(), Arc::strong_count(&handle)), (len - 1, 1));
        assert_eq!(world.spawn(()).generation(), entity.generation() + 1, "the id is used again");
        sound(&world);
    }
}

#[test]
fn all_ways_to_remove_the_last_value_free_the_id() {
    fn leave(gone: Query<(Entity, &Handle), With<Gone>>, mut commands: Commands) {
        for (entity, _) in gone.rows() {
            commands.remove::<Handle>(entity);
        }
    }
    fn take(gone: Query<Entity, With<Gone>>, mut handles: SparseMut<Handle>) {
        for entity in gone.rows() {
            assert!(handles.remove(entity).is_some());
        }
    }
    type Way = fn(&mut World, Entity);
    let ways: [Way; 10] = [
        |world, entity| _ = world.remove::<Handle>(entity).expect("it has one"),
        |world, entity| commands(world, |buffer| buffer.remove::<Handle>(entity)),
        |world, entity| commands(world, |buffer| buffer.remove::<(Handle, Sound)>(entity)),
        |world, entity| commands(world, |buffer| buffer.remove::<(Owned, Handle)>(entity)),
        |world, _| {
            let mut schedule = Schedule::new();
            schedule.add(leave);
            schedule.run(world).expect("nothing fails");
        },
        |world, _| {
            let mut schedule = Schedule::new();
            schedule.add(take);
            schedule.run(world).expect("nothing fails");
        },
        // While a buffer has a share of the ids, none is freed.
        |world, _| {
            let mut schedule = Schedule::new();
            schedule.add((take, |_: Commands| ()));
            schedule.run(world).expect("nothing fails");
        },
        |world, entity| {
            let took = world.run(move |mut handles: SparseMut<Handle>, _: Commands| {
                handles.remove(entity).is_some()
            });
            assert!(took, "it has one");
        },
        // A view ends the entity at the next change of its component.
        |world, entity| {
            assert!(world.sparse_mut::<Handle>().remove(entity).is_some());
            assert!(world.has::<Gone>(entity) && !world.has::<Handle>(entity));
            assert_eq!(world.check(), Ok(()));
            assert!(world.sparse_mut::<Handle>().is_empty());
        },
        // An insertion is refused, and does not prevent the removal.
        |world, entity| {
            let mut buffer = world.command_buffer(0).expect("room");
            buffer.insert(entity, Handle(Arc::new(3)));
            buffer.remove::<Handle>(entity);
            let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
                panic!("an insertion is refused")
            };
            let fault = CommandErrorKind::NoSuchEntity(NoSuchEntity { entity });
            assert_eq!((errors.len(), &errors.as_slice()[0].fault), (1, &fault));
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let (mut world, entity, handle) = one();
        world.despawn(entity).expect("it is alive");
        way(&mut world, entity);
        assert!(!world.has::<Handle>(entity) && !world.has::<Gone>(entity), "way {number}");
        assert_eq!((world.len(), Arc::strong_count(&handle)), (5, 1));
        sound(&world);
        assert_eq!(world.remove::<Handle>(entity), Err(NoSuchEntity { entity }.into()), "twice");
        assert_eq!(world.spawn(()).index(), entity.index());
        sound(&world);
    }
}

#[test]
fn an_id_is_free_when_the_last_of_both_kinds_is_removed() {
    for order in 0..6 {
        let (mut world, entity, handle) = one();
        world.insert(entity, (Sound { channel: 3 }, Slot(4))).expect("it is alive");
        world.despawn(entity).expect("it is alive");
        assert_gone(&world, entity, &handle);
        let removals: [fn(&mut World, Entity); 3] = [
            |world, entity| _ = world.remove::<Handle>(entity).expect("it has one"),
            |world, entity| _ = world.remove::<Sound>(entity).expect("it has one"),
            |world, entity| _ = world.remove::<Slot>(entity).expect("it has one"),
        ];
        let mut order = vec![order % 3, (order + 1 + order / 3) % 3];
        order.push(3 - order[0] - order[1]);
        for (removed, &at) in order.iter().enumerate() {
            assert!(world.has::<Gone>(entity), "{removed} are removed");
            removals[at](&mut world, entity);
            sound(&world);
        }
        assert!(!world.has::<Gone>(entity) && world.len() == 5);
        assert_eq!(world.spawn(()).index(), entity.index());
    }
    // All at once.
    let (mut world, entity, _) = one();
    world.insert(entity, (Sound { channel: 3 }, Slot(4))).expect("it is alive");
    world.despawn(entity).expect("it is alive");
    let all = world.remove::<(Slot, Sound, Handle)>(entity).expect("it has them");
    assert_eq!((all.0, all.1), (Slot(4), Sound { channel: 3 }));
    assert!(!world.has::<Gone>(entity) && world.len() == 5);
    sound(&world);
}

#[test]
fn what_is_gone_is_not_alive() {
    let (mut world, entity, handle) = one();
    world.despawn(entity).expect("it is alive");
    let dead = NoSuchEntity { entity };
    let (version, hash) = (world.version(), world.hash());
    assert!(world.spawn_at(entity, ()).is_err(), "the id is in use");
    assert_eq!(world.despawn(entity), Err(dead.into()));
    assert_eq!(world.despawn_batch(&[entity; 3]), 0);
    assert_eq!(world.insert(entity, Handle(Arc::new(1))), Err(dead.into()));
    assert_eq!(world.insert(entity, (Four(1), Slot(1))), Err(dead.into()));
    assert_eq!(world.exchange::<Handle, _>(entity, Slot(1)), Err(dead.into()));
    assert_eq!(world.remove::<Owned>(entity), Err(dead.into()));
    assert_eq!(world.instantiate(entity, 1), Err(phalanx::error::SpawnError::NoSuchEntity(dead)));
    let kept = "phalanx::KeptValues";
    assert_eq!(world.reflect_mut().remove(entity, [kept]), Err(BytesError::Gone));
    assert_eq!(world.matching::<Entity>().with::<Gone>().despawn(), 0);
    assert_eq!(world.matching::<Entity>().with::<Gone>().insert(Four(1)), Ok(0));
    assert_eq!((world.version(), world.hash()), (version, hash), "nothing has changed");
    let inserted = world.sparse_mut::<Handle>().insert(entity, Handle(Arc::new(1)));
    assert_eq!((inserted, Arc::strong_count(&handle)), (Err(dead), 2));
    let other = world.spawn(());
    assert_eq!(world.reflect_mut().insert(other, [(kept, &[][..])]), Err(BytesError::Gone));
    // Values can be written.
    world.get_mut::<Handle>(entity).expect("it has one").0 = Arc::new(8);
    assert_eq!(Arc::strong_count(&handle), 1);
    assert_eq!(*world.query::<&Handle>().with::<Gone>().single().expect("one").0, 8);
    let removed = world.remove::<Four>(entity);
    assert_eq!(removed, Err(EntityError::from(dead)));
    assert!(world.query::<&Handle>().with::<Gone>().contains(entity));
    sound(&world);
}

#[test]
fn commands_of_one_entity_have_the_effect_of_their_order() {
    type Case = (fn(&mut CommandBuffer, Entity), Option<u32>);
    let cases: [Case; 7] = [
        (
            |buffer, entity| {
                buffer.remove::<Slot>(entity);
                buffer.despawn(entity);
            },
            None,
        ),
        (
            |buffer, entity| {
                buffer.insert(entity, Slot(8));
                buffer.despawn(entity);
            },
            Some(8),
        ),
        (
            |buffer, entity| {
                buffer.despawn(entity);
                buffer.remove::<Slot>(entity);
            },
            None,
        ),
        (
            |buffer, _| {
                let spawned = buffer.spawn((Four(1), Slot(3)));
                buffer.despawn(spawned);
            },
            Some(3),
        ),
        (
            |buffer, _| {
                let spawned = buffer.spawn(Four(1));
                buffer.insert(spawned, Slot(4));
                buffer.despawn(spawned);
                buffer.remove::<Slot>(spawned);
            },
            None,
        ),
        (
            |buffer, entity| {
                buffer.exchange::<Slot, _>(entity, Other);
                buffer.despawn(entity);
            },
            None,
        ),
        (
            |buffer, entity| {
                buffer.exchange::<Other, _>(entity, Slot(5));
                buffer.despawn(entity);
            },
            Some(5),
        ),
    ];
    for (number, (record, left)) in cases.into_iter().enumerate() {
        let mut world = small_world();
        let entity = world.spawn((Four(1), Slot(7)));
        let mut buffer = world.command_buffer(2).expect("room");
        record(&mut buffer, entity);
        world.apply(&mut buffer).expect("nothing fails");
        let gone: Vec<_> =
            world.query::<&Slot>().with::<Gone>().rows().map(|slot| slot.0).collect();
        assert_eq!(gone, Vec::from_iter(left), "case {number}");
        let others = usize::from(world.contains(entity));
        assert_eq!(world.len(), gone.len() + others, "case {number}");
        sound(&world);
    }
}

#[test]
fn each_value_is_dropped_once_and_a_panic_ends_no_other() {
    #[component(sparse, cleanup)]
    struct Loud(Arc<()>);
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let (mut world, alive) = (small_world(), Arc::new(()));
    let all: Vec<_> = (0..4).map(|i| world.spawn((Four(i), Loud(Arc::clone(&alive))))).collect();
    for &entity in &all {
        world.despawn(entity).expect("no value is dropped");
    }
    assert_eq!((Arc::strong_count(&alive), world.len()), (5, 4));
    let mut buffer = world.command_buffer(0).expect("room");
    all[..2].iter().for_each(|&entity| buffer.remove::<Loud>(entity));
    let applied = catch_unwind(AssertUnwindSafe(|| world.apply(&mut buffer)));
    assert!(applied.is_err(), "the panic of a destructor goes on");
    assert_eq!((Arc::strong_count(&alive), world.len()), (3, 2));
    sound(&world);
    assert!(catch_unwind(AssertUnwindSafe(|| world.clear())).is_err());
    assert_eq!((Arc::strong_count(&alive), world.len()), (1, 0));
    sound(&world);

    let (mut world, entity, handle) = one();
    world.despawn(entity).expect("it is alive");
    drop(world);
    assert_eq!(Arc::strong_count(&handle), 1, "with the world");
}

#[test]
fn a_loss_is_reported_when_the_value_is_removed() {
    let (mut world, entity, _) = one();
    world.insert(entity, Slot(5)).expect("it is alive");
    let mut losses = world.cursor::<Removals<Slot>>();
    world.despawn(entity).expect("it is alive");
    assert_eq!(losses.read(&world).0.len(), 0, "it has it still");
    world.remove::<Slot>(entity).expect("it has one");
    assert_eq!(losses.read(&world), (&[entity][..], &[Slot(5)][..]));
}

#[test]
fn many_of_many_archetypes_are_gone_in_their_order() {
    let (mut world, count) = (small_world(), if cfg!(miri) { 40_u32 } else { 5_000 });
    let all: Vec<_> = (0..count)
        .map(|i| match i % 4 {
            0 => world.spawn((Four(i), Slot(i))),
            1 => world.spawn((Four(i), Tag, Slot(i))),
            2 => world.spawn((Four(i), Sound { channel: i }, Slot(i))),
            _ => world.spawn((Four(i), Other)),
        })
        .collect();
    assert_eq!(world.matching::<&Four>().despawn(), all.len());
    sound(&world);
    let gone: Vec<_> = world.query::<&Slot>().with::<Gone>().rows().map(|slot| slot.0).collect();
    let kept = (0..count).filter(|i| i % 4 == 0).chain((0..count).filter(|i| i % 4 == 1));
    assert!(gone.iter().copied().eq(kept.chain((0..count).filter(|i| i % 4 == 2))));
    assert_eq!((world.len(), world.query::<&Four>().count_rows()), (gone.len(), 0));
    // Half of them by commands, half by a view.
    let mut buffer = world.command_buffer(0).expect("room");
    for (i, &entity) in all.iter().enumerate().filter(|(i, _)| i % 4 != 3) {
        if i % 8 < 4 {
            buffer.remove::<Slot>(entity);
        } else {
            world.sparse_mut::<Slot>().remove(entity).expect("it has one");
        }
    }
    world.apply(&mut buffer).expect("nothing fails");
    sound(&world);
    assert_eq!(world.matching::<&Sound>().with::<Gone>().remove::<Sound>(), all.len() / 4);
    assert!(world.is_empty());
    sound(&world);
}
