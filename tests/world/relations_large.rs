//! Relations of many entities: long chains, many siblings, and states of whole trees.

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use crate::common::components::{Four, Link, sound};
use crate::common::world;

use super::relations::{ChildOf, PartOf, Target};

/// A number of entities that only a method without recursion survives.
const MANY: u32 = if cfg!(miri) { 300 } else { 1_000_000 };

fn chain(world: &mut World, len: u32) -> Vec<Entity> {
    let all = world.spawn_batch((0..len).map(Four)).to_vec();
    for pair in all.windows(2) {
        world.insert(pair[1], PartOf::of(pair[0])).expect("no cycle");
    }
    all
}

#[test]
fn a_chain_of_a_million_goes_without_recursion() {
    let mut world = world();
    let all = chain(&mut world, MANY);
    let (first, last) = (all[0], all[all.len() - 1]);
    let tree = world.relation::<PartOf>();
    assert_eq!((tree.root(last), tree.depth(last)), (first, all.len() - 1));
    assert_eq!((tree.levels().len(), tree.descendants(first).len()), (all.len(), all.len() - 1));
    assert!(tree.depth_first(first).eq(all[1..].iter().copied()));
    drop(tree);
    assert!(world.insert(first, PartOf::of(last)).is_err(), "a long cycle");
    assert_eq!(world.despawn_batch(&[first]), all.len());
    assert!(world.is_empty() && world.relation::<PartOf>().is_empty());
    sound(&world);
}

#[test]
fn one_of_a_million_siblings_goes_alone() {
    let mut world = world();
    let parent = world.spawn(());
    let children = world.spawn_batch((0..MANY).map(|_| PartOf::of(parent))).to_vec();
    world.despawn(children[1]).expect("alive");
    let tree = world.relation::<PartOf>();
    assert_eq!(tree.sources(parent).len(), children.len() - 1);
    assert_eq!(tree.sources(parent)[..2], [children[0], children[children.len() - 1]]);
    drop(tree);
    world.despawn(parent).expect("alive");
    assert!(world.is_empty());
    sound(&world);
}

/// With a step that looks at all siblings this would take many minutes.
#[test]
fn many_of_a_million_siblings_come_and_go_one_by_one() {
    let mut world = world();
    let [parent, other] = [(); 2].map(|()| world.spawn(()));
    let children = world.spawn_batch((0..MANY).map(|_| PartOf::of(parent))).to_vec();
    let some = children.len() / 10;
    // From the front: the siblings behind these are most of all.
    for pair in children[..2 * some].chunks(2) {
        world.insert(pair[0], PartOf::of(other)).expect("no cycle");
        world.remove::<PartOf>(pair[1]).expect("alive");
    }
    let tree = world.relation::<PartOf>();
    let lens = [parent, other].map(|target| tree.sources(target).len());
    assert_eq!(lens, [children.len() - 2 * some, some]);
    drop(tree);
    for pair in children[..2 * some].chunks(2) {
        world.insert(pair[0], PartOf::of(parent)).expect("no cycle");
        world.insert(pair[1], PartOf::of(parent)).expect("no cycle");
        world.despawn(pair[0]).expect("alive");
    }
    let tree = world.relation::<PartOf>();
    assert_eq!(tree.sources(parent).len(), children.len() - some);
    assert!(tree.sources(other).is_empty());
    drop(tree);
    sound(&world);
}

fn tree(world: &mut World) -> [Entity; 4] {
    let root = world.spawn(Four(0));
    let children = world.spawn_batch([ChildOf::of(root); 3]).to_vec();
    world.despawn(children[0]).expect("alive"); // now the last one is the first
    let low = world.spawn((ChildOf::of(children[2]), Target::of(root)));
    [root, children[1], children[2], low]
}

#[test]
fn a_restored_tree_has_the_order_of_its_sources() {
    let mut world = world();
    let [root, second, first, low] = tree(&mut world);
    let saved = world.snapshot().expect("no buffers");
    world.despawn_batch(&[first, second]);
    world.insert(root, ChildOf::of(low)).expect("no cycle");
    world.insert(low, Target::of(low)).expect("alive");
    for _ in 0..2 {
        world.restore(&saved.clone()).expect("of this world");
        let tree = world.relation::<ChildOf>();
        assert_eq!((tree.sources(root), tree.sources(first)), (&[first, second][..], &[low][..]));
        assert_eq!((tree.len(), world.relation::<Target>().target(low)), (3, Some(root)));
        drop(tree);
        sound(&world);
        world.clear();
    }
    // A state that is older than the relation has none of it.
    let mut world = self::world();
    let entity = world.spawn(());
    let before = world.snapshot().expect("no buffers");
    world.insert(entity, Target::of(entity)).expect("alive");
    world.restore(&before).expect("of this world");
    assert!(world.relation::<Target>().is_empty() && !world.has::<Target>(entity));
    sound(&world);
}

#[test]
fn bytes_of_a_state_have_relations() {
    let mut world = world();
    let [root, first, second, low] = tree(&mut world);
    let hash = world.hash();
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("all have bytes");
    let read: Snapshot = world.read_snapshot(&bytes).expect("its own bytes");
    world.restore(&read).expect("of this world");
    assert_eq!(world.query::<Entity>().with::<ChildOf>().count_rows(), 3);
    let tree = world.relation::<ChildOf>();
    assert_eq!((tree.sources(root), tree.sources(second)), (&[second, first][..], &[low][..]));
    assert_eq!(world.hash(), hash);
    drop(tree);
    sound(&world);
}

#[test]
fn merged_trees_keep_references_across() {
    let (mut world, mut other) = (world(), world());
    let ours = tree(&mut world);
    let theirs = tree(&mut other);
    let across = other.spawn((Link(theirs[3]), Target::of(theirs[1])));
    let merged = world.merge(other).expect("built alike");
    let new = |old| merged.get(old).expect("it came");
    let tree = world.relation::<ChildOf>();
    assert_eq!(tree.sources(new(theirs[0])), [new(theirs[2]), new(theirs[1])]);
    assert_eq!(tree.sources(ours[0]), [ours[2], ours[1]]);
    assert_eq!(world.relation::<Target>().target(new(across)), Some(new(theirs[1])));
    assert_eq!(world.get::<Link>(new(across)).expect("a column").0, new(theirs[3]));
    drop(tree);
    sound(&world);
    world.insert(new(theirs[0]), ChildOf::of(ours[3])).expect("no cycle");
    assert_eq!(world.relation::<ChildOf>().root(new(theirs[3])), ours[0]);
    sound(&world);
}

#[test]
fn a_moved_end_takes_no_one_along() {
    let (mut world, mut level) = (world(), world());
    let root = level.spawn(Four(0));
    let parts =
        level.spawn_batch([(Four(1), PartOf::of(root)), (Four(2), PartOf::of(root))]).to_vec();
    let stays = level.spawn((PartOf::of(parts[0]), Target::of(root)));
    let guard = level.spawn(());
    level.insert(root, Target::of(guard)).expect("alive");
    let moved = world.move_from(level.matching::<&Four>()).expect("built alike");
    assert_eq!(moved.len(), 3);
    let new = |old| moved.get(old).expect("it came");
    assert_eq!(world.relation::<PartOf>().sources(new(root)), [new(parts[0]), new(parts[1])]);
    assert!(world.relation::<Target>().is_empty() && level.relation::<Target>().is_empty());
    assert!(level.contains(stays) && !level.has::<PartOf>(stays) && !level.has::<Target>(stays));
    assert_eq!(level.query::<Entity>().without::<PartOf>().count_rows(), 2);
    sound(&world);
    sound(&level);
}

#[test]
fn a_copy_has_no_target() {
    let mut world = world();
    let [root, second, ..] = tree(&mut world);
    let copies = world.instantiate(second, 2).expect("alive").to_vec();
    assert!(copies.iter().all(|&copy| !world.has::<ChildOf>(copy)));
    assert_eq!(world.relation::<ChildOf>().sources(root).len(), 2);
    sound(&world);
}
