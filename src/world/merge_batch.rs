//! One change of many entities: rows of one archetype move together.

use core::ops::Range;

use crate::archetype::{BundleId, EdgeId, MoveContext, move_rows};
use crate::entity::{ArchetypeId, Entity};
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
    /// [`World::merge`] of different entities with one version, in their order. The values of
    /// entity `n` begin at the offsets of `values(n)`. Calls `failed` with the number of an entity
    /// that is unchanged. Returns how many rows moved.
    ///
    /// # Panics
    ///
    /// If an entity is named twice.
    pub(crate) fn merge_batch<'v>(
        &mut self,
        entities: &[Entity],
        bundles: MergedBundles,
        values: impl Fn(usize) -> RowValues<'v>,
        mut failed: impl FnMut(usize, EntityError),
    ) -> usize {
        let (mut moved, mut now, mut next) = (0, None, 0);
        while next < entities.len() {
            let (source, rows) = match self.neighbours(entities, next) {
                Ok(neighbours) => neighbours,
                Err(error) => {
                    failed(next, error);
                    next += 1;
                    continue;
                }
            };
            next = rows.end;
            match self.merge_edge(entities[rows.start], source, bundles) {
                Ok(edge) => {
                    let now = *now.get_or_insert_with(|| self.store.advance_clock());
                    moved += self.store.merge_rows(edge, entities, rows, now, &values);
                }
                Err(_) => rows.for_each(|n| {
                    let edge = self.merge_edge(entities[n], source, bundles);
                    failed(n, edge.expect_err("the row of another entity does not fit a chunk"));
                }),
            }
        }
        moved
    }

    /// The archetype of entity `first`, and the entities from it on that follow each other and are
    /// there, too.
    ///
    /// # Errors
    ///
    /// If the entity is not alive.
    fn neighbours(
        &self,
        entities: &[Entity],
        first: usize,
    ) -> Result<(ArchetypeId, Range<usize>), EntityError> {
        let directory = &self.store.entities;
        let source = directory.locate(entities[first])?.archetype();
        let is_there = |&&entity: &&Entity| {
            directory.locate(entity).is_ok_and(|place| place.archetype() == source)
        };
        let rows = entities[first..].iter().take_while(is_there).count();
        Ok((source, first..first + rows))
    }
}

impl Store {
    /// Moves or overwrites rows of one archetype along an edge. Returns how many moved.
    fn merge_rows<'v>(
        &mut self,
        edge: EdgeId,
        entities: &[Entity],
        rows: Range<usize>,
        now: Version,
        values: impl Fn(usize) -> RowValues<'v>,
    ) -> usize {
        let target = self.graph.edge(edge).target;
        let source = self.entities.locate(entities[rows.start]).expect("located before");
        let source = source.archetype();
        if rows.len() < TOGETHER_MIN || source == target {
            return rows.filter(|&n| self.merge_one(edge, entities[n], now, values(n))).count();
        }
        let Self { archetypes, entities: directory, pool, graph, .. } = self;
        let (from, to) = archetypes.pair_mut(source, target);
        let mut context = MoveContext { entities: directory, pool, now };
        let value = |i: usize, n: usize| {
            let RowValues { bytes, starts } = values(rows.start + n);
            &bytes[starts[i]..]
        };
        let entities = &entities[rows.clone()];
        move_rows((source, from), to, entities, graph.edge(edge), &mut context, value);
        entities.len()
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
