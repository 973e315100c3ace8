//! Shared values in states as bytes: a state that is written and read is equal, and continues
//! alike.

use std::cell::Cell;
use std::hash::{Hash, Hasher};

use phalanx::chunks::PerChunk;
use phalanx::prelude::*;
use phalanx::snapshot::{ReadError, SnapshotError};
use phalanx::snapshot::{Snapshot, SnapshotReader};

use crate::common::components::{Big, Byte, Four, Nth, Other, Tag, Twelve, small_world, sound};
use crate::snapshot_steps::{Awake, Bounds, Chance, Team, Trace, change, steps};

/// A name; many names have the same hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub(crate) String);

impl Hash for Label {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
    }
}

pub(crate) fn number_of(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// Tells a world the encoding of teams and labels.
pub(crate) fn tell(world: &mut World) {
    world.shared_mut().encode(
        "team",
        |team: &Team, to| to.extend_from_slice(&team.0.to_ne_bytes()),
        |bytes| number_of(bytes).map(Team),
    );
    world.shared_mut().encode(
        "label",
        |label: &Label, to| to.extend_from_slice(label.0.as_bytes()),
        |bytes| Some(Label(std::str::from_utf8(bytes).ok()?.to_owned())),
    );
}

fn sender() -> World {
    let mut world = small_world();
    tell(&mut world);
    world
}

/// A world that knows all types, registered in another order, and has had other values.
fn reader() -> World {
    let mut world = small_world();
    let entity = world.spawn(());
    for i in 0..5 {
        world.insert_shared(entity, Label(format!("before {i}"))).expect("alive");
    }
    world.clear();
    world.memory_mut().retire_archetypes();
    world.register::<(Trace, Disabled, Other, PerChunk<Bounds>, Big, Nth<1>)>();
    tell(&mut world);
    world.register::<(Tag, Awake, Byte, Twelve, Four)>();
    world
}

/// A change that a number chooses: of values more often than of anything else.
fn change_values(world: &mut World, seed: u64) {
    let mut chance = Chance(seed ^ 0x5eed);
    chance.below(2);
    let all: Vec<Entity> =
        world.query::<Entity>().filter::<(IncludeHidden, IgnoreEnabled)>().rows().collect();
    let one = all.get(chance.below(all.len())).copied().unwrap_or(Entity::NULL);
    let number = chance.below(30);
    let label = || Label("abcd"[..number % 3].to_owned() + &number.to_string());
    match chance.below(10) {
        0 | 1 => _ = world.insert_shared(one, label()),
        2 => _ = world.remove_shared::<Label>(one),
        3 => _ = world.remove_shared::<Team>(one),
        4 => _ = world.matching::<&Awake>().insert_shared(label()),
        5 => {
            // More tags than are searched: tags of removed values are used again.
            let first = 1000 + 7 * u32::try_from(number).expect("small");
            for (team, &entity) in (first..).zip(all.iter().take(25)) {
                let _ = world.insert_shared(entity, Team(team));
            }
        }
        // The query matches no entity, so that only a tag is new.
        6 => _ = world.matching::<(&Big, &Four)>().insert_shared(label()),
        7 if number == 0 => world.clear(),
        _ => change(world, seed),
    }
}

/// Asserts that the states are equal in everything that a hash covers, and consistent.
#[track_caller]
fn same(mirror: &World, world: &World) {
    sound(mirror);
    assert_eq!((mirror.hash(), mirror.len()), (world.hash(), world.len()));
    assert!(mirror.shared::<Team>().iter().eq(world.shared::<Team>().iter()));
    assert!(mirror.shared::<Label>().iter().eq(world.shared::<Label>().iter()));
}

pub(crate) fn bytes_of(world: &mut World) -> Vec<u8> {
    world.snapshot().expect("no buffers").to_bytes().expect("they have a name")
}

/// Asserts that the state of the world has these bytes, except for the number by which deltas find
/// their base, and the checksum.
#[track_caller]
fn equal(world: &mut World, bytes: &[u8]) {
    let (own, end) = (bytes_of(world), bytes.len() - 8);
    assert_eq!(own.len(), bytes.len());
    assert!(own[..40] == bytes[..40] && own[48..end] == bytes[48..end], "equal states");
}

#[test]
fn values_are_read_as_they_were_written() {
    let (mut world, mut mirror) = (sender(), reader());
    let all = world.spawn_batch((0..60).map(Four)).to_vec();
    for (i, &entity) in (0..).zip(&all) {
        world.insert_shared(entity, Team(i % 3)).expect("alive");
        if i % 2 == 0 {
            world.insert_shared(entity, Label(format!("of {}", i % 4))).expect("alive");
        }
    }
    let state = mirror.read_snapshot(&bytes_of(&mut world)).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    same(&mirror, &world);
    for &entity in &all {
        assert_eq!(mirror.shared::<Team>().get(entity), world.shared::<Team>().get(entity));
        let label = |world: &World| world.shared::<Label>().get(entity).ok().cloned();
        assert_eq!(label(&mirror), label(&world));
    }
    assert_eq!(mirror.query::<&Four>().where_shared(&Team(1)).count_rows(), 20);
    // Types without values need no functions.
    assert!(mirror.spawn_batch([Four(1)]).len() == 1);
    mirror.clear();
    mirror.memory_mut().retire_archetypes();
    assert!(
        SnapshotReader::new(&mut small_world()).skip_unknown().read(&bytes_of(&mut mirror)).is_ok()
    );
}

#[test]
fn any_state_with_values_goes_on_as_it_would() {
    let (mut world, mut mirror) = (sender(), reader());
    for step in 0..steps() / if cfg!(miri) { 15 } else { 5 } {
        change_values(&mut world, step * 7);
        if step % 3 != 0 {
            continue;
        }
        let bytes = bytes_of(&mut world);
        let state = mirror.read_snapshot(&bytes).expect("it was written");
        if step % 2 == 0 {
            // Tags that were made for the state are given to values before it is restored.
            (0..4).for_each(|i| change_values(&mut mirror, step + i));
        }
        mirror.restore(&state).expect("it was read here");
        same(&mirror, &world);
        assert!(state.to_bytes().expect("it has a state") == bytes);
        equal(&mut mirror, &bytes);
        for i in 0..6 {
            change_values(&mut world, step + i * 1_000_000);
            change_values(&mut mirror, step + i * 1_000_000);
        }
        same(&mirror, &world);
        // The same tags are left, too.
        equal(&mut mirror, &bytes_of(&mut world));
        mirror.clear();
        if step % 4 == 0 {
            mirror.memory_mut().retire_archetypes();
        } else {
            let entity = mirror.spawn(());
            mirror.insert_shared(entity, Team(7)).expect("alive");
        }
    }
}

#[test]
fn a_state_that_is_read_and_not_restored_changes_nothing() {
    let [mut world, mut twin, mut other] = [sender(), sender(), sender()];
    for i in 0..10 {
        let entity = other.spawn(());
        other.insert_shared(entity, Team(i)).expect("alive");
    }
    let (few, bytes) = (bytes_of(&mut world), bytes_of(&mut other));
    for round in 0..3 {
        world.read_snapshot(&bytes).expect("it was written");
        world.read_snapshot(&few).expect("it was written");
        for i in 0..7 {
            for world in [&mut world, &mut twin] {
                let entity = world.spawn(());
                world.insert_shared(entity, Team(round * 10 + i)).expect("alive");
                world.insert_shared(entity, Label(format!("{}", i % 3))).expect("alive");
            }
        }
        same(&world, &twin);
        equal(&mut world, &bytes_of(&mut twin));
    }
}

#[test]
fn a_mirror_follows_values_by_deltas() {
    let (mut world, mut mirror) = (sender(), reader());
    // Kept by the sender, and by the receiver.
    let mut sent = world.snapshot().expect("no buffers");
    let mut state = mirror.read_snapshot(&bytes_of(&mut world)).expect("it was written");
    let mut chance = Chance(5);
    let mut older: Vec<Snapshot> = Vec::new();
    for step in 0..steps() / 2 {
        (0..chance.below(4) as u64).for_each(|i| change_values(&mut world, step * 9 + i));
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
        if chance.below(3) != 0 {
            world.snapshot_into(&mut sent).expect("no buffers");
        } else {
            // The unconfirmed one stays the base of the next.
            let bytes = sent.to_bytes().expect("they have a name");
            assert!(confirmed.to_bytes().expect("they have a name") == bytes, "it did not change");
            state = confirmed;
        }
        if step % 4 == 0 {
            // Both go on for a while, which does not count.
            let (fork, hash) = (world.snapshot().expect("no buffers"), world.hash());
            for i in 0..8 {
                change_values(&mut world, step + i * 77);
                change_values(&mut mirror, step + i * 77);
                same(&mirror, &world);
            }
            world.restore(&fork).expect("it is of this world");
            assert_eq!(world.hash(), hash);
        }
    }
}

#[test]
fn a_world_that_loaded_values_writes_deltas_from_them() {
    let (mut world, mut mirror) = (reader(), reader());
    for round in 0..if cfg!(miri) { 2 } else { 30 } {
        let (mut other, changes) = (sender(), if cfg!(miri) { 10 } else { 60 });
        (0..changes).for_each(|i| change_values(&mut other, round * 50 + i));
        let bytes = bytes_of(&mut other);
        let loaded = world.read_snapshot(&bytes).expect("it was written");
        world.restore(&loaded).expect("it was read here");
        (0..8).for_each(|i| change_values(&mut world, round + i));
        let delta = loaded.delta(&mut world).expect("no buffers");
        let mut state = mirror.read_snapshot(&bytes).expect("it was written");
        state.read_delta(&mut mirror, &delta).expect("it is the next");
        mirror.restore(&state).expect("it was read here");
        same(&mirror, &world);
        // A snapshot that was taken can be a base as well.
        let [mut taken, before] = [(); 2].map(|()| world.snapshot().expect("no buffers"));
        (0..8).for_each(|i| change_values(&mut world, round * 3 + i));
        let (delta, hash) = (before.delta(&mut world).expect("no buffers"), world.hash());
        taken.read_delta(&mut world, &delta).expect("it is the next");
        world.clear();
        world.restore(&taken).expect("it was read here");
        sound(&world);
        assert_eq!(world.hash(), hash);
    }
}

thread_local! {
    static ENCODED: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn a_delta_has_the_values_that_are_new() {
    let mut world = small_world();
    world.shared_mut().encode(
        "team",
        |team: &Team, to| {
            ENCODED.set(ENCODED.get() + 1);
            to.extend_from_slice(&team.0.to_ne_bytes());
            to.resize(if cfg!(miri) { 100 } else { 1000 }, 0);
        },
        |bytes| number_of(bytes.get(..4)?).map(Team),
    );
    let all = world.spawn_batch((0..50).map(Four)).to_vec();
    for (i, &entity) in (0..).zip(&all) {
        world.insert_shared(entity, Team(i)).expect("alive");
    }
    let before = world.snapshot().expect("no buffers");
    assert_eq!(ENCODED.take(), 0);
    let whole = before.to_bytes().expect("they have a name");
    assert_eq!(ENCODED.take(), 50);
    let nothing = before.delta(&mut world).expect("no buffers").len();
    assert_eq!(ENCODED.take(), 0);
    world.get_mut::<Four>(all[7]).expect("alive").0 = 1;
    assert!(before.delta(&mut world).expect("no buffers").len() < nothing + 500);
    assert_eq!(ENCODED.take(), 0, "of {} bytes", whole.len());
    world.insert_shared(all[7], Team(99)).expect("alive");
    world.insert_shared(all[8], Team(9)).expect("alive");
    world.insert_shared(all[8], Team(8)).expect("alive");
    before.delta(&mut world).expect("no buffers");
    assert_eq!(ENCODED.take(), 2, "a new one, and an equal one that came again");
}

#[test]
fn a_state_in_a_frame_has_values_too() {
    #[cfg(feature = "lz4")]
    {
        let (mut world, mut mirror) = (sender(), reader());
        let steps = if cfg!(miri) { 10 } else { 200 };
        (0..steps).for_each(|step| change_values(&mut world, step));
        let (saved, mut frame) = (world.snapshot().expect("no buffers"), Vec::new());
        saved.write_compressed(&mut frame).expect("a vector takes all");
        let mut state = mirror.read_snapshot(&frame).expect("it was written");
        (0..steps / 10).for_each(|step| change_values(&mut world, step));
        frame.clear();
        saved.write_compressed_delta(&mut world, &mut frame).expect("a vector takes all");
        state.read_delta(&mut mirror, &frame).expect("it is the next");
        mirror.restore(&state).expect("it was read here");
        same(&mirror, &world);
    }
}

#[test]
fn a_type_without_a_name_is_refused_while_archetypes_have_it() {
    let mut world = sender();
    let entity = world.spawn(Four(1));
    world.insert_shared(entity, Team(1)).expect("alive");
    assert!(world.snapshot().expect("no buffers").to_bytes().is_ok());
    world.insert_shared(entity, "no name").expect("alive");
    let state = world.snapshot().expect("no buffers");
    let error = SnapshotError::SharedValues { type_name: "&str" };
    assert_eq!(state.to_bytes(), Err(error));
    assert!(error.to_string().contains("`SharedValuesMut::encode`"), "{error}");
    assert_eq!(state.delta(&mut world), Err(error));
    world.remove_shared::<&str>(entity).expect("alive");
    assert_eq!(
        world.snapshot().expect("no buffers").to_bytes(),
        Err(error),
        "an archetype is left"
    );
    world.memory_mut().retire_archetypes();
    let bytes = bytes_of(&mut world);
    let mut other = small_world();
    other.register::<Four>();
    let unknown = other.read_snapshot(&bytes).expect_err("it does not know it");
    assert_eq!(unknown, ReadError::UnknownShared { name: "team".into() });
    assert!(unknown.to_string().contains("`SharedValuesMut::encode`"), "{unknown}");
}

#[test]
fn what_is_unknown_is_left_out_and_the_rest_is_made_anew() {
    mod then {
        #[phalanx::component(name = "health of shared")]
        pub(super) struct Health(pub(super) u32);
    }
    #[component(name = "health of shared")]
    struct Health {
        now: u32,
        max: u32,
    }
    let mut old = World::builder().chunk_size(ChunkSize::KIB_4).build();
    tell(&mut old);
    let all = old.spawn_batch((0..3000).map(then::Health)).to_vec();
    for (i, &entity) in (0_u32..).zip(&all) {
        if i % 3 > 0 {
            old.insert_shared(entity, Team(i % 3)).expect("alive");
        }
        if i % 2 > 0 {
            old.insert_shared(entity, Label(format!("{}", i % 4))).expect("alive");
        }
    }
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<Health>();
    world.shared_mut().encode(
        "team",
        |team: &Team, to| to.extend_from_slice(&team.0.to_ne_bytes()),
        |bytes| number_of(bytes).map(Team),
    );
    let make = |old: then::Health| Health { now: old.0, max: 100 };
    let refused =
        SnapshotReader::new(&mut world).migrate(make).read(&bytes).expect_err("no labels");
    assert_eq!(refused, ReadError::UnknownShared { name: "label".into() });
    let state = SnapshotReader::new(&mut world).migrate(make).skip_unknown().read(&bytes);
    let state = state.expect("the rest is known");
    world.restore(&state).expect("it was read here");
    sound(&world);
    let team = |world: &World, entity| world.shared::<Team>().get(entity).map(|team| team.0).ok();
    for (i, &entity) in (0..).zip(&all) {
        assert_eq!(team(&world, entity), team(&old, entity));
        assert_eq!(world.get::<Health>(entity).map(|health| health.now), Ok(i));
    }
    // Sets with and without a label have become one.
    assert_eq!(world.reflect().archetypes().filter(|archetype| !archetype.is_empty()).count(), 3);
    assert_eq!(world.shared::<Label>().iter().count(), 0);
    assert_eq!(world.shared::<Team>().iter().count(), 2);
    // The values are found.
    world.insert_shared(all[0], Team(1)).expect("alive");
    assert_eq!(world.shared::<Team>().iter().count(), 2);
    // With both types known, bit for bit but for the chunks.
    tell(&mut world);
    let state = SnapshotReader::new(&mut world).migrate(make).read(&bytes).expect("all is known");
    world.restore(&state).expect("it was read here");
    sound(&world);
    assert!(world.shared::<Label>().iter().eq(old.shared::<Label>().iter()));
}
