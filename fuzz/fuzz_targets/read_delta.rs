//! Reads any bytes as a delta: the result is a state, or an error that changes nothing.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use phalanx::prelude::*;
use phalanx_fuzz::{Awake, Burning, Health, State, Team, signed, use_up, world};

/// A state, and the delta from it to a later one.
static WRITTEN: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let mut world = world();
    let base = world.snapshot().expect("no buffers");
    world.spawn_batch((0..20).map(|i| (Health(i), Awake(2), State::Idle)));
    let first = world.query::<Entity>().rows().next().expect("there are some");
    world.despawn(first).expect("it is alive");
    world.query_mut::<&mut Health>().into_iter().flatten().for_each(|health| health.0 += 1);
    let last = world.query::<Entity>().rows().last().expect("there are some");
    world.insert_shared(last, Team(99)).expect("it is alive");
    world.insert(last, Burning { left: 1 }).expect("it is alive");
    let delta = base.delta(&mut world).expect("no buffers");
    (base.to_bytes().expect("teams have a name"), delta)
});

fuzz_target!(|input: &[u8]| {
    let (base, delta) = &*WRITTEN;
    let mut world = world();
    let mut state = world.read_snapshot(base).expect("it was written");
    // A fuzzer cannot guess the base state of a delta.
    let mut input = input.to_vec();
    if input.first() == Some(&0) && input.len() > 41 {
        input[33..41].copy_from_slice(&delta[32..40]);
    }
    if let Err(error) = state.read_delta(&mut world, &signed(&input, delta)) {
        drop(error.to_string());
        assert!(state.to_bytes().expect("it has a state") == *base, "nothing has changed");
    }
    world.restore(&state).expect("it was read here");
    use_up(&mut world);
});
