//! Bytes of sparse components and relations that contradict themselves or the rest of the state.

use phalanx::prelude::*;
use phalanx::snapshot::{ReadError, SnapshotReader};
use phalanx::sparse::SparseComponent;

use crate::common::components::{Four, sound};
use crate::relations::{ChildOf, Target};
use crate::snapshot_hostile::{flipped, sign};
use crate::snapshot_sets::{
    Burning, Chosen, Sealed, bytes_of, filled, filled_in, knowing, new_world,
};

/// The places of the arrays of a set in the bytes.
struct Places {
    /// The number of values, before the arrays.
    len: usize,
    entities: usize,
    values: usize,
    places: usize,
    heads: usize,
}

/// The bytes of the ranges of a whole array, before it.
const RANGES: usize = 12;

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four")) as usize
}

fn places_of<S: SparseComponent>(bytes: &[u8], size: usize) -> Places {
    let name = S::NAME.as_bytes();
    let at = bytes.windows(name.len()).rposition(|part| part == name).expect("it is written");
    let len = at + name.len();
    let values_len = u32_at(bytes, len);
    let entities = len + 4 + RANGES;
    let values = entities + 8 * values_len + if size == 0 { 4 } else { RANGES };
    let places = values + size * values_len + RANGES;
    Places { len, entities, values, places, heads: places + 4 * values_len + 4 + RANGES }
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    bytes[at..at + part.len()].copy_from_slice(part);
}

fn put_id(bytes: &mut [u8], at: usize, entity: Entity) {
    put(bytes, at, bytemuck::bytes_of(&entity));
}

fn id_at(bytes: &[u8], at: usize) -> Entity {
    bytemuck::pod_read_unaligned(&bytes[at..at + 8])
}

/// Reads a state in which something has been changed, and returns the defect that was found.
#[track_caller]
fn defect(change: impl FnOnce(&mut Vec<u8>, &[Entity])) -> &'static str {
    let (mut world, all) = filled();
    let mut bytes = bytes_of(&mut world);
    change(&mut bytes, &all);
    sign(&mut bytes);
    let hash = world.hash();
    let refused = world.read_snapshot(&bytes).map(|_| ());
    let other = SnapshotReader::new(&mut knowing(other_chunks())).read(&bytes).map(|_| ());
    assert_eq!(world.hash(), hash, "nothing has changed");
    match (refused, other) {
        (
            Err(ReadError::Invalid { what, .. } | ReadError::Truncated { what, .. }),
            Err(ReadError::Invalid { what: also, .. } | ReadError::Truncated { what: also, .. }),
        ) => {
            assert_eq!(what, also);
            what
        }
        other => panic!("{other:?}"),
    }
}

/// A world with small chunks: mostly others than those of `common::world`, and soon restored.
fn other_chunks() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

#[test]
fn entities_of_a_set_are_alive_and_have_one_value() {
    let not_alive = "an entity with a sparse component is not alive";
    let set = |bytes: &[u8]| places_of::<Burning>(bytes, size_of::<Burning>());
    let at = |change: fn(&[Entity], Entity) -> Entity| {
        defect(|bytes, all| {
            let place = set(bytes).entities;
            let new = change(all, id_at(bytes, place));
            put_id(bytes, place, new);
        })
    };
    assert_eq!(at(|all, _| all[11]), not_alive, "it was despawned");
    assert_eq!(at(|_, _| Entity::NULL), not_alive);
    let other = |_: &[Entity], of: Entity| Entity::from_bits(of.to_bits() + 1);
    assert_eq!(at(other), not_alive, "another generation");
    let twice = defect(|bytes, _| {
        let place = set(bytes).entities;
        let first = id_at(bytes, place);
        put_id(bytes, place + 8, first);
    });
    assert_eq!(twice, "an entity has two values of a sparse component");
}

#[test]
fn entities_that_are_gone_have_no_sparse_components() {
    #[component(cleanup)]
    struct Handle(u32);
    let (mut world, all) = filled();
    world.insert(all[10], Handle(1)).expect("alive");
    world.despawn(all[10]).expect("nothing refuses");
    let mut bytes = bytes_of(&mut world);
    let place = places_of::<Burning>(&bytes, size_of::<Burning>()).entities;
    put_id(&mut bytes, place, all[10]);
    sign(&mut bytes);
    let Err(ReadError::Invalid { what, .. }) = world.read_snapshot(&bytes) else {
        panic!("it is read")
    };
    assert_eq!(what, "an entity with a sparse component is not alive");
}

#[test]
fn values_are_those_of_their_types() {
    let what = defect(|bytes, _| {
        let place = places_of::<Sealed>(bytes, 1).values;
        bytes[place] = 2;
    });
    assert_eq!(what, "a value that the type of a sparse component does not have");
    // A tag has no values that could be missing.
    let what = defect(|bytes, _| {
        let place = places_of::<Chosen>(bytes, 0).len;
        put(bytes, place, &7u32.to_ne_bytes());
    });
    assert_eq!(what, "the entities of a set");
}

#[test]
fn relations_have_two_ends_and_one_way_back() {
    let child = |bytes: &[u8]| places_of::<ChildOf>(bytes, 8);
    let what = defect(|bytes, all| {
        // Also the head, so that all lists have sources.
        let Places { values, heads, .. } = child(bytes);
        let target = id_at(bytes, heads);
        let same: Vec<_> = (values..heads + 8).filter(|&at| id_at(bytes, at) == target).collect();
        same.into_iter().for_each(|at| put_id(bytes, at, all[11]));
    });
    assert_eq!(what, "the target of a relation is not alive");
    let what = defect(|bytes, all| {
        let place = child(bytes).values;
        put_id(bytes, place, all[11]);
    });
    assert_eq!(what, "a target without a list of sources");
    let what = defect(|bytes, _| {
        let place = child(bytes).heads;
        let first = id_at(bytes, place);
        put_id(bytes, place + 8, first);
    });
    assert_eq!(what, "a target has two lists of sources");
    let what = defect(|bytes, all| {
        // The only child of one target goes to another one.
        let set = child(bytes);
        let mut targets = (0..u32_at(bytes, set.len)).map(|nth| set.values + 8 * nth);
        let lone = targets.find(|&at| id_at(bytes, at) == all[4]).expect("it has children");
        let second = targets.find(|&at| id_at(bytes, at) == all[4]).expect("it has two");
        put_id(bytes, lone, all[0]);
        put_id(bytes, second, all[0]);
    });
    assert_eq!(what, "a list of sources without a source");
    let what = defect(|bytes, _| {
        let place = child(bytes).places;
        put(bytes, place, &100u32.to_ne_bytes());
    });
    assert_eq!(what, "a place beyond the sources of a target");
    let what = defect(|bytes, _| {
        let set = child(bytes);
        let len = u32_at(bytes, set.len);
        // Two sources of one target get the place 0.
        let target = |nth| id_at(bytes, set.values + 8 * nth);
        let pairs = (0..len).flat_map(|one| (0..one).map(move |other| (one, other)));
        let mut pairs = pairs.filter(|&(one, other)| target(one) == target(other));
        let (one, other) = pairs.next().expect("siblings");
        for nth in [one, other] {
            put(bytes, set.places + 4 * nth, &0u32.to_ne_bytes());
        }
    });
    assert_eq!(what, "two sources have one place");
}

#[test]
fn trees_have_no_cycle() {
    let cycle = "an entity is above itself in a tree";
    let mut world = new_world();
    let [root, child, leaf] = [(); 3].map(|()| world.spawn(Four(1)));
    world.insert(child, ChildOf::of(root)).expect("no cycle");
    world.insert(leaf, ChildOf::of(child)).expect("no cycle");
    let mut bytes = bytes_of(&mut world);
    // The list of the root becomes the list of the leaf.
    let set = places_of::<ChildOf>(&bytes, 8);
    assert_eq!((id_at(&bytes, set.entities), id_at(&bytes, set.values)), (child, root));
    put_id(&mut bytes, set.values, leaf);
    put_id(&mut bytes, set.heads, leaf);
    sign(&mut bytes);
    let Err(ReadError::Invalid { what, .. }) = world.read_snapshot(&bytes) else {
        panic!("it is read")
    };
    assert_eq!(what, cycle);
}

#[test]
fn an_entity_is_its_own_target_in_no_tree() {
    let mut world = new_world();
    let [parent, child] = [(); 2].map(|()| world.spawn(Four(1)));
    world.insert(child, (ChildOf::of(parent), Target::of(parent))).expect("alive");
    let bytes = bytes_of(&mut world);
    for (set, is_tree) in
        [(places_of::<ChildOf>(&bytes, 8), true), (places_of::<Target>(&bytes, 8), false)]
    {
        let mut bytes = bytes.clone();
        put_id(&mut bytes, set.values, child);
        put_id(&mut bytes, set.heads, child);
        sign(&mut bytes);
        match world.read_snapshot(&bytes) {
            Err(error) => assert!(is_tree && error.to_string().contains("above itself"), "{error}"),
            Ok(state) => {
                assert!(!is_tree);
                world.restore(&state).expect("it was read here");
                assert_eq!(world.relation::<Target>().sources(child), [child]);
                sound(&world);
            }
        }
    }
}

#[test]
fn names_kinds_and_numbers_are_checked() {
    let name = |bytes: &[u8]| places_of::<Burning>(bytes, 12).len - "burning".len();
    let what = defect(|bytes, _| {
        let at = name(bytes);
        // Before the name: its length, the kind, the size and the fingerprint.
        put(bytes, at - 16, &7u32.to_ne_bytes());
    });
    assert_eq!(what, "the kind of a sparse component");
    let what = defect(|bytes, _| {
        let at = name(bytes);
        bytes[at] = 0xff;
    });
    assert_eq!(what, "the name of a sparse component");
    let what = defect(|bytes, _| {
        let at = places_of::<Burning>(bytes, 12).len;
        put(bytes, at, &0u32.to_ne_bytes());
    });
    assert_eq!(what, "a sparse component without a value");
    // Numbers without bytes for them.
    for huge in [1u32 << 20, u32::MAX] {
        let what = defect(|bytes, _| {
            let at = places_of::<Burning>(bytes, 12).len;
            put(bytes, at, &huge.to_ne_bytes());
            put(bytes, at + 12, &huge.to_ne_bytes());
        });
        assert_eq!(what, "the entities of a set");
        let what = defect(|bytes, _| {
            let at = places_of::<ChildOf>(bytes, 8).heads - RANGES - 4;
            put(bytes, at, &huge.to_ne_bytes());
            put(bytes, at + 12, &huge.to_ne_bytes());
        });
        assert_eq!(what, "the targets of a relation");
    }
    let what = defect(|bytes, _| {
        let end = bytes.len() - 8;
        bytes.splice(end..end, [0; 4]);
    });
    assert_eq!(what, "there is more behind the last sparse component");
    let what = defect(|bytes, _| {
        let end = bytes.len() - 8;
        bytes.drain(end - 3..end);
    });
    assert_eq!(what, "the targets of a relation");
}

#[test]
fn one_name_is_written_once_and_in_order() {
    let what = defect(|bytes, _| {
        let at = places_of::<Sealed>(bytes, 1).len - "sealed".len();
        put(bytes, at, b"chosen");
    });
    assert_eq!(what, "the sparse components are out of order, or one is twice");
}

#[test]
fn flipped_bytes_are_refused_or_sound() {
    let (mut world, _) = filled_in(knowing(other_chunks()));
    let mut mirror = knowing(other_chunks());
    let bytes = bytes_of(&mut world);
    let (mut read, mut refused) = (0, 0);
    for hostile in flipped(&bytes, if cfg!(miri) { 499 } else { 1 }) {
        match mirror.read_snapshot(&hostile) {
            Err(_) => refused += 1,
            Ok(state) => {
                read += 1;
                mirror.restore(&state).expect("it was read here");
                sound(&mirror);
                go_on(&mut mirror);
            }
        }
    }
    assert!(cfg!(miri) || (read > 100 && refused > 1000), "{read} were read, {refused} refused");
}

/// Makes calls that meet what is inconsistent.
fn go_on(world: &mut World) {
    let all: Vec<Entity> = world.query::<Entity>().rows().collect();
    for &entity in &all {
        let _ = world.insert(entity, Target::of(all[0]));
        let _ = world.remove::<Burning>(entity);
    }
    if let Some(&last) = all.last() {
        let _ = world.despawn(last);
    }
    sound(world);
}

#[test]
fn flipped_deltas_are_refused_or_sound() {
    let (mut world, all) = filled_in(knowing(other_chunks()));
    let mut mirror = knowing(other_chunks());
    let base = world.snapshot().expect("no buffers");
    let whole = base.to_bytes().expect("nothing is shared");
    world.insert(all[8], ChildOf::of(all[2])).expect("no cycle");
    world.sparse_mut::<Burning>().get_mut(all[6]).expect("it has one").left += 1;
    world.despawn(all[5]).expect("nothing refuses");
    let delta = base.delta(&mut world).expect("no buffers");
    for hostile in flipped(&delta, if cfg!(miri) { 199 } else { 1 }) {
        let mut state = mirror.read_snapshot(&whole).expect("it was written");
        if state.read_delta(&mut mirror, &hostile).is_err() {
            assert!(state.to_bytes().expect("it has a state") == whole, "nothing has changed");
        }
        mirror.restore(&state).expect("it was read here");
        sound(&mirror);
    }
}
