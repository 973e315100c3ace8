//! Entities that queries pass over: `Disabled`, `Prototype`, and hidden components of a user.

use phalanx::Previous;
use phalanx::explain::Mismatch;
use phalanx::prelude::*;
use phalanx::rows::{Exclusion, RowError};

use crate::common::components::{Four, Other, Tag, Twelve, small_world as world, sound};

#[component(hidden)]
#[derive(Debug, PartialEq)]
struct Pooled {
    since: u32,
}
#[component(hidden)]
enum Stage {
    Draft,
    Done,
}
#[component(split, hidden)]
struct Parked {
    x: f32,
    y: f32,
}

/// Ten visible entities, and one entity for each way to hide.
fn hidden_world() -> (World, [Entity; 5]) {
    let mut world = world();
    world.spawn_batch((0..10).map(|i| (Four(i), Tag)));
    let hidden = [
        world.spawn((Four(100), Disabled)),
        world.spawn((Four(101), Prototype, Tag)),
        world.spawn((Four(102), Pooled { since: 7 })),
        world.spawn((Four(103), Disabled, Pooled { since: 8 })),
        world.spawn((Four(104), Stage::Draft, Parked::default())),
    ];
    (world, hidden)
}

fn values(rows: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut values: Vec<_> = rows.filter(|&value| value >= 100).collect();
    values.sort_unstable();
    values
}

#[test]
fn a_query_sees_the_hidden_entities_whose_components_it_names() {
    let (world, _) = hidden_world();
    let four = || world.query::<&Four>();
    assert_eq!(four().count_rows(), 10);
    assert_eq!(values(four().with::<Disabled>().rows().map(|f| f.0)), [100]);
    assert_eq!(values(four().with::<Prototype>().rows().map(|f| f.0)), [101]);
    assert_eq!(values(four().with::<Pooled>().rows().map(|f| f.0)), [102]);
    assert_eq!(four().without::<Disabled>().count_rows(), 10);
    let pooled = four().with::<Pooled>().with::<Disabled>();
    assert_eq!(values(pooled.rows().map(|f| f.0)), [103]);
    let either = four().filter::<AnyOf<(Disabled, Pooled, Tag)>>();
    assert_eq!(values(either.rows().map(|f| f.0)), [100, 102, 103]);
    let optional = world.query::<(&Four, Option<&Disabled>)>();
    assert_eq!(optional.count_rows(), 11);
    assert_eq!(values(optional.rows().map(|(f, _)| f.0)), [100]);
    let split = world.query::<(&Four, Option<&Parked>, &Stage)>();
    assert_eq!(values(split.rows().map(|(f, ..)| f.0)), [104]);
    assert_eq!(world.query::<(&Four, &Stage)>().count_rows(), 0, "it has `Parked`, too");
    assert_eq!(four().filter::<IncludeHidden>().count_rows(), 15);
    assert_eq!(four().filter::<IncludeHidden>().without::<Disabled>().count_rows(), 13);
    assert_eq!(world.len(), 15, "all are counted");
    sound(&world);
}

#[test]
fn what_names_an_entity_finds_it_hidden_or_not() {
    let (mut world, hidden) = hidden_world();
    for (i, &entity) in (100..).zip(&hidden) {
        assert!(world.contains(entity) && world.has::<Four>(entity));
        assert_eq!(world.get::<Four>(entity), Ok(&Four(i)));
        assert_eq!(world.lookup::<Four>().get(entity), Ok(&Four(i)));
        world.lookup_mut::<Four>().get_mut(entity).expect("it has one").0 += 1;
        world.get_mut::<Four>(entity).expect("it has one").0 -= 1;
        assert!(world.entity(entity).is_ok());
    }
    assert_eq!(world.get::<Parked>(hidden[4]).map(|parked| parked.x), Ok(0.0));
    world.get_mut::<Parked>(hidden[4]).expect("it has one").y = 1.0;
    world.insert(hidden[0], Parked { x: 3.0, y: 4.0 }).expect("it is alive");
    assert_eq!(world.get::<Parked>(hidden[0]).map(|parked| parked.y), Ok(4.0));
    world.remove::<Parked>(hidden[0]).expect("it has one");
    let error = world.query::<&Four>().get(hidden[0]).expect_err("a query follows its own rule");
    let reason = Exclusion::Hidden(Disabled::NAME);
    assert_eq!(error, RowError::Excluded { entity: hidden[0], reason });
    assert!(error.to_string().ends_with("which hides it from queries that do not name it"));
    assert!(!world.query::<&Four>().contains(hidden[0]));
    assert!(world.query::<&Four>().with::<Disabled>().contains(hidden[0]));
}

#[test]
fn changes_by_query_follow_its_rule() {
    let (mut world, hidden) = hidden_world();
    assert_eq!(world.matching::<&Four>().insert(Other), Ok(10));
    assert_eq!(world.matching::<&Four>().with::<Disabled>().remove::<Disabled>(), 1);
    assert_eq!(world.query::<&Four>().count_rows(), 11, "one is back");
    let mut buffer = world.command_buffer(0).expect("room");
    buffer.despawn_where::<&Four, ()>();
    world.apply(&mut buffer).expect("it is of this world");
    assert_eq!(world.len(), 4);
    let kept = world.matching::<&Four>().filter::<IncludeHidden>().retain(|four, keep| {
        four.iter().zip(keep).for_each(|(four, keep)| *keep = four.0 != 103);
    });
    assert_eq!(kept, 1);
    assert_eq!(world.matching::<Entity>().despawn(), 0);
    assert!(world.contains(hidden[1]) && !world.contains(hidden[3]));
    assert_eq!(world.matching::<Entity>().filter::<IncludeHidden>().despawn(), 3);
    assert!(world.is_empty());
    sound(&world);
}

#[test]
fn changes_and_arrivals_of_hidden_rows_are_not_seen() {
    let (mut world, hidden) = hidden_world();
    let before = world.version();
    world.get_mut::<Four>(hidden[0]).expect("it has one").0 = 5;
    assert_eq!(world.query::<&Four>().changed_since(before).count_rows(), 0);
    assert_eq!(world.query::<&Four>().with::<Disabled>().changed_since(before).count_rows(), 1);
    world.remove::<Disabled>(hidden[0]).expect("it has one");
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(before).count_rows(), 1);
}

#[test]
fn plans_know_components_that_the_world_learns_of_later() {
    mod later {
        use phalanx::prelude::*;
        #[component(hidden)]
        pub struct Late;
    }
    let mut world = world();
    world.spawn(Four(1));
    let (plain, named) = (world.version(), world.version());
    let count = |world: &World| {
        [
            world.query::<&Four>().count_rows(),
            world.query::<&Four>().with::<later::Late>().count_rows(),
            world.query::<&Four>().without::<later::Late>().count_rows(),
            world.query::<(&Four, Option<&later::Late>)>().count_rows(),
            world.query::<&Four>().filter::<AnyOf<(later::Late, Four)>>().count_rows(),
            world.query::<&Four>().filter::<IncludeHidden>().count_rows(),
        ]
    };
    assert_eq!((count(&world), plain), ([1, 0, 1, 1, 1, 1], named));
    world.spawn((Four(2), later::Late));
    assert_eq!(count(&world), [1, 1, 1, 2, 2, 2]);
    world.spawn((Four(3), later::Late, Tag, Disabled));
    assert_eq!(count(&world), [1, 1, 1, 2, 2, 3]);
    sound(&world);
}

#[test]
fn hidden_entities_have_two_buffers_too() {
    let (mut world, hidden) = hidden_world();
    world.flip::<Four>().expect("it fits");
    assert!(hidden.iter().all(|&entity| world.has::<Previous<Four>>(entity)));
    assert_eq!(world.get::<Four>(hidden[0]), Ok(&Four(0)), "exchanged");
    sound(&world);
}

#[test]
fn the_reason_is_told() {
    let (world, _) = hidden_world();
    let explanation = world.query::<&Four>().without::<Pooled>().explain();
    let told: Vec<_> = explanation.skipped.iter().map(|one| one.mismatches.as_slice()).collect();
    assert_eq!(told[0], [Mismatch::Hidden(Disabled::NAME)]);
    assert_eq!(told[2], [Mismatch::Has(Pooled::NAME)], "named, and excluded");
    assert_eq!(told[3].len(), 2);
    assert_eq!(told[0][0].to_string(), "has Disabled, which the query does not name");
    let info = world.reflect().component(Pooled::NAME).expect("it was spawned");
    assert!(info.is_hidden());
    assert!(!world.reflect().component(Four::NAME).expect("it was spawned").is_hidden());
}

#[test]
fn a_copy_of_a_prototype_is_none() {
    let mut world = world();
    let parts = (Four(7), Twelve([1, 2, 3]), Tag, Prototype);
    let prototype = world.spawn(parts);
    world.spawn((Four(1), Twelve([0; 3]), Tag));
    let numbers: &[usize] =
        if cfg!(miri) { &[0, 1, 17] } else { &[0, 1, 2, 15, 16, 17, 300, 5_000] };
    let mut born = 0;
    for &copies in numbers {
        let before = world.version();
        let copied = world.instantiate(prototype, copies).expect("room").to_vec();
        assert_eq!(copied.len(), copies);
        assert_eq!(world.version() > before, copies > 0);
        for &entity in &copied {
            assert!(world.has::<Tag>(entity) && !world.has::<Prototype>(entity));
            assert_eq!(world.get::<Four>(entity), Ok(&Four(7)));
            assert_eq!(world.get::<Twelve>(entity), Ok(&Twelve([1, 2, 3])));
        }
        born += copies;
        assert_eq!(world.query::<(&Four, &Tag)>().count_rows(), born + 1);
        sound(&world);
    }
    assert_eq!(world.query::<&Four>().with::<Prototype>().count_rows(), 1);
    world.insert(prototype, Disabled).expect("it is alive");
    let hidden = world.instantiate(prototype, 3).expect("room").to_vec();
    assert!(hidden.iter().all(|&entity| world.has::<Disabled>(entity)), "it is copied");
}

#[test]
fn copies_of_a_prototype_are_all_or_none() {
    let mut world = World::builder().entities_max(10).build();
    let prototype = world.spawn((Four(7), Prototype));
    let (version, hash) = (world.version(), world.hash());
    assert!(world.instantiate(prototype, 10).is_err());
    assert_eq!((world.version(), world.len()), (version, 1));
    assert_eq!(world.instantiate(prototype, 9).map(<[_]>::len), Ok(9));
    world.matching::<&Four>().despawn();
    assert_ne!(world.hash(), hash, "ids were used");
    let tag = world.spawn(Prototype);
    assert_eq!(world.instantiate(tag, 3).map(<[_]>::len), Ok(3), "of no components");
    sound(&world);
}
