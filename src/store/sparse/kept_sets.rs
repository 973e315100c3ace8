//! The sets of sparse cleanup components: their values outlive the despawn of their entities.

use rustc_hash::FxHashSet;

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
    pub(in crate::store) fn keep(&self, entity: Entity) -> bool {
        self.cleanup_sets().any(|set| set.contains(entity))
    }

    /// The entities that have lost such a value.
    pub(in crate::store) fn left(&self) -> FxHashSet<Entity> {
        let mut left = FxHashSet::default();
        self.cleanup_sets().for_each(|set| left.extend(set.left()));
        left
    }

    /// Takes the entities that have lost such a value, set by set.
    pub(in crate::store) fn take_left(&mut self) -> Vec<Entity> {
        let mut left = Vec::new();
        for &(at, _) in &self.cleanup {
            self.sets[at].move_left_to(&mut left);
        }
        left
    }

    fn cleanup_sets(&self) -> impl Iterator<Item = &dyn ErasedSet> {
        self.cleanup.iter().map(|&(at, _)| &*self.sets[at])
    }
}
