//! Sparse components and relations in the bytes of states, and in the hash.

use phalanx::prelude::*;
use phalanx::snapshot::{ReadError, Snapshot, SnapshotReader};
use phalanx::testing::{Difference, compare};
use proptest::prelude::*;

use crate::common::components::{Four, Text, sound};
use crate::common::effort::effort;
use crate::common::world;
use crate::relations::{ChildOf, Target};

/// Plain data, with the id of an entity.
#[component(sparse, name = "burning")]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "phalanx::bytemuck")]
#[repr(C)]
pub(crate) struct Burning {
    pub(crate) left: u32,
    pub(crate) by: Entity,
}

/// A value without bytes.
#[component(sparse, name = "chosen")]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "phalanx::bytemuck")]
#[repr(C)]
pub(crate) struct Chosen;

/// A value of which some bytes are none.
#[component(sparse, name = "sealed")]
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    phalanx::bytemuck::NoUninit,
    phalanx::bytemuck::CheckedBitPattern,
    Zeroable,
)]
#[bytemuck(crate = "phalanx::bytemuck")]
#[repr(C)]
pub(crate) struct Sealed(pub(crate) bool);

/// Makes the components of these tests known.
pub(crate) fn knowing(mut world: World) -> World {
    world.register::<(Four, Burning, Chosen, Sealed, Text, ChildOf, Target)>();
    world
}

/// A world without entities that knows them.
pub(crate) fn new_world() -> World {
    knowing(world())
}

/// A world with values in each set, some of which have come and gone.
pub(crate) fn filled() -> (World, Vec<Entity>) {
    filled_in(new_world())
}

/// [`filled`] in a world that knows the components.
pub(crate) fn filled_in(mut world: World) -> (World, Vec<Entity>) {
    let all = world.spawn_batch((0..12).map(Four)).to_vec();
    for (left, &entity) in (0..).zip(&all[2..9]) {
        world.insert(entity, Burning { left, by: all[0] }).expect("alive");
    }
    for (number, &entity) in all[..6].iter().enumerate() {
        world.insert(entity, (Chosen, Sealed(number % 2 == 0))).expect("alive");
    }
    for (child, parent) in [(4, 1), (5, 3), (6, 1), (7, 1), (8, 4), (9, 4), (1, 0), (3, 0)] {
        world.insert(all[child], ChildOf::of(all[parent])).expect("no cycle");
    }
    for (source, target) in [(1, 2), (2, 1), (3, 3), (11, 2), (10, 2)] {
        world.insert(all[source], Target::of(all[target])).expect("alive");
    }
    world.remove::<Burning>(all[3]).expect("it has one");
    world.insert(all[4], ChildOf::of(all[3])).expect("no cycle");
    world.despawn(all[11]).expect("nothing refuses");
    (world, all)
}

pub(crate) fn bytes_of(world: &mut World) -> Vec<u8> {
    world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared")
}

/// Everything that queries of sets and relations answer, in their orders.
fn answers(world: &World) -> impl PartialEq + core::fmt::Debug + use<> {
    let burning: Vec<_> = world.sparse::<Burning>().iter().map(|(e, value)| (e, *value)).collect();
    let sealed: Vec<_> = world.sparse::<Sealed>().iter().map(|(e, value)| (e, *value)).collect();
    let chosen: Vec<_> = world.sparse::<Chosen>().iter().map(|(e, _)| e).collect();
    let rows: Vec<_> = world.query::<(Entity, &Burning)>().rows().map(|(e, v)| (e, *v)).collect();
    let (parents, targets) = (world.relation::<ChildOf>(), world.relation::<Target>());
    let pairs: Vec<_> = parents.iter().chain(targets.iter()).collect();
    let all: Vec<_> = world.query::<Entity>().rows().collect();
    let sources =
        all.iter().flat_map(|&e| [parents.sources(e).to_vec(), targets.sources(e).to_vec()]);
    let sources: Vec<_> = sources.collect();
    (burning, sealed, chosen, rows, pairs, sources, parents.levels())
}

#[test]
fn bytes_have_plain_values_and_relations_in_their_orders() {
    let (mut world, all) = filled();
    let bytes = bytes_of(&mut world);
    let mut mirror = new_world();
    mirror.spawn((Four(9), Chosen));
    let state = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    sound(&mirror);
    assert_eq!((mirror.hash(), answers(&mirror)), (world.hash(), answers(&world)));
    assert_eq!(compare(&world, &mirror), Ok(()));
    assert!(bytes_of(&mut mirror).len() == bytes.len() && state.left_out().is_empty());

    // Later calls answer alike.
    for world in [&mut world, &mut mirror] {
        world.remove::<ChildOf>(all[6]).expect("it has one");
        world.insert(all[5], ChildOf::of(all[1])).expect("no cycle");
        world.remove::<Burning>(all[2]).expect("it has one");
        world.despawn(all[4]).expect("nothing refuses");
        sound(world);
    }
    assert_eq!((mirror.hash(), answers(&mirror)), (world.hash(), answers(&world)));
    // The same state a second time, and a snapshot of the world that was restored.
    let later = mirror.snapshot().expect("no buffers");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(bytes_of(&mut mirror).len(), bytes.len());
    mirror.restore(&later).expect("it is of this world");
    assert_eq!(answers(&mirror), answers(&world));
    sound(&mirror);
}

#[test]
fn snapshots_have_plain_values_without_being_asked() {
    let (mut world, all) = filled();
    let (state, hash, before) =
        (world.snapshot().expect("no buffers"), world.hash(), answers(&world));
    world.query_mut::<&mut Burning>().rows_mut().for_each(|fire| fire.left += 1);
    world.despawn(all[1]).expect("nothing refuses");
    world.restore(&state).expect("it is of this world");
    assert_eq!((world.hash(), answers(&world)), (hash, before));
}

#[test]
fn values_that_are_not_plain_are_named_and_left_out() {
    let (mut world, all) = filled();
    let plain = bytes_of(&mut world).len();
    world.insert(all[1], Text::from("left out")).expect("alive");
    let state = world.snapshot().expect("no buffers");
    assert_eq!(state.left_out(), [<Text as phalanx::sparse::SparseComponent>::NAME]);
    let bytes = state.to_bytes().expect("nothing is shared");
    assert_eq!(bytes.len(), plain);
    let read = world.read_snapshot(&bytes).expect("it was written");
    world.restore(&read).expect("it was read here");
    assert!(world.sparse::<Text>().is_empty() && read.left_out().is_empty());
    assert_eq!(world.snapshot().expect("no buffers").left_out(), <[&str; 0]>::default());
    sound(&world);
}

#[test]
fn unknown_and_changed_components_are_told() {
    mod other {
        use phalanx::prelude::*;

        /// The same size, and another definition.
        #[component(sparse, name = "burning")]
        #[derive(Clone, Copy, Pod, Zeroable)]
        #[bytemuck(crate = "phalanx::bytemuck")]
        #[repr(C)]
        pub(super) struct Burning {
            pub(super) right: u32,
            pub(super) by: Entity,
        }
        #[component(sparse, name = "burning")]
        pub(super) struct NotPlain(Vec<u32>);
        #[component(name = "burning")]
        pub(super) struct Column(pub(super) u32);
    }
    let mut writer = world();
    let entity = writer.spawn(Four(1));
    writer.insert(entity, Burning { left: 1, by: entity }).expect("alive");
    let bytes = bytes_of(&mut writer);
    let knowing = |register: fn(&mut World)| {
        let mut world = world();
        world.register::<Four>();
        register(&mut world);
        world
    };
    let name: Box<str> = "burning".into();
    let mut none = knowing(|_| {});
    let unknown = ReadError::UnknownComponent { name: name.clone() };
    assert_eq!(none.read_snapshot(&bytes).unwrap_err(), unknown);
    let state = SnapshotReader::new(&mut none).skip_unknown().read(&bytes).expect("left out");
    none.restore(&state).expect("it was read here");
    assert_eq!((none.len(), none.sparse::<Burning>().len()), (1, 0));
    for (mut world, error) in [
        (
            knowing(World::register::<other::Burning>),
            ReadError::OtherSparse { name: name.clone(), is_plain: true },
        ),
        (
            knowing(World::register::<other::NotPlain>),
            ReadError::OtherSparse { name: name.clone(), is_plain: false },
        ),
        (knowing(World::register::<other::Column>), ReadError::ColumnComponent { name }),
    ] {
        assert_eq!(world.read_snapshot(&bytes).unwrap_err(), error);
        assert!(error.to_string().contains("another name"), "{error}");
        let read = SnapshotReader::new(&mut world).skip_unknown().read(&bytes);
        assert_eq!(read.unwrap_err(), error, "it is known");
    }
}

#[test]
fn other_chunks_have_the_same_sets() {
    let (mut world, _) = filled();
    let bytes = bytes_of(&mut world);
    for size in [ChunkSize::KIB_4, ChunkSize::KIB_16] {
        let mut mirror = knowing(World::builder().chunk_size(size).build());
        let state = SnapshotReader::new(&mut mirror).read(&bytes).expect("it was written");
        mirror.restore(&state).expect("it was read here");
        sound(&mirror);
        assert_eq!(answers(&mirror), answers(&world));
    }
}

#[test]
fn the_hash_covers_members_values_and_orders() {
    let (mut world, all) = filled();
    let mut hashes = vec![world.hash()];
    let mut cache = phalanx::HashCache::new();
    let mut next = |world: &World, what: &str| {
        let hash = world.hash();
        assert!(!hashes.contains(&hash), "{what}");
        assert_eq!(cache.hash(world), hash, "{what}");
        hashes.push(hash);
    };
    world.sparse_mut::<Burning>().get_mut(all[5]).expect("it has one").left += 100;
    next(&world, "a value");
    world.sparse_mut::<Text>().insert(all[1], Text::from("a")).expect("alive");
    next(&world, "a member of a type that is not plain");
    world.sparse_mut::<Text>().insert(all[2], Text::from("b")).expect("alive");
    next(&world, "another member");
    let first = world.sparse_mut::<Text>().remove(all[1]).expect("it has one");
    world.sparse_mut::<Text>().insert(all[1], first).expect("alive");
    next(&world, "the order of members");
    world.insert(all[9], ChildOf::of(all[5])).expect("no cycle");
    next(&world, "a target");
    world.insert(all[9], ChildOf::of(all[4])).expect("no cycle");
    world.insert(all[8], ChildOf::of(all[5])).expect("no cycle");
    world.insert(all[8], ChildOf::of(all[4])).expect("no cycle");
    next(&world, "the order of sources");
    assert_eq!(cache.hash(&world), world.hash());
    assert_eq!(cache.columns_read(), 0, "all is known");
}

#[test]
fn the_first_difference_of_sets_is_named() {
    let ((a, all), (mut b, _)) = (filled(), filled());
    assert_eq!(compare(&a, &b), Ok(()));
    b.sparse_mut::<Burning>().get_mut(all[5]).expect("it has one").left += 1;
    let difference = compare(&a, &b).unwrap_err();
    let Difference::Sparse { component: "burning", expected, found, .. } = &difference else {
        panic!("{difference}");
    };
    assert_eq!((*expected, *found), (Some(all[5]), Some(all[5])));
    b.sparse_mut::<Burning>().remove(all[7]);
    b.sparse_mut::<Burning>().get_mut(all[5]).expect("it has one").left -= 1;
    let Err(Difference::Sparse { expected, found: None, .. }) = compare(&a, &b) else {
        panic!("a value is missing");
    };
    assert_eq!(expected, Some(all[7]));
}

#[test]
fn deltas_have_what_changed_in_sets() {
    let (mut world, all) = filled();
    let far = world.spawn_batch([Four(0); 2000]).to_vec();
    for &entity in &far {
        world.insert(entity, (Burning { left: 7, by: far[0] }, Target::of(far[1]))).expect("alive");
    }
    let mut mirror = new_world();
    let mut base = world.snapshot().expect("no buffers");
    let bytes = base.to_bytes().expect("nothing is shared");
    let mut state = mirror.read_snapshot(&bytes).expect("it was written");
    let mut follow = |world: &mut World, most: usize| {
        let delta = base.delta(world).expect("no buffers");
        assert!(delta.len() < most, "{} bytes", delta.len());
        state.read_delta(&mut mirror, &delta).expect("it is from this state");
        mirror.restore(&state).expect("it was read here");
        sound(&mirror);
        assert_eq!((mirror.hash(), answers(&mirror)), (world.hash(), answers(world)));
        world.snapshot_into(&mut base).expect("no buffers");
    };
    follow(&mut world, 1000);
    world.sparse_mut::<Burning>().get_mut(far[99]).expect("it has one").left = 8;
    follow(&mut world, 1000);
    world.insert(far[50], Target::of(all[4])).expect("alive");
    follow(&mut world, 1200);
    world.insert(all[1], ChildOf::of(all[2])).expect("no cycle");
    follow(&mut world, 1200);
    world.sparse_mut::<Chosen>().insert(far[1000], Chosen).expect("alive");
    follow(&mut world, 1000);
    world.despawn(far[1]).expect("nothing refuses");
    follow(&mut world, 20_000);
    (world.spawn_batch([Four(3); 4]).to_vec().into_iter()).for_each(|new| {
        world.insert(new, (Chosen, ChildOf::of(all[5]))).expect("alive");
    });
    follow(&mut world, 20_000);
    let chosen: Vec<_> = world.query::<Entity>().with::<Chosen>().rows().collect();
    chosen.into_iter().for_each(|entity| _ = world.remove::<Chosen>(entity));
    follow(&mut world, 1000);
    world.clear();
    follow(&mut world, 20_000);
}

#[test]
fn a_delta_of_a_state_with_other_sets_is_refused() {
    let (mut world, all) = filled();
    let before = world.snapshot().expect("no buffers");
    let mut mirror = new_world();
    let bytes = before.to_bytes().expect("nothing is shared");
    // Neither the clock nor ids tell these states apart.
    world.sparse_mut::<Burning>().insert(all[0], Burning { left: 1, by: all[1] }).expect("alive");
    let later = world.snapshot().expect("no buffers");
    world.sparse_mut::<Burning>().remove(all[0]);
    world.sparse_mut::<Burning>().insert(all[1], Burning { left: 1, by: all[1] }).expect("alive");
    let delta = later.delta(&mut world).expect("no buffers");
    let mut state = mirror.read_snapshot(&bytes).expect("it was written");
    assert_eq!(state.read_delta(&mut mirror, &delta), Err(ReadError::OtherBase));
    let bytes = later.to_bytes().expect("nothing is shared");
    let mut state = mirror.read_snapshot(&bytes).expect("it was written");
    assert_eq!(state.read_delta(&mut mirror, &delta), Ok(()));
    mirror.restore(&state).expect("it was read here");
    assert_eq!(answers(&mirror), answers(&world));
}

/// One call for each of the numbers.
fn change(world: &mut World, all: &mut Vec<Entity>, (kind, a, b): (u8, u8, u8)) {
    if all.len() < 8 {
        all.extend_from_slice(world.spawn_batch([Four(1); 8]));
    }
    let [one, other] = [a, b].map(|at| all[usize::from(at) % all.len()]);
    // Entities that have ended, and cycles, are refused.
    match kind % 12 {
        0 => all.push(world.spawn((Four(a.into()), Chosen))),
        1 => drop(world.despawn(one)),
        2 | 3 => drop(world.insert(one, Burning { left: b.into(), by: other })),
        4 => drop(world.remove::<Burning>(one)),
        5 => drop(world.insert(one, Sealed(b % 2 == 0))),
        6 => drop(world.remove::<Sealed>(one)),
        7 | 8 => drop(world.insert(one, ChildOf::of(other))),
        9 => drop(world.remove::<ChildOf>(one)),
        10 => drop(world.insert(one, (Target::of(other), Chosen))),
        _ => drop(world.remove::<Target>(one)),
    }
}

/// A mirror that follows by deltas, or by whole states.
fn case(steps: &[(u8, u8, u8)]) {
    let (mut world, mut mirror) = (new_world(), new_world());
    let (mut all, mut base) = (Vec::new(), world.snapshot().expect("no buffers"));
    let empty = base.to_bytes().expect("nothing is shared");
    let mut state: Snapshot = mirror.read_snapshot(&empty).expect("it was written");
    for (number, &step) in steps.iter().enumerate() {
        change(&mut world, &mut all, step);
        if number % 3 > 0 {
            continue;
        }
        let delta = base.delta(&mut world).expect("no buffers");
        state.read_delta(&mut mirror, &delta).expect("it is from this state");
        world.snapshot_into(&mut base).expect("no buffers");
        let bytes = base.to_bytes().expect("nothing is shared");
        assert!(state.to_bytes().expect("nothing is shared") == bytes, "at {number}");
        if number % 2 == 0 {
            state = mirror.read_snapshot(&bytes).expect("it was written");
        }
        mirror.restore(&state).expect("it was read here");
        sound(&mirror);
        assert_eq!(answers(&mirror), answers(&world), "at {number}");
        assert_eq!(mirror.hash(), world.hash(), "at {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { effort(64) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_sets_are_read_as_they_were(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..80),
    ) {
        case(&steps);
    }
}

#[test]
fn a_state_from_before_the_first_value_of_a_type_has_none() -> Result<(), Box<dyn std::error::Error>>
{
    let mut world = world();
    let entity = world.spawn(Four(1));
    let (state, hash) = (world.snapshot()?, world.hash());
    world.insert(entity, Burning { left: 1, by: entity })?;
    world.insert(entity, Target::of(entity))?;
    let later = world.snapshot()?;
    world.restore(&state)?;
    assert!(!world.has::<Burning>(entity) && !world.has::<Target>(entity));
    assert_eq!(world.hash(), hash);
    sound(&world);
    world.restore(&later)?;
    assert_eq!(world.get::<Burning>(entity)?.left, 1);
    sound(&world);
    Ok(())
}

#[test]
fn entities_far_apart_take_no_more_memory_than_one_call_may()
-> Result<(), Box<dyn std::error::Error>> {
    let mut world = knowing(World::builder().build());
    for place in 1..=300 {
        let far = Entity::from_bits(place << 43 | 1);
        world.spawn_at(far, (Four(1), Chosen))?;
    }
    let bytes = world.snapshot()?.to_bytes()?;
    let mut small = knowing(World::builder().request_bytes_max(1 << 20).build());
    let error = small.read_snapshot(&bytes).expect_err("two pages for each of 300 entities");
    assert!(matches!(error, ReadError::TooMuchMemory(_)), "{error}");
    sound(&small);
    knowing(World::builder().build()).read_snapshot(&bytes)?;
    Ok(())
}

/// Plain by a word, as a component in columns is by itself.
#[component(sparse, plain, name = "marked")]
#[derive(Debug, PartialEq)]
struct Marked {
    by: Entity,
    level: u32,
    is_hit: bool,
    kind: Kind,
    _pad: [u8; 2],
}

#[component(sparse, plain, name = "kind")]
#[derive(Debug, PartialEq)]
enum Kind {
    None,
    Fire,
}

#[test]
fn plain_sparse_components_are_defined_like_those_in_columns()
-> Result<(), Box<dyn std::error::Error>> {
    let mut worlds = [world(), world()];
    worlds.iter_mut().for_each(|world| world.register::<(Four, Marked, Kind)>());
    let [mut world, mut mirror] = worlds;
    let [a, b] = [world.spawn((Four(1), Kind::Fire)), world.spawn(Four(2))];
    let marked = Marked { by: a, level: 3, is_hit: true, kind: Kind::Fire, ..Marked::default() };
    world.insert(b, marked)?;
    let bytes = world.snapshot()?.to_bytes()?;
    let state = mirror.read_snapshot(&bytes)?;
    mirror.restore(&state)?;
    assert_eq!((*mirror.get::<Marked>(b)?, *mirror.get::<Kind>(a)?), (marked, Kind::Fire));
    assert_eq!(mirror.hash(), world.hash());
    sound(&mirror);
    // Not every byte is a `bool`.
    let level = bytes.windows(4).position(|part| part == 3_u32.to_ne_bytes());
    let hit = bytes.windows(8).position(|part| part == [3, 0, 0, 0, 1, 1, 0, 0]);
    assert!(level.is_some() && hit.is_some(), "the value is in the bytes as it is");
    Ok(())
}
