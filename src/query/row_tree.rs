//! The tree of the rows of a query: the row of the nearest ancestor of each, and the level.
//!
//! Found by a walk over the relations in the order of their set, two look-ups by index for each,
//! and not from the roots down, which reads each list of sources out of order. Most targets are
//! rows of the query themselves. For the others the walk goes on to their own targets, and
//! remembers where it ended, so that a long chain of entities without a row is walked once.

use crate::component::TreeRelation;
use crate::entity::{Entity, PagedIndex};
use crate::store::SparseSet;

/// The number of a row that does not exist.
pub(super) const NONE: u32 = u32::MAX;

#[inline]
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("there are more rows than entities")
}

/// The tree of the rows of a query.
pub(super) struct RowTree {
    /// The row of the nearest ancestor that is in the query, or [`NONE`].
    pub(super) above: Vec<u32>,
    /// The number of ancestors that are in the query.
    pub(super) levels: Vec<u32>,
}

impl RowTree {
    /// Of rows with these entities. O(relations + rows).
    ///
    /// # Panics
    ///
    /// If the relation has a cycle, which only a trait that was implemented by hand allows.
    pub(super) fn of<R: TreeRelation>(set: Option<&SparseSet<R>>, entities: &[Entity]) -> Self {
        let mut above = vec![NONE; entities.len()];
        if let Some(set) = set {
            let mut rows = NearestRows::of(set, entities);
            for (source, target) in set.relations() {
                if let Some(row) = rows.own.get(source.index()) {
                    above[row as usize] = rows.nearest(target);
                }
            }
        }
        let levels = levels(&above);
        Self { above, levels }
    }

    /// The rows sorted by their levels. O(rows + levels).
    pub(super) fn by_level(&self) -> Vec<u32> {
        let levels = self.levels.iter().max().map_or(0, |&last| last as usize + 1);
        let mut starts = vec![0u32; levels + 1];
        self.levels.iter().for_each(|&level| starts[level as usize + 1] += 1);
        (0..levels).for_each(|level| starts[level + 1] += starts[level]);
        let mut sorted = vec![0; self.levels.len()];
        for (row, &level) in (0u32..).zip(&self.levels) {
            let at = &mut starts[level as usize];
            sorted[*at as usize] = row;
            *at += 1;
        }
        sorted
    }
}

/// Finds the rows of entities, and of their nearest ancestors.
struct NearestRows<'s, R: TreeRelation> {
    set: &'s SparseSet<R>,
    /// The rows of the query.
    own: PagedIndex,
    /// Of entities without a row that a walk has met: the row of the nearest ancestor, or the
    /// number of all rows if no ancestor has one.
    met: PagedIndex,
    len: u32,
    /// The entities of a walk, kept for its memory.
    walk: Vec<Entity>,
}

impl<'s, R: TreeRelation> NearestRows<'s, R> {
    fn of(set: &'s SparseSet<R>, entities: &[Entity]) -> Self {
        let mut own = PagedIndex::default();
        (0u32..).zip(entities).for_each(|(row, entity)| _ = own.add(entity.index(), row));
        let (met, len) = (PagedIndex::default(), narrow(entities.len()));
        Self { set, own, met, len, walk: Vec::new() }
    }

    /// The row of an entity, or of its nearest ancestor that has one, or [`NONE`].
    #[inline]
    fn nearest(&mut self, entity: Entity) -> u32 {
        self.own.get(entity.index()).unwrap_or_else(|| self.nearest_above(entity))
    }

    /// [`NearestRows::nearest`] for an entity without a row.
    #[cold]
    fn nearest_above(&mut self, mut entity: Entity) -> u32 {
        self.walk.clear();
        let row = loop {
            if let Some(row) = self.met.get(entity.index()) {
                break row;
            }
            assert_no_cycle(self.walk.len() <= self.set.len());
            self.walk.push(entity);
            let Some(target) = self.set.target(entity) else { break self.len };
            if let Some(row) = self.own.get(target.index()) {
                break row;
            }
            entity = target;
        };
        self.walk.iter().for_each(|entity| _ = self.met.add(entity.index(), row));
        if row == self.len { NONE } else { row }
    }
}

/// The number of rows above each row. O(rows).
fn levels(above: &[u32]) -> Vec<u32> {
    let mut levels = vec![NONE; above.len()];
    let mut walk = Vec::new();
    for (row, &parent) in above.iter().enumerate() {
        // A row that was met on the way up from another one gets the level that it has.
        levels[row] = match parent {
            NONE => 0,
            parent if levels[parent as usize] != NONE => levels[parent as usize] + 1,
            parent => set_above(&mut levels, above, parent as usize, &mut walk) + 1,
        };
    }
    levels
}

/// Sets the levels of a row without one and of the rows above it. Returns its level.
fn set_above(levels: &mut [u32], above: &[u32], row: usize, walk: &mut Vec<usize>) -> u32 {
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

fn assert_no_cycle(holds: bool) {
    assert!(holds, "a relation that is no tree has a cycle: define it by `#[relation(tree)]`");
}
