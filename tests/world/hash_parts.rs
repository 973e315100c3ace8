//! `World::hash` covers each part of a state for itself: two worlds that differ in one of them, and
//! in nothing else, have different hashes.

use phalanx::HashCache;
use phalanx::prelude::*;

use crate::common::components::{Four, Tag, sound};

#[component]
#[derive(Debug, PartialEq)]
struct Level(u32);
#[component]
#[derive(Debug, PartialEq)]
struct Depth(u32);
#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Awake;
#[component(lines)]
#[derive(Debug, PartialEq)]
struct Heat(u32);

/// Rows of more than one word of enable bits and one line, all in one chunk.
const ROWS: u32 = 100;

type Values = PerChunk<Depth>;

/// What is done to one of two worlds.
type Change = fn(&mut World, &[Entity]);

/// A world after a change, and its hash.
fn after(change: Change) -> (World, u64) {
    let mut world = crate::common::world();
    let rows = (0..ROWS).map(|i| (Level(i), Awake, Heat(i), Values::TAG));
    let entities = world.spawn_batch(rows).to_vec();
    change(&mut world, &entities);
    sound(&world);
    let hash = world.hash();
    assert_eq!(HashCache::new().hash(&world), hash);
    (world, hash)
}

/// Asserts that two changes, of as many versions each, lead to different hashes.
#[track_caller]
fn assert_told_apart(one: Change, other: Change) {
    let [(first, plain), (_, again), (second, changed)] = [one, one, other].map(after);
    assert_eq!(plain, again, "the same calls make the same hash");
    assert_eq!(first.version(), second.version(), "they differ in the part alone");
    assert_ne!(plain, changed);
}

/// Writes the rows one after the other, each with its own number.
fn write<C: Component>(
    world: &mut World,
    entities: &[Entity],
    make: fn(u32) -> C,
    rows: [usize; 2],
) {
    for row in rows {
        let number = u32::try_from(row).expect("a row");
        *world.get_mut::<C>(entities[row]).expect("it has one") = make(number);
    }
}

#[test]
fn values_of_components_are_told_apart() {
    assert_told_apart(
        |world, entities| *world.get_mut::<Level>(entities[3]).expect("it has one") = Level(7),
        |world, entities| *world.get_mut::<Level>(entities[3]).expect("it has one") = Level(8),
    );
}

#[test]
fn the_entities_of_rows_are_told_apart() {
    fn spawn(world: &mut World, indices: [u64; 2]) {
        for index in indices {
            let entity = Entity::from_bits(index << 32 | 1);
            world.spawn_at(entity, Four(1)).expect("it is free");
        }
    }
    assert_told_apart(|world, _| spawn(world, [200, 201]), |world, _| spawn(world, [201, 200]));
}

#[test]
fn which_rows_are_disabled_is_told_apart() {
    fn disable(world: &mut World, entity: Entity) {
        assert_eq!(world.set_enabled::<Awake>(entity, false), Ok(true));
    }
    // In one word of bits, in two words, and in the last row.
    assert_told_apart(|w, entities| disable(w, entities[3]), |w, entities| disable(w, entities[5]));
    assert_told_apart(
        |w, entities| disable(w, entities[3]),
        |w, entities| disable(w, entities[67]),
    );
    assert_told_apart(
        |w, entities| disable(w, entities[98]),
        |w, entities| disable(w, entities[99]),
    );
}

#[test]
fn names_of_components_are_told_apart() {
    assert_told_apart(|world, _| _ = world.spawn(Level(1)), |world, _| _ = world.spawn(Depth(1)));
}

#[test]
fn the_order_of_archetypes_is_told_apart() {
    assert_told_apart(
        |world, _| {
            world.reserve::<Four>(1).expect("room");
            world.reserve::<Tag>(1).expect("room");
        },
        |world, _| {
            world.reserve::<Tag>(1).expect("room");
            world.reserve::<Four>(1).expect("room");
        },
    );
}

#[test]
fn the_version_of_the_world_is_told_apart() {
    let (first, plain) = after(|_, _| ());
    let (second, changed) =
        after(|world, entities| world.insert(entities[0], ()).expect("it is alive"));
    assert!(first.version() < second.version());
    assert_ne!(plain, changed);
}

#[test]
fn versions_of_columns_are_told_apart() {
    assert_told_apart(
        |world, entities| {
            write(world, entities, Level, [3, 3]);
            *world.get_mut::<Awake>(entities[3]).expect("it has one") = Awake;
        },
        |world, entities| {
            write(world, entities, Level, [3, 3]);
            *world.get_mut::<Level>(entities[3]).expect("it has one") = Level(3);
        },
    );
}

#[test]
fn versions_of_lines_are_told_apart() {
    assert_told_apart(
        |world, entities| write(world, entities, Heat, [2, 40]),
        |world, entities| write(world, entities, Heat, [40, 2]),
    );
}

#[test]
fn versions_of_order_and_arrival_are_told_apart() {
    // The row that goes is the last one, so that nothing else moves.
    fn change(world: &mut World, entities: &[Entity], is_first: bool) {
        let last = *entities.last().expect("a row");
        if is_first {
            world.despawn(last).expect("it is alive");
        }
        world.insert(entities[0], ()).expect("it is alive");
        if !is_first {
            world.despawn(last).expect("it is alive");
        }
    }
    assert_told_apart(
        |world, entities| change(world, entities, true),
        |world, entities| change(world, entities, false),
    );
}

#[test]
fn values_of_chunks_are_told_apart() {
    fn set(world: &mut World, number: u32) {
        for mut depth in world.query_mut::<PerChunkMut<Depth>>() {
            depth.0 = number;
        }
    }
    assert_told_apart(|world, _| set(world, 1), |world, _| set(world, 2));
}

#[test]
fn shared_values_and_who_has_them_are_told_apart() {
    fn share(world: &mut World, pairs: [(Entity, u8); 2]) {
        for (entity, team) in pairs {
            world.insert_shared(entity, team).expect("it is alive");
        }
    }
    assert_told_apart(
        |world, all| share(world, [(all[98], 1), (all[99], 2)]),
        |world, all| share(world, [(all[98], 1), (all[99], 3)]),
    );
    // Both values are known before, in one order, so that they alone differ.
    fn share_known(world: &mut World, pairs: [(Entity, u8); 2]) {
        let known = [world.spawn(Four(1)), world.spawn(Four(2))];
        share(world, [(known[0], 1), (known[1], 2)]);
        share(world, pairs);
    }
    assert_told_apart(
        |world, all| share_known(world, [(all[98], 1), (all[99], 2)]),
        |world, all| share_known(world, [(all[98], 2), (all[99], 1)]),
    );
}

#[test]
fn ids_that_wait_are_told_apart() {
    let free = |world: &mut World, entities: &[Entity], rows: [usize; 2]| {
        for row in rows {
            world.despawn(entities[row]).expect("it is alive");
        }
    };
    // The rows that are left are the same, and the index that is used next is another one.
    let mut hashes = [[98, 99], [99, 98]].map(|rows| {
        let mut world = crate::common::world();
        let entities = world.spawn_batch((0..ROWS).map(|_| Tag)).to_vec();
        free(&mut world, &entities, rows);
        (world.query::<Entity>().copies().entities(), world.hash(), world.spawn(()))
    });
    let [one, other] = &mut hashes;
    assert_eq!(one.0, other.0, "rows that are left");
    assert_ne!(one.2, other.2, "the next id");
    assert_ne!(one.1, other.1);
    assert_told_apart(
        |world, _| assert!(world.reserve_entity().is_ok()),
        |world, _| assert_eq!(world.reserve_entities(2).map(Iterator::count), Ok(2)),
    );
}

#[test]
fn sizes_of_chunks_and_limits_are_told_apart() {
    let hash = |builder: phalanx::WorldBuilder| {
        let mut world = builder.build();
        world.spawn(Four(1));
        world.hash()
    };
    let mut hashes = [
        hash(World::builder().chunk_size(ChunkSize::KIB_4)),
        hash(World::builder().chunk_size(ChunkSize::KIB_16)),
        hash(World::builder().chunk_size(ChunkSize::KIB_16).entities_max(1_000)),
        hash(World::builder().chunk_size(ChunkSize::KIB_16).request_bytes_max(1 << 30)),
    ];
    hashes.sort_unstable();
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
}
