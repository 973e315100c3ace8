//! Sparse cleanup components in states, in other worlds, and in random histories.

use std::collections::BTreeMap;
use std::sync::Arc;

use phalanx::prelude::*;
use phalanx::testing::compare;
use proptest::prelude::*;

use crate::cleanup::Sound;
use crate::common::components::{Four, Tag, small_world, sound};
use crate::common::effort::effort;
use crate::common::length;
use crate::sparse_cleanup::{Handle, Slot};

/// The slots of entities that are gone.
fn gone_slots(world: &World) -> Vec<u32> {
    let mut slots: Vec<_> =
        world.query::<&Slot>().with::<Gone>().rows().map(|slot| slot.0).collect();
    slots.sort_unstable();
    slots
}

fn filled() -> (World, Vec<Entity>) {
    let mut world = small_world();
    world.register::<(Four, Tag, Sound, Slot)>();
    let all: Vec<_> = (0..6).map(|i| world.spawn((Four(i), Slot(i)))).collect();
    world.insert(all[1], Sound { channel: 1 }).expect("it is alive");
    world.despawn_batch(&all[..3]);
    (world, all)
}

#[test]
fn snapshots_have_the_values_of_entities_that_are_gone() {
    let (mut world, all) = filled();
    let (state, hash) = (world.snapshot().expect("no buffers"), world.hash());
    for &entity in &all[..3] {
        world.remove::<Slot>(entity).expect("it has one");
    }
    world.despawn_batch(&all[3..]);
    world.spawn((Four(9), Slot(9)));
    assert_eq!(gone_slots(&world), [3, 4, 5]);
    world.restore(&state).expect("it is its own");
    sound(&world);
    assert_eq!((gone_slots(&world), world.hash()), (vec![0, 1, 2], hash));

    let mut mirror = small_world();
    mirror.register::<(Four, Tag, Sound, Slot)>();
    let bytes = state.to_bytes().expect("plain data");
    let read = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&read).expect("it was read here");
    sound(&mirror);
    assert_eq!((gone_slots(&mirror), mirror.hash()), (vec![0, 1, 2], hash));
    assert_eq!(compare(&world, &mirror), Ok(()));
    for world in [&mut world, &mut mirror] {
        assert_eq!(world.remove::<Slot>(all[0]).expect("it has one"), Slot(0));
        assert!(!world.has::<Gone>(all[0]));
        sound(world);
    }
    assert_eq!(world.hash(), mirror.hash());
}

#[test]
fn entities_that_lack_their_values_after_a_restore_end() {
    for keep in [false, true] {
        let mut world = small_world();
        if keep {
            world.sparse_mut::<Handle>().keep_in_snapshots();
        }
        let (first, second) = (Arc::new(1), Arc::new(2));
        let one = world.spawn((Four(1), Handle(Arc::clone(&first))));
        let two = world.spawn((Four(2), Handle(Arc::clone(&second))));
        let alive = world.snapshot().expect("no buffers");
        world.despawn_batch(&[one, two]);
        let state = world.snapshot().expect("no buffers");
        world.remove::<Handle>(one).expect("it has one");
        world.restore(&state).expect("it is its own");
        sound(&world);
        let left = if keep { 2 } else { 1 };
        assert_eq!((world.len(), world.sparse::<Handle>().len()), (left, left));
        assert_eq!(world.has::<Gone>(one), keep);
        assert!(world.has::<Gone>(two) && world.has::<Handle>(two));
        // Values of entities that are alive again are theirs.
        world.restore(&alive).expect("it is its own");
        sound(&world);
        assert!(world.contains(one) && world.contains(two) && world.has::<Handle>(two));
        assert_eq!(world.has::<Handle>(one), keep);
        world.restore(&state).expect("it is its own");
        sound(&world);
        assert!(world.has::<Gone>(two) && world.has::<Handle>(two));
        drop((alive, state, world));
        assert_eq!([&first, &second].map(Arc::strong_count), [1, 1], "dropped once");
    }
}

#[test]
fn values_that_have_no_bytes_end_their_entities_where_the_state_is_read() {
    let mut world = small_world();
    world.register::<(Four, Handle)>();
    let entity = world.spawn((Four(1), Handle(Arc::new(1))));
    world.despawn(entity).expect("it is alive");
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
    let mut mirror = small_world();
    mirror.register::<(Four, Handle)>();
    let state = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    sound(&mirror);
    assert!(mirror.is_empty());
}

#[test]
fn merges_and_moves_take_the_values_of_entities_that_are_gone() {
    for by_move in [false, true] {
        let (mut source, _) = filled();
        let mut target = small_world();
        target.spawn(Tag);
        if by_move {
            let moved = target
                .move_from(source.matching::<Entity>().filter::<IncludeHidden>())
                .expect("it fits");
            assert_eq!(moved.len(), 6);
            assert!(source.is_empty());
            sound(&source);
        } else {
            target.merge(source).expect("it fits");
        }
        sound(&target);
        assert_eq!((gone_slots(&target), target.len()), (vec![0, 1, 2], 7));
        // Of entities that arrive alive, too.
        assert_eq!(target.matching::<&Four>().despawn(), 3);
        assert_eq!(gone_slots(&target), [0, 1, 2, 3, 4, 5]);
        let all: Vec<_> = target.query::<(Entity, &Slot)>().with::<Gone>().rows().collect();
        let all: Vec<_> = all.into_iter().map(|(entity, _)| entity).collect();
        for entity in all {
            target.remove::<Slot>(entity).expect("it has one");
            sound(&target);
        }
        assert_eq!(target.len(), 2, "one has another cleanup component");
    }
}

/// A call in a random history, on the entity of a number.
#[derive(Clone, Copy, Debug)]
enum Call {
    Spawn(bool),
    Insert(usize),
    Despawn(usize),
    DespawnTagged,
    Remove(usize),
    RemoveByView(usize),
    Tag(usize),
    Take,
    GoBack,
    Commands(usize, usize),
}

fn call() -> impl Strategy<Value = Call> {
    let at = || 0..64_usize;
    prop_oneof![
        4 => any::<bool>().prop_map(Call::Spawn),
        4 => at().prop_map(Call::Insert),
        4 => at().prop_map(Call::Despawn),
        1 => Just(Call::DespawnTagged),
        4 => at().prop_map(Call::Remove),
        2 => at().prop_map(Call::RemoveByView),
        3 => at().prop_map(Call::Tag),
        1 => Just(Call::Take),
        1 => Just(Call::GoBack),
        3 => (at(), at()).prop_map(|(a, b)| Call::Commands(a, b)),
    ]
}

/// An entity of the model: whether it is alive, and its slot.
type Model = BTreeMap<Entity, (bool, Option<u32>)>;

fn despawn(model: &mut Model, entity: Entity) {
    match model.get_mut(&entity) {
        Some(one) if one.1.is_some() => one.0 = false,
        Some(_) => _ = model.remove(&entity),
        None => {}
    }
}

fn take_slot(model: &mut Model, entity: Entity) {
    match model.get_mut(&entity) {
        Some((false, Some(_))) => _ = model.remove(&entity),
        Some((true, slot)) => *slot = None,
        _ => {}
    }
}

fn play(world: &mut World, model: &mut Model, calls: &[Call]) {
    let (mut all, mut saved) = (Vec::new(), None);
    let is_alive = |model: &Model, entity| model.get(&entity).is_some_and(|&(alive, _)| alive);
    for (number, &call) in (0..).zip(calls) {
        let at = |at: usize| all.get(at % all.len().max(1)).copied().unwrap_or(Entity::NULL);
        match call {
            Call::Spawn(has_slot) => {
                let entity = match has_slot {
                    true => world.spawn((Four(number), Slot(number))),
                    false => world.spawn(Four(number)),
                };
                model.insert(entity, (true, has_slot.then_some(number)));
                all.push(entity);
            }
            Call::Insert(i) => {
                let (entity, slot) = (at(i), Slot(number));
                assert_eq!(world.insert(entity, slot).is_ok(), is_alive(model, entity));
                if is_alive(model, entity) {
                    model.insert(entity, (true, Some(number)));
                }
            }
            Call::Despawn(i) => {
                let is_alive = is_alive(model, at(i));
                assert_eq!(world.despawn(at(i)).is_ok(), is_alive);
                if is_alive {
                    despawn(model, at(i));
                }
            }
            Call::DespawnTagged => {
                let tagged: Vec<_> = world.query::<Entity>().with::<Tag>().rows().collect();
                assert_eq!(world.matching::<Entity>().with::<Tag>().despawn(), tagged.len());
                tagged.into_iter().for_each(|entity| despawn(model, entity));
            }
            Call::Remove(i) | Call::RemoveByView(i) => {
                let slot = model.get(&at(i)).and_then(|&(_, slot)| slot);
                let removed = match call {
                    Call::Remove(_) => world.remove::<Slot>(at(i)).ok(),
                    _ => world.sparse_mut::<Slot>().remove(at(i)),
                };
                assert_eq!(removed.map(|slot| slot.0), slot);
                take_slot(model, at(i));
            }
            Call::Tag(i) => _ = world.insert(at(i), Tag),
            Call::Take => {
                let _ = world.sparse_mut::<Slot>();
                saved = Some((world.snapshot().expect("no buffers"), model.clone()));
            }
            Call::GoBack => {
                if let Some((state, older)) = &saved {
                    world.restore(state).expect("it is its own");
                    model.clone_from(older);
                }
            }
            Call::Commands(i, j) => {
                let [one, other] = [at(i), at(j)];
                let mut buffer = world.command_buffer(0).expect("room");
                buffer.on_dead_entity(DeadEntityPolicy::Ignore);
                buffer.insert(one, Slot(number));
                buffer.despawn(one);
                buffer.remove::<Slot>(other);
                buffer.insert(other, Tag);
                world.apply(&mut buffer).expect("nothing that counts");
                if is_alive(model, one) {
                    model.insert(one, (false, Some(number)));
                }
                take_slot(model, other);
            }
        }
        sound(world);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(32) },
        failure_persistence: None,
        ..Default::default()
    })]

    /// The world has the entities and the values of a model after every history, and the same hash
    /// after the same calls.
    #[test]
    fn random_histories_keep_what_a_model_keeps(calls in prop::collection::vec(call(), 1..length(80))) {
        let mut worlds = [small_world(), small_world()];
        let mut models = [Model::new(), Model::new()];
        for (world, model) in worlds.iter_mut().zip(&mut models) {
            world.register::<Tag>();
            play(world, model, &calls);
            // Ends the entities that lost their last value to a view.
            let _ = world.sparse_mut::<Slot>();
            sound(world);
            assert_eq!(world.len(), model.len());
            for (&entity, &(is_alive, slot)) in &*model {
                assert_eq!(world.contains(entity), is_alive);
                assert_eq!(world.has::<Gone>(entity), !is_alive);
                assert_eq!(world.get::<Slot>(entity).ok().map(|slot| slot.0), slot);
            }
        }
        assert_eq!(worlds[0].hash(), worlds[1].hash());
    }
}

#[component(sparse, plain, cleanup)]
#[derive(PartialEq)]
struct Socket(u32);

#[test]
fn ids_end_in_one_order_whichever_component_was_used_first() {
    let mut world = small_world();
    world.register::<(Slot, Socket)>();
    let [a, b] = [(); 2].map(|()| world.spawn(()));
    world.insert(a, Slot(1)).expect("it is alive");
    world.insert(b, Socket(2)).expect("it is alive");
    world.despawn_batch(&[a, b]);
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("plain data");
    let mut mirror = small_world();
    mirror.register::<(Socket, Slot)>();
    let read = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&read).expect("it was read here");
    for world in [&mut world, &mut mirror] {
        let mut buffer = world.command_buffer(0).expect("room");
        buffer.remove::<Socket>(b);
        buffer.remove::<Slot>(a);
        world.apply(&mut buffer).expect("both have one");
        sound(world);
    }
    assert_eq!(world.hash(), mirror.hash());
    assert_eq!(world.spawn(()), mirror.spawn(()));
}

#[test]
fn a_delta_is_of_the_state_after_the_end_of_entities_that_a_view_has_ended() {
    let (mut world, all) = filled();
    let mut mirror = small_world();
    mirror.register::<(Four, Tag, Sound, Slot)>();
    let mut base = world.snapshot().expect("no buffers");
    let bytes = base.to_bytes().expect("plain data");
    let mut state = mirror.read_snapshot(&bytes).expect("it was written");
    for entity in [all[0], all[2]] {
        assert!(world.sparse_mut::<Slot>().remove(entity).is_some());
        let delta = base.delta(&mut world).expect("no buffers");
        assert!(!world.has::<Gone>(entity));
        state.read_delta(&mut mirror, &delta).expect("it follows");
        mirror.restore(&state).expect("it was read here");
        sound(&mirror);
        assert_eq!((mirror.len(), mirror.hash()), (world.len(), world.hash()));
        world.snapshot_into(&mut base).expect("no buffers");
    }
}

#[test]
fn a_state_is_that_after_the_end_of_entities_that_a_view_has_ended() {
    let (mut world, all) = filled();
    let mut other = small_world();
    for entity in [all[0], all[2]] {
        assert!(world.sparse_mut::<Slot>().remove(entity).is_some());
    }
    let (state, hash) = (world.snapshot().expect("no buffers"), world.hash());
    assert!(!world.has::<Gone>(all[2]));
    world.restore(&state).expect("it is its own");
    assert_eq!(world.hash(), hash);
    sound(&world);
    let living = world.len();
    world.remove::<Sound>(all[1]).expect("it has one");
    assert!(world.sparse_mut::<Slot>().remove(all[1]).is_some());
    other.merge(world).expect("there is room");
    sound(&other);
    assert_eq!(other.len(), living - 1);
}
