//! One change of many entities: rows of one archetype move together.

use core::ops::Range;

use crate::archetype::{BundleId, EdgeId, MoveContext, MoveScratch, move_rows};
use crate::entity::{ArchetypeId, Entity, Location, RowIndex};
use crate::store::Store;
use crate::version::Version;

use super::error::EntityError;
use super::structural_bytes::{MergeOutcome, RowValues};
use super::world::World;

/// Fewer rows are moved one by one.
const TOGETHER_MIN: usize = 4;

/// Bundles that are removed, as far as entities have them, and added.
pub(crate) type MergedBundles = (BundleId, BundleId);

impl World {
    /// [`World::exchange_bytes`] of different entities with one version, in their order. The values
    /// of entity `n` begin at the offsets of `values(n)`. Calls `failed` with the number of an
    /// entity that is unchanged. Returns the number of rows that moved.
    ///
    /// # Panics
    ///
    /// If an entity is named twice.
    pub(crate) fn merge_batch<'v>(
        &mut self,
        (entities, scratch): (&[Entity], &mut MoveScratch),
        bundles: MergedBundles,
        values: impl Fn(usize) -> RowValues<'v>,
        mut failed: impl FnMut(usize, EntityError),
    ) -> usize {
        let (mut moved, mut now, mut next) = (0, None, 0);
        while next < entities.len() {
            let source = match self.neighbours(&entities[next..], &mut scratch.rows) {
                Ok(source) => source,
                Err(error) => {
                    failed(next, error);
                    next += 1;
                    continue;
                }
            };
            let rows = next..next + scratch.rows.len();
            next = rows.end;
            match self.merge_edge(entities[rows.start], source, bundles) {
                Ok(edge) => {
                    let now = *now.get_or_insert_with(|| self.store.advance_clock());
                    let rows = (source, rows);
                    moved += self.store.merge_rows(edge, (entities, scratch), rows, now, &values);
                }
                Err(_) => rows.for_each(|n| {
                    let edge = self.merge_edge(entities[n], source, bundles);
                    failed(n, edge.expect_err("the row of another entity does not fit a chunk"));
                }),
            }
        }
        self.store.end_cleanup();
        moved
    }

    /// The archetype of the first entity. Lists the rows of this entity and of the entities
    /// directly after it that are in the same archetype.
    ///
    /// # Errors
    ///
    /// If the first entity is not alive.
    fn neighbours(
        &self,
        entities: &[Entity],
        rows: &mut Vec<RowIndex>,
    ) -> Result<ArchetypeId, EntityError> {
        let directory = &self.store.entities;
        let source = directory.locate(entities[0])?.archetype();
        rows.clear();
        let places = entities.iter().map_while(|&entity| directory.locate(entity).ok());
        rows.extend(places.take_while(|place| place.archetype() == source).map(Location::row));
        Ok(source)
    }
}

impl Store {
    /// Moves or overwrites rows of one archetype, which `scratch` lists, along an edge. Returns the
    /// number of rows that moved.
    fn merge_rows<'v>(
        &mut self,
        edge: EdgeId,
        (entities, scratch): (&[Entity], &mut MoveScratch),
        (source, rows): (ArchetypeId, Range<usize>),
        now: Version,
        values: impl Fn(usize) -> RowValues<'v>,
    ) -> usize {
        let target = self.graph.edge(edge).target;
        if rows.len() < TOGETHER_MIN || source == target {
            return rows.filter(|&n| self.merge_one(edge, entities[n], now, values(n))).count();
        }
        self.record_moves(source, &scratch.rows, edge);
        let Self { archetypes, entities: directory, pool, graph, .. } = self;
        let (from, to) = archetypes.pair_mut(source, target);
        let mut context = MoveContext { entities: directory, pool, now };
        let value = |i: usize, n: usize| {
            let RowValues { bytes, starts } = values(rows.start + n);
            &bytes[starts[i]..]
        };
        let entities = (&entities[rows.clone()], scratch);
        move_rows((source, from), to, entities, graph.edge(edge), &mut context, value);
        self.record_arrived(target, source, rows.len());
        rows.len()
    }

    /// Returns `true` if the row has moved.
    fn merge_one(
        &mut self,
        edge: EdgeId,
        entity: Entity,
        now: Version,
        values: RowValues<'_>,
    ) -> bool {
        let place = self.entities.locate(entity).expect("located before");
        self.merge_along(edge, (entity, place), now, values) == MergeOutcome::Moved
    }
}
