//! `sort_by_key` and `sort_by_level`: the rows that a query matches are put in an order.

use core::ops::Range;

use crate::component::TreeRelation;
use crate::entity::{ArchetypeId, PagedIndex, RowIndex};
use crate::query::{Filter, Query, ReadTerms, masks_in};
use crate::storage::ChunkRow;
use crate::store::{Levels, Store, sort_order};

use super::matching::Matching;

/// The rows of one archetype that a query sees.
struct SeenRows {
    archetype: ArchetypeId,
    /// Their positions, in ranges, which end with their chunk at the latest.
    runs: Vec<Range<u32>>,
    len: usize,
}

impl SeenRows {
    /// The positions of the rows.
    fn positions(&self) -> Vec<RowIndex> {
        let mut positions = Vec::with_capacity(self.len);
        positions.extend(self.runs.iter().cloned().flatten().map(RowIndex));
        positions
    }
}

impl<Q: ReadTerms, F: Filter> Matching<'_, Q, F> {
    /// Sorts the rows of each archetype by a key, and returns the number of rows that have another
    /// place now. Rows with equal keys keep their order.
    ///
    /// Rows are sorted within their archetype: a query visits archetype after archetype, and in
    /// each the keys ascend. Rows that the query does not see, because they are
    /// [disabled](crate::World::set_enabled) or a filter excludes them, keep their places.
    ///
    /// Everything that belongs to a row follows it: its entity, whose id stays valid, its enable
    /// bits, its versions of lines. Values of chunks stay with their chunks. No value counts as
    /// changed, and no row as arrived; [`Reordered`](crate::Reordered) chooses the chunks that have
    /// other rows or rows in other places.
    ///
    /// `key` is called once for each row, in the order of the query. For floats use
    /// [`total_order`](crate::rows::total_order); descending, [`Reverse`](core::cmp::Reverse); for
    /// several keys, a tuple.
    ///
    /// O(rows) for the keys if few rows are out of place, otherwise O(rows × log rows). If no row
    /// is, nothing moves. Otherwise all rows of the archetype are copied to new chunks: O(bytes),
    /// and it has twice its memory for a time. If `key` or a comparison panics, no row has moved.
    ///
    /// In a system, record it with
    /// [`CommandBuffer::sort_where`](crate::CommandBuffer::sort_where).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::rows::total_order;
    /// # #[component] struct Sprite { depth: f32 }
    /// # let mut world = World::new();
    /// world.spawn_batch([3.0, 1.0, 2.0].map(|depth| Sprite { depth }));
    /// let moved = world.matching::<&Sprite>().sort_by_key(|sprite| total_order(sprite.depth));
    /// let depths: Vec<f32> = world.query::<&Sprite>().rows().map(|sprite| sprite.depth).collect();
    /// assert_eq!((depths, moved), (vec![1.0, 2.0, 3.0], 3));
    /// ```
    pub fn sort_by_key<K: Ord>(self, key: impl FnMut(Q::Row<'_>) -> K) -> usize {
        let (store, filter) = self.into_parts();
        let seen = seen_rows::<Q, F>(store, &filter);
        let total = seen.iter().map(|seen| seen.len).sum();
        let mut keys = Vec::with_capacity(total);
        // By `fold`, which goes from slice to slice.
        let rows = Query::<Q, F>::exclusive_where(store, filter).rows();
        rows.map(key).for_each(|key| keys.push(key));
        assert!(keys.len() == total, "a pass saw other rows than the list of rows");
        sort_rows(store, seen, keys)
    }

    /// Sorts the rows of each archetype by their level in the tree of a relation, and within a
    /// level in the order of their parents; returns the number of rows that have another place now.
    /// Rows that are in no tree come first, and keep their order.
    ///
    /// It is [`sort_by_key`](Matching::sort_by_key) with the places of the entities in
    /// [`Relation::levels`](crate::sparse::Relation::levels), with its costs and promises. A pass
    /// by [`Relation::propagate`](crate::sparse::Relation::propagate) then has long slices,
    /// and reads the values of parents in their order. O(relations + rows) if no row is out of
    /// place. A system records it by
    /// `commands.run(|world| { world.matching::<&Place>().sort_by_level::<ChildOf>(); })`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Place(f32);
    /// # let mut world = World::new();
    /// let [hand, arm, body] = [1.0, 2.0, 3.0].map(|x| world.spawn(Place(x)));
    /// world.insert(hand, ChildOf::of(arm))?;
    /// world.insert(arm, ChildOf::of(body))?;
    /// world.matching::<&Place>().sort_by_level::<ChildOf>();
    /// assert!(world.query::<Entity>().with::<Place>().rows().eq([body, arm, hand]));
    /// assert_eq!(world.matching::<&Place>().sort_by_level::<ChildOf>(), 0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn sort_by_level<R: TreeRelation>(self) -> usize {
        let (store, filter) = self.into_parts();
        let mut ranks = PagedIndex::default();
        match store.read_sparse::<R>() {
            None => return 0,
            Some(set) => {
                for (rank, entity) in (1u32..).zip(Levels::of(&set).entities()) {
                    ranks.add(entity.index(), rank);
                }
            }
        }
        let seen = seen_rows::<Q, F>(store, &filter);
        let mut keys = Vec::with_capacity(seen.iter().map(|seen| seen.len).sum());
        for seen in &seen {
            let archetype = &store.archetypes().as_slice()[seen.archetype.index()];
            let (list, entities) = (archetype.list(), archetype.entities());
            let rank = |row| ranks.get(entities[list.index_of(list.split(row))].index());
            keys.extend(seen.positions().into_iter().map(rank));
        }
        sort_rows(store, seen, keys)
    }
}

/// Sorts rows by their keys, and returns the number of rows that have another place now.
fn sort_rows<K: Ord>(store: &mut Store, seen: Vec<SeenRows>, mut keys: Vec<K>) -> usize {
    // All orders are found before the first row moves, because a comparison may panic.
    let mut orders = Vec::new();
    // From the last archetype on, whose keys are the end of the list.
    for seen in seen.into_iter().rev() {
        if let Some(order) = sort_order(keys.split_off(keys.len() - seen.len)) {
            orders.push((seen, order));
        }
    }
    if orders.is_empty() {
        return 0;
    }
    let now = store.advance_clock();
    let reorder = |(seen, order): (SeenRows, Vec<u32>)| {
        store.reorder(seen.archetype, (&seen.positions(), &order), now)
    };
    orders.into_iter().map(reorder).sum()
}

/// The rows that a query sees in each archetype, in its order.
fn seen_rows<Q: ReadTerms, F: Filter>(store: &mut Store, filter: &F) -> Vec<SeenRows> {
    let mut seen: Vec<SeenRows> = Vec::new();
    masks_in::<Q, F>(store, filter, |id, archetype, mask| {
        if seen.last().is_none_or(|last| last.archetype != id) {
            seen.push(SeenRows { archetype: id, runs: Vec::new(), len: 0 });
        }
        let Some(SeenRows { runs, len, .. }) = seen.last_mut() else { return };
        let first = archetype.list().position(ChunkRow { chunk: mask.chunk(), row: 0 }).0;
        for run in mask.runs_in_chunk() {
            *len += run.len();
            runs.push(first + run.start..first + run.end);
        }
    });
    seen
}
