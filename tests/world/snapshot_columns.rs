//! The columns of a snapshot as bytes: `Snapshot::archetypes`.

use phalanx::prelude::*;
use phalanx::snapshot::{Snapshot, SnapshotArchetype};

#[component(name = "columns::weight")]
struct Weight(u32);
#[component(name = "columns::colour")]
struct Colour {
    rgb: [u8; 3],
}
#[component(enableable, name = "columns::awake")]
struct Awake(u16);
#[component(name = "columns::mark")]
struct Mark;

fn only(snapshot: &Snapshot) -> SnapshotArchetype<'_> {
    let mut archetypes = snapshot.archetypes().filter(|archetype| !archetype.is_empty());
    let archetype = archetypes.next().expect("there are entities");
    assert!(archetypes.next().is_none(), "there is one archetype with entities");
    archetype
}

#[test]
fn a_column_has_the_rows_of_all_chunks_in_the_order_of_the_entities() {
    let mut world = World::new();
    let rows = (0..20_000).map(|i| (Weight(i), Colour { rgb: [1, 2, 3] }));
    let all = world.spawn_batch(rows).to_vec();
    for entity in all.iter().step_by(3) {
        world.despawn(*entity).unwrap();
    }
    let snapshot = world.snapshot().unwrap();
    let archetype = only(&snapshot);
    let weights = archetype.column("columns::weight").unwrap();
    assert_eq!(weights.bytes().len(), 4 * archetype.len());
    for (entity, bytes) in archetype.entities().iter().zip(weights.bytes().chunks_exact(4)) {
        let weight = world.get::<Weight>(*entity).unwrap().0;
        assert_eq!(bytes, weight.to_ne_bytes(), "{entity}");
    }
    for column in archetype.columns() {
        assert_eq!(column.bytes().as_ptr() as usize % 64, 0, "{column:?}");
    }
}

#[test]
fn enable_bits_are_those_of_the_entities_in_all_chunks() {
    let mut world = World::new();
    let all = world.spawn_batch((0..20_000).map(|i| (Awake(i), Weight(7), Mark))).to_vec();
    let sleeping = |row: usize| row.is_multiple_of(7) || row > 19_900;
    for (_, entity) in all.iter().enumerate().filter(|(row, _)| sleeping(*row)) {
        world.set_enabled::<Awake>(*entity, false).unwrap();
    }
    let snapshot = world.snapshot().unwrap();
    let archetype = only(&snapshot);
    assert_eq!(archetype.entities(), all, "rows are in the order of the batch");
    let awake = archetype.column("columns::awake").unwrap();
    assert!((0..all.len()).all(|row| awake.is_enabled(row) != sleeping(row)), "bits by row");
    let weight = archetype.column("columns::weight").unwrap();
    assert!((0..all.len()).all(|row| weight.is_enabled(row)), "it cannot be disabled");
    let mark = archetype.column("columns::mark").unwrap();
    assert!(mark.bytes().is_empty(), "a tag has no bytes");
}

#[test]
fn a_snapshot_that_was_read_has_the_same_columns() {
    let mut world = World::new();
    world.spawn_batch((0..5000).map(|i| (Weight(i), Awake(2))));
    let bytes = world.snapshot().unwrap().to_bytes().unwrap();
    let mut other = World::new();
    other.register::<(Awake, Mark, Weight)>();
    let (first, second) = (world.snapshot().unwrap(), other.read_snapshot(&bytes).unwrap());
    let (first, second) = (only(&first), only(&second));
    assert_eq!(first.entities(), second.entities());
    for (one, two) in first.columns().zip(second.columns()) {
        assert_eq!((one.info(), one.bytes()), (two.info(), two.bytes()));
    }
    assert!(format!("{second:?}").contains("weight"), "{second:?}");
}
