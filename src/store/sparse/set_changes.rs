//! Values that come to a set and go: one by one, or many that come together.

use std::vec;

use crate::component::{DenseValues, SparseBundle as _, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::sparse_set::SparseSet;

impl<T: SparseComponent> SparseSet<T> {
    /// Adds the value of an entity, which must be alive. Returns the value that it replaces; of a
    /// relation to many the list that adds its pairs to another one, or has none.
    ///
    /// The usual insertion is of a new value, for which there is room and which no log reads. It
    /// calls no function: a call on any of its ways costs registers on all of them.
    #[inline(always)]
    pub(crate) fn insert(&mut self, entity: Entity, value: T, now: Version) -> Option<T> {
        let at = self.entities.len();
        let is_full = at == self.entities.capacity() || self.values.len() == self.values.capacity();
        if T::HAS_RELATIONS || is_full || self.notes.is_some() {
            return self.insert_any(entity, value, now);
        }
        // A position is less than `u32::MAX`.
        let (Ok(len), Some((place, version))) =
            (u32::try_from(at + 1), self.blocks.vacant::<T>(entity.index(), at))
        else {
            return self.insert_any(entity, value, now);
        };
        // Directly after the test, so that the compiler knows that there is room.
        self.values.push(value);
        place.fill(len - 1);
        *version = now.to_bits();
        self.version.change();
        self.entities.push(entity);
        None
    }

    /// [`SparseSet::insert`] in all cases.
    #[inline(never)]
    fn insert_any(&mut self, entity: Entity, mut value: T, now: Version) -> Option<T> {
        if T::PAIRS.is_some_and(|rules| (rules.links)(&value).is_empty()) {
            return Some(value);
        }
        let place = Self::take_place(&mut value);
        if let Some(rules) = T::RELATION
            && let Some(at) = self.position(entity)
        {
            let target = (rules.target)(&value);
            let of = (target, self.sources.lists.number(target));
            return Some((rules.of)(self.retarget((at, entity), of, place, now)));
        }
        let position = u32::try_from(self.len()).expect("there are more values than entities");
        // If an allocation is refused, the set is unchanged.
        self.entities.reserve(1);
        self.values.reserve(1);
        let known = self.blocks.positions.add(entity.index(), position);
        self.renew_version();
        if let Some(at) = known {
            let at = at as usize;
            self.blocks.touch::<T>(at, now);
            debug_assert!(self.entities[at] == entity, "an entity that has ended has a value");
            return Some(self.overwrite(at, value));
        }
        self.blocks.add::<T>(position as usize, now);
        self.link_next(entity, &mut value);
        if let Some(notes) = &mut self.notes {
            notes.gain(entity, &value);
        }
        self.entities.push(entity);
        self.values.push(value);
        place.into_iter().for_each(|place| self.move_to(position as usize, place));
        None
    }

    /// Adds the values of entities, which must be alive. No value may have pairs, or ask for a
    /// place: [`SparseSet::takes_run`].
    ///
    /// # Panics
    ///
    /// If an entity has a value.
    pub(in crate::store) fn insert_new(
        &mut self,
        entities: &[Entity],
        mut values: DenseValues<T>,
        now: Version,
    ) {
        assert!(entities.len() == values.len(), "not a value for each entity");
        let added = self.add_run(entities, &values, now);
        assert!(added == entities.len(), "a new entity has a value");
        self.values.append(&mut values);
    }

    /// [`SparseSet::insert_new`] up to an entity that has a value. Returns the number of values
    /// that it takes from `values`.
    pub(in crate::store) fn insert_run(
        &mut self,
        entities: &[Entity],
        values: &mut vec::IntoIter<T>,
        now: Version,
    ) -> usize {
        let added = self.add_run(entities, values.as_slice(), now);
        self.values.reserve(added);
        values.by_ref().take(added).for_each(|value| self.values.push(value));
        added
    }

    /// Files entities for the next positions, up to one that has a value. Returns their number. The
    /// caller moves this number of values to the end.
    fn add_run(&mut self, entities: &[Entity], values: &[T], now: Version) -> usize {
        let first = self.len();
        let position = u32::try_from(first).expect("there are more values than entities");
        let added = self.blocks.positions.add_run(entities, position);
        if added == 0 {
            return 0;
        }
        let (entities, values) = (&entities[..added], &values[..added]);
        self.renew_version();
        self.blocks.touch_run(first, added, now);
        self.link_run(entities, values);
        if let Some(notes) = &mut self.notes {
            entities.iter().zip(values).for_each(|(&entity, value)| notes.gain(entity, value));
        }
        self.entities.extend_from_slice(entities);
        added
    }

    /// Removes the value of an entity. The last one takes its place. The usual removal calls no
    /// function either.
    #[inline(always)]
    pub(crate) fn remove(&mut self, entity: Entity, now: Version) -> Option<T> {
        if T::HAS_RELATIONS || T::CLEANUP {
            return self.remove_any(entity, now);
        }
        // One look-up, for the comparison of ids as well.
        let Self { blocks, entities, notes, .. } = self;
        let place = blocks.positions.place_mut(entity.index())?;
        let position = place.number();
        // No set has as many values as the number of an index without a position.
        if entities.get(position as usize) != Some(&entity) {
            return None;
        }
        if place.is_last() || notes.is_some() {
            return self.remove_any(entity, now);
        }
        place.empty();
        self.version.change();
        Some(self.fill(position, now))
    }

    /// [`SparseSet::remove`] in all cases.
    #[inline(never)]
    fn remove_any(&mut self, entity: Entity, now: Version) -> Option<T> {
        let at = self.position(entity)?;
        self.renew_version();
        self.note_loss(at);
        if T::HAS_RELATIONS {
            self.unlink_removed(at);
        } else if T::CLEANUP {
            self.lost.push(entity);
        }
        Some(self.remove_at(at, now))
    }

    /// Removes the value at a position, without the reverse index.
    #[inline]
    pub(in crate::store) fn remove_at(&mut self, at: usize, now: Version) -> T {
        let index = self.entities[at].index();
        let position = self.blocks.positions.take(index).expect("it has a value");
        self.fill(position, now)
    }

    /// Takes the value at a position that no entity has any more. The last one takes its place.
    #[inline(always)]
    pub(in crate::store) fn fill(&mut self, position: u32, now: Version) -> T {
        let at = position as usize;
        self.entities.swap_remove(at);
        if let Some(moved) = self.entities.get(at) {
            self.blocks.positions.replace(moved.index(), position);
            self.blocks.touch::<T>(at, now);
        }
        self.blocks.touch::<T>(self.entities.len(), now);
        self.values.swap_remove(at)
    }
}
