//! Padding is always initialised, after any history. These tests matter under Miri.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Tag, Twelve, sound};
use crate::common::world;

/// Reads every byte of every padded slice. Under Miri this finds bytes that were never written.
fn read_padding(world: &World) -> u64 {
    let mut sum = 0;
    for (four, twelve) in world.query::<(Option<&Four>, Option<&Twelve>)>().padded() {
        for byte in bytemuck_bytes(four).chain(bytemuck_bytes(twelve)) {
            sum += u64::from(byte);
        }
    }
    sum
}

fn bytemuck_bytes<C: Component>(slice: Option<&[C]>) -> impl Iterator<Item = u8> {
    let bytes: &[u8] = slice.map_or(&[], bytemuck::cast_slice);
    bytes.iter().copied()
}

#[test]
fn padding_is_zero_after_a_batch_of_one_row_behind_whole_vectors() {
    // Another archetype of the same size leaves its bytes in the block.
    let mut world = world();
    world.spawn_batch((0..60).map(|_| Twelve([u32::MAX; 3])));
    world.clear();
    for rows in [16, 32] {
        let left = rows - world.len();
        world.spawn_batch((0..left).map(|_| Four(0)));
        world.spawn_batch([Four(0)]);
        sound(&world);
        assert_eq!(read_padding(&world), 0, "{} rows", world.len());
        let last = world.query::<Entity>().iter().flatten().last().copied().expect("a row");
        world.despawn(last).expect("it lives");
    }
}

#[test]
fn padding_is_zero_after_columns_of_one_row_behind_whole_vectors() {
    let mut world = world();
    world.spawn_batch((0..60).map(|_| Twelve([u32::MAX; 3])));
    world.clear();
    world.spawn_columns(&[Four(0); 16][..]).expect("room");
    world.spawn_columns(&[Four(0); 1][..]).expect("room");
    sound(&world);
    assert_eq!(read_padding(&world), 0);
}

#[test]
fn padding_of_a_block_that_was_never_used_is_initialised() {
    // Miri detects it; elsewhere fresh memory happens to be zero.
    let (mut batch, mut columns) = (world(), world());
    for rows in [16, 1, 15, 1] {
        batch.spawn_batch(std::iter::repeat_n(Four(0), rows));
        columns.spawn_columns(&vec![Four(0); rows][..]).expect("room");
        assert_eq!((read_padding(&batch), read_padding(&columns)), (0, 0));
    }
}

#[test]
fn padding_is_initialised_whatever_mixture_of_spawns_and_removals_came_before() {
    let (firsts, seconds): (&[usize], &[usize]) = if cfg!(miri) {
        (&[0, 16], &[1, 17])
    } else {
        (&[0, 1, 15, 16, 17, 33], &[0, 1, 2, 15, 16, 17])
    };
    for &first in firsts {
        for &second in seconds {
            let mut world = world();
            world.spawn_batch((0..40).map(|_| Twelve([u32::MAX; 3])));
            world.clear();
            let entities = world.spawn_batch((0..first).map(|_| (Four(0), Tag))).to_vec();
            for _ in 0..second {
                world.spawn((Four(0), Tag));
            }
            world
                .spawn_columns((&vec![Four(0); second][..], &vec![Tag; second][..]))
                .expect("even");
            for &entity in entities.iter().step_by(2) {
                world.despawn(entity).expect("it lives");
            }
            for &entity in entities.iter().skip(1).step_by(2) {
                world.remove::<Tag>(entity).expect("it has one");
            }
            sound(&world);
            assert_eq!(read_padding(&world), 0, "{first} then {second}");
        }
    }
}

#[test]
fn a_chunk_reused_by_another_archetype_shows_no_byte_of_the_old() {
    let mut world = world();
    let rows = if cfg!(miri) { 40 } else { 5_000 };
    for _ in 0..3 {
        world.spawn_batch((0..rows).map(|_| (Twelve([u32::MAX; 3]), Byte(255))));
        world.clear();
        for left in [1, 17, rows] {
            world.spawn_batch((0..left).map(|_| (Four(0), Byte(0))));
            assert_eq!(read_padding(&world), 0, "{left} rows by batch");
            world.clear();
            world.spawn_batch((0..rows).map(|_| (Twelve([u32::MAX; 3]), Byte(255))));
            world.clear();
            for _ in 0..left {
                world.spawn((Four(0), Byte(0)));
            }
            assert_eq!(read_padding(&world), 0, "{left} rows one by one");
            world.clear();
        }
    }
}
