//! Passes by level over the rows that changed and the rows below them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use phalanx::prelude::*;
use phalanx::schedule::Local as Kept;
use phalanx::sparse::Relation;
use proptest::prelude::*;

use crate::common::effort::effort;
use crate::common::world;

use super::propagate::{Global, Local, Plan, ROOT, Step, UNSEEN, apply, node, steps, wanted};
use super::relations::ChildOf;

/// One pass. Returns the entities of each slice.
fn propagate<F: Filter>(
    tree: &Relation<ChildOf>,
    plan: &mut Plan,
    changed: &Query<&Local, F>,
    places: Query<(&mut Global, &Local, Entity)>,
) -> Vec<Vec<Entity>> {
    let mut slices = Vec::new();
    tree.propagate_changed(plan, changed, places, &ROOT, |globals, (locals, entities), parents| {
        assert_eq!((globals.len(), locals.len()), (parents.len(), parents.len()));
        slices.push(entities.to_vec());
        for ((global, local), parent) in globals.iter_mut().zip(locals).zip(parents) {
            let sum = parent.sum * 3 % 1_000_003 + local.0;
            *global = Global { sum, depth: parent.depth + 1 };
        }
    });
    slices
}

/// A schedule with a system that propagates the changes since its last run.
struct Frames {
    schedule: Schedule,
    slices: Arc<Mutex<Vec<Vec<Entity>>>>,
}

impl Frames {
    fn new() -> Self {
        let mut schedule = Schedule::new();
        let slices: Arc<Mutex<Vec<Vec<Entity>>>> = Arc::default();
        let found = Arc::clone(&slices);
        let place = move |tree: Relation<ChildOf>,
                          mut plan: Kept<Plan>,
                          changed: Query<&Local, Changed<Local>>,
                          places: Query<(&mut Global, &Local, Entity)>| {
            *found.lock().unwrap() = propagate(&tree, &mut plan, &changed, places);
        };
        schedule.add(place);
        Self { schedule, slices }
    }

    /// One frame, compared with the values of a full pass. Returns the entities of each slice.
    fn run(&mut self, world: &mut World) -> Vec<Vec<Entity>> {
        self.schedule.run(world).expect("no system fails");
        let wanted = wanted(world);
        for (entity, global) in world.query::<(Entity, &Global)>().with::<Local>().rows() {
            assert_eq!(Some(global), wanted.get(&entity), "{entity:?}");
        }
        std::mem::take(&mut *self.slices.lock().unwrap())
    }
}

/// The rows that are at or below a row with a value that changed after a version.
fn below_changed(world: &World, since: Version) -> BTreeSet<Entity> {
    let places = || world.query::<(Entity, &Local, &Global)>();
    let changed: BTreeSet<_> =
        places().filter_since::<Changed<Local>>(since).rows().map(|row| row.0).collect();
    let tree = world.relation::<ChildOf>();
    let is_below = |&entity: &Entity| {
        changed.contains(&entity) || tree.ancestors(entity).any(|above| changed.contains(&above))
    };
    places().rows().map(|row| row.0).filter(is_below).collect()
}

#[test]
fn rows_below_a_change_are_visited_and_no_others_are_stamped() {
    let (mut world, mut frames) = (World::new(), Frames::new());
    // Three chunks of 512 rows a level.
    let width = 1_500;
    let level = |world: &mut World, above: &[Entity]| {
        let rows: Vec<_> =
            above.iter().map(|&above| (Local(1), UNSEEN, ChildOf::of(above))).collect();
        world.spawn_batch(rows).to_vec()
    };
    let roots = world.spawn_batch((0..width as u64).map(node)).to_vec();
    let middle = level(&mut world, &roots);
    let leaves = level(&mut world, &middle);
    frames.run(&mut world);
    assert!(frames.run(&mut world).is_empty(), "nothing changed");

    let before = world.version();
    world.get_mut::<Local>(middle[width / 2]).expect("alive").0 = 9;
    let expected = below_changed(&world, before);
    assert!(expected.contains(&leaves[width / 2]) && !expected.contains(&roots[width / 2]));
    assert!(expected.len() < 2 * width);
    let slices = frames.run(&mut world);
    assert_eq!(slices.concat().into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(slices.concat().len(), expected.len(), "each once");
    let stamped: BTreeSet<_> = world
        .query::<(Entity, &Global)>()
        .changed_since::<Global>(before)
        .rows()
        .map(|row| row.0)
        .collect();
    assert!(expected.is_subset(&stamped) && !stamped.contains(&roots[0]));
}

#[test]
fn a_new_parent_and_a_new_row_are_seen_though_no_value_changed() {
    let (mut world, mut frames) = (world(), Frames::new());
    let all = world.spawn_batch((0..4).map(node)).to_vec();
    frames.run(&mut world);
    world.insert(all[1], ChildOf::of(all[0])).expect("no cycle");
    assert_eq!(frames.run(&mut world).concat(), [all[1]], "the others keep their values");
    world.remove::<ChildOf>(all[1]).expect("it has one");
    frames.run(&mut world);
    world.despawn(all[0]).expect("alive");
    frames.run(&mut world);
    world.insert(all[2], Disabled).expect("alive");
    assert!(frames.run(&mut world).is_empty(), "no row was below it");
    world.remove::<Disabled>(all[2]).expect("alive");
    assert!(frames.run(&mut world).concat().contains(&all[2]), "it is seen again");
    assert!(frames.run(&mut world).is_empty());
}

#[test]
fn rows_that_the_query_does_not_see_count_for_nothing() {
    let (mut world, mut plan) = (world(), Plan::new());
    let root = world.spawn((node(1), Asked));
    let bare = world.spawn((Local(2), Asked, ChildOf::of(root)));
    let leaf = world.spawn((Local(3), UNSEEN, Asked, ChildOf::of(bare)));
    let mut below = |asked: Entity| {
        for entity in [root, bare, leaf] {
            world.set_enabled::<Asked>(entity, entity == asked).expect("it has one");
        }
        world.run(
            |tree: Relation<ChildOf>,
             asked: Query<&Local, With<Asked>>,
             places: Query<(&mut Global, &Local, Entity)>| {
                propagate(&tree, &mut plan, &asked, places).concat()
            },
        )
    };
    assert_eq!(below(leaf), [root, leaf], "a new plan");
    assert_eq!(below(root), [root, leaf]);
    assert_eq!(below(leaf), [leaf]);
    assert!(below(bare).is_empty(), "it is no row of the query, so its children are not below it");
}

/// Chooses rows.
#[component(enableable)]
struct Asked;

#[component(lines)]
struct Height(u64);
#[component(lines)]
#[derive(Debug, PartialEq)]
struct Top(u64);

#[test]
fn changed_lines_are_visited_and_written_line_by_line() {
    let mut world = World::new();
    let all = world.spawn_batch((0..100).map(|at| (Height(at), Top(0)))).to_vec();
    world.insert(all[99], ChildOf::of(all[20])).expect("no cycle");
    world.insert(all[70], ChildOf::of(all[99])).expect("no cycle");
    let mut schedule = Schedule::new();
    let (sender, visited) = std::sync::mpsc::channel();
    schedule.add(
        move |tree: Relation<ChildOf>,
              mut plan: Kept<Plan>,
              changed: Query<&Height, ChangedLines<Height>>,
              tops: Query<(&mut Top, &Height)>| {
            let mut rows = 0;
            tree.propagate_changed(&mut plan, &changed, tops, &Top(5), |tops, heights, parents| {
                rows += tops.len();
                for ((top, height), parent) in tops.iter_mut().zip(heights).zip(parents) {
                    top.0 = parent.0 + height.0;
                }
            });
            sender.send(rows).expect("it is received");
        },
    );
    schedule.run(&mut world).expect("no system fails");
    assert_eq!(visited.recv(), Ok(100));
    let before = world.version();
    world.get_mut::<Height>(all[20]).expect("alive").0 = 1_000;
    schedule.run(&mut world).expect("no system fails");
    assert_eq!(visited.recv(), Ok(1 + 2), "a node, a child and its child");
    assert_eq!(world.get::<Top>(all[70]), Ok(&Top(5 + 1_000 + 99 + 70)));
    let stamped = world.query::<&Top>().filter_since::<ChangedLines<Top>>(before);
    assert_eq!(stamped.count_rows(), 3, "no other row");
}

#[component]
#[derive(Debug, PartialEq)]
struct Other(u64);

#[test]
fn one_plan_for_two_queries_of_the_same_rows_gives_both_their_values() {
    let (mut world, mut schedule) = (world(), Schedule::new());
    schedule.add(
        |tree: Relation<ChildOf>,
         mut plan: Kept<Plan>,
         changed: Query<&Local, Changed<Local>>,
         globals: Query<(&mut Global, &Local)>,
         others: Query<(&mut Other, &Local)>| {
            let plan = &mut plan;
            tree.propagate_changed(plan, &changed, globals, &ROOT, |globals, locals, parents| {
                for ((global, local), parent) in globals.iter_mut().zip(locals).zip(parents) {
                    let sum = parent.sum * 3 % 1_000_003 + local.0;
                    *global = Global { sum, depth: parent.depth + 1 };
                }
            });
            tree.propagate_changed(plan, &changed, others, &Other(0), |others, locals, parents| {
                for ((other, local), parent) in others.iter_mut().zip(locals).zip(parents) {
                    other.0 = parent.0 * 10 + local.0;
                }
            });
        },
    );
    let row = |at| (Local(at), UNSEEN, Other(0));
    let [root, other] = [world.spawn(row(1)), world.spawn(row(2))];
    let child = world.spawn((row(3), ChildOf::of(root)));
    let leaf = world.spawn((row(4), ChildOf::of(child)));
    let mut places = |world: &mut World| {
        schedule.run(world).expect("no system fails");
        let wanted = wanted(world);
        for (entity, global) in world.query::<(Entity, &Global)>().rows() {
            assert_eq!(Some(global), wanted.get(&entity), "{entity:?}");
        }
        [root, other, child, leaf].map(|entity| world.get::<Other>(entity).expect("alive").0)
    };
    assert_eq!(places(&mut world), [1, 2, 13, 134]);
    world.insert(child, ChildOf::of(other)).expect("no cycle");
    assert_eq!(places(&mut world), [1, 2, 23, 234]);
    world.get_mut::<Local>(other).expect("alive").0 = 5;
    assert_eq!(places(&mut world), [1, 5, 53, 534]);
}

#[test]
fn a_pass_over_no_rows_stamps_none_and_keeps_the_plan() {
    let (mut world, mut plan) = (world(), Plan::new());
    let root = world.spawn((node(1), Asked));
    let leaf = world.spawn((node(2), Asked, ChildOf::of(root)));
    let mut rows = |world: &mut World| {
        world.run(
            |tree: Relation<ChildOf>,
             asked: Query<&Local, With<Asked>>,
             places: Query<(&mut Global, &Local, Entity)>| {
                propagate(&tree, &mut plan, &asked, places).concat().len()
            },
        )
    };
    assert_eq!([rows(&mut world), rows(&mut world)], [2, 2]);
    for entity in [root, leaf] {
        world.set_enabled::<Asked>(entity, false).expect("it has one");
    }
    let before = world.version();
    assert_eq!([rows(&mut world), rows(&mut world)], [0, 0]);
    assert_eq!(world.query::<&Global>().changed_since(before).count_rows(), 0);
    world.set_enabled::<Asked>(leaf, true).expect("it has one");
    assert_eq!(rows(&mut world), 1, "a new plan would visit both");
}

#[test]
fn a_new_plan_makes_up_for_a_run_that_left_the_call_out() {
    let (mut world, mut schedule) = (world(), Schedule::new());
    world.insert_resource(Pause { is_on: false, forgets: false });
    schedule.add(
        |pause: Res<Pause>,
         tree: Relation<ChildOf>,
         mut plan: Kept<Plan>,
         changed: Query<&Local, Changed<Local>>,
         places: Query<(&mut Global, &Local, Entity)>| {
            if pause.is_on {
                if !pause.forgets {
                    *plan = Plan::new();
                }
                return;
            }
            propagate(&tree, &mut plan, &changed, places);
        },
    );
    let root = world.spawn(node(1));
    let child = world.spawn((node(2), ChildOf::of(root)));
    let mut run = |world: &mut World, is_on, forgets| {
        world.insert_resource(Pause { is_on, forgets });
        schedule.run(world).expect("no system fails");
        world.get::<Global>(child) == Ok(&wanted(world)[&child])
    };
    assert!(run(&mut world, false, false));
    for forgets in [true, false] {
        world.get_mut::<Local>(root).expect("alive").0 += 1;
        assert!(!run(&mut world, true, forgets), "left out");
        assert_eq!(run(&mut world, false, forgets), !forgets);
    }
}

/// Whether a system leaves its call out, and whether it keeps its plan all the same.
struct Pause {
    is_on: bool,
    forgets: bool,
}

#[test]
fn after_a_panic_of_the_kernel_all_rows_are_visited() {
    let (mut world, mut plan) = (world(), Plan::new());
    let root = world.spawn((node(1), Asked));
    world.spawn((Local(2), UNSEEN, ChildOf::of(root)));
    world.spawn(node(3));
    let mut visit = |panics: bool| {
        let run = || {
            world.run(
                |tree: Relation<ChildOf>,
                 asked: Query<&Local, With<Asked>>,
                 places: Query<(&mut Global, &Local, Entity)>| {
                    let mut rows = 0;
                    tree.propagate_changed(&mut plan, &asked, places, &ROOT, |globals, _, _| {
                        assert!(!panics, "as asked");
                        rows += globals.len();
                    });
                    rows
                },
            )
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).ok()
    };
    assert_eq!([visit(false), visit(false)], [Some(3), Some(2)]);
    assert_eq!([visit(true), visit(false), visit(false)], [None, Some(3), Some(2)]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(60) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn each_row_has_the_value_of_its_path(
        batches in prop::collection::vec(
            (steps(), prop::collection::vec(any::<usize>(), 0..4)),
            1..8,
        ),
    ) {
        let (mut world, mut alive, mut frames) = (world(), Vec::new(), Frames::new());
        for (steps, writes) in batches {
            let steps: &[Step] = &steps;
            steps.iter().for_each(|step| apply(&mut world, &mut alive, step));
            frames.run(&mut world);
            let before = world.version();
            for at in writes {
                let Some(&entity) = alive.get(at % alive.len().max(1)) else { continue };
                if let Ok(local) = world.get_mut::<Local>(entity) {
                    local.0 += 1;
                }
            }
            let expected = below_changed(&world, before);
            let visited = frames.run(&mut world).concat();
            prop_assert_eq!(visited.len(), expected.len(), "each once");
            prop_assert_eq!(visited.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}

#[test]
fn rows_that_move_into_gaps_keep_their_values_though_many_went() {
    let (mut world, mut plan) = (World::new(), Plan::new());
    let count = if cfg!(miri) { 300 } else { 5_000 };
    let all = world.spawn_batch((0..count).map(node)).to_vec();
    let mut visited = |world: &mut World| {
        world.run(
            |tree: Relation<ChildOf>,
             asked: Query<&Local, With<Asked>>,
             places: Query<(&mut Global, &Local, Entity)>| {
                propagate(&tree, &mut plan, &asked, places).concat().len()
            },
        )
    };
    assert_eq!(visited(&mut world), all.len(), "a new plan");
    // The last row moves into the gap that a despawn makes.
    world.despawn_batch(&all[..all.len() / 10]);
    assert_eq!(visited(&mut world), 0);
    world.despawn_batch(&all[all.len() / 10..all.len() / 2]);
    assert_eq!(visited(&mut world), all.len() - all.len() / 2, "the whole plan is made again");
}
