//! Finds out whether a pass over the blocks of a sparse set must skip hidden entities.
//!
//! A set has the values of all entities in one order, so hidden values lie between the
//! others. A pass over blocks asks once whether an archetype of hidden entities has a member of the
//! set: a test of the length of a list in a world without such archetypes, and a count of bits in
//! one with some. Only if one has, the pass looks up each entity.

use crate::archetype::Archetypes;
use crate::component::SparseComponent;
use crate::entity::Directory;

use super::super::store::Store;
use super::entity_states::EntityStates;
use super::member_rows::MemberRows;
use super::sparse_set::SparseSet;

impl<'w> EntityStates<'w> {
    /// `None` if no entity with a value in the set can be hidden. While members are unmarked, a
    /// hidden entity without a value counts as well.
    #[cold]
    fn with_hidden<S: SparseComponent>(
        (entities, archetypes): (&'w Directory, &'w Archetypes),
        (set, number): (&SparseSet<S>, u16),
    ) -> Option<Self> {
        let mut hidden = archetypes.hidden().iter().map(|&id| archetypes.get(id));
        let may_have = hidden.any(|one| match set.is_marked() {
            true => one.members_len(number) > 0,
            false => !one.is_empty(),
        });
        may_have.then(|| Self::new(entities.view(), archetypes.as_slice()))
    }
}

/// The rows of the entities with sparse components, to find the hidden ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetRows<'w>(&'w Store);

impl<'w> SetRows<'w> {
    pub(crate) const fn new(store: &'w Store) -> Self {
        Self(store)
    }

    /// The states of the entities with values in a set of the store. `None` if none is hidden.
    #[inline]
    pub(crate) fn hidden<S: SparseComponent>(self, set: &SparseSet<S>) -> Option<EntityStates<'w>> {
        let Store { entities, archetypes, sparse, .. } = self.0;
        if archetypes.hidden().is_empty() {
            return None;
        }
        EntityStates::with_hidden((entities, archetypes), (set, sparse.member_number::<S>()?))
    }
}

impl MemberRows<'_> {
    /// [`SetRows::hidden`] of a set and its number.
    #[inline]
    pub(crate) fn hidden<S: SparseComponent>(
        &self,
        set: (&SparseSet<S>, u16),
    ) -> Option<EntityStates<'_>> {
        if self.archetypes.hidden().is_empty() {
            return None;
        }
        EntityStates::with_hidden((self.entities, self.archetypes), set)
    }
}
