//! Keeps the tree of the rows of a query up to date while few of its rows and relations change.
//!
//! The steps use only stamps and versions that the world keeps anyway, and look only at chunks,
//! blocks and rows that a change concerns:
//!
//! ```text
//!  chunks with another order stamp   ─►  rows that left or came, by their entities
//!  blocks of the set with another    ─►  sources that came, went or have another target
//!  version
//!  rows that came or left, sources   ─►  rows that may have another parent number: these, and
//!                                        the nearest rows below entities that came or left,
//!                                        and below sources without a row
//!  rows with another parent          ─►  levels of these rows and of all rows below them
//! ```
//!
//! A row moved if its entity left one number and came to another. It keeps its level, unless its
//! parent is another one. It needs a new value if it came to another chunk list, because it has
//! other components there. An entity may also leave its list and come back between two passes, with
//! new values, even to the same place. Only the arrival stamp of its chunk tells such a row from a
//! row that stayed. So all rows of a chunk to which rows came since the last pass need new values.
//!
//! No row is missed. The parent of a row is the first entity with a row on the way up its targets.
//! Another parent, or another number of it, has one of three causes: the former parent left, an
//! entity on the way came, or a relation on the way changed. The lowest cause on the way is found,
//! and the way from it down to the row has not changed.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::component::TreeRelation;
use crate::entity::Entity;
use crate::storage::StampKind;
use crate::store::{SparseSet, Store};
use crate::version::Version;

use super::filter::Filter;
use super::query::Query;
use super::row_finder::RowFinder;
use super::row_numbers::{ChangedNumbers, NONE};
use super::row_tree::{RowTree, set_above};
use super::terms::Terms;

/// A row that an entity left.
#[derive(Clone, Copy, Debug)]
struct LeftRow {
    number: u32,
    entity: Entity,
    /// The entity of the nearest ancestor, or the null id.
    above: Entity,
    level: u32,
    /// The key of its chunk list.
    list: u64,
}

/// A row that has another entity than before.
#[derive(Clone, Copy, Debug)]
struct NewRow {
    number: u32,
    entity: Entity,
    list: u64,
    /// Whether rows came to its chunk.
    may_be_back: bool,
}

/// The rows with other entities than before, both in the order of their numbers.
#[derive(Debug, Default)]
struct OtherRows {
    left: Vec<LeftRow>,
    came: Vec<NewRow>,
    /// Rows with the same entity, in chunks to which rows came.
    may_be_back: Vec<u32>,
}

/// The relation and the world of a tree.
type Source<'t, R> = (Option<&'t SparseSet<R>>, &'t Store);

impl RowTree {
    /// Brings a tree of the same world up to date. Returns the rows that need other values: rows
    /// with another nearest ancestor, rows from other chunk lists or from nowhere, and all rows of
    /// chunks to which rows came. `None` if too many have changed: the whole tree must be made.
    ///
    /// O(changed rows and relations + rows below them + rows in their chunks + relations in their
    /// blocks + chunks).
    pub(super) fn update<R: TreeRelation, Q: Terms, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: &Query<'_, Q, F>,
    ) -> Option<Vec<u32>> {
        let store = query.view().store();
        // The tree is not known until it is up to date.
        let since = self.known.take().map_or(Version::NEVER, |(_, version)| version);
        let numbers = self.numbers.following(query)?;
        // Small trees are cheap either way.
        let limit = 64 + numbers.rows_len() / 4;
        let changes = numbers.changes_since(&self.numbers);
        self.numbers = numbers;
        let others = self.other_rows(&changes, (since, limit), store)?;
        self.put(&others);
        let mut sources = Vec::new();
        if !self.links.are_of(set) {
            self.links.update(set, store.clock(), &mut sources);
        }
        let rows = self.rows_to_link(&others, &sources, (set, store));
        if rows.len() > 2 * limit {
            return None;
        }
        let (mut changed, mut moved) = self.link(&others, rows, (set, store));
        self.set_levels_below(&changed, 2 * limit, (set, store))?;
        changed.append(&mut moved);
        changed.extend(others.may_be_back);
        changed.sort_unstable();
        changed.dedup();
        Some(changed)
    }

    /// The rows with other entities than before, and the rows that may be back since a version.
    /// `None` if more rows left, came or moved than a limit.
    fn other_rows(
        &self,
        changes: &[ChangedNumbers],
        (since, limit): (Version, usize),
        store: &Store,
    ) -> Option<OtherRows> {
        let mut others = OtherRows::default();
        let OtherRows { left, came, may_be_back: same } = &mut others;
        let mut now = Vec::new();
        for &ChangedNumbers { list, ref numbers, ref parts, archetype } in changes {
            now.clear();
            now.resize(numbers.len(), Entity::NULL);
            for part in &self.numbers.parts[parts.clone()] {
                let entities = store.archetypes().get(archetype).entities_of_chunk(part.chunk);
                let first = (part.first - numbers.start) as usize;
                let own = &mut now[first..first + part.len as usize];
                own.copy_from_slice(&entities[part.start as usize..][..own.len()]);
            }
            // The archetype of a list without parts may be retired.
            let part = self.numbers.parts[parts.clone()].first();
            let arrival = part.map(|part| {
                let stamps = store.archetypes().get(archetype).stamps();
                stamps.get(StampKind::ARRIVAL, part.chunk as usize)
            });
            // Rows may come after the last pass, at its version.
            let may_be_back = arrival.is_some_and(|arrival| arrival >= since);
            for (number, &entity) in numbers.clone().zip(&now) {
                let former = self.entity(number);
                if former == entity {
                    same.extend((may_be_back && !entity.is_null()).then_some(number));
                    continue;
                }
                if !former.is_null() {
                    let above = self.entity(self.above[number as usize]);
                    let level = self.levels[number as usize];
                    left.push(LeftRow { number, entity: former, above, level, list });
                }
                if !entity.is_null() {
                    came.push(NewRow { number, entity, list, may_be_back });
                }
            }
            // A row that moved is in both.
            if left.len().max(came.len()) > limit {
                return None;
            }
        }
        left.sort_unstable_by_key(|row| row.number);
        came.sort_unstable_by_key(|row| row.number);
        Some(others)
    }

    /// The entity of a row, or the null id.
    fn entity(&self, row: u32) -> Entity {
        self.entities.get(row as usize).copied().unwrap_or(Entity::NULL)
    }

    /// Gives rows their entities.
    fn put(&mut self, others: &OtherRows) {
        let end = self.numbers.end() as usize;
        self.entities.resize(end, Entity::NULL);
        self.above.resize(end, NONE);
        self.levels.resize(end, NONE);
        for row in &others.left {
            let at = row.number as usize;
            (self.entities[at], self.above[at], self.levels[at]) = (Entity::NULL, NONE, NONE);
        }
        for row in &others.came {
            let at = row.number as usize;
            // Any level but `NONE`, until the right one is known.
            (self.entities[at], self.levels[at]) = (row.entity, 0);
        }
    }

    /// The rows that may have another parent, or a parent with another number, in ascending order.
    fn rows_to_link<R: TreeRelation>(
        &self,
        others: &OtherRows,
        sources: &[Entity],
        (set, store): Source<'_, R>,
    ) -> Vec<u32> {
        let finder = self.finder(set, store);
        let (mut walked, mut rows) = (FxHashSet::default(), Vec::new());
        for row in &others.came {
            rows.push(row.number);
            finder.add_below(row.entity, &mut walked, &mut rows);
        }
        let left = others.left.iter().map(|row| (row.entity, false));
        let sources = sources.iter().map(|&source| (source, true));
        for (entity, is_source) in left.chain(sources) {
            match finder.row(entity) {
                Some(row) if is_source => rows.push(row),
                // It moved: its new row is in `came`.
                Some(_) => {}
                None if walked.insert(entity) => {
                    finder.add_below(entity, &mut walked, &mut rows);
                }
                None => {}
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Finds the parents of some rows. Returns the rows with another parent than before, and the
    /// rows that moved from other chunk lists or may be back.
    fn link<R: TreeRelation>(
        &mut self,
        others: &OtherRows,
        rows: Vec<u32>,
        (set, store): Source<'_, R>,
    ) -> (Vec<u32>, Vec<u32>) {
        let Self { numbers, entities, above, levels, .. } = self;
        let mut finder = RowFinder::new(set, store.entities().view(), (numbers, entities));
        let left: FxHashMap<_, _> = others.left.iter().map(|row| (row.entity, row)).collect();
        let mut came = others.came.iter().peekable();
        let (mut changed, mut moved) = (Vec::new(), Vec::new());
        for row in rows {
            let at = row as usize;
            let new = came.next_if(|new| new.number == row);
            let parent = finder.above(finder.entity(row));
            let former = match new.map(|new| (new, left.get(&new.entity))) {
                None => Some(others.former(above[at]).unwrap_or(finder.entity(above[at]))),
                Some((_, None)) => None,
                Some((new, Some(left))) => {
                    levels[at] = left.level;
                    moved.extend((new.may_be_back || left.list != new.list).then_some(row));
                    Some(left.above)
                }
            };
            above[at] = parent;
            if former != Some(finder.entity(parent)) {
                changed.push(row);
            }
        }
        (changed, moved)
    }

    /// Finds the levels of some rows and of all rows below them. `None` if they are more than a
    /// limit.
    fn set_levels_below<R: TreeRelation>(
        &mut self,
        rows: &[u32],
        limit: usize,
        (set, store): Source<'_, R>,
    ) -> Option<()> {
        let Self { numbers, entities, above, levels, .. } = self;
        let finder = RowFinder::new(set, store.entities().view(), (numbers, entities));
        let (mut rest, mut walked) = (rows.to_vec(), FxHashSet::default());
        let mut below = Vec::new();
        while let Some(row) = rest.pop() {
            let level = &mut levels[row as usize];
            if core::mem::replace(level, NONE) != NONE {
                below.push(row as usize);
                finder.add_below(finder.entity(row), &mut walked, &mut rest);
            }
            if below.len() > limit {
                return None;
            }
        }
        let mut walk = Vec::new();
        for row in below {
            if levels[row] == NONE {
                set_above(levels, above, row, &mut walk);
            }
        }
        Some(())
    }
}

impl OtherRows {
    /// The entity that left a number.
    fn former(&self, number: u32) -> Option<Entity> {
        let at = self.left.binary_search_by_key(&number, |row| row.number).ok()?;
        Some(self.left[at].entity)
    }
}
