//! Sparse components that are part of snapshots.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;
use phalanx::snapshot::SnapshotRing;
use proptest::prelude::*;

use crate::common::components::{Byte, Four, Number, Text, sound};
use crate::common::effort::effort;

/// A value that counts its clones, and panics when it is cloned or dropped too often.
#[derive(Default)]
struct Counts {
    clones: AtomicU32,
    panics_at_clone: AtomicU32,
    panics_at_drop_of: AtomicU32,
}

#[component(sparse)]
struct Counted {
    number: u32,
    counts: Arc<Counts>,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        let clones = self.counts.clones.fetch_add(1, Ordering::Relaxed) + 1;
        assert_ne!(clones, self.counts.panics_at_clone.load(Ordering::Relaxed), "a clone fails");
        Self { number: self.number, counts: Arc::clone(&self.counts) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let panics = self.counts.panics_at_drop_of.load(Ordering::Relaxed) == self.number;
        assert!(!panics || std::thread::panicking(), "a destructor fails");
    }
}

/// A world of entities with values from 1 on.
fn counted(len: u32) -> (World, Vec<Entity>, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let mut world = World::new();
    world.sparse_mut::<Counted>().keep_in_snapshots();
    let entities = world.spawn_batch((0..len).map(Four)).to_vec();
    for (number, &entity) in (1..).zip(&entities) {
        let value = Counted { number, counts: Arc::clone(&counts) };
        assert!(world.sparse_mut().insert(entity, value).expect("alive").is_none());
    }
    (world, entities, counts)
}

fn numbers(world: &World) -> Vec<(Entity, u32)> {
    let mut all: Vec<_> =
        world.sparse::<Counted>().iter().map(|(entity, value)| (entity, value.number)).collect();
    all.sort_unstable();
    all
}

#[test]
fn what_was_written_inserted_and_removed_goes_back() {
    let mut world = World::new();
    world.sparse_mut::<Text>().keep_in_snapshots();
    let [written, removed, despawned, bare] =
        world.spawn_batch([(); 4])[..].try_into().expect("four");
    for entity in [written, removed, despawned] {
        world.insert(entity, Text(format!("{entity:?}"))).expect("alive");
    }
    let all = |world: &World| -> BTreeMap<Entity, Text> {
        world.sparse::<Text>().iter().map(|(entity, text)| (entity, text.clone())).collect()
    };
    let (before, saved) = (all(&world), world.snapshot().expect("no buffers"));
    for _ in 0..2 {
        world.sparse_mut::<Text>().get_mut(written).expect("it has one").0.push('!');
        world.sparse_mut::<Text>().remove(removed);
        world.despawn(despawned).expect("alive");
        world.insert(bare, Text::from("new")).expect("alive");
        let later = world.spawn(());
        world.insert(later, Text::from("later")).expect("alive");
        world.restore(&saved).expect("it is of this world");
        assert_eq!(all(&world), before);
        sound(&world);
    }
    world.clear();
    world.restore(&saved.clone()).expect("it is of this world");
    assert_eq!(all(&world), before, "by a clone of the snapshot");
}

#[test]
fn nothing_is_cloned_that_did_not_change() {
    let (mut world, entities, counts) = counted(10);
    let clones = || counts.clones.swap(0, Ordering::Relaxed);
    let mut saved = world.snapshot().expect("no buffers");
    assert_eq!(clones(), 10);
    world.snapshot_into(&mut saved).expect("no buffers");
    world.restore(&saved).expect("it is of this world");
    world.get_mut::<Four>(entities[0]).expect("alive").0 = 7;
    world.snapshot_into(&mut saved).expect("no buffers");
    assert_eq!(world.sparse::<Counted>().len(), 10);
    assert!(world.sparse_mut::<Counted>().get(entities[1]).is_some());
    assert!(world.sparse_mut::<Counted>().remove(Entity::NULL).is_none());
    world.restore(&saved).expect("it is of this world");
    assert_eq!(clones(), 0);

    world.sparse_mut::<Counted>().get_mut(entities[1]).expect("it has one").number = 99;
    world.restore(&saved).expect("it is of this world");
    assert_eq!((clones(), numbers(&world)[1].1), (10, 2));
    world.snapshot_into(&mut saved).expect("no buffers");
    assert_eq!(clones(), 0, "it is what it was");
}

#[test]
fn types_that_are_named_later_are_in_later_snapshots() {
    let mut world = World::new();
    let [stays, goes] = world.spawn_batch([(); 2])[..].try_into().expect("two");
    world.insert(stays, Number(1)).expect("alive");
    world.insert(goes, Number(2)).expect("alive");
    let early = world.snapshot().expect("no buffers");
    world.sparse_mut::<Number>().keep_in_snapshots();
    let late = world.snapshot().expect("no buffers");
    world.get_mut::<Number>(stays).expect("it has one").0 = 3;
    world.despawn(goes).expect("alive");
    world.restore(&early).expect("it is of this world");
    let all = |world: &World| {
        [stays, goes].map(|entity| world.get::<Number>(entity).ok().map(|number| number.0))
    };
    assert_eq!(all(&world), [Some(3), None], "it has none");
    world.restore(&late).expect("it is of this world");
    assert_eq!(all(&world), [Some(1), Some(2)]);
    sound(&world);
}

#[test]
fn a_clone_that_panics_leaves_a_snapshot_of_nothing_or_the_world_as_it_was() {
    let (mut world, entities, counts) = counted(10);
    let mut saved = world.snapshot().expect("no buffers");
    world.sparse_mut::<Counted>().get_mut(entities[3]).expect("it has one").number = 50;
    world.spawn(Four(1));
    let panics_at = |clone| {
        counts.clones.store(0, Ordering::Relaxed);
        counts.panics_at_clone.store(clone, Ordering::Relaxed);
    };

    let before = (world.hash(), numbers(&world));
    panics_at(5);
    let result = catch_unwind(AssertUnwindSafe(|| world.restore(&saved)));
    assert!(result.is_err() && (world.hash(), numbers(&world)) == before, "nothing has changed");
    sound(&world);

    let whole = saved.clone();
    panics_at(5);
    let result = catch_unwind(AssertUnwindSafe(|| world.snapshot_into(&mut saved)));
    assert!(result.is_err() && world.restore(&saved).is_err(), "it is of no world");
    assert!((world.hash(), numbers(&world)) == before);
    world.snapshot_into(&mut saved).expect("no buffers");

    world.restore(&whole).expect("it is of this world");
    assert_eq!(numbers(&world)[3].1, 4);
    world.restore(&saved).expect("it is of this world");
    assert_eq!((world.hash(), numbers(&world)), before);
    sound(&world);
}

#[test]
fn a_destructor_that_panics_does_so_after_the_world_is_put_back() {
    let (mut world, entities, counts) = counted(10);
    let (before, saved) = (numbers(&world), world.snapshot().expect("no buffers"));
    world.sparse_mut::<Counted>().get_mut(entities[3]).expect("it has one").number = 50;
    world.despawn(entities[4]).expect("alive");
    counts.panics_at_drop_of.store(50, Ordering::Relaxed);
    let result = catch_unwind(AssertUnwindSafe(|| world.restore(&saved)));
    assert!(result.is_err() && numbers(&world) == before, "all is done");
    sound(&world);
    assert_eq!(world.len(), 10);
}

/// A value with a destructor that panics while a number is armed, and a clone that panics while
/// its own number is.
#[component(sparse)]
struct Armed {
    number: u32,
    armed: Arc<AtomicU32>,
}

impl Clone for Armed {
    fn clone(&self) -> Self {
        assert_ne!(self.armed.load(Ordering::Relaxed), self.number, "a clone fails");
        Self { number: self.number, armed: Arc::clone(&self.armed) }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        assert!(self.armed.load(Ordering::Relaxed) == 0, "destructor {}", self.number);
    }
}

/// A world of three entities with values from 1 on.
fn armed() -> (World, Vec<Entity>, Arc<AtomicU32>) {
    let (mut world, armed) = (World::new(), Arc::default());
    world.sparse_mut::<Armed>().keep_in_snapshots();
    let spawn = |number| world.spawn(Armed { number, armed: Arc::clone(&armed) });
    let entities = (1..4).map(spawn).collect();
    (world, entities, armed)
}

#[test]
fn destructors_of_several_copies_may_panic() {
    let (mut world, entities, armed) = armed();
    let panic_of = |work: &mut dyn FnMut(), number| {
        armed.store(number, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(work));
        armed.store(0, Ordering::Relaxed);
        result.expect_err("a clone or a destructor panics").downcast_ref::<String>().cloned()
    };
    let mut saved = world.snapshot().expect("no buffers");
    let is_clone = |text: Option<String>| text.is_some_and(|text| text.contains("a clone fails"));
    // The clone of the last value panics, and two were made before.
    assert!(is_clone(panic_of(&mut || _ = world.snapshot(), 3)));
    assert!(is_clone(panic_of(&mut || _ = saved.clone(), 3)));
    world.sparse_mut::<Armed>().get_mut(entities[0]).expect("it has one").number = 9;
    assert!(is_clone(panic_of(&mut || _ = world.restore(&saved), 3)));
    assert_eq!(world.get::<Armed>(entities[0]).expect("it has one").number, 9);

    // Two copies are dropped that the snapshot had.
    for &entity in &entities[..2] {
        drop(world.remove::<Armed>(entity).expect("it has one"));
    }
    let panic = panic_of(&mut || _ = world.snapshot_into(&mut saved), 99);
    assert_eq!(panic.as_deref(), Some("destructor 2"));
    assert!(world.restore(&saved).is_err(), "it is of no world");
    world.snapshot_into(&mut saved).expect("no buffers");
    world.clear();
    world.restore(&saved).expect("it is of this world");
    assert_eq!(world.get::<Armed>(entities[2]).expect("it has one").number, 3);
    sound(&world);
}

/// Components with noted drops.
mod noted {
    use std::sync::{Arc, Mutex};

    pub(super) type Drops = Arc<Mutex<Vec<u32>>>;

    macro_rules! noted {
        ($($name:ident)*) => {$(
            #[phalanx::component(sparse)]
            #[derive(Clone)]
            pub(super) struct $name(pub(super) u32, pub(super) Drops);

            impl Drop for $name {
                fn drop(&mut self) {
                    self.1.lock().expect("no destructor panics").push(self.0);
                }
            }
        )*};
    }

    noted!(A B C D E F);
}

#[test]
fn replaced_values_are_dropped_in_the_order_of_first_use() {
    use noted::{A, B, C, D, Drops, E, F};
    macro_rules! each {
        ($world:ident, |$set:ident| $body:expr, $($name:ident)*) => {$({
            let mut $set = $world.sparse_mut::<$name>();
            $body;
        })*};
    }
    let (mut world, drops) = (World::new(), Drops::default());
    each!(world, |set| set.keep_in_snapshots(), D A F C E B);
    let value = |number| (number, Arc::clone(&drops));
    let entity = world.spawn(());
    let all = || {
        let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6].map(value);
        (A(a.0, a.1), B(b.0, b.1), C(c.0, c.1), D(d.0, d.1), E(e.0, e.1), F(f.0, f.1))
    };
    world.insert(entity, all()).expect("alive");
    let saved = world.snapshot().expect("no buffers");
    each!(world, |set| set.get_mut(entity).expect("it has one").0 += 10, A B C D E F);
    world.restore(&saved).expect("it is of this world");
    assert_eq!(*drops.lock().expect("no destructor panics"), [14, 11, 16, 13, 15, 12]);
}

#[test]
fn moves_without_values_change_no_set() {
    let (mut world, _, counts) = counted(4);
    let mut level = counted(4).0;
    level.spawn(Number(1));
    level.spawn(Byte(1));
    let mut saved = world.snapshot().expect("no buffers");
    counts.clones.store(0, Ordering::Relaxed);
    assert_eq!(world.move_from(level.matching::<&Byte>()).expect("there is room").len(), 1);
    world.snapshot_into(&mut saved).expect("no buffers");
    assert_eq!(counts.clones.load(Ordering::Relaxed), 0);
    assert_eq!((numbers(&world).len(), numbers(&level).len()), (4, 4));
    sound(&world);
}

#[test]
fn states_that_were_read_have_no_sparse_components() {
    let (mut world, _, _) = counted(10);
    let mut saved = world.snapshot().expect("no buffers");
    let bytes = saved.to_bytes().expect("nothing is shared");
    let read = world.read_snapshot(&bytes).expect("it was written");
    let delta = saved.delta(&mut world).expect("no buffers");
    saved.read_delta(&mut world, &delta).expect("it was written");
    for foreign in [read, saved] {
        world.restore(&foreign).expect("it is of this world");
        assert_eq!((world.len(), numbers(&world).len()), (10, 0));
    }
    sound(&world);
}

#[test]
fn values_that_come_from_other_worlds_are_kept_too() {
    for knows in [false, true] {
        let mut world = World::new();
        if knows {
            world.sparse_mut::<Counted>().keep_in_snapshots();
        }
        let (mut level, _, _) = counted(6);
        let empty = world.snapshot().expect("no buffers");
        let part = world.move_from(level.matching::<&Four>()).expect("there is room");
        assert_eq!((part.len(), numbers(&world).len()), (6, 6));
        let (before, saved) = (numbers(&world), world.snapshot().expect("no buffers"));
        world.merge(counted(3).0).expect("there is room");
        assert_eq!(numbers(&world).len(), 9);
        world.restore(&saved).expect("it is of this world");
        assert_eq!(numbers(&world), before);
        world.restore(&empty).expect("it is of this world");
        assert_eq!(numbers(&world), []);
        sound(&world);
    }
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Spawn,
    Despawn(usize),
    Insert(usize),
    Remove(usize),
    Push,
    Back(usize),
}

#[test]
fn a_destructor_that_panics_in_a_delta_leaves_the_later_state() {
    let (mut world, entities, counts) = counted(3);
    let [mut state, before] = [(); 2].map(|()| world.snapshot().expect("no buffers"));
    world.get_mut::<Four>(entities[0]).expect("alive").0 = 9;
    world.spawn(Four(10));
    let delta = before.delta(&mut world).expect("nothing is shared");
    counts.panics_at_drop_of.store(2, Ordering::Relaxed);
    let read = catch_unwind(AssertUnwindSafe(|| state.read_delta(&mut world, &delta)));
    counts.panics_at_drop_of.store(0, Ordering::Relaxed);
    assert!(read.is_err());
    world.clear();
    world.restore(&state).expect("it is of this world");
    assert_eq!((world.len(), world.get::<Four>(entities[0]).expect("alive").0), (4, 9));
    assert_eq!(numbers(&world), [], "as of any state that was read");
    sound(&world);
}

#[test]
fn values_of_a_world_that_keeps_them_are_kept() {
    let mut world = World::new();
    let own = world.spawn(Four(0));
    world.insert(own, Text::from("own")).expect("alive");
    let mut other = World::new();
    other.sparse_mut::<Text>().keep_in_snapshots();
    let theirs = other.spawn(Four(1));
    other.insert(theirs, Text::from("theirs")).expect("alive");
    world.merge(other).expect("there is room");
    let state = world.snapshot().expect("no buffers");
    world.matching::<&Four>().despawn();
    world.restore(&state).expect("it is of this world");
    let mut values: Vec<_> =
        world.sparse::<Text>().iter().map(|(_, text)| text.0.clone()).collect();
    values.sort_unstable();
    assert_eq!(values, ["own", "theirs"]);
}

fn change() -> impl Strategy<Value = Change> {
    let any = 0..64usize;
    prop_oneof![
        Just(Change::Spawn),
        any.clone().prop_map(Change::Despawn),
        any.clone().prop_map(Change::Insert),
        any.clone().prop_map(Change::Remove),
        Just(Change::Push),
        any.prop_map(Change::Back),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { effort(16) }, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_changes_go_back_to_any_state_of_a_ring(
        changes in proptest::collection::vec(change(), 1..100),
    ) {
        let mut world = World::new();
        world.sparse_mut::<Text>().keep_in_snapshots();
        let mut model: BTreeMap<Entity, Option<Text>> = BTreeMap::new();
        let (mut ring, mut models) = (SnapshotRing::new(4), Vec::new());
        for (step, change) in (0..).zip(changes) {
            let nth = |at: usize| model.keys().nth(at % model.len().max(1)).copied();
            match change {
                Change::Spawn => {
                    model.insert(world.spawn(Four(step)), None);
                }
                Change::Despawn(at) => if let Some(entity) = nth(at) {
                    world.despawn(entity).expect("alive");
                    model.remove(&entity);
                }
                Change::Insert(at) => if let Some(entity) = nth(at) {
                    let text = Text(format!("{step}"));
                    world.insert(entity, text.clone()).expect("alive");
                    model.insert(entity, Some(text));
                }
                Change::Remove(at) => if let Some(entity) = nth(at) {
                    let taken = world.sparse_mut::<Text>().remove(entity);
                    prop_assert_eq!(taken, model.insert(entity, None).flatten());
                }
                Change::Push => {
                    ring.push(&mut world).expect("no buffers");
                    models.push(model.clone());
                }
                Change::Back(at) => if !ring.is_empty() {
                    let back = at % ring.len();
                    ring.restore(&mut world, back).expect("it is kept");
                    models.truncate(models.len() - back);
                    model.clone_from(models.last().expect("there is one"));
                }
            }
            let values = world.sparse::<Text>();
            let found = model.keys().map(|&entity| (entity, values.get(entity).cloned())).collect();
            prop_assert_eq!(&model, &found, "at step {}", step);
            prop_assert_eq!(values.len(), model.values().flatten().count());
            drop(values);
            prop_assert_eq!(world.len(), model.len());
        }
        sound(&world);
    }
}
