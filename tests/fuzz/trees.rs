//! Operations on whole trees: copies, passes by level ([`passes`](crate::passes)), and passes
//! with values of the other end ([`ends`](crate::ends)).

use std::collections::BTreeMap;

use phalanx::prelude::*;

use crate::chance::Chance;
use crate::ends::Reach;
use crate::model::Model;
use crate::operations::Who;
use crate::outcome::{DEAD, DEAD_TARGET, DONE, EXHAUSTED, IDLE, Outcome, word};
use crate::parts::{Link, Part, Shape, link_to};
use crate::profile::{Profile, Twin};
use crate::relations::ChildOf;
use crate::trial::Trial;

/// An operation on whole trees.
#[derive(Clone, Debug)]
pub(crate) enum TreeOp {
    Copy { who: Who, parents: Vec<Option<Who>> },
    Pass { number: u32 },
    PassChanged { number: u32 },
    WriteEnds { reach: Reach, number: Option<u32> },
    WriteSources { who: Who, number: u32 },
}

impl TreeOp {
    /// The public function that the operation calls.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Copy { .. } => "instantiate_tree",
            Self::Pass { .. } => "propagate",
            Self::PassChanged { .. } => "propagate_changed",
            Self::WriteEnds { .. } => "target_values",
            Self::WriteSources { .. } => "for_each_of",
        }
    }

    pub(crate) fn any(chance: &mut Chance, profile: &Profile, is_full: bool) -> Self {
        // A pass over changed rows also visits all rows of some chunks.
        let by_chunk = profile.twin != Twin::Resized;
        match chance.below(6) {
            3 => {
                let number = chance.one_in(2).then(|| chance.number());
                Self::WriteEnds { reach: chance.pick(&Reach::ALL), number }
            }
            4 => Self::WriteSources { who: Who::any(chance), number: chance.number() },
            0 if !is_full => Self::any_copy(chance),
            0..3 if by_chunk => Self::PassChanged { number: chance.number() },
            _ => Self::Pass { number: chance.number() },
        }
    }

    fn any_copy(chance: &mut Chance) -> Self {
        let parent = |chance: &mut Chance| (!chance.one_in(3)).then(|| Who::target(chance));
        let parents = (0..chance.below(5)).map(|_| parent(chance)).collect();
        Self::Copy { who: Who::any(chance), parents }
    }
}

impl Model {
    /// An entity and all entities below it, level after level.
    fn tree(&self, root: Entity) -> Vec<Entity> {
        let mut all = vec![root];
        let mut next = 0;
        while let Some(&parent) = all.get(next) {
            all.extend(self.relations.of::<ChildOf>().sources(parent));
            next += 1;
        }
        all
    }

    /// Adds the copies of a tree, which lie together by the archetype of the original, and there by
    /// original. Each archetype has a version of its own. Returns the copies with a link to an
    /// entity without a number.
    fn copied_tree(
        &mut self,
        world: &World,
        originals: &[Entity],
        copies: &[Entity],
    ) -> Vec<(Entity, Entity)> {
        let mut groups = Vec::<(usize, Vec<usize>)>::new();
        for (at, original) in originals.iter().enumerate() {
            let list = self.rows[original].place.0;
            match groups.iter_mut().find(|group| group.0 == list) {
                Some((_, members)) => members.push(at),
                None => groups.push((list, vec![at])),
            }
        }
        let first = world.version().to_bits() + 1 - groups.len() as u64;
        let mut lost = Vec::new();
        for (now, (_, members)) in (first..).zip(groups) {
            for at in members {
                for copy in copies.chunks(originals.len()) {
                    let mut row = self.rows[&originals[at]];
                    if row.has(Link::SET) {
                        let Link(target) = Link::of(&row.numbers);
                        let place = originals.iter().position(|&original| original == target);
                        let target = place.map_or(target, |place| copy[place]);
                        row.numbers[Link::INDEX] = link_to(target).unwrap_or_else(|| {
                            lost.push((copy[at], target));
                            0
                        });
                    }
                    self.ids.made(copy[at]);
                    self.copied(world, copy[at], &row, now);
                }
            }
        }
        lost
    }
}

impl Trial {
    pub(crate) fn run_tree(&mut self, op: &TreeOp) -> Outcome {
        match op {
            TreeOp::Copy { who, parents } => {
                let root = self.parent(self.model.resolve(*who));
                let parents = parents.iter().map(|who| who.map(|who| self.model.resolve(who)));
                self.instantiate_tree(root, &parents.collect::<Vec<_>>())
            }
            TreeOp::Pass { number } => self.propagate(*number),
            TreeOp::PassChanged { number } => self.propagate_changed(*number),
            TreeOp::WriteEnds { reach, number } => self.write_ends(*reach, *number),
            TreeOp::WriteSources { who, number } => {
                self.write_sources(self.parent(self.model.resolve(*who)), *number)
            }
        }
    }

    /// The first parent from a living entity on, or an entity that is not alive.
    fn parent(&self, entity: Entity) -> Entity {
        let next = self.model.relations.of::<ChildOf>().target_from(entity);
        next.filter(|_| self.model.alive(entity).is_some()).unwrap_or(entity)
    }

    /// Copies a tree below each of some parents, or below none.
    fn instantiate_tree(&mut self, root: Entity, parents: &[Option<Entity>]) -> Outcome {
        let originals = self.model.tree(root);
        let rows = originals.len() * parents.len();
        if rows > self.profile.rows / 2 + 20 {
            return IDLE;
        }
        let copied = self.step(|side| side.world.instantiate_tree::<ChildOf>(root, parents));
        let is_dead = |parent: &Entity| self.model.alive(*parent).is_none();
        let expected = match self.model.alive(root) {
            None => DEAD,
            Some(_) if parents.iter().flatten().any(is_dead) => DEAD_TARGET,
            Some(_) if rows > self.model.ids.available() => EXHAUSTED,
            Some(_) => DONE,
        };
        assert_eq!(word(&copied), expected, "{root}, {parents:?}");
        let Ok(copies) = copied else { return expected };
        assert_eq!(copies.len(), rows, "{root}, {parents:?}");
        if copies.is_empty() {
            return IDLE;
        }
        let lost = self.model.copied_tree(&self.main.world, &originals, &copies);
        let copies = copies.chunks(originals.len());
        for copy in copies.clone() {
            let new: BTreeMap<_, _> = originals.iter().copied().zip(copy.iter().copied()).collect();
            self.model.relations.copy(&originals, &new);
        }
        for (copy, parent) in copies.zip(parents) {
            if let Some(parent) = *parent {
                self.model.relations.put::<ChildOf>(copy[0], parent, 0);
            }
        }
        self.reset_links(lost);
        DONE
    }

    /// Resets links to high ids, which have no number, after a comparison.
    pub(crate) fn reset_links(&mut self, lost: Vec<(Entity, Entity)>) {
        for (entity, target) in lost {
            self.step(|side| {
                let link = side.world.get_mut::<Link>(entity).expect("it has one");
                assert_eq!(std::mem::replace(link, Link::make(0)).0, target, "of {entity}");
            });
            self.model.wrote(entity, Link::SET, 0, self.now());
        }
    }
}
