//! The targets of one source of a relation to many.

use crate::entity::Entity;

/// The targets of a source, each once, with its place among the sources of each. The store keeps
/// the places; of a list that is in no set they have no meaning.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) targets: Vec<Entity>,
    pub(crate) places: Vec<u32>,
}

impl Clone for Links {
    fn clone(&self) -> Self {
        Self { targets: self.targets.clone(), places: self.places.clone() }
    }

    /// Uses the memory that it has.
    fn clone_from(&mut self, source: &Self) {
        self.targets.clone_from(&source.targets);
        self.places.clone_from(&source.places);
    }
}

impl Links {
    pub(crate) const fn len(&self) -> usize {
        self.targets.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The entry of a target. O(targets).
    pub(crate) fn find(&self, target: Entity) -> Option<usize> {
        self.targets.iter().position(|&one| one == target)
    }

    pub(crate) fn push(&mut self, target: Entity, place: u32) {
        self.targets.push(target);
        self.places.push(place);
    }

    /// Removes an entry: the last one takes its place.
    pub(crate) fn swap_remove(&mut self, entry: usize) -> (Entity, u32) {
        (self.targets.swap_remove(entry), self.places.swap_remove(entry))
    }

    pub(crate) fn shrink(&mut self) {
        self.targets.shrink_to_fit();
        self.places.shrink_to_fit();
    }

    /// The allocated memory.
    pub(crate) const fn bytes(&self) -> usize {
        self.targets.capacity() * size_of::<Entity>() + self.places.capacity() * size_of::<u32>()
    }
}
