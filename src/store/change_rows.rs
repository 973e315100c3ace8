//! One change of many entities: rows of one archetype move together.

use core::ops::Range;

use crate::archetype::{
    BundleId, Change, ColumnBundle, EdgeId, MoveContext, MoveScratch, move_rows,
};
use crate::entity::{ArchetypeId, Entity, Location, RowIndex};
use crate::version::Version;

use super::change_row::{RowChange, is_nothing};
use super::entity_error::EntityError;
use super::matches::MatchedRows;
use super::row_values::RowValues;
use super::store::Store;

/// Fewer rows are moved one by one.
const TOGETHER_MIN: usize = 4;

impl Store {
    /// [`Store::exchange_bytes`] of different entities with one version, in their order. The values
    /// of entity `n` begin at the offsets of `values(n)`. Calls `failed` with the number of an
    /// entity that is unchanged. Returns the number of rows that moved.
    ///
    /// # Panics
    ///
    /// If an entity is named twice.
    pub(crate) fn exchange_bytes_batch<'v>(
        &mut self,
        (entities, scratch): (&[Entity], &mut MoveScratch),
        bundles: (BundleId, BundleId),
        values: impl Fn(usize) -> RowValues<'v>,
        mut failed: impl FnMut(usize, EntityError),
    ) -> usize {
        if is_nothing(bundles) {
            self.check_batch(entities, bundles, failed);
            return 0;
        }
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
            match self.exchange_bytes_edge(entities[rows.start], source, bundles) {
                Ok(edge) => {
                    let now = *now.get_or_insert_with(|| self.advance_clock());
                    let rows = (source, rows);
                    moved += self.exchange_rows(edge, (entities, scratch), rows, now, &values);
                }
                Err(_) => rows.for_each(|n| {
                    let edge = self.exchange_bytes_edge(entities[n], source, bundles);
                    failed(n, edge.expect_err("the row of another entity does not fit a chunk"));
                }),
            }
        }
        self.end_cleanup();
        moved
    }

    /// [`Store::exchange_bytes_batch`] of no components: of changes of sparse ones alone.
    fn check_batch(
        &mut self,
        entities: &[Entity],
        bundles: (BundleId, BundleId),
        mut failed: impl FnMut(usize, EntityError),
    ) {
        let mut known = None;
        for (n, &entity) in entities.iter().enumerate() {
            match self.entities.locate(entity).map(Location::archetype) {
                Ok(source) if known == Some(source) => {}
                Ok(source) => match self.exchange_bytes_edge(entity, source, bundles) {
                    Ok(_) => known = Some(source),
                    Err(error) => failed(n, error),
                },
                Err(error) => failed(n, error.into()),
            }
        }
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
        let source = self.entities.locate(entities[0])?.archetype();
        rows.clear();
        let places = entities.iter().map_while(|&entity| self.entities.locate(entity).ok());
        rows.extend(places.take_while(|place| place.archetype() == source).map(Location::row));
        Ok(source)
    }

    /// Moves or overwrites rows of one archetype, which `scratch` lists, along an edge. Returns the
    /// number of rows that moved.
    fn exchange_rows<'v>(
        &mut self,
        edge: EdgeId,
        (entities, scratch): (&[Entity], &mut MoveScratch),
        (source, rows): (ArchetypeId, Range<usize>),
        now: Version,
        values: impl Fn(usize) -> RowValues<'v>,
    ) -> usize {
        let target = self.graph.edge(edge).target;
        if rows.len() < TOGETHER_MIN || source == target {
            let one = |&n: &usize| {
                let change = self.row_change(entities[n], edge, now);
                self.exchange_bytes_along(change, values(n))
            };
            return rows.filter(one).count();
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

    /// Changes the components of single rows of an archetype. Returns the number of changed
    /// entities.
    pub(super) fn change_rows<B: ColumnBundle>(
        &mut self,
        MatchedRows { archetype, entities }: &MatchedRows,
        change: Change,
        bundle: B,
    ) -> usize {
        let edge = self.known_edge(*archetype, change);
        if self.graph.edge(edge).target == *archetype && !matches!(change, Change::Insert(_)) {
            return 0;
        }
        let now = self.advance_clock();
        for &entity in entities {
            let change = self.row_change(entity, edge, now);
            self.exchange_along::<(), B>(change, bundle);
        }
        entities.len()
    }

    /// The change of an entity that is alive.
    #[inline]
    fn row_change(&self, entity: Entity, edge: EdgeId, now: Version) -> RowChange {
        let place = self.entities.locate(entity).expect("a row has no entity");
        RowChange { entity, place, edge, now }
    }
}
