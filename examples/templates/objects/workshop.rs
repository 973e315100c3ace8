//! A world of prototypes, and the copies of them.

use super::components::{ChildOf, Origin, Own, Region, new_world};
use super::plan::Placed;
use super::write::{own, put};
use crate::loader::{Change, FieldSet, Types};
use phalanx::error::SpawnError;
use phalanx::prelude::*;
use phalanx::reflect::BytesError;
use std::error::Error;

/// A world of prototypes: a tree for each type, hidden from queries that do not name [`Prototype`].
#[derive(Debug)]
pub(crate) struct Workshop {
    world: World,
    /// The entities of each type, in the order of its nodes.
    prototypes: Vec<Vec<Entity>>,
}

/// The way in which objects of one type are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Copies {
    /// As trees, all objects of a type by one call.
    Tree,
    /// Node after node, each for all objects.
    Node,
}

impl Workshop {
    /// Makes the prototypes of all types.
    pub(crate) fn new(types: &Types) -> Result<Self, BytesError> {
        let mut workshop = Self { world: new_world(), prototypes: Vec::new() };
        workshop.renew(types, &[])?;
        Ok(workshop)
    }

    /// Makes the prototypes of changed and of new types.
    pub(crate) fn renew(&mut self, types: &Types, changes: &[Change]) -> Result<(), BytesError> {
        for change in changes {
            // Its children go with it.
            self.world.despawn(self.prototypes[change.number][0])?;
            self.prototypes[change.number] = self.prototype(types, change.number)?;
        }
        for number in self.prototypes.len()..types.len() {
            let prototype = self.prototype(types, number)?;
            self.prototypes.push(prototype);
        }
        Ok(())
    }

    fn prototype(&mut self, types: &Types, kind: usize) -> Result<Vec<Entity>, BytesError> {
        let mut entities: Vec<Entity> = Vec::new();
        for (node, number) in types.get(kind).nodes.iter().zip(0..) {
            let origin = Origin { kind: kind.try_into().expect("few types"), node: number };
            let bundle = (Prototype, origin, Own { fields: 0 });
            let entity = match entities.get(node.parent) {
                None => self.world.spawn(bundle),
                Some(&parent) => self.world.spawn((bundle, ChildOf::of(parent))),
            };
            put(&mut self.world, types.schema(), entity, &node.values, FieldSet::default())?;
            entities.push(entity);
        }
        Ok(entities)
    }

    /// Makes the objects of a region, as a world. Objects of one type should be neighbours.
    pub(crate) fn place(
        &mut self,
        types: &Types,
        region: Region,
        objects: &[Placed],
        copies: Copies,
    ) -> Result<World, Box<dyn Error>> {
        for group in objects.chunk_by(|a, b| a.kind == b.kind) {
            let kind = group[0].kind;
            let roots = match copies {
                Copies::Tree => self.copy_trees(kind, group.len())?,
                Copies::Node => self.copy_nodes(types, kind, group.len())?,
            };
            for (&root, placed) in roots.iter().zip(group) {
                own(&mut self.world, types.schema(), root, &placed.own)?;
            }
        }
        self.world.matching::<Entity>().insert_shared(region)?;
        let mut placed = new_world();
        placed.move_from(self.world.matching::<Entity>())?;
        Ok(placed)
    }

    /// Copies a type as a tree. Returns the roots.
    fn copy_trees(&mut self, kind: usize, copies: usize) -> Result<Vec<Entity>, SpawnError> {
        let root = self.prototypes[kind][0];
        let nodes = self.prototypes[kind].len();
        let copies = self.world.instantiate_tree::<ChildOf>(root, vec![None; copies])?;
        Ok(copies.into_iter().step_by(nodes).collect())
    }

    /// Copies a type node after node. Returns the roots.
    fn copy_nodes(
        &mut self,
        types: &Types,
        kind: usize,
        copies: usize,
    ) -> Result<Vec<Entity>, Box<dyn Error>> {
        let mut nodes: Vec<Vec<Entity>> = Vec::new();
        for (node, &prototype) in types.get(kind).nodes.iter().zip(&self.prototypes[kind]) {
            let new = self.world.instantiate(prototype, copies)?.to_vec();
            for (&child, &parent) in new.iter().zip(nodes.get(node.parent).into_iter().flatten()) {
                self.world.insert(child, ChildOf::of(parent))?;
            }
            nodes.push(new);
        }
        Ok(nodes.swap_remove(0))
    }

    /// The world of the prototypes.
    pub(crate) const fn world(&self) -> &World {
        &self.world
    }
}
