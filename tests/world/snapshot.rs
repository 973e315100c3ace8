//! Snapshots: a restored world equals its former state, and reports the right changes.

use std::collections::BTreeMap;

use phalanx::HashCache;
use phalanx::chunks::{PerChunk, PerChunkMut};
use phalanx::prelude::*;
use phalanx::snapshot::SnapshotError;
use phalanx::snapshot::{Snapshot, SnapshotRing};

use crate::common::components::{Byte, Four, Other, Tag, Text, Twelve, small_world, sound};
use crate::snapshot_steps::{Awake, Bounds, Chance, Team, Trace, change, steps};

#[test]
fn any_state_can_be_put_back_any_number_of_times() {
    let mut world = small_world();
    let mut cache = HashCache::new();
    let mut chance = Chance(7);
    let mut kept: Vec<(Snapshot, u64, usize)> = Vec::new();
    for step in 0..steps() {
        change(&mut world, step);
        match chance.below(8) {
            0 if kept.len() < 5 => {
                let snapshot = world.snapshot().expect("no buffers");
                kept.push((snapshot, world.hash(), world.len()));
            }
            1 if !kept.is_empty() => {
                let at = chance.below(kept.len());
                let (snapshot, hash, len) = &mut kept[at];
                world.snapshot_into(snapshot).expect("no buffers");
                (*hash, *len) = (world.hash(), world.len());
            }
            2 | 3 if !kept.is_empty() => {
                let (snapshot, hash, len) = &kept[chance.below(kept.len())];
                world.restore(snapshot).expect("it is of this world");
                sound(&world);
                assert_eq!((world.hash(), world.len(), snapshot.len()), (*hash, *len, *len));
                assert_eq!(cache.hash(&world), *hash, "a cache is not deceived");
            }
            _ => {}
        }
        if step % 50 == 0 {
            sound(&world);
            assert_eq!(cache.hash(&world), world.hash());
        }
    }
    assert!(kept.len() == 5 || cfg!(miri));
}

#[test]
fn a_clone_is_the_same_state_and_stays_it() {
    let mut world = small_world();
    for round in 0..steps() / 40 {
        (0..20).for_each(|i| change(&mut world, round * 20 + i));
        let mut snapshot = world.snapshot().expect("no buffers");
        let (hash, copy) = (world.hash(), snapshot.clone());
        assert_eq!((copy.len(), copy.version()), (snapshot.len(), snapshot.version()));
        (20..30).for_each(|i| change(&mut world, round * 20 + i));
        world.snapshot_into(&mut snapshot).expect("no buffers");
        // With it the values that it kept alive are dropped.
        drop(snapshot);
        world.clear();
        for _ in 0..2 {
            world.restore(&copy).expect("it is of this world");
            sound(&world);
            assert_eq!((world.hash(), world.len()), (hash, copy.len()));
            change(&mut world, round);
        }
    }
}

#[test]
fn steps_that_are_taken_again_end_in_the_same_state() {
    let rounds = if cfg!(miri) { 12 } else { 200 };
    let mut straight = small_world();
    let mut hashes = Vec::new();
    for step in 0..rounds {
        // Taking a snapshot spawns reserved ids.
        straight.snapshot().expect("no buffers");
        change(&mut straight, step);
        hashes.push(straight.hash());
    }
    let mut world = small_world();
    let mut states = SnapshotRing::new(8);
    let mut chance = Chance(3);
    let (mut step, mut turns, mut kept) = (0, 0, Vec::new());
    while step < rounds {
        states.push(&mut world).expect("no buffers");
        kept.push(step);
        // A wrong turn is undone: the input comes late.
        let late = turns < 400 && chance.below(3) == 0;
        change(&mut world, if late { step + 1_000_000 } else { step });
        assert!(
            late || world.hash() == hashes[usize::try_from(step).expect("small")],
            "step {step}"
        );
        if late {
            (0..chance.below(4) as u64).for_each(|i| change(&mut world, step + i));
            let back = chance.below(states.len());
            states.restore(&mut world, back).expect("it is kept");
            sound(&world);
            kept.truncate(kept.len() - back);
            step = kept[kept.len() - 1];
        } else {
            step += 1;
        }
        turns += 1;
    }
    assert_eq!(Some(&world.hash()), hashes.last());
    assert!(states.len() <= 8);
}

/// The values that a holder of a version has seen.
fn values(world: &World) -> BTreeMap<Entity, u32> {
    let rows = world.query::<(Entity, &Four)>().filter::<IncludeHidden>();
    rows.rows().map(|(entity, four)| (entity, four.0)).collect()
}

#[test]
fn holders_of_any_version_are_told_what_changed_for_them() {
    let mut world = small_world();
    let mut chance = Chance(11);
    let mut states: Vec<Snapshot> = Vec::new();
    let mut holders: Vec<(Version, BTreeMap<Entity, u32>)> = Vec::new();
    for step in 0..steps() / 3 {
        change(&mut world, step * 31);
        match chance.below(6) {
            0 => states.push(world.snapshot().expect("no buffers")),
            1 if !states.is_empty() => {
                let state = &states[chance.below(states.len())];
                world.restore(state).expect("it is of this world");
            }
            2 => holders.push((world.version(), values(&world))),
            _ => {}
        }
        holders.truncate(12);
        if step % 10 != 0 {
            continue;
        }
        let now = values(&world);
        for (since, seen) in &holders {
            let changed = world
                .query::<(Entity, &Four)>()
                .filter::<IncludeHidden>()
                .changed_since::<Four>(*since);
            let mut told: Vec<Entity> = changed.rows().map(|(entity, _)| entity).collect();
            told.sort_unstable();
            for (entity, value) in &now {
                let differs = seen.get(entity).is_some_and(|seen| seen != value);
                assert!(!differs || told.binary_search(entity).is_ok(), "{entity} since {since}");
            }
            let lines = world.query::<(&Four, Entity)>().filter::<IncludeHidden>();
            let lines = lines.filter_since::<ChangedLines<Four>>(*since);
            let mut told: Vec<Entity> = lines.rows().map(|(_, entity)| entity).collect();
            told.sort_unstable();
            for (entity, value) in &now {
                let differs = seen.get(entity).is_some_and(|seen| seen != value);
                assert!(!differs || told.binary_search(entity).is_ok(), "{entity}, by lines");
            }
        }
    }
}

#[test]
fn who_saw_the_past_before_the_snapshot_sees_what_is_new_since_and_no_more() {
    let mut world = small_world();
    let rows = if cfg!(miri) { 100 } else { 20_000 };
    let all = world.spawn_batch((0..rows).map(Four)).to_vec();
    let before = world.version();
    world.get_mut::<Four>(all[0]).expect("alive").0 = 7;
    let state = world.snapshot().expect("no buffers");
    let at = world.version();
    let count = |world: &World, since| {
        world.query::<&Four>().filter_since::<ChangedLines<Four>>(since).count_rows()
    };
    for _ in 0..3 {
        world.query_mut::<&mut Four>().into_iter().flatten().for_each(|four| four.0 += 1);
        let discarded = world.version();
        assert_eq!(count(&world, at), rows as usize);
        world.restore(&state).expect("it is of this world");
        assert_eq!((count(&world, before), count(&world, at)), (1, 0));
        assert_eq!(count(&world, discarded), rows as usize, "all that it saw has not happened");
        assert_eq!(count(&world, world.version()), 0);
    }
}

#[test]
fn a_system_that_ran_in_a_past_which_did_not_happen_sees_everything_once() {
    fn seen(mut seen: ResMut<Vec<usize>>, changed: Query<&Four, Changed<Four>>) {
        seen.push(changed.count_rows());
    }
    let mut world = small_world();
    world.insert_resource(Vec::<usize>::new());
    let one = world.spawn(Four(1));
    let mut schedule = Schedule::new();
    schedule.add(seen);
    let mut run = |world: &mut World| {
        schedule.run(world).expect("it runs");
        world.resource::<Vec<usize>>().expect("it is there").last().copied()
    };
    assert_eq!([run(&mut world), run(&mut world)], [Some(1), Some(0)]);
    let state = world.snapshot().expect("no buffers");
    assert_eq!(run(&mut world), Some(0));
    world.get_mut::<Four>(one).expect("alive").0 = 2;
    assert_eq!(run(&mut world), Some(1));
    world.restore(&state).expect("it is of this world");
    assert_eq!([run(&mut world), run(&mut world)], [Some(1), Some(0)]);
}

#[test]
fn the_order_of_archetypes_is_put_back() {
    let names = |world: &World| -> Vec<Vec<&'static str>> {
        let names = |archetype: phalanx::reflect::ArchetypeInfo<'_>| {
            archetype.components().map(|component| component.name()).collect()
        };
        world.reflect().archetypes().map(names).collect()
    };
    let mut world = small_world();
    world.spawn((Four(1), Tag));
    world.spawn(Byte(1));
    let gone = world.spawn(Twelve([1; 3]));
    world.despawn(gone).expect("alive");
    let (state, before, hash) =
        (world.snapshot().expect("no buffers"), names(&world), world.hash());
    world.clear();
    world.memory_mut().retire_archetypes();
    world.spawn(Other);
    world.spawn(Byte(2));
    world.restore(&state).expect("it is of this world");
    sound(&world);
    assert_eq!((names(&world), world.hash()), (before, hash));
    // The next ids are the same as without the detour.
    let next = world.spawn(());
    assert_eq!(next.index(), gone.index());
}

#[test]
fn what_belongs_to_chunks_is_put_back() {
    let mut world = small_world();
    let all: Vec<_> =
        (0..40).map(|i| world.spawn((Four(i), Awake(i), PerChunk::<Bounds>::TAG))).collect();
    world.set_enabled::<Awake>(all[3], false).expect("alive");
    world.insert_shared(all[5], Team(1)).expect("room");
    for mut bounds in world.query_mut::<PerChunkMut<Bounds>>() {
        *bounds = Bounds(1.0, 2.0);
    }
    world.insert(all[7], Trace(7)).expect("room");
    world.despawn(all[7]).expect("alive");
    let state = world.snapshot().expect("no buffers");
    world.set_enabled::<Awake>(all[3], true).expect("alive");
    world.clear();
    world.memory_mut().retire_archetypes();
    assert_eq!(world.query::<&Four>().count_rows(), 0);
    world.restore(&state).expect("it is of this world");
    sound(&world);
    assert_eq!(world.is_enabled::<Awake>(all[3]), Ok(false));
    assert_eq!(
        world.shared::<Team>().get(all[5]).ok(),
        Some(&Team(1)),
        "the snapshot kept it alive"
    );
    assert!(world.query::<PerChunk<Bounds>>().iter().all(|bounds| bounds == Bounds(1.0, 2.0)));
    assert_eq!(world.query::<(&Gone, &Trace)>().count_rows(), 1);
    assert!(!world.contains(all[7]));
}

#[test]
fn sparse_components_of_those_who_are_not_alive_are_dropped() {
    let mut world = small_world();
    let kept = world.spawn(());
    world.insert(kept, Text::from("kept")).expect("alive");
    let state = world.snapshot().expect("no buffers");
    let later = world.spawn(());
    world.insert(later, Text::from("later")).expect("alive");
    world.send(7u32);
    world.restore(&state).expect("it is of this world");
    sound(&world);
    assert_eq!(world.sparse::<Text>().iter().count(), 1);
    assert_eq!(world.events::<u32>().len(), 0);
    // The id is used again, for another entity.
    assert_eq!(world.spawn(()), later);
    assert!(world.sparse::<Text>().get(later).is_none());
}

#[test]
fn what_cannot_be_taken_or_put_back_is_refused() {
    let (mut world, mut other) = (small_world(), small_world());
    world.spawn(Four(1));
    let mut state = world.snapshot().expect("no buffers");
    let hash = other.hash();
    assert_eq!(other.restore(&state), Err(SnapshotError::OtherWorld));
    assert_eq!(other.restore(&Snapshot::new()), Err(SnapshotError::NeverTaken));
    assert_eq!(other.hash(), hash);
    let buffer = world.command_buffer(3).expect("ids");
    let refused = SnapshotError::IdsOnLoan { ids: 3 };
    assert_eq!(world.snapshot_into(&mut state), Err(refused));
    assert_eq!(world.restore(&state), Err(refused));
    assert_eq!(world.snapshot().err(), Some(refused));
    drop(buffer);
    world.spawn(());
    world.restore(&state).expect("the buffer is dropped");
    assert_eq!(world.len(), 1);
    let mut states = SnapshotRing::new(0);
    assert_eq!(states.restore(&mut world, 0), Err(SnapshotError::NotKept { back: 0, kept: 0 }));
    states.push(&mut world).expect("no buffers");
    assert_eq!(states.restore(&mut world, 1), Err(SnapshotError::NotKept { back: 1, kept: 1 }));
    // A snapshot of one world is overwritten by one of another world.
    other.spawn_batch([Byte(3); 10]);
    other.snapshot_into(&mut state).expect("no buffers");
    assert_eq!(world.restore(&state), Err(SnapshotError::OtherWorld));
    other.clear();
    other.restore(&state).expect("it is of this world");
    assert_eq!(other.len(), 10);
}

#[test]
fn a_world_goes_back_to_before_a_merge_and_after_it() {
    let other = |rows: u32| {
        let mut other = small_world();
        // Components get their ids in another order, so that columns have the layout of the other
        // world.
        other.spawn_batch((0..rows).map(|i| (Twelve([i; 3]), Byte(1), Four(i))));
        other.spawn((Other, Four(1)));
        other
    };
    let rows = if cfg!(miri) { 40 } else { 3_000 };
    let mut world = small_world();
    world.spawn_batch((0..rows).map(Four));
    let (before, hash_before) = (world.snapshot().expect("no buffers"), world.hash());
    world.merge(other(rows)).expect("room");
    let (after, hash_after) = (world.snapshot().expect("no buffers"), world.hash());
    for _ in 0..3 {
        world.restore(&before).expect("it is of this world");
        sound(&world);
        assert_eq!(world.hash(), hash_before);
        world.merge(other(rows + 7)).expect("room");
        world.restore(&after).expect("it is of this world");
        sound(&world);
        assert_eq!(world.hash(), hash_after);
    }
    // The same merge from the same state has the same result.
    world.restore(&before).expect("it is of this world");
    world.merge(other(rows)).expect("room");
    assert_eq!(world.hash(), hash_after);
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("{self:?} goes off");
    }
}

#[test]
fn a_shared_value_that_panics_ends_with_its_snapshot() {
    let mut world = small_world();
    for number in 0..2 {
        let one = world.spawn(Four(number));
        world.insert_shared(one, Bomb(number)).expect("room");
    }
    let (mut kept, state) =
        (world.snapshot().expect("no buffers"), world.snapshot().expect("no buffers"));
    world.clear();
    drop(state);
    world.snapshot_into(&mut kept).expect("the panics end with the values");
    world.spawn(Byte(1));
    world.restore(&kept).expect("it is of this world");
    assert!(world.is_empty());
}

#[test]
fn what_a_snapshot_keeps_alive_decides_nothing() {
    let run = |is_kept: bool| {
        let mut world = small_world();
        let one = world.spawn(Four(1));
        world.insert_shared(one, Team(0)).expect("room");
        let state = world.snapshot().expect("no buffers");
        let kept = is_kept.then_some(state);
        for number in 1..40 {
            world.insert_shared(one, Team(number)).expect("room");
        }
        drop(kept);
        (world.hash(), world.reflect().archetypes().count())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn shared_values_of_a_past_that_did_not_happen_decide_nothing() {
    let run = |goes_back: usize| {
        let mut world = small_world();
        let one = world.spawn(Four(1));
        for number in 0..10 {
            world.insert_shared(one, Team(number)).expect("room");
        }
        world.remove_shared::<Team>(one).expect("it has one");
        world.insert_shared(one, Team(3)).expect("room");
        let (state, hash) = (world.snapshot().expect("no buffers"), world.hash());
        for turn in 0..goes_back {
            for number in 100..130 + u32::try_from(turn).expect("small") {
                world.insert_shared(one, Team(number)).expect("room");
            }
            world.insert_shared(one, 7u64).expect("room");
            world.restore(&state).expect("it is of this world");
            sound(&world);
            assert_eq!((world.hash(), world.shared::<Team>().get(one)), (hash, Ok(&Team(3))));
            assert!(!world.shared::<u64>().contains(one));
        }
        drop(state);
        for number in (0..10).rev().chain(200..230) {
            world.insert_shared(one, Team(number)).expect("room");
        }
        world.insert_shared(one, 7u64).expect("room");
        sound(&world);
        (world.hash(), world.reflect().archetypes().count())
    };
    assert_eq!(run(0), run(1));
    assert_eq!(run(0), run(3));
}

#[test]
fn a_reservation_survives() {
    let mut world = small_world();
    world.reserve::<Four>(5_000).expect("room");
    let state = world.snapshot().expect("no buffers");
    let blocks = world.memory().block_bytes;
    world.restore(&state).expect("it is of this world");
    assert_eq!(world.memory().block_bytes, blocks);
}

#[test]
fn lists_of_any_length_are_put_back_from_lists_of_any_other() {
    let lens: &[u32] =
        if cfg!(miri) { &[0, 16, 300] } else { &[0, 1, 15, 16, 17, 300, 9_000, 70_000] };
    for &len in lens {
        for &other in lens {
            let mut world = small_world();
            let fill = |world: &mut World, len| {
                world.spawn_batch((0..len).map(|i| (Four(i), Byte(3))));
            };
            fill(&mut world, len);
            let (state, hash) = (world.snapshot().expect("no buffers"), world.hash());
            world.clear();
            fill(&mut world, other);
            world.restore(&state).expect("it is of this world");
            sound(&world);
            assert_eq!(world.hash(), hash, "{len} rows after {other}");
        }
    }
}
