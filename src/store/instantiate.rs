//! Copies of an entity: column by column, then its plain sparse values.

use crate::archetype::Change;
use crate::entity::{ArchetypeId, Entity, Location, NoSuchEntity, ReserveError, RowIndex};

use super::batch::{Batch, Spawner, ensure_room_beside};
use super::entity_error::SpawnError;
use super::find_edge::EdgeError;
use super::first_panic::FirstPanic;
use super::store::Store;

impl Store {
    /// Spawns `copies` entities with the components of `prototype` that are copied, and returns
    /// their ids. O(bytes).
    ///
    /// # Errors
    ///
    /// If the prototype is not alive, too few ids are left, or the copies need more memory than one
    /// call may allocate. The store is unchanged.
    pub(crate) fn instantiate(
        &mut self,
        prototype: Entity,
        copies: usize,
    ) -> Result<&[Entity], SpawnError> {
        let place = self.entities.locate(prototype)?;
        let source = self.archetypes.get(place.archetype());
        if source.is_gone() {
            return Err(NoSuchEntity { entity: prototype }.into());
        }
        let value_bytes = self.sparse.copied_bytes(prototype);
        let sparse_bytes = (value_bytes.unwrap_or(0) as u64).saturating_mul(copies as u64);
        let rows = match source.is_copied() {
            true => self.copy_row(place, copies, sparse_bytes)?,
            false => self.copy_part_of_row(place, copies, sparse_bytes)?,
        };
        let new = self.spawned(rows);
        if value_bytes.is_some() {
            let pairs: Vec<_> = new.iter().map(|&copy| (prototype, copy)).collect();
            let mut panic = FirstPanic::default();
            let members = self.sparse.copy_values(&pairs, None, self.clock, &mut panic);
            self.set_members(&members);
            self.record_sets();
            panic.resume();
        }
        let all = self.archetypes.get(rows.0).entities();
        Ok(&all[all.len() - rows.1..])
    }

    /// Writes copies of the row at `place`, if there is room for them and for their sparse values.
    /// Returns their archetype and number.
    fn copy_row(
        &mut self,
        place: Location,
        copies: usize,
        sparse_bytes: u64,
    ) -> Result<(ArchetypeId, usize), SpawnError> {
        let Self { archetypes, entities, .. } = self;
        ensure_room_beside(archetypes.get(place.archetype()), entities, copies, sparse_bytes)?;
        let batch = Batch::new(Spawner::at(self, place.archetype()));
        Ok(replicated(batch, place.row(), copies)?.finish_copies(place.row())?)
    }

    /// [`Store::copy_row`] for copies that lack components of the original: one is copied to their
    /// archetype, the others from that copy.
    fn copy_part_of_row(
        &mut self,
        place: Location,
        copies: usize,
        sparse_bytes: u64,
    ) -> Result<(ArchetypeId, usize), SpawnError> {
        let edge = self.attempt(|store| {
            let edge = match store.edge(place.archetype(), Change::Copy) {
                Ok(edge) => edge,
                Err(EdgeError::Layout(error)) => return Err(SpawnError::from(error)),
                Err(error) => unreachable!("a copy requires no component: {error:?}"),
            };
            let Self { archetypes, entities, graph, .. } = store;
            let target = archetypes.get(graph.edge(edge).target);
            ensure_room_beside(target, entities, copies, sparse_bytes)?;
            Ok(edge)
        })?;
        if copies == 0 {
            return Ok((self.graph.edge(edge).target, 0));
        }
        let Self { archetypes, clock, entities, pool, graph, .. } = self;
        let edge = graph.edge(edge);
        let target = edge.target;
        let now = clock.advance();
        let (source, archetype) = archetypes.pair_mut(place.archetype(), target);
        let mut written = archetype.begin_rows();
        let run = archetype.room(&written, copies, pool).at_most(1);
        archetype.write_copy(&mut written, (source, place.row()), edge, &run);
        let first = archetype.len();
        archetype.push_rows(target, &written, entities, now)?;
        archetype.follow_copied(first..first + 1, (source, place.row()), edge);
        let row = archetype.list().position_of(first);
        let spawner = Spawner { id: target, archetype, entities, pool, clock, now };
        let batch = replicated(Batch::new(spawner), row, copies - 1);
        let batch = batch.expect("there is memory for all copies");
        batch.finish_copies(row).expect("there are ids for all copies");
        Ok((target, copies))
    }
}

/// Adds copies of a live row to a batch.
fn replicated(
    mut batch: Batch<'_>,
    row: RowIndex,
    copies: usize,
) -> Result<Batch<'_>, ReserveError> {
    while batch.len() < copies {
        let left = copies - batch.len();
        let run = batch.room(left, left)?;
        // Growth of a small block keeps the positions of its rows.
        batch.replicate(row, &run);
    }
    Ok(batch)
}
