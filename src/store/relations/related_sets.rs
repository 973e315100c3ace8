//! The sets of all relations: an entity that goes takes the relations to it along.

use core::any::TypeId;

use crate::component::{OnDelete, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::sparse::ErasedSet;
use super::super::sparse::SparseSets;

impl SparseSets {
    /// Whether one of them is a relation.
    #[inline]
    pub(crate) const fn has_relations(&self) -> bool {
        !self.relations.is_empty()
    }

    /// The relations of one rule that have values, with their names, in the order of these.
    pub(super) fn relations(
        &self,
        rule: OnDelete,
    ) -> impl Iterator<Item = (&'static str, &dyn ErasedSet)> {
        let of_rule = self.relations.iter().filter(move |(_, on_delete)| *on_delete == rule);
        let sets = of_rule.map(|&(number, _)| &*self.sets[number]);
        sets.filter(|set| set.len() > 0).map(|set| (set.name(), set))
    }

    /// Removes the relations to the entities `target(0..len)`. Passes the sources without another
    /// target to `lost`, those of a target together, with the number of the set.
    /// O(len × relations + sources).
    pub(in crate::store) fn end_targets(
        &mut self,
        len: usize,
        target: &dyn Fn(usize) -> Entity,
        now: Version,
        lost: &mut dyn FnMut(&[Entity], u16),
    ) {
        for &(number, _) in &self.relations {
            let (set, (_, member)) = (&mut self.sets[number], self.numbers.types[number]);
            if set.len() > 0 {
                (0..len).for_each(|i| lost(&set.remove_sources(target(i), now), member));
            }
        }
    }

    /// Removes the relations between entities that leave the world and others that stay in it.
    /// Returns the sources that stay and have no target any more, with the numbers of the sets.
    pub(in crate::store) fn cut_relations(
        &mut self,
        leaving: &[Entity],
        stays: &dyn Fn(Entity) -> bool,
        now: Version,
    ) -> Vec<(u16, Entity)> {
        let (mut cut, mut lost) = (Vec::new(), Vec::new());
        for &(number, _) in &self.relations {
            let (set, (_, member)) = (&mut self.sets[number], self.numbers.types[number]);
            if set.len() > 0 {
                set.cut(leaving, stays, now, &mut lost);
                cut.extend(lost.drain(..).map(|source| (member, source)));
            }
        }
        cut
    }

    /// Gives copies the relations of their originals; the first copy gets none of `R`. Returns the
    /// copies that have one, with the numbers of the sets. O(pairs × relations).
    pub(in crate::store) fn copy_relations<R: SparseComponent>(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: &dyn Fn(Entity) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<(u16, Vec<Entity>)> {
        let mut members = Vec::new();
        for &(number, _) in &self.relations {
            let (set, (id, member)) = (&mut self.sets[number], self.numbers.types[number]);
            let copied = &pairs[usize::from(id == TypeId::of::<R>())..];
            if set.len() > 0 {
                members.push((member, set.copy_relations(copied, new, now, panic)));
            }
        }
        members
    }
}
