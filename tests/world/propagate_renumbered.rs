//! A plan of levels that is kept while archetypes get other numbers.

use phalanx::prelude::*;
use phalanx::schedule::Local as Kept;
use phalanx::sparse::Relation;

use crate::common::world;

use super::propagate::{Global, Local, Plan, ROOT};
use super::propagate_kept::{Places, assert_placed, place, tree};
use super::relations::ChildOf;

/// A component of one entity, which is spawned first.
#[component]
struct First;

#[test]
fn archetypes_that_get_other_numbers_lose_no_change() {
    let mut world = world();
    let first = world.spawn(First);
    let all = tree(&mut world, 40);
    let mut schedule = Schedule::new();
    schedule.add(
        |tree: Relation<ChildOf>,
         changed: Query<&Local, Changed<Local>>,
         places: Places<'_>,
         mut plan: Kept<Plan>| {
            let kernel = |globals: &mut [Global], (locals, _): (&[_], &[_]), parents: &[_]| {
                place(globals, locals, parents);
            };
            tree.propagate_changed(&mut plan, &changed, places, &ROOT, kernel);
        },
    );
    schedule.run(&mut world).expect("it asks for no resource");
    assert_placed(&world);
    // The archetype of the tree gets the number of the one that has become empty. No row of the
    // tree comes or goes.
    world.despawn(first).expect("alive");
    assert!(world.memory_mut().retire_archetypes() > 0);
    for &node in &all[..3] {
        world.get_mut::<Local>(node).expect("alive").0 += 1;
        schedule.run(&mut world).expect("it asks for no resource");
        assert_placed(&world);
    }
}
