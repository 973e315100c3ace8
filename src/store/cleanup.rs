//! Entities that are despawned and have cleanup components: from the despawn to the free id.
//!
//! ```text
//!  Health, Sound ── despawn ──► Gone, Sound ── remove Sound ──► Gone ── at once ──► the id is free
//! ```
//!
//! Both moves follow edges of the graph, one row or whole chunks at a time. Removals move rows to
//! the archetype with `Gone` alone, and [`Store::end_cleanup`] empties it after each removal. In a
//! world without cleanup components, each of these steps is one branch.
//!
//! A sparse cleanup component has no column, so a despawn gives the entity a cleanup tag for it:
//!
//! ```text
//!  Health │ Handle in its set
//!    despawn ──►        Gone, HasSparseCleanup │ Handle
//!    remove Handle ──►  …
//! ```
//!
//! The despawn looks the entity up in the set of each sparse cleanup component, and leaves its
//! values there, with their bits in the new row. A set notes each entity that loses such a value;
//! [`Store::end_kept`] takes the notes, and removes the tag from entities that are gone and have no
//! other: the rest is a removal of the last cleanup component. It is called at the end of removals,
//! playbacks and stages, when ids are no longer shared out, and before a view of the set or a state
//! is made: values that the view removes end their entities at the next of these.

use crate::archetype::{Archetype, Change, DespawnAction, EdgeId};
use crate::component::{Gone, HasSparseCleanup};
use crate::entity::{ArchetypeId, Entity, NoSuchEntity};
use crate::storage::ChunkSet;

use super::row_values::RowValues;
use super::store::Store;

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

    /// The edge of a despawn from an archetype with cleanup components, or of an entity with sparse
    /// ones, `with_values`.
    pub(super) fn despawn_edge(&mut self, source: ArchetypeId, with_values: bool) -> EdgeId {
        let added = match with_values {
            false => self.bundle_id::<Gone>(),
            true => self.bundle_id::<(Gone, HasSparseCleanup)>(),
        };
        match self.edge(source, Change::Despawn(added)) {
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

    /// Whether an entity may have values of a sparse component: it is alive, or, if it is a cleanup
    /// component, gone with such values.
    pub(crate) fn may_have_values(&self, entity: Entity, is_cleanup: bool) -> bool {
        let sparse_cleanup_tag = self.registry.sparse_cleanup_tag().filter(|_| is_cleanup);
        self.entities.locate(entity).map_or_else(
            |_| self.contains(entity),
            |place| self.archetypes.get(place.archetype()).has_values(sparse_cleanup_tag),
        )
    }

    /// Updates the plans before an archetype for entities that are gone may be added. Runs
    /// `Component::hint`, which may panic, so it comes before the first change.
    pub(super) fn update_cleanup(&mut self) {
        if self.has_cleanup() {
            self.know_types();
        }
    }

    /// Whether some entities of an archetype have values of sparse cleanup components.
    pub(super) fn keeps_values(&self, id: ArchetypeId) -> bool {
        let archetype = self.archetypes.get(id);
        self.sparse.cleanup.iter().any(|&(_, number)| archetype.members_len(number) > 0)
    }

    /// Ends the entities that are gone and have lost their last sparse cleanup component. While
    /// ids are shared out nothing ends: the call that [takes them back](Store::close_id_queue) ends
    /// these entities.
    #[inline]
    pub(crate) fn end_kept(&mut self) {
        if self.sparse.has_cleanup() && self.entities.queue().is_none() {
            self.update_cleanup();
            let lost = self.sparse.take_lost();
            self.end_if_without_values(lost);
        }
    }

    /// Ends the entities that are gone and have no sparse cleanup component, though the tag.
    /// O(entities that are gone).
    pub(super) fn end_without_values(&mut self) {
        if let Some(tag) = self.registry.sparse_cleanup_tag() {
            let all = self.archetypes.as_slice().iter().filter(|one| one.set().contains(tag));
            let all: Vec<_> = all.flat_map(Archetype::entities).copied().collect();
            self.end_if_without_values(all);
        }
    }

    #[cold]
    fn end_if_without_values(&mut self, entities: Vec<Entity>) {
        for entity in entities {
            let is_kept = self.is_gone(entity) && self.may_have_values(entity, true);
            if is_kept && !self.sparse.has_cleanup_value(entity) {
                let bundles = (self.bundle_id::<HasSparseCleanup>(), self.bundle_id::<()>());
                let none = RowValues { bytes: &[], starts: &[] };
                self.exchange_bytes(entity, bundles, none).expect("it has the tag");
            }
        }
    }

    /// Whether an entity has the tag, and neither a sparse cleanup component nor a note that it has
    /// lost one. O(entities that are gone).
    pub(crate) fn lacks_cleanup_values(&self) -> bool {
        let Some(tag) = self.registry.sparse_cleanup_tag() else { return false };
        let lost = self.sparse.lost();
        let all = self.archetypes.as_slice().iter().filter(|one| one.set().contains(tag));
        let mut all = all.flat_map(Archetype::entities);
        all.any(|entity| !lost.contains(entity) && !self.sparse.has_cleanup_value(*entity))
    }

    /// Frees all entities of an archetype, in the order of its rows.
    #[cold]
    fn free_cleaned(&mut self, id: ArchetypeId) {
        self.remove_chunks(id, &ChunkSet::All, self.clock);
    }
}
