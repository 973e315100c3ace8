//! States that are read with other components, or into other chunks.

use std::collections::BTreeMap;

use phalanx::chunks::{PerChunk, PerChunkMut};
use phalanx::prelude::*;
use phalanx::snapshot::ReadError;
use phalanx::snapshot::SnapshotReader;

use crate::common::components::{Byte, Four, Other, Tag, Twelve, sound};
use crate::snapshot_hostile::sign;
use crate::snapshot_steps::{Awake, Bounds, Trace, change_or_share};

mod then {
    #[phalanx::component(name = "health")]
    pub(super) struct Health(pub(super) u32);
    #[phalanx::component(name = "rumour")]
    pub(super) struct Rumour(pub(super) u64);
    #[phalanx::component(name = "mark")]
    pub(super) struct Mark;
    #[phalanx::component(name = "state")]
    pub(super) enum State {
        Idle,
        Dead,
    }
}
#[component(enableable, lines, name = "health")]
#[derive(Debug, PartialEq)]
struct Health {
    now: u32,
    max: [u32; 40],
}

fn bytes_of(world: &mut World) -> Vec<u8> {
    world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared")
}

fn fours(world: &World) -> BTreeMap<Entity, (u32, bool)> {
    let rows =
        world.query::<(Entity, &Four, Option<&Awake>)>().filter::<(IncludeHidden, IgnoreEnabled)>();
    let is_enabled = |entity| world.is_enabled::<Awake>(entity).unwrap_or(true);
    rows.rows().map(|(entity, four, _)| (entity, (four.0, is_enabled(entity)))).collect()
}

#[test]
fn a_component_that_is_unknown_is_left_out() {
    let mut old = World::new();
    let mut all = Vec::new();
    for i in 0..40 {
        all.push(match i % 3 {
            0 => old.spawn((Four(i), then::Rumour(7))),
            1 => old.spawn(Four(i)),
            _ => old.spawn((then::Rumour(1), then::Mark, Four(i), Awake(i))),
        });
    }
    for &entity in all.iter().step_by(4) {
        old.set_enabled::<Awake>(entity, false).ok();
    }
    let only = old.spawn(then::Rumour(3));
    old.despawn(all[7]).expect("alive");
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<(Awake, Four)>();
    assert!(matches!(world.read_snapshot(&bytes), Err(ReadError::UnknownComponent { .. })));
    assert!(matches!(
        SnapshotReader::new(&mut world).read(&bytes),
        Err(ReadError::UnknownComponent { .. })
    ));
    let state =
        SnapshotReader::new(&mut world).skip_unknown().read(&bytes).expect("the rest is known");
    world.restore(&state).expect("it was read here");
    sound(&world);
    assert_eq!((fours(&world), world.len()), (fours(&old), old.len()));
    assert!(world.contains(only) && world.get::<Four>(only).is_err());
    // Two sets have become one.
    assert_eq!(world.reflect().archetypes().filter(|archetype| !archetype.is_empty()).count(), 3);
    assert_eq!(world.query::<&Four>().changed_since(Version::NEVER).count_rows(), 39);
    assert_eq!(world.spawn(()), old.spawn(()), "the next id");
}

#[test]
fn a_component_that_has_got_a_field_is_made_of_what_it_was() {
    let mut old = World::new();
    let rows: u32 = if cfg!(miri) { 50 } else { 5_000 };
    let all = old.spawn_batch((0..rows).map(|i| (then::Health(i), Byte(1)))).to_vec();
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<(Health, Byte)>();
    let refused = world.read_snapshot(&bytes).unwrap_err();
    assert_eq!(refused, ReadError::OtherComponent { name: "health".into(), found: 4, own: 164 });
    let make = |old: then::Health| Health { now: old.0, max: [7; 40] };
    let state = SnapshotReader::new(&mut world).migrate(make).read(&bytes).expect("it is made");
    world.restore(&state).expect("it was read here");
    sound(&world);
    for (number, &entity) in (0..).zip(&all) {
        assert_eq!(world.get::<Health>(entity), Ok(&Health { now: number, max: [7; 40] }));
    }
    // Components that are unchanged need no function.
    let bytes = bytes_of(&mut world);
    let state = SnapshotReader::new(&mut world).migrate(make).read(&bytes).expect("it is the same");
    let hash = world.hash();
    world.clear();
    world.restore(&state).expect("it was read here");
    assert_eq!(world.hash(), hash, "bit for bit");
    // The function does not know the world's component.
    let mut none = World::new();
    let unknown =
        SnapshotReader::new(&mut none).migrate(make).read(&bytes_of(&mut old)).unwrap_err();
    assert!(matches!(unknown, ReadError::UnknownComponent { .. }));
    // Or it is sparse there.
    none.register::<SparseHealth>();
    let sparse =
        SnapshotReader::new(&mut none).migrate(make).read(&bytes_of(&mut old)).unwrap_err();
    assert_eq!(sparse, ReadError::SparseComponent { name: "health".into() });
}

#[component(sparse, name = "health")]
struct SparseHealth(u32);

#[test]
fn two_components_do_not_become_one() {
    let mut old = World::new();
    old.spawn((then::Health(1), then::Rumour(1)));
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<Health>();
    let reader = SnapshotReader::new(&mut world)
        .migrate(|old: then::Health| Health { now: old.0, max: [0; 40] })
        .migrate(|_: then::Rumour| Health { now: 1, max: [0; 40] });
    assert!(matches!(reader.read(&bytes), Err(ReadError::Invalid { .. })));
}

#[component(split, name = "body")]
struct Body {
    mass: f32,
    size: f32,
}

#[cfg(not(miri))] // Its allocator is not the one counted.
#[test]
fn disabled_rows_take_no_more_memory_than_enabled_ones() {
    const ROWS: u32 = 200_000;
    let peak = |disabled: bool| {
        let mut old = World::builder().chunk_size(ChunkSize::KIB_4).build();
        let all = old.spawn_batch((0..ROWS).map(Awake)).to_vec();
        for &entity in all.iter().filter(|_| disabled) {
            old.set_enabled::<Awake>(entity, false).expect("it has the component");
        }
        let bytes = bytes_of(&mut old);
        let mut world = World::new();
        world.register::<Awake>();
        let reader = SnapshotReader::new(&mut world);
        let (state, peak) = crate::memory::peak(|| reader.read(&bytes).expect("any chunks"));
        world.restore(&state).expect("it was read here");
        let enabled = all.iter().filter(|&&entity| world.is_enabled::<Awake>(entity) == Ok(true));
        assert_eq!(enabled.count(), if disabled { 0 } else { ROWS as usize });
        peak
    };
    let (enabled, disabled) = (peak(false), peak(true));
    assert!(disabled <= enabled + ROWS as usize / 4, "{disabled} and {enabled} bytes");
}

#[test]
fn disabled_rows_of_archetypes_that_become_one_stay_disabled() {
    let [first, second] = if cfg!(miri) { [70, 201] } else { [5_001, 3_003] };
    let mut old = World::new();
    let mut all = old.spawn_batch((0..first).map(|i| (Four(i), Awake(i)))).to_vec();
    all.extend(old.spawn_batch((0..second).map(|i| (Four(i), Awake(i), then::Mark))));
    for &entity in all.iter().step_by(3) {
        old.set_enabled::<Awake>(entity, false).expect("it has the component");
    }
    let bytes = bytes_of(&mut old);
    for size in [ChunkSize::KIB_4, ChunkSize::KIB_16, ChunkSize::KIB_256] {
        let mut world = World::builder().chunk_size(size).build();
        world.register::<(Four, Awake)>();
        let state = SnapshotReader::new(&mut world).skip_unknown().read(&bytes);
        world.restore(&state.expect("the tag is left out")).expect("it was read here");
        assert_eq!(fours(&world), fours(&old));
        sound(&world);
    }
}

#[test]
fn bytes_that_are_no_state_register_nothing() {
    let mut old = World::new();
    old.spawn(then::Rumour(1));
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    for end in [0, 7, bytes.len() - 1] {
        let state = SnapshotReader::new(&mut world).skip_unknown().read(&bytes[..end]);
        assert!(state.is_err() && world.reflect().component(Disabled::NAME).is_none(), "{end}");
    }
    assert!(SnapshotReader::new(&mut world).skip_unknown().read(&bytes).is_ok());
    assert!(world.reflect().component(Disabled::NAME).is_some());
}

/// The error of a function to the second definition in a world with the given one.
fn refused_migration(register: impl FnOnce(&mut World)) -> ReadError {
    let mut old = World::new();
    old.spawn(then::Health(1));
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    register(&mut world);
    let reader = SnapshotReader::new(&mut world).migrate(|old: then::Health| second::Health(old.0));
    reader.read(&bytes).expect_err("the world has another component of the name")
}

mod second {
    #[phalanx::component(name = "health")]
    pub(super) struct Health(pub(super) u32);
    #[phalanx::component(name = "body.mass")]
    pub(super) struct Mass(pub(super) f32);
}

#[test]
fn a_function_to_a_type_that_the_world_does_not_have_is_refused() {
    let error = refused_migration(|world| world.register::<Health>());
    let ReadError::NameTaken(taken) = &error else { panic!("{error:?}") };
    assert_eq!(taken.name, "health");
    assert!(taken.owner.ends_with("reader::Health") && taken.refused.ends_with("second::Health"));
    let text = error.to_string();
    assert!(text.ends_with("::Health`: let the function return that type"), "{text}");
    // The same number of bytes is no excuse.
    let error = refused_migration(|world| {
        let fields = [("now", "f32")];
        world.reflect_mut().register_layout("health", fields).expect("the name is free");
    });
    assert!(matches!(error, ReadError::NameTaken(_)), "{error:?}");
    // Nor is the column of a split component such a type.
    let mut world = World::new();
    world.spawn(Body { mass: 1.0, size: 2.0 });
    let bytes = bytes_of(&mut world);
    let reader = SnapshotReader::new(&mut world).migrate(|_: then::Health| second::Mass(1.0));
    assert!(matches!(reader.read(&bytes), Err(ReadError::NameTaken(_))));
}

#[test]
fn a_state_is_put_into_other_chunks() {
    let sizes = [ChunkSize::KIB_4, ChunkSize::KIB_16, ChunkSize::KIB_256];
    for (number, from) in sizes.into_iter().enumerate() {
        let mut old = World::builder().chunk_size(from).build();
        for step in 0..if cfg!(miri) { 15 } else { 150 } {
            change_or_share(&mut old, step + 1000 * number as u64, false);
        }
        old.spawn((Four(1), PerChunk::<Bounds>::TAG));
        for mut bounds in old.query_mut::<PerChunkMut<Bounds>>() {
            *bounds = Bounds(1.0, 1.0);
        }
        let bytes = bytes_of(&mut old);
        for to in sizes {
            let mut world = World::builder().chunk_size(to).build();
            world.register::<(Four, Awake, Twelve, Tag, Other, Byte, Trace, Disabled)>();
            world.register::<(PerChunk<Bounds>, crate::common::components::Big)>();
            world.register::<crate::common::components::Nth<1>>();
            assert_eq!(world.read_snapshot(&bytes).is_ok(), from == to);
            let state = SnapshotReader::new(&mut world).read(&bytes).expect("any chunks will do");
            world.restore(&state).expect("it was read here");
            sound(&world);
            assert_eq!((fours(&world), world.len()), (fours(&old), old.len()));
            let bounds = if from == to { 1.0 } else { 0.0 };
            let query = world.query::<PerChunk<Bounds>>();
            assert!(query.iter().all(|own| own == Bounds(bounds, bounds)), "or the default");
            let since = world.version();
            assert_eq!(world.query::<&Four>().changed_since(since).count_rows(), 0);
            change_or_share(&mut world, 1, false);
            sound(&world);
        }
    }
}

#[test]
fn values_that_there_are_not_are_refused() {
    let mut old = World::new();
    old.spawn((then::State::Dead, then::Rumour(1)));
    let mut bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<then::State>();
    let state = SnapshotReader::new(&mut world).skip_unknown().read(&bytes);
    assert_eq!(state.expect("it is known").len(), 1);
    // The byte of the enum is among these.
    let mut refused = 0;
    for at in (0..bytes.len() - 8).step_by(if cfg!(miri) { 199 } else { 1 }) {
        bytes[at] ^= 0x40;
        sign(&mut bytes);
        match SnapshotReader::new(&mut world).skip_unknown().read(&bytes) {
            Ok(state) => {
                world.restore(&state).expect("it was read here");
                sound(&world);
            }
            Err(_) => refused += 1,
        }
        bytes[at] ^= 0x40;
    }
    assert!(refused > 50 || cfg!(miri), "{refused} were refused");
}

#[test]
fn entities_that_are_gone_stay_with_what_they_keep() {
    let mut old = World::new();
    let entity = old.spawn((Four(1), Trace(7), then::Rumour(1)));
    old.despawn(entity).expect("alive");
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<(Four, Trace, then::Rumour)>();
    let state = SnapshotReader::new(&mut world).skip_unknown().read(&bytes).expect("it is known");
    world.restore(&state).expect("it was read here");
    sound(&world);
    assert_eq!(world.query::<&Trace>().with::<Gone>().count_rows(), 1);
    // The component that keeps it is left out, so it is no longer gone, and its id is free.
    let mut without = World::new();
    without.register::<(Four, then::Rumour)>();
    let state = SnapshotReader::new(&mut without).skip_unknown().read(&bytes).expect("it is known");
    without.restore(&state).expect("it was read here");
    sound(&without);
    assert!(!without.contains(entity) && without.is_empty());
    assert_eq!(without.query::<Entity>().with::<Gone>().count_rows(), 0);
    assert_eq!(without.spawn(()).index(), entity.index());
}

#[test]
fn hidden_entities_stay_hidden_and_those_that_are_over_give_their_ids_back() {
    let mut old = World::new();
    let all = old.spawn_batch((0..20).map(|i| (Four(i), then::Rumour(7)))).to_vec();
    old.insert(all[3], Disabled).expect("alive");
    old.insert(all[4], Prototype).expect("alive");
    for &entity in &all[10..] {
        old.insert(entity, Trace(1)).expect("alive");
    }
    for &entity in &all[15..] {
        old.despawn(entity).expect("alive");
    }
    let bytes = bytes_of(&mut old);
    for knows_trace in [false, true] {
        let mut world = World::new();
        world.register::<Four>();
        if knows_trace {
            world.register::<Trace>();
        }
        let state =
            SnapshotReader::new(&mut world).skip_unknown().read(&bytes).expect("it is known");
        world.restore(&state).expect("it was read here");
        sound(&world);
        assert_eq!(world.query::<&Four>().count_rows(), 13, "15 without a disabled, a prototype");
        assert_eq!(world.query::<&Four>().with::<Disabled>().single().map(|four| four.0), Ok(3));
        assert!(all[15..].iter().all(|&entity| !world.contains(entity)));
        let gone = world.query::<Entity>().with::<Gone>().count_rows();
        assert_eq!(gone, if knows_trace { 5 } else { 0 });
        // Their indices are used again with other generations if no component keeps them.
        let new = world.spawn_batch([(); 5]).to_vec();
        assert_eq!(new.iter().all(|id| id.index() < 20), !knows_trace);
        assert!(new.iter().all(|id| !all.contains(id)));
        sound(&world);
    }
}

#[test]
fn a_tag_becomes_a_component_with_a_value_in_each_row() {
    mod before {
        #[phalanx::component(name = "mark")]
        pub(super) struct Mark;
    }
    mod now {
        #[phalanx::component(name = "mark")]
        #[derive(Debug, PartialEq)]
        pub(super) struct Mark(pub(super) u32);
    }
    let mut old = World::new();
    old.spawn_batch((0..2_000).map(|i| (before::Mark, Four(i))));
    let bytes = bytes_of(&mut old);
    let mut world = World::new();
    world.register::<(Four, now::Mark)>();
    let reader = SnapshotReader::new(&mut world).migrate(|_: before::Mark| now::Mark(7));
    let state = reader.read(&bytes).expect("it was written");
    assert!(state.archetypes().all(|archetype| archetype.columns().count() == 2));
    world.restore(&state).expect("it was read here");
    sound(&world);
    assert!(world.query::<&now::Mark>().rows().all(|mark| *mark == now::Mark(7)));
    assert_eq!(world.query::<(&Four, &now::Mark)>().count_rows(), 2_000);
}
