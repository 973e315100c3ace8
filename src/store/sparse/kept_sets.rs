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

    /// Whether an entity has a sparse cleanup component, so that a despawn leaves it as gone.
    /// O(sets of cleanup components).
    pub(in crate::store) fn has_cleanup_value(&self, entity: Entity) -> bool {
        self.cleanup_sets().any(|set| set.contains(entity))
    }

    /// The entities that have lost a sparse cleanup component since the last call of
    /// [`SparseSets::take_lost`].
    pub(in crate::store) fn lost(&self) -> FxHashSet<Entity> {
        let mut lost = FxHashSet::default();
        self.cleanup_sets().for_each(|set| lost.extend(set.lost()));
        lost
    }

    /// Takes the entities that have lost a sparse cleanup component, set by set.
    pub(in crate::store) fn take_lost(&mut self) -> Vec<Entity> {
        let mut lost = Vec::new();
        for &(at, _) in &self.cleanup {
            self.sets[at].move_lost_to(&mut lost);
        }
        lost
    }

    fn cleanup_sets(&self) -> impl Iterator<Item = &dyn ErasedSet> {
        self.cleanup.iter().map(|&(at, _)| &*self.sets[at])
    }
}
