//! The ids that the entities of a world have in another world.
//!
//! The map is the directory of the world from which they came: a slot keeps its generation, and
//! where the location was stands the new id, which has as many bytes. So the map takes no memory,
//! and a look-up costs what one in the directory does.

use core::fmt;

use super::Entity;
use super::directory::Directory;
use super::far_slots::FarSlots;
use super::location::{ArchetypeId, Location, RowIndex};
use super::slot::Slot;

/// The new id of each entity that was alive in a directory.
pub(crate) struct IdMap {
    slots: Vec<Slot>,
    far: FarSlots,
    len: usize,
}

impl IdMap {
    /// The map of all entities of a directory. Each must be [set](IdMap::set) before it is read.
    pub(crate) fn new(directory: Directory) -> Self {
        directory.debug_assert_flushed();
        let len = directory.len();
        let Directory { slots, far, .. } = directory;
        Self { slots, far, len }
    }

    /// Sets the new id of an entity of the directory.
    #[inline]
    pub(crate) fn set(&mut self, old: Entity, new: Entity) {
        // No index is `u32::MAX`, which marks slots without an entity.
        let location = Location::new(ArchetypeId(new.index()), RowIndex(new.generation()));
        match self.slots.get_mut(old.index() as usize) {
            Some(slot) => slot.location = location,
            None => self.far.used_mut(old.index()).location = location,
        }
    }

    /// The new id of an entity. `None` if it was not alive.
    #[inline]
    pub(crate) fn get(&self, old: Entity) -> Option<Entity> {
        let slot = match self.slots.get(old.index() as usize) {
            None => self.far.get(old.index()),
            slot => slot,
        };
        slot.filter(|slot| slot.generation == old.generation() && slot.is_alive()).map(new_id)
    }

    /// The number of entities.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The old and the new id of each entity, in the order of the old indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        let slots = (0u32..).zip(&self.slots).chain(self.far.iter());
        let alive = slots.filter(|(_, slot)| slot.is_alive());
        alive.map(|(index, slot)| (Entity::new(index, slot.generation), new_id(slot)))
    }
}

const fn new_id(slot: &Slot) -> Entity {
    let Location { archetype: index, position: generation } = slot.location;
    Entity::new(index, generation)
}

impl fmt::Debug for IdMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    #[test]
    fn entities_that_are_alive_have_new_ids_and_no_others() {
        let mut directory = Directory::new(u32::MAX);
        let mut old = Vec::new();
        directory.alloc_batch(5, at, &mut old).unwrap();
        directory.free(old[1]).unwrap();
        directory.free(old[3]).unwrap();
        let reused = directory.alloc(at(9)).unwrap();
        let mut loaned = Vec::new();
        directory.loan(2, &mut loaned).unwrap();
        let slot = Slot { generation: 3, location: at(0) };
        directory.far.insert(90..91, slot);
        directory.fresh_end = 90;
        let far = Entity::new(90, 3);
        let alive = [old[0], old[2], reused, old[4], far];
        let mut map = IdMap::new(directory);
        let new = |i: u32| Entity::new(1000 + i, 7);
        (0..).zip(alive).for_each(|(i, entity)| map.set(entity, new(i)));
        assert_eq!(map.len(), 5);
        for (i, entity) in (0..).zip(alive) {
            assert_eq!(map.get(entity), Some(new(i)));
        }
        for entity in [old[1], old[3], loaned[0], loaned[1], Entity::NULL, Entity::new(91, 1)] {
            assert_eq!(map.get(entity), None, "{entity}");
        }
        assert!(map.iter().eq((0..).zip(alive).map(|(i, entity)| (entity, new(i)))));
    }
}
