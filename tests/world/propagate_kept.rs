//! A plan of levels that is kept while the tree changes: it equals a new one, and a pass over
//! changed rows visits the rows below each change, and at most the chunks to which rows came.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::Arrived;
use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;
use phalanx::sparse::Relation;
use proptest::prelude::*;

use crate::common::effort::effort;
use crate::common::world;

use super::propagate::{
    Global, Heavy, Local, Mark, Plan, ROOT, Step, UNSEEN, apply, node, steps, wanted,
};
use super::relations::ChildOf;

/// A component that no entity has: a query for it sees no changed row.
#[component]
struct Never;

pub(super) type Places<'w> = Query<'w, (&'static mut Global, &'static Local, Entity)>;

pub(super) fn place(globals: &mut [Global], locals: &[Local], parents: &[Global]) {
    for ((global, local), parent) in globals.iter_mut().zip(locals).zip(parents) {
        let sum = parent.sum * 3 % 1_000_003 + local.0;
        *global = Global { sum, depth: parent.depth + 1 };
    }
}

/// A pass over all rows. Returns the entities of each slice.
fn pass(world: &mut World, plan: &mut Plan) -> Vec<Vec<Entity>> {
    world.run(|tree: Relation<ChildOf>, places: Places<'_>| {
        let mut slices = Vec::new();
        tree.propagate(plan, places, &ROOT, |globals, (locals, entities), parents| {
            slices.push(entities.to_vec());
            place(globals, locals, parents);
        });
        slices
    })
}

/// A pass over the rows that need other values, though no row changed. Returns their entities.
fn pass_changed(world: &mut World, plan: &mut Plan) -> BTreeSet<Entity> {
    world.run(|tree: Relation<ChildOf>, changed: Query<&Never>, places: Places<'_>| {
        let mut visited = Vec::new();
        let kernel = |globals: &mut [Global], (locals, entities): (&[_], &[_]), parents: &[_]| {
            visited.extend_from_slice(entities);
            place(globals, locals, parents);
        };
        tree.propagate_changed(plan, &changed, places, &ROOT, kernel);
        let all: BTreeSet<Entity> = visited.iter().copied().collect();
        assert_eq!(all.len(), visited.len(), "each once");
        all
    })
}

/// The nearest ancestor of each row that the query sees, and whether it has other components.
type Known = BTreeMap<Entity, (Option<Entity>, Vec<bool>)>;

fn known(world: &World) -> Known {
    let seen = world.query::<(Entity, &Local)>().with::<Global>();
    let seen: BTreeSet<Entity> = seen.rows().map(|(entity, _)| entity).collect();
    let tree = world.relation::<ChildOf>();
    let above = |&entity: &Entity| {
        let nearest = tree.ancestors(entity).find(|above| seen.contains(above));
        let has = [world.has::<Heavy>(entity), world.has::<Mark>(entity)];
        (entity, (nearest, has.to_vec()))
    };
    seen.iter().map(above).collect()
}

/// The rows that differ from those of the last pass, and all rows below them.
fn below_differences(before: &Known, now: &Known) -> BTreeSet<Entity> {
    below(now, |entity| before.get(entity) != now.get(entity))
}

/// Some rows, and all rows below them.
fn below(now: &Known, differs: impl Fn(&Entity) -> bool) -> BTreeSet<Entity> {
    let is_below = |&entity: &Entity| {
        let mut next = Some(entity);
        while let Some(one) = next {
            if differs(&one) {
                return true;
            }
            next = now[&one].0;
        }
        false
    };
    now.keys().copied().filter(is_below).collect()
}

/// The rows of chunks to which rows came since a version.
fn arrived(world: &World, since: Version) -> BTreeSet<Entity> {
    let rows = world.query::<(Entity, &Local)>().with::<Global>();
    rows.filter_since::<Arrived>(since).rows().map(|(entity, _)| entity).collect()
}

/// Asserts that a pass visits the rows that differ and the rows below them, and at most the chunks
/// to which rows came.
fn assert_visited(
    visited: &BTreeSet<Entity>,
    (before, now): (&Known, &Known),
    arrived: &BTreeSet<Entity>,
) {
    let least = below_differences(before, now);
    assert!(visited.is_superset(&least), "missed: {:?}", least.difference(visited));
    let differs =
        |entity: &Entity| arrived.contains(entity) || before.get(entity) != now.get(entity);
    let most = below(now, differs);
    assert!(visited.is_subset(&most), "for nothing: {:?}", visited.difference(&most));
}

fn all_of(known: &Known) -> BTreeSet<Entity> {
    known.keys().copied().collect()
}

pub(super) fn assert_placed(world: &World) {
    let wanted = wanted(world);
    for (entity, global) in world.query::<(Entity, &Global)>().with::<Local>().rows() {
        assert_eq!(wanted.get(&entity), Some(global), "{entity:?}");
    }
}

/// A tree of three children a node, level after level.
pub(super) fn tree(world: &mut World, nodes: usize) -> Vec<Entity> {
    let mut all = vec![world.spawn(node(1))];
    while all.len() < nodes {
        let first = all.len();
        let above = all[(first - 1) / 3..].to_vec();
        let rows = above.iter().flat_map(|&above| [above; 3]).take(nodes - first);
        let rows: Vec<_> = rows.map(|above| (Local(2), UNSEEN, ChildOf::of(above))).collect();
        all.extend_from_slice(world.spawn_batch(rows).as_ref());
    }
    all
}

/// The number of nodes of large trees: several chunks.
const NODES: usize = if cfg!(miri) { 200 } else { 4_000 };

/// A world in which large trees have several chunks.
fn in_4_kib() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

#[test]
fn one_change_visits_what_is_below_it() {
    let (mut world, mut plan) = (in_4_kib(), Plan::new());
    let all = tree(&mut world, NODES);
    assert_eq!(pass_changed(&mut world, &mut plan).len(), NODES, "a new plan");
    let (mut before, mut since) = (known(&world), world.version());
    let mut pass = |world: &mut World| {
        let arrived = arrived(world, since);
        since = world.version();
        let visited = pass_changed(world, &mut plan);
        let now = known(world);
        assert_visited(&visited, (&before, &now), &arrived);
        assert_placed(world);
        before = now;
        visited.len()
    };
    assert_eq!(pass(&mut world), 0);
    world.insert(all[NODES - 1], ChildOf::of(all[1])).expect("no cycle");
    assert_eq!(pass(&mut world), 1, "a leaf");
    let below = pass_of(&mut world, &mut pass, |world| {
        world.insert(all[5], ChildOf::of(all[4])).expect("no cycle");
    });
    assert!(below > 10 && below < NODES / 4, "{below}");
    world.spawn((Local(9), UNSEEN, ChildOf::of(all[7])));
    let chunk = pass(&mut world);
    assert!((1..NODES / 2).contains(&chunk) || cfg!(miri), "the chunk of a new row: {chunk}");
    assert_eq!(pass(&mut world), 0);
    world.despawn(all[NODES - 2]).expect("alive");
    assert_eq!(pass(&mut world), 0, "the last row takes its place and has its value");
    world.despawn(all[6]).expect("alive");
    assert!(pass(&mut world) > 0, "its children are roots");
    world.insert(all[40], Disabled).expect("alive");
    assert!(pass(&mut world) > 0, "its children have the value of the row above it");
    world.remove::<Disabled>(all[40]).expect("alive");
    assert!(pass(&mut world) > 1);
    world.insert(all[NODES / 2], Heavy([0; 20])).expect("alive");
    assert!(pass(&mut world) > 0, "a row of another archetype");
    world.remove::<ChildOf>(all[8]).expect("alive");
    assert!(pass(&mut world) > 0);
    assert_eq!(pass(&mut world), 0);
}

fn pass_of(
    world: &mut World,
    pass: &mut impl FnMut(&mut World) -> usize,
    change: impl FnOnce(&mut World),
) -> usize {
    change(world);
    pass(world)
}

#[test]
fn flips_and_restores_visit_all_rows() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 100);
    pass_changed(&mut world, &mut plan);
    let saved = world.snapshot().expect("no buffers");
    for _ in 0..2 {
        world.flip::<Global>().expect("it fits");
        assert_eq!(pass_changed(&mut world, &mut plan).len(), 100);
        assert!(pass_changed(&mut world, &mut plan).is_empty());
        assert_placed(&world);
    }
    world.insert(all[9], ChildOf::of(all[1])).expect("no cycle");
    pass_changed(&mut world, &mut plan);
    world.restore(&saved).expect("it is of this world");
    assert_eq!(pass_changed(&mut world, &mut plan).len(), 100);
    assert_placed(&world);
    world.insert(all[9], ChildOf::of(all[2])).expect("no cycle");
    assert!(pass_changed(&mut world, &mut plan).len() < 20);
    assert_placed(&world);
    world.clear();
    assert!(pass_changed(&mut world, &mut plan).is_empty());
    tree(&mut world, 100);
    assert_eq!(pass_changed(&mut world, &mut plan).len(), 100);
    assert_placed(&world);
}

/// Nothing but the arrival of its row tells that an entity was away.
#[test]
fn a_row_that_left_and_came_back_is_visited() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 100);
    let last = all[99];
    for entity in [last, all[3], all[20], last] {
        pass_changed(&mut world, &mut plan);
        world.remove::<Global>(entity).expect("it has one");
        world.insert(entity, UNSEEN).expect("alive");
        assert!(pass_changed(&mut world, &mut plan).contains(&entity));
        assert_placed(&world);
    }
    // The same id, place and parent.
    let parent = world.relation::<ChildOf>().target(last).expect("it has one");
    world.despawn(last).expect("alive");
    world.spawn_at(last, (Local(9), UNSEEN, ChildOf::of(parent))).expect("it is free");
    assert!(pass_changed(&mut world, &mut plan).contains(&last));
    assert_placed(&world);
    assert!(pass_changed(&mut world, &mut plan).is_empty());
}

/// The plan knows these rows and relations, but the values are older.
#[test]
fn a_restore_to_the_same_tree_visits_all_rows() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 100);
    pass_changed(&mut world, &mut plan);
    world.insert(all[9], ChildOf::of(all[1])).expect("no cycle");
    let saved = world.snapshot().expect("no buffers");
    assert!(!pass_changed(&mut world, &mut plan).is_empty());
    world.restore(&saved).expect("it is of this world");
    assert_eq!(pass_changed(&mut world, &mut plan).len(), 100);
    assert_placed(&world);
    assert!(pass_changed(&mut world, &mut plan).is_empty());
}

/// No value is older than the last pass.
#[test]
fn a_restore_to_a_state_after_the_last_pass_visits_the_rows_that_changed_before_it() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 100);
    pass_changed(&mut world, &mut plan);
    let saved = world.snapshot().expect("no buffers");
    world.insert(all[9], ChildOf::of(all[1])).expect("no cycle");
    world.restore(&saved).expect("it is of this world");
    assert!(pass_changed(&mut world, &mut plan).is_empty());
    assert_placed(&world);
    world.insert(all[9], ChildOf::of(all[1])).expect("no cycle");
    let saved = world.snapshot().expect("no buffers");
    world.insert(all[30], ChildOf::of(all[1])).expect("no cycle");
    world.restore(&saved).expect("it is of this world");
    let visited = pass_changed(&mut world, &mut plan);
    assert!(visited.contains(&all[9]) && visited.len() < 20, "{}", visited.len());
    assert_placed(&world);
}

#[test]
fn archetypes_that_come_to_have_rows_again_keep_the_plan() {
    let (mut world, mut plan) = (in_4_kib(), Plan::new());
    let all = tree(&mut world, NODES);
    let [one, other] = [all[NODES - 1], all[NODES - 2]];
    // Two archetypes, the first of which becomes empty.
    world.insert(one, Heavy([0; 20])).expect("alive");
    world.insert(other, Mark).expect("alive");
    pass_changed(&mut world, &mut plan);
    for _ in 0..3 {
        world.remove::<Heavy>(one).expect("it has one");
        assert!(pass_changed(&mut world, &mut plan).len() < NODES);
        world.insert(one, Heavy([0; 20])).expect("alive");
        let visited = pass_changed(&mut world, &mut plan);
        assert!(visited.contains(&one) && visited.len() < NODES, "{}", visited.len());
        assert_placed(&world);
    }
    // Archetypes that are retired, whose numbers others may get.
    world.remove::<Heavy>(one).expect("it has one");
    pass_changed(&mut world, &mut plan);
    world.memory_mut().retire_archetypes();
    world.insert(one, Third).expect("alive");
    pass_changed(&mut world, &mut plan);
    world.insert(one, Heavy([0; 20])).expect("alive");
    pass_changed(&mut world, &mut plan);
    assert_placed(&world);
}

/// A component of few entities.
#[component]
struct Third;

#[test]
fn many_changes_make_the_whole_plan_again() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 1_000);
    pass_changed(&mut world, &mut plan);
    let leaves = &all[400..];
    assert_eq!(world.despawn_batch(leaves), 600);
    assert_eq!(pass_changed(&mut world, &mut plan).len(), 400);
    for pair in all[..400].windows(2).rev() {
        // From the last on: a chain through all of them.
        _ = world.insert(pair[1], ChildOf::of(pair[0]));
    }
    assert_eq!(pass_changed(&mut world, &mut plan).len(), 400);
    assert_placed(&world);
    assert_eq!(pass(&mut world, &mut plan), pass(&mut world, &mut Plan::new()));
}

#[test]
fn after_a_panic_between_two_changes_all_rows_are_visited() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 100);
    pass_changed(&mut world, &mut plan);
    world.insert(all[50], ChildOf::of(all[1])).expect("no cycle");
    let panics = || {
        world.run(|tree: Relation<ChildOf>, changed: Query<&Never>, places: Places<'_>| {
            tree.propagate_changed(&mut plan, &changed, places, &ROOT, |_, _, _| panic!("asked"));
        });
    };
    catch_unwind(AssertUnwindSafe(panics)).expect_err("it panics");
    world.insert(all[60], ChildOf::of(all[2])).expect("no cycle");
    assert_eq!(pass_changed(&mut world, &mut plan).len(), 100);
    assert_placed(&world);
}

#[test]
fn children_are_found_without_an_index_and_with_one() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = tree(&mut world, 600);
    let asked = world.spawn((Local(3), UNSEEN, Asked));
    world.insert(all[1], ChildOf::of(asked)).expect("no cycle");
    let mut pass = |world: &mut World| {
        let visited =
            world.run(|tree: Relation<ChildOf>, asked: Query<&Asked>, places: Places<'_>| {
                let mut visited = 0;
                tree.propagate_changed(
                    &mut plan,
                    &asked,
                    places,
                    &ROOT,
                    |globals, (own, _), above| {
                        visited += globals.len();
                        place(globals, own, above);
                    },
                );
                visited
            });
        (visited, plan.memory_bytes())
    };
    let (all_rows, without) = pass(&mut world);
    assert_eq!(all_rows, 601, "a new plan");
    let (below, with) = pass(&mut world);
    assert!(below > 100 && below < 400, "{below}");
    assert!(with >= without + 600 * 4, "an index is made");
    assert_eq!((0..10).map(|_| pass(&mut world).0).last(), Some(below));
    world.insert(all[2], ChildOf::of(all[1])).expect("no cycle");
    let more = pass(&mut world).0;
    assert!(more > below, "the index is not used after a change");
    assert_eq!((0..10).map(|_| pass(&mut world).0).last(), Some(more));
    assert_placed(&world);
}

/// Chooses rows.
#[component]
struct Asked;

#[derive(Clone, Debug)]
enum Change {
    Steps(Vec<Step>),
    One(Step),
    Save,
    Restore,
    Flip,
    Clear,
    Compact,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let one = steps().prop_map(|mut steps| Change::One(steps.pop().expect("at least one")));
    let change = prop_oneof![
        6 => one,
        4 => steps().prop_map(Change::Steps),
        1 => Just(Change::Save),
        1 => Just(Change::Restore),
        1 => Just(Change::Flip),
        1 => Just(Change::Compact),
        1 => any::<bool>().prop_map(|is_rare| if is_rare { Change::Clear } else { Change::Save }),
    ];
    prop::collection::vec(change, 1..25)
}

/// A world, its entities, and a state of it.
struct Kept {
    world: World,
    alive: Vec<Entity>,
    saved: Option<(Snapshot, Vec<Entity>)>,
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(60) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn a_kept_plan_equals_a_new_one(changes in changes()) {
        let mut state = Kept { world: world(), alive: Vec::new(), saved: None };
        let [mut all, mut some] = [Plan::new(), Plan::new()];
        let (mut before, mut since) = (known(&state.world), state.world.version());
        pass_changed(&mut state.world, &mut some);
        for change in changes {
            let is_flip = matches!(change, Change::Flip);
            state.apply(change);
            let world = &mut state.world;
            prop_assert_eq!(world.check(), Ok(()));
            let came = arrived(world, since);
            since = world.version();
            let visited = pass_changed(world, &mut some);
            let now = known(world);
            if is_flip {
                prop_assert_eq!(&visited, &all_of(&now));
            } else if visited.len() < now.len() {
                // All rows are visited if they are numbered again, or values were put back.
                assert_visited(&visited, (&before, &now), &came);
            }
            before = now;
            prop_assert_eq!(pass(world, &mut all), pass(world, &mut Plan::new()));
            assert_placed(world);
        }
    }
}

impl Kept {
    fn apply(&mut self, change: Change) {
        let Self { world, alive, saved } = self;
        match change {
            Change::Steps(steps) => {
                steps.iter().for_each(|step| apply_unvalued(world, alive, step));
            }
            Change::One(step) => apply_unvalued(world, alive, &step),
            Change::Save => {
                *saved = Some((world.snapshot().expect("no buffers"), alive.clone()));
            }
            Change::Restore => {
                if let Some((snapshot, entities)) = saved {
                    world.restore(snapshot).expect("it is of this world");
                    alive.clone_from(entities);
                }
            }
            Change::Flip => world.flip::<Global>().expect("it fits"),
            Change::Clear => {
                world.clear();
                alive.clear();
                *saved = None;
            }
            Change::Compact => _ = world.memory_mut().compact(usize::MAX),
        }
    }
}

/// A step that writes no value, for passes that see no changed row.
fn apply_unvalued(world: &mut World, alive: &mut Vec<Entity>, step: &Step) {
    let switched = match *step {
        Step::Switch(at, kind) if kind % 5 > 2 => {
            alive.get(at % alive.len().max(1)).zip(Some(kind))
        }
        _ => return apply(world, alive, step),
    };
    // The row moves to another archetype.
    match switched {
        Some((&entity, kind)) if kind % 2 == 0 => _ = world.insert(entity, Mark),
        Some((&entity, _)) => _ = world.remove::<Mark>(entity),
        None => {}
    }
}
