//! Ids of entities inside the values of pairs and of sparse components: each call that gives
//! entities new ids replaces them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::MapEntities;
use phalanx::prelude::*;

use crate::common::components::{Four, Link, sound};
use crate::common::world;

use super::relations::ChildOf;

#[relation(many, name = "seen")]
#[derive(Debug, PartialEq)]
struct Saw {
    witness: Entity,
    others: [Entity; 2],
    when: f64,
}

/// Plain data.
#[component(sparse, plain, name = "guard")]
#[derive(Debug, PartialEq)]
struct Guards {
    gate: Entity,
    relief: Link,
}

/// Data of any kind.
#[component(sparse)]
#[derive(Clone, Debug, PartialEq)]
struct Party {
    name: String,
    members: Vec<Entity>,
    leader: Option<Entity>,
}

/// A tuple with an id in one field.
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Bet(&'static str, Box<u32>, Entity);

/// Ids that no field shows by its type.
#[component(sparse)]
#[derive(Debug, PartialEq)]
enum Order {
    Wait,
    Follow(Entity),
}

impl MapEntities for Order {
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        if let Self::Follow(leader) = self {
            leader.map_entities(map);
        }
    }
}

/// An implementation by hand takes the place of the fields.
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Kept {
    foreign: Entity,
}

impl MapEntities for Kept {
    const HAS_ENTITIES: bool = false;

    fn map_entities(&mut self, _map: &mut dyn FnMut(Entity) -> Entity) {
        unreachable!("it has no id of this world");
    }
}

fn saw(when: f64, witness: Entity, others: [Entity; 2]) -> Saw {
    Saw { witness, others, when }
}

/// Three entities with values that name all of them, and one that is gone.
fn filled() -> (World, [Entity; 4]) {
    let mut world = world();
    let all @ [a, b, c, gone] = [1, 2, 3, 4].map(|number| world.spawn(Four(number)));
    world.despawn(gone).expect("alive");
    let pairs = [(b, saw(1.0, c, [a, gone])), (a, saw(2.0, a, [b, Entity::NULL]))];
    world.insert(a, Targets::from(pairs)).expect("alive");
    world.insert(c, saw(3.0, b, [c, c]).of(a)).expect("alive");
    world.insert(b, Guards { gate: a, relief: Link(c) }).expect("alive");
    let party = Party { name: "all".to_owned(), members: vec![a, gone, c], leader: Some(b) };
    world.insert(c, (party, Bet("on", Box::new(7), b), Order::Follow(a))).expect("alive");
    world.insert(a, (Order::Wait, Kept { foreign: b })).expect("alive");
    (world, all)
}

/// Checks the values of [`filled`] by the ids that the entities have now.
fn check(world: &World, [a, b, c, gone]: [Entity; 4], foreign: Entity) {
    let pairs = world.relation::<Saw>();
    assert_eq!(pairs.targets(a), [b, a]);
    assert_eq!(pairs.get(a, b), Some(&saw(1.0, c, [a, gone])));
    assert_eq!(pairs.get(a, a), Some(&saw(2.0, a, [b, Entity::NULL])));
    assert_eq!(pairs.get(c, a), Some(&saw(3.0, b, [c, c])));
    drop(pairs);
    assert_eq!(*world.get::<Guards>(b).expect("it has one"), Guards { gate: a, relief: Link(c) });
    let party = Party { name: "all".to_owned(), members: vec![a, gone, c], leader: Some(b) };
    assert_eq!(*world.get::<Party>(c).expect("it has one"), party);
    assert_eq!(*world.get::<Bet>(c).expect("it has one"), Bet("on", Box::new(7), b));
    assert_eq!(*world.get::<Order>(c).expect("it has one"), Order::Follow(a));
    assert_eq!(*world.get::<Order>(a).expect("it has one"), Order::Wait);
    assert_eq!(world.get::<Kept>(a).expect("it has one").foreign, foreign);
    sound(world);
}

/// A world in which the indices of [`filled`] belong to others, also with sets of the same types.
fn busy(has_sets: bool) -> World {
    let mut world = world();
    let others = world.spawn_batch((0..9).map(Four)).to_vec();
    if has_sets {
        world.insert(others[1], saw(9.0, others[2], [others[3]; 2]).of(others[4])).expect("alive");
        world
            .insert(others[2], Guards { gate: others[1], relief: Link(others[5]) })
            .expect("alive");
        world.insert(others[3], Order::Follow(others[1])).expect("alive");
    }
    world
}

fn check_others(world: &World, has_sets: bool) {
    if has_sets {
        let others: Vec<_> = world.query::<Entity>().rows().take(9).collect();
        let pairs = world.relation::<Saw>();
        assert_eq!(pairs.get(others[1], others[4]), Some(&saw(9.0, others[2], [others[3]; 2])));
        assert_eq!(world.get::<Guards>(others[2]).expect("it has one").gate, others[1]);
        assert_eq!(*world.get::<Order>(others[3]).expect("one"), Order::Follow(others[1]));
    }
}

#[test]
fn a_merge_replaces_them() {
    for has_sets in [false, true] {
        let (other, old) = filled();
        let mut world = busy(has_sets);
        let merged = world.merge(other).expect("built alike");
        let new = old.map(|old| merged.get(old).unwrap_or(Entity::NULL));
        assert!(new[0] != old[0] && new[3].is_null(), "its entity has ended");
        check(&world, new, old[1]);
        check_others(&world, has_sets);
    }
}

#[test]
fn a_move_of_all_replaces_them() {
    for has_sets in [false, true] {
        let (mut other, old) = filled();
        let mut world = busy(has_sets);
        let moved = world.move_from(other.matching::<&Four>()).expect("built alike");
        check(&world, old.map(|old| moved.get(old).unwrap_or(Entity::NULL)), old[1]);
        check_others(&world, has_sets);
        assert!(other.is_empty());
        sound(&other);
    }
}

#[test]
fn ids_of_entities_that_stay_become_null() {
    #[component]
    struct Leaves;
    let (mut other, [a, b, c, gone]) = filled();
    let stays = saw(4.0, a, [b, b]);
    other.insert(b, stays.of(b)).expect("alive");
    other.insert(a, Leaves).expect("alive");
    other.insert(c, Leaves).expect("alive");
    let mut world = busy(true);
    let moved = world.move_from(other.matching::<Entity>().with::<Leaves>()).expect("built alike");
    let [new_a, new_c] = [a, c].map(|old| moved.get(old).expect("it came"));
    let pairs = world.relation::<Saw>();
    assert_eq!(pairs.targets(new_a), [new_a], "the other target has stayed");
    assert_eq!(pairs.get(new_a, new_a), Some(&saw(2.0, new_a, [Entity::NULL; 2])));
    assert_eq!(pairs.get(new_c, new_a), Some(&saw(3.0, Entity::NULL, [new_c; 2])));
    drop(pairs);
    let party = world.get::<Party>(new_c).expect("it came");
    assert_eq!(party.members, [new_a, Entity::NULL, new_c]);
    assert_eq!(party.leader, Some(Entity::NULL));
    drop(party);
    // The values that have stayed have the ids of their own world.
    assert_eq!(other.relation::<Saw>().get(b, b), Some(&saw(4.0, a, [b, b])));
    assert_eq!(*other.get::<Guards>(b).expect("it has one"), Guards { gate: a, relief: Link(c) });
    assert!(!other.contains(gone));
    sound(&world);
    sound(&other);
}

#[test]
fn a_copied_tree_has_pairs_with_values_of_its_own() {
    let mut world = world();
    let outside = world.spawn(Four(0));
    let root = world.spawn(Four(1));
    let children = world.spawn_batch([2, 3].map(|i| (Four(i), ChildOf::of(root)))).to_vec();
    let [one, two] = [children[0], children[1]];
    let pairs = [(two, saw(1.0, root, [two, outside])), (outside, saw(2.0, outside, [one, one]))];
    world.insert(one, Targets::from(pairs)).expect("alive");
    world.insert(outside, saw(3.0, one, [two, root]).of(one)).expect("alive");
    let copies = world.instantiate_tree::<ChildOf>(root, None).expect("alive");
    let pairs = world.relation::<Saw>();
    let [new_root, new_one, new_two] = [copies[0], copies[1], copies[2]];
    assert_eq!(pairs.targets(new_one), [new_two, outside]);
    assert_eq!(pairs.get(new_one, new_two), Some(&saw(1.0, new_root, [new_two, outside])));
    assert_eq!(pairs.get(new_one, outside), Some(&saw(2.0, outside, [new_one, new_one])));
    // The originals, and the pairs of others.
    assert_eq!(pairs.get(one, two), Some(&saw(1.0, root, [two, outside])));
    assert_eq!(pairs.get(one, outside), Some(&saw(2.0, outside, [one, one])));
    assert_eq!(pairs.get(outside, one), Some(&saw(3.0, one, [two, root])));
    assert_eq!(pairs.sources(new_one), []);
    drop(pairs);
    sound(&world);
}

#[test]
fn a_state_in_another_world_names_the_same_entities() {
    let (mut world, all @ [a, b, c, gone]) = filled();
    let bytes = world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared");
    let mut mirror = self::world();
    mirror.register::<(Four, Targets<Saw>, Guards)>();
    let state = mirror.read_snapshot(&bytes).expect("its types are known");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.relation::<Saw>().get(a, b), Some(&saw(1.0, c, [a, gone])));
    assert_eq!(*mirror.get::<Guards>(b).expect("it has one"), Guards { gate: a, relief: Link(c) });
    sound(&mirror);
    // From there into a third world.
    let mut third = busy(true);
    let merged = third.merge(mirror).expect("built alike");
    let [a, b, c, gone] = all.map(|old| merged.get(old).unwrap_or(Entity::NULL));
    assert_eq!(third.relation::<Saw>().get(a, b), Some(&saw(1.0, c, [a, gone])));
    assert_eq!(*third.get::<Guards>(b).expect("it has one"), Guards { gate: a, relief: Link(c) });
    sound(&third);
}

/// A value with ids that are found by code that fails at one of them.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "phalanx::bytemuck")]
#[repr(C)]
struct Fragile(Entity);
impl_component!(Fragile);

impl MapEntities for Fragile {
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        let new = map(self.0);
        assert!(!new.is_null(), "its entity is gone");
        self.0 = new;
    }
}

#[relation(many)]
#[derive(Debug, PartialEq)]
struct Trusts(Fragile);

#[test]
fn a_panic_leaves_whole_worlds() {
    let mut other = world();
    let [a, b, gone] = [1, 2, 3].map(|number| other.spawn(Four(number)));
    other.despawn(gone).expect("alive");
    other.insert(a, Trusts(Fragile(b)).of(b)).expect("alive");
    other.insert(b, Trusts(Fragile(gone)).of(b)).expect("alive");
    other.insert(b, Guards { gate: a, relief: Link(a) }).expect("alive");
    let mut world = busy(true);
    let merge = catch_unwind(AssertUnwindSafe(|| world.merge(other)));
    merge.expect_err("an id is unknown");
    sound(&world);
    let all: Vec<_> = world.query::<Entity>().rows().skip(9).collect();
    let [a, b] = all[..] else { panic!("all came") };
    let pairs = world.relation::<Trusts>();
    assert_eq!((pairs.targets(a), pairs.targets(b)), (&[b][..], &[b][..]));
    assert_eq!(pairs.get(a, b), Some(&Trusts(Fragile(b))));
    assert_eq!(pairs.get(b, b), Some(&Trusts(Fragile(gone))), "it keeps the old id");
    drop(pairs);
    assert_eq!(world.get::<Guards>(b).expect("it came").gate, a, "the other set is mapped");
}

#[test]
fn a_panic_leaves_a_whole_copy() {
    let mut world = world();
    let root = world.spawn(Four(1));
    let child = world.spawn((Four(2), ChildOf::of(root)));
    world.insert(root, Trusts(Fragile(Entity::NULL)).of(child)).expect("alive");
    world.insert(child, saw(1.0, root, [child; 2]).of(root)).expect("alive");
    let copy = catch_unwind(AssertUnwindSafe(|| world.instantiate_tree::<ChildOf>(root, None)));
    copy.expect_err("the null id is none of the tree");
    sound(&world);
    let all: Vec<_> = world.query::<Entity>().rows().collect();
    let [_, _, new_root, new_child] = all[..] else { panic!("both are copied") };
    assert_eq!(world.relation::<ChildOf>().target(new_child), Some(new_root));
    assert_eq!(world.relation::<Trusts>().targets(new_root), [new_child]);
    let seen = saw(1.0, new_root, [new_child; 2]);
    assert_eq!(world.relation::<Saw>().get(new_child, new_root), Some(&seen));
}

#[test]
fn a_packed_struct_is_left_as_it_is() {
    #[component(sparse)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C, packed)]
    struct Packed(u8, Entity);

    let mut other = world();
    let entity = other.spawn(Four(1));
    other.insert(entity, Packed(1, entity)).expect("alive");
    let mut world = busy(false);
    let merged = world.merge(other).expect("built alike");
    let new = merged.get(entity).expect("it came");
    assert_eq!(*world.get::<Packed>(new).expect("it came"), Packed(1, entity));
}
