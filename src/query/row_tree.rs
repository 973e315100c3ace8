//! The tree of the rows of a query: the row of the nearest ancestor of each, and the level.
//!
//! ```text
//!  numbers   0 1 2 3 4 5 6 · 8         a, b: roots; c d e: children of a; f: of b
//!  entities  a b c d e f g · h         g, h: children of c, f
//!  above     – – 0 0 0 1 2   5         numbers of rows
//!  levels    0 0 1 1 1 1 2   2
//! ```
//!
//! A walk over the relations in the order of their set finds the whole tree, with two look-ups in
//! the directory for each. A walk from the roots down would read each list of sources out of order.
//! [`tree_changes`](super::tree_changes) keeps it up to date.

use crate::archetype::LogId;
use crate::component::TreeRelation;
use crate::entity::Entity;
use crate::store::{SparseSet, Store};
use crate::version::Version;

use super::filter::Filter;
use super::known_links::KnownLinks;
use super::query::Query;
use super::row_finder::{RowFinder, assert_no_cycle};
use super::row_numbers::{NONE, RowNumbers};
use super::terms::Terms;

/// The tree of the rows of a query.
#[derive(Debug, Default)]
pub(super) struct RowTree {
    /// The world and its version, if the tree is known.
    pub(super) known: Option<(LogId, Version)>,
    pub(super) numbers: RowNumbers,
    /// The entity of each number, or the null id.
    pub(super) entities: Vec<Entity>,
    /// The row of the nearest ancestor that is in the query, or [`NONE`].
    pub(super) above: Vec<u32>,
    /// The number of ancestors that are in the query; [`NONE`] for numbers without a row.
    pub(super) levels: Vec<u32>,
    pub(super) links: KnownLinks,
}

impl RowTree {
    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        self.numbers.memory_bytes()
            + self.links.memory_bytes()
            + self.entities.capacity() * size_of::<Entity>()
            + (self.above.capacity() + self.levels.capacity()) * size_of::<u32>()
    }

    /// Whether the tree has the rows of a query and the relation, both of its world.
    pub(super) fn is_of<R: TreeRelation, Q: Terms, F: Filter>(
        &self,
        set: Option<&SparseSet<R>>,
        query: &Query<'_, Q, F>,
    ) -> bool {
        self.links.are_of(set) && self.numbers.are_of(query)
    }

    /// Finds rows of the tree.
    pub(super) fn finder<'t, R: TreeRelation>(
        &'t self,
        set: Option<&'t SparseSet<R>>,
        store: &'t Store,
    ) -> RowFinder<'t, R> {
        RowFinder::new(set, store.entities().view(), (&self.numbers, &self.entities))
    }

    /// Makes the whole tree. O(relations + rows).
    ///
    /// # Panics
    ///
    /// If the relation has a cycle, which only a trait that was implemented by hand allows.
    pub(super) fn make<R: TreeRelation, Q: Terms, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: &Query<'_, Q, F>,
    ) {
        let store = query.view().store();
        self.known = None;
        self.numbers = RowNumbers::of(query);
        let end = self.numbers.end() as usize;
        self.entities.clear();
        self.entities.resize(end, Entity::NULL);
        let mut first = 0;
        query.for_each_run(|_, archetype, chunk, rows| {
            let part = &self.numbers.parts[first];
            first += 1;
            let run = rows.start as usize..rows.end as usize;
            let numbers = part.first as usize..part.end() as usize;
            self.entities[numbers].copy_from_slice(&archetype.entities_of_chunk(chunk)[run]);
        });
        let mut above = core::mem::take(&mut self.above);
        above.clear();
        above.resize(end, NONE);
        if let Some(set) = set {
            let mut rows = self.finder(Some(set), store);
            for (source, target) in set.relations() {
                if let Some(row) = rows.row(source) {
                    above[row as usize] = rows.nearest(target);
                }
            }
        }
        self.above = above;
        self.set_levels();
        self.links.copy(set, store.clock());
    }

    /// Finds all levels. O(numbers).
    fn set_levels(&mut self) {
        let Self { entities, above, levels, .. } = self;
        levels.clear();
        levels.resize(above.len(), NONE);
        let mut walk = Vec::new();
        for (row, &parent) in above.iter().enumerate() {
            // A row that was met on the way up from another one gets the level that it has.
            levels[row] = match parent {
                NONE if entities[row].is_null() => NONE,
                NONE => 0,
                parent if levels[parent as usize] != NONE => levels[parent as usize] + 1,
                parent => set_above(levels, above, parent as usize, &mut walk) + 1,
            };
        }
    }
}

/// Sets the levels of a row without one and of the rows above it. Returns its level.
pub(super) fn set_above(
    levels: &mut [u32],
    above: &[u32],
    row: usize,
    walk: &mut Vec<usize>,
) -> u32 {
    let mut next = row;
    let mut level = loop {
        assert_no_cycle(walk.len() < above.len());
        walk.push(next);
        match above[next] {
            NONE => break 0,
            parent if levels[parent as usize] != NONE => break levels[parent as usize] + 1,
            parent => next = parent as usize,
        }
    };
    while let Some(row) = walk.pop() {
        levels[row] = level;
        level += 1;
    }
    levels[row]
}
