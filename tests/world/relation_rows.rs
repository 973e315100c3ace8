//! Rows of the sources of one target, by queries of all kinds.

use phalanx::prelude::*;

use super::relations::{ChildOf, Target};
use crate::common::components::{Four, Tag, sound};
use crate::common::world;

#[component(enableable)]
struct Awake;

#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Name(String);

/// The sources that a pass finds, in the order of the sources.
fn by_pass<F: Filter>(world: &World, query: &Query<(Entity, &Four), F>, of: Entity) -> Vec<u32> {
    let tree = world.relation::<ChildOf>();
    let all: Vec<_> = query.rows().collect();
    let row = |&source: &Entity| all.iter().find(|(entity, _)| *entity == source);
    tree.sources(of).iter().filter_map(row).map(|(_, four)| four.0).collect()
}

fn by_relation<F: Filter>(
    world: &World,
    query: &Query<(Entity, &Four), F>,
    of: Entity,
) -> Vec<u32> {
    let tree = world.relation::<ChildOf>();
    tree.rows_of(of, query).map(|(_, four)| four.0).collect()
}

/// Entities of many archetypes below some parents, hidden, disabled, without the column, and with
/// sparse components.
fn forest(world: &mut World) -> Vec<Entity> {
    let parents = world.spawn_batch([(); 5]).to_vec();
    for i in 0..400 {
        let parent = parents[(i % 7 % 5) as usize];
        let child = match i % 5 {
            0 => world.spawn((Four(i), ChildOf::of(parent))),
            1 => world.spawn((Four(i), Tag, ChildOf::of(parent))),
            2 => world.spawn((Four(i), Awake, ChildOf::of(parent), Name(i.to_string()))),
            3 => world.spawn((Tag, ChildOf::of(parent))),
            _ => world.spawn((Four(i), Disabled, ChildOf::of(parent))),
        };
        if i % 10 == 2 {
            world.set_enabled::<Awake>(child, false).expect("it has the component");
        }
        if i % 4 == 1 {
            world.insert(child, Target::of(parent)).expect("both are alive");
        }
    }
    parents
}

#[test]
fn rows_of_sources_are_those_of_a_pass() {
    let mut world = world();
    let parents = forest(&mut world);
    let reserved = world.reserve_entity().expect("ids are left");
    world.insert(reserved, ChildOf::of(parents[0])).expect("a reserved id is alive");
    let since = world.version();
    world.spawn_batch([(Four(1_000), ChildOf::of(parents[1])); 3]);
    let mut seen = 0;
    for &parent in parents.iter().chain(&[reserved, Entity::NULL]) {
        macro_rules! same {
            ($($query:expr),*) => {$(
                let (pass, rows) = (by_pass(&world, &$query, parent), by_relation(&world, &$query, parent));
                assert!(pass == rows, "{pass:?} {rows:?}");
                seen += rows.len();
            )*};
        }
        let query = world.query::<(Entity, &Four)>();
        same!(
            query,
            query.with::<Tag>(),
            query.without::<Tag>(),
            query.with::<Awake>(),
            query.with::<Name>(),
            query.without::<Target>(),
            query.filter::<IncludeHidden>(),
            query.filter::<AnyOf<(Tag, Target)>>(),
            query.changed_since::<Four>(since)
        );
    }
    assert!(seen > 1_000, "{seen}");
    // Optional and sparse terms, and a source without a row.
    let tree = world.relation::<ChildOf>();
    let bare = world.query::<(Entity, Option<&Four>)>();
    assert!(
        tree.rows_of(parents[0], &bare).any(|(entity, four)| entity == reserved && four.is_none())
    );
    let named = world.query::<(&Four, &Name)>();
    assert!(tree.rows_of(parents[2], &named).all(|(four, name)| name.0 == four.0.to_string()));
    assert!(tree.rows_of(parents[2], &named).count() > 5);
}

#[test]
fn a_query_that_writes_changes_the_sources_of_one_target_alone() {
    let mut world = world();
    let parents = forest(&mut world);
    let before = world.version();
    let state = |world: &World| {
        let query = world.query::<(Entity, &Four)>();
        parents.iter().map(|&parent| by_relation(world, &query, parent)).collect::<Vec<_>>()
    };
    let mut expected = state(&world);
    expected[1].iter_mut().for_each(|four| *four += 10_000);
    let parent = parents[1];
    let called = world.run(move |tree: Relation<ChildOf>, mut fours: Query<&mut Four>| {
        let mut called = 0;
        tree.for_each_of(parent, &mut fours, |four| {
            four.0 += 10_000;
            called += 1;
        });
        tree.for_each_of(Entity::NULL, &mut fours, |four| four.0 = 0);
        called
    });
    assert_eq!((state(&world), called), (expected.clone(), expected[1].len()));
    let written = world.query::<&Four>().changed_since::<Four>(before);
    assert!(written.rows().any(|four| four.0 >= 10_000));
    // Values of a sparse component, too.
    let renamed = world.run(move |tree: Relation<ChildOf>, mut names: Query<&mut Name>| {
        let mut renamed = 0;
        tree.for_each_of(parent, &mut names, |name| {
            name.0 = "new".to_owned();
            renamed += 1;
        });
        renamed
    });
    let names = world.sparse::<Name>();
    assert_eq!(names.iter().filter(|(_, name)| name.0 == "new").count(), renamed);
    assert!(renamed > 5 && renamed < names.len());
    drop(names);
    sound(&world);
}
