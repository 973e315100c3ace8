//! The ids that the entities of a world have in another world.
//!
//! If all entities came, the map is the directory of their former world: a slot keeps its
//! generation, and has the new id in place of the location, which takes the same number of bytes.
//! So the map takes no memory, and a look-up costs the same as one in the directory. If some came,
//! the other world keeps its directory, and the map is a copy without the other entities, or a hash
//! table if the entities are few.

use core::fmt;

use rustc_hash::FxHashMap;

use super::Entity;
use super::directory::Directory;
use super::far_slots::FarSlots;
use super::location::{ArchetypeId, Location, RowIndex};
use super::slot::{BLOCK, Slot, neighbours_mut};

/// A map of less than one eighth of the indices is a hash table.
const SPARSE: usize = 8;

/// The new ids of entities of another directory.
pub(crate) enum IdMap {
    /// The ids of all entities that were alive in it, or of many.
    All(Renamed),
    /// The ids of a few entities.
    Some(FxHashMap<Entity, Entity>),
}

/// A directory with new ids instead of locations.
pub(crate) struct Renamed {
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
        Self::All(Renamed { slots, far, len })
    }

    /// A map without entities, to which `len` entities of a directory will be added.
    pub(crate) fn of_some(len: usize, directory: &Directory) -> Self {
        let slots = directory.slots_len() as usize;
        let is_dense = slots / SPARSE < len && directory.far.first().is_none();
        if !is_dense {
            return Self::Some(FxHashMap::with_capacity_and_hasher(len, <_>::default()));
        }
        let slots = vec![Slot { generation: 0, location: Location::RETIRED }; slots];
        Self::All(Renamed { slots, far: FarSlots::default(), len })
    }

    /// Sets the new ids of entities of the directory, one for each.
    pub(crate) fn set(&mut self, olds: &[Entity], news: &[Entity]) {
        match self {
            Self::All(all) => {
                let blocks = olds.chunks(BLOCK).zip(news.chunks(BLOCK));
                blocks.for_each(|(olds, news)| all.set_block(olds, news));
            }
            Self::Some(some) => some.extend(olds.iter().copied().zip(news.iter().copied())),
        }
    }

    /// The new id of an entity. `None` if it has none.
    #[inline]
    pub(crate) fn get(&self, old: Entity) -> Option<Entity> {
        match self {
            Self::All(all) => all.get(old),
            Self::Some(some) => some.get(&old).copied(),
        }
    }

    /// The number of entities.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(all) => all.len,
            Self::Some(some) => some.len(),
        }
    }

    /// The old and the new id of each entity, in the order of the old indices. O(indices), or
    /// O(entities × log(entities)) for some.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        let (all, mut some) = match self {
            Self::All(all) => (Some(all.iter()), Vec::new()),
            Self::Some(some) => (None, some.iter().map(|(&old, &new)| (old, new)).collect()),
        };
        some.sort_unstable_by_key(|(old, _)| old.index());
        all.into_iter().flatten().chain(some)
    }
}

impl Renamed {
    #[inline]
    fn set(&mut self, old: Entity, new: Entity) {
        match self.slots.get_mut(old.index() as usize) {
            Some(slot) => *slot = renamed(old, new),
            None => *self.far.used_mut(old.index()) = renamed(old, new),
        }
    }

    #[inline]
    fn set_block(&mut self, olds: &[Entity], news: &[Entity]) {
        let pairs = olds.iter().zip(news);
        if let Some(slots) = neighbours_mut(&mut self.slots, olds) {
            slots.iter_mut().zip(pairs).for_each(|(slot, (old, &new))| *slot = renamed(*old, new));
        } else {
            pairs.for_each(|(&old, &new)| self.set(old, new));
        }
    }

    #[inline]
    fn get(&self, old: Entity) -> Option<Entity> {
        let slot = match self.slots.get(old.index() as usize) {
            None => self.far.get(old.index()),
            slot => slot,
        };
        slot.filter(|slot| slot.generation == old.generation() && slot.is_alive()).map(new_id)
    }

    fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        let slots = (0u32..).zip(&self.slots).chain(self.far.iter());
        let alive = slots.filter(|(_, slot)| slot.is_alive());
        alive.map(|(index, slot)| (Entity::new(index, slot.generation), new_id(slot)))
    }
}

const fn renamed(old: Entity, new: Entity) -> Slot {
    // No index is `u32::MAX`, which marks slots without an entity.
    let location = Location::new(ArchetypeId(new.index()), RowIndex(new.generation()));
    Slot { generation: old.generation(), location }
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
        (0..).zip(alive).for_each(|(i, entity)| map.set(&[entity], &[new(i)]));
        assert_eq!(map.len(), 5);
        for (i, entity) in (0..).zip(alive) {
            assert_eq!(map.get(entity), Some(new(i)));
        }
        for entity in [old[1], old[3], loaned[0], loaned[1], Entity::NULL, Entity::new(91, 1)] {
            assert_eq!(map.get(entity), None, "{entity}");
        }
        assert!(map.iter().eq((0..).zip(alive).map(|(i, entity)| (entity, new(i)))));
    }

    #[test]
    fn some_entities_have_new_ids_and_are_in_the_order_of_old_ones() {
        let mut directory = Directory::new(u32::MAX);
        directory.alloc_batch(90, at, &mut Vec::new()).unwrap();
        let many = IdMap::of_some(12, &directory);
        let few = IdMap::of_some(3, &directory);
        let slot = Slot { generation: 3, location: at(0) };
        directory.far.insert(100..101, slot);
        let far = IdMap::of_some(12, &directory);
        assert!(matches!((&many, &few, &far), (IdMap::All(_), IdMap::Some(_), IdMap::Some(_))));
        for mut map in [many, few, far] {
            let pairs = [(2, 9), (7, 4), (88, 5)];
            let pairs = pairs.map(|(old, new)| (Entity::new(old, 3), Entity::new(new, 1)));
            pairs.iter().rev().for_each(|&(old, new)| map.set(&[old], &[new]));
            assert_eq!(map.get(pairs[1].0), Some(pairs[1].1));
            assert_eq!((map.get(Entity::new(7, 2)), map.get(Entity::NULL)), (None, None));
            assert_eq!(map.get(Entity::new(3, 1)), None);
            assert!(map.iter().eq(pairs));
        }
    }
}
