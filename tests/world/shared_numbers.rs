//! The numbers of shared values: a new value has the lowest one that no living value has. Numbers
//! choose archetypes, so the order of values in a query shows them.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::snapshot::ReadError;

use crate::common::components::{Serial, small_world, sound};
use crate::snapshot_hostile::sign;
use crate::snapshot_shared::{bytes_of, tell};
use crate::snapshot_steps::Team;

/// A world with one entity for each value.
fn having(values: impl IntoIterator<Item = u32>) -> (World, Vec<Entity>) {
    let mut world = small_world();
    tell(&mut world);
    let all = values.into_iter().map(|value| give(&mut world, value)).collect();
    (world, all)
}

/// Spawns an entity with a value.
fn give(world: &mut World, value: u32) -> Entity {
    let entity = world.spawn(Serial(value));
    world.insert_shared(entity, Team(value)).expect("alive");
    entity
}

/// The values in the order of their archetypes. Without retired ones, this is their order by
/// number.
fn values(world: &World) -> Vec<u32> {
    sound(world);
    world.shared::<Team>().iter().map(|team| team.0).collect()
}

#[test]
fn new_values_fill_the_gaps_in_order() {
    let (mut world, all) = having(0..6);
    for gone in [4, 1, 2] {
        world.despawn(all[gone]).expect("alive");
    }
    let archetypes = world.reflect().archetypes().len();
    let new: Vec<_> = (10..13).map(|value| give(&mut world, value)).collect();
    assert_eq!(values(&world), [0, 10, 11, 3, 12, 5]);
    assert_eq!(world.reflect().archetypes().len(), archetypes);
    // A value that is replaced lives until its successor has a number.
    world.insert_shared(new[0], Team(20)).expect("alive");
    world.insert_shared(new[0], Team(21)).expect("alive");
    assert_eq!(values(&world), [0, 21, 11, 3, 12, 5]);
    assert_eq!(world.reflect().archetypes().len(), archetypes + 1);
    // A value that is refused takes none.
    assert!(world.insert_shared(Entity::NULL, Team(30)).is_err());
    give(&mut world, 31);
    assert_eq!(values(&world), [0, 21, 11, 3, 12, 5, 31]);
}

#[test]
fn what_was_there_before_does_not_count() {
    let numbered = |before: &[u32]| {
        let (mut world, all) = having(before.iter().copied());
        all.iter().for_each(|&entity| world.despawn(entity).expect("alive"));
        world.memory_mut().retire_archetypes();
        (7..10).for_each(|value| _ = give(&mut world, value));
        values(&world)
    };
    assert_eq!([numbered(&[]), numbered(&[9, 8]), numbered(&[8, 1, 9, 7])], [[7, 8, 9]; 3]);
}

#[test]
fn values_in_a_snapshot_keep_no_numbers() {
    let ((mut world, all), (mut twin, _)) = (having(0..4), having(0..4));
    let state = world.snapshot().expect("no buffers");
    let copy = state.clone();
    for world in [&mut world, &mut twin] {
        world.despawn(all[1]).expect("alive");
        world.insert_shared(all[2], Team(50)).expect("alive");
        give(world, 51);
    }
    assert_eq!(values(&world), [0, 50, 51, 3], "1 and 2 live in the snapshot alone");
    assert_eq!(world.hash(), twin.hash());
    drop(state);
    assert_eq!(world.hash(), twin.hash());
    drop(copy);
    for world in [&mut world, &mut twin] {
        give(world, 52);
    }
    assert_eq!((values(&world), world.hash()), (values(&twin), twin.hash()));
}

#[test]
fn a_restored_value_has_its_number_again_though_another_one_has_it() {
    let (mut world, all) = having(0..4);
    let (before, hash) = (world.snapshot().expect("no buffers"), world.hash());
    for gone in [1, 2] {
        world.despawn(all[gone]).expect("alive");
    }
    let new = [give(&mut world, 60), give(&mut world, 2), give(&mut world, 61)];
    assert_eq!(values(&world), [0, 60, 2, 3, 61]);
    let after = world.snapshot().expect("no buffers");
    let later = world.hash();
    for _ in 0..3 {
        world.restore(&before).expect("it is of this world");
        assert_eq!((values(&world), world.hash()), (vec![0, 1, 2, 3], hash));
        assert_eq!(world.query::<()>().where_shared(&Team(60)).count_rows(), 0);
        world.restore(&after).expect("it is of this world");
        assert_eq!((values(&world), world.hash()), (vec![0, 60, 2, 3, 61], later));
        assert_eq!(world.query::<()>().where_shared(&Team(1)).count_rows(), 0);
    }
    world.restore(&before).expect("it is of this world");
    let mut twin = having(0..4).0;
    for world in [&mut world, &mut twin] {
        assert!(!new.map(|entity| world.shared::<Team>().contains(entity)).contains(&true));
        world.despawn(all[0]).expect("alive");
        give(world, 70);
        give(world, 71);
    }
    assert_eq!((values(&world), values(&twin)), (vec![70, 1, 2, 3, 71], vec![70, 1, 2, 3, 71]));
}

#[test]
fn worlds_that_meet_give_the_lowest_numbers() {
    let ((mut world, all), (mut other, theirs)) = (having(0..5), having([3, 100, 101, 102]));
    world.despawn(all[1]).expect("alive");
    world.despawn(all[4]).expect("alive");
    other.despawn(theirs[1]).expect("alive");
    give(&mut other, 103);
    // In the order of their numbers: 3 is here already, 103 has the number of 100.
    let merged = world.merge(other).expect("worlds of one kind");
    assert_eq!(merged.len(), 4);
    assert_eq!(values(&world), [0, 103, 2, 3, 101, 102]);
    let (mut part, _) = having([200, 2, 201]);
    let some = part.matching::<&Serial>().where_shared(&Team(201));
    assert_eq!(world.move_from(some).expect("worlds of one kind").len(), 1);
    assert_eq!((values(&world), values(&part)), (vec![0, 103, 2, 3, 101, 102, 201], vec![200, 2]));
    give(&mut part, 202);
    assert_eq!(values(&part), [200, 2, 202]);
}

#[test]
fn worlds_that_are_equal_merge_into_equal_worlds() {
    // The number 1 has the last tag in the second world.
    let twins = || {
        let (mut world, all) = having(0..3);
        world.despawn(all[1]).expect("alive");
        world.memory_mut().retire_archetypes();
        let mut twin = having([]).0;
        twin.register::<Serial>();
        let state = twin.read_snapshot(&bytes_of(&mut world)).expect("it has a form as bytes");
        twin.restore(&state).expect("it is of this world");
        for world in [&mut world, &mut twin] {
            give(world, 9);
        }
        assert_eq!(world.hash(), twin.hash());
        [world, twin]
    };
    let merged = twins().map(|other| {
        let mut world = small_world();
        world.merge(other).expect("worlds of one kind");
        sound(&world);
        world.hash()
    });
    assert_eq!(merged[0], merged[1]);
    let moved = twins().map(|mut other| {
        let mut world = small_world();
        let some = other.matching::<&Serial>().where_shared(&Team(9));
        assert_eq!(world.move_from(some).expect("worlds of one kind").len(), 1);
        world.move_from(other.matching::<&Serial>()).expect("worlds of one kind");
        sound(&world);
        (world.hash(), other.hash())
    });
    assert_eq!(moved[0], moved[1]);
}

#[test]
fn values_may_end_on_another_thread() {
    let rows = if cfg!(miri) { 6 } else { 300 };
    let ((mut world, all), (mut twin, _)) = (having(0..rows), having(0..rows));
    let (mut states, mut far) = (Vec::new(), having(0..rows).0);
    for &entity in all.iter().step_by(3) {
        states.push(world.snapshot().expect("no buffers"));
        twin.despawn(entity).expect("alive");
        world.despawn(entity).expect("alive");
    }
    states.push(far.snapshot().expect("no buffers"));
    std::thread::scope(|scope| {
        scope.spawn(move || drop((states, far)));
        for value in rows..2 * rows {
            give(&mut world, value);
        }
    });
    (rows..2 * rows).for_each(|value| _ = give(&mut twin, value));
    assert_eq!((values(&world), world.hash()), (values(&twin), twin.hash()));
}

#[test]
#[cfg_attr(miri, ignore = "tens of thousands of values")]
fn the_last_value_of_a_full_world_is_refused_and_a_freed_number_given() {
    let (mut world, mut all) = having([0]);
    let full = 65_536;
    let mut give = |world: &mut World, value| {
        let entity = world.spawn(());
        let given = catch_unwind(AssertUnwindSafe(|| world.insert_shared(entity, Team(value))));
        match given {
            Ok(given) => {
                given.expect("alive");
                all.push(entity);
                None
            }
            Err(payload) => Some((entity, payload.downcast::<String>())),
        }
    };
    let refused = (1..full).find_map(|value| Some((value, give(&mut world, value)?)));
    let (first, (entity, text)) = refused.expect("65,536 values of a type are too many");
    assert_eq!(text.ok().map(|text| text.contains("maximum of 65,535")), Some(true));
    // `Serial`, two markers, and the values 0 to `first - 1`.
    assert_eq!((first, world.shared::<Team>().iter().count()), (65_532, first as usize));
    assert!(!world.shared::<Team>().contains(entity));
    assert_eq!(world.query::<()>().where_shared(&Team(first - 1)).count_rows(), 1);
    let middle = world.query::<Entity>().where_shared(&Team(30_000)).rows().next();
    let archetypes = world.reflect().archetypes().len();
    world.despawn(middle.expect("one has it")).expect("alive");
    assert!(give(&mut world, full).is_none(), "a number is free");
    assert_eq!(world.reflect().archetypes().len(), archetypes);
    assert!(give(&mut world, full + 1).is_some());
    assert_eq!(world.shared::<Team>().iter().nth(30_000), Some(&Team(full)));
    sound(&world);
}

thread_local! {
    static ARMED: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
}

/// A value with methods that panic when it is armed. All have one hash.
struct Bomb(u32);

fn explode(what: &str) {
    assert!(ARMED.get() != what, "a bomb");
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        explode("eq");
        self.0 == other.0
    }
}

impl Eq for Bomb {}

impl Hash for Bomb {
    fn hash<H: Hasher>(&self, _: &mut H) {
        explode("hash");
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        explode("drop");
    }
}

#[test]
fn methods_that_panic_take_and_lose_no_numbers() {
    let mut world = small_world();
    let all = world.spawn_batch((0..4).map(Serial)).to_vec();
    for (i, &entity) in (0..3).zip(&all) {
        world.insert_shared(entity, Bomb(i)).expect("alive");
    }
    for what in ["hash", "eq"] {
        let value = Bomb(9);
        ARMED.set(what);
        let given = catch_unwind(AssertUnwindSafe(|| world.insert_shared(all[3], value)));
        ARMED.set("");
        assert!(given.is_err(), "{what}");
    }
    let numbers = |world: &World| -> Vec<u32> {
        sound(world);
        world.shared::<Bomb>().iter().map(|bomb| bomb.0).collect()
    };
    assert_eq!(numbers(&world), [0, 1, 2]);
    ARMED.set("drop");
    world.despawn(all[1]).expect("alive");
    ARMED.set("");
    world.insert_shared(all[3], Bomb(3)).expect("alive");
    assert_eq!(numbers(&world), [0, 3, 2], "the number was freed in spite of the panic");
}

#[test]
fn numbers_that_lie_are_refused_by_name() {
    let (mut world, all) = having([5, 6, 7]);
    world.despawn(all[1]).expect("alive");
    let bytes = bytes_of(&mut world);
    // The numbers 0, 1 and 2, twice each, and one for a value; 1 has no value.
    let words = |words: [u32; 3]| words.map(u32::to_ne_bytes).concat();
    let at = bytes.windows(12).position(|found| found == words([1, 2, 5]));
    let at = at.expect("the numbers are written in order");
    let read = |range: std::ops::Range<usize>, with: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[range].copy_from_slice(with);
        sign(&mut bytes);
        let mut mirror = having([]).0;
        mirror.register::<Serial>();
        let hash = mirror.hash();
        let read = mirror.read_snapshot(&bytes);
        assert_eq!(mirror.hash(), hash);
        give(&mut mirror, 1);
        sound(&mirror);
        read.map(|state| state.len()).map_err(|error| match error {
            ReadError::Invalid { what, .. } | ReadError::Truncated { what, .. } => what,
            error => panic!("{error}"),
        })
    };
    assert_eq!(read(at..at + 12, &words([1, 2, 5])), Ok(2));
    let (order, above) = (
        "a number of a shared value that is not above the last one",
        "a number of a shared value above those of any type",
    );
    for (numbers, what) in [
        ([5, 2, 1], order),
        ([1, 1, 5], order),
        ([1, 0, 5], order),
        ([1, 2, 2 * 65_535 + 1], above),
        ([1, 2, u32::MAX], above),
        ([1, 3, 5], "an older value that there is not"),
        ([1, 2, 4], "the shared values"),
    ] {
        assert_eq!(read(at..at + 12, &words(numbers)), Err(what), "{numbers:?}");
    }
    // Numbers far apart take no more room than others.
    assert_eq!(read(at..at + 12, &words([1, 2 * 40_000, 2 * 65_534 + 1])), Ok(2));
    // A number of values that the bytes do not have takes no memory.
    let count = bytes[..at]
        .windows(8)
        .position(|found| found == [4_u32.to_ne_bytes(), 3_u32.to_ne_bytes()].concat());
    let count = count.expect("the length of the name, and the number of values") + 4;
    let refused = read(count..count + 4, &u32::MAX.to_ne_bytes());
    assert_eq!(refused, Err("the numbers of shared values"));
}
