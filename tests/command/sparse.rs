//! Commands with sparse components: played in order with columns, dropped once if they are not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use phalanx::command::{ApplyError, CommandError, CommandErrorKind, CommandVerb, DeadEntityPolicy};
use phalanx::prelude::*;
use phalanx::sparse::SparseComponent as _;

use crate::common::components::{Byte, Four, Number, Page, Quarter, Tag, Text, sound};

/// The numbers of dropped values, in the order of the drops.
type Drops = Arc<Mutex<Vec<u32>>>;

/// A value that notes its drop, and panics in it if its number is odd.
#[component(sparse)]
struct Noted(u32, Drops);

impl Drop for Noted {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
        assert!(self.0.is_multiple_of(2), "destructor {}", self.0);
    }
}

fn take(drops: &Drops) -> Vec<u32> {
    std::mem::take(&mut drops.lock().unwrap())
}

fn text(world: &World, entity: Entity) -> Option<String> {
    world.sparse::<Text>().get(entity).map(|text| text.0.clone())
}

#[test]
fn commands_of_one_entity_are_played_in_order() {
    let mut world = World::new();
    let [old, bare] = [world.spawn((Four(1), Text::from("old"))), world.spawn(())];
    let mut buffer = world.command_buffer(4).unwrap();
    let new = buffer.spawn((Text::from("new"), Four(2)));
    let only = buffer.spawn(Text::from("only"));
    let replaced = buffer.spawn((Tag, Text::from("first")));
    let ended = buffer.spawn((Tag, Text::from("ended")));
    buffer.insert(replaced, Text::from("second"));
    buffer.remove::<Text>(old);
    buffer.insert(bare, (Text::from("a"), Byte(1)));
    buffer.remove::<(Text, Byte)>(bare);
    buffer.insert(bare, Text::from("b"));
    buffer.exchange::<Text, _>(only, (Four(7), Text::from("exchanged")));
    buffer.remove::<Text>(ended);
    buffer.insert(ended, Text::from("never seen"));
    buffer.despawn(ended);
    assert_eq!(buffer.len(), 13);
    let applied = world.apply(&mut buffer).unwrap();
    assert_eq!((applied.commands, applied.spawned, applied.despawned), (13, 3, 0));
    assert_eq!(text(&world, new).as_deref(), Some("new"));
    assert_eq!(text(&world, only).as_deref(), Some("exchanged"));
    assert_eq!(text(&world, replaced).as_deref(), Some("second"));
    assert_eq!((text(&world, old), text(&world, bare).as_deref()), (None, Some("b")));
    assert!(!world.contains(ended) && !world.has::<Byte>(bare));
    assert_eq!(world.get::<Four>(only), Ok(&Four(7)));
    assert_eq!(world.sparse::<Text>().len(), 4);
    sound(&world);
}

#[test]
fn barriers_see_what_was_recorded_before_them() {
    let mut world = World::new();
    let entity = world.spawn(Four(1));
    let mut buffer = world.command_buffer(1).unwrap();
    buffer.insert(entity, Text::from("one"));
    buffer.run(move |world| world.get_mut::<Text>(entity).unwrap().0.push_str(", two"));
    let spawned = buffer.spawn(Text::from("three"));
    buffer.despawn_where::<&Four, ()>();
    buffer.insert(spawned, Tag);
    world.apply(&mut buffer).unwrap();
    assert!(!world.contains(entity) && world.has::<Tag>(spawned));
    assert_eq!(text(&world, spawned).as_deref(), Some("three"));
    assert_eq!(world.sparse::<Text>().len(), 1);
    sound(&world);
}

#[test]
fn batches_and_writers_record_them() {
    let mut world = World::new();
    let entities = world.spawn_batch((0..4).map(Four)).to_vec();
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.insert(entities[0], Text::from("zero"));
    buffer.spawn_batch((10..12).map(|i| (Four(i), Text(i.to_string()))));
    let mut writers = buffer.par_writers(2);
    writers[1].insert(entities[1], (Tag, Text::from("one")));
    writers[1].spawn((Text::from("written"), Four(20)));
    writers[0].insert(entities[0], Text::from("later"));
    writers[0].remove::<Text>(entities[2]);
    writers[0].exchange::<(), _>(entities[3], Text::from("three"));
    drop(writers);
    world.apply(&mut buffer).unwrap();
    let mut all: Vec<_> = world
        .query::<(Entity, &Four)>()
        .rows()
        .filter_map(|(entity, four)| Some((four.0, text(&world, entity)?)))
        .collect();
    all.sort_unstable();
    let all: Vec<_> = all.iter().map(|(four, text)| (*four, &**text)).collect();
    assert_eq!(
        all,
        [(0, "later"), (1, "one"), (3, "three"), (10, "10"), (11, "11"), (20, "written")]
    );
    sound(&world);
}

#[test]
fn a_batch_is_one_barrier_and_spawns_all_or_nothing() {
    let drops = Drops::default();
    let value = |number| Noted(number, Arc::clone(&drops));
    let mut world = World::builder().entities_max(4).build();
    let mut buffer = world.command_buffer(0).unwrap();
    let batch = |buffer: &mut CommandBuffer, rows| {
        buffer.spawn_batch((0..rows).map(|i| (Four(i), value(2 * i))));
    };
    buffer.run(|world| assert_eq!(world.spawn(()).index(), 0, "it comes before the batch"));
    batch(&mut buffer, 2);
    buffer.run(|world| assert_eq!((world.len(), world.sparse::<Noted>().len()), (3, 2)));
    batch(&mut buffer, 3);
    assert_eq!(buffer.len(), 4);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("too many") };
    let faults: Vec<_> =
        errors.as_slice().iter().map(|one| (one.verb, one.fault.clone())).collect();
    assert!(matches!(faults[..], [(CommandVerb::Spawn, CommandErrorKind::Exhausted(_))]));
    assert_eq!((errors.applied().spawned, world.len(), take(&drops)), (2, 3, vec![0, 2, 4]));
    for (entity, four) in world.query::<(Entity, &Four)>().rows() {
        assert_eq!(world.get::<Noted>(entity).unwrap().0, 2 * four.0);
    }
    sound(&world);

    // Several destructors of one batch panic.
    buffer.spawn_batch([1, 3].map(|number| (value(number), Second(value(number + 4)))));
    let clear = catch_unwind(AssertUnwindSafe(|| buffer.clear()));
    let panic = clear.expect_err("four destructors panic");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "destructor 1");
    assert_eq!(take(&drops), [1, 3, 5, 7], "component by component");
}

#[test]
fn values_of_commands_that_fail_or_are_never_played_are_dropped() {
    let drops = Drops::default();
    let value = |number| Noted(number, Arc::clone(&drops));
    let mut world = World::new();
    let dead = world.spawn(());
    world.despawn(dead).unwrap();
    let mut buffer = world.command_buffer(2).unwrap();
    buffer.insert(dead, (value(0), Four(1)));
    buffer.insert(dead, value(2));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("it is dead") };
    let failed: Vec<_> = errors.as_slice().iter().map(|one| (one.verb, one.entity)).collect();
    assert_eq!(failed, [(CommandVerb::Insert, dead); 2]);
    assert!(errors.as_slice()[1].components == [Noted::NAME]);
    assert_eq!(take(&drops), [0, 2]);

    buffer.spawn((value(4), Tag));
    buffer.clear();
    assert_eq!(take(&drops), [4]);
    buffer.spawn(value(6));
    drop(buffer);
    assert_eq!(take(&drops), [6]);
    sound(&world);
}

#[test]
fn destructors_that_panic_stop_no_command() {
    let drops = Drops::default();
    let value = |number| Noted(number, Arc::clone(&drops));
    let panic_of = |work: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("a destructor panics");
        panic.downcast_ref::<String>().cloned().unwrap()
    };
    let mut world = World::new();
    let [one, two] = [world.spawn(value(1)), world.spawn(value(3))];
    let mut buffer = world.command_buffer(4).unwrap();
    buffer.remove::<Noted>(one);
    buffer.insert(two, value(2));
    let new = buffer.spawn((Four(1), value(4)));
    assert_eq!(panic_of(&mut || drop(world.apply(&mut buffer))), "destructor 1");
    assert_eq!(take(&drops), [1, 3]);
    assert!(world.has::<Noted>(two) && world.has::<Noted>(new) && !world.has::<Noted>(one));
    assert!(buffer.is_empty());
    sound(&world);

    buffer.insert(one, value(5));
    buffer.insert(one, value(7));
    assert_eq!(panic_of(&mut || buffer.clear()), "destructor 5");
    assert_eq!(take(&drops), [5, 7]);
    buffer.insert(one, value(9));
    buffer.insert(one, value(11));
    let mut buffer = Some(buffer);
    assert_eq!(panic_of(&mut || drop(buffer.take())), "destructor 9");
    assert_eq!(take(&drops), [9, 11]);
}

#[component(name = "text")]
struct Column(u32);
#[component(sparse, name = "text")]
struct Refused(Noted);

#[test]
fn a_name_that_is_taken_refuses_the_command_alone() {
    let drops = Drops::default();
    let mut world = World::new();
    let entity = world.spawn(Column(1));
    let mut buffer = world.command_buffer(2).unwrap();
    buffer.insert(entity, (Four(1), Refused(Noted(2, Arc::clone(&drops)))));
    let refused = buffer.spawn(Refused(Noted(4, Arc::clone(&drops))));
    buffer.insert(entity, Text::from("fine"));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
    let faults = errors.as_slice().iter().map(|one| one.fault.clone());
    assert!(faults.clone().all(|fault| matches!(fault, CommandErrorKind::NameTaken(_))));
    assert_eq!((faults.len(), take(&drops)), (2, vec![2, 4]));
    assert!(!world.contains(refused) && !world.has::<Four>(entity));
    assert_eq!(text(&world, entity).as_deref(), Some("fine"));
    sound(&world);
}

#[test]
fn a_refused_command_and_a_removal_add_no_set() {
    let mut world = World::new();
    let entity = world.spawn((Column(1), Four(1)));
    let mut buffer = world.command_buffer(1).unwrap();
    let drops = Drops::default();
    let text = || Refused(Noted(2, Arc::clone(&drops)));
    // The second component of each is refused, or a column after it.
    buffer.insert(entity, (Number(1), text()));
    buffer.exchange::<Number, _>(entity, (Second(Noted(4, Arc::clone(&drops))), text()));
    let sets = |world: &World| world.explain().sparse.len();
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
    assert_eq!((errors.len(), sets(&world)), (2, 0));
    buffer.remove::<(Noted, Four)>(entity);
    assert_eq!(world.apply(&mut buffer).unwrap().moved, 1);
    assert_eq!(sets(&world), 0);

    let mut world = World::new();
    let entity = world.spawn(text());
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.insert(entity, (Number(1), Column(1)));
    assert!(world.apply(&mut buffer).is_err());
    assert_eq!(sets(&world), 1);
    // The first that is recorded gets the name, even if it is a removal.
    let mut world = World::new();
    let entity = world.spawn(Four(1));
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.remove::<Refused>(entity);
    buffer.insert(entity, Column(1));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
    assert_eq!(errors.as_slice()[0].verb, CommandVerb::Insert);
    assert_eq!((errors.len(), sets(&world)), (1, 0));
    sound(&world);
}

#[test]
fn a_command_whose_row_fits_no_chunk_changes_neither_kind() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entities = [(); 5].map(|()| world.spawn((Quarter([1; 1024]), Text::from("old"))));
    let mut buffer = world.command_buffer(1).unwrap();
    let page = || Page([1; 4096]);
    // Two of one kind are played together, the third is alone.
    buffer.insert(entities[0], (page(), Text::from("new")));
    buffer.insert(entities[1], (page(), Text::from("new")));
    buffer.exchange::<Text, _>(entities[2], (page(), Number(2)));
    // Those of one entity are merged, and replayed one by one.
    buffer.insert(entities[3], (Byte(1), Text::from("first")));
    buffer.insert(entities[3], (page(), Text::from("second")));
    let spawned = buffer.spawn((Quarter([1; 1024]), page(), Text::from("spawned")));
    buffer.run(|_| {});
    // Numbers of failed records before the barrier are forgotten.
    buffer.insert(entities[4], (Byte(1), Text::from("after")));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("too wide") };
    let errors = errors.as_slice();
    assert!(errors.iter().all(|one| matches!(one.fault, CommandErrorKind::Layout(_))));
    let failed: Vec<_> = errors.iter().map(|one| one.entity).collect();
    assert_eq!(failed, [entities[0], entities[1], entities[2], entities[3], spawned]);
    let texts = entities.map(|entity| text(&world, entity).unwrap());
    assert_eq!(texts, ["old", "old", "old", "first", "after"]);
    assert!(!world.has::<Number>(entities[2]) && !world.contains(spawned));
    sound(&world);
}

/// A second component with a destructor.
#[component(sparse)]
struct Second(Noted);

#[test]
fn several_destructors_of_one_command_may_panic() {
    let drops = Drops::default();
    let value = |number| Noted(number, Arc::clone(&drops));
    let pair = |first| (value(first), Second(value(first + 2)));
    let panic_of = |work: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("a destructor panics");
        panic.downcast_ref::<String>().cloned().unwrap()
    };
    let mut world = World::new();
    let dead = world.spawn(());
    world.despawn(dead).unwrap();
    let both = world.spawn(pair(1));
    let mut buffer = world.command_buffer(0).unwrap();
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    buffer.insert(dead, pair(5));
    assert_eq!(panic_of(&mut || drop(world.apply(&mut buffer))), "destructor 5");
    assert_eq!(take(&drops), [5, 7]);
    // The removed values are dropped before the replaced ones.
    buffer.exchange::<Second, _>(both, value(2));
    assert_eq!(panic_of(&mut || drop(world.apply(&mut buffer))), "destructor 3");
    assert_eq!(take(&drops), [3, 1]);
    assert!(world.has::<Noted>(both) && !world.has::<Second>(both));
    buffer.insert(dead, pair(5));
    assert_eq!(panic_of(&mut || buffer.clear()), "destructor 5");
    assert_eq!(take(&drops), [5, 7]);
    // The buffer has no id.
    assert_eq!(panic_of(&mut || _ = buffer.try_spawn(pair(9))), "destructor 9");
    assert_eq!((take(&drops), buffer.is_empty()), (vec![9, 11], true));
    assert_eq!(panic_of(&mut || _ = buffer.spawn((Four(1), pair(13)))), "destructor 13");
    assert_eq!((take(&drops), buffer.is_empty()), (vec![13, 15], true));
    sound(&world);
}

#[test]
fn the_first_of_several_panics_goes_on() {
    let drops = Drops::default();
    let value = |number| Noted(number, Arc::clone(&drops));
    let mut world = World::new();
    let entity = world.spawn(());
    let mut buffer = world.command_buffer(0).unwrap();
    // The closure takes the world away, so nothing after it is played.
    let mut other = Some(World::new());
    buffer.run(move |world| {
        *world = other.take().unwrap();
        panic!("the closure");
    });
    buffer.insert(entity, value(1));
    for number in [3, 5] {
        let captured = value(number);
        buffer.run(move |_| drop(captured));
    }
    let apply = catch_unwind(AssertUnwindSafe(|| world.apply(&mut buffer).is_ok()));
    let panic = apply.expect_err("the closure panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the closure"));
    assert_eq!(take(&drops), [3, 5, 1]);
    assert!(buffer.is_empty());

    let mut buffer = world.command_buffer(0).unwrap();
    let captured = [7, 9].map(value);
    captured.into_iter().for_each(|captured| buffer.run(move |_| drop(captured)));
    buffer.insert(entity, value(11));
    let clear = catch_unwind(AssertUnwindSafe(|| buffer.clear()));
    let panic = clear.expect_err("three destructors panic");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "destructor 7");
    assert_eq!(take(&drops), [7, 9, 11]);

    // A buffer that is dropped with its commands.
    let captured = [13, 15].map(value);
    captured.into_iter().for_each(|captured| buffer.run(move |_| drop(captured)));
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(buffer)));
    let panic = dropped.expect_err("two destructors panic");
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "destructor 13");
    assert_eq!(take(&drops), [13, 15]);
}

/// A component that its entity keeps when it is despawned.
#[component(cleanup)]
#[derive(Debug, PartialEq)]
struct Channel(u32);

#[test]
fn an_entity_that_is_gone_gets_no_sparse_component() {
    for gone_len in [1, 2] {
        let mut world = World::new();
        let alive = world.spawn(Channel(0));
        let gone: Vec<_> = (1..=gone_len).map(|i| world.spawn((Four(i), Channel(i)))).collect();
        gone.iter().for_each(|&entity| world.despawn(entity).unwrap());
        let mut buffer = world.command_buffer(0).unwrap();
        // Two of one kind could be played together, and several of one entity be merged.
        let ways: [fn(&mut CommandBuffer, Entity); 4] = [
            |buffer, entity| buffer.exchange::<Channel, _>(entity, Text::from("lost")),
            |buffer, entity| buffer.exchange::<Channel, _>(entity, (Text::from("lost"), Number(1))),
            |buffer, entity| buffer.insert(entity, Text::from("lost")),
            |buffer, entity| {
                buffer.exchange::<Channel, _>(entity, Text::from("lost"));
                buffer.exchange::<Channel, _>(entity, Text::from("again"));
            },
        ];
        for way in ways {
            gone.iter().for_each(|&entity| way(&mut buffer, entity));
            let commands = buffer.len();
            let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
                panic!("they are gone")
            };
            let is_refused =
                |one: &CommandError| matches!(one.fault, CommandErrorKind::NoSuchEntity(_));
            assert!(errors.as_slice().iter().all(is_refused));
            assert_eq!(errors.len(), commands);
            for (&entity, i) in gone.iter().zip(1..) {
                assert!(world.has::<Gone>(entity));
                assert_eq!(world.get::<Channel>(entity), Ok(&Channel(i)));
            }
            sound(&world);
        }
        buffer.exchange::<Channel, _>(alive, Text::from("kept"));
        gone.iter().for_each(|&entity| buffer.remove::<(Channel, Text)>(entity));
        world.apply(&mut buffer).unwrap();
        assert_eq!((world.len(), text(&world, alive).as_deref()), (1, Some("kept")));
        sound(&world);
    }
}

#[test]
fn memory_is_kept_and_given_back() {
    let mut world = World::new();
    let entity = world.spawn(());
    let mut buffer = world.command_buffer(0).unwrap();
    (0..100).for_each(|i| buffer.insert(entity, Text(i.to_string())));
    world.apply(&mut buffer).unwrap();
    assert!(buffer.memory_bytes() >= 100 * size_of::<Text>());
    buffer.compact();
    assert_eq!(buffer.memory_bytes(), 0);
    assert_eq!(text(&world, entity).as_deref(), Some("99"));

    buffer.spawn_batch((0..1000).map(|i| (Four(i), Text(i.to_string()))));
    let bytes = 1000 * (size_of::<Four>() + size_of::<Text>());
    assert!(buffer.memory_bytes() >= bytes, "{} bytes", buffer.memory_bytes());
    world.apply(&mut buffer).unwrap();
    assert!(buffer.memory_bytes() < bytes, "the parts are gone");
}
