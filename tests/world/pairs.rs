//! Relations with any number of targets for a source: calls, rules for despawned targets, and logs.

use std::collections::BTreeSet;

use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::error::{EntityError, SpawnError};
use phalanx::prelude::*;
use phalanx::sparse::RelationError;

use crate::common::components::{Four, sound};
use crate::common::world;

#[relation(many)]
#[derive(Debug, PartialEq)]
pub(crate) struct Likes {
    pub(crate) weight: u32,
}

/// A tag for each pair.
#[relation(many, on_delete = despawn)]
#[derive(Debug, PartialEq)]
pub(crate) struct Follows;

#[relation(many, on_delete = refuse)]
#[derive(Debug, PartialEq)]
pub(crate) enum Needs {
    Somewhat,
    Badly,
}

/// A number of entities that only a method without recursion or search survives.
const MANY: u32 = if cfg!(miri) { 100 } else { 1_000_000 };

fn three(world: &mut World) -> [Entity; 3] {
    [(); 3].map(|()| world.spawn(Four(1)))
}

fn dead(error: EntityError, target: Entity) {
    let EntityError::Relation(RelationError::DeadTarget { relation, target: named }) = error else {
        panic!("{error}");
    };
    assert!(relation.ends_with("Likes") && named == target);
}

#[test]
fn a_source_has_each_target_once_with_its_last_value() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    world.insert(a, Likes { weight: 1 }.of(b)).expect("alive");
    world.insert(a, Likes { weight: 2 }.of(c)).expect("alive");
    world.insert(a, Likes { weight: 3 }.of(a)).expect("itself is allowed");
    world.insert(c, Likes { weight: 4 }.of(b)).expect("alive");
    world.insert(a, Likes { weight: 5 }.of(b)).expect("alive");
    sound(&world);
    let pairs = world.relation::<Likes>();
    assert_eq!((pairs.targets(a), pairs.sources(b)), (&[b, c, a][..], &[a, c][..]));
    assert_eq!((pairs.len(), pairs.sources(a), pairs.targets(b)), (4, &[a][..], &[][..]));
    assert_eq!((pairs.get(a, b), pairs.get(b, a)), (Some(&Likes { weight: 5 }), None));
    let weights: Vec<_> = pairs.iter().map(|(from, to, likes)| (from, to, likes.weight)).collect();
    assert_eq!(weights, [(a, b, 5), (a, c, 2), (a, a, 3), (c, b, 4)]);
    drop(pairs);

    let removed = world.remove::<Targets<Likes>>(a).expect("it has some");
    assert_eq!((removed.entities(), removed.get(c)), (&[b, c, a][..], Some(&Likes { weight: 2 })));
    assert_eq!(world.relation::<Likes>().sources(b), [c]);
    assert!(world.remove::<Targets<Likes>>(a).is_err() && world.get::<Likes>(a).is_err());
    // The list is inserted elsewhere: its places in the reverse index are made anew.
    world.insert(b, removed).expect("alive");
    assert_eq!(world.relation::<Likes>().sources(b), [c, b]);
    let former = world.exchange::<Targets<Likes>, _>(b, Likes { weight: 9 }.of(c));
    assert_eq!(former.expect("it has some").len(), 3);
    assert_eq!(world.relation::<Likes>().targets(b), [c]);
    sound(&world);
}

#[test]
fn one_pair_is_written_and_removed() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    let list = [a, b, c].map(|target| (target, Likes { weight: 1 }));
    world.insert(a, Targets::from(list)).expect("alive");
    world.insert(b, Likes { weight: 7 }.of(c)).expect("alive");
    let mut liked = world.get_mut::<Likes>(a).expect("it has some");
    liked.get_mut(c).expect("a target").weight = 4;
    liked.values_mut()[1].weight = 3;
    assert_eq!(liked.remove(a), Some(Likes { weight: 1 }));
    assert_eq!(liked.remove(a), None);
    assert_eq!((liked.entities(), liked.get(b)), (&[c, b][..], Some(&Likes { weight: 3 })));
    sound(&world);
    assert_eq!(world.relation::<Likes>().sources(c), [a, b]);
    let mut liked = world.get_mut::<Likes>(a).expect("it has some");
    assert_eq!(liked.remove(c), Some(Likes { weight: 4 }));
    assert_eq!(liked.remove(b), Some(Likes { weight: 3 }));
    assert_eq!(liked.remove(b), None);
    assert!(liked.entities().is_empty() && liked.values().is_empty());
    assert!(!world.has::<Likes>(a) && world.get_mut::<Likes>(a).is_err());
    assert_eq!(world.query::<Entity>().with::<Likes>().rows().collect::<Vec<_>>(), [b]);
    sound(&world);
    world.insert(a, Targets::<Likes>::new()).expect("an empty list adds no component");
    assert!(!world.has::<Likes>(a) && world.relation::<Likes>().iter().count() == 1);
    sound(&world);
}

#[test]
fn queries_choose_sources_and_yield_their_lists() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    world.insert(a, Targets::from([(b, Follows), (c, Follows)])).expect("alive");
    let lists: Vec<_> =
        world.query::<(Entity, &Follows)>().rows().map(|(e, l)| (e, l.len())).collect();
    assert_eq!(lists, [(a, 2)]);
    let lens = |world: &World| -> Vec<_> {
        let lists = world.query::<Option<&Follows>>();
        lists.rows().map(|list| list.map_or(0, Targets::len)).collect()
    };
    assert_eq!(lens(&world), [2, 0, 0]);
    assert_eq!(world.query::<Entity>().without::<Follows>().count_rows(), 2);
    assert!(world.run(|pairs: Pairs<Follows>, all: Query<&Follows>| {
        all.rows().map(Targets::len).sum::<usize>() == pairs.len()
    }));
    world.despawn(c).expect("no one refuses");
    assert!(!world.contains(a), "its sources go as well");
    assert_eq!(lens(&world), [0]);
}

#[test]
fn a_dead_end_is_refused_and_nothing_changes() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    world.insert(a, Likes { weight: 1 }.of(b)).expect("alive");
    world.despawn(c).expect("alive");
    let hash = world.hash();
    let both = || Targets::from([(a, Likes { weight: 2 }), (c, Likes { weight: 3 })]);
    dead(world.insert(a, both()).expect_err("one target is dead"), c);
    let null = Likes { weight: 1 }.of(Entity::NULL);
    dead(world.insert(a, null).expect_err("no entity"), Entity::NULL);
    dead(world.exchange::<Targets<Likes>, _>(a, both()).expect_err("dead"), c);
    assert!(matches!(
        world.insert(c, Likes { weight: 1 }.of(a)),
        Err(EntityError::NoSuchEntity(_))
    ));
    let spawned = world.try_spawn((Four(2), both()));
    assert!(matches!(spawned, Err(SpawnError::Relation(_))));
    let batch = [Likes { weight: 1 }.of(a), Likes { weight: 1 }.of(c)];
    assert!(world.try_spawn_batch(batch).is_err());
    assert_eq!((world.hash(), world.len()), (hash, 2));
    let reserved = world.reserve_entity().expect("ids are left");
    world.insert(a, Likes { weight: 2 }.of(reserved)).expect("a reserved id is alive");
    sound(&world);
}

#[test]
fn a_target_that_goes_takes_its_pairs_its_sources_or_is_kept() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    world
        .insert(a, Targets::from([(b, Likes { weight: 1 }), (c, Likes { weight: 2 })]))
        .expect("a");
    world.insert(b, Likes { weight: 3 }.of(b)).expect("itself");
    world.insert(a, Targets::from([(b, Needs::Badly), (c, Needs::Somewhat)])).expect("alive");
    let Err(EntityError::Relation(RelationError::Held { target, source, .. })) = world.despawn(c)
    else {
        panic!("it is needed");
    };
    assert_eq!((target, source, world.len()), (c, a, 3));
    assert_eq!(world.despawn_batch(&[b, c]), 0, "both are needed");
    world.get_mut::<Needs>(a).expect("it needs two").remove(b);
    world.despawn(b).expect("no one needs it");
    assert_eq!(world.relation::<Likes>().targets(a), [c]);
    sound(&world);
    world.insert(c, Follows.of(a)).expect("alive");
    world.insert(c, Follows.of(c)).expect("itself");
    // A held entity goes with its holder.
    world.despawn(a).expect("its follower is its only target that is kept");
    assert!(world.is_empty());
    sound(&world);
}

#[test]
fn commands_add_lists_and_leave_out_those_with_a_dead_target() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    world.insert(a, Likes { weight: 1 }.of(b)).expect("alive");
    let mut buffer = world.command_buffer(4).expect("ids are left");
    let new = buffer.spawn((Four(5), Likes { weight: 2 }.of(a)));
    buffer.insert(a, Likes { weight: 3 }.of(new));
    buffer.insert(a, Likes { weight: 4 }.of(b));
    buffer.despawn(c);
    buffer.insert(b, Targets::from([(a, Likes { weight: 5 }), (c, Likes { weight: 5 })]));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("one fails") };
    assert_eq!(errors.len(), 1);
    assert!(matches!(errors.iter().next().expect("one").fault, CommandErrorKind::Relation(_)));
    let pairs = world.relation::<Likes>();
    assert_eq!(
        (pairs.targets(a), pairs.targets(new), pairs.targets(b)),
        (&[b, new][..], &[a][..], &[][..])
    );
    assert_eq!(pairs.get(a, b), Some(&Likes { weight: 4 }));
    drop(pairs);
    sound(&world);
    let mut buffer = world.command_buffer(0).expect("ids are left");
    buffer.remove::<Targets<Likes>>(a);
    buffer.despawn(a);
    world.apply(&mut buffer).expect("alive");
    assert!(world.relation::<Likes>().is_empty());
    sound(&world);
}

#[test]
fn commands_add_and_remove_single_pairs() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    world.insert(a, Likes { weight: 1 }.of(b)).expect("alive");
    let mut removed = world.cursor::<Removals<Likes>>();
    let mut buffer = world.command_buffer(1).expect("ids are left");
    let new = buffer.spawn(Likes { weight: 2 }.of(c));
    buffer.insert(a, Likes { weight: 3 }.of(new));
    buffer.remove_pair::<Likes>(a, b);
    buffer.remove_pair::<Likes>(a, b); // it has none any more
    buffer.remove_pair::<Likes>(b, a); // and this never had one
    buffer.remove_pair::<Needs>(b, a); // the relation has no set
    world.apply(&mut buffer).expect("all are alive");
    sound(&world);
    assert_eq!(
        world
            .relation::<Likes>()
            .iter()
            .map(|(from, to, likes)| (from, to, likes.weight))
            .collect::<BTreeSet<_>>(),
        BTreeSet::from([(a, new, 3), (new, c, 2)])
    );
    assert_eq!(removed.read(&world).0, [], "it has another pair");
    // The last pair, of a source that gets and loses one; and that of a source that is not alive.
    let mut buffer = world.command_buffer(0).expect("ids are left");
    buffer.insert(b, Likes { weight: 4 }.of(b));
    buffer.remove_pair::<Likes>(b, b);
    buffer.remove_pair::<Likes>(a, new);
    buffer.despawn(c);
    buffer.remove_pair::<Likes>(c, a);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
        panic!("one is not alive")
    };
    assert_eq!(errors.len(), 1);
    assert!(errors.to_string().contains("remove of `"), "{errors}");
    assert!(world.relation::<Likes>().is_empty() && !world.has::<Likes>(a));
    assert_eq!(world.query::<Entity>().with::<Likes>().count_rows(), 0);
    sound(&world);
    assert!(removed.read(&world).0.contains(&a));
    // Writers of threads, whose commands come after those of the buffer.
    let mut buffer = world.command_buffer(0).expect("ids are left");
    buffer.insert(a, Targets::from([(b, Likes { weight: 5 }), (new, Likes { weight: 6 })]));
    let mut writers = buffer.par_writers(2);
    writers[1].remove_pair::<Likes>(a, b);
    drop(writers);
    world.apply(&mut buffer).expect("alive");
    assert_eq!(world.relation::<Likes>().targets(a), [new]);
    sound(&world);
}

#[test]
fn logs_read_the_first_pair_and_the_last() {
    let mut world = world();
    let [a, b, c] = three(&mut world);
    let mut inserted = world.cursor::<Insertions<Likes>>();
    let mut removed = world.cursor::<Removals<Likes>>();
    world.insert(a, Likes { weight: 1 }.of(b)).expect("alive");
    world.insert(a, Likes { weight: 1 }.of(c)).expect("alive");
    world.despawn(b).expect("alive");
    assert_eq!((inserted.read(&world).0, removed.read(&world).0), (&[a][..], &[][..]));
    world.get_mut::<Likes>(a).expect("one is left").remove(c);
    assert_eq!(removed.read(&world).0, [a]);
}

#[test]
fn one_of_a_million_sources_goes_alone_and_so_does_the_target() {
    let mut world = world();
    let hub = world.spawn(());
    let all = world.spawn_batch((0..MANY).map(|weight| Likes { weight }.of(hub))).to_vec();
    world.despawn(all[1]).expect("alive");
    let pairs = world.relation::<Likes>();
    assert_eq!(pairs.len(), all.len() - 1);
    assert_eq!(pairs.sources(hub)[..2], [all[0], all[all.len() - 1]]);
    assert_eq!(pairs.get(all[2], hub), Some(&Likes { weight: 2 }));
    drop(pairs);
    // The hub likes them back: one list of a million targets, each found by its only source.
    for &one in &all[2..] {
        world.insert(hub, Likes { weight: 0 }.of(one)).expect("alive");
    }
    for &one in all[2..].iter().rev().step_by(2) {
        world.get_mut::<Likes>(hub).expect("some are left").remove(one);
    }
    sound(&world);
    world.despawn(hub).expect("alive");
    assert!(world.relation::<Likes>().is_empty());
    assert_eq!(world.query::<Entity>().with::<Likes>().count_rows(), 0);
    sound(&world);
}

#[test]
fn a_source_of_many_targets_stays_if_all_are_held_and_goes_with_one() {
    let mut world = world();
    let [source, holder] = [(); 2].map(|()| world.spawn(()));
    let targets = world.spawn_batch((0..MANY / 10).map(|_| ())).to_vec();
    let follows: Targets<Follows> = targets.iter().map(|&target| (target, Follows)).collect();
    let needs: Targets<Needs> = targets.iter().map(|&target| (target, Needs::Badly)).collect();
    world.insert(source, follows).expect("all are alive");
    world.insert(holder, needs).expect("all are alive");
    let despawn = |world: &mut World| {
        let mut buffer = world.command_buffer(0).expect("ids are left");
        targets.iter().for_each(|&target| buffer.despawn(target));
        let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
            panic!("some are held")
        };
        sound(world);
        errors.len()
    };
    assert_eq!(despawn(&mut world), targets.len());
    assert!(world.contains(source) && targets.iter().all(|&target| world.contains(target)));
    let last = targets[targets.len() - 1];
    world.get_mut::<Needs>(holder).expect("it has some").remove(last);
    assert_eq!(despawn(&mut world), targets.len() - 1);
    assert!(!world.contains(source) && !world.contains(last) && world.contains(targets[0]));
}
