//! Places of nodes from those of their parents, by a list that lies outside of the world.

use phalanx::prelude::*;

use super::Program;
use super::components::{Position, Velocity, world};
use super::proof::same;

/// Children of each node.
const CHILDREN: usize = 8;

/// The steps from parents to children, parents first. A list of pairs.
struct Steps(Vec<[Entity; 2]>);

/// Nodes whose position is that of the parent and a velocity, found by entity.
pub struct ListOutside {
    world: World,
    nodes: Vec<Entity>,
    walk: Schedule,
}

impl ListOutside {
    /// `len` nodes, with one root, in the order of their levels.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        let node = |i| (Position::default(), offset(i));
        let nodes = world.spawn_batch((0..len).map(node)).to_vec();
        world.insert_resource(Steps((1..len).map(|i| [nodes[parent(i)], nodes[i]]).collect()));
        let mut walk = Schedule::new();
        walk.threads(1).add(place);
        Self { world, nodes, walk }
    }
}

fn parent(node: usize) -> usize {
    (node - 1) / CHILDREN
}

fn offset(node: usize) -> Velocity {
    Velocity { x: 1.0, y: (node % 4) as f32, z: 0.5 }
}

/// Two look-ups of positions and one of a velocity for each node.
fn place(steps: Res<Steps>, offsets: Lookup<Velocity>, mut places: LookupMut<Position>) {
    for &[parent, child] in &steps.0 {
        let above = *places.get(parent).expect("alive");
        let offset = offsets.get(child).expect("alive");
        *places.get_mut(child).expect("alive") = moved_by(above, *offset);
    }
}

fn moved_by(above: Position, offset: Velocity) -> Position {
    Position { x: above.x + offset.x, y: above.y + offset.y, z: above.z + offset.z }
}

impl Program for ListOutside {
    fn pass(&mut self) {
        self.walk.run(&mut self.world).expect("no system fails");
    }

    fn check(&self, _: u64) -> Result<(), String> {
        let mut wanted = vec![Position::default()];
        for i in 1..self.nodes.len() {
            wanted.push(moved_by(wanted[parent(i)], offset(i)));
        }
        let places = self.world.lookup::<Position>();
        let wrong = self.nodes.iter().zip(&wanted);
        let wrong = wrong.filter(|(node, want)| places.get(**node).ok() != Some(*want)).count();
        same("the number of wrong places", wrong, 0)
    }
}
