//! Moves of the values of a set: to other entities, to another set, and from another set.

use crate::component::{SparseBundle as _, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::sparse_set::SparseSet;

impl<T: SparseComponent> SparseSet<T> {
    /// Renames all entities. All values are new.
    pub(super) fn rename(&mut self, new: &dyn Fn(Entity) -> Entity, now: Version) {
        self.renew_version();
        self.touch_from(0, now);
        self.entities.iter_mut().for_each(|entity| *entity = new(*entity));
        if let Some(rules) = T::RELATION {
            self.values
                .iter_mut()
                .for_each(|value| *value = (rules.of)(new((rules.target)(value))));
        }
        self.rename_pairs(new);
        self.sources.lists.rename(new);
        self.blocks.positions.clear();
        self.index_from(0);
    }

    /// Replaces the ids of entities inside the values by the results of `map`. The values must be
    /// new already.
    pub(super) fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        if let Some(map_value) = T::MAP_ENTITIES {
            self.values.iter_mut().for_each(|value| map_value(value, map));
        }
    }

    /// Moves all values of another set to this one. The sets must have no entity in common.
    pub(super) fn append(&mut self, other: &mut Self, now: Version) {
        let first = u32::try_from(self.len()).expect("there are more values than entities");
        self.renew_version();
        self.copy_values = self.copy_values.or(other.copy_values);
        if let Some(notes) = &mut self.notes {
            other.iter().for_each(|(entity, value)| notes.gain(entity, value));
        }
        self.entities.append(&mut other.entities);
        self.values.append(&mut other.values);
        self.sources.append(&mut other.sources);
        other.blocks.positions.clear();
        self.index_from(first);
        self.touch_from(first as usize, now);
    }

    /// Sets the positions of the entities from a position on, which have none.
    ///
    /// # Panics
    ///
    /// If one has.
    pub(in crate::store) fn index_from(&mut self, first: u32) {
        for (entity, position) in self.entities[first as usize..].iter().zip(first..) {
            let former = self.blocks.positions.add(entity.index(), position);
            assert!(former.is_none(), "an entity has a value in both sets");
        }
    }

    /// Moves the values of some entities to a new set, in the order of the entities. A relation
    /// must have both ends among them, or none. O(entities).
    pub(super) fn split(&mut self, entities: &[Entity], now: Version) -> Self {
        let mut part = Self::default();
        part.copy_values = self.copy_values;
        if T::HAS_RELATIONS {
            self.split_relations(entities, &mut part, now);
            return part;
        }
        for &entity in entities {
            if let Some(value) = self.remove(entity, now) {
                part.insert(entity, value, now);
            }
        }
        part
    }
}
