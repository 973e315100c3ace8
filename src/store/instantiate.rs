//! Copies of an entity, column by column.

use crate::archetype::Change;
use crate::entity::{Entity, Location, NoSuchEntity, ReserveError, RowIndex};

use super::batch::{Batch, Spawner, ensure_room};
use super::entity_error::SpawnError;
use super::find_edge::EdgeError;
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
        let Self { archetypes, entities, .. } = self;
        let source = archetypes.get(place.archetype());
        if source.is_gone() {
            return Err(NoSuchEntity { entity: prototype }.into());
        }
        if !source.is_copied() {
            return self.instantiate_part(place, copies);
        }
        ensure_room(source, entities, copies)?;
        let batch = Batch::new(Spawner::at(self, place.archetype()));
        let rows = replicated(batch, place.row(), copies)?.finish_copies(place.row())?;
        Ok(self.spawned(rows))
    }

    /// Spawns copies that lack components of the original at `place`: one is copied to their
    /// archetype, the others from that copy.
    fn instantiate_part(
        &mut self,
        place: Location,
        copies: usize,
    ) -> Result<&[Entity], SpawnError> {
        let edge = self.attempt(|store| {
            let edge = match store.edge(place.archetype(), Change::Copy) {
                Ok(edge) => edge,
                Err(EdgeError::Layout(error)) => return Err(SpawnError::from(error)),
                Err(error) => unreachable!("a copy requires no component: {error:?}"),
            };
            let Self { archetypes, entities, graph, .. } = store;
            ensure_room(archetypes.get(graph.edge(edge).target), entities, copies)?;
            Ok(edge)
        })?;
        if copies == 0 {
            return Ok(&[]);
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
        Ok(self.spawned((target, copies)))
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
