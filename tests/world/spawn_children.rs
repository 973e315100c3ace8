//! Batches of rows with sparse components, against relations and values that are inserted one by
//! one.

use core::panic::AssertUnwindSafe;

use std::panic::catch_unwind;
use std::sync::Arc;

use phalanx::command::ApplyError;
use phalanx::error::SpawnError;
use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use phalanx::sparse::RelationError;
use proptest::prelude::*;

use crate::common::components::sound;
use crate::common::effort::effort;

use super::pairs::Likes;

#[component]
struct Row(u32);

/// In batches.
#[relation(tree)]
struct ChildOf;

/// As `ChildOf`, one by one.
#[relation]
struct Beside;

/// In batches.
#[relation(ordered)]
struct SlotOf;

/// As `SlotOf`, one by one.
#[relation(ordered)]
struct PlaceIn;

/// In batches.
#[component(sparse, plain)]
#[derive(Debug, PartialEq, Eq)]
struct Points(u32);

/// As `Points`, one by one.
#[component(sparse, plain)]
#[derive(Debug, PartialEq, Eq)]
struct Copied(u32);

/// A value with a destructor.
#[component(sparse)]
struct Name(Arc<()>);

fn small() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

/// A row of a batch: its target, by number, and the place that it asks for.
type Plan = (usize, Option<usize>);

/// Runs of one target, and alternating ones.
fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let run = (0..6usize, 0..90usize, 0..12u8);
    prop::collection::vec(run, 0..5).prop_map(|runs| {
        let rows = runs.into_iter().flat_map(|(target, len, dice)| {
            (0..len).map(move |i| {
                let target = if dice % 3 == 0 { target + i % 2 } else { target };
                (target, (dice == 11 && i == len / 2).then_some(i / 2))
            })
        });
        rows.collect()
    })
}

/// The readers of what comes in batches and one by one.
struct Readers {
    batch: (LogCursor<Insertions<ChildOf>>, LogCursor<Insertions<Points>>),
    single: (LogCursor<Insertions<Beside>>, LogCursor<Insertions<Copied>>),
}

impl Readers {
    fn new(world: &mut World) -> Self {
        Self { batch: (world.cursor(), world.cursor()), single: (world.cursor(), world.cursor()) }
    }

    fn compare(&mut self, world: &World) {
        let (entities, children) = self.batch.0.read(world);
        let (others, beside) = self.single.0.read(world);
        assert_eq!(entities, others);
        let targets = |(child, other): (&ChildOf, &Beside)| child.target() == other.target();
        assert!(children.iter().zip(beside).all(targets));
        let (entities, points) = self.batch.1.read(world);
        let (others, copied) = self.single.1.read(world);
        assert_eq!(entities, others);
        assert!(points.iter().zip(copied).all(|(one, other)| one.0 == other.0));
    }
}

/// Spawns the rows of a batch, by the world or by commands, and inserts the same one by one.
fn spawn(world: &mut World, targets: &[Entity], plan: &[Plan], by_commands: bool) -> Vec<Entity> {
    let owner = Arc::new(());
    let target = |at: usize| targets[at % targets.len()];
    let rows = plan.iter().zip(0..).map(|(&(at, place), i)| {
        let slot = SlotOf::of(target(at));
        let slot = place.map_or(slot, |place| slot.at(place));
        (Row(i), ChildOf::of(target(at)), slot, Points(i), Name(Arc::clone(&owner)))
    });
    let known = world.query::<&Row>().count_rows();
    if by_commands {
        let mut buffer = world.command_buffer(0).expect("there are ids");
        buffer.spawn_batch(rows);
        world.apply(&mut buffer).expect("all targets are alive");
    } else {
        world.spawn_batch(rows);
    }
    assert_eq!(Arc::strong_count(&owner), 1 + plan.len());
    let spawned: Vec<_> = world.query::<(Entity, &Row)>().rows().map(|(one, _)| one).collect();
    let spawned = spawned[known..].to_vec();
    assert_eq!(spawned.len(), plan.len());
    for ((&one, &(at, place)), i) in spawned.iter().zip(plan).zip(0..) {
        let slot = PlaceIn::of(target(at));
        let slot = place.map_or(slot, |place| slot.at(place));
        world.insert(one, (Beside::of(target(at)), slot, Copied(i))).expect("alive");
    }
    spawned
}

fn compare(world: &mut World, entities: &[Entity]) {
    sound(world);
    let (children, beside) = (world.relation::<ChildOf>(), world.relation::<Beside>());
    let (slots, places) = (world.relation::<SlotOf>(), world.relation::<PlaceIn>());
    assert!(children.iter().eq(beside.iter()) && slots.iter().eq(places.iter()));
    for &entity in entities {
        assert_eq!(children.sources(entity), beside.sources(entity));
        assert_eq!(children.place(entity), beside.place(entity));
        assert_eq!(slots.sources(entity), places.sources(entity));
        assert_eq!(slots.place(entity), places.place(entity));
    }
    let (points, copied) = (world.sparse::<Points>(), world.sparse::<Copied>());
    let pairs = points.iter().map(|(one, value)| (one, value.0));
    assert!(pairs.eq(copied.iter().map(|(one, value)| (one, value.0))));
    drop((points, copied));
    let rows = world.query::<Entity>().with::<Row>().count_rows();
    let members = world.query::<Entity>().with::<ChildOf>().with::<SlotOf>().with::<Name>();
    assert!(members.count_rows() <= rows);
    assert_eq!(members.count_rows(), world.relation::<ChildOf>().len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { effort(24) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_of_rows_equals_single_calls(
        steps in prop::collection::vec((plans(), any::<bool>(), 0..100usize), 1..6),
    ) {
        let mut world = small();
        let mut readers = Readers::new(&mut world);
        let mut all = vec![world.spawn(()), world.spawn(Row(7))];
        for (plan, by_commands, dice) in steps {
            let plan = if cfg!(miri) { &plan[..plan.len().min(12)] } else { &plan[..] };
            // Rows of earlier batches are targets, too, in the archetype of the new ones.
            let targets: Vec<_> = all.iter().copied().rev().step_by(1 + dice % 50).take(7).collect();
            let spawned = spawn(&mut world, &targets, plan, by_commands);
            all.extend(spawned);
            compare(&mut world, &all);
            readers.compare(&world);
            // Their ids are used again, by other rows.
            let ended: Vec<_> = all.iter().copied().skip(2 + dice).step_by(3).collect();
            assert_eq!(world.despawn_batch(&ended), ended.len());
            all.retain(|one| !ended.contains(one));
            compare(&mut world, &all);
        }
    }
}

#[test]
fn a_batch_with_a_dead_target_spawns_nothing_and_names_the_first_one() {
    let mut world = small();
    let [alive, dead, other] = [(); 3].map(|()| world.spawn(()));
    world.spawn_batch((0..3).map(|i| (Row(i), ChildOf::of(alive), Beside::of(alive))));
    world.despawn(dead).expect("alive");
    world.despawn(other).expect("alive");
    let owner = Arc::new(());
    let before = (world.hash(), world.version(), world.len());
    let is_refused = |world: &mut World, bad: [(usize, Entity); 2], first: (&str, Entity)| {
        let rows = (0..500usize).map(|i| {
            let [child, beside] = bad.map(|(at, target)| if i == at { target } else { alive });
            (Row(0), ChildOf::of(child), Beside::of(beside), Name(Arc::clone(&owner)))
        });
        let error = world.try_spawn_batch(rows).expect_err("a target is dead");
        let SpawnError::Relation(RelationError::DeadTarget { relation, target }) = error else {
            panic!("{error}")
        };
        assert!(relation.ends_with(first.0) && target == first.1, "{relation} {target:?}");
        assert_eq!((world.hash(), world.version(), world.len()), before);
        assert_eq!(Arc::strong_count(&owner), 1);
        sound(world);
    };
    is_refused(&mut world, [(300, dead), (299, other)], ("Beside", other));
    is_refused(&mut world, [(300, dead), (300, other)], ("ChildOf", dead));
    is_refused(&mut world, [(0, dead), (499, other)], ("ChildOf", dead));
    is_refused(&mut world, [(900, dead), (499, Entity::NULL)], ("Beside", Entity::NULL));
}

#[test]
fn an_iterator_that_panics_leaves_the_world_as_it_was() {
    let mut world = small();
    let (parent, owner) = (world.spawn(()), Arc::new(()));
    let before = (world.hash(), world.version());
    for end in [0, 1, 90, 400] {
        let rows = (0..usize::MAX).map(|i| {
            assert!(i < end, "the end");
            (Row(0), ChildOf::of(parent), Points(1), Name(Arc::clone(&owner)))
        });
        let spawned = catch_unwind(AssertUnwindSafe(|| drop(world.spawn_batch(rows).to_vec())));
        assert!(spawned.is_err() && Arc::strong_count(&owner) == 1);
        assert_eq!((world.hash(), world.version()), before);
        sound(&world);
    }
    assert_eq!(world.spawn_batch([(Row(1), ChildOf::of(parent))]).len(), 1);
    sound(&world);
}

#[test]
fn a_batch_of_commands_leaves_out_the_relations_that_are_refused() {
    let mut world = small();
    let [parent, dead] = [(); 2].map(|()| world.spawn(()));
    world.despawn(dead).expect("alive");
    let mut buffer = world.command_buffer(0).expect("there are ids");
    buffer.spawn_batch((0..300u32).map(|i| {
        let (child, beside) = (if i % 7 == 3 { dead } else { parent }, parent);
        (Row(i), ChildOf::of(child), Beside::of(beside), Points(i))
    }));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
        panic!("some targets are dead")
    };
    let all: Vec<_> =
        world.query::<(Entity, &Row)>().rows().map(|(one, row)| (one, row.0)).collect();
    let refused: Vec<_> = all.iter().filter(|(_, i)| i % 7 == 3).map(|&(one, _)| one).collect();
    let accepted: Vec<_> = all.iter().filter(|(_, i)| i % 7 != 3).map(|&(one, _)| one).collect();
    let named: Vec<_> = errors.iter().map(|error| error.entity).collect();
    assert_eq!(named, refused);
    assert_eq!(world.relation::<ChildOf>().sources(parent), accepted);
    let entities: Vec<_> = all.iter().map(|&(one, _)| one).collect();
    assert_eq!(world.relation::<Beside>().sources(parent), entities);
    assert!(all.iter().all(|&(one, i)| world.get::<Points>(one).is_ok_and(|p| p.0 == i)));
    sound(&world);
}

#[test]
fn lists_of_pairs_come_in_batches_beside_other_relations() {
    let mut world = small();
    let [one, other] = [(); 2].map(|()| world.spawn(()));
    let rows = (0..200u32).map(|i| {
        let (target, weight) = (if i % 3 == 0 { one } else { other }, 1);
        (Row(i), Likes { weight }.of(target), ChildOf::of(one))
    });
    let spawned = world.spawn_batch(rows).to_vec();
    let liked: Vec<_> = spawned.iter().copied().step_by(3).collect();
    assert_eq!(world.relation::<Likes>().sources(one), liked);
    assert_eq!(world.relation::<ChildOf>().sources(one), spawned);
    sound(&world);
}
