//! The memory of sparse components and relations, counted by the allocator.

#![cfg(not(miri))] // The allocator that counts is not Miri's.

use phalanx::prelude::*;

use crate::common::components::{Four, Number, sound};
use crate::common::world;
use crate::memory::{bytes, peak};

use super::relations::PartOf;

const MILLION: u32 = 1_000_000;

#[test]
fn one_value_in_a_million_entities_costs_a_bit_each_and_a_page() {
    let mut world = world();
    let all = world.spawn_batch((0..MILLION).map(Four)).to_vec();
    let said = |world: &World| {
        let memory = world.memory();
        [memory.sparse_bytes, memory.bookkeeping_bytes]
    };
    let before = said(&world);
    assert_eq!(before[0], 0, "no set is made before its first value");
    let far = all[all.len() - 7];
    let ((), taken) = bytes(|| world.insert(far, Number(5)).expect("it is alive"));
    let [values, bits] = [0, 1].map(|i| said(&world)[i] - before[i]);
    assert!(values <= 8 << 10, "{values} bytes: a page, and a branch of the index");
    // A chunk of the smallest size has a few words that are not full.
    assert!(bits <= all.len() / 8 * 5 / 4, "{bits} bytes of bits");
    assert!((values + bits..values + bits + (16 << 10)).contains(&taken), "{taken} bytes");
    assert_eq!(world.query::<(Entity, &Number)>().rows().map(|row| row.0).next(), Some(far));
    assert_eq!(world.query::<Entity>().without::<Number>().count_rows(), all.len() - 1);
    sound(&world);
    // Values that come and go elsewhere leave no page behind.
    let ((), more) = bytes(|| {
        for &entity in all.iter().step_by(501) {
            world.insert(entity, Number(6)).expect("it is alive");
            world.remove::<Number>(entity).expect("it has one");
        }
    });
    assert!(more <= 16 << 10, "{more} bytes more");
    sound(&world);
}

/// The entities of a tree in the order of their ids: `parent` has the number of each one's parent.
fn tree(world: &mut World, parent: impl Fn(u32) -> u32) -> Vec<Entity> {
    let all = world.spawn_batch((0..=MILLION).map(Four)).to_vec();
    for (number, &entity) in (1..).zip(&all[1..]) {
        let parent = all[parent(number) as usize];
        world.insert(entity, PartOf::of(parent)).expect("it has a lower number");
    }
    all
}

/// Despawns a root with a million descendants, on a thread with a small stack.
fn the_end_of_a_root_takes_no_more_than_the_world(parent: fn(u32) -> u32) {
    let run = move || {
        let mut world = world();
        let ((root, all), held) = bytes(|| {
            let all = tree(&mut world, parent);
            (all[0], all.len())
        });
        let (ended, taken) = peak(|| world.despawn_batch(&[root]));
        assert_eq!((ended, world.len(), world.relation::<PartOf>().len()), (all, 0, 0));
        assert!(taken <= held, "{taken} bytes more than the {held} of the world");
        sound(&world);
    };
    let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(run).expect("a thread");
    thread.join().expect("no overflow, no panic");
}

#[test]
fn the_end_of_a_chain_takes_no_more_than_the_world() {
    the_end_of_a_root_takes_no_more_than_the_world(|number| number - 1);
}

#[test]
fn the_end_of_a_wide_tree_takes_no_more_than_the_world() {
    the_end_of_a_root_takes_no_more_than_the_world(|number| (number - 1) / 10);
}

#[test]
fn the_end_of_a_million_siblings_takes_no_more_than_the_world() {
    the_end_of_a_root_takes_no_more_than_the_world(|_| 0);
}
