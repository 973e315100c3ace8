//! Many shared values, values with equal hashes, and types with one name.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::snapshot::SnapshotReader;
use phalanx::snapshot::{ReadError, SnapshotError};

use crate::common::components::{Four, small_world};
use crate::snapshot_shared::{bytes_of, tell};
use crate::snapshot_steps::Team;

#[test]
#[cfg_attr(miri, ignore = "tens of thousands of values")]
fn more_values_than_a_world_has_are_refused() {
    let filled = |value: fn(u32) -> Team, other: bool| {
        let mut world = small_world();
        tell(&mut world);
        for i in 0..35_000 {
            let entity = world.spawn(());
            if other {
                world.insert_shared(entity, i).expect("alive");
            } else {
                world.insert_shared(entity, value(i)).expect("alive");
            }
        }
        world
    };
    let mut many = filled(Team, false);
    let bytes = bytes_of(&mut many);
    let mut full = filled(Team, true);
    let hash = full.hash();
    let refused = full.read_snapshot(&bytes).expect_err("70,000 and more");
    assert!(
        refused.to_string().contains("more shared values than a world takes over"),
        "{refused}"
    );
    assert_eq!(full.hash(), hash);
    let entity = full.spawn(());
    full.insert_shared(entity, Team(1)).expect("there is room");
    assert!(SnapshotReader::new(&mut small_world()).skip_unknown().read(&bytes).is_ok());

    // Values that no world has are not written.
    let before = many.snapshot().expect("no buffers");
    for i in 35_000..50_000 {
        let entity = many.spawn(());
        many.insert_shared(entity, Team(i)).expect("alive");
    }
    let refused = many.snapshot().expect("no buffers").to_bytes().expect_err("too many");
    assert!(matches!(refused, SnapshotError::TooManyValues { .. }), "{refused}");
    assert_eq!(before.delta(&mut many), Err(refused));
    many.query::<Entity>().copies().entities().into_iter().skip(49_000).for_each(|entity| {
        many.despawn(entity).expect("alive");
    });
    assert_eq!(many.snapshot().expect("no buffers").to_bytes(), Err(refused), "they had them");

    // No room for the types that hide entities.
    let mut with_hidden = small_world();
    with_hidden.spawn(Prototype);
    let hidden = with_hidden.snapshot().expect("no buffers").to_bytes().expect("none shared");
    let is_full = (35_000..66_000_u32).any(|value| {
        let entity = full.spawn(());
        catch_unwind(AssertUnwindSafe(|| full.insert_shared(entity, value))).is_err()
    });
    assert!(is_full, "a world has fewer types and values");
    let read = SnapshotReader::new(&mut full).skip_unknown().read(&hidden);
    assert!(matches!(read, Err(ReadError::UnknownComponent { .. })), "{read:?}");
    assert!(full.read_snapshot(&bytes_of(&mut small_world())).is_ok());
}

thread_local! {
    static COMPARED: Cell<u32> = const { Cell::new(0) };
}

/// Two numbers that have the hash of many others, on machines of 64 bits.
#[derive(Eq)]
struct Chosen(u64, u64);

impl Chosen {
    fn nth(nth: u64) -> Self {
        // The hasher multiplies by this number after each one that it adds.
        Self(nth, nth.wrapping_mul(0xF135_7AEA_2E62_A9C5).wrapping_neg())
    }
}

impl PartialEq for Chosen {
    fn eq(&self, other: &Self) -> bool {
        COMPARED.set(COMPARED.get() + 1);
        (self.0, self.1) == (other.0, other.1)
    }
}

impl Hash for Chosen {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0, self.1).hash(state);
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn values_that_were_chosen_for_their_hash_are_not_compared_with_each_other() {
    const LEN: u32 = if cfg!(miri) { 20 } else { 300 };
    let tell = |world: &mut World| {
        world.shared_mut().encode(
            "chosen",
            |value: &Chosen, to| to.extend_from_slice(&value.0.to_ne_bytes()),
            |bytes| Some(Chosen::nth(u64::from_ne_bytes(bytes.try_into().ok()?))),
        );
    };
    let [mut world, mut mirror] = [small_world(), small_world()];
    tell(&mut world);
    tell(&mut mirror);
    for nth in 0..LEN {
        let entity = world.spawn(());
        world.insert_shared(entity, Chosen::nth(u64::from(nth))).expect("alive");
    }
    assert!(COMPARED.take() >= LEN * (LEN - 1) / 2, "they were not chosen well");
    let state = mirror.read_snapshot(&bytes_of(&mut world)).expect("it was written");
    assert_eq!(COMPARED.take(), 0);
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), world.hash());
}

#[test]
fn a_type_without_archetypes_is_no_state() {
    let mut world = small_world();
    tell(&mut world);
    let entity = world.spawn(Four(1));
    let hash = {
        let mut without = small_world();
        tell(&mut without);
        without.spawn(Four(1));
        without.hash()
    };
    // A type without a name in bytes.
    world.insert_shared(entity, 5_u64).expect("alive");
    world.remove_shared::<u64>(entity).expect("it has one");
    assert!(world.snapshot().expect("no buffers").to_bytes().is_err());
    world.memory_mut().retire_archetypes();
    let bytes = bytes_of(&mut world);
    let state = world.read_snapshot(&bytes).expect("it was written");
    let before = world.hash();
    assert_ne!(before, hash, "the clock has advanced");
    world.restore(&state).expect("it was read here");
    assert_eq!(world.hash(), before);
    let mut mirror = small_world();
    tell(&mut mirror);
    mirror.register::<Four>();
    let state = mirror.read_snapshot(&bytes_of(&mut world)).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), world.hash());
    for world in [&mut world, &mut mirror] {
        world.insert_shared(entity, 7_u64).expect("alive");
        world.insert_shared(entity, Team(7)).expect("alive");
    }
    assert_eq!(mirror.hash(), world.hash());
}

#[test]
fn types_of_one_name_are_told_apart_by_their_names_in_bytes() {
    type Put = Box<dyn Fn(&mut World, Entity, u8)>;
    /// Defines a type of the same path each time, and registers its encoding in the world.
    macro_rules! tell_of {
        ($name:literal) => {
            |world: &mut World| -> (Put, &'static str) {
                #[derive(PartialEq, Eq, Hash)]
                struct Own(u8);
                let decode = |bytes: &[u8]| Some(Own(*bytes.first()?));
                world.shared_mut().encode($name, |own: &Own, to| to.push(own.0), decode);
                let put = |world: &mut World, entity, value| {
                    world.insert_shared(entity, Own(value)).expect("alive");
                };
                (Box::new(put), std::any::type_name::<Own>())
            }
        };
    }
    let (first, second) = (tell_of!("first"), tell_of!("second"));
    let [mut world, mut mirror] = [small_world(), small_world()];
    let ((put_first, a), (put_second, b)) = (first(&mut world), second(&mut world));
    assert_eq!(a, b, "the test needs types of one name");
    let _ = (second(&mut mirror), first(&mut mirror));
    let entity = world.spawn(());
    put_first(&mut world, entity, 1);
    put_second(&mut world, entity, 2);
    put_second(&mut world, entity, 3);
    let state = mirror.read_snapshot(&bytes_of(&mut world)).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), world.hash());
}
