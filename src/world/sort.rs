//! `sort_by_key`: the rows that a query matches are put in the order of a key.

use core::ops::Range;

use crate::entity::{ArchetypeId, RowIndex};
use crate::query::{Filter, Query, ReadTerms, masks_in};
use crate::storage::ChunkRow;
use crate::store::{Store, sort_order};

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
