//! Places of nodes from the places of their parents, level after level, after a leaf got another
//! parent.

use phalanx::prelude::*;
use phalanx::rows::LevelPlan;
use phalanx::sparse::Relation;

use super::Program;
use super::components::{Position, Velocity, world};
use super::proof::same;

/// Children of each node.
const CHILDREN: usize = 4;
const ROOT: Position = Position { x: 0.0, y: 0.0, z: 0.0 };

#[relation(tree)]
struct ChildOf;

/// A tree in the order of its levels, and a plan of them that is kept.
struct KeptLevels {
    world: World,
    nodes: Vec<Entity>,
    plan: LevelPlan<ChildOf>,
    passes: usize,
}

impl KeptLevels {
    fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        let nodes = world.spawn_batch((0..len).map(|i| (Position::default(), offset(i)))).to_vec();
        for (at, &node) in nodes.iter().enumerate().skip(1) {
            world.insert(node, ChildOf::of(nodes[(at - 1) / CHILDREN])).expect("no cycle");
        }
        Self { world, nodes, plan: LevelPlan::new(), passes: 0 }
    }

    /// The parent of the last node after some passes.
    fn last_parent(&self, passes: usize) -> usize {
        let last = (self.nodes.len() - 2) / CHILDREN;
        last - passes % 2
    }

    /// Gives the last node another parent.
    fn move_leaf(&mut self) {
        self.passes += 1;
        let parent = self.nodes[self.last_parent(self.passes)];
        let last = self.nodes[self.nodes.len() - 1];
        self.world.insert(last, ChildOf::of(parent)).expect("no cycle");
    }

    fn check(&self) -> Result<(), String> {
        let mut places: Vec<Position> = Vec::new();
        for at in 0..self.nodes.len() {
            let parent = match at {
                0 => ROOT,
                at if at + 1 == self.nodes.len() => places[self.last_parent(self.passes)],
                at => places[(at - 1) / CHILDREN],
            };
            places.push(moved_by(parent, offset(at)));
        }
        let query = self.world.query::<&Position>();
        let found = query.rows().zip(&places);
        let wrong = found.filter(|(found, wanted)| found != wanted).count();
        same("the number of nodes in a wrong place", wrong, 0)
    }
}

fn offset(node: usize) -> Velocity {
    Velocity { x: 1.0, y: (node % 4) as f32, z: 0.5 }
}

fn moved_by(above: Position, offset: Velocity) -> Position {
    Position { x: above.x + offset.x, y: above.y + offset.y, z: above.z + offset.z }
}

fn place(places: &mut [Position], offsets: &[Velocity], parents: &[Position]) {
    for ((place, offset), parent) in places.iter_mut().zip(offsets).zip(parents) {
        *place = moved_by(*parent, *offset);
    }
}

/// A pass over all nodes.
pub struct LevelsKept(KeptLevels);

/// A pass over the nodes that need another place: one.
pub struct ChangedLevelsKept(KeptLevels);

impl LevelsKept {
    /// `len` nodes.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self(KeptLevels::new(chunk, len))
    }
}

impl ChangedLevelsKept {
    /// `len` nodes.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self(KeptLevels::new(chunk, len))
    }
}

impl Program for LevelsKept {
    fn pass(&mut self) {
        self.0.move_leaf();
        let KeptLevels { world, plan, .. } = &mut self.0;
        world.run(|tree: Relation<ChildOf>, query: Query<(&mut Position, &Velocity)>| {
            tree.propagate(plan, query, &ROOT, place);
        });
    }

    fn check(&self, _: u64) -> Result<(), String> {
        self.0.check()
    }
}

impl Program for ChangedLevelsKept {
    fn pass(&mut self) {
        let since = self.0.world.version();
        self.0.move_leaf();
        let KeptLevels { world, plan, .. } = &mut self.0;
        world.run(
            |tree: Relation<ChildOf>,
             offsets: Query<&Velocity>,
             query: Query<(&mut Position, &Velocity)>| {
                let changed = offsets.filter_since::<Changed<Velocity>>(since);
                tree.propagate_changed(plan, &changed, query, &ROOT, place);
            },
        );
    }

    fn check(&self, _: u64) -> Result<(), String> {
        self.0.check()
    }
}
