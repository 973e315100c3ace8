//! Sparse components: values by entity. `sparse_drops` tests their drops.

use std::collections::BTreeMap;
use std::mem::forget;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use phalanx::error::NoSuchEntity;
use phalanx::prelude::*;
use phalanx::sparse::SparseComponent as _;

use crate::common::components::{Four, Number, Text, sound};
use crate::common::effort::effort;

/// The numbers of dropped values, in the order of the drops.
#[derive(Clone, Default)]
pub(crate) struct Drops(Arc<Mutex<Vec<u32>>>);

impl Drops {
    pub(crate) fn value(&self, number: u32) -> Noted {
        Noted { drops: self.clone(), number, panics: false }
    }

    pub(crate) fn panicking(&self, number: u32) -> Noted {
        Noted { drops: self.clone(), number, panics: true }
    }

    pub(crate) fn take(&self) -> Vec<u32> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A value that notes its drop, and may panic in it.
#[component(sparse)]
pub(crate) struct Noted {
    drops: Drops,
    pub(crate) number: u32,
    pub(crate) panics: bool,
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.drops.0.lock().unwrap().push(self.number);
        assert!(!self.panics, "destructor {}", self.number);
    }
}

#[test]
fn an_old_id_never_reaches_the_value_of_another_entity() {
    let mut world = World::new();
    let old = world.spawn(());
    world.insert(old, Text::from("old")).unwrap();
    world.despawn(old).unwrap();
    let new = world.spawn(());
    assert_eq!(new.index(), old.index());
    assert_eq!(world.sparse::<Text>().get(new), None);
    world.insert(new, Text::from("new")).unwrap();
    assert_eq!(world.sparse::<Text>().get(old), None);
    assert_eq!(world.sparse_mut::<Text>().remove(old), None);
    let dead = Err(NoSuchEntity { entity: old });
    assert_eq!(world.insert(old, Text::from("again")), Err(NoSuchEntity { entity: old }.into()));
    let mut values = world.sparse_mut::<Text>();
    assert_eq!(values.insert(old, Text::from("again")), dead);
    assert!(values.get_mut(old).is_none() && values.remove(old).is_none());
    assert_eq!(values.get(new).unwrap().0, "new");
    // The same id, requested by number.
    world.despawn(new).unwrap();
    world.spawn_at(old, ()).unwrap();
    assert!(!world.sparse::<Text>().contains(old));
    world.insert(old, Text::from("third")).unwrap();
    sound(&world);
    world.despawn(old).unwrap();
    assert!(world.sparse::<Text>().is_empty());
    sound(&world);
}

#[test]
fn reserved_ids_take_values_and_ids_of_buffers_do_not_yet() {
    let mut world = World::new();
    let [first, second] = [(); 2].map(|()| world.reserve_entity().unwrap());
    assert_eq!(world.insert(first, Number(1)), Ok(()));
    assert_eq!(world.sparse_mut().insert(second, Number(2)), Ok(None));
    let third = world.reserve_entity().unwrap();
    assert_eq!(world.sparse_mut().insert(third, Number(3)), Ok(None));
    let drops = Drops::default();
    let mut buffer = world.command_buffer(1).unwrap();
    let coming = buffer.spawn(());
    let refused = world.sparse_mut().insert(coming, drops.value(4)).map(drop);
    assert_eq!(refused, Err(NoSuchEntity { entity: coming }));
    assert_eq!(drops.take(), [4]);
    let value = drops.value(5);
    buffer.run(move |world| world.sparse_mut().insert(coming, value).map(drop).unwrap());
    world.apply(&mut buffer).unwrap();
    assert_eq!(world.sparse::<Noted>().get(coming).unwrap().number, 5);
    sound(&world);
}

#[test]
fn a_value_is_replaced_and_removed_without_a_drop() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn(());
    assert!(world.sparse_mut().insert(entity, drops.value(0)).unwrap().is_none());
    let replaced = world.sparse_mut().insert(entity, drops.value(1)).unwrap();
    assert!(drops.take().is_empty());
    assert_eq!(replaced.map(|value| value.number), Some(0));
    assert_eq!(drops.take(), [0]);
    let removed = world.sparse_mut::<Noted>().remove(entity);
    world.despawn(entity).unwrap();
    assert!(drops.take().is_empty());
    drop(removed);
    assert_eq!(drops.take(), [1]);
}

#[test]
fn values_without_a_size_are_counted() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    #[component(sparse)]
    struct Empty;
    impl Drop for Empty {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut world = World::new();
    let entities = world.spawn_batch([(); 20]).to_vec();
    for &entity in &entities {
        assert!(world.sparse_mut().insert(entity, Empty).unwrap().is_none());
    }
    assert_eq!(world.despawn_batch(&entities[..7]), 7);
    assert_eq!(DROPS.load(Ordering::Relaxed), 7);
    assert_eq!(world.sparse::<Empty>().iter().count(), 13);
    world.clear();
    assert_eq!(DROPS.load(Ordering::Relaxed), 20);
}

#[test]
fn random_operations_agree_with_a_map() {
    let (steps, drops) = (if cfg!(miri) { 300 } else { effort(10_000) }, Drops::default());
    let mut world = World::new();
    let (mut alive, mut dead) = (Vec::new(), vec![Entity::NULL]);
    let mut model: BTreeMap<Entity, u32> = BTreeMap::new();
    let (mut inserted, mut dropped, mut seed) = (0u32, 0, 1u64);
    let mut chance = move |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % n
    };
    for step in 0..steps {
        match chance(10) {
            0..3 => alive.push(world.spawn(())),
            3..5 if !alive.is_empty() => {
                let entity = alive.swap_remove(chance(alive.len()));
                world.despawn(entity).unwrap();
                dropped += usize::from(model.remove(&entity).is_some());
                dead.push(entity);
            }
            5..8 if !alive.is_empty() => {
                let entity = alive[chance(alive.len())];
                let old = world.sparse_mut().insert(entity, drops.value(inserted)).unwrap();
                assert_eq!(old.map(|old| old.number), {
                    let old = model.insert(entity, inserted);
                    dropped += usize::from(old.is_some());
                    old
                });
                inserted += 1;
            }
            8 if !alive.is_empty() => {
                let entity = alive[chance(alive.len())];
                let old = world.sparse_mut::<Noted>().remove(entity).map(|old| old.number);
                dropped += usize::from(old.is_some());
                assert_eq!(old, model.remove(&entity));
            }
            _ => {
                let entity = dead[chance(dead.len())];
                assert!(!world.sparse::<Noted>().contains(entity));
            }
        }
        assert_eq!(drops.0.lock().unwrap().len(), dropped);
        if step % (steps / 50) == 0 {
            sound(&world);
            let values = world.sparse::<Noted>();
            let found: BTreeMap<_, _> =
                values.iter().map(|(id, value)| (id, value.number)).collect();
            assert_eq!(found, model);
        }
    }
    drop(world);
    assert_eq!(drops.take().len(), inserted as usize);
}

#[test]
fn many_values_by_far_indices_take_little_memory() {
    let values: u32 = if cfg!(miri) { 50 } else { 200_000 };
    let mut world = World::new();
    let entities = world.spawn_batch((0..values).map(Four)).to_vec();
    #[component(sparse)]
    #[derive(Debug, PartialEq)]
    struct Heap(Box<u32>);
    let mut texts = world.sparse_mut::<Heap>();
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(texts.insert(entity, Heap(Box::new(i))), Ok(None));
    }
    for (entity, text) in texts.iter_mut() {
        *text.0 += entity.index();
    }
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(texts.get(entity), Some(&Heap(Box::new(2 * i))));
    }
    let before = world.memory().sparse_bytes;
    assert!(before > values as usize * (8 + 8 + 4), "{before} bytes");
    assert!(before < values as usize * 80 + 1_000, "{before} bytes");
    world.clear();
    sound(&world);
    let kept = world.memory().sparse_bytes;
    assert!(
        kept >= values as usize * (8 + 8) && kept < before,
        "pages are given back: {kept} bytes"
    );
    let compacted = world.memory_mut().compact(usize::MAX);
    assert_eq!(world.memory().sparse_bytes, 0);
    assert!(compacted.bytes_freed >= kept);
}

#[test]
fn copies_ignore_values_that_are_not_plain_and_hashes_have_members() {
    let mut world = World::new();
    let prototype = world.spawn(Four(1));
    let hash = world.hash();
    world.insert(prototype, Text::from("name")).unwrap();
    let named = world.hash();
    assert_ne!(named, hash);
    let mut other = World::new();
    let twin = other.spawn(Four(1));
    other.insert(twin, Text::from("another name")).unwrap();
    assert_eq!(other.hash(), named, "the values of such a type are not in it");
    let copies = world.instantiate(prototype, 3).unwrap().to_vec();
    assert!(copies.iter().all(|&copy| !world.sparse::<Text>().contains(copy)));
    assert_eq!(world.sparse::<Text>().len(), 1);
}

#[test]
fn reports_name_the_types_of_values() {
    let mut world = World::new();
    let [named, other] = [world.spawn(()), world.spawn(())];
    assert!(!world.explain().to_string().contains("beside the chunks"));
    world.insert(named, Text::from("Ada")).unwrap();
    world.insert(named, Number(5)).unwrap();
    world.insert(other, Number(6)).unwrap();
    let types: Vec<_> = world.entity(named).unwrap().sparse().collect();
    assert_eq!(types, [Text::NAME, Number::NAME]);
    assert_eq!(world.entity(other).unwrap().sparse().count(), 1);
    let explanation = world.explain();
    let sets: Vec<_> = explanation.sparse.iter().map(|set| (set.name, set.values)).collect();
    assert_eq!(sets, [(Text::NAME, 1), (Number::NAME, 2)]);
    let bytes: usize = explanation.sparse.iter().map(|set| set.bytes).sum();
    assert_eq!(bytes, world.memory().sparse_bytes);
    let text = explanation.to_string();
    let set = explanation.sparse[1];
    assert!(set.index_bytes + 2 * (8 + 4) <= set.bytes, "beside entities and values: {set:?}");
    let grouped = |bytes: usize| format!("{},{:03}", bytes / 1000, bytes % 1000);
    let line = format!(
        "\n  beside the chunks: 2 values of `{}` in {} bytes, {} of them an index\n",
        Number::NAME,
        grouped(set.bytes),
        grouped(set.index_bytes)
    );
    assert!(text.contains(&line), "{text}");
    assert_eq!(format!("{:?}", world.sparse::<Text>()), r#"{0v1: Text("Ada")}"#);
    assert_eq!(format!("{:?}", world.sparse_mut::<Number>()), "{0v1: Number(5), 1v1: Number(6)}");
}

#[test]
fn a_guard_that_is_forgotten_does_not_hold_entities_back() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn(());
    world.sparse_mut().insert(entity, drops.value(1)).unwrap();
    forget(world.sparse::<Noted>());
    assert_eq!(world.sparse::<Noted>().len(), 1);
    world.sparse_mut::<Noted>().get_mut(entity).unwrap().number = 2;
    forget(world.sparse::<Noted>());
    world.despawn(entity).unwrap();
    assert_eq!(drops.take(), [2]);
    sound(&world);
}

#[test]
fn a_world_can_be_a_value() {
    let drops = Drops::default();
    let [mut outer, mut inner] = [World::new(), World::new()];
    let (there, here) = (outer.spawn(()), inner.spawn(()));
    inner.sparse_mut().insert(here, drops.value(1)).unwrap();
    #[component(sparse)]
    struct Inner(World);
    outer.insert(there, Inner(inner)).unwrap();
    assert_eq!(outer.get::<Inner>(there).unwrap().0.sparse::<Noted>().len(), 1);
    outer.despawn(there).unwrap();
    assert_eq!(drops.take(), [1]);
}

#[test]
fn values_are_shared_among_threads() {
    const fn sendable<T: Send>() {}
    const fn shareable<T: Sync>() {}
    sendable::<SparseMut<'_, Text>>();
    shareable::<SparseMut<'_, Text>>();
    shareable::<Sparse<'_, Text>>();
    let mut world = World::new();
    let entities = world.spawn_batch([(); 8]).to_vec();
    for &entity in &entities {
        world.insert(entity, Text(entity.to_string())).unwrap();
    }
    let (world, names) = (&world, &world.sparse::<Text>());
    std::thread::scope(|scope| {
        for &entity in &entities {
            scope.spawn(move || {
                assert_eq!(names.get(entity).unwrap().0, entity.to_string());
                assert_eq!(world.sparse::<Text>().len(), 8);
            });
        }
    });
}
