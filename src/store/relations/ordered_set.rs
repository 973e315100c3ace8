//! The set of a relation of which the sources of a target keep their order.
//!
//! A source moves to a place among its siblings: those between its places follow by one. A removal
//! is a move to the end, after which it is that of any relation. Each sibling that follows is found
//! by its entity, so a move costs O(siblings between the places). Many sources that leave at once
//! leave gaps, and each list is closed once.
//!
//! The place is in the reverse index alone: a value that asks for one is stored without it.

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::version::Version;

use super::super::sparse::SparseSet;

impl<T: SparseComponent> SparseSet<T> {
    /// Whether sources keep their order.
    pub(in crate::store) const IS_ORDERED: bool = match T::RELATION {
        Some(rules) => rules.place.is_some(),
        None => false,
    };

    /// Whether [`SparseSet::insert_run`] takes these values.
    pub(in crate::store) fn takes_run(values: &[T]) -> bool {
        T::PAIRS.is_none() && !(Self::IS_ORDERED && values.iter().any(Self::asks_for_place))
    }

    pub(super) fn asks_for_place(value: &T) -> bool {
        let place = T::RELATION.and_then(|rules| rules.place);
        place.is_some_and(|place| place(value).is_some())
    }

    /// Takes the place for which a value asks.
    #[inline]
    pub(in crate::store) fn take_place(value: &mut T) -> Option<u32> {
        let rules = T::RELATION?;
        let place = (rules.place?)(value);
        *value = (rules.of)((rules.target)(value));
        place
    }

    /// The place of a source among the sources of its target. O(1).
    pub(crate) fn place(&self, source: Entity) -> Option<usize> {
        let at = self.position(source)?;
        self.sources.places.get(at).map(|&place| place as usize)
    }

    /// Moves the source at a position to a place in the list of its target, or to the end.
    /// O(siblings between the places).
    pub(in crate::store) fn move_to(&mut self, at: usize, place: u32) {
        let number = self.sources.lists.number_of(self.target_at(at));
        let from = self.sources.places[at] as usize;
        let (first, end) = self.sources.lists.shift(number, from, place as usize);
        self.number_places(number, first, end);
    }

    /// Gives some sources of a list their places.
    fn number_places(&mut self, number: usize, first: usize, end: usize) {
        for place in first..end {
            let at = self.position(self.sources.lists.at(number)[place]);
            let known = u32::try_from(place).expect("there are more sources than entities");
            self.sources.places[at.expect("a source has a value")] = known;
        }
    }

    /// [`SparseSet::remove`] of entities, as far as they have values. O(entities); if sources keep
    /// their order, O(entities · log(entities) + siblings after the first of each list).
    pub(in crate::store) fn remove_all(&mut self, entities: &[Entity], now: Version) {
        if !Self::IS_ORDERED || entities.len() < 2 {
            entities.iter().for_each(|&entity| drop(self.remove(entity, now)));
            return;
        }
        let mut targets = Vec::new();
        for &entity in entities {
            let Some(at) = self.position(entity) else { continue };
            let target = self.target_at(at);
            self.renew_version();
            self.note_loss(at);
            let place = self.sources.places.swap_remove(at);
            self.sources.lists.leave(self.sources.lists.number_of(target), place);
            self.remove_at(at, now);
            targets.push((target, place as usize));
        }
        self.close_lists(targets);
    }

    /// Takes the sources at some positions out of their lists. Their values stay, and wait for
    /// [`SparseSet::join`]. O(sources · log(sources) + siblings after the first of each list).
    pub(super) fn leave_lists(&mut self, positions: &[usize]) {
        let mut targets = Vec::with_capacity(positions.len());
        for &at in positions {
            let (target, place) = (self.target_at(at), self.sources.places[at]);
            self.sources.lists.leave(self.sources.lists.number_of(target), place);
            targets.push((target, place as usize));
        }
        self.close_lists(targets);
    }

    /// Gives the source at a position, which is in no list, a target. It is the last source there.
    pub(super) fn join(&mut self, at: usize, target: Entity, now: Version) {
        let rules = T::RELATION.expect("it is the set of a relation");
        self.renew_version();
        self.blocks.touch::<T>(at, now);
        self.values[at] = (rules.of)(target);
        self.sources.places[at] = self.sources.lists.add(self.entities[at], target).1;
    }

    /// Closes the gaps that sources have left, given by their targets and places.
    fn close_lists(&mut self, mut targets: Vec<(Entity, usize)>) {
        // The first gap of each list comes first. Gaps move no source.
        targets.sort_unstable();
        targets.dedup_by_key(|&mut (target, _)| target);
        for (target, first) in targets {
            let number = self.sources.lists.number_of(target);
            match self.sources.lists.close(number, first) {
                0 => drop(self.sources.lists.remove(number)),
                len => self.number_places(number, first, len),
            }
        }
    }
}
