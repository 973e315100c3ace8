//! Snapshots and deltas as bytes: a state that is written and read is equal.

use std::io;

use phalanx::Bundle;
use phalanx::chunks::PerChunk;
use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;
use phalanx::snapshot::{ReadError, SnapshotError};

use crate::common::components::{
    Big, Byte, Four, Nth, Other, Tag, Text, Twelve, small_world, sound,
};
use crate::snapshot_steps::{Awake, Bounds, Chance, Team, Trace, change_or_share, steps};

/// A world that knows the components of the random changes, registered in another order.
pub(crate) fn reader() -> World {
    let mut world = small_world();
    world.register::<(Trace, Disabled, Other, PerChunk<Bounds>, Big, Nth<1>)>();
    world.register::<(Tag, Awake, Byte, Twelve, Four)>();
    world
}

/// Asserts that the states are equal in everything that a hash covers, and consistent.
#[track_caller]
fn same(mirror: &World, world: &World) {
    sound(mirror);
    assert_eq!((mirror.hash(), mirror.len()), (world.hash(), world.len()));
}

#[test]
fn any_state_is_read_as_it_was_written() {
    let (mut world, mut mirror) = (small_world(), reader());
    for step in 0..steps() / 3 {
        change_or_share(&mut world, step * 7, false);
        if step % 20 != 0 {
            continue;
        }
        let bytes = world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
        let state = mirror.read_snapshot(&bytes).expect("it was written");
        assert_eq!((state.len(), mirror.is_empty()), (world.len(), step == 0), "it is only read");
        mirror.restore(&state).expect("it was read here");
        same(&mirror, &world);
        assert!(state.to_bytes().expect("it has a state") == bytes);
        let again = mirror.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
        // Except for the number by which deltas find their base, and the checksum.
        let is_other = |i: &usize| again[*i] != bytes[*i];
        let mut differ = (0..bytes.len()).filter(is_other);
        assert!(again.len() == bytes.len());
        assert!(differ.all(|i| (40..48).contains(&i) || i >= bytes.len() - 8), "equal states");
        // Both go on alike.
        change_or_share(&mut world, step + 1_000_000, false);
        change_or_share(&mut mirror, step + 1_000_000, false);
        same(&mirror, &world);
        mirror.clear();
        if step % 40 == 0 {
            mirror.memory_mut().retire_archetypes();
        } else {
            mirror.spawn(());
        }
        mirror.spawn_batch([(Four(1), Tag); 10]);
    }
}

#[test]
fn a_mirror_follows_by_deltas() {
    let (mut world, mut mirror) = (small_world(), reader());
    // Kept by the sender, and by the receiver.
    let mut sent = world.snapshot().expect("no buffers");
    let bytes = sent.to_bytes().expect("nothing is shared");
    let mut state = mirror.read_snapshot(&bytes).expect("it was written");
    let mut chance = Chance(5);
    let mut older: Vec<Snapshot> = Vec::new();
    for step in 0..steps() / 2 {
        (0..chance.below(4) as u64).for_each(|i| change_or_share(&mut world, step * 9 + i, false));
        match chance.below(8) {
            0 => older.push(world.snapshot().expect("no buffers")),
            1 if !older.is_empty() => {
                world.restore(&older[chance.below(older.len())]).expect("it is of this world");
            }
            _ => {}
        }
        older.truncate(4);
        let delta = sent.delta(&mut world).expect("no buffers");
        let confirmed = state.clone();
        state.read_delta(&mut mirror, &delta).expect("it is the next");
        mirror.restore(&state).expect("it was read here");
        same(&mirror, &world);
        if !world.version().to_bits().is_multiple_of(3) {
            world.snapshot_into(&mut sent).expect("no buffers");
        } else {
            // The unconfirmed one stays the base of the next.
            let bytes = sent.to_bytes().expect("nothing is shared");
            assert!(confirmed.to_bytes().expect("nothing is shared") == bytes, "it did not change");
            state = confirmed;
        }
    }
}

#[test]
fn a_delta_of_a_past_that_did_not_happen_is_refused() {
    let (mut world, mut mirror) = (small_world(), reader());
    let entity = world.spawn(Four(0));
    let start = world.snapshot().expect("no buffers");
    world.get_mut::<Four>(entity).expect("alive").0 = 1;
    let first = world.snapshot().expect("no buffers");
    world.restore(&start).expect("it is of this world");
    world.get_mut::<Four>(entity).expect("alive").0 = 2;
    // With the age and the number of rows of the first.
    let second = world.snapshot().expect("no buffers");
    world.spawn(());
    let delta = second.delta(&mut world).expect("no buffers");
    let mut read = |state: &Snapshot| {
        mirror.read_snapshot(&state.to_bytes().expect("nothing is shared")).expect("it was written")
    };
    let [mut first, mut second] = [read(&first), read(&second)];
    assert_eq!(first.read_delta(&mut mirror, &delta), Err(ReadError::OtherBase));
    assert_eq!(second.read_delta(&mut mirror, &delta), Ok(()));
    mirror.restore(&second).expect("it was read here");
    same(&mirror, &world);
}

#[test]
fn a_world_that_loaded_a_state_writes_deltas_from_it() {
    let (mut world, mut mirror) = (reader(), reader());
    for round in 0..if cfg!(miri) { 2 } else { 20 } {
        let mut other = small_world();
        (0..30).for_each(|i| change_or_share(&mut other, round * 50 + i, false));
        let bytes = other.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
        let loaded = world.read_snapshot(&bytes).expect("it was written");
        world.restore(&loaded).expect("it was read here");
        (0..5).for_each(|i| change_or_share(&mut world, round + i, false));
        let delta = loaded.delta(&mut world).expect("no buffers");
        let mut state = mirror.read_snapshot(&bytes).expect("it was written");
        state.read_delta(&mut mirror, &delta).expect("it is the next");
        mirror.restore(&state).expect("it was read here");
        same(&mirror, &world);
        // A snapshot that was taken can be a base as well.
        let mut taken = world.snapshot().expect("no buffers");
        let before = world.snapshot().expect("no buffers");
        change_or_share(&mut world, round, false);
        let (delta, hash) = (before.delta(&mut world).expect("no buffers"), world.hash());
        taken.read_delta(&mut world, &delta).expect("it is the next");
        world.clear();
        world.restore(&taken).expect("it was read here");
        sound(&world);
        assert_eq!(world.hash(), hash);
        world.restore(&before).expect("it is of this world");
    }
}

#[test]
fn a_delta_has_the_lines_that_differ() {
    let mut world = small_world();
    let rows = if cfg!(miri) { 600 } else { 100_000 };
    let all = world.spawn_batch((0..rows).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    let before = world.snapshot().expect("no buffers");
    let whole = before.to_bytes().expect("nothing is shared").len();
    let overhead = before.delta(&mut world).expect("no buffers").len();
    assert!(overhead < 300, "{overhead} bytes for nothing");
    world.get_mut::<Four>(all[77]).expect("alive").0 = 1;
    let one = before.delta(&mut world).expect("no buffers").len();
    assert!(one - overhead < 16 * 4 + 80, "{} bytes for a line", one - overhead);
    // The same bytes again, with newer versions.
    world.query_mut::<&mut Twelve>().into_iter().flatten().for_each(|cells| cells.0[0] ^= 0);
    let versions = before.delta(&mut world).expect("no buffers").len();
    assert!(versions < whole / 10, "{versions} bytes of versions, {whole} of rows");
    let gone = all.iter().step_by(100).take(10);
    gone.for_each(|&entity| world.despawn(entity).expect("alive"));
    let fewer = before.delta(&mut world).expect("no buffers").len();
    assert!(fewer < whole / 4 || cfg!(miri), "{fewer} bytes after ten despawns, {whole} of rows");
}

#[test]
fn who_holds_a_version_is_told_that_all_is_new() {
    let (mut world, mut mirror) = (small_world(), reader());
    world.spawn_batch([Four(7); 100]);
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
    let entity = mirror.spawn(Four(7));
    mirror.insert(entity, Text::from("of another entity")).expect("alive");
    let seen = [Version::NEVER.to_bits(), 1, 2, 1000].map(Version::from_bits);
    let own = mirror.version();
    let state = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    let count = |world: &World, since| world.query::<&Four>().changed_since(since).count_rows();
    for since in seen.into_iter().filter(|&seen| seen < mirror.version()).chain([own]) {
        assert_eq!(count(&mirror, since), 100);
    }
    assert_eq!(count(&mirror, mirror.version()), 0);
    assert_eq!(mirror.sparse::<Text>().iter().count(), 0);
    assert!(mirror.version() > own);
}

mod then {
    #[phalanx::component(name = "speed")]
    pub(super) struct Speed {
        x: f32,
    }
    #[phalanx::component(name = "size")]
    pub(super) struct Size {
        x: f32,
        y: f32,
    }
    #[phalanx::component(name = "state")]
    pub(super) enum State {
        Idle,
        Dead,
    }
    #[phalanx::component(name = "flag")]
    pub(super) struct Flag(u8);
    #[phalanx::component(name = "count")]
    pub(super) struct Count(u32);
}
mod now {
    #[phalanx::component(name = "speed")]
    pub(super) struct Speed {
        x: f32,
        y: f32,
    }
    #[phalanx::component(name = "size")]
    pub(super) struct Size {
        y: f32,
        x: f32,
    }
    #[phalanx::component(name = "state")]
    pub(super) enum State {
        Idle,
        Dead,
        Gone,
    }
    #[phalanx::component(enableable, name = "flag")]
    pub(super) struct Flag(u8);
    #[phalanx::component(name = "count")]
    pub(super) struct Count(f32);
}

#[test]
fn a_component_that_is_defined_in_another_way_is_refused() {
    use then::*;
    fn written<B: Bundle + Default>() -> Vec<u8> {
        let mut world = small_world();
        world.spawn(B::default());
        world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared")
    }
    let mut other = small_world();
    other.register::<(now::Speed, now::Size, now::State, now::Flag, now::Count)>();
    let mut same = small_world();
    same.register::<(Speed, Size, State, Flag, Count)>();
    for bytes in [
        written::<Speed>(),
        written::<Size>(),
        written::<State>(),
        written::<Flag>(),
        written::<Count>(),
    ] {
        assert!(same.read_snapshot(&bytes).is_ok());
        let refused = other.read_snapshot(&bytes);
        assert!(matches!(refused, Err(ReadError::OtherComponent { .. })), "{refused:?}");
    }
}

#[test]
fn what_is_of_another_world_is_refused() {
    let mut world = small_world();
    world.spawn((then::Speed::default(), Four(1)));
    let state = world.snapshot().expect("no buffers");
    let bytes = state.to_bytes().expect("nothing is shared");
    let unknown = reader().read_snapshot(&bytes);
    assert_eq!(unknown.unwrap_err(), ReadError::UnknownComponent { name: "speed".into() });
    let mut other = reader();
    other.register::<now::Speed>();
    let error = ReadError::OtherComponent { name: "speed".into(), found: 4, own: 8 };
    assert_eq!(other.read_snapshot(&bytes).unwrap_err(), error);
    let kib = ChunkSize::ALL.into_iter().find(|&size| size != world.chunk_size());
    let mut larger = World::builder().chunk_size(kib.expect("there are seven")).build();
    assert!(matches!(larger.read_snapshot(&bytes), Err(ReadError::ChunkSize { .. })));
    let mut few = World::builder().chunk_size(world.chunk_size()).entities_max(1).build();
    few.register::<(then::Speed, Four)>();
    assert!(few.read_snapshot(&bytes).is_ok());
    world.spawn(());
    let more = world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
    assert!(matches!(few.read_snapshot(&more), Err(ReadError::Invalid { .. })));

    let delta = state.delta(&mut world).expect("no buffers");
    assert_eq!(world.read_snapshot(&delta).unwrap_err(), ReadError::Kind { is_delta: true });
    let mut into = world.snapshot().expect("no buffers");
    assert_eq!(into.read_delta(&mut world, &bytes), Err(ReadError::Kind { is_delta: false }));
    assert_eq!(into.read_delta(&mut world, &delta), Err(ReadError::OtherBase));
    assert_eq!(Snapshot::new().read_delta(&mut world, &delta), Err(ReadError::NoBase));
    assert_eq!(into.read_delta(&mut reader(), &delta), Err(ReadError::NoBase));
    assert_eq!(into.delta(&mut reader()), Err(SnapshotError::OtherWorld));
    assert_eq!(Snapshot::new().delta(&mut world), Err(SnapshotError::NeverTaken));
    assert_eq!(Snapshot::new().to_bytes(), Err(SnapshotError::NeverTaken));
}

#[test]
fn a_delta_that_cannot_be_written_is_an_error() {
    let mut world = small_world();
    let state = world.snapshot().expect("no buffers");
    world.spawn(Byte(1));
    let delta = state.delta(&mut world).expect("no buffers");
    for room in 0..delta.len() {
        let mut message = vec![0; room];
        let error = state.write_delta(&mut world, &mut message[..]).expect_err("it is too long");
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
        assert_eq!(message, delta[..room], "what there was room for");
    }
    let error = Snapshot::new().write_delta(&mut world, Vec::new()).expect_err("no state");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert_eq!(error.to_string(), SnapshotError::NeverTaken.to_string());
}

#[test]
fn shared_values_have_no_bytes() {
    let mut world = small_world();
    let entity = world.spawn(Four(1));
    let before = world.snapshot().expect("no buffers");
    world.insert_shared(entity, Team(1)).expect("room");
    let state = world.snapshot().expect("no buffers");
    let refused = |error: &SnapshotError| matches!(error, SnapshotError::SharedValues { .. });
    assert!(state.to_bytes().is_err_and(|error| refused(&error)));
    assert!(before.delta(&mut world).is_err_and(|error| refused(&error)));
    let error = state.write_to(Vec::new()).expect_err("they are shared");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    world.remove_shared::<Team>(entity).expect("alive");
    world.memory_mut().retire_archetypes();
    assert!(world.snapshot().expect("no buffers").to_bytes().is_ok());
}
