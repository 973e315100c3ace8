//! Bytes that are not a valid state: cut, flipped, spliced, and with a matching checksum
//! nevertheless.

use phalanx::chunks::{PerChunk, PerChunkMut};
use phalanx::prelude::*;
use phalanx::snapshot::ReadError;
use xxhash_rust::xxh3::xxh3_64;

use crate::common::components::{Four, Tag, Twelve, small_world, sound};
use crate::common::effort::effort;
use crate::snapshot_steps::{Awake, Chance, Trace};

#[component]
#[derive(Debug, PartialEq)]
enum State {
    Idle,
    Running = 7,
}
#[component]
struct Door {
    is_open: bool,
    rest: [u8; 3],
}
#[component]
struct Seen {
    by: [bool; 2],
}
#[component(split)]
struct Place {
    x: f32,
    y: f32,
}

/// A world with a little of everything that bytes can lie about.
fn world() -> World {
    let mut world = small_world();
    let all = world.spawn_batch((0..40).map(|i| (Four(i), Awake(i), State::Running))).to_vec();
    world.spawn_batch([(Door::default(), Place::default(), Tag); 3]);
    world.spawn((Twelve([1; 3]), PerChunk::<Seen>::TAG));
    for mut seen in world.query_mut::<PerChunkMut<Seen>>() {
        *seen = Seen { by: [true, false] };
    }
    world.set_enabled::<Awake>(all[3], false).expect("alive");
    world.insert(all[5], Trace(7)).expect("room");
    world.despawn(all[5]).expect("alive");
    world.despawn(all[9]).expect("alive");
    world.despawn(all[8]).expect("alive");
    world.get_mut::<Four>(all[30]).expect("alive").0 = 9;
    world
}

fn bytes_of(world: &mut World) -> Vec<u8> {
    world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared")
}

/// Gives bytes a matching checksum.
pub(crate) fn sign(bytes: &mut [u8]) {
    if let Some((contents, checksum)) = bytes.split_last_chunk_mut::<8>() {
        *checksum = xxh3_64(contents).to_ne_bytes();
    }
}

/// Bytes with one byte changed, with a matching checksum: each byte in one of four ways, or with
/// more effort in several.
pub(crate) fn flipped(bytes: &[u8], step: usize) -> impl Iterator<Item = Vec<u8>> {
    flipped_in(effort(1), bytes, step)
}

/// [`flipped`], in a number of ways.
pub(crate) fn flipped_in(ways: u32, bytes: &[u8], step: usize) -> impl Iterator<Item = Vec<u8>> {
    const CHANGES: [u8; 4] = [1, 128, 255, 2];
    let all = (0..bytes.len() - 8).step_by(step);
    let ways = CHANGES.len().min(ways as usize);
    all.flat_map(move |at| (0..ways).map(move |way| (at, way))).map(|(at, way)| {
        let mut hostile = bytes.to_vec();
        // Numbers have four bytes: each of these comes to be changed in each way.
        hostile[at] ^= CHANGES[(at + at / 4 + way) % CHANGES.len()];
        sign(&mut hostile);
        hostile
    })
}

/// Reads arbitrary bytes. A state that was read can be restored, and is consistent. Returns whether
/// it was read.
fn is_read(mirror: &mut World, bytes: &[u8]) -> bool {
    let Ok(state) = mirror.read_snapshot(bytes) else { return false };
    mirror.restore(&state).expect("it was read here");
    sound(mirror);
    for row in mirror.query::<(&State, &Awake)>().filter::<IgnoreEnabled>().rows() {
        let _ = format!("{row:?}");
    }
    for seen in mirror.query::<PerChunk<Seen>>().iter() {
        assert!(seen.by.iter().all(|&by| u8::from(by) < 2));
    }
    mirror.spawn_batch([(Four(1), Awake(2), State::Idle); 3]);
    mirror.query_mut::<&mut Four>().into_iter().flatten().for_each(|four| four.0 ^= 1);
    sound(mirror);
    true
}

#[test]
fn damage_is_found_by_the_checksum() {
    let mut world = world();
    let bytes = bytes_of(&mut world);
    let step = if cfg!(miri) { 1_009 } else { 1 };
    for at in (0..bytes.len()).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(world.read_snapshot(&damaged).is_err(), "byte {at} is another one");
        assert!(world.read_snapshot(&bytes[..at]).is_err(), "{at} bytes of {}", bytes.len());
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(world.read_snapshot(&longer).unwrap_err(), ReadError::Checksum);
    assert_eq!(world.read_snapshot(&[]).unwrap_err(), ReadError::NotAState);
    assert_eq!(world.read_snapshot(b"PHALANX?").unwrap_err(), ReadError::NotAState);
    assert_eq!(world.read_snapshot(&[7; 1000]).unwrap_err(), ReadError::NotAState);
}

#[test]
fn the_other_byte_order_and_other_formats_are_told() {
    let mut world = world();
    let bytes = bytes_of(&mut world);
    let mut other = bytes.clone();
    other[8..12].reverse();
    sign(&mut other);
    assert_eq!(world.read_snapshot(&other).unwrap_err(), ReadError::ByteOrder);
    let mut earlier = bytes;
    earlier[12..16].copy_from_slice(&3u32.to_ne_bytes());
    sign(&mut earlier);
    let error = ReadError::Format { found: 3, known: 6 };
    assert_eq!(world.read_snapshot(&earlier).unwrap_err(), error);
}

#[test]
fn bytes_with_a_checksum_are_refused_or_sound() {
    let (mut world, mut mirror) = (world(), world());
    let bytes = bytes_of(&mut world);
    assert!(is_read(&mut mirror, &bytes));
    let mut read = 0;
    // The bytes are the same in chunks of any size, and a large chunk takes long to clear.
    let step = match mirror.chunk_size().bytes() {
        _ if cfg!(miri) => 1_499,
        0..=16_384 => 1,
        _ => 5,
    };
    for hostile in flipped(&bytes, step) {
        read += usize::from(is_read(&mut mirror, &hostile));
    }
    // Most bytes are cells of numbers, and any number is one.
    assert!(read > 100 || cfg!(miri), "{read} were read");
}

#[test]
fn bytes_that_are_cut_spliced_and_overwritten_are_refused_or_sound() {
    let (mut world, mut mirror) = (world(), world());
    let bytes = bytes_of(&mut world);
    let mut chance = Chance(3);
    for round in 0..if cfg!(miri) { 8 } else { effort(5_000) } {
        let mut hostile = bytes.clone();
        for _ in 0..=chance.below(3) {
            let (at, len) = (chance.below(hostile.len()), 1 + chance.below(24));
            let end = (at + len).min(hostile.len());
            match chance.below(5) {
                0 => drop(hostile.drain(at..end)),
                1 => {
                    let from = chance.below(bytes.len() - len);
                    drop(hostile.splice(at..at, bytes[from..from + len].iter().copied()));
                }
                2 => hostile[at..end].fill([0, 255, 1][chance.below(3)]),
                3 => {
                    let number = [u32::MAX, 1 << 31, 1 << 16, 0, 1][chance.below(5)].to_ne_bytes();
                    let at = at / 4 * 4;
                    let end = (at + 4).min(hostile.len());
                    hostile[at..end].copy_from_slice(&number[..end - at]);
                }
                _ => {
                    let (from, at) = (chance.below(bytes.len() - len), at.min(bytes.len() - len));
                    let end = (at + len).min(hostile.len());
                    if at < end {
                        hostile[at..end].copy_from_slice(&bytes[from..from + end - at]);
                    }
                }
            }
        }
        sign(&mut hostile);
        let before = mirror.len();
        if !is_read(&mut mirror, &hostile) {
            assert_eq!(mirror.len(), before, "round {round}");
        }
    }
}

#[test]
fn deltas_with_a_checksum_are_refused_or_sound() {
    let (mut world, mut mirror) = (world(), world());
    let base = world.snapshot().expect("no buffers");
    let whole = base.to_bytes().expect("nothing is shared");
    world.spawn_batch((0..20).map(|i| (Four(i), Awake(i), State::Idle)));
    let first = world.query::<Entity>().rows().next().expect("there are some");
    world.despawn(first).expect("alive");
    world.query_mut::<&mut Twelve>().into_iter().flatten().for_each(|cells| cells.0[1] += 1);
    let delta = base.delta(&mut world).expect("no buffers");
    let step = if cfg!(miri) { 499 } else { 1 };
    for hostile in flipped(&delta, step) {
        let mut state = mirror.read_snapshot(&whole).expect("it was written");
        if state.read_delta(&mut mirror, &hostile).is_err() {
            assert!(state.to_bytes().expect("it has a state") == whole, "nothing has changed");
        }
        mirror.restore(&state).expect("it was read here");
        sound(&mirror);
    }
}
