//! States that were read, among states that a world took itself: none is taken for another.

use phalanx::HashCache;
use phalanx::chunks::{PerChunk, PerChunkMut};
use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;
use phalanx::snapshot::{ReadError, SnapshotError};

use crate::common::components::{Four, Text, small_world, sound};
use crate::common::effort::effort;
use crate::snapshot_bytes::reader;
use crate::snapshot_hostile::sign;
use crate::snapshot_steps::{Bounds, Chance, change_or_share};

/// A world with some entities, numbered from 0 on.
fn world_of(rows: u32) -> World {
    let mut world = small_world();
    world.spawn_batch((0..rows).map(Four));
    world
}

fn bytes_of(world: &mut World) -> Vec<u8> {
    world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared")
}

fn restore(world: &mut World, state: &Snapshot) {
    world.restore(state).expect("it is of this world");
    sound(world);
}

/// If one of two worlds went back, they have versions in common. A world that reads states of both
/// distinguishes them.
#[test]
fn states_of_equal_versions_and_other_values_are_not_mixed() {
    let mut server = world_of(1);
    let hero = server.query::<Entity>().single().expect("one");
    let start = server.snapshot().expect("no buffers");
    let branches = [100, 200].map(|value| {
        restore(&mut server, &start);
        server.get_mut::<Four>(hero).expect("alive").0 = value;
        bytes_of(&mut server)
    });

    let mut client = small_world();
    client.register::<Four>();
    let own = branches.map(|bytes| {
        let read = client.read_snapshot(&bytes).expect("it was written");
        restore(&mut client, &read);
        client.snapshot().expect("no buffers")
    });
    for _ in 0..2 {
        for (state, value) in own.iter().zip([100, 200]) {
            restore(&mut client, state);
            assert_eq!(client.get::<Four>(hero).expect("alive").0, value);
        }
    }
}

#[test]
fn a_state_that_was_read_has_chunks_that_no_earlier_one_had() {
    let (mut world, mut other) = (world_of(1), world_of(3));
    let (mut cache, before) = (HashCache::new(), world.snapshot().expect("no buffers"));
    let read = world.read_snapshot(&bytes_of(&mut other)).expect("it was written");
    let seen: Vec<_> =
        world.query::<&Four>().chunks().map(|chunk| chunk.version::<Four>()).collect();
    restore(&mut world, &read);
    for chunk in &mut world.query::<&Four>().chunks() {
        assert!(!seen.contains(&chunk.version::<Four>()), "a copy of a chunk would be kept");
    }
    let after = world.snapshot().expect("no buffers");
    for (state, rows) in [(&before, 1), (&after, 3), (&before, 1), (&read, 3), (&after, 3)] {
        restore(&mut world, state);
        assert_eq!(world.query::<&Four>().count_rows(), rows);
        assert_eq!(cache.hash(&world), world.hash());
    }
    // The difference between them is found in both directions.
    let mut mirror = small_world();
    mirror.register::<Four>();
    for (from, to) in [(&after, &before), (&before, &after)] {
        let mut state = mirror.read_snapshot(&from.to_bytes().expect("taken")).expect("written");
        restore(&mut world, to);
        let delta = from.delta(&mut world).expect("no buffers");
        state.read_delta(&mut mirror, &delta).expect("it is from this state");
        restore(&mut mirror, &state);
        assert_eq!(mirror.hash(), world.hash());
    }
}

/// One world takes states, reads its own states and the states of another world, goes back to any
/// of them, and writes deltas between them; another world follows.
#[test]
fn random_states_that_were_taken_and_read_are_what_they_were() {
    let mut chance = Chance(77);
    for round in 0..if cfg!(miri) { 1 } else { effort(2).into() } {
        let (mut world, mut other, mut mirror) = (reader(), reader(), reader());
        for each in [&mut world, &mut other, &mut mirror] {
            (0..40).for_each(|seed| change_or_share(each, seed, false));
        }
        let mut states: Vec<(Snapshot, u64)> = Vec::new();
        for step in 0..if cfg!(miri) { 8 } else { 150 } {
            let seed = round * 1000 + step;
            match chance.below(6) {
                0 => change_or_share(&mut other, seed, false),
                1 => {
                    let bytes = bytes_of(&mut other);
                    let read = world.read_snapshot(&bytes).expect("it was written");
                    states.push((read, other.hash()));
                }
                2 => {
                    let state = world.snapshot().expect("no buffers");
                    states.push((state, world.hash()));
                }
                3 if !states.is_empty() => {
                    let (state, hash) = &states[chance.below(states.len())];
                    restore(&mut world, state);
                    assert_eq!(world.hash(), *hash, "at step {step} of {round}");
                }
                4 if !states.is_empty() => {
                    let (from, _) = &states[chance.below(states.len())];
                    let bytes = from.to_bytes().expect("nothing is shared");
                    let delta = from.delta(&mut world).expect("no buffers");
                    let mut state = mirror.read_snapshot(&bytes).expect("it was written");
                    state.read_delta(&mut mirror, &delta).expect("it is from this state");
                    restore(&mut mirror, &state);
                    assert_eq!(mirror.hash(), world.hash(), "at step {step} of {round}");
                }
                _ => change_or_share(&mut world, seed, false),
            }
            if states.len() > 6 {
                states.swap_remove(chance.below(6));
            }
        }
    }
}

#[test]
fn a_delta_is_refused_by_a_state_of_other_ids() {
    type Change = fn(&mut World);
    let changes: [Change; 3] = [
        |world| {
            let mut buffer = world.command_buffer(2).expect("there are ids");
            buffer.spawn(Four(1));
            buffer.spawn(Four(2));
        },
        |world| drop(world.command_buffer(2).expect("there are ids")),
        |world| world.memory_mut().grow_indices(3_000_000).expect("there is room"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut world = world_of(10);
        let all: Vec<_> = world.query::<Entity>().rows().collect();
        [2, 7, 4].into_iter().for_each(|i| world.despawn(all[i]).expect("alive"));
        let before = world.snapshot().expect("no buffers");
        change(&mut world);
        let after = world.snapshot().expect("no buffers");
        world.query_mut::<&mut Four>().rows().for_each(|four| four.0 += 1);
        let delta = after.delta(&mut world).expect("no buffers");

        let mut mirror = small_world();
        mirror.register::<Four>();
        let [mut wrong, mut right] = [&before, &after].map(|state| {
            mirror.read_snapshot(&state.to_bytes().expect("taken")).expect("it was written")
        });
        assert_eq!(wrong.read_delta(&mut mirror, &delta), Err(ReadError::OtherBase), "{number}");
        right.read_delta(&mut mirror, &delta).expect("it is from this state");
        restore(&mut mirror, &right);
        assert_eq!(mirror.hash(), world.hash());
    }
}

#[test]
fn a_refused_delta_changes_nothing_of_the_snapshot() {
    let mut world = world_of(3);
    let hero = world.query::<Entity>().rows().next().expect("three");
    world.insert(hero, Text::from("beside")).expect("alive");
    let first = world.snapshot().expect("no buffers");
    world.get_mut::<Four>(hero).expect("alive").0 += 1;
    restore(&mut world, &first);
    world.get_mut::<Four>(hero).expect("alive").0 += 2;
    let mut state = world.snapshot().expect("no buffers");
    let kept = state.clone();
    world.get_mut::<Four>(hero).expect("alive").0 = 99;

    let mut delta = state.delta(&mut world).expect("no buffers");
    let end = delta.len() - 16;
    delta[end..end + 8].fill(0xFF);
    sign(&mut delta);
    assert!(state.read_delta(&mut world, &delta).is_err());
    assert_eq!((state.version(), state.to_bytes()), (kept.version(), kept.to_bytes()));
    restore(&mut world, &state);
    assert_eq!(world.sparse().get(hero), Some(&Text::from("beside")));
}

#[test]
fn values_of_chunks_are_read_as_what_they_were_written_as() {
    mod before {
        #[phalanx::component(name = "detail")]
        #[derive(Debug)]
        pub(super) struct Detail {
            pub(super) level: u32,
            pub(super) seen: u32,
        }
    }
    mod now {
        #[phalanx::component(name = "detail")]
        pub(super) struct Detail {
            seen: u32,
            level: u32,
        }
    }
    let mut world = small_world();
    world.spawn(PerChunk::<before::Detail>::TAG);
    for mut detail in world.query_mut::<PerChunkMut<before::Detail>>() {
        *detail = before::Detail { level: 7, seen: 1 };
    }
    let bytes = bytes_of(&mut world);
    let mut other = small_world();
    other.register::<(PerChunk<now::Detail>, PerChunk<Bounds>)>();
    let error = other.read_snapshot(&bytes).expect_err("its fields are in another order");
    assert!(matches!(error, ReadError::OtherComponent { .. }), "{error}");
    assert!(world.read_snapshot(&bytes).is_ok());
}

#[test]
fn a_clock_that_is_nearly_used_up_is_neither_read_nor_written() {
    const AGE_MAX: u64 = 1 << 48;
    let mut world = world_of(1);
    let mut bytes = bytes_of(&mut world);
    let mut at_age = |age: u64| {
        bytes[24..32].copy_from_slice(&age.to_ne_bytes());
        sign(&mut bytes);
        bytes.clone()
    };
    assert!(world.read_snapshot(&at_age(AGE_MAX + 1)).is_err());
    let old = world.read_snapshot(&at_age(AGE_MAX)).expect("it is just in time");
    assert!(old.to_bytes().is_ok(), "what was read can be written");
    restore(&mut world, &old);
    world.spawn(Four(1));
    let error = SnapshotError::ClockUsedUp;
    let state = world.snapshot().expect("in memory it can be kept");
    assert_eq!(state.to_bytes(), Err(error), "before it is lost");
    assert_eq!(state.delta(&mut world), Err(error));
    assert!(error.to_string().contains("clock"));
    if cfg!(miri) {
        return;
    }
    // Thousands of them end with an error, not with a clock that goes back.
    let mut restores = 0;
    while world.restore(&old).is_ok() {
        restores += 1;
        assert!(restores < 1 << 15, "the clock goes on");
    }
    assert_eq!(world.restore(&old), Err(error));
    sound(&world);
}

#[test]
fn a_reach_that_was_read_needs_memory_when_it_is_used() {
    let mut world =
        World::builder().chunk_size(ChunkSize::KIB_4).request_bytes_max(1 << 20).build();
    world.spawn(());
    let mut generous = World::builder().chunk_size(ChunkSize::KIB_4).build();
    generous.memory_mut().grow_indices(1 << 24).expect("there is room");
    let read = world.read_snapshot(&bytes_of(&mut generous)).expect("it was written");
    restore(&mut world, &read);
    // One generation is the other half of an id; either order of them is far.
    let far = [1 << 32 | 1 << 23, 1 << 55 | 1].map(Entity::from_bits);
    let far = far.into_iter().max_by_key(|id| id.index()).expect("two");
    let error = world.spawn_at(far, ()).expect_err("128 MiB are too much");
    assert!(error.to_string().contains("grow_indices"), "{error}");
    sound(&world);
}
