//! Structural changes with components known only at run time: their values are bytes.
//!
//! The counterparts of [`spawn`](super::spawn) and [`structural`](super::structural) for ids of
//! bundles instead of types. Command buffers merge their records into such changes.

use crate::archetype::{Archetype, BundleId, Change, EdgeId, move_row};
use crate::entity::{ArchetypeId, Entity, Location, NoSuchEntity};
use crate::storage::{BundleCells, Pool, RowReader, RowWriter, WrittenRows};
use crate::store::Store;
use crate::version::Version;

use super::error::{EntityError, SpawnError};
use super::spawn_batch::ensure_room;
use super::world::World;

/// The values of a bundle's components: the bytes of component `i` begin at `starts[i]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowValues<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) starts: &'a [usize],
}

/// The effect of a change on its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeOutcome {
    /// Its row moved to another archetype.
    Moved,
    /// It has the same components as before.
    InPlace,
}

impl World {
    /// Removes the components of `removed` that an entity has, and inserts the components of
    /// `added`, in one move.
    ///
    /// # Errors
    ///
    /// If the entity is not alive or the resulting row does not fit a chunk. The entity is
    /// unchanged.
    #[inline]
    pub(crate) fn exchange_bytes(
        &mut self,
        entity: Entity,
        bundles: (BundleId, BundleId),
        values: RowValues<'_>,
    ) -> Result<MergeOutcome, EntityError> {
        let place = self.store.entities.locate(entity)?;
        let edge = self.merge_edge(entity, place.archetype(), bundles)?;
        let now = self.store.advance_clock();
        let outcome = self.store.merge_along(edge, (entity, place), now, values);
        self.store.end_cleanup();
        Ok(outcome)
    }

    /// The edge from an archetype for a [`World::exchange_bytes`].
    #[inline]
    pub(super) fn merge_edge(
        &mut self,
        entity: Entity,
        source: ArchetypeId,
        (removed, added): (BundleId, BundleId),
    ) -> Result<EdgeId, EntityError> {
        let change = Change::ExchangePresent { removed, added };
        self.store.edge(source, change).map_err(|error| self.refused(entity, error))
    }

    /// Spawns the entity of an id on loan, with the components of `bundle`.
    ///
    /// # Errors
    ///
    /// If the id is not on loan or the row does not fit a chunk. The world is unchanged.
    #[inline]
    pub(crate) fn spawn_loaned(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        values: RowValues<'_>,
    ) -> Result<(), EntityError> {
        if !self.store.entities.is_on_loan(entity) {
            return Err(NoSuchEntity { entity }.into());
        }
        self.store.ensure_home(bundle)?;
        let Store { archetypes, clock, entities, pool, bundles, .. } = &mut self.store;
        let home = bundles.home(bundle).expect("found above");
        let now = clock.advance();
        let archetype = archetypes.get_mut(home.archetype);
        let row = archetype.next_row(pool);
        let place = Location::new(home.archetype, row.position());
        entities.alloc_loaned(entity, place).expect("the id is not on loan");
        row.push(&home.cells, entity, now, |row| put_values(row, values));
        self.store.record_spawned(place.archetype(), 1);
        Ok(())
    }

    /// Spawns the entities of several ids on loan, each with the components of `bundle`. `values`
    /// has the offsets of the first row; the values of each next row begin `stride` bytes later.
    /// O(bytes).
    ///
    /// # Errors
    ///
    /// If one of the ids is not on loan or the row does not fit a chunk. The world is unchanged.
    pub(crate) fn spawn_loaned_rows(
        &mut self,
        ids: impl ExactSizeIterator<Item = Entity> + Clone,
        bundle: BundleId,
        values: RowValues<'_>,
        stride: usize,
    ) -> Result<(), EntityError> {
        let is_on_loan = |&entity: &Entity| self.store.entities.is_on_loan(entity);
        if let Some(entity) = ids.clone().find(|entity| !is_on_loan(entity)) {
            return Err(NoSuchEntity { entity }.into());
        }
        self.store.ensure_home(bundle)?;
        let Store { archetypes, clock, entities, pool, bundles, .. } = &mut self.store;
        let home = bundles.home(bundle).expect("found above");
        let now = clock.advance();
        let archetype = archetypes.get_mut(home.archetype);
        let written = write_rows(archetype, pool, &home.cells, ids.len(), (values, stride));
        archetype.push_with_ids(home.archetype, &written, ids, entities, now);
        archetype.abandon(pool);
        let home = home.archetype;
        self.store.record_spawned(home, written.len());
        Ok(())
    }

    /// Spawns `rows` entities with the components of `bundle`. `values` has the offsets of the
    /// first row; the values of each next row begin `stride` bytes later. O(bytes).
    ///
    /// # Errors
    ///
    /// If ids or memory run out or a row does not fit a chunk. The world is unchanged.
    pub(crate) fn spawn_strided(
        &mut self,
        bundle: BundleId,
        rows: usize,
        values: RowValues<'_>,
        stride: usize,
    ) -> Result<(), SpawnError> {
        self.attempt(|store| {
            store.entities.ensure_room(rows)?;
            store.ensure_home(bundle)?;
            let Store { archetypes, clock, entities, pool, bundles, .. } = store;
            let home = bundles.home(bundle).expect("found above");
            ensure_room(archetypes.get(home.archetype), entities, rows)?;
            let now = clock.advance();
            let archetype = archetypes.get_mut(home.archetype);
            let written = write_rows(archetype, pool, &home.cells, rows, (values, stride));
            archetype.push_rows(home.archetype, &written, entities, now)?;
            archetype.abandon(pool);
            let home = home.archetype;
            store.record_spawned(home, rows);
            Ok(())
        })
    }
}

impl Store {
    /// Moves or overwrites the row of an entity along an edge of [`World::merge_edge`].
    #[inline]
    pub(super) fn merge_along(
        &mut self,
        edge: EdgeId,
        (entity, place): (Entity, Location),
        now: Version,
        values: RowValues<'_>,
    ) -> MergeOutcome {
        self.record_move(place, edge);
        let Self { archetypes, entities, pool, graph, .. } = self;
        let (edge, from) = (graph.edge(edge), place.archetype());
        let write = |_: &mut RowReader<'_>, new: &mut RowWriter<'_>| put_values(new, values);
        if edge.target == from {
            if !values.starts.is_empty() {
                archetypes.get_mut(from).overwrite_row(edge, place.row(), now, write);
            }
            return MergeOutcome::InPlace;
        }
        let (archetype, target) = archetypes.pair_mut(from, edge.target);
        let at = archetype.list().split(place.row());
        let moved = move_row((archetype, target), (entity, at), edge, (pool, now), write);
        let there = Location::new(edge.target, target.list().position(moved.to));
        entities.follow_move(entity, there, moved.swapped);
        self.record_arrived(there.archetype(), from, 1);
        MergeOutcome::Moved
    }
}

/// Writes the columns of a bundle in rows after the last one, column by column.
fn write_rows(
    archetype: &mut Archetype,
    pool: &mut Pool,
    cells: &BundleCells,
    rows: usize,
    (RowValues { bytes, starts }, stride): (RowValues<'_>, usize),
) -> WrittenRows {
    let columns = cells.columns().as_slice().len();
    assert!(columns == starts.len(), "{} values of a bundle of {columns}", starts.len());
    let mut written = archetype.begin_rows();
    while written.len() < rows {
        let (first, left) = (written.len(), rows - written.len());
        let run = archetype.room(&written, left, pool).at_most(left);
        let value = |i: usize, row: usize| &bytes[starts[i] + (first + row) * stride..];
        archetype.write_bytes(&mut written, cells, &run, value);
    }
    written
}

/// Writes the cells of a bundle in one row.
#[inline]
fn put_values(row: &mut RowWriter<'_>, RowValues { bytes, starts }: RowValues<'_>) {
    for &start in starts {
        row.put_front(&bytes[start..]);
    }
}
