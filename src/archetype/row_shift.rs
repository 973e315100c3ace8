//! Rows that get other places in their archetype.

use crate::storage::{ChunkList, ChunkRow, RowRun};

/// Rows that follow each other before and after they get another place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowShift {
    /// Where they lie before.
    pub(crate) from: RowRun,
    /// The first of their new places, which lie in one chunk.
    pub(crate) to: ChunkRow,
    /// Whether they jump over rows that stay or shift. The rows that do not jump keep their order.
    pub(crate) jumps: bool,
}

/// The rows of a list by their new places: rows of some shifts, and between them rows that stay.
pub(super) struct ShiftedRows<'s> {
    rest: &'s [RowShift],
    /// Rows of the first of `rest` that were taken.
    taken: u32,
    /// The number of places before the next one.
    next: usize,
}

impl<'s> ShiftedRows<'s> {
    /// All rows, from the first place on. The shifts are in the order of their places.
    pub(super) const fn new(shifts: &'s [RowShift]) -> Self {
        Self { rest: shifts, taken: 0, next: 0 }
    }

    /// The rows of the next `len` places of a list, in runs.
    pub(super) fn take(&mut self, list: &ChunkList, len: usize, rows: &mut Vec<RowRun>) {
        rows.clear();
        let end = self.next + len;
        while self.next < end {
            let left = u32::try_from(end - self.next).expect("a chunk has 2^32 rows or more");
            let start = self.rest.first().map_or(end, |shift| list.index_of(shift.to));
            let taken = match self.rest.first() {
                Some(shift) if start <= self.next => {
                    let mut from = shift.from;
                    from.take_first(self.taken);
                    let taken = from.take_first(left);
                    self.taken += taken.len;
                    if from.len == 0 {
                        (self.rest, self.taken) = (&self.rest[1..], 0);
                    }
                    taken
                }
                _ => {
                    let at = list.split(list.position_of(self.next));
                    let stay = left.min(list.rows(at.chunk) - at.row);
                    let until = u32::try_from(start - self.next).unwrap_or(u32::MAX);
                    RowRun { at, len: stay.min(until) }
                }
            };
            self.next += taken.len as usize;
            rows.push(taken);
        }
    }
}
