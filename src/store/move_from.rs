//! Some entities of another world become entities of this one.
//!
//! Their rows are moved from its archetypes to new archetypes. The rest is a
//! [`merge`](super::merge) of a world with these archetypes, with two differences. The memory
//! changes its owner only if no row stays in the other world, because the blocks of that world
//! share slabs. The other world continues to exist, so ids are freed in it, and departures are
//! recorded.

use crate::archetype::{Archetype, MoveContext};
use crate::component::AdoptionPlan;
use crate::entity::{Entity, IdMap};

use super::first_panic::FirstPanic;
use super::matches::{Matches, SelectedRows};
use super::merge::{IncomingRows, map_references};
use super::merge_error_kind::MergeErrorKind;
use super::store::Store;

impl Store {
    /// Checks that entities of `other` can become entities of this store. O(archetypes ×
    /// components), and if some stay O(coming entities × sparse sets with values).
    ///
    /// # Errors
    ///
    /// If they cannot. Both stores are unchanged.
    pub(crate) fn plan_move(
        &mut self,
        other: &Self,
        leaving: &Matches,
    ) -> Result<AdoptionPlan, MergeErrorKind> {
        let coming = leaving.parts().map(|(archetype, which)| {
            let archetype = other.archetypes.get(archetype);
            let (rows, copies) = match which {
                SelectedRows::Chunks(chunks) => (archetype.rows_of(chunks), 0),
                SelectedRows::Entities(entities) => (entities.len(), 1),
            };
            IncomingRows { archetype, which, rows, copies }
        });
        let mut coming: Vec<_> = coming.collect();
        let rows: usize = coming.iter().map(|coming| coming.rows).sum();
        if rows < other.entities.len() {
            coming.iter_mut().for_each(|coming| coming.copies += 1);
        }
        self.plan_arrival(other, &coming)
    }

    /// Takes over entities of `other`, as planned. Returns their new ids.
    ///
    /// # Panics
    ///
    /// If `MapEntities` panics. The move is complete.
    pub(crate) fn move_from(
        &mut self,
        other: &mut Self,
        leaving: &Matches,
        plan: AdoptionPlan,
    ) -> IdMap {
        if leaving.archetypes().next().is_none() {
            return IdMap::of_some(0, &other.entities);
        }
        let now = self.advance_clock();
        let adopted = self.registry.adopt(&other.registry, plan);
        // Both run `Component::hint`, which may panic, so they come before rows are taken out.
        self.know_types();
        let target = |from| self.target(other.archetypes.get(from), &adopted);
        let targets: Vec<_> = leaving.archetypes().map(target).map(Some).collect();
        let mut parts = other.take_out(leaving);
        // Numbers of sparse components have other meanings there.
        parts.iter_mut().for_each(Archetype::clear_members);
        self.take_memory(other, &mut parts);
        let olds: Vec<_> = match other.sparse.is_empty() {
            true => Vec::new(),
            false => parts.iter().flat_map(Archetype::entities).copied().collect(),
        };
        let rows = parts.iter().map(Archetype::len).sum();
        self.entities.reserve_capacity(rows);
        let mut ids = IdMap::of_some(rows, &other.entities);
        self.rename_entities(&mut parts, &targets, &mut ids);
        let mut panic = FirstPanic::default();
        map_references(&mut parts, &other.registry, &ids, &mut panic);
        self.move_rows(&mut parts, &targets, &adopted, now);
        other.cut_relations(&olds);
        let leaving = other.sparse.split(&olds, other.clock);
        let came = self.sparse.merge(leaving, &self.registry, &|old| ids.get(old), now, &mut panic);
        self.set_members(&came);
        self.end_without_values();
        self.record_sets();
        other.record_sets();
        panic.resume();
        ids
    }

    /// Moves rows of the archetypes to new archetypes, and frees the ids of their entities. Their
    /// sparse components remain.
    fn take_out(&mut self, leaving: &Matches) -> Vec<Archetype> {
        let now = self.advance_clock();
        let mut take = |(id, rows)| {
            match rows {
                SelectedRows::Chunks(chunks) => self.record_chunks(id, chunks),
                SelectedRows::Entities(entities) => entities.iter().for_each(|&entity| {
                    let place = self.entities.locate(entity).expect("a row has no entity");
                    self.record_despawn(place);
                }),
            }
            let Self { archetypes, entities, pool, registry, .. } = self;
            let archetype = archetypes.get_mut(id);
            let mut context = MoveContext { entities, pool, now };
            let part = match rows {
                SelectedRows::Chunks(chunks) => {
                    archetype.take_chunks(id, chunks, registry, &mut context)
                }
                SelectedRows::Entities(entities) => {
                    archetype.take_rows(id, entities, registry, &mut context)
                }
            };
            context.entities.free_batch(part.entities());
            part
        };
        leaving.parts().map(&mut take).collect()
    }

    /// Removes the relations that have one end among entities that were taken out.
    fn cut_relations(&mut self, olds: &[Entity]) {
        if !self.sparse.has_relations() {
            return;
        }
        let Self { sparse, entities, clock, .. } = self;
        let cut = sparse.cut_relations(olds, &|entity| entities.contains(entity), *clock);
        let (_, mut rows) = self.sets_and_rows();
        cut.into_iter().for_each(|(number, source)| rows.set(source, number, false));
    }

    /// Takes over the memory of rows that were taken out of another world: all of its memory if it
    /// has no rows left, and copies of the rows if not.
    fn take_memory(&mut self, other: &mut Self, parts: &mut [Archetype]) {
        let Self { archetypes, pool, .. } = other;
        if archetypes.as_slice().iter().all(Archetype::is_empty) {
            for archetype in archetypes.all_mut() {
                archetype.free_unused_blocks(pool);
            }
            return self.take_slabs(parts, pool);
        }
        for part in parts {
            part.change_pool(pool, &mut self.pool);
        }
    }
}
