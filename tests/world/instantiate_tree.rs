//! Copies of whole trees.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::MapEntities;
use phalanx::error::{NoSuchEntity, OutOfIds, SpawnError};
use phalanx::prelude::*;
use phalanx::sparse::RelationError;

use super::relations::{ChildOf, Needs, PartOf, Target};
use crate::common::components::{Four, Link, Tag, sound};
use crate::common::world;

#[component(enableable)]
struct Awake;

#[component(cleanup)]
struct Handle(u32);

#[component(sparse)]
struct Name;

/// Some entities below a root, in many archetypes, of which each refers to others.
fn tree(world: &mut World, seed: u32, len: u32) -> Vec<Entity> {
    let mut all = vec![world.spawn((Four(0), Link(Entity::NULL)))];
    let outside = world.spawn(());
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state as usize / 65_536 % n
    };
    for i in 1..len {
        let parent = ChildOf::of(all[below(all.len())]);
        let link = if i % 9 == 0 { outside } else { all[below(all.len())] };
        let row = (Four(i), Link(link), parent);
        let entity = match i % 7 {
            0 => world.spawn(row),
            1 => world.spawn((row, Tag)),
            2 => world.spawn((row, Handle(i))),
            3 => world.spawn((row, Prototype, Target::of(link))),
            4 => world.spawn((row, Awake, Name)),
            5 => world.spawn((row, Disabled, Needs::of(outside))),
            _ => world.spawn((parent, Target::of(all[0]))),
        };
        if i % 7 == 4 {
            world.set_enabled::<Awake>(entity, i % 2 == 0).expect("it has it");
        }
        all.push(entity);
    }
    for at in (0..all.len()).step_by(5).filter(|_| len > 1) {
        let last = all[all.len() - 1];
        world.insert(all[at], Target::of(last)).expect("both are alive");
    }
    all
}

/// Compares a copy with its original, by single calls.
fn same(world: &World, old: &[Entity], copies: &[Entity], parent: Option<Entity>) {
    assert_eq!(old.len(), copies.len());
    let ids: HashMap<_, _> = old.iter().copied().zip(copies.iter().copied()).collect();
    let new = |entity: Entity| ids.get(&entity).copied().unwrap_or(entity);
    let (tree, targets) = (world.relation::<ChildOf>(), world.relation::<Target>());
    let needs = world.relation::<Needs>();
    for (n, (&one, &copy)) in old.iter().zip(copies).enumerate() {
        assert_eq!(world.get::<Four>(copy).ok(), world.get::<Four>(one).ok());
        let link = world.get::<Link>(one).ok().map(|link| Link(new(link.0)));
        assert_eq!(world.get::<Link>(copy).ok().copied(), link);
        assert_eq!(world.has::<Tag>(copy), world.has::<Tag>(one));
        assert_eq!(world.has::<Disabled>(copy), world.has::<Disabled>(one));
        assert_eq!(world.is_enabled::<Awake>(copy).ok(), world.is_enabled::<Awake>(one).ok());
        assert!(!world.has::<Name>(copy) && !world.has::<Handle>(copy));
        assert!(!world.has::<Prototype>(copy));
        assert_eq!(targets.target(copy), targets.target(one).map(new));
        assert_eq!(needs.target(copy), needs.target(one).map(new));
        let above = if n == 0 { parent } else { tree.target(one).map(new) };
        assert_eq!(tree.target(copy), above);
        // The copy itself may be below its original.
        let sources = tree.sources(one).iter().filter(|source| ids.contains_key(source));
        assert!(tree.sources(copy).iter().copied().eq(sources.copied().map(new)));
    }
    assert!(tree.levels().entities().iter().all(|&entity| world.contains(entity)));
}

#[test]
fn copies_of_trees_are_as_the_trees() {
    let sizes: &[u32] = if cfg!(miri) { &[1, 9] } else { &[1, 2, 9, 70, 600] };
    for (seed, &len) in (1..).zip(sizes) {
        let mut world = world();
        // Rows of the same archetypes beside the tree.
        tree(&mut world, 99, 30);
        tree(&mut world, seed, len);
        let root = tree(&mut world, 7 + seed, len)[0];
        let parents = [None, Some(world.spawn(())), Some(root)];
        for parent in parents {
            let old: Vec<_> = {
                let tree = world.relation::<ChildOf>();
                core::iter::once(root).chain(tree.descendants(root)).collect()
            };
            assert_eq!(old.len() % len as usize, 0);
            let count = world.len();
            let copies = world.instantiate_tree::<ChildOf>(root, parent).expect("room");
            assert_eq!(world.len(), count + old.len());
            same(&world, &old, &copies, parent);
            sound(&world);
        }
        // The copy is below its original now, and goes with a copy of all.
        let old = world.relation::<ChildOf>().descendants(root).len() + 1;
        assert_eq!(old, 2 * len as usize);
        let copies = world.instantiate_tree::<ChildOf>(root, None).expect("room");
        assert_eq!(copies.len(), old);
        sound(&world);
    }
}

#[test]
fn copies_of_one_call_are_as_those_of_many_calls() {
    let sizes: &[(u32, usize)] = if cfg!(miri) {
        &[(1, 3), (9, 2)]
    } else {
        &[(1, 500), (2, 3), (9, 70), (70, 8), (600, 2)]
    };
    for (seed, &(len, copies)) in (1..).zip(sizes) {
        let mut world = world();
        tree(&mut world, 99, 30);
        let root = tree(&mut world, seed, len)[0];
        let old: Vec<_> = {
            let tree = world.relation::<ChildOf>();
            core::iter::once(root).chain(tree.descendants(root)).collect()
        };
        let above = world.spawn(());
        let parents: Vec<_> = (0..copies)
            .map(|i| Some([above, old[old.len() - 1]][i % 2]).filter(|_| i % 3 != 1))
            .collect();
        let (count, version) = (world.len(), world.version());
        let all = world.instantiate_tree::<ChildOf>(root, &parents).expect("room");
        assert!(world.version() > version);
        assert_eq!((all.len(), world.len()), (old.len() * copies, count + old.len() * copies));
        for (copy, &parent) in all.chunks(old.len()).zip(&parents) {
            same(&world, &old, copy, parent);
        }
        sound(&world);
        // Copies of a copy, each without a parent: from the archetypes of the copies themselves.
        let copy = &all[..old.len()];
        let before = world.relation::<ChildOf>().descendants(copy[0]).len() + 1;
        assert_eq!(before, old.len());
        let again = world.instantiate_tree::<ChildOf>(copy[0], [None; 3]).expect("room");
        for new in again.chunks(old.len()) {
            same(&world, copy, new, None);
        }
        sound(&world);
    }
}

#[test]
fn each_form_of_parents_is_a_number_of_copies() {
    let mut world = world();
    let root = world.spawn(Four(1));
    world.spawn((Link(root), ChildOf::of(root)));
    let [a, b] = [2, 3].map(|number| world.spawn(Four(number)));
    let copy = |world: &mut World, parents: &[Entity]| {
        let copies = world.instantiate_tree::<ChildOf>(root, parents).expect("room");
        assert_eq!(copies.len(), 2 * parents.len());
    };
    copy(&mut world, &[]);
    assert_eq!(world.len(), 4);
    copy(&mut world, &[a, b, a]);
    world.instantiate_tree::<ChildOf>(root, b).expect("room");
    world.instantiate_tree::<ChildOf>(root, vec![Some(a), None]).expect("room");
    world.instantiate_tree::<ChildOf>(root, &[None; 2]).expect("room");
    let tree = world.relation::<ChildOf>();
    assert_eq!([a, b].map(|parent| tree.sources(parent).len()), [3, 2]);
    drop(tree);
    assert_eq!(world.len(), 4 + 2 * 8);
    sound(&world);
    // One of many is dead.
    let dead = world.spawn(());
    world.despawn(dead).expect("alive");
    let (count, version) = (world.len(), world.version());
    let refused = world.instantiate_tree::<ChildOf>(root, [Some(a), None, Some(dead)]);
    let SpawnError::Relation(RelationError::DeadTarget { target, .. }) = refused.unwrap_err()
    else {
        panic!("a parent is dead");
    };
    assert_eq!((target, world.len(), world.version()), (dead, count, version));
    let refused = world.instantiate_tree::<ChildOf>(dead, [None; 0]).expect_err("the root is dead");
    assert_eq!(refused, SpawnError::NoSuchEntity(NoSuchEntity { entity: dead }));
    sound(&world);
}

#[test]
fn many_copies_have_room_or_change_nothing() {
    let mut world = World::builder().entities_max(100).request_bytes_max(1 << 20).build();
    let root = world.spawn((Four(1), Prototype));
    world.spawn_batch([(ChildOf::of(root), Four(2), Prototype); 3]);
    let version = world.version();
    let refused = world.instantiate_tree::<ChildOf>(root, [None; 25]);
    assert_eq!(refused, Err(SpawnError::Exhausted(OutOfIds::InWorld { limit: 100 })));
    assert_eq!((world.len(), world.version()), (4, version));
    sound(&world);
    let copies = world.instantiate_tree::<ChildOf>(root, [None; 24]).expect("room");
    assert_eq!((copies.len(), world.len()), (96, 100));
    sound(&world);
    let mut world = World::builder().request_bytes_max(1 << 20).build();
    let root = world.spawn(Four(1));
    let refused = world.instantiate_tree::<ChildOf>(root, vec![None; 1 << 17]);
    assert!(matches!(refused, Err(SpawnError::Memory(_))), "{refused:?}");
    assert_eq!(world.len(), 1);
    sound(&world);
}

#[test]
fn only_the_relation_that_is_named_is_followed() {
    let mut world = world();
    let root = world.spawn(());
    let part = world.spawn((PartOf::of(root), ChildOf::of(root)));
    let other = world.spawn((PartOf::of(root), Link(part)));
    world.insert(root, PartOf::of(other)).expect_err("a cycle");
    let above = world.spawn(());
    world.insert(root, PartOf::of(above)).expect("alive");
    let copies = world.instantiate_tree::<ChildOf>(root, None).expect("room");
    assert_eq!(copies.len(), 2);
    let parts = world.relation::<PartOf>();
    assert_eq!(parts.target(copies[0]), Some(above), "only `ChildOf` is left out");
    assert_eq!(parts.sources(copies[0]), [copies[1]]);
    assert_eq!(parts.sources(above), [root, copies[0]]);
    drop(parts);
    assert_eq!(world.get::<Link>(other), Ok(&Link(part)), "originals stay");
    sound(&world);
}

#[test]
fn a_copy_that_cannot_be_made_changes_nothing() {
    let mut world = world();
    let root = tree(&mut world, 3, 40)[0];
    let dead = world.spawn(());
    let gone = world.spawn(Handle(1));
    world.despawn(dead).expect("alive");
    world.despawn(gone).expect("alive");
    let (count, version) = (world.len(), world.version());
    let error = |refused: Result<Vec<Entity>, SpawnError>| refused.expect_err("it is dead");
    for entity in [dead, gone, Entity::NULL] {
        let refused = error(world.instantiate_tree::<ChildOf>(entity, None));
        assert_eq!(refused, SpawnError::NoSuchEntity(NoSuchEntity { entity }));
        let refused = error(world.instantiate_tree::<ChildOf>(root, Some(entity)));
        let is_told = matches!(
            refused,
            SpawnError::Relation(RelationError::DeadTarget { target, .. }) if target == entity
        );
        assert!(is_told, "{refused}");
    }
    assert_eq!((world.len(), world.version()), (count, version));
    sound(&world);
    // Too few ids: also archetypes that copies would be the first of are not added.
    let mut world = World::builder().entities_max(7).build();
    let root = world.spawn((Four(1), Prototype));
    world.spawn_batch([(ChildOf::of(root), Four(2)); 3]);
    let archetypes = world.reflect().archetypes().count();
    let refused = world.instantiate_tree::<ChildOf>(root, Some(root));
    assert_eq!(refused, Err(SpawnError::Exhausted(OutOfIds::InWorld { limit: 7 })));
    assert_eq!((world.len(), world.reflect().archetypes().count()), (4, archetypes));
    sound(&world);
}

#[test]
fn long_chains_are_copied() {
    let mut world = world();
    let len = if cfg!(miri) { 200 } else { 100_000 };
    let root = world.spawn(Link(Entity::NULL));
    let mut last = root;
    for i in 0..len {
        let row = (Link(last), ChildOf::of(last));
        last = if i % 3 == 0 { world.spawn((row, Tag)) } else { world.spawn(row) };
    }
    let copies = world.instantiate_tree::<ChildOf>(root, Some(last)).expect("room");
    assert_eq!(copies.len(), len + 1);
    let tree = world.relation::<ChildOf>();
    assert_eq!(tree.depth(copies[len]), 2 * len + 1);
    let is_linked = |pair: &[Entity]| {
        tree.target(pair[1]) == Some(pair[0]) && world.get::<Link>(pair[1]) == Ok(&Link(pair[0]))
    };
    assert!(copies.windows(2).all(is_linked));
}

#[test]
fn logs_have_the_copies_with_their_new_ids() {
    let mut world = world();
    let root = world.spawn((Four(1), Link(Entity::NULL)));
    let child = world.spawn((Link(root), ChildOf::of(root)));
    world.insert(root, Link(child)).expect("alive");
    let mut reader = world.cursor::<Insertions<Link>>();
    let copies = world.instantiate_tree::<ChildOf>(root, None).expect("room");
    let (entities, links) = reader.read(&world);
    let seen: Vec<_> = entities.iter().zip(links).map(|(&entity, link)| (entity, link.0)).collect();
    assert_eq!(seen, [(copies[0], copies[1]), (copies[1], copies[0])]);
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[bytemuck(crate = "phalanx::bytemuck")]
struct Fragile(Entity);
phalanx::impl_component!(Fragile);

impl MapEntities for Fragile {
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        assert!(!self.0.is_null(), "an id is missing");
        self.0 = map(self.0);
    }
}

#[test]
fn a_panic_while_ids_are_replaced_leaves_whole_copies() {
    let mut world = world();
    let root = world.spawn(Fragile(Entity::NULL));
    let child = world.spawn((Link(root), ChildOf::of(root)));
    world.spawn((Fragile(child), Four(3), ChildOf::of(child)));
    let copied = catch_unwind(AssertUnwindSafe(|| {
        world.instantiate_tree::<ChildOf>(root, Some(child)).map(drop)
    }));
    assert!(copied.is_err(), "a reference is null");
    sound(&world);
    let tree = world.relation::<ChildOf>();
    let copies = tree.descendants(child);
    assert_eq!((world.len(), copies.len()), (6, 4));
    let copy = tree.sources(child)[1];
    let below = tree.sources(copy)[0];
    assert_eq!(world.get::<Link>(below), Ok(&Link(copy)));
    assert_eq!(world.get::<Fragile>(tree.sources(below)[0]), Ok(&Fragile(below)));
}
