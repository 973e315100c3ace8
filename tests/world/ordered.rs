//! Ordered relations by single calls: places, batches of removals, copies, logs and bytes.

use phalanx::logs::{Insertions, Removals};
use phalanx::prelude::*;
use phalanx::snapshot::ReadError;
use phalanx::sparse::RelationComponent;

use crate::common::components::{Four, sound};
use crate::common::world;

use super::relations::ChildOf;
use super::snapshot_hostile::sign;
use super::snapshot_shared::bytes_of;

#[relation(tree, ordered)]
#[derive(Debug, PartialEq)]
pub(crate) struct SlotOf;

/// With cycles.
#[relation(ordered, on_delete = despawn)]
struct After;

fn sources<R: RelationComponent>(world: &World, target: Entity) -> Vec<Entity> {
    sound(world);
    world.relation::<R>().sources(target).to_vec()
}

fn list(world: &mut World, len: usize) -> (Entity, Vec<Entity>) {
    let target = world.spawn(());
    let rows = (0..len).map(|_| (Four(0), SlotOf::of(target)));
    (target, world.spawn_batch(rows).to_vec())
}

#[test]
fn a_place_is_the_one_after_the_call() {
    for from in 0..5 {
        for to in 0..8 {
            let mut world = world();
            let (target, mut model) = list(&mut world, 5);
            let moved = model.remove(from);
            model.insert(to.min(4), moved);
            world.insert(moved, SlotOf::of(target).at(to)).expect("alive");
            assert_eq!(sources::<SlotOf>(&world, target), model, "{from} to {to}");
            world.insert(moved, (Four(1), SlotOf::of(target))).expect("alive");
            assert_eq!(sources::<SlotOf>(&world, target), model, "it stays");
        }
    }
}

#[test]
fn a_value_in_the_world_has_no_place() {
    let mut world = world();
    let mut gained = world.cursor::<Insertions<SlotOf>>();
    let mut lost = world.cursor::<Removals<SlotOf>>();
    let (target, slots) = list(&mut world, 2);
    let new = world.spawn(SlotOf::of(target).at(0));
    assert_eq!(world.get::<SlotOf>(new).ok().as_deref(), Some(&SlotOf::of(target)));
    world.insert(new, SlotOf::of(target).at(2)).expect("alive");
    let gained = gained.read(&world).1.to_vec();
    assert_eq!(gained, [(); 3].map(|()| SlotOf::of(target)), "a move is no gain");
    assert_eq!(world.remove::<SlotOf>(new), Ok(SlotOf::of(target)));
    assert_eq!(lost.read(&world), (&[new][..], &[SlotOf::of(target)][..]));
    assert_eq!(sources::<SlotOf>(&world, target), slots);
    assert_eq!(size_of::<SlotOf>(), 16);
}

#[test]
fn a_refused_place_changes_nothing() {
    let mut world = world();
    let (target, slots) = list(&mut world, 3);
    let dead = world.spawn(());
    world.despawn(dead).expect("alive");
    let before = (world.hash(), world.version());
    assert!(world.insert(target, SlotOf::of(slots[1]).at(0)).is_err(), "a cycle");
    assert!(world.insert(slots[2], SlotOf::of(dead).at(0)).is_err());
    assert!(world.try_spawn(SlotOf::of(dead).at(usize::MAX)).is_err());
    assert_eq!((world.hash(), world.version()), before);
    assert_eq!(sources::<SlotOf>(&world, target), slots);
}

#[test]
fn many_removals_at_once_keep_the_order_of_others() {
    for mask in 0..1 << 6 {
        let mut world = world();
        let (target, slots) = list(&mut world, 6);
        let (other, others) = list(&mut world, 2);
        let is_named = |at: &usize| mask >> at & 1 == 1;
        // In no order, once twice, and with both of another list.
        let mut named: Vec<_> = (0..6).rev().filter(is_named).map(|at| slots[at]).collect();
        named.extend_from_slice(&others);
        named.extend(named.first().copied());
        named.rotate_left(1);
        assert_eq!(world.despawn_batch(&named), named.len() - 1);
        let left: Vec<_> = slots.iter().copied().filter(|one| !named.contains(one)).collect();
        assert_eq!(sources::<SlotOf>(&world, target), left);
        assert_eq!(sources::<SlotOf>(&world, other), []);
    }
}

#[test]
fn long_lists_lose_their_sources_in_one_pass() {
    let len = if cfg!(miri) { 50 } else { 200_000 };
    let mut world = world();
    let (target, slots) = list(&mut world, len);
    let (odd, even): (Vec<_>, Vec<_>) = (0..len).partition(|at| at % 2 == 1);
    let named: Vec<_> = even.iter().map(|&at| slots[at]).collect();
    assert_eq!(world.despawn_batch(&named), named.len());
    let left: Vec<_> = odd.iter().map(|&at| slots[at]).collect();
    assert!(sources::<SlotOf>(&world, target) == left);
    // The sources leave their target, one world their own.
    let mut other = self::world();
    other.move_from(world.matching::<&Four>()).expect("built alike");
    assert!(sources::<SlotOf>(&world, target).is_empty());
    assert!(other.relation::<SlotOf>().is_empty());
    sound(&other);
}

#[test]
fn another_order_is_another_state() {
    let mut world = world();
    let (target, slots) = list(&mut world, 3);
    let (before, state) = (world.hash(), world.snapshot().expect("no buffers"));
    let before_bytes = state.to_bytes().expect("nothing is shared");
    world.insert(slots[0], SlotOf::of(target).at(2)).expect("alive");
    assert_ne!(world.hash(), before);
    let mut mirror = self::world();
    mirror.register::<(Four, SlotOf)>();
    let read = mirror.read_snapshot(&bytes_of(&mut world)).expect("it was written");
    mirror.restore(&read).expect("it was read here");
    assert_eq!(sources::<SlotOf>(&mirror, target), [slots[1], slots[2], slots[0]]);
    let old = mirror.read_snapshot(&before_bytes).expect("it was written");
    mirror.restore(&old).expect("it was read here");
    assert_eq!(sources::<SlotOf>(&mirror, target), slots);
    world.restore(&state).expect("of this world");
    assert_eq!(sources::<SlotOf>(&world, target), slots);
    assert_eq!(world.hash(), before);
}

#[test]
fn bytes_with_a_wrong_place_are_refused() {
    let mut world = world();
    let (target, slots) = list(&mut world, 3);
    for (at, &slot) in slots.iter().enumerate() {
        world.insert(slot, SlotOf::of(target).at(at)).expect("alive");
    }
    let bytes = bytes_of(&mut world);
    let mut mirror = self::world();
    mirror.register::<(Four, SlotOf)>();
    let places: Vec<u8> = [0u32, 1, 2].iter().flat_map(|place| place.to_le_bytes()).collect();
    let found = bytes.windows(12).rposition(|window| *window == places).expect("they are written");
    let (twice, beyond) = ("two sources have one place", "a place beyond the sources of a target");
    for (wrong, defect) in [([0u32, 0, 2], twice), ([0, 1, 3], beyond), ([0, 1, u32::MAX], beyond)]
    {
        let mut bytes = bytes.clone();
        for (at, place) in wrong.iter().enumerate() {
            bytes[found + 4 * at..][..4].copy_from_slice(&place.to_le_bytes());
        }
        sign(&mut bytes);
        let read = mirror.read_snapshot(&bytes).map(|_| ());
        assert!(matches!(read, Err(ReadError::Invalid { what, .. }) if what == defect), "{read:?}");
    }
}

#[test]
fn copies_of_a_tree_have_the_orders_of_all_relations() {
    let mut world = world();
    let root = world.spawn(());
    let parts = [(); 4].map(|()| world.spawn(ChildOf::of(root)));
    let outside = world.spawn(());
    for (at, place) in [(0, 0), (1, 0), (2, 1), (3, 0)] {
        world.insert(parts[at], SlotOf::of(root).at(place)).expect("alive");
        world.insert(parts[at], After::of(outside).at(place)).expect("alive");
    }
    let order = [3, 1, 2, 0];
    assert_eq!(sources::<SlotOf>(&world, root), order.map(|at| parts[at]));
    let copies = world.instantiate_tree::<ChildOf>(root, None).expect("alive");
    assert_eq!(sources::<ChildOf>(&world, copies[0]), copies[1..]);
    assert_eq!(sources::<SlotOf>(&world, copies[0]), order.map(|at| copies[1 + at]));
    let all: Vec<_> =
        order.map(|at| parts[at]).into_iter().chain(order.map(|at| copies[1 + at])).collect();
    assert_eq!(sources::<After>(&world, outside), all);
    world.despawn(outside).expect("alive");
    assert_eq!(world.len(), 2, "the roots");
    sound(&world);
}

#[test]
fn an_entity_may_come_before_itself() {
    let mut world = world();
    let [a, b] = [(); 2].map(|()| world.spawn(()));
    world.insert(a, After::of(a)).expect("no tree");
    world.insert(b, After::of(a).at(0)).expect("alive");
    assert_eq!(sources::<After>(&world, a), [b, a]);
    assert_eq!(world.despawn_batch(&[a, b]), 2);
    assert!(world.relation::<After>().is_empty());
    sound(&world);
}
