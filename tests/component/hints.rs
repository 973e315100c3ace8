//! `Component::hint` is safe to implement: it may panic, and it may query the calling world.

use core::cell::Cell;
use core::time::Duration;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

use phalanx::ComponentHint;
use phalanx::prelude::*;

use crate::common::components::{Four, Number, Other, Owned, Tag, Twelve, sound};
use crate::common::world;

/// No row has it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Fragile(u32);

thread_local! {
    static BREAKS: Cell<bool> = const { Cell::new(false) };
}

impl Component for Fragile {
    const NAME: &'static str = "fragile";

    fn hint() -> Option<&'static ComponentHint> {
        assert!(!BREAKS.get(), "stop");
        None
    }
}

/// Runs `f` while the hint panics, and asserts that `f` panics.
fn breaks<T>(f: impl FnOnce() -> T) {
    BREAKS.set(true);
    let broken = catch_unwind(AssertUnwindSafe(f)).is_err();
    BREAKS.set(false);
    assert!(broken, "it asks for the hint");
}

#[test]
fn a_hint_that_panics_while_an_archetype_is_made_hides_it_from_no_query() {
    let mut world = world();
    let first = world.spawn(Four(0));
    let found = |world: &World| world.query::<(&Four, Option<&Fragile>)>().rows().count();
    assert_eq!(found(&world), 1);
    // The world registers a type, so the plan checks whether it is `Fragile`.
    breaks(|| world.spawn((Four(1), Tag)));
    sound(&world);
    breaks(|| world.insert(first, Twelve([1; 3])));
    sound(&world);
    world.spawn((Four(2), Tag));
    world.insert(first, Twelve([2; 3])).expect("it lives");
    sound(&world);
    assert_eq!((world.len(), found(&world)), (2, 2));
    world.spawn((Four(3), Fragile(3)));
    sound(&world);
    assert_eq!((world.len(), found(&world)), (3, 3));
    assert_eq!(world.query::<&Fragile>().rows().count(), 1);
}

#[test]
fn a_hint_that_panics_in_a_merge_leaves_no_memory_behind() {
    let mut world = world();
    world.spawn(Four(0));
    assert_eq!(world.query::<(&Four, Option<&Fragile>)>().rows().count(), 1);
    let other = || {
        let mut other = World::builder().chunk_size(world.chunk_size()).build();
        other.spawn_batch((0..10_000).map(|i| (Four(i), Tag)));
        other
    };
    let (broken, whole) = (other(), other());
    let before = world.memory().slab_bytes;
    breaks(|| world.merge(broken).map(drop));
    sound(&world);
    assert_eq!((world.len(), world.memory().slab_bytes), (1, before));
    assert_eq!(world.merge(whole).expect("nothing breaks").len(), 10_000);
    sound(&world);
    assert_eq!(world.query::<(&Four, Option<&Fragile>)>().rows().count(), 10_001);
    world.clear();
    while !world.memory_mut().compact(1_000).finished {}
    assert_eq!(world.memory().slab_bytes, 0);
}

#[test]
fn a_hint_that_panics_in_a_change_of_all_that_match_changes_no_entity() {
    let mut world = world();
    // The archetypes of the columns exist, and their names are known.
    let tagged = world.spawn((Four(9), Tag));
    let all = world.spawn_batch((0..3).map(Four)).to_vec();
    let found = |world: &World| world.query::<(&Four, Option<&Fragile>)>().rows().count();
    assert_eq!(found(&world), 4);
    let unchanged = |world: &World| {
        sound(world);
        assert_eq!(world.query::<&Four>().with::<Tag>().count_rows(), 1);
        assert!(all.iter().all(|&one| !world.has::<Owned>(one) && !world.has::<Tag>(one)));
    };
    let owner = Arc::new(1);
    // The set of a sparse component is new.
    breaks(|| world.matching::<&Four>().insert((Tag, Owned(Arc::clone(&owner)))));
    unchanged(&world);
    assert_eq!(Arc::strong_count(&owner), 1, "all clones are dropped");
    let mut buffer = world.command_buffer(0).expect("room");
    buffer.insert_where::<&Four, (), _>((Tag, Owned(Arc::clone(&owner))));
    breaks(|| world.apply(&mut buffer).map(drop));
    unchanged(&world);
    drop(buffer);
    assert_eq!(Arc::strong_count(&owner), 1);
    // An archetype is new, of which only rows match, beside whole chunks of another one.
    let wide = world.spawn((Four(5), Twelve([1; 3])));
    let excepted = world.spawn((Four(6), Twelve([2; 3]), Number(1)));
    assert_eq!(found(&world), 6);
    world.register::<Other>();
    breaks(|| world.matching::<&Four>().without::<Number>().insert(Tag));
    unchanged(&world);
    // Without a panic each of them changes what matches.
    assert_eq!(world.matching::<&Four>().without::<Number>().insert(Tag), Ok(5));
    let inserted = world.matching::<&Four>().with::<Tag>().insert(Owned(Arc::clone(&owner)));
    assert_eq!((inserted, Arc::strong_count(&owner)), (Ok(5), 6));
    assert!(world.has::<Tag>(wide) && !world.has::<Tag>(excepted) && world.has::<Owned>(tagged));
    sound(&world);
}

#[component(cleanup, name = "hints.trace")]
struct Trace(u32);
#[component(sparse, cleanup, name = "hints.handle")]
struct Handle(u32);

/// A world that asks for the hint with its next archetype.
fn asking(fill: impl FnOnce(&mut World) -> Vec<Entity>) -> (World, Vec<Entity>) {
    let mut world = world();
    let entities = fill(&mut world);
    assert_eq!(world.query::<(Entity, &Fragile)>().count_rows(), 0);
    world.register::<Other>();
    (world, entities)
}

#[test]
fn a_hint_that_panics_in_a_despawn_ends_no_entity() {
    let owned = |number| (Four(number), Owned(Arc::new(number)));
    let fill = |world: &mut World| {
        let plain = world.spawn(owned(1));
        let traced = world.spawn((owned(2), Trace(2)));
        let handled = world.spawn((owned(3), Handle(3)));
        vec![plain, traced, handled]
    };
    let unchanged = |world: &World, all: &[Entity]| {
        sound(world);
        assert!(all.iter().all(|&one| world.has::<Owned>(one)), "they are alive");
    };
    for kept in [1, 2] {
        let (mut world, all) = asking(fill);
        breaks(|| world.despawn(all[kept]));
        unchanged(&world, &all);
        breaks(|| world.despawn_batch(&[all[0], all[kept]]));
        unchanged(&world, &all);
        breaks(|| world.matching::<&Four>().despawn());
        unchanged(&world, &all);
        let mut buffer = world.command_buffer(0).expect("room");
        all.iter().for_each(|&one| buffer.despawn(one));
        breaks(|| world.apply(&mut buffer).map(drop));
        unchanged(&world, &all);
        assert_eq!(world.matching::<&Four>().despawn(), 3);
        sound(&world);
        assert_eq!(world.query::<Entity>().with::<Gone>().count_rows(), 2);
    }
}

#[test]
fn a_hint_that_panics_after_the_last_value_for_cleanup_ends_its_entity_later() {
    let (mut world, all) = asking(|world| {
        let entity = world.spawn((Four(1), Handle(1)));
        world.despawn(entity).expect("it lives");
        vec![entity]
    });
    breaks(|| world.remove::<Handle>(all[0]).map(drop));
    sound(&world);
    drop(world.sparse_mut::<Handle>());
    sound(&world);
    assert_eq!(world.query::<Entity>().filter::<IncludeHidden>().count_rows(), 0, "it has ended");
}

#[test]
fn a_hint_that_panics_in_a_restore_changes_nothing() {
    let mut world = world();
    world.spawn(Four(1));
    let old = world.spawn((Four(1), Twelve([2; 3])));
    let snapshot = world.snapshot().expect("no id is lent");
    world.matching::<&Four>().despawn();
    world.memory_mut().retire_archetypes();
    let new = world.spawn(Number(7));
    assert_eq!(world.query::<(Entity, &Fragile)>().count_rows(), 0);
    world.register::<Other>();
    breaks(|| world.restore(&snapshot).map(drop));
    sound(&world);
    assert!(world.get::<Number>(new).is_ok() && !world.contains(old));
    world.restore(&snapshot).expect("it is of this world");
    sound(&world);
    assert_eq!(world.len(), 2);
}

#[test]
fn a_hint_that_panics_in_an_insertion_of_both_kinds_changes_no_column() {
    let mut world = world();
    let entity = world.spawn((Four(1), Number(1)));
    assert_eq!(world.query::<(Entity, &Fragile)>().count_rows(), 0);
    // The archetype exists, and the set of the sparse component is new.
    breaks(|| world.insert(entity, (Four(2), Owned(Arc::new(2)))));
    sound(&world);
    assert_eq!(world.get::<Four>(entity).ok(), Some(&Four(1)));
    breaks(|| world.exchange::<Number, _>(entity, (Four(2), Owned(Arc::new(2)))).map(drop));
    sound(&world);
    assert!(world.has::<Number>(entity) && !world.has::<Owned>(entity));
    world.insert(entity, (Four(2), Owned(Arc::new(2)))).expect("it lives");
    assert_eq!(world.get::<Four>(entity).ok(), Some(&Four(2)));
}

#[test]
fn a_hint_that_panics_in_a_spawn_or_insertion_of_a_new_sparse_component_changes_nothing() {
    let mut world = world();
    let entity = world.spawn(Four(1));
    assert_eq!(world.query::<(Entity, &Fragile)>().count_rows(), 0);
    let state = |world: &World| (world.hash(), world.version(), world.len());
    let before = state(&world);
    let owner = Arc::new(1);
    let owned = || (Four(2), Owned(Arc::clone(&owner)));
    type Call = fn(&mut World, Entity, (Four, Owned));
    let calls: [Call; 5] = [
        |world, _, both| _ = world.spawn(both),
        |world, _, both| _ = world.spawn_at(Entity::from_bits(5 << 32 | 1), both),
        |world, _, both| _ = world.spawn_batch([both.clone(), both]),
        |world, entity, (_, owned)| _ = world.insert(entity, owned),
        |world, entity, (_, owned)| _ = world.exchange::<(), _>(entity, owned),
    ];
    for (number, call) in calls.into_iter().enumerate() {
        breaks(|| call(&mut world, entity, owned()));
        sound(&world);
        assert_eq!(state(&world), before, "call {number}");
    }
    assert_eq!(Arc::strong_count(&owner), 1, "all values are dropped");
    world.spawn_batch((0..3).map(|_| owned()));
    assert_eq!((world.len(), Arc::strong_count(&owner)), (4, 4));
}

/// A name of the library, which adds its component with the first sparse one for cleanup.
#[component(name = "phalanx::Gone")]
struct NamedGone;

#[test]
fn a_name_that_the_library_needs_for_a_sparse_component_refuses_it_before_a_change() {
    let mut world = world();
    world.register::<NamedGone>();
    let entity = world.spawn(Four(1));
    let state = |world: &World| (world.hash(), world.version(), world.len());
    let before = state(&world);
    let refused = |call: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("the name is taken");
        let text = panic.downcast_ref::<String>().expect("a text");
        assert!(text.contains("phalanx::Gone"), "{text}");
    };
    refused(&mut || _ = world.spawn((Four(2), Handle(1))));
    refused(&mut || _ = world.spawn_at(Entity::from_bits(5 << 32 | 1), Handle(1)));
    refused(&mut || _ = world.spawn_batch((0..3).map(Handle)));
    refused(&mut || _ = world.insert(entity, (Four(2), Handle(1))));
    refused(&mut || _ = world.insert(entity, Handle(1)));
    refused(&mut || _ = world.exchange::<(), _>(entity, Handle(1)));
    sound(&world);
    assert_eq!(state(&world), before);
}

#[test]
fn a_hint_that_panics_in_a_playback_takes_no_id_from_the_world() {
    let mut world = World::builder().entities_max(8).build();
    world.spawn(Four(0));
    world.query::<(&Four, Option<&Fragile>)>().rows().for_each(drop);
    let mut buffer = world.command_buffer(2).expect("ids");
    // Playback takes ids for the spawns of writers, and is the first to ask for the hint.
    buffer.par_writers(1)[0].spawn(Twelve([1; 3]));
    buffer.par_writers(1)[0].spawn(Twelve([2; 3]));
    let unused = buffer.spawn(Other);
    breaks(|| world.apply(&mut buffer));
    sound(&world);
    assert!(buffer.is_empty() && !world.contains(unused));
    assert_ne!(buffer.spawn(Tag), unused, "the buffer has other ids");
    world.apply(&mut buffer).expect("the hint does not panic");
    drop(buffer);
    let spawned = std::iter::from_fn(|| world.try_spawn(()).ok()).count();
    assert_eq!((spawned, world.len()), (6, 8));
    sound(&world);
}

/// Its hint queries [`ASKED`].
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Curious(u32);

static ASKED: OnceLock<World> = OnceLock::new();

impl Component for Curious {
    const NAME: &'static str = "curious";

    fn hint() -> Option<&'static ComponentHint> {
        let rows = ASKED.get().map(|world| world.query::<&Four>().rows().count());
        assert!(rows.is_none_or(|rows| rows == 3), "three rows were spawned");
        None
    }
}

#[test]
fn a_hint_may_query_the_world_that_asks_it() {
    let mut world = world();
    world.spawn_batch((0..3).map(Four));
    let world = ASKED.get_or_init(|| world);
    // On a thread of its own: this call once deadlocked.
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        let found = world.query::<(&Four, Option<&Curious>)>().rows().count();
        done.send(found).expect("the test waits for it");
    });
    assert_eq!(is_done.recv_timeout(Duration::from_secs(60)), Ok(3));
}
