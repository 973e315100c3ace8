//! The set of a relation: its values are changed together with the reverse index.

use core::iter;

use crate::component::{DenseValues, SparseComponent};
use crate::entity::Entity;
use crate::prefetch::prefetch;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::sparse::SparseSet;
use super::sources::Sources;

impl<T: SparseComponent> SparseSet<T> {
    /// Files the relation of a source that gets a value, at the next position.
    #[inline]
    pub(in crate::store) fn link_next(&mut self, source: Entity, value: &mut T) {
        if let Some(rules) = T::RELATION {
            self.sources.push(source, (rules.target)(value));
        }
        self.link_pairs(source, value);
    }

    /// Files the relations of sources that get these values, at the next positions. Neighbours with
    /// one target are filed together. Relations to many are not filed.
    pub(in crate::store) fn link_run(&mut self, sources: &[Entity], values: &[T]) {
        let Some(rules) = T::RELATION else { return };
        self.sources.places.reserve(sources.len());
        let mut rest = sources;
        for run in Self::runs_of_one_target(values) {
            let target = (rules.target)(&run[0]);
            let (run, others) = rest.split_at(run.len());
            match run {
                &[source] => self.sources.push(source, target),
                _ => self.sources.push_run(run, target),
            }
            rest = others;
        }
    }

    /// Values in runs of neighbours that are relations to one target. Each run is one value if the
    /// component is a relation to many, or no relation.
    #[inline]
    pub(in crate::store) fn runs_of_one_target(values: &[T]) -> impl Iterator<Item = &[T]> {
        let mut rest = values;
        iter::from_fn(move || {
            let (first, others) = rest.split_first()?;
            let len = T::RELATION.map_or(0, |rules| {
                let target = (rules.target)(first);
                let end = others.iter().position(|one| (rules.target)(one) != target);
                end.unwrap_or(others.len())
            });
            let (run, others) = rest.split_at(1 + len);
            rest = others;
            Some(run)
        })
    }

    /// Whether two values are relations to one target. False for a relation to many.
    #[inline(always)]
    pub(super) fn have_one_target(a: &T, b: &T) -> bool {
        T::RELATION.is_some_and(|rules| (rules.target)(a) == (rules.target)(b))
    }

    /// Overwrites the value at a position, and returns the former one; of a relation to many, adds
    /// the pairs of a list, and returns it. Of a relation see [`SparseSet::retarget`].
    #[inline]
    pub(in crate::store) fn overwrite(&mut self, at: usize, value: T) -> T {
        if T::PAIRS.is_some() {
            self.add_pairs(at, &value);
            return value;
        }
        core::mem::replace(&mut self.values[at], value)
    }

    /// Gives the source at a position a target, and a place among its sources if one is asked for.
    /// The number of the target's list is known, if it has sources. Returns the former target.
    ///
    /// Inlined, because the caller has the number and the position in registers: 24 instructions
    /// fewer.
    #[inline(always)]
    pub(in crate::store) fn retarget(
        &mut self,
        (at, source): (usize, Entity),
        (target, number): (Entity, Option<usize>),
        place: Option<u32>,
        now: Version,
    ) -> Entity {
        let rules = T::RELATION.expect("it is the set of a relation");
        if Self::IS_ORDERED && self.target_at(at) != target {
            self.move_to(at, u32::MAX);
        }
        let former = core::mem::replace(&mut self.values[at], (rules.of)(target));
        let former = (rules.target)(&former);
        self.renew_version();
        self.blocks.touch::<T>(at, now);
        if former != target {
            let moved = self.sources.relink((at, source), former, (target, number));
            self.set_place(moved);
        }
        if let Some(place) = place {
            self.move_to(at, place);
        }
        former
    }

    /// Removes the source at a position from the reverse index. Its value must be removed next.
    pub(in crate::store) fn unlink_removed(&mut self, at: usize) {
        if T::PAIRS.is_some() {
            self.unlink_pairs(at);
        } else {
            self.unlink(at, self.target_at(at));
            self.sources.places.swap_remove(at);
        }
    }

    #[inline]
    fn unlink(&mut self, at: usize, target: Entity) {
        if Self::IS_ORDERED {
            self.move_to(at, u32::MAX);
        }
        let moved = self.sources.unlink(at, target);
        self.set_place(moved);
    }

    /// Records the place of a source that has moved in its list.
    #[inline(always)]
    fn set_place(&mut self, moved: Option<(Entity, u32)>) {
        if let Some((moved, place)) = moved {
            // The id is in a list, so the index is its own.
            let position = self.blocks.positions.get(moved.index()).expect("a source has a value");
            self.sources.places[position as usize] = place;
        }
    }

    #[inline]
    pub(super) fn target_at(&self, at: usize) -> Entity {
        T::RELATION.map_or(Entity::NULL, |rules| (rules.target)(&self.values[at]))
    }

    /// The target of a source, if this is the set of a relation.
    #[inline]
    pub(crate) fn target(&self, source: Entity) -> Option<Entity> {
        let at = self.position(source)?;
        T::RELATION.map(|rules| (rules.target)(&self.values[at]))
    }

    /// The sources of a target; none if this is not the set of a relation.
    #[inline]
    pub(crate) fn sources(&self, target: Entity) -> &[Entity] {
        self.sources.lists.of(target)
    }

    /// Whether an entity is another one, or above it. O(depth of the other one), or O(1) if the
    /// entity has no sources.
    #[inline]
    pub(super) fn is_above(&self, entity: Entity, other: Entity) -> bool {
        if entity == other {
            return true;
        }
        if self.sources(entity).is_empty() {
            return false;
        }
        let mut above = other;
        while let Some(next) = self.target(above) {
            if next == entity {
                return true;
            }
            above = next;
        }
        false
    }

    /// Appends the targets of a source to `list`: none if this is not the set of a relation.
    pub(in crate::store) fn extend_targets(&self, source: Entity, list: &mut Vec<Entity>) {
        match (T::PAIRS.is_some(), self.position(source)) {
            (true, Some(at)) => {
                list.extend(self.links_at(at).iter().flat_map(|links| &links.targets));
            }
            _ => list.extend(self.target(source)),
        }
    }

    /// The entities with sources, in the order of the lists.
    pub(crate) fn targets(&self) -> impl Iterator<Item = Entity> {
        self.sources.lists.targets()
    }

    /// Removes all relations to a target, and returns the sources that have no other target.
    /// O(sources).
    pub(in crate::store) fn remove_sources(&mut self, target: Entity, now: Version) -> Vec<Entity> {
        if T::PAIRS.is_some() {
            return self.remove_pairs(target, now);
        }
        let Some(list) = self.sources.lists.take(target) else { return Vec::new() };
        self.renew_version();
        let Self { blocks, entities, values, sources: Sources { places, .. }, .. } = self;
        let take = |source: &Entity| {
            // The id is in a list, so the index is its own.
            let gap = blocks.positions.take(source.index()).expect("a source has a value");
            // `close_gaps` writes these lines. Asked for here, they come at the same time: 25 ns a
            // source instead of 27.
            prefetch(entities.as_ptr().wrapping_add(gap as usize));
            prefetch(places.as_ptr().wrapping_add(gap as usize));
            prefetch(values.as_ptr().wrapping_add(gap as usize));
            gap
        };
        let gaps: Vec<_> = list.sources().iter().map(take).collect();
        if let Some(notes) = &mut self.notes {
            let lost = gaps.iter().map(|&gap| gap as usize);
            lost.for_each(|at| notes.lose(self.entities[at], &self.values[at]));
        }
        self.close_gaps(&gaps, now);
        list.into_sources()
    }

    /// Closes the gaps at positions that no entity has any more: of the values that stay, the last
    /// ones take these places. O(gaps).
    fn close_gaps(&mut self, gaps: &[u32], now: Version) {
        let Self { blocks, entities, values, sources: Sources { places, .. }, .. } = self;
        let len = values.len() - gaps.len();
        let (entities_kept, entities_moved) = entities.split_at_mut(len);
        let (places_kept, places_moved) = places.split_at_mut(len);
        let (values_kept, values_moved) = values.split_at_mut(len);
        let mut moved = entities_moved.iter().zip(places_moved).zip(values_moved).rev();
        for &gap in gaps {
            let at = gap as usize;
            if at < len {
                let stays = |&((entity, _), _): &((&Entity, _), _)| {
                    blocks.positions.replace_known(entity.index(), gap)
                };
                let ((entity, place), value) = moved.find(stays).expect("a value for each gap");
                (entities_kept[at], places_kept[at]) = (*entity, *place);
                core::mem::swap(&mut values_kept[at], value);
                blocks.touch::<T>(at, now);
            }
        }
        blocks.touch_from(len, gaps.len(), now);
        entities.truncate(len);
        places.truncate(len);
        values.truncate(len);
    }

    /// Gives copies the relations of their originals, in the order of the pairs. Returns the copies
    /// that have one.
    pub(in crate::store) fn copy_relations(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: &dyn Fn(Entity) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<Entity> {
        if T::PAIRS.is_some() {
            let copied = pairs.iter().filter(|&&pair| self.copy_pairs(pair, new, now, panic));
            return copied.map(|&(_, copy)| copy).collect();
        }
        let Some(rules) = T::RELATION else { return Vec::new() };
        let (mut copied, mut relations) = (Vec::new(), DenseValues::default());
        let mut copy = |set: &Self, (original, copy): (Entity, Entity)| {
            if let Some(target) = set.target(original) {
                relations.push((rules.of)(new(target)));
                copied.push(copy);
            }
        };
        if Self::IS_ORDERED {
            let mut pairs = pairs.to_vec();
            pairs.sort_by_key(|&(original, _)| self.place(original));
            pairs.into_iter().for_each(|pair| copy(self, pair));
        } else {
            pairs.iter().for_each(|&pair| copy(self, pair));
        }
        self.insert_new(&copied, relations, now);
        copied
    }

    /// Removes the relations between entities that leave and others that stay. Adds the sources
    /// that stay and have lost their last target to `lost`. O(relations of the entities), and as
    /// [`SparseSet::remove_all`].
    pub(in crate::store) fn cut(
        &mut self,
        leaving: &[Entity],
        stays: &dyn Fn(Entity) -> bool,
        now: Version,
        lost: &mut Vec<Entity>,
    ) {
        if T::PAIRS.is_some() {
            return leaving.iter().for_each(|&entity| self.cut_pairs(entity, stays, now, lost));
        }
        let mut removed = Vec::new();
        for &entity in leaving {
            removed.extend(Some(entity).filter(|_| self.target(entity).is_some_and(stays)));
            let staying = self.sources(entity).iter().copied().filter(|&source| stays(source));
            let known = removed.len();
            removed.extend(staying);
            lost.extend_from_slice(&removed[known..]);
        }
        self.remove_all(&removed, now);
    }

    /// [`SparseSet::split`] of a relation: whole lists move, so that their order stays.
    pub(in crate::store) fn split_relations(
        &mut self,
        entities: &[Entity],
        part: &mut Self,
        now: Version,
    ) {
        if !entities.iter().any(|&entity| self.contains(entity)) {
            return;
        }
        self.renew_version();
        for &entity in entities {
            if T::PAIRS.is_some() {
                let list = self.sources.take_pairs(entity);
                list.into_iter().for_each(|list| part.sources.put_pairs(list));
            } else {
                let list = self.sources.lists.take(entity);
                list.into_iter().for_each(|list| part.sources.lists.put(list));
            }
        }
        for &entity in entities {
            let Some(at) = self.position(entity) else { continue };
            self.note_loss(at);
            if T::PAIRS.is_none() {
                part.sources.places.push(self.sources.places.swap_remove(at));
            }
            part.entities.push(entity);
            part.values.push(self.remove_at(at, now));
        }
        part.index_from(0);
        part.touch_from(0, now);
    }

    /// The source and the target of each relation, in the order of the set.
    pub(crate) fn relations(&self) -> impl ExactSizeIterator<Item = (Entity, Entity)> {
        let len = if T::RELATION.is_some() { self.len() } else { 0 };
        let target = |value| T::RELATION.map_or(Entity::NULL, |rules| (rules.target)(value));
        self.iter().take(len).map(move |(source, value)| (source, target(value)))
    }
}
