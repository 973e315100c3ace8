//! Passes by level with a plan that the world keeps: values go from parents to children.
//!
//! The kernel notes the value that it gets for each row, and the model must have this value at the
//! nearest ancestor that the query sees. So the value of each visited row is known, even where a
//! pass over changed rows leaves out others.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;
use phalanx::rows::LevelPlan;
use phalanx::sparse::Relation;

use crate::charges::Charge;
use crate::chunks::Stamp;
use crate::model::Model;
use crate::operations::Op;
use crate::outcome::{DONE, IDLE, Outcome};
use crate::parts::{Four, Part, Set, Shape, Twelve};
use crate::relations::ChildOf;
use crate::trial::{Side, Trial};

/// The components of a row that the passes visit.
const SEEN: Set = Four::SET | Twelve::SET;

/// The rows that a pass visits.
type Nodes<'w> = Query<'w, (&'static mut Four, &'static Twelve, Entity)>;

/// A visited row, and the value of its parent.
type Visit = (Entity, u32);

/// The nearest ancestor of each row that the passes see, and its other components.
type Known = BTreeMap<Entity, (Option<Entity>, Set)>;

/// The last pass.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// The rows as it has seen them, and its version.
    known: Option<(Known, Stamp)>,
    /// The version of the last flip since, if there was one.
    flip: Option<Stamp>,
}

impl Passed {
    /// Takes notice of an operation.
    pub(crate) fn pass(&mut self, op: &Op, outcome: Outcome, now: Stamp) {
        if let (Op::Flip, DONE) = (op, outcome) {
            self.flip = Some(now);
        }
    }
}

/// The value of a row.
const fn sum(parent: u32, own: u32) -> u32 {
    parent.wrapping_mul(3).wrapping_add(own)
}

/// Writes the values of a slice. Returns its rows.
fn write(
    fours: &mut [Four],
    (twelves, entities): (&[Twelve], &[Entity]),
    parents: &[Four],
) -> Vec<Visit> {
    assert_eq!(
        (fours.len(), twelves.len(), entities.len()),
        (parents.len(), parents.len(), parents.len())
    );
    for ((four, twelve), parent) in fours.iter_mut().zip(twelves).zip(parents) {
        four.0 = sum(parent.0, twelve.0[0]);
    }
    entities.iter().copied().zip(parents.iter().map(|parent| parent.0)).collect()
}

fn pass(world: &mut World, plan: &mut LevelPlan<ChildOf>, root: Four) -> Vec<Visit> {
    world.run(|tree: Relation<'_, ChildOf>, nodes: Nodes<'_>| {
        let mut visits = Vec::new();
        tree.propagate(plan, nodes, &root, |fours, others, parents| {
            visits.extend(write(fours, others, parents));
        });
        visits
    })
}

/// A pass over the rows with a charge, all below them, and all that the plan finds changed.
fn pass_changed(world: &mut World, plan: &mut LevelPlan<ChildOf>, root: Four) -> Vec<Visit> {
    type Charged<'w> = Query<'w, Entity, With<Charge>>;
    world.run(|tree: Relation<'_, ChildOf>, charged: Charged<'_>, nodes: Nodes<'_>| {
        let mut visits = Vec::new();
        tree.propagate_changed(plan, &charged, nodes, &root, |fours, others, parents| {
            visits.extend(write(fours, others, parents));
        });
        visits
    })
}

impl Model {
    /// The nearest ancestor of an entity that the passes see.
    fn nearest(&self, entity: Entity) -> Option<Entity> {
        let tree = self.relations.of::<ChildOf>();
        let mut above = std::iter::successors(tree.target(entity), |&above| tree.target(above));
        above.find(|above| self.is_seen(*above))
    }

    fn is_seen(&self, entity: Entity) -> bool {
        self.rows.get(&entity).is_some_and(|row| row.has(SEEN) && !row.is_hidden())
    }

    fn seen(&self) -> Known {
        let seen = self.rows.iter().filter(|&(&entity, _)| self.is_seen(entity));
        seen.map(|(&entity, row)| (entity, (self.nearest(entity), row.set))).collect()
    }
}

/// Some rows, and all rows below them.
fn below(seen: &Known, is_first: impl Fn(Entity) -> bool) -> BTreeSet<Entity> {
    let is_below = |&entity: &Entity| {
        std::iter::successors(Some(entity), |above| seen[above].0).any(&is_first)
    };
    seen.keys().copied().filter(is_below).collect()
}

impl Trial {
    /// A pass over all rows.
    pub(crate) fn propagate(&mut self, root: u32) -> Outcome {
        self.flush();
        let visits = self.step(|Side { world, plan, .. }| pass(world, plan, Four(root)));
        let seen = self.model.seen();
        let visited = self.visited(&seen, &visits, root);
        assert!(visited.iter().eq(seen.keys()), "all rows are visited");
        self.passed = Passed { known: Some((seen, self.now())), flip: None };
        if visits.is_empty() { IDLE } else { DONE }
    }

    /// A pass over changed rows, and a second one, for which the plan finds no change.
    pub(crate) fn propagate_changed(&mut self, root: u32) -> Outcome {
        self.flush();
        let seen = self.model.seen();
        let is_charged = |entity: Entity| self.model.rows[&entity].charge.is_some();
        let charged = below(&seen, is_charged);
        let Passed { known, flip } = std::mem::take(&mut self.passed);
        // A restore puts back older values than those of a pass, or takes back a flip.
        let is_kept = |version: Stamp| self.model.lists.seen(version) == version;
        let known = known.filter(|&(_, at)| is_kept(at) && !flip.is_some_and(is_kept));
        let least = match known {
            None => seen.keys().copied().collect(),
            Some((before, _)) => below(&seen, |entity| {
                is_charged(entity) || before.get(&entity) != seen.get(&entity)
            }),
        };
        let visits = self.step(|Side { world, plan, .. }| pass_changed(world, plan, Four(root)));
        let visited = self.visited(&seen, &visits, root);
        let missed = least.difference(&visited);
        assert!(visited.is_superset(&least), "{:?} are missed", missed.collect::<Vec<_>>());
        let again = root.wrapping_add(1);
        let visits = self.step(|Side { world, plan, .. }| pass_changed(world, plan, Four(again)));
        assert_eq!(self.visited(&seen, &visits, again), charged, "no other row has changed");
        self.passed = Passed { known: Some((seen, self.now())), flip: None };
        match (least.is_empty(), visited.len() == least.len()) {
            (true, true) => IDLE,
            (false, true) => DONE,
            _ => "done and more",
        }
    }

    /// Writes the visited rows of the model, each after its parent. Returns their entities.
    fn visited(&mut self, seen: &Known, visits: &[Visit], root: u32) -> BTreeSet<Entity> {
        let mut visited = BTreeSet::new();
        for &(entity, parent) in visits {
            assert!(visited.insert(entity), "{entity} is visited once");
            let (nearest, _) = seen.get(&entity).expect("it is seen");
            let value = |above| self.model.rows[&above].numbers[Four::INDEX];
            assert_eq!(parent, nearest.map_or(root, value), "the value above {entity}");
            let own = self.model.rows[&entity].numbers[Twelve::INDEX];
            self.model.wrote(entity, Four::SET, sum(parent, own), self.now());
        }
        visited
    }
}
