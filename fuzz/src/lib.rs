//! Shared code of both targets: a world with every kind of data that bytes can contradict, the way
//! from a fuzzer's input to a state, and the required properties of a state that was read.
//!
//! A checksum protects from chance, and would reject the inputs of a fuzzer. So the targets append
//! the matching checksum to each input. The first byte chooses the meaning of the rest: the bytes
//! of a state, or edits of a written state.

use std::hash::{Hash, Hasher};

use phalanx::prelude::*;
use phalanx::chunks::{PerChunk, PerChunkMut};
use xxhash_rust::xxh3::xxh3_64;

#[component(lines)]
#[derive(Debug)]
pub struct Health(pub u32);
#[component(enableable)]
#[derive(Debug)]
pub struct Awake(pub u16);
#[component]
#[derive(Debug)]
pub enum State { Idle, Running = 7 }
#[component]
pub struct Door { is_open: bool, rest: [u8; 3] }
#[component(split)]
pub struct Place { pub x: f32, pub y: f32 }
#[component(cleanup)]
pub struct Trace(pub u32);
#[component(hidden)]
pub struct Pooled;
#[component]
#[derive(Debug)]
pub struct Seen { by: [bool; 2] }

/// A sparse component of plain data.
#[component(sparse)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[bytemuck(crate = "phalanx::bytemuck")]
#[repr(C)]
pub struct Burning { pub left: u32 }
#[relation(tree)]
pub struct ChildOf;
#[relation]
pub struct Target;
/// A relation with an order of its sources.
#[relation(tree, ordered)]
pub struct SlotOf;
/// A relation to many: both lists of pairs are part of the bytes.
#[relation(many)]
pub struct Likes { pub weight: u32 }

/// A value that entities share. Its bytes may be wrong, and many values have the same hash.
#[derive(Debug, PartialEq, Eq)]
pub struct Team(pub u16);

impl Hash for Team {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 % 4).hash(state);
    }
}

/// A small world with some of everything.
///
/// # Panics
///
/// If the library is broken.
#[must_use]
pub fn world() -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).entities_max(1 << 16).build();
    let all = world.spawn_batch((0..40).map(|i| (Health(i), Awake(1), State::Running))).to_vec();
    world.spawn_batch([(Door::default(), Place::default()); 3]);
    world.spawn((Health(7), PerChunk::<Seen>::TAG, Pooled));
    for mut seen in world.query_mut::<PerChunkMut<Seen>>() {
        *seen = Seen { by: [true, false] };
    }
    world.set_enabled::<Awake>(all[3], false).expect("it is alive");
    world.shared_mut().encode(
        "team",
        |team: &Team, to| to.extend_from_slice(&team.0.to_le_bytes()),
        |bytes| Some(Team(u16::from_le_bytes(bytes.try_into().ok()?))),
    );
    for (number, &entity) in (0..20).zip(&all[10..]) {
        world.insert_shared(entity, Team(number)).expect("it is alive");
        world.insert_shared(entity, Team(number % 5)).expect("it is alive");
    }
    world.memory_mut().retire_archetypes();
    world.insert_shared(all[11], Team(77)).expect("it is alive");
    world.remove_shared::<Team>(all[11]).expect("it has one");
    world.insert(all[5], Trace(7)).expect("it is alive");
    for (number, &entity) in (0..9).zip(&all[20..]) {
        let (burning, parent) = (Burning { left: number }, all[10 + number as usize / 3]);
        world.insert(entity, (burning, ChildOf::of(parent))).expect("no cycle");
        world.insert(parent, Target::of(entity)).expect("both are alive");
        let (slot, likes) = (SlotOf::of(all[30]).at(number as usize / 2), Likes { weight: number });
        world.insert(entity, (slot, likes.of(parent))).expect("no cycle");
        world.insert(entity, likes.of(all[20])).expect("both are alive");
    }
    for i in [5, 9, 8] {
        world.despawn(all[i]).expect("it is alive");
    }
    world
}

/// The bytes of an input, with a matching checksum.
#[must_use]
pub fn signed(input: &[u8], written: &[u8]) -> Vec<u8> {
    let written = &written[..written.len() - size_of::<u64>()];
    let mut bytes = match input.split_first() {
        None => Vec::new(),
        Some((0, rest)) => rest.to_vec(),
        Some((_, edits)) => edited(edits, written.to_vec()),
    };
    bytes.extend(xxh3_64(&bytes).to_ne_bytes());
    bytes
}

/// Applies edits of six bytes: a kind, a length, a position (two), and a value (two).
fn edited(edits: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    for &[kind, len, at_low, at_high, low, high] in edits.as_chunks::<6>().0 {
        let at = usize::from(u16::from_le_bytes([at_low, at_high])) % (bytes.len() + 1);
        let end = (at + usize::from(len)).min(bytes.len());
        match kind % 5 {
            0 => bytes[at..end].fill(low),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, (0..len).map(|_| low))),
            3 => {
                let from = usize::from(u16::from_le_bytes([low, high])) % (bytes.len() + 1);
                let len = (end - at).min(bytes.len() - from);
                bytes.copy_within(from..from + len, at);
            }
            _ => {
                let number = u32::from_le_bytes([low, high, 0, 0]).to_ne_bytes();
                let len = (bytes.len() - at).min(number.len());
                bytes[at..at + len].copy_from_slice(&number[..len]);
            }
        }
    }
    bytes
}

/// Uses a restored world in every way that could meet inconsistent data.
///
/// # Panics
///
/// If the world contradicts itself.
pub fn use_up(world: &mut World) {
    world.check().expect("a state that was read is sound");
    for row in world.query::<(&State, &Awake)>().filter::<(IncludeHidden, IgnoreEnabled)>().rows() {
        assert!(matches!(row.0, State::Idle | State::Running));
    }
    for door in world.query::<&Door>().filter::<IncludeHidden>().iter().flatten() {
        assert!(u8::from(door.is_open) < 2);
    }
    for seen in world.query::<PerChunk<Seen>>().filter::<IncludeHidden>().iter() {
        assert!(seen.by.iter().all(|&by| u8::from(by) < 2));
    }
    world.query_mut::<&mut Health>().into_iter().flatten().for_each(|health| health.0 ^= 1);
    world.spawn_batch([(Health(1), Awake(2), State::Idle); 20]);
    let all: Vec<Entity> = world.query::<Entity>().filter::<(IncludeHidden, IgnoreEnabled)>().rows().collect();
    for (number, &entity) in (0..).zip(&all) {
        let _ = world.insert_shared(entity, Team(number % 7));
    }
    for (number, &entity) in all.iter().enumerate() {
        let _ = world.insert(entity, ChildOf::of(all[number / 2]));
        let _ = world.remove::<Burning>(all[all.len() - 1 - number]);
        let _ = world.insert(entity, Target::of(all[number]));
        let _ = world.insert(entity, SlotOf::of(all[number / 3]).at(number % 4));
        let _ = world.insert(entity, Likes { weight: 1 }.of(all[number / 2]));
        if let Ok(mut likes) = world.get_mut::<Likes>(all[number / 4]) {
            let _ = likes.remove(all[number / 8]);
        }
    }
    for &entity in all.iter().step_by(3) {
        let _ = world.insert(entity, Trace(1));
        let _ = world.despawn(entity);
    }
    world.check().expect("it stays sound");
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("teams have a name");
    let hash = world.hash();
    let state = world.read_snapshot(&bytes).expect("it was written");
    world.clear();
    world.restore(&state).expect("it was read here");
    assert_eq!(world.hash(), hash, "what is written is read");
}
