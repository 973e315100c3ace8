//! The states of entities, found by their rows while no row moves: alive, gone or hidden.

use crate::archetype::Archetype;
use crate::entity::{DirectoryView, Entity, Location};

use super::super::store::Store;

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

    fn archetype(&self, place: Location) -> &'w Archetype {
        &self.archetypes[place.archetype().index()]
    }

    /// Whether an entity is alive or reserved, and not gone.
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

    /// Records that an entity has lost a sparse component.
    pub(crate) fn clear_member(&self, entity: Entity, number: u16) {
        if let Ok(Some(place)) = self.entities.resolve(entity) {
            self.archetype(place).set_member(number, place.row(), false);
        }
    }
}

impl Store {
    /// The states of all entities.
    pub(crate) fn entity_states(&self) -> EntityStates<'_> {
        EntityStates::new(self.entities.view(), self.archetypes.as_slice())
    }
}
