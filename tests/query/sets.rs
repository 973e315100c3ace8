//! Queries as sets: their members, their number, groups of them and random ones, against a walk.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::chunks::Group;
use phalanx::prelude::*;
use phalanx::terms::Terms;

use crate::common::components::{Big, Byte, Number, Tag, Text, Twelve, sound};
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Awake(u32);
#[component(lines)]
struct Tracked(u32);

/// Several chunks of several archetypes, with disabled rows, a shared value of five, and two sparse
/// components, one of them in few rows.
fn populated() -> (World, Vec<Entity>) {
    let rows = if cfg!(miri) { 40 } else { 1_500 };
    let mut world = world();
    let mut all = world.spawn_batch((0..rows).map(|n| (Big([n; 250]), Awake(n)))).to_vec();
    all.extend(world.spawn_batch((0..rows).map(|n| (Awake(n), Tag))));
    all.extend(world.spawn_batch((0..rows).map(|n| (Twelve([n; 3]), Tracked(n)))));
    for (number, &entity) in all.iter().enumerate().filter(|(number, _)| number % 3 == 0) {
        if number % 2 == 0 {
            let _ = world.set_enabled::<Awake>(entity, false);
        }
        if number % 7 == 0 {
            world.insert_shared(entity, number % 5).expect("room");
        }
    }
    for (number, &entity) in all.iter().enumerate() {
        if number % 5 < 2 {
            world.insert(entity, Number(7)).expect("it is alive");
        }
        if number % 37 == 5 {
            world.insert(entity, Text::from("few")).expect("it is alive");
        }
    }
    (world, all)
}

/// Compares everything that a query tells about its matches with a walk over them.
#[track_caller]
fn assert_is_set<Q: Terms, F: Filter>(query: &Query<'_, Q, F>, all: &[Entity], walk: &[Entity]) {
    let members: BTreeSet<_> = walk.iter().copied().collect();
    assert_eq!(query.count_rows(), walk.len());
    assert_eq!(query.is_empty(), walk.is_empty());
    for &entity in all {
        assert_eq!(query.contains(entity), members.contains(&entity), "{entity}");
    }
    let groups: Vec<Group<'_>> = query.copies().groups().collect();
    assert!(groups.is_sorted_by(|a, b| a.archetype() < b.archetype()));
    assert!(groups.iter().all(|group| group.len() == group.entities().len() && !group.is_empty()));
    assert_eq!(groups.iter().flat_map(Group::entities).collect::<Vec<_>>(), walk);
    for len in [0, 1, 5, walk.len() / 2, walk.len(), walk.len() + 3] {
        let chosen = query.copies().sample(len, 7);
        assert_eq!(chosen.len(), len.min(walk.len()));
        assert_eq!(chosen, query.copies().sample(len, 7), "of one seed");
        let distinct: BTreeSet<_> = chosen.iter().copied().collect();
        assert_eq!(distinct.len(), chosen.len(), "each entity once");
        assert!(distinct.is_subset(&members));
    }
    // Each place of the order is chosen by some seed.
    let whole: BTreeSet<_> = query.copies().sample(walk.len(), 9).into_iter().collect();
    assert_eq!(whole, members);
    if walk.len() > 30 {
        assert_ne!(query.copies().sample(20, 7), query.copies().sample(20, 8), "of two seeds");
        assert!(query.copies().sample(walk.len(), 7) != walk, "in random order");
    }
}

#[test]
fn members_numbers_groups_and_samples_are_those_of_a_walk() {
    let (mut world, all) = populated();
    let before = world.version();
    for &entity in all.iter().step_by(11) {
        if let Ok(tracked) = world.get_mut::<Tracked>(entity) {
            tracked.0 += 1;
        }
    }
    let changed = world.version();
    world.get_mut::<Number>(all[0]).expect("it has one").0 += 1;
    let version = world.version();
    macro_rules! check {
        ($($query:expr),* $(,)?) => {$(
            let walk: Vec<_> = $query.rows().collect();
            assert_is_set(&$query, &all, &walk);
        )*};
    }
    let entities = || world.query::<Entity>();
    check! {
        entities(),
        entities().with::<Byte>(),
        entities().with::<Big>(),
        entities().with::<Twelve>(),
        entities().without::<Tag>(),
        entities().with::<Awake>(),
        entities().without::<Awake>(),
        entities().filter::<WithDisabled<Awake>>(),
        entities().filter::<Or<(With<Awake>, With<Twelve>)>>(),
        entities().filter::<Not<(With<Awake>, Without<Tag>)>>(),
        entities().where_shared(&3_usize),
        entities().with::<Awake>().where_shared(&0_usize),
        entities().changed_since::<Tracked>(before),
        entities().filter_since::<ChangedLines<Tracked>>(before),
        entities().filter_since::<Arrived>(before),
        entities().with::<Number>(),
        entities().without::<Number>(),
        entities().with::<Text>(),
        entities().with::<Number>().without::<Text>().with::<Awake>(),
        entities().filter::<AnyOf<(Number, Text)>>(),
        entities().filter::<Or<(With<Text>, Not<With<Awake>>)>>(),
        entities().with::<Text>().where_shared(&2_usize),
        entities().changed_since::<Number>(changed),
    }
    macro_rules! check_terms {
        ($(($($term:ty),*)),* $(,)?) => {$(
            let query = world.query::<(Entity, $($term),*)>();
            let walk: Vec<_> = query.rows().map(|row| row.0).collect();
            assert_is_set(&query, &all, &walk);
        )*};
    }
    check_terms! {
        (&Number),
        (&Twelve, &Text),
        (Option<&Number>, &Text),
        (&Number, Option<&Tag>, &Awake),
    }
    assert!(entities().changed_since::<Number>(changed).count_rows() > 0);
    assert!(entities().filter_since::<ChangedLines<Tracked>>(before).count_rows() > 0);
    assert_eq!(world.version(), version, "no clock has moved");
    sound(&world);
}

#[test]
fn a_query_that_writes_is_a_set_and_stamps_no_chunk() {
    let (mut world, all) = populated();
    let before = world.version();
    let walk: Vec<_> = world.query::<(Entity, &Awake)>().rows().map(|row| row.0).collect();
    assert_is_set(&world.query_mut::<&mut Awake>(), &all, &walk);
    assert!(world.query::<&Awake>().changed_since(before).is_empty());
    let walk: Vec<_> = world.query::<(Entity, &Number)>().rows().map(|row| row.0).collect();
    assert_is_set(&world.query_mut::<&mut Number>(), &all, &walk);
    assert!(world.query::<Entity>().changed_since::<Number>(before).is_empty());
}

#[test]
fn groups_tell_components_and_shared_values() {
    let (mut world, _) = populated();
    let mut expected: BTreeMap<(bool, Option<usize>), usize> = BTreeMap::new();
    for (tag, shared) in world.query::<(Option<&Tag>, Option<Shared<usize>>)>().rows() {
        *expected.entry((tag.is_some(), shared.copied())).or_default() += 1;
    }
    let mut found: BTreeMap<(bool, Option<usize>), usize> = BTreeMap::new();
    for group in world.query::<Entity>().copies().groups() {
        assert!(!group.has::<Byte>());
        assert_eq!(group.has::<Big>() || group.has::<Tag>(), group.has::<Awake>());
        *found.entry((group.has::<Tag>(), group.shared::<usize>().copied())).or_default() +=
            group.len();
    }
    assert_eq!(found, expected);
    let counted = world.run(|query: Query<&Awake, Without<Tag>>| {
        query.copies().groups().map(|group| group.len()).sum::<usize>()
    });
    let walked = world.query::<&Awake>().without::<Tag>().rows().count();
    assert_eq!(counted, walked);
}

#[test]
fn each_order_of_each_choice_is_equally_likely() {
    let mut world = world();
    let mut all = world.spawn_batch([Byte(1); 2]).to_vec();
    all.extend(world.spawn_batch([(Byte(1), Awake(1)); 4]));
    world.set_enabled::<Awake>(all[3], false).expect("it has the component");
    // Five of six entities, with one hidden in the middle.
    let query = world
        .query::<&Byte>()
        .filter::<Or<(With<Awake>, Not<Or<(With<Awake>, WithDisabled<Awake>)>>)>>();
    assert_eq!(query.count_rows(), 5);
    let mut counts: BTreeMap<Vec<Entity>, u32> = BTreeMap::new();
    let draws = if cfg!(miri) { 60 } else { 24_000 };
    for seed in 0..draws {
        *counts.entry(query.copies().sample(3, seed)).or_default() += 1;
    }
    assert!(cfg!(miri) || counts.len() == 5 * 4 * 3, "{} choices", counts.len());
    // Each of sixty is expected 400 times, with a standard deviation of 20.
    assert!(cfg!(miri) || counts.values().all(|count| (310..490).contains(count)), "{counts:?}");
}

#[test]
fn each_member_of_a_sparse_component_is_equally_likely() {
    let mut world = world();
    let rows = if cfg!(miri) { 40 } else { 2_000 };
    let mut all = world.spawn_batch((0..rows).map(|n| Big([n; 250]))).to_vec();
    all.extend(world.spawn_batch([Byte(1); 40]));
    // Six that lie far apart, and one that has lost its value.
    let step = all.len() / 6;
    let members: Vec<_> = all.iter().copied().step_by(step).take(6).collect();
    members.iter().for_each(|&entity| world.insert(entity, Number(1)).expect("it is alive"));
    world.remove::<Number>(members[3]).expect("it has one");
    let expected: BTreeSet<_> =
        members.into_iter().filter(|&one| world.has::<Number>(one)).collect();
    let mut counts: BTreeMap<Vec<Entity>, u32> = BTreeMap::new();
    let draws = if cfg!(miri) { 60 } else { 8_000 };
    for seed in 0..draws {
        let chosen = world.query::<&Number>().copies().sample(2, seed);
        assert!(chosen.iter().all(|one| expected.contains(one)), "{chosen:?}");
        assert_eq!(chosen, world.query::<Entity>().with::<Number>().copies().sample(2, seed));
        *counts.entry(chosen).or_default() += 1;
    }
    assert!(cfg!(miri) || counts.len() == 5 * 4, "{} choices", counts.len());
    // Each of twenty is expected 400 times, with a standard deviation of 20.
    assert!(cfg!(miri) || counts.values().all(|count| (310..490).contains(count)), "{counts:?}");
}

#[test]
fn a_system_may_ignore_the_bits_of_its_expression() {
    type Alternatives = Or<(With<Awake>, Without<Tag>)>;
    fn all<F: Filter>(query: Query<Entity, F>) -> usize {
        query.filter::<IgnoreEnabled>().count_rows()
    }
    let (mut world, _) = populated();
    fn wanted<F: Filter>(world: &World) -> usize {
        world.query::<Entity>().filter::<IgnoreEnabled>().filter::<F>().count_rows()
    }
    type NotBoth = Not<(With<Tag>, With<Awake>)>;
    type NotDisabled = Not<WithDisabled<Awake>>;
    let rows = [wanted::<Alternatives>(&world), wanted::<NotBoth>(&world)];
    assert_eq!([world.run(all::<Alternatives>), world.run(all::<NotBoth>)], rows);
    assert_eq!(world.run(all::<NotDisabled>), wanted::<NotDisabled>(&world));
}

#[test]
fn expressions_without_enable_bits_have_any_length() {
    type Pairs = (Or<(With<Big>, With<Tag>)>, Or<(With<Twelve>, With<Byte>)>);
    type Many = Or<(Pairs, Pairs, Pairs, Pairs, Pairs, Pairs, Pairs, Not<With<Big>>)>;
    let (world, _) = populated();
    let query = world.query::<Entity>().filter::<IgnoreEnabled>();
    assert_eq!(query.filter::<Many>().count_rows(), query.without::<Big>().count_rows());
}
