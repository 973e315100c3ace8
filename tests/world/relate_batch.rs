//! Relations of many entities in one call, against single calls on relations that are no trees.

use std::collections::BTreeMap;

use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::sparse::{RelationError, relate_batch};
use phalanx::testing::compare;
use proptest::prelude::*;

use crate::common::components::sound;
use crate::common::effort::effort;
use crate::common::world;

use super::ordered::SlotOf;
use super::pairs::Likes;
use super::relations::{ChildOf, Target};

/// As `SlotOf`, with cycles.
#[relation(ordered)]
struct After;

type Graph = BTreeMap<Entity, Entity>;

/// The entities above one, and itself, up to the first that comes again.
fn path(graph: &Graph, entity: Entity) -> (Vec<Entity>, Option<Entity>) {
    let mut path = vec![entity];
    let mut above = graph.get(&entity).copied();
    while let Some(at) = above.filter(|at| !path.contains(at)) {
        path.push(at);
        above = graph.get(&at).copied();
    }
    (path, above)
}

fn has_cycle(graph: &Graph) -> bool {
    graph.keys().any(|&entity| path(graph, entity).1.is_some())
}

/// The error names a source of a cycle, which is the first one there in the batch.
fn check_error(error: EntityError, graph: &Graph, batch: &[(Entity, Entity, usize)]) {
    let EntityError::Relation(RelationError::Cycle { source, target, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!(graph.get(&source), Some(&target), "the last target of the source");
    let (cycle, meeting) = path(graph, source);
    assert_eq!(meeting, Some(source));
    assert_eq!(batch.iter().map(|pair| pair.0).find(|one| cycle.contains(one)), Some(source));
}

fn slot(target: Entity, place: usize) -> SlotOf {
    if place > 3 { SlotOf::of(target) } else { SlotOf::of(target).at(place) }
}

fn after(target: Entity, place: usize) -> After {
    if place > 3 { After::of(target) } else { After::of(target).at(place) }
}

/// Relates a batch in both trees, or in none.
fn step(world: &mut World, graph: &mut Graph, batch: &[(Entity, Entity, usize)]) {
    let mut end = graph.clone();
    end.extend(batch.iter().map(|&(source, target, _)| (source, target)));
    let is_dead =
        batch.iter().any(|&(source, target, _)| !world.contains(source) || !world.contains(target));
    let before = (world.hash(), world.version());
    let child = batch.iter().map(|&(source, target, _)| (source, ChildOf::of(target)));
    let children = relate_batch(world, child);
    if is_dead {
        assert!(children.is_err());
    } else if has_cycle(&end) {
        check_error(children.expect_err("a tree has a cycle"), &end, batch);
    } else {
        assert_eq!(children, Ok(()));
        let changed = u64::from(!batch.is_empty());
        assert_eq!(world.version().to_bits(), before.1.to_bits() + changed, "one version");
    }
    let slots = batch.iter().map(|&(source, target, place)| (source, slot(target, place)));
    assert_eq!(relate_batch(world, slots).is_ok(), children.is_ok());
    if children.is_err() {
        assert_eq!((world.hash(), world.version()), before);
        return;
    }
    *graph = end;
    for &(source, target, place) in batch {
        world.insert(source, (Target::of(target), after(target, place))).expect("alive");
    }
}

fn name_of(error: EntityError) -> &'static str {
    let EntityError::Relation(error) = error else { panic!("{error}") };
    error.relation()
}

fn check(world: &World, graph: &Graph, entities: &[Entity]) {
    sound(world);
    let (children, targets) = (world.relation::<ChildOf>(), world.relation::<Target>());
    let (slots, after) = (world.relation::<SlotOf>(), world.relation::<After>());
    for &entity in entities {
        assert_eq!(children.target(entity), graph.get(&entity).copied());
        assert_eq!(slots.target(entity), graph.get(&entity).copied());
        assert_eq!(children.sources(entity), targets.sources(entity));
        assert_eq!(slots.sources(entity), after.sources(entity));
    }
    let rows = world.query::<Entity>().with::<ChildOf>().with::<SlotOf>().count_rows();
    assert_eq!(rows, graph.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { effort(64) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_is_judged_at_its_end_and_is_made_as_single_calls_are(
        batches in prop::collection::vec(
            prop::collection::vec((0..9usize, 0..9usize, 0..6usize, 0..40u8), 0..7),
            1..12,
        ),
    ) {
        let mut world = world();
        let entities = world.spawn_batch([(); 9]).to_vec();
        let dead = world.spawn(());
        world.despawn(dead).expect("alive");
        let mut graph = Graph::new();
        for batch in batches {
            // In half of the batches none asks for a place.
            let is_placed = batch.first().is_some_and(|&(.., dice)| dice % 2 == 0);
            let batch: Vec<_> = batch
                .into_iter()
                .map(|(source, target, place, dice)| {
                    (source, target, if is_placed { place } else { usize::MAX }, dice)
                })
                .map(|(source, target, place, dice)| match dice {
                    0 => (dead, entities[target], place),
                    1 => (entities[source], dead, place),
                    _ => (entities[source], entities[target], place),
                })
                .collect();
            step(&mut world, &mut graph, &batch);
            check(&world, &graph, &entities);
        }
    }
}

/// Whether each source of a batch comes once, and each target keeps a source that it had.
fn keeps_orders(world: &World, batch: &[(Entity, Entity)]) -> bool {
    let new: Graph = batch.iter().copied().collect();
    let relation = world.relation::<After>();
    let stays = |source: &Entity| {
        let target = relation.target(*source);
        new.get(source).is_none_or(|to| target == Some(*to))
    };
    let keeps_one = |source| {
        let siblings = relation.target(source).map(|target| relation.sources(target));
        siblings.is_none_or(|siblings| siblings.iter().any(stays))
    };
    new.len() == batch.len() && new.keys().copied().all(keeps_one)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { effort(64) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_that_have_no_rule_are_those_of_single_calls_if_no_target_loses_all_sources(
        batches in prop::collection::vec(prop::collection::vec((0..12usize, 0..4usize), 0..7), 1..6),
    ) {
        let [mut together, mut single] = [(); 2].map(|()| world());
        let all = [&mut together, &mut single].map(|world| world.spawn_batch([(); 12]).to_vec());
        for batch in batches {
            let batch: Vec<_> = batch.iter().map(|pair| (all[0][pair.0], all[0][pair.1])).collect();
            if !keeps_orders(&single, &batch) {
                continue;
            }
            let pairs = || batch.iter().map(|&(source, target)| (source, After::of(target)));
            relate_batch(&mut together, pairs()).expect("alive");
            for (source, value) in pairs() {
                single.insert(source, value).expect("alive");
            }
            compare(&together, &single).expect("the orders of sources and of targets are equal");
        }
    }
}

#[test]
fn a_long_chain_is_turned_around() {
    let n = if cfg!(miri) { 30 } else { 100_000 };
    let mut world = world();
    let all = world.spawn_batch((0..n).map(|_| ())).to_vec();
    let down = || all.windows(2).map(|two| (two[1], ChildOf::of(two[0])));
    relate_batch(&mut world, down()).expect("a chain");
    assert_eq!(world.relation::<ChildOf>().root(all[n - 1]), all[0]);
    // The first entity gets a target, and the last one keeps its own.
    let up = || all.windows(2).map(|two| (two[0], ChildOf::of(two[1])));
    assert!(relate_batch(&mut world, up()).is_err());
    assert_eq!(world.relation::<ChildOf>().depth(all[n - 1]), n - 1);
    let other = world.spawn(());
    relate_batch(&mut world, up().chain([(all[n - 1], ChildOf::of(other))])).expect("a chain");
    assert_eq!(world.relation::<ChildOf>().depth(all[0]), n);
    assert_eq!(world.relation::<ChildOf>().sources(all[0]), []);
}

#[test]
fn many_sources_leave_a_list_together_and_keep_their_order() {
    let n = if cfg!(miri) { 30 } else { 30_000 };
    let mut world = world();
    let [first, second] = [(); 2].map(|()| world.spawn(()));
    let all = world.spawn_batch((0..n).map(|_| ())).to_vec();
    let pairs = |target| all.iter().map(move |&one| (one, SlotOf::of(target)));
    relate_batch(&mut world, pairs(first)).expect("alive");
    // One after the other each would move to the end first: 450 million steps.
    relate_batch(&mut world, pairs(second)).expect("alive");
    assert_eq!(world.relation::<SlotOf>().sources(second), all);
    assert!(world.relation::<SlotOf>().sources(first).is_empty());
    sound(&world);
    let half = &all[..n / 2];
    for &one in half {
        world.insert(one, ChildOf::of(first)).expect("alive");
    }
    let leaving = world.matching::<Entity>().with::<ChildOf>();
    assert_eq!(leaving.remove::<SlotOf>(), n / 2);
    assert_eq!(world.relation::<SlotOf>().sources(second), &all[n / 2..]);
    sound(&world);
}

#[test]
fn logs_read_a_source_of_a_batch_once_with_its_last_target() {
    let mut world = world();
    let [a, b, c, d] = [(); 4].map(|()| world.spawn(()));
    world.insert(d, ChildOf::of(a)).expect("alive");
    let mut gained = world.cursor::<Insertions<ChildOf>>();
    let mut lost = world.cursor::<Removals<ChildOf>>();
    let batch = [(c, a), (d, b), (c, b)].map(|(source, target)| (source, ChildOf::of(target)));
    relate_batch(&mut world, batch).expect("alive");
    assert_eq!(gained.read(&world), (&[c][..], &[ChildOf::of(b)][..]));
    assert!(lost.read(&world).0.is_empty());
    assert_eq!(world.relation::<ChildOf>().sources(b), [d, c]);
}

#[test]
fn reserved_ids_are_related_and_no_relation_is_no_change() {
    let mut world = world();
    let [parent, child] = [(); 2].map(|()| world.reserve_entity().expect("ids are left"));
    relate_batch(&mut world, [(child, ChildOf::of(parent))]).expect("reserved");
    assert_eq!(world.relation::<ChildOf>().target(child), Some(parent));
    let before = (world.hash(), world.version());
    relate_batch::<SlotOf>(&mut world, []).expect("nothing is refused");
    assert_eq!((world.hash(), world.version()), before);
    sound(&world);
}

#[test]
fn pairs_of_many_sources_are_made_or_none() {
    let mut world = world();
    let [a, b, dead] = [(); 3].map(|()| world.spawn(()));
    world.despawn(dead).expect("alive");
    let likes = |weight: u32, target| Likes { weight }.of(target);
    let before = (world.hash(), world.version());
    let refused = relate_batch(&mut world, [(a, likes(1, b)), (b, likes(2, dead))]);
    let refused = refused.map_err(name_of);
    assert!(refused.is_err_and(|name| name.contains("ikes")));
    assert_eq!((world.hash(), world.version()), before);
    relate_batch(&mut world, [(a, likes(1, b)), (b, likes(2, a)), (a, likes(3, a))])
        .expect("all are alive");
    assert_eq!(world.relation::<Likes>().targets(a), [b, a]);
    assert_eq!(world.relation::<Likes>().sources(a), [b, a]);
    sound(&world);
}
