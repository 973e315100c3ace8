//! The archetypes and chunks that a query visits.

use phalanx::prelude::*;

use crate::common::components::{Four, Nth, Other, Tag, Third, Twelve, sound};
use crate::common::world;

/// One entity for each subset of five components; bit `i` of its number is component `i`.
fn subsets() -> (World, Vec<Entity>) {
    let mut world = world();
    let entities: Vec<_> = (0..32).map(|_| world.spawn(())).collect();
    for (i, &entity) in (0u32..).zip(&entities) {
        macro_rules! insert {
            ($($n:literal)*) => {$(
                if i >> $n & 1 == 1 {
                    world.insert(entity, Nth::<$n>(i)).expect("room");
                }
            )*};
        }
        insert!(0 1 2 3 4);
    }
    (world, entities)
}

/// The numbers of the entities that a query visits, in order; each once.
#[track_caller]
fn visited<'w>(entities: &[Entity], rows: impl Iterator<Item = &'w [Entity]>) -> Vec<usize> {
    let number = |e: &Entity| entities.iter().position(|x| x == e).expect("known");
    let mut numbers: Vec<_> = rows.flatten().map(number).collect();
    numbers.sort_unstable();
    assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]), "each entity once");
    numbers
}

fn numbers(predicate: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..32).filter(|&i| predicate(i)).collect()
}

#[test]
fn with_and_without_are_the_masks_over_all_subsets_of_five() {
    let (world, entities) = subsets();
    let e = &entities;
    assert_eq!(visited(e, world.query::<Entity>().into_iter()), numbers(|_| true));
    let q = world.query::<Entity>().with::<Nth<0>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|i| i & 1 != 0));
    let q = world.query::<Entity>().with::<Nth<0>>().with::<Nth<4>>().without::<Nth<2>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|i| i & 0b10101 == 0b10001));
    let q = world.query::<Entity>().without::<Nth<0>>().without::<Nth<1>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|i| i & 3 == 0));
    let q = world.query::<Entity>().with::<Nth<3>>().without::<Nth<3>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|_| false));
    let q = world.query::<(&Nth<1>, Entity, Option<&Nth<2>>)>().without::<Nth<4>>();
    assert_eq!(visited(e, q.into_iter().map(|(_, e, _)| e)), numbers(|i| i & 0b10010 == 0b10));
}

#[test]
fn any_of_matches_every_subset_but_the_empty_one_once() {
    let (world, entities) = subsets();
    let e = &entities;
    let q = world.query::<Entity>().filter::<AnyOf<(Nth<0>, Nth<1>, Nth<2>)>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|i| i & 7 != 0));
    let q =
        world.query::<Entity>().filter::<AnyOf<(Nth<0>,)>>().filter::<AnyOf<(Nth<3>, Nth<4>)>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|i| i & 1 != 0 && i & 0b11000 != 0));
    let q = world.query::<Entity>().filter::<AnyOf<(Nth<0>, Nth<1>)>>().without::<Nth<0>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|i| i & 3 == 2));
    let q = world.query::<Entity>().filter::<AnyOf<(Nth<9>, Nth<2>)>>();
    assert_eq!(
        visited(e, q.into_iter()),
        numbers(|i| i & 4 != 0),
        "a type that was never seen is absent"
    );
    let q = world.query::<Entity>().filter::<AnyOf<(Nth<9>, Nth<10>)>>();
    assert_eq!(visited(e, q.into_iter()), numbers(|_| false));
}

#[test]
fn absent_alternatives_read_as_none() {
    let (world, entities) = subsets();
    let q = world
        .query::<(Entity, Option<&Nth<0>>, Option<&Nth<1>>)>()
        .filter::<AnyOf<(Nth<0>, Nth<1>)>>();
    for (entity, a, b) in q.rows() {
        let i = entities.iter().position(|&e| e == entity).expect("known");
        assert_eq!((a.is_some(), b.is_some()), (i & 1 != 0, i & 2 != 0));
        assert!(a.is_some() || b.is_some());
    }
}

#[test]
fn a_change_filter_passes_over_archetypes_that_lack_the_component() {
    let mut world = world();
    let before = world.version();
    let (four, _) = (world.spawn((Four(1), Tag)), world.spawn(Tag));
    let changed = |world: &World, v| {
        let q = world.query::<(Entity, Option<&Four>)>().changed_since::<Four>(v);
        q.rows().map(|(e, _)| e).collect::<Vec<_>>()
    };
    assert_eq!(changed(&world, before), [four]);
    assert_eq!(world.query::<Entity>().changed_since::<Twelve>(Version::NEVER).iter().count(), 0);
    assert_eq!(
        world.query_mut::<Entity>().changed_since::<Third>(Version::NEVER).iter_mut().count(),
        0
    );
    let now = world.version();
    world.insert(four, Other).expect("room");
    assert!(changed(&world, now).is_empty(), "a move is no change");
    world.remove::<Four>(four).expect("there");
    assert!(changed(&world, before).is_empty(), "gone");
    sound(&world);
}

#[test]
fn filters_that_never_pass_and_always_pass() {
    let mut world = world();
    world.spawn_batch((0..100).map(Four));
    let end = Version::from_bits(u64::MAX);
    assert_eq!(world.query::<&Four>().changed_since(end).iter().count(), 0);
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(end).iter().count(), 0);
    assert_eq!(world.query::<&Four>().changed_since(Version::NEVER).iter().count(), 1);
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(Version::NEVER).iter().count(), 1);
    let now = world.version();
    assert_eq!(world.query_mut::<&mut Four>().changed_since(now).iter_mut().count(), 0);
    assert_eq!(world.query::<&Four>().changed_since(now).iter().count(), 0, "visited nothing");
}

#[test]
fn several_change_filters_must_all_pass() {
    let mut world = world();
    let (a, b) = (world.spawn((Four(1), Tag)), world.spawn((Four(2), Other)));
    for entity in [a, b] {
        world.insert(entity, Twelve([0; 3])).expect("room");
    }
    let v = world.version();
    let both = |world: &World| {
        let q = world.query::<(Entity, &Four)>().changed_since::<Four>(v);
        q.changed_since::<Twelve>(v).rows().map(|(e, _)| e).collect::<Vec<_>>()
    };
    world.get_mut::<Four>(a).expect("there").0 = 5;
    world.get_mut::<Twelve>(b).expect("there").0[0] = 5;
    assert!(both(&world).is_empty());
    world.get_mut::<Four>(b).expect("there").0 = 5;
    assert_eq!(both(&world), [b]);
    world.get_mut::<Twelve>(a).expect("there").0[0] = 5;
    assert_eq!(both(&world), [a, b]);
    // A narrowed filter is another filter: the plain query is unchanged.
    assert_eq!(world.query::<(Entity, &Four)>().rows().count(), 2);
}

#[test]
fn a_query_planned_before_an_archetype_appeared_sees_it() {
    let mut world = world();
    let count = |world: &World| {
        let with = world.query::<(&Four, Option<&Twelve>)>().with::<Tag>().rows().count();
        let without = world.query::<&Four>().without::<Third>().rows().count();
        let any = world.query::<Entity>().filter::<AnyOf<(Tag, Third)>>().rows().count();
        let changed = world.query::<&Four>().changed_since(Version::NEVER).rows().count();
        (with, without, any, changed)
    };
    // Planned by a shared world that knows none of the types.
    assert_eq!(count(&world), (0, 0, 0, 0));
    assert_eq!(world.query_mut::<(&mut Four, &Other)>().iter_mut().count(), 0);
    let entity = world.spawn(Four(1));
    assert_eq!(count(&world), (0, 1, 0, 1));
    world.insert(entity, Tag).expect("room");
    assert_eq!(count(&world), (1, 1, 1, 1));
    world.spawn((Four(2), Third));
    assert_eq!(count(&world), (1, 1, 2, 2));
    world.spawn_batch((0..3).map(|i| (Four(i), Tag, Twelve([i; 3]))));
    assert_eq!(count(&world), (4, 4, 5, 5));
    world.exchange::<Tag, _>(entity, Other).expect("there");
    assert_eq!(count(&world), (3, 4, 4, 5));
    assert_eq!(world.query_mut::<(&mut Four, &Other)>().iter_mut().count(), 1);
    world.remove::<Four>(entity).expect("there");
    assert_eq!(count(&world), (3, 3, 4, 4));
    world.clear();
    assert_eq!(count(&world), (0, 0, 0, 0));
}

#[test]
fn a_plan_counted_before_it_was_walked_learns_the_types_later() {
    let mut world = world();
    assert_eq!(world.query_mut::<(&mut Four, Option<&mut Twelve>)>().count_rows(), 0);
    world.spawn((Four(1), Twelve([1; 3])));
    assert_eq!(world.query_mut::<(&mut Four, Option<&mut Twelve>)>().count_rows(), 1);
    let (four, twelve) =
        world.query_mut::<(&mut Four, Option<&mut Twelve>)>().into_iter().next().expect("one");
    four[0].0 = 2;
    twelve.expect("there")[0].0[0] = 2;
    sound(&world);
}

#[test]
fn the_same_columns_in_another_order_or_mode_are_another_query() {
    let mut world = world();
    world.spawn((Four(1), Twelve([2; 3]), Tag));
    for _ in 0..2 {
        assert_eq!(world.query::<(&Four, &Twelve)>().iter().next().expect("one").0[0], Four(1));
        assert_eq!(
            world.query::<(&Twelve, &Four)>().iter().next().expect("one").0[0],
            Twelve([2; 3])
        );
        assert_eq!(
            world.query_mut::<(&Twelve, &mut Four)>().iter_mut().next().expect("one").1[0],
            Four(1)
        );
        assert_eq!(
            world.query_mut::<(&mut Twelve, &Four)>().iter_mut().next().expect("one").1[0],
            Four(1)
        );
        assert_eq!(world.query::<(&Four,)>().iter().next().expect("one").0[0], Four(1));
        assert_eq!(world.query::<&Four>().iter().next().expect("one")[0], Four(1));
        assert_eq!(
            world.query::<Option<&Four>>().iter().next().expect("one").expect("there")[0],
            Four(1)
        );
        assert_eq!(world.query::<(&Four, &Four)>().iter().next().expect("one").1[0], Four(1));
        assert_eq!(
            world.query::<(&Four, Option<&Four>)>().iter().next().expect("one").0[0],
            Four(1)
        );
    }
}
