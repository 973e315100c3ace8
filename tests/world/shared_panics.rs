//! Shared values that panic in each call of `Eq`, `Hash`, `Clone`, `Drop` and of their codec in
//! turn: the world stays sound, and no value outlives it.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

use crate::common::components::{Serial, Tag, small_world, sound};

thread_local! {
    /// Values that are alive.
    static ALIVE: Cell<isize> = const { Cell::new(0) };
    /// The call that panics, counted down; none if it is negative.
    static FUSE: Cell<i32> = const { Cell::new(-1) };
}

/// A call of the caller's code.
fn call() {
    let fuse = FUSE.get();
    if fuse >= 0 {
        FUSE.set(fuse - 1);
        assert!(fuse > 0, "the fuse has burnt down");
    }
}

#[derive(Debug)]
struct Counted(u32);

impl Counted {
    fn new(value: u32) -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self(value)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        call();
        Self::new(self.0)
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        call();
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        call();
        // Some values have one hash, so that they are compared.
        (self.0 % 2).hash(state);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
        call();
    }
}

fn encode(value: &Counted, to: &mut Vec<u8>) {
    call();
    to.extend(value.0.to_le_bytes());
}

fn decode(bytes: &[u8]) -> Option<Counted> {
    call();
    Some(Counted::new(u32::from_le_bytes(bytes.try_into().ok()?)))
}

/// A world of six entities. Four of them have the values 0 and 1.
fn counted() -> World {
    let mut world = small_world();
    world.shared_mut().encode("counted", encode, decode);
    let entities = world.spawn_batch((0..6).map(Serial)).to_vec();
    for (value, &entity) in [0, 0, 1, 1].into_iter().zip(&entities) {
        world.insert_shared(entity, Counted::new(value)).expect("alive");
    }
    world
}

/// Entity `n`.
fn entity(world: &World, n: u32) -> Entity {
    let mut rows = world.query::<(Entity, &Serial)>().rows();
    rows.find(|(_, serial)| serial.0 == n).expect("there are six").0
}

/// Runs an operation until it ends without a panic: at first its first call of the caller's code
/// panics, next its second, and so on. Returns the number of calls.
#[track_caller]
fn survives(operation: impl Fn(&mut World)) -> i32 {
    for fuse in 0.. {
        assert_eq!(ALIVE.get(), 0, "a value is left from before");
        let mut world = counted();
        FUSE.set(fuse);
        let ended = catch_unwind(AssertUnwindSafe(|| operation(&mut world)));
        let is_over = FUSE.replace(-1) >= 0;
        assert!(!is_over || ended.is_ok(), "there is no other panic");
        sound(&world);
        let values: Vec<_> = world.shared::<Counted>().iter().map(|value| value.0).collect();
        let found = |&value: &u32| {
            let value = Counted::new(value);
            world.query::<()>().where_shared(&value).count_rows() > 0
        };
        assert!(values.iter().all(found), "a value has lost its tag, after call {fuse}");
        assert_eq!(ALIVE.get(), values.len() as isize, "after a panic in call {fuse}");
        // A removed value can be inserted again.
        for value in 0..4 {
            let entity = world.spawn(());
            world.insert_shared(entity, Counted::new(value)).expect("alive");
        }
        sound(&world);
        world.clear();
        assert_eq!(ALIVE.get(), 0, "after a panic in call {fuse}");
        if is_over {
            return fuse;
        }
    }
    unreachable!("an operation has more calls than there are numbers")
}

#[test]
fn insertions_that_panic_leave_nothing_behind() {
    for value in [0, 1, 2] {
        for n in [0, 2, 5] {
            survives(|world| {
                let entity = entity(world, n);
                world.insert_shared(entity, Counted::new(value)).expect("alive");
            });
            survives(|world| {
                let mut buffer = world.command_buffer(1).expect("ids are left");
                buffer.insert_shared(entity(world, n), Counted::new(value));
                drop(world.apply(&mut buffer));
            });
        }
        survives(|world| {
            world.matching::<&Serial>().insert_shared(Counted::new(value)).expect("it fits");
        });
        survives(|world| {
            let some = world.matching::<()>().filter::<WithShared<Counted>>();
            some.insert_shared(Counted::new(value)).expect("it fits");
        });
        survives(|world| {
            let none = world.matching::<&Tag>();
            assert_eq!(none.insert_shared(Counted::new(value)), Ok(0));
        });
        survives(|world| {
            let mut buffer = world.command_buffer(0).expect("ids are left");
            buffer.insert_shared_where::<&Serial, (), _>(Counted::new(value));
            drop(world.apply(&mut buffer));
        });
        survives(|world| {
            let mut buffer = world.command_buffer(0).expect("ids are left");
            buffer.insert_shared(entity(world, 0), Counted::new(value));
            drop(buffer);
        });
        survives(|world| {
            let gone = entity(world, 3);
            world.despawn(gone).expect("alive");
            assert!(world.insert_shared(gone, Counted::new(value)).is_err());
        });
    }
}

#[test]
fn ends_that_panic_leave_nothing_behind() {
    survives(|world| world.remove_shared::<Counted>(entity(world, 0)).expect("it has one"));
    survives(|world| {
        world.matching::<&Serial>().remove_shared::<Counted>();
    });
    survives(|world| (0..3).for_each(|n| world.despawn(entity(world, n)).expect("alive")));
    survives(|world| {
        let all: Vec<_> = (0..6).map(|n| entity(world, n)).collect();
        world.despawn_batch(&all);
    });
    survives(|world| {
        world.matching::<&Serial>().despawn();
    });
    survives(|world| {
        world.matching::<&Serial>().retain(|_, keep| keep.fill(false));
    });
    survives(World::clear);
    survives(|world| drop(std::mem::take(world)));
    survives(|world| {
        let zero = Counted::new(0);
        world.matching::<()>().where_shared(&zero).despawn();
        world.memory_mut().retire_archetypes();
        world.memory_mut().compact(100);
    });
}

#[test]
fn questions_that_panic_leave_nothing_behind() {
    for value in [0, 1, 2] {
        survives(|world| {
            let value = Counted::new(value);
            let _ = world.query::<()>().where_shared(&value).count_rows();
        });
        survives(|world| {
            let value = Counted::new(value);
            world.matching::<()>().where_shared(&value).insert(Tag).expect("it fits");
        });
    }
    survives(|world| drop((world.hash(), world.explain().to_string(), world.memory())));
    survives(|world| {
        let first = entity(world, 0);
        world.instantiate(first, 3).expect("alive");
    });
    survives(|world| {
        let clone = world.shared::<Counted>().get(entity(world, 0)).expect("it has one").clone();
        world.insert_shared(entity(world, 2), clone).expect("alive");
    });
}

#[test]
fn worlds_that_meet_leave_nothing_behind() {
    let other = || {
        let mut other = counted();
        let third = other.spawn(Serial(9));
        other.insert_shared(third, Counted::new(3)).expect("alive");
        other
    };
    survives(|world| drop(world.merge(other()).expect("worlds of one kind")));
    survives(|world| {
        let mut other = other();
        let zero = Counted::new(0);
        let all = other.matching::<&Serial>().where_shared(&zero);
        world.move_from(all).expect("worlds of one kind");
        world.move_from(other.matching::<&Serial>()).expect("worlds of one kind");
    });
}

/// A value with an id, which is made again for another world.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Friend(Counted, Entity);

#[test]
fn ids_that_are_replaced_leave_nothing_behind() {
    let map = |friend: &Friend, id: &mut dyn FnMut(Entity) -> Entity| {
        call();
        Friend(friend.0.clone(), id(friend.1))
    };
    survives(|world| {
        let kept = entity(world, 5);
        world.insert_shared(kept, Friend(Counted::new(7), Entity::NULL)).expect("alive");
        world.remove_shared::<Friend>(kept).expect("it has one");
        let mut other = small_world();
        other.shared_mut().map_entities(map);
        let friends = other.spawn_batch((20..26).map(Serial)).to_vec();
        for (value, pair) in (6..).zip(friends.chunks(2)) {
            other.insert_shared(pair[0], Friend(Counted::new(value / 2), pair[1])).expect("alive");
        }
        other.despawn(friends[1]).expect("alive");
        other.despawn(friends[3]).expect("alive");
        let merged = world.merge(other).expect("worlds of one kind");
        assert_eq!((merged.len(), world.shared::<Friend>().iter().count()), (4, 2));
        sound(world);
        assert_eq!(world.matching::<&Serial>().filter::<WithShared<Friend>>().despawn(), 3);
    });
}

#[test]
fn states_that_panic_leave_nothing_behind() {
    survives(|world| {
        let mut state = world.snapshot().expect("no ids are reserved");
        world.insert_shared(entity(world, 0), Counted::new(2)).expect("alive");
        world.matching::<&Serial>().remove_shared::<Counted>();
        world.restore(&state).expect("it is of this world");
        world.despawn(entity(world, 2)).expect("alive");
        world.despawn(entity(world, 3)).expect("alive");
        world.snapshot_into(&mut state).expect("no ids are reserved");
        world.clear();
        drop(state);
    });
    survives(|world| {
        let base = world.snapshot().expect("no ids are reserved");
        let bytes = base.to_bytes().expect("the type has a name");
        world.insert_shared(entity(world, 0), Counted::new(2)).expect("alive");
        let delta = base.delta(world).expect("it is of this world");
        let mut mirror = counted();
        let mut state = mirror.read_snapshot(&bytes).expect("it is what was written");
        mirror.restore(&state).expect("it was read here");
        state.read_delta(&mut mirror, &delta).expect("it is of that state");
        mirror.restore(&state).expect("it was read here");
    });
    survives(|world| world.shared_mut().encode("counted", encode, decode));
}
