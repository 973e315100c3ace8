//! Passes by level: each row gets the value of its parent, in any order of rows.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::rows::LevelPlan;
use phalanx::sparse::Relation;
use proptest::prelude::*;

use crate::common::effort::effort;
use crate::common::world;

use super::relations::ChildOf;

#[component(enableable)]
#[derive(Debug, PartialEq)]
pub(super) struct Local(pub(super) u64);
#[component]
#[derive(Debug, PartialEq)]
pub(super) struct Global {
    pub(super) sum: u64,
    pub(super) depth: u64,
}
#[component]
pub(super) struct Heavy(pub(super) [u64; 20]);
#[component]
pub(super) struct Mark;

pub(super) const ROOT: Global = Global { sum: 1_000_000, depth: 0 };
pub(super) const UNSEEN: Global = Global { sum: 7, depth: 7 };

pub(super) type Plan = LevelPlan<ChildOf>;

/// One pass. Returns the lengths of the slices.
fn propagate(world: &mut World, plan: &mut Plan) -> Vec<usize> {
    world.run(|tree: Relation<ChildOf>, query: Query<(&mut Global, &Local)>| {
        let mut lens = Vec::new();
        tree.propagate(plan, query, &ROOT, |globals, locals, parents| {
            assert_eq!((globals.len(), locals.len()), (parents.len(), parents.len()));
            lens.push(globals.len());
            for ((global, local), parent) in globals.iter_mut().zip(locals).zip(parents) {
                *global =
                    Global { sum: parent.sum * 3 % 1_000_003 + local.0, depth: parent.depth + 1 };
            }
        });
        lens
    })
}

/// The values that a pass must give: each row looks up its nearest ancestor that is seen.
pub(super) fn wanted(world: &World) -> BTreeMap<Entity, Global> {
    let seen: BTreeMap<Entity, u64> = world
        .query::<(Entity, &Local)>()
        .with::<Global>()
        .rows()
        .map(|(entity, local)| (entity, local.0))
        .collect();
    let tree = world.relation::<ChildOf>();
    let value = |&entity: &Entity| {
        let mut path: Vec<_> = tree.ancestors(entity).collect();
        path.reverse();
        path.push(entity);
        let locals = path.iter().filter_map(|above| seen.get(above));
        locals.fold(ROOT, |above, local| Global {
            sum: above.sum * 3 % 1_000_003 + local,
            depth: above.depth + 1,
        })
    };
    seen.keys().map(|entity| (*entity, value(entity))).collect()
}

/// Propagates and compares with [`wanted`]. Rows that are not seen keep their values.
fn prove(world: &mut World, plan: &mut Plan) -> Vec<usize> {
    let all = world.query_mut::<&mut Global>().filter::<IncludeHidden>();
    all.rows().for_each(|global| *global = UNSEEN);
    let lens = propagate(world, plan);
    let wanted = wanted(world);
    for (entity, global) in world.query::<(Entity, &Global)>().rows() {
        assert_eq!(global, wanted.get(&entity).unwrap_or(&UNSEEN), "{entity:?}");
    }
    assert_eq!(lens.iter().sum::<usize>(), wanted.len());
    lens
}

pub(super) fn node(sum: u64) -> (Local, Global) {
    (Local(sum), UNSEEN)
}

#[test]
fn a_world_without_the_relation_has_one_level() {
    let (mut world, mut plan) = (world(), Plan::new());
    assert!(prove(&mut world, &mut plan).is_empty());
    world.spawn_batch((0..50).map(node));
    assert_eq!(prove(&mut world, &mut plan), [50]);
}

#[test]
fn levels_that_were_spawned_in_order_are_one_slice_each() {
    let (mut world, mut plan) = (world(), Plan::new());
    let mut above = world.spawn_batch((0..2).map(node)).to_vec();
    for level in 1..4 {
        let parents = above.iter().flat_map(|&parent| [parent; 2]);
        let rows: Vec<_> =
            parents.map(|parent| (Local(level), UNSEEN, ChildOf::of(parent))).collect();
        above = world.spawn_batch(rows).to_vec();
    }
    assert_eq!(prove(&mut world, &mut plan), [2, 4, 8, 16]);
    assert_eq!(prove(&mut world, &mut plan), [2, 4, 8, 16], "with the plan that is kept");
}

#[test]
fn sorted_rows_lie_level_after_level_in_the_order_of_their_parents() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = world.spawn_batch((0..40).map(node)).to_vec();
    for node in 1..40 {
        let [child, parent] = [node, (node - 1) / 2].map(|node| all[node * 7 % 40]);
        world.insert(child, ChildOf::of(parent)).expect("no cycle");
    }
    let before = prove(&mut world, &mut plan).len();
    let moved = world.matching::<&Global>().sort_by_level::<ChildOf>();
    assert!(moved > 20);
    assert_eq!(world.check(), Ok(()));
    let order: Vec<_> = world.query::<Entity>().with::<Global>().rows().collect();
    assert_eq!(order, world.relation::<ChildOf>().levels().entities());
    let levels = world.relation::<ChildOf>().levels();
    let lens: Vec<_> = levels.iter().map(<[Entity]>::len).collect();
    assert_eq!(prove(&mut world, &mut plan), lens);
    assert!(before > lens.len());
    let version = world.version();
    assert_eq!(world.matching::<&Global>().sort_by_level::<ChildOf>(), 0);
    assert_eq!(world.version(), version);
}

#[test]
fn a_chain_is_as_many_levels() {
    let (mut world, mut plan) = (world(), Plan::new());
    let len = if cfg!(miri) { 60 } else { 10_000 };
    let all = world.spawn_batch((0..len).map(node)).to_vec();
    for pair in all.windows(2) {
        world.insert(pair[0], ChildOf::of(pair[1])).expect("no cycle");
    }
    assert_eq!(propagate(&mut world, &mut plan), vec![1; all.len()]);
    world.matching::<&Global>().sort_by_level::<ChildOf>();
    assert_eq!(propagate(&mut world, &mut plan), vec![1; all.len()]);
    assert_eq!(world.get::<Global>(all[0]).map(|global| global.depth), Ok(len));
}

#[test]
fn a_parent_that_is_not_seen_passes_on_the_value_above_it() {
    let (mut world, mut plan) = (world(), Plan::new());
    let root = world.spawn(node(1));
    let bare = world.spawn(ChildOf::of(root));
    let child = world.spawn((Local(2), UNSEEN, ChildOf::of(bare)));
    let orphan = world.spawn(());
    let below = world.spawn((Local(3), UNSEEN, ChildOf::of(orphan)));
    let depth = |world: &World, entity| world.get::<Global>(entity).map(|global| global.depth);
    prove(&mut world, &mut plan);
    assert_eq!((depth(&world, child), depth(&world, below)), (Ok(2), Ok(1)));
    world.insert(child, Disabled).expect("it is alive");
    prove(&mut world, &mut plan);
    assert_eq!(depth(&world, child), Ok(UNSEEN.depth));
    world.remove::<Disabled>(child).expect("it is alive");
    world.set_enabled::<Local>(root, false).expect("it has the component");
    prove(&mut world, &mut plan);
    assert_eq!((depth(&world, child), depth(&world, root)), (Ok(1), Ok(UNSEEN.depth)));
}

#[test]
fn one_plan_serves_other_queries_and_worlds() {
    let mut plan = Plan::new();
    let mut worlds = [world(), world()];
    for (world, swapped) in worlds.iter_mut().zip([false, true]) {
        let all = world.spawn_batch((0..3).map(node)).to_vec();
        let (child, parent) = if swapped { (all[0], all[2]) } else { (all[2], all[0]) };
        world.insert(child, ChildOf::of(parent)).expect("no cycle");
    }
    for _ in 0..2 {
        worlds.iter_mut().for_each(|world| _ = prove(world, &mut plan));
    }
    let roots =
        worlds[0].run(|tree: Relation<ChildOf>, query: Query<(&mut Global,), Without<ChildOf>>| {
            let mut roots = 0;
            tree.propagate(&mut plan, query, &ROOT, |globals, (), _| roots += globals.len());
            roots
        });
    assert_eq!(roots, 2);
    prove(&mut worlds[0], &mut plan);
}

#[test]
fn a_panic_of_the_kernel_leaves_the_plan_usable() {
    let (mut world, mut plan) = (world(), Plan::new());
    let root = world.spawn(node(1));
    world.spawn((Local(2), UNSEEN, ChildOf::of(root)));
    let run = || {
        world.run(|tree: Relation<ChildOf>, query: Query<(&mut Global, &Local)>| {
            tree.propagate(&mut plan, query, &ROOT, |_, _, parents| {
                assert_eq!(parents[0], ROOT, "the second level");
            });
        });
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it panics");
    prove(&mut world, &mut plan);
}

#[test]
fn restored_and_merged_worlds_make_the_plan_again() {
    let (mut world, mut plan) = (world(), Plan::new());
    let all = world.spawn_batch((0..30).map(node)).to_vec();
    let relate = |world: &mut World, step: usize| {
        for at in 1..30 {
            world.insert(all[at], ChildOf::of(all[at - 1 - at % step.min(at)])).expect("no cycle");
        }
    };
    relate(&mut world, 2);
    prove(&mut world, &mut plan);
    let saved = world.snapshot().expect("no buffers");
    relate(&mut world, 5);
    world.despawn(all[29]).expect("it is alive");
    prove(&mut world, &mut plan);
    world.restore(&saved).expect("it is of this world");
    prove(&mut world, &mut plan);
    let mut other = crate::common::world();
    let root = other.spawn(node(5));
    other.spawn((Local(6), UNSEEN, ChildOf::of(root)));
    world.merge(other).expect("the ids are new");
    assert_eq!(prove(&mut world, &mut plan).iter().sum::<usize>(), 32);
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Spawn { kind: u8, parent: usize },
    Despawn(usize),
    Relate(usize, usize),
    Unrelate(usize),
    Switch(usize, u8),
    Sort,
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (any::<u8>(), any::<usize>()).prop_map(|(kind, parent)| Step::Spawn { kind, parent }),
        1 => any::<usize>().prop_map(Step::Despawn),
        4 => any::<(usize, usize)>().prop_map(|(child, parent)| Step::Relate(child, parent)),
        1 => any::<usize>().prop_map(Step::Unrelate),
        3 => any::<(usize, u8)>().prop_map(|(at, kind)| Step::Switch(at, kind)),
        1 => Just(Step::Sort),
    ];
    prop::collection::vec(step, 1..60)
}

pub(super) fn apply(world: &mut World, alive: &mut Vec<Entity>, step: &Step) {
    let pick = |at: usize| alive.get(at % alive.len().max(1)).copied();
    match *step {
        Step::Spawn { kind, parent } => {
            let parent = pick(parent);
            let new = match kind % 4 {
                0 => world.spawn(node(3)),
                1 => world.spawn((Local(4), UNSEEN, Heavy([0; 20]))),
                2 => world.spawn((Local(5), UNSEEN, Mark)),
                _ => world.spawn(Mark),
            };
            if let Some(parent) = parent.filter(|_| kind % 8 < 6) {
                world.insert(new, ChildOf::of(parent)).expect("a new one is in no cycle");
            }
            alive.push(new);
        }
        Step::Despawn(at) if !alive.is_empty() => {
            let entity = alive.swap_remove(at % alive.len());
            world.despawn(entity).expect("the relation does not refuse it");
        }
        Step::Relate(child, parent) => {
            if let (Some(child), Some(parent)) = (pick(child), pick(parent)) {
                // A cycle is refused.
                _ = world.insert(child, ChildOf::of(parent));
            }
        }
        Step::Unrelate(at) => _ = pick(at).map(|entity| world.remove::<ChildOf>(entity)),
        Step::Switch(at, kind) => {
            let Some(entity) = pick(at) else { return };
            match kind % 5 {
                0 => _ = world.insert(entity, Disabled),
                1 => _ = world.remove::<Disabled>(entity),
                2 => _ = world.set_enabled::<Local>(entity, kind % 2 == 0),
                3 => _ = world.remove::<Local>(entity),
                _ => _ = world.insert(entity, Local(u64::from(kind))),
            }
        }
        Step::Sort => _ = world.matching::<&Global>().sort_by_level::<ChildOf>(),
        Step::Despawn(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(60) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn each_row_has_the_value_of_its_path(batches in prop::collection::vec(steps(), 1..8)) {
        let (mut world, mut alive, mut plan) = (world(), Vec::new(), Plan::new());
        for steps in batches {
            steps.iter().for_each(|step| apply(&mut world, &mut alive, step));
            prop_assert_eq!(world.check(), Ok(()));
            prove(&mut world, &mut plan);
            prove(&mut world, &mut plan);
        }
    }
}

#[test]
fn a_sorted_tree_of_two_archetypes_has_long_slices() {
    const NODES: usize = 255;
    let mut world = World::new();
    let mut nodes: Vec<Entity> = Vec::new();
    for number in 1..=NODES {
        let node = world.spawn((Local(number as u64), ROOT));
        // The archetypes of parents and of children alternate.
        if number % 3 != 0 {
            world.insert(node, Heavy([0; 20])).expect("alive");
        }
        if let Some(&parent) = nodes.get((number / 2).wrapping_sub(1)) {
            world.insert(node, ChildOf::of(parent)).expect("no cycle");
        }
        nodes.push(node);
    }
    world.matching::<&Local>().sort_by_level::<ChildOf>();
    let mut plan = Plan::new();
    let lens = prove(&mut world, &mut plan);
    assert_eq!(lens.iter().sum::<usize>(), NODES);
    let chunks = world.query::<(&Local, &Global)>().iter().count();
    let levels = world.relation::<ChildOf>().levels().len();
    assert!(lens.len() < 2 * levels + chunks, "{lens:?}");
    assert_eq!(prove(&mut world, &mut plan), lens);
}
