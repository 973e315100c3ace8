//! The reverse index of a relation: the sources of each target, beside the set of the relation.
//!
//! ```text
//!  lists     │ 7v1: 2v1 9v1 4v3 │ 8v2: 5v1 │    one for each target that has sources
//!  places    │ 0 │ 1 │ 0 │ 2 │                  of each source in its list, in set order
//! ```
//!
//! A new source goes to the end of its list. A removal moves the last source into the gap. Both are
//! O(1), however many siblings there are. An [`ordered_set`] first moves the source to the end.
//!
//! A relation to many has a place for each pair, stored with the source's targets. Beside the lists
//! here, [`pair_sources`] stores the index of each pair in its source's targets.
//!
//! [`ordered_set`]: super::ordered_set
//! [`pair_sources`]: super::pair_sources

use crate::entity::Entity;

use super::source_lists::SourceLists;

/// The sources of all targets. Without a relation it is empty, and allocates no memory.
#[derive(Debug, Default)]
pub(in crate::store) struct Sources {
    pub(in crate::store) lists: SourceLists,
    pub(in crate::store) places: Vec<u32>,
    /// Of a relation to many: the entries of the sources of each list.
    pub(super) entries: Vec<Vec<u32>>,
    /// The number of pairs of a relation to many.
    pub(super) pairs_len: usize,
}

impl Clone for Sources {
    fn clone(&self) -> Self {
        let (lists, places) = (self.lists.clone(), self.places.clone());
        Self { lists, places, entries: self.entries.clone(), pairs_len: self.pairs_len }
    }

    fn clone_from(&mut self, source: &Self) {
        self.lists.clone_from(&source.lists);
        self.places.clone_from(&source.places);
        self.entries.clone_from(&source.entries);
        self.pairs_len = source.pairs_len;
    }
}

impl Sources {
    /// Adds the source at the next position of the set.
    pub(super) fn push(&mut self, source: Entity, target: Entity) {
        let (_, place) = self.lists.add(source, target);
        self.places.push(place);
    }

    /// Adds sources of one target at the next positions of the set.
    #[inline]
    pub(super) fn push_run(&mut self, sources: &[Entity], target: Entity) {
        self.places.extend(self.lists.add_run(sources, target));
    }

    /// Takes the source at a position of the set out of the list of its target. Returns the source
    /// that has taken its place in the list, and the place, which it is given.
    #[inline(always)]
    pub(super) fn unlink(&mut self, position: usize, target: Entity) -> Option<(Entity, u32)> {
        let (number, place) = (self.lists.number_of(target), self.places[position]);
        let (moved, is_empty) = self.lists.swap_remove(number, place);
        if is_empty {
            self.lists.remove(number);
        }
        moved.map(|moved| (moved, place))
    }

    /// Moves the source at a position of the set to the end of the list of another target, the
    /// number of which is known if it has one. Returns the same as [`Sources::unlink`].
    #[inline(always)]
    pub(super) fn relink(
        &mut self,
        (position, source): (usize, Entity),
        former: Entity,
        (target, mut number): (Entity, Option<usize>),
    ) -> Option<(Entity, u32)> {
        let Self { lists, places, .. } = self;
        let place = &mut places[position];
        let left = lists.number_of(former);
        let (moved, is_empty) = lists.swap_remove(left, *place);
        let moved = moved.map(|moved| (moved, *place));
        if is_empty {
            lists.remove(left);
            // The other list may be the last one, which has taken that number.
            number = None;
        }
        *place = match number {
            Some(number) => lists.add_at(number, source),
            None => lists.add(source, target).1,
        };
        moved
    }

    /// The reverse index of relations with these sources, targets and places, in the order of the
    /// set. `heads` are the targets in the order of their lists. All entities are alive.
    ///
    /// # Errors
    ///
    /// The defect, if they contradict each other.
    pub(in crate::store) fn of_places(
        entities: &[Entity],
        targets: &[Entity],
        places: Vec<u32>,
        heads: &[Entity],
    ) -> Result<Self, &'static str> {
        let mut lists = SourceLists::of_targets(targets, heads)?;
        for ((&source, &target), &place) in entities.iter().zip(targets).zip(&places) {
            lists.fill(lists.number_of(target), place, source)?;
        }
        Ok(Self { lists, places, ..Self::default() })
    }

    /// Moves all lists of another set to the end of this one. They must have no target in common.
    pub(in crate::store) fn append(&mut self, other: &mut Self) {
        self.lists.append(&mut other.lists);
        self.places.append(&mut other.places);
        self.entries.append(&mut other.entries);
        self.pairs_len += core::mem::take(&mut other.pairs_len);
    }

    pub(in crate::store) fn shrink(&mut self) {
        self.lists.shrink();
        self.places.shrink_to_fit();
        self.entries.iter_mut().for_each(Vec::shrink_to_fit);
        self.entries.shrink_to_fit();
    }

    /// The allocated memory, in use or not.
    pub(in crate::store) fn bytes(&self) -> usize {
        let entries: usize = self.entries.iter().map(Vec::capacity).sum();
        self.lists.bytes()
            + (self.places.capacity() + entries) * size_of::<u32>()
            + self.entries.capacity() * size_of::<Vec<u32>>()
    }

    /// Whether the lists are those of some relations: the source and the target of each, in the
    /// order of the set.
    pub(super) fn are_of(
        &self,
        relations: impl ExactSizeIterator<Item = (Entity, Entity)>,
    ) -> bool {
        let lens = (self.places.len(), self.lists.sources_len());
        // As many places as sources, and each source in its place: none is listed twice.
        self.lists.are_filed()
            && lens == (relations.len(), relations.len())
            && relations.zip(&self.places).all(|((source, target), &place)| {
                self.lists.of(target).get(place as usize) == Some(&source)
            })
    }
}
