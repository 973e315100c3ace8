//! The sets of sparse cleanup components: their values outlive the despawn of their entities.

use crate::entity::Entity;

use super::erased_set::ErasedSet;
use super::sparse_sets::SparseSets;

impl SparseSets {
    /// Whether one of them is of a cleanup component.
    #[inline]
    pub(crate) const fn has_cleanup(&self) -> bool {
        !self.cleanup.is_empty()
    }

    /// Whether a set is of a cleanup component, by its number.
    pub(super) fn is_cleanup(&self, number: u16) -> bool {
        self.cleanup.iter().any(|&(_, one)| one == number)
    }

    /// Whether a despawn of an entity leaves values. O(sets of cleanup components).
    pub(super) fn keep(&self, entity: Entity) -> bool {
        self.cleanup_sets().any(|set| set.contains(entity))
    }

    /// Whether an entity has values that a despawn leaves, or a note that it has lost one.
    pub(super) fn keep_or_note(&self, entity: Entity) -> bool {
        self.cleanup_sets().any(|set| set.contains(entity) || set.has_left(entity))
    }

    /// Takes the entities that have lost such a value.
    pub(super) fn take_left(&mut self) -> Vec<Entity> {
        let mut left = Vec::new();
        for &(at, _) in &self.cleanup {
            left.append(&mut self.sets[at].take_left());
        }
        left
    }

    fn cleanup_sets(&self) -> impl Iterator<Item = &dyn ErasedSet> {
        self.cleanup.iter().map(|&(at, _)| &*self.sets[at])
    }
}
