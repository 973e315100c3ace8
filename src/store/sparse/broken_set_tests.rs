//! A set that contradicts itself is found by `is_consistent`, on which `World::check` relies.

use crate::component::{
    AnyComponent, ComponentHint, InSet, ManyRelation, OnDelete, SparseComponent, Targets,
    component, relation,
};
use crate::entity::Entity;
use crate::version::Version;

use super::super::relations::Sources;
use super::erased_set::ErasedSet;
use super::set_lock::SetLock;
use super::sparse_set::SparseSet;

const NOW: Version = Version::from_bits(1);

#[component(sparse)]
struct Fuel(u32);
#[relation(tree)]
struct ChildOf;
/// A relation to many without the macro, which writes `unsafe` code.
impl AnyComponent for f64 {
    type Shape = InSet<Targets<Self>>;
}
impl ManyRelation for f64 {
    const NAME: &'static str = "likes";
    const ON_DELETE: OnDelete = OnDelete::Remove;
    const DEFINITION: &'static str = "";
    const MAP_ENTITIES: Option<fn(&mut Self, &mut dyn FnMut(Entity) -> Entity)> = None;
    fn hint() -> Option<&'static ComponentHint> {
        None
    }
}

/// An index, and all entities of the tests: generation 1 is alive, 2 has ended.
const fn id(index: u32) -> Entity {
    Entity::new(index, 1)
}

/// Whether a set is found consistent after `damage`.
fn check<T: SparseComponent>(
    fill: impl FnOnce(&mut SparseSet<T>),
    damage: impl FnOnce(&mut SparseSet<T>),
) -> bool {
    let mut set = SetLock::<T>::default();
    let is_alive = |entity: Entity, _| entity.generation() == 1;
    fill(set.get_mut());
    assert!(set.is_consistent(&is_alive, NOW), "before the damage");
    damage(set.get_mut());
    set.is_consistent(&is_alive, NOW)
}

#[test]
fn a_broken_set_is_found() {
    type Damage = fn(&mut SparseSet<Fuel>);
    let damages: [Damage; 6] = [
        |set| _ = set.values.pop(),
        |set| _ = set.entities.pop(),
        |set| set.entities.swap(0, 1),
        |set| set.entities[0] = id(9),
        |set| _ = set.blocks.positions.take(1),
        |set| set.entities[0] = Entity::new(0, 2),
    ];
    for (at, damage) in damages.into_iter().enumerate() {
        let fill = |set: &mut SparseSet<Fuel>| {
            (0..3).for_each(|index| _ = set.insert(id(index), Fuel(index), NOW));
        };
        assert!(!check(fill, damage), "damage {at}");
    }
}

/// 1 and 2 are children of 0, and 3 is a child of 1.
fn fill_tree(set: &mut SparseSet<ChildOf>) {
    for (source, target) in [(1, 0), (2, 0), (3, 1)] {
        set.insert(id(source), ChildOf::of(id(target)), NOW);
    }
}

/// The lists of other relations: of each source its target and its place.
fn lists_of(relations: &[(u32, u32, u32)], heads: &[u32]) -> Sources {
    let sources: Vec<_> = relations.iter().map(|&(source, ..)| id(source)).collect();
    let targets: Vec<_> = relations.iter().map(|&(_, target, _)| id(target)).collect();
    let places = relations.iter().map(|&(.., place)| place).collect();
    let heads: Vec<_> = heads.iter().map(|&head| id(head)).collect();
    Sources::of_places(&sources, &targets, places, &heads).expect("they agree")
}

#[test]
fn a_relation_with_one_end_is_found() {
    type Damage = fn(&mut SparseSet<ChildOf>);
    let damages: [Damage; 9] = [
        // Both sources of 0 have the place of the other one, and both the same place.
        |set| set.sources.places.swap(0, 1),
        |set| set.sources.places[1] = 0,
        |set| set.sources.places[2] = 7,
        |set| set.sources.places.push(0),
        // Another target than the list tells, and one without a list.
        |set| set.values[2] = ChildOf::of(id(0)),
        |set| set.values[2] = ChildOf::of(id(4)),
        // The lists lack a source, or have one more: the places are as they were.
        |set| set.sources.lists = lists_of(&[(1, 0, 0), (2, 0, 1)], &[0]).lists,
        |set| {
            let relations = [(1, 0, 0), (2, 0, 1), (3, 1, 0), (4, 1, 1)];
            set.sources.lists = lists_of(&relations, &[0, 1]).lists;
        },
        |set| set.sources = Sources::default(),
    ];
    for (at, damage) in damages.into_iter().enumerate() {
        assert!(!check(fill_tree, damage), "damage {at}");
    }
    // The same lists, made again, are no damage.
    assert!(check(fill_tree, |set| {
        set.sources = lists_of(&[(1, 0, 0), (2, 0, 1), (3, 1, 0)], &[0, 1]);
    }));
}

#[test]
fn a_cycle_and_a_dead_target_are_found() {
    // The set tests neither: its callers do before they change it.
    let relate = |source: Entity, target: Entity| {
        move |set: &mut SparseSet<ChildOf>| _ = set.insert(source, ChildOf::of(target), NOW)
    };
    assert!(!check(fill_tree, relate(id(0), id(3))), "a cycle through all levels");
    assert!(!check(fill_tree, relate(id(5), id(5))), "itself");
    assert!(!check(fill_tree, relate(id(5), Entity::new(6, 2))), "a target that has ended");
    assert!(!check(fill_tree, relate(Entity::new(6, 2), id(0))), "a source that has ended");
    assert!(check(fill_tree, relate(id(5), id(3))));
}

#[test]
fn a_pair_with_one_end_is_found() {
    type Damage = fn(&mut SparseSet<Targets<f64>>);
    /// The links of the source at a position.
    fn links(set: &mut SparseSet<Targets<f64>>, at: usize) -> (&mut Vec<Entity>, &mut Vec<u32>) {
        let rules = Targets::<f64>::PAIRS.expect("it is a relation to many");
        let links = (rules.links_mut)(&mut set.values[at]);
        (&mut links.targets, &mut links.places)
    }
    let damages: [Damage; 8] = [
        |set| links(set, 2).1.swap(0, 1),
        |set| links(set, 1).1[0] = 0,
        |set| links(set, 0).0.swap(0, 1),
        |set| links(set, 0).0[0] = id(8),
        |set| {
            let (targets, places) = links(set, 0);
            targets.pop();
            places.pop();
        },
        |set| {
            let (targets, places) = links(set, 0);
            targets.push(id(8));
            places.push(0);
        },
        |set| {
            let (targets, places) = links(set, 1);
            targets.clear();
            places.clear();
        },
        |set| set.sources = Sources::default(),
    ];
    let fill = |set: &mut SparseSet<Targets<f64>>| {
        let likes = |target, weight| (id(target), weight);
        set.insert(id(1), [likes(0, 0.5), likes(7, 0.25)].into(), NOW);
        set.insert(id(2), [likes(7, 1.0)].into(), NOW);
        set.insert(id(3), [likes(7, 2.0), likes(0, 4.0)].into(), NOW);
    };
    for (at, damage) in damages.into_iter().enumerate() {
        assert!(!check(fill, damage), "damage {at}");
    }
    assert!(check(fill, |set| set.sources = set.sources.clone()));
}
