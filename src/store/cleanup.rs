//! Entities that are despawned and have cleanup components: from the despawn to the free id.
//!
//! ```text
//!  Health, Sound ── despawn ──► Gone, Sound ── remove Sound ──► Gone ── at once ──► the id is free
//! ```
//!
//! Both moves follow edges of the graph, one row or whole chunks at a time. Removals move rows to
//! the archetype with `Gone` alone, and [`Store::end_cleanup`] empties it after each removal. In a
//! world without cleanup components, each of these steps is one branch.

use crate::archetype::{Archetype, Change, DespawnAction, EdgeId};
use crate::component::Gone;
use crate::entity::{ArchetypeId, DirectoryView, Entity, Location, NoSuchEntity};
use crate::storage::ChunkSet;

use super::store::Store;

/// Tells which entities are alive, while no row moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Living<'w> {
    entities: DirectoryView<'w>,
    archetypes: &'w [Archetype],
}

impl<'w> Living<'w> {
    pub(crate) const fn new(entities: DirectoryView<'w>, archetypes: &'w [Archetype]) -> Self {
        Self { entities, archetypes }
    }

    /// Records that an entity has lost a sparse component.
    pub(crate) fn clear_member(&self, entity: Entity, number: u16) {
        if let Ok(Some(place)) = self.entities.resolve(entity) {
            self.archetypes[place.archetype().index()].set_member(number, place.row(), false);
        }
    }

    /// Whether an entity is alive or reserved, and not gone.
    pub(crate) fn contains(&self, entity: Entity) -> bool {
        let is_gone = |place: Location| self.archetypes[place.archetype().index()].is_gone();
        self.entities.resolve(entity).is_ok_and(|place| !place.is_some_and(is_gone))
    }
}

impl Store {
    /// Whether despawns may keep cleanup components.
    #[inline]
    pub(crate) const fn has_cleanup(&self) -> bool {
        self.registry.gone().is_some()
    }

    /// Whether an entity is gone.
    #[inline]
    pub(crate) fn is_gone(&self, entity: Entity) -> bool {
        self.has_cleanup() && self.look_up_gone(entity)
    }

    /// [`Store::is_gone`] in a world with cleanup components.
    #[cold]
    fn look_up_gone(&self, entity: Entity) -> bool {
        self.despawn_action(entity) == Ok(DespawnAction::AlreadyGone)
    }

    /// Whether an entity is alive or reserved, and not gone.
    #[inline]
    pub(crate) fn contains(&self, entity: Entity) -> bool {
        self.entities.contains(entity) && !self.is_gone(entity)
    }

    /// The effect of a despawn on an entity.
    ///
    /// # Errors
    ///
    /// If the entity is not alive.
    pub(crate) fn despawn_action(&self, entity: Entity) -> Result<DespawnAction, NoSuchEntity> {
        Ok(self.archetypes.get(self.entities.locate(entity)?.archetype()).despawn_action())
    }

    /// A view that tells which entities are alive.
    pub(crate) fn living(&self) -> Living<'_> {
        Living::new(self.entities.view(), self.archetypes.as_slice())
    }

    /// The edge of a despawn from an archetype with cleanup components.
    pub(super) fn despawn_edge(&mut self, source: ArchetypeId) -> EdgeId {
        let gone = self.bundle_id::<Gone>();
        match self.edge(source, Change::Despawn(gone)) {
            Ok(edge) => edge,
            // The target has a part of the components of a row that fits.
            Err(error) => unreachable!("the cleanup components fit no chunk: {error:?}"),
        }
    }

    /// Frees the entities that are gone and have lost their last cleanup component. Must be called
    /// after every removal.
    #[inline]
    pub(super) fn end_cleanup(&mut self) {
        if let Some(id) = self.without_cleanup
            && !self.archetypes.get(id).is_empty()
        {
            self.free_cleaned(id);
        }
    }

    /// Frees all entities of an archetype, in the order of its rows.
    #[cold]
    fn free_cleaned(&mut self, id: ArchetypeId) {
        self.remove_chunks(id, &ChunkSet::All, self.clock);
    }
}
