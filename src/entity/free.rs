//! Freeing ids, and retiring indices that have no generation left.
//!
//! A freed index gets its next generation, so that ids with the old one stay invalid, and goes on
//! the free stack. After the last generation the index is *retired*: no id has it again.

use super::directory::Directory;
use super::location::Location;
use super::slot::{GENERATION_FIRST, Slot};
use super::{Entity, NoSuchEntity};

impl Directory {
    /// Frees the id of an entity and returns its location. Amortised O(1).
    ///
    /// # Errors
    ///
    /// [`NoSuchEntity`] for an id that is not alive; the directory is unchanged.
    #[inline]
    pub(crate) fn free(&mut self, entity: Entity) -> Result<Location, NoSuchEntity> {
        self.debug_assert_flushed();
        let (index, next) = (entity.index(), entity.generation().wrapping_add(1));
        let location = Location::free(self.free_len());
        let freed = match self.slots.get_mut(index as usize) {
            Some(slot)
                if slot.generation == entity.generation()
                    && next != 0
                    && self.next_generations.is_empty()
                    && slot.is_alive() =>
            {
                let slot = core::mem::replace(slot, Slot { generation: next, location });
                self.free.push(index);
                slot.location
            }
            _ => self.free_slow(entity),
        };
        if freed.is_somewhere() { Ok(freed) } else { Err(NoSuchEntity { entity }) }
    }

    /// [`Directory::free`] for several entities, which must be alive, in their order. O(n).
    pub(crate) fn free_batch(&mut self, entities: &[Entity]) {
        self.debug_assert_flushed();
        self.free.reserve(entities.len());
        for &entity in entities {
            debug_assert!(self.locate(entity).is_ok(), "entity {entity} is not alive");
            let next = entity.generation().wrapping_add(1);
            if next == 0 || !self.next_generations.is_empty() {
                let freed = self.free_slow(entity);
                assert!(freed.is_somewhere(), "the entity of a row is not alive");
            } else {
                self.push_used(entity.index(), next);
            }
        }
    }

    /// Frees an index. `generation` is its next generation.
    #[inline]
    pub(super) fn push_free(&mut self, index: u32, generation: u32) {
        let unused = u32::from(generation == GENERATION_FIRST);
        self.unused_max = self.unused_max.saturating_add(unused);
        self.push_used(index, generation);
    }

    /// [`Directory::push_free`] for an index that was used before.
    #[inline]
    fn push_used(&mut self, index: u32, generation: u32) {
        let location = Location::free(self.free_len());
        *self.slot_mut(index) = Slot { generation, location };
        self.free.push(index);
    }

    /// [`Directory::free`] for ids with the last generation of their index or a lower one than its
    /// highest, for ids in a far slot, and for ids that are not alive. The latter have a location
    /// that is nowhere: a `Result` would pass through memory, also on the common path.
    #[cold]
    fn free_slow(&mut self, entity: Entity) -> Location {
        let Ok(location) = self.locate(entity) else { return Location::RETIRED };
        let next = self.next_generations.remove(&entity.index());
        let next = next.unwrap_or(entity.generation().wrapping_add(1));
        self.free_with_generation(entity.index(), next);
        location
    }

    /// Frees an index with its next generation, or retires it if that is 0.
    pub(super) fn free_with_generation(&mut self, index: u32, next: u32) {
        if next == 0 {
            *self.slot_mut(index) = Slot { generation: 0, location: Location::RETIRED };
            self.retired.push(index);
        } else {
            self.push_free(index, next);
        }
    }

    /// Frees the ids of all entities. Indices are used again from the lowest on. Old ids stay
    /// invalid, so the slots remain. Loans remain too. O(indices).
    pub(crate) fn clear(&mut self) {
        self.debug_assert_flushed();
        self.free.clear();
        self.unused_max = 0;
        let mut ranges: Vec<_> = self.far.ranges().collect();
        ranges.insert(0, 0..self.slots_len());
        let slots: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        self.free.reserve(slots - self.retired.len() - self.loaned as usize);
        for index in ranges.into_iter().rev().flat_map(Iterator::rev) {
            let slot = *self.slot_mut(index);
            if slot.is_alive() {
                let freed = self.free_slow(Entity::new(index, slot.generation));
                debug_assert!(freed.is_somewhere(), "the slot is not alive");
            } else if slot.generation != 0 && !slot.is_on_loan() {
                self.push_free(index, slot.generation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::AllocAtError;
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    fn with_entities(n: usize) -> (Directory, Vec<Entity>) {
        let mut directory = Directory::new(u32::MAX);
        let entities = (0..n).map(|_| directory.alloc(at(0)).unwrap()).collect();
        (directory, entities)
    }

    #[test]
    fn a_second_free_is_reported_and_changes_nothing() {
        let (mut directory, entities) = with_entities(2);
        let entity = entities[0];
        assert!(directory.free(entity).is_ok());
        assert_eq!(directory.free(entity), Err(NoSuchEntity { entity }));
        let (a, b) = (directory.alloc(at(0)), directory.alloc(at(0)));
        assert_ne!(a.unwrap().index(), b.unwrap().index());
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn a_slot_retires_after_its_last_generation() {
        let mut directory = Directory::new(2);
        let last = Entity::new(0, u32::MAX);
        directory.alloc_at(last, at(0)).unwrap();
        assert_eq!(directory.free(last), Ok(at(0)));
        for generation in [0, 1, u32::MAX] {
            assert!(!directory.contains(Entity::new(0, generation)));
        }
        let retired = Err(AllocAtError::Retired { entity: last });
        assert_eq!(directory.alloc_at(last, at(0)), retired);
        assert_eq!(directory.alloc(at(0)), Ok(Entity::new(1, 1)));
        assert!(directory.alloc(at(0)).is_err());
        assert!(directory.reserve().is_err());
        assert_eq!(directory.len(), 1);
        assert_eq!(directory.check(), Ok(()));
        directory.clear();
        assert_eq!(directory.alloc(at(0)), Ok(Entity::new(1, 2)));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn clear_frees_all_and_keeps_old_ids_invalid() {
        let (mut directory, mut entities) = with_entities(6);
        directory.free(entities.swap_remove(2)).unwrap();
        directory.clear();
        assert_eq!(directory.len(), 0);
        assert_eq!(directory.check(), Ok(()));
        assert!(entities.iter().all(|&entity| !directory.contains(entity)));
        let again: Vec<_> = (0..7).map(|_| directory.alloc(at(0)).unwrap()).collect();
        let indices: Vec<_> = again.iter().map(|entity| entity.index()).collect();
        assert_eq!(indices, [0, 1, 2, 3, 4, 5, 6]);
        let all: HashSet<_> = again.iter().chain(&entities).collect();
        assert_eq!(all.len(), again.len() + entities.len());
    }
}
