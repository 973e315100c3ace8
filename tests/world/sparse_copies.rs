//! Copies of entities have copies of their plain sparse values.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::{Pod, Zeroable};
use phalanx::MapEntities;
use phalanx::prelude::*;

use crate::common::components::{Four, Text, sound};
use crate::common::world;

use super::relations::{ChildOf, Target};

#[component(sparse, plain)]
#[derive(Debug, PartialEq)]
struct Points(u32);
#[component(sparse, plain)]
#[derive(Debug, PartialEq)]
struct Marked;
/// Exists only once.
#[component(sparse, plain, cleanup)]
#[derive(Debug, PartialEq)]
struct Handle(u32);
#[component(sparse, plain)]
#[derive(Debug, PartialEq)]
struct Watches {
    whom: Entity,
}

/// So many copies need several chunks.
const COPIES: usize = if cfg!(miri) { 20 } else { 2_000 };

/// An entity with all kinds of values, some of which are copied.
fn prototype(world: &mut World) -> Entity {
    let entity = world.spawn((Four(1), Points(7), Marked, Handle(3), Text::from("name")));
    world.insert(entity, Target::of(entity)).expect("alive");
    entity
}

#[test]
fn plain_values_are_copied_and_no_others() {
    for is_part in [false, true] {
        let mut world = world();
        let (_, other) = (world.spawn((Four(0), Points(1))), world.spawn(Four(0)));
        let original = prototype(&mut world);
        if is_part {
            // The rows of the copies are in another archetype.
            world.insert(original, Prototype).expect("alive");
        }
        let mut gained = world.cursor::<Insertions<Points>>();
        let copies = world.instantiate(original, COPIES).expect("there is room").to_vec();
        assert_eq!(copies.len(), COPIES);
        for &copy in &copies {
            assert_eq!(world.get::<Points>(copy).expect("it is copied").0, 7);
            assert!(world.has::<Marked>(copy) && world.has::<Four>(copy));
            assert!(!world.has::<Handle>(copy) && !world.has::<Text>(copy));
            assert!(!world.has::<Target>(copy));
        }
        assert_eq!(gained.read(&world).0, copies, "each once, in order");
        let seen = world.query::<(&Four, &Points)>().filter::<With<Marked>>().count_rows();
        assert_eq!(seen, COPIES + usize::from(!is_part), "a prototype is hidden");
        assert!(!world.has::<Points>(other) && world.sparse::<Handle>().len() == 1);
        // Values of their own.
        world.get_mut::<Points>(copies[1]).expect("it is copied").0 = 8;
        assert_eq!(world.get::<Points>(original).expect("it has one").0, 7);
        sound(&world);
        world.despawn_batch(&copies);
        assert_eq!(world.sparse::<Points>().len(), 2);
        sound(&world);
    }
}

#[test]
fn copies_are_what_insertions_make() {
    let (mut copied, mut inserted) = (world(), world());
    let originals = [&mut copied, &mut inserted].map(prototype);
    let copies = copied.instantiate(originals[0], 3).expect("there is room").to_vec();
    let same = inserted.spawn_batch([Four(1); 3].map(|four| (four, Points(7), Marked))).to_vec();
    assert_eq!(copies, same);
    let values = |world: &World| {
        let points = world.sparse::<Points>();
        points.iter().map(|(entity, points)| (entity, points.0)).collect::<Vec<_>>()
    };
    let rows = |world: &World| {
        let rows = world.query::<(Entity, &Four, &Points)>().filter::<With<Marked>>();
        rows.rows().map(|(entity, four, points)| (entity, four.0, points.0)).collect::<Vec<_>>()
    };
    assert_eq!(values(&copied), values(&inserted));
    assert_eq!((rows(&copied).len(), rows(&copied)), (4, rows(&inserted)));
    assert_eq!(copied.instantiate(copies[0], 0).expect("there is room"), []);
    assert_eq!((copied.len(), values(&copied).len()), (4, 4));
}

#[test]
fn ids_in_the_values_of_a_tree_point_into_the_copy() {
    let mut world = world();
    let (root, outside) = (world.spawn(Four(0)), world.spawn(Four(1)));
    let child = world.spawn((ChildOf::of(root), Watches { whom: root }, Points(2)));
    world.insert(root, (Watches { whom: child }, Text::from("root"))).expect("alive");
    let low = world.spawn((ChildOf::of(child), Watches { whom: outside }, Handle(1)));
    let copies = world.instantiate_tree::<ChildOf>(root, [None; 2]).expect("there is room");
    for copy in copies.chunks(3) {
        let whom = |at: usize| world.get::<Watches>(copy[at]).expect("it is copied").whom;
        assert_eq!([whom(0), whom(1), whom(2)], [copy[1], copy[0], outside]);
        assert_eq!(world.get::<Points>(copy[1]).expect("it is copied").0, 2);
        assert!(!world.has::<Text>(copy[0]) && !world.has::<Handle>(copy[2]));
    }
    assert!(world.has::<Handle>(low) && world.sparse::<Watches>().len() == 9);
    sound(&world);
    // One entity is copied as it is: its ids stay.
    let copy = world.instantiate(child, 1).expect("there is room")[0];
    assert_eq!(world.get::<Watches>(copy).expect("it is copied").whom, root);
    sound(&world);
}

/// Plain by itself, with ids that cannot be replaced.
#[component(sparse)]
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Brittle(u64);

impl MapEntities for Brittle {
    fn map_entities(&mut self, _map: &mut dyn FnMut(Entity) -> Entity) {
        panic!("a value panics");
    }
}

#[test]
fn all_copies_are_made_if_a_value_panics() {
    let mut world = world();
    let root = world.spawn(Points(1));
    let child = world.spawn((ChildOf::of(root), Brittle(1), Points(2), Marked));
    let call = || world.instantiate_tree::<ChildOf>(root, None);
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    assert_eq!(world.len(), 4);
    let sets = [world.sparse::<Points>().len(), world.sparse::<Marked>().len()];
    assert_eq!((sets, world.sparse::<Brittle>().len()), ([4, 2], 2));
    sound(&world);
    // No id is replaced here.
    world.instantiate(child, 2).expect("there is room");
    assert_eq!(world.sparse::<Brittle>().len(), 4);
    sound(&world);
}

#[test]
fn values_count_as_memory_of_the_call() {
    #[component(sparse, plain)]
    struct Large([u64; 512]);

    let mut world = World::builder().request_bytes_max(1 << 20).build();
    let original = world.spawn((Four(1), Large([1; 512])));
    let hash = world.hash();
    for copies in [1_000, usize::MAX] {
        assert!(world.instantiate(original, copies).is_err());
        assert_eq!((world.hash(), world.len()), (hash, 1));
    }
    // The limit is of rows and values together.
    #[component]
    struct Column([u64; 512]);
    world.insert(original, Column([2; 512])).expect("alive");
    let hash = world.hash();
    assert!(world.instantiate(original, 200).is_err());
    assert_eq!((world.hash(), world.len()), (hash, 1));
    assert_eq!(world.instantiate(original, 100).expect("there is room").len(), 100);
    assert_eq!(world.sparse::<Large>().iter().filter(|(_, large)| large.0[511] == 1).count(), 101);
    sound(&world);
}
