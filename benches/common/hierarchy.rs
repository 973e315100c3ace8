//! A hierarchy: places of nodes from the places of their parents, where all moved.
//!
//! The limit is two flat `Vec`s in the order of the levels, and a third with the numbers of the
//! parents. `phalanx` propagates by a plan of levels that is kept, in the order in which the nodes
//! were spawned, level after level; `phalanx_sorted` spawned them in random order and sorted them
//! by level; `phalanx_random` did not sort them. `phalanx_lookup` looks up each node and its
//! parent. In `phalanx_replanned` the last node leaves its parent before each pass and comes back,
//! so that the plan is brought up to date.

use core::hint::black_box;

use phalanx::prelude::*;
use phalanx::rows::LevelPlan;
use phalanx::sparse::Relation;

use super::programs::random::random_index;
use super::sides::{Side, Workload, steady};
use super::world;

const NODES: usize = 100_000;
/// The nodes of each level.
const LEVELS: [usize; 8] = [8, 40, 200, 1_000, 5_000, 13_752, 30_000, 50_000];
const CHAIN: usize = 1_000;

#[relation(tree)]
pub(super) struct ChildOf;

#[component(name = "bench.place.local")]
struct Local {
    pub(super) at: [f32; 3],
    pub(super) scale: f32,
}

#[component(name = "bench.place.global")]
#[derive(PartialEq, Debug)]
pub(super) struct Global {
    pub(super) at: [f32; 3],
    pub(super) scale: f32,
}

pub(super) const ROOT: Global = Global { at: [0.0; 3], scale: 1.0 };

/// The order of the rows, and the way to the parents.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    Spawned,
    Sorted,
    Random,
    LookedUp,
    Replanned,
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        Workload::new("hierarchy_wide", NODES, NODES)
            .limit(|| flat_side(wide()))
            .phalanx("phalanx", |chunk| side(chunk, wide(), Rows::Spawned))
            .phalanx("phalanx_sorted", |chunk| side(chunk, wide(), Rows::Sorted))
            .phalanx("phalanx_random", |chunk| side(chunk, wide(), Rows::Random))
            .phalanx("phalanx_replanned", |chunk| side(chunk, wide(), Rows::Replanned))
            .phalanx("phalanx_lookup", |chunk| side(chunk, wide(), Rows::LookedUp)),
        Workload::new("hierarchy_chain", CHAIN, CHAIN)
            .limit(|| flat_side(chain()))
            .phalanx("phalanx", |chunk| side(chunk, chain(), Rows::Spawned))
            .phalanx("phalanx_lookup", |chunk| side(chunk, chain(), Rows::LookedUp)),
    ]
}

/// The numbers of the parents: itself for a root.
fn wide() -> Vec<usize> {
    let mut parents: Vec<usize> = (0..LEVELS[0]).collect();
    for sizes in LEVELS.windows(2) {
        let first = parents.len() - sizes[0];
        parents.extend((0..sizes[1]).map(|i| first + i * sizes[0] / sizes[1]));
    }
    assert_eq!(parents.len(), NODES, "the sum of the levels");
    parents
}

fn chain() -> Vec<usize> {
    (0..CHAIN).map(|node| node.saturating_sub(1)).collect()
}

fn local(node: usize) -> Local {
    Local { at: [node as f32 * 1e-3, 1.0, -0.5], scale: 1.0 + (node % 3) as f32 * 1e-3 }
}

#[inline(always)]
fn placed(local: &Local, parent: &Global) -> Global {
    let at = |axis| parent.at[axis] + parent.scale * local.at[axis];
    Global { at: [at(0), at(1), at(2)], scale: parent.scale * local.scale }
}

fn flat_globals(locals: &[Local], parents: &[u32], globals: &mut [Global]) {
    for (node, (local, &parent)) in locals.iter().zip(parents).enumerate() {
        let above = if parent as usize == node { ROOT } else { globals[parent as usize] };
        globals[node] = placed(local, &above);
    }
}

/// The globals that a pass must make.
fn wanted(parents: &[usize]) -> Vec<Global> {
    let mut globals: Vec<Global> = Vec::new();
    for (node, &parent) in parents.iter().enumerate() {
        let above = if parent == node { ROOT } else { globals[parent] };
        globals.push(placed(&local(node), &above));
    }
    globals
}

fn flat_side(parents: Vec<usize>) -> impl Side {
    let locals: Vec<_> = (0..parents.len()).map(local).collect();
    let numbers: Vec<u32> =
        parents.iter().map(|&parent| u32::try_from(parent).expect("few nodes")).collect();
    steady(
        (locals, numbers, vec![ROOT; parents.len()]),
        |(locals, numbers, globals)| flat_globals(locals, numbers, black_box(globals)),
        move |(_, _, globals), _| assert!(*globals == wanted(&parents), "a place is wrong"),
    )
}

fn side(chunk: ChunkSize, parents: Vec<usize>, rows: Rows) -> impl Side {
    let mut world = world(chunk);
    let mut order: Vec<usize> = (0..parents.len()).collect();
    if matches!(rows, Rows::Sorted | Rows::Random) {
        let mut random = random_index();
        (1..order.len()).rev().for_each(|i| order.swap(i, random(i + 1)));
    }
    let mut entities = vec![Entity::NULL; order.len()];
    let spawned = world.spawn_batch(order.iter().map(|&node| (local(node), ROOT)));
    for (&node, &entity) in order.iter().zip(spawned.iter()) {
        entities[node] = entity;
    }
    for (node, &parent) in parents.iter().enumerate().filter(|(node, parent)| node != *parent) {
        world.insert(entities[node], ChildOf::of(entities[parent])).expect("no cycle");
    }
    if rows == Rows::Sorted {
        world.matching::<&Local>().sort_by_level::<ChildOf>();
    }
    let last = entities[entities.len() - 1];
    steady(
        (world, LevelPlan::<ChildOf>::new()),
        move |(world, plan)| {
            if rows == Rows::LookedUp {
                return world.run(look_up);
            }
            if rows == Rows::Replanned {
                let parent = world.remove::<ChildOf>(last).expect("it has a parent");
                world.insert(last, parent).expect("no cycle");
            }
            world.run(|tree: Relation<ChildOf>, query: Query<(&mut Global, &Local)>| {
                tree.propagate(plan, query, &ROOT, |globals, locals, parents| {
                    for ((global, local), parent) in globals.iter_mut().zip(locals).zip(parents) {
                        *global = placed(local, parent);
                    }
                });
            });
        },
        move |(world, _), _| {
            let wanted = wanted(&parents);
            let globals = world.lookup::<Global>();
            let is_right =
                |(entity, global): (&Entity, &Global)| globals.get(*entity) == Ok(global);
            assert!(entities.iter().zip(&wanted).all(is_right), "a place is wrong");
        },
    )
}

/// One look-up for each node, and one for its parent.
fn look_up(tree: Relation<ChildOf>, mut globals: LookupMut<Global>, locals: Lookup<Local>) {
    for &node in tree.levels().entities() {
        let above = tree.target(node).map_or(ROOT, |parent| *globals.get(parent).expect("alive"));
        let local = locals.get(node).expect("alive");
        *globals.get_mut(node).expect("alive") = placed(local, &above);
    }
}
