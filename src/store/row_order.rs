//! Puts the rows of an archetype in another order, which [`sort_order`](super::sort_order) finds.

use std::borrow::Cow;

use crate::archetype::{Archetype, MoveContext, RowShift};
use crate::entity::{ArchetypeId, RowIndex};
use crate::storage::{ChunkRow, RowRun};
use crate::version::Version;

use super::sort_order::SortedRun;
use super::sorted_lists::SortedLists;
use super::store::Store;

/// The order of rows that were sorted.
#[derive(Debug)]
pub(crate) enum RowOrder {
    /// All rows, in runs; few of them jump. No run if no row moves.
    Few(Vec<SortedRun>),
    /// All rows.
    Many(Vec<RowIndex>),
}

impl RowOrder {
    /// Whether the order is the old one.
    pub(crate) const fn is_same(&self) -> bool {
        matches!(self, Self::Few(runs) if runs.is_empty())
    }
}

impl Store {
    /// Puts rows of an archetype in an order of the same rows: the first of them takes the first
    /// place of `rows`, and so on. All other rows keep their places. `rows` ascend. Returns the
    /// number of rows with new places.
    ///
    /// # Panics
    ///
    /// If a row is not live. The order must have each row once.
    pub(crate) fn reorder(
        &mut self,
        id: ArchetypeId,
        (rows, order): (&[RowRun], &RowOrder),
        now: Version,
    ) -> usize {
        let Self { archetypes, entities, pool, .. } = self;
        if order.is_same() {
            return 0;
        }
        let (archetype, context) =
            (archetypes.get_mut(id), &mut MoveContext { entities, pool, now });
        match order {
            RowOrder::Few(order) => {
                let shifts = shifts(rows, order);
                archetype.shift_rows(id, &shifts, context);
                shifts.iter().map(|shift| shift.from.len as usize).sum()
            }
            RowOrder::Many(order) => {
                let moved = count_moved(archetype, rows, order);
                archetype.gather_rows(id, &with_others(archetype, rows, order), context);
                moved
            }
        }
    }
}

/// The number of rows with another place after `rows` were put in this order.
fn count_moved(archetype: &Archetype, rows: &[RowRun], mut order: &[RowIndex]) -> usize {
    let count = |run: &RowRun| {
        let RowIndex(first) = archetype.list().position(run.at);
        let new = order.split_off(..run.len as usize).expect("the order has fewer rows");
        (first..).zip(new).filter(|&(old, new)| old != new.0).count()
    };
    rows.iter().map(count).sum()
}

/// The order of all rows of an archetype in which `rows` have this order, and all others stay.
fn with_others<'o>(
    archetype: &Archetype,
    rows: &[RowRun],
    mut order: &'o [RowIndex],
) -> Cow<'o, [RowIndex]> {
    if order.len() == archetype.len() {
        return Cow::Borrowed(order);
    }
    let list = archetype.list();
    let mut all = Vec::with_capacity(list.len());
    for chunk in 0..list.chunk_len() {
        let RowIndex(first) = list.position(ChunkRow { chunk, row: 0 });
        all.extend((first..first + list.rows(chunk)).map(RowIndex));
    }
    for run in rows {
        let (first, len) = (list.index_of(run.at), run.len as usize);
        let new = order.split_off(..len).expect("the order has fewer rows");
        all[first..first + len].copy_from_slice(new);
    }
    Cow::Owned(all)
}

/// The chunks that are sorted by a key.
impl Store {
    /// The lists that were sorted by a key, for reading.
    pub(crate) const fn sorted_lists(&self) -> &SortedLists {
        &self.sorted
    }

    /// Forgets sorts of lists that are no more: see [`SortedLists::forget_old`].
    pub(crate) fn forget_old_sorts<S: 'static>(&mut self, ids: impl Iterator<Item = ArchetypeId>) {
        let Self { archetypes, sorted, .. } = self;
        let all = archetypes.as_slice();
        sorted.forget_old::<S>(archetypes, ids.map(|id| &all[id.index()]));
    }

    /// Notes that all rows of an archetype are sorted by the key `S`, of values of `columns`.
    pub(crate) fn note_sorted<S: 'static>(
        &mut self,
        id: ArchetypeId,
        columns: impl IntoIterator<Item = u16> + Copy,
    ) {
        let Self { archetypes, sorted, .. } = self;
        sorted.note::<S>(&archetypes.as_slice()[id.index()], columns);
    }
}

/// The rows that get another place, in the order of their new places.
fn shifts(rows: &[RowRun], order: &[SortedRun]) -> Vec<RowShift> {
    let mut shifts = Vec::with_capacity(order.len());
    let mut places = rows.iter();
    let mut to = RowRun { at: ChunkRow { chunk: 0, row: 0 }, len: 0 };
    for &SortedRun { rows: mut from, jumps } in order {
        while from.len > 0 {
            if to.len == 0 {
                to = *places.next().expect("the order has more rows");
            }
            let len = from.len.min(to.len);
            let (from, to) = (from.take_first(len), to.take_first(len));
            if from.at != to.at {
                shifts.push(RowShift { from, to: to.at, jumps });
            }
        }
    }
    shifts
}
