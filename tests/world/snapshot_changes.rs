//! Incremental copies equal full copies, bit for bit.
//!
//! A state that was read has no versions in common with the world, so all of it is compared or
//! copied. The ways that use versions must have the same results.

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use crate::common::components::{Four, Tag, sound};
use crate::snapshot_bytes::reader;
use crate::snapshot_steps::{Chance, change_or_share, steps};

/// A change of rows, or a change of ids that no row shows.
fn change(world: &mut World, chance: &mut Chance, seed: u64) {
    let many = u32::try_from(chance.below(if cfg!(miri) { 20 } else { 700 })).expect("small");
    match chance.below(8) {
        0 => drop(world.command_buffer(many).expect("there are ids")),
        1 => {
            let mut buffer = world.command_buffer(many).expect("there are ids");
            (0..many / 2).for_each(|i| _ = buffer.spawn(Four(i)));
            if seed.is_multiple_of(2) {
                world.apply(&mut buffer).expect("all ids are its own");
            }
        }
        // Rows and chunks that no longer exist when the next state is taken.
        2 => {
            let all = world.spawn_batch((0..many).map(|i| (Four(i), Tag))).to_vec();
            all.into_iter().for_each(|entity| world.despawn(entity).expect("alive"));
        }
        // Ids by number, from the middle of the free stack, with any generation.
        3 => {
            let index = u64::try_from(chance.below(3_000)).expect("small");
            let generations = [1, 2, 7, u64::from(u32::MAX)];
            let bits = index << 32 | generations[chance.below(4)];
            _ = world.spawn_at(Entity::from_bits(bits), Four(7));
        }
        _ => change_or_share(world, seed, false),
    }
}

fn bytes(state: &Snapshot) -> Vec<u8> {
    state.to_bytes().expect("nothing is shared")
}

/// The bytes of a state without the number that tells states of one world apart, and the checksum.
fn contents(state: &Snapshot) -> Vec<u8> {
    let mut bytes = bytes(state);
    bytes.truncate(bytes.len() - 8);
    bytes[40..48].fill(0);
    bytes
}

/// One world repeatedly takes states, finds the changes since, and goes back.
#[test]
fn what_has_changed_is_all_that_differs() {
    for round in 0..if cfg!(miri) { 1 } else { 4 } {
        let (mut world, mut chance) = (reader(), Chance(round));
        let mut states: Vec<Snapshot> =
            (0..4).map(|_| world.snapshot().expect("no buffers")).collect();
        for step in 0..steps() / 4 {
            for i in 0..chance.below(3) as u64 {
                change(&mut world, &mut chance, step * 5 + i);
            }
            let state = &mut states[chance.below(4)];
            match chance.below(4) {
                0 => {
                    world.snapshot_into(state).expect("no buffers");
                    let whole = world.snapshot().expect("no buffers");
                    assert!(bytes(state) == bytes(&whole), "taken again at {step} of {round}");
                }
                1 => {
                    let read = world.read_snapshot(&bytes(state)).expect("it was written");
                    let [delta, whole] = [&*state, &read].map(|base| base.delta(&mut world));
                    assert!(delta == whole, "the difference at {step} of {round}");
                }
                2 => {
                    world.restore(state).expect("it is of this world");
                    sound(&world);
                    let now = world.snapshot().expect("no buffers");
                    assert!(contents(&now) == contents(state), "put back at {step} of {round}");
                }
                _ => {}
            }
        }
    }
}
