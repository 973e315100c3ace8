//! Components that are aligned to more than a cache line: their order decides the rows of a chunk,
//! and is that of their registration in each world.

use phalanx::prelude::*;
use phalanx::snapshot::{ReadError, SnapshotReader};

use crate::common::components::sound;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Low([u8; 444]);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(128))]
struct Wide([u8; 128]);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct High([u8; 452]);
impl_component!(Low, Wide, High);

const ROW: (Low, Wide, High) = (Low([1; 444]), Wide([2; 128]), High([3; 452]));

/// A world that knows the components in one of two orders.
fn world(wide_first: bool) -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_16).build();
    if wide_first {
        world.register::<Wide>();
    }
    world.register::<(Low, Wide, High)>();
    world
}

/// The rows of a chunk, in a copy of the world's components with twenty entities.
fn capacity(wide_first: bool) -> usize {
    let mut world = world(wide_first);
    world.spawn_batch((0..20).map(|_| ROW));
    world.query::<&Wide>().iter().next().expect("the world has rows").len()
}

#[test]
fn a_merge_does_not_change_the_layout_that_snapshots_expect() {
    let mut here = world(false);
    let empty = here.snapshot().unwrap();
    here.spawn_batch((0..16).map(|_| ROW));
    let full = here.snapshot().unwrap();
    let hash = here.hash();
    let mut there = world(true);
    there.spawn(ROW);
    assert_ne!(capacity(false), capacity(true), "the order does not matter");

    here.restore(&empty).unwrap();
    let merged = here.merge(there).unwrap();
    assert_eq!(merged.len(), 1);
    sound(&here);
    here.restore(&full).unwrap();
    sound(&here);
    assert_eq!((here.len(), here.hash()), (16, hash));
}

#[test]
fn a_state_that_was_read_can_be_restored_after_a_merge() {
    let mut here = world(false);
    here.spawn_batch((0..16).map(|_| ROW));
    let bytes = here.snapshot().unwrap().to_bytes().unwrap();
    let hash = here.hash();
    let mut reader = world(false);
    let read = reader.read_snapshot(&bytes).unwrap();
    let mut there = world(true);
    there.spawn(ROW);
    reader.merge(there).unwrap();
    reader.restore(&read).unwrap();
    sound(&reader);
    assert_eq!(reader.hash(), hash);
}

#[test]
fn a_state_of_another_order_is_read_by_a_snapshot_reader() {
    let mut there = world(false);
    there.spawn_batch((0..16).map(|_| ROW));
    let bytes = there.snapshot().unwrap().to_bytes().unwrap();
    let mut here = world(true);
    assert!(matches!(here.read_snapshot(&bytes), Err(ReadError::Invalid { .. })));
    let read = SnapshotReader::new(&mut here).read(&bytes).unwrap();
    here.restore(&read).unwrap();
    sound(&here);
    assert_eq!((here.len(), here.query::<&Wide>().iter().count()), (16, 1));
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Impostor;
impl Component for Impostor {
    const NAME: &'static str = "phalanx::KeptValues";
    const CLEANUP: bool = true;
}
#[component(sparse, plain, cleanup)]
struct Slot(u32);

/// The bytes of a tag that the library gives to entities that are gone only.
#[test]
fn bytes_with_living_entities_that_have_a_tag_of_the_gone_are_refused() {
    let mut there = World::new();
    there.spawn(Impostor);
    let bytes = there.snapshot().unwrap().to_bytes().unwrap();
    let mut here = World::new();
    here.register::<Slot>();
    let error = here.read_snapshot(&bytes).expect_err("an entity that is alive has the tag");
    let ReadError::Invalid { what, .. } = error else { panic!("{error}") };
    assert!(what.contains("kept for cleanup"), "{what}");
}
