//! Finds rows of a query up and down a tree: the row of an entity or of its nearest ancestor, and
//! the nearest rows below it.
//!
//! Entities without a row are passed over. A walk up remembers where it ended, so a long chain of
//! them is walked once.

use rustc_hash::FxHashSet;

use crate::component::TreeRelation;
use crate::entity::{DirectoryView, Entity, PagedIndex};
use crate::store::SparseSet;

use super::row_numbers::{NONE, RowNumbers};

/// Finds the [numbers](RowNumbers) of rows.
pub(super) struct RowFinder<'t, R> {
    set: Option<&'t SparseSet<R>>,
    directory: DirectoryView<'t>,
    numbers: &'t RowNumbers,
    /// The entity of each number, or the null id.
    entities: &'t [Entity],
    /// The row of the nearest ancestor, for each entity without a row that a walk up has met. It is
    /// the number after the last if no ancestor has a row.
    met: PagedIndex,
    /// The entities of a walk, kept for its memory.
    walk: Vec<Entity>,
}

impl<'t, R: TreeRelation> RowFinder<'t, R> {
    pub(super) fn new(
        set: Option<&'t SparseSet<R>>,
        directory: DirectoryView<'t>,
        (numbers, entities): (&'t RowNumbers, &'t [Entity]),
    ) -> Self {
        let (met, walk) = (PagedIndex::default(), Vec::new());
        Self { set, directory, numbers, entities, met, walk }
    }

    /// The entity of a row, or the null id.
    #[inline]
    pub(super) fn entity(&self, row: u32) -> Entity {
        self.entities.get(row as usize).copied().unwrap_or(Entity::NULL)
    }

    /// The row of an entity.
    #[inline]
    pub(super) fn row(&self, entity: Entity) -> Option<u32> {
        let place = self.numbers.place(&self.directory, entity)?;
        (self.entities.get(place as usize) == Some(&entity)).then_some(place)
    }

    /// The row of an entity, or of its nearest ancestor that has one, or [`NONE`].
    #[inline]
    pub(super) fn nearest(&mut self, entity: Entity) -> u32 {
        match self.row(entity) {
            Some(row) => row,
            None => self.nearest_above(entity),
        }
    }

    /// The row of the nearest ancestor of an entity, or [`NONE`].
    pub(super) fn above(&mut self, entity: Entity) -> u32 {
        let target = self.set.and_then(|set| set.target(entity));
        target.map_or(NONE, |target| self.nearest(target))
    }

    /// [`RowFinder::nearest`] for an entity without a row.
    #[cold]
    fn nearest_above(&mut self, mut entity: Entity) -> u32 {
        let len = self.set.map_or(0, SparseSet::len);
        self.walk.clear();
        let row = loop {
            if let Some(row) = self.met.get(entity.index()) {
                break row;
            }
            assert_no_cycle(self.walk.len() <= len);
            self.walk.push(entity);
            let target = self.set.and_then(|set| set.target(entity));
            let Some(target) = target else { break self.numbers.end() };
            if let Some(row) = self.row(target) {
                break row;
            }
            entity = target;
        };
        self.walk.iter().for_each(|entity| _ = self.met.add(entity.index(), row));
        if row == self.numbers.end() { NONE } else { row }
    }

    /// Adds the nearest rows below an entity. The walk passes over entities without a row that are
    /// in `walked`, and adds the others to it.
    pub(super) fn add_below(
        &self,
        entity: Entity,
        walked: &mut FxHashSet<Entity>,
        rows: &mut Vec<u32>,
    ) {
        let Some(set) = self.set else { return };
        let mut rest = Vec::new();
        let mut next = Some(entity);
        while let Some(above) = next {
            for &source in set.sources(above) {
                match self.row(source) {
                    Some(row) => rows.push(row),
                    None if walked.insert(source) => rest.push(source),
                    None => {}
                }
            }
            next = rest.pop();
        }
    }
}

pub(super) fn assert_no_cycle(holds: bool) {
    assert!(holds, "a relation that is no tree has a cycle: define it by `#[relation(tree)]`");
}
