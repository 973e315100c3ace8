//! The states of entities, found by their rows while no row moves: alive, gone or hidden.

use crate::archetype::Archetype;
use crate::component::SparseComponent;
use crate::entity::{DirectoryView, Entity, Location, NoSuchEntity};
use crate::version::Version;

use super::super::store::Store;
use super::sparse_set::SparseSet;

/// Tells which entities are alive and which are hidden.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityStates<'w> {
    entities: DirectoryView<'w>,
    archetypes: &'w [Archetype],
}

impl<'w> EntityStates<'w> {
    pub(super) const fn new(entities: DirectoryView<'w>, archetypes: &'w [Archetype]) -> Self {
        Self { entities, archetypes }
    }

    #[inline]
    fn archetype(&self, place: Location) -> &'w Archetype {
        &self.archetypes[place.archetype().index()]
    }

    /// Whether an entity is alive or reserved, and not gone.
    #[inline]
    pub(crate) fn is_alive(&self, entity: Entity) -> bool {
        let place = self.entities.resolve(entity);
        place.is_ok_and(|place| !place.is_some_and(|place| self.archetype(place).is_gone()))
    }

    /// Whether an entity is hidden from queries that name no hidden component. An id without a row
    /// is not.
    #[inline]
    pub(crate) fn is_hidden(&self, entity: Entity) -> bool {
        let place = self.entities.resolve(entity).ok().flatten();
        place.is_some_and(|place| self.archetype(place).is_hidden())
    }

    /// Gives an entity a value, and returns the one that it replaces. Its row cannot be marked.
    ///
    /// # Errors
    ///
    /// If the entity is not alive.
    // A call: a way of its own for each kind of view needs few registers.
    #[inline(never)]
    pub(crate) fn insert<S: SparseComponent>(
        &self,
        set: &mut SparseSet<S>,
        (entity, value): (Entity, S),
        now: Version,
    ) -> Result<Option<S>, NoSuchEntity> {
        match self.is_alive(entity) {
            true => Ok(set.insert_unmarked(entity, value, now)),
            false => Err(NoSuchEntity { entity }),
        }
    }

    /// Takes the value from an entity, which is no member any more.
    #[inline(never)]
    pub(crate) fn remove<S: SparseComponent>(
        &self,
        (set, number): (&mut SparseSet<S>, u16),
        entity: Entity,
        now: Version,
    ) -> Option<S> {
        let removed = set.remove(entity, now)?;
        if let Ok(Some(place)) = self.entities.resolve(entity) {
            self.archetype(place).set_member(number, place.row(), false);
        }
        Some(removed)
    }
}

impl Store {
    /// The states of all entities.
    pub(crate) fn entity_states(&self) -> EntityStates<'_> {
        EntityStates::new(self.entities.view(), self.archetypes.as_slice())
    }
}
