//! A hierarchy of which a hundredth moved: places of the nodes that moved and of all below them.
//!
//! The tree is that of [`hierarchy`](super::hierarchy), ten times as large. Nodes of the fifth
//! level move, in two ways: 512 neighbours (`subtrees_near`), or 32 times 16 neighbours
//! (`subtrees_far`), about 10,000 nodes with those below. The limit is a loop over flat `Vec`s,
//! level after level, over the ranges of these nodes, which it knows. `phalanx` writes the nodes
//! that move and propagates by lines that changed; `phalanx_all` writes them and propagates to all.
//! `phalanx_replanned` also takes the last node from its parent before each pass and puts it back,
//! so that the plan is brought up to date.

use core::ops::Range;

use phalanx::prelude::*;
use phalanx::rows::LevelPlan;
use phalanx::schedule::Local as Kept;
use phalanx::sparse::Relation;

use super::hierarchy::{ChildOf, Global, ROOT};
use super::sides::{Side, Workload, steady};
use super::world;

/// The nodes of each level.
const LEVELS: [usize; 8] = [80, 400, 2_000, 10_000, 50_000, 137_520, 300_000, 500_000];
const NODES: usize = 1_000_000;
/// The level of the nodes that move, and the number of the first.
const MOVED: usize = 4;
const FIRST: usize = 12_480;

#[component(name = "bench.subtrees.local", lines)]
struct Local {
    at: [f32; 3],
    scale: f32,
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let near = || moved(1, 512);
    let far = || moved(32, 16);
    let workload = |name, moved: fn() -> Vec<Range<usize>>| {
        Workload::new(name, NODES, NODES)
            .limit(move || flat_side(moved()))
            .phalanx("phalanx", move |chunk| side(chunk, moved(), Visits::Changed))
            .phalanx("phalanx_replanned", move |chunk| side(chunk, moved(), Visits::Replanned))
            .phalanx("phalanx_all", move |chunk| side(chunk, moved(), Visits::All))
    };
    vec![workload("subtrees_near", near), workload("subtrees_far", far)]
}

/// The nodes that move: `runs` times `len` neighbours.
fn moved(runs: usize, len: usize) -> Vec<Range<usize>> {
    (0..runs).map(|at| FIRST + at * 1_152).map(|at| at..at + len).collect()
}

/// The first node of a level in the whole tree.
fn start(level: usize) -> usize {
    LEVELS[..level].iter().sum()
}

/// The number of the parent of a node, both counted in their levels.
const fn parent(level: usize, node: usize) -> usize {
    node * LEVELS[level - 1] / LEVELS[level]
}

/// The children of nodes that follow each other.
fn children(level: usize, nodes: &Range<usize>) -> Range<usize> {
    let first = |node: usize| (node * LEVELS[level + 1]).div_ceil(LEVELS[level]);
    first(nodes.start)..first(nodes.end)
}

const fn local(node: usize) -> ([f32; 3], f32) {
    ([node as f32 * 1e-3, 1.0, -0.5], 1.0 + (node % 3) as f32 * 1e-3)
}

#[inline(always)]
fn placed(local: &Local, parent: &Global) -> Global {
    let at = |axis| parent.at[axis] + parent.scale * local.at[axis];
    Global { at: [at(0), at(1), at(2)], scale: parent.scale * local.scale }
}

/// What a pass does to a node that moves.
#[inline(always)]
fn move_on(local: &mut Local) {
    local.at[1] += 0.5;
}

/// The tree in flat `Vec`s.
struct Flat {
    locals: Vec<Local>,
    parents: Vec<u32>,
    globals: Vec<Global>,
}

impl Flat {
    fn new() -> Self {
        let locals = (0..NODES).map(local).map(|(at, scale)| Local { at, scale }).collect();
        let mut parents = vec![0; LEVELS[0]];
        for (level, &len) in LEVELS.iter().enumerate().skip(1) {
            let above = |node| u32::try_from(start(level - 1) + parent(level, node));
            parents.extend((0..len).map(|node| above(node).expect("few nodes")));
        }
        let mut flat = Self { locals, parents, globals: vec![ROOT; NODES] };
        flat.place(0, 0..LEVELS[0]);
        (1..LEVELS.len()).for_each(|level| flat.place(level, 0..LEVELS[level]));
        flat
    }

    /// Places nodes of one level.
    fn place(&mut self, level: usize, nodes: Range<usize>) {
        let (above, own) = self.globals.split_at_mut(start(level));
        let all = start(level) + nodes.start..start(level) + nodes.end;
        let nodes = own[nodes].iter_mut().zip(&self.locals[all.clone()]).zip(&self.parents[all]);
        for ((global, local), &parent) in nodes {
            *global = placed(local, if level == 0 { &ROOT } else { &above[parent as usize] });
        }
    }

    /// Moves nodes, and places them and all below.
    fn pass(&mut self, moved: &[Range<usize>]) {
        let mut ranges = moved.to_vec();
        for range in moved {
            self.locals[start(MOVED)..][range.clone()].iter_mut().for_each(move_on);
        }
        for level in MOVED..LEVELS.len() {
            ranges.iter().for_each(|range| self.place(level, range.clone()));
            if level + 1 < LEVELS.len() {
                ranges.iter_mut().for_each(|range| *range = children(level, range));
            }
        }
    }
}

fn flat_side(moved: Vec<Range<usize>>) -> impl Side {
    steady(
        Flat::new(),
        move |flat| flat.pass(&moved),
        |flat, _| {
            let before = flat.globals.clone();
            (0..LEVELS.len()).for_each(|level| flat.place(level, 0..LEVELS[level]));
            assert!(before == flat.globals, "a place is wrong");
        },
    )
}

/// The nodes to which places are propagated.
#[derive(Clone, Copy, PartialEq)]
enum Visits {
    Changed,
    /// The same, after a change of the relation.
    Replanned,
    All,
}

fn side(chunk: ChunkSize, moved: Vec<Range<usize>>, visits: Visits) -> impl Side {
    let mut world = world(chunk);
    let all = (0..NODES).map(local).map(|(at, scale)| (Local { at, scale }, ROOT));
    let entities = world.spawn_batch(all).to_vec();
    let parents = Flat::new().parents;
    for (child, &parent) in entities.iter().zip(&parents).skip(LEVELS[0]) {
        world.insert(*child, ChildOf::of(entities[parent as usize])).expect("no cycle");
    }
    let written: Vec<Entity> = moved
        .iter()
        .flat_map(|range| entities[start(MOVED)..][range.clone()].iter().copied())
        .collect();
    let mut schedule = Schedule::new();
    schedule.add(move |mut locals: LookupMut<Local>| {
        for &entity in &written {
            move_on(locals.get_mut(entity).expect("alive"));
        }
    });
    if visits == Visits::All {
        schedule.add(place_all);
    } else {
        schedule.add(place_changed);
    }
    let last = entities[NODES - 1];
    steady(
        (world, schedule),
        move |(world, schedule)| {
            if visits == Visits::Replanned {
                let parent = world.remove::<ChildOf>(last).expect("it has a parent");
                world.insert(last, parent).expect("no cycle");
            }
            schedule.run(world).expect("no system fails");
        },
        move |(world, _), passes| {
            let mut flat = Flat::new();
            (0..passes).for_each(|_| flat.pass(&moved));
            let globals = world.query::<&Global>().rows();
            assert!(globals.eq(&flat.globals), "a place is wrong");
        },
    )
}

fn place_changed(
    tree: Relation<ChildOf>,
    mut plan: Kept<LevelPlan<ChildOf>>,
    changed: Query<&Local, ChangedLines<Local>>,
    places: Query<(&mut Global, &Local)>,
) {
    tree.propagate_changed(&mut plan, &changed, places, &ROOT, place);
}

fn place_all(
    tree: Relation<ChildOf>,
    mut plan: Kept<LevelPlan<ChildOf>>,
    places: Query<(&mut Global, &Local)>,
) {
    tree.propagate(&mut plan, places, &ROOT, place);
}

#[inline(always)]
fn place(globals: &mut [Global], locals: &[Local], parents: &[Global]) {
    for ((global, local), parent) in globals.iter_mut().zip(locals).zip(parents) {
        *global = placed(local, parent);
    }
}
