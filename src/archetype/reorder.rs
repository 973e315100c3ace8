//! Puts the rows of an archetype in another order.
//!
//! ```text
//!  old list  │ a b c d │ e f g h │ i j │      order: j f b a, e d c g, h i
//!              ╲ ╲     ╱ ╱                     all columns gathered, one after the other
//!  new list  │ j f b a │ e d c g │ h i │
//! ```
//!
//! If many rows get another place, it is a move of all rows out of the archetype and back into it,
//! and while they move, the archetype has twice its memory, beside a list of 12 bytes for each run
//! of rows that stay together. Otherwise only the rows with another place move, in place:
//!
//! ```text
//!  old order  │ a b c d │ e f g h │ i j │   h goes before b: it jumps, b to g shift by one
//!  aside       h
//!  shifted    │ a . b c │ d e f g │ i j │   to the right from the last row on,
//!                                          to the left from the first row on
//!  new order  │ a h b c │ d e f g │ i j │   rows from aside fill the places that are free
//! ```
//!
//! Shifting rows keep their order, so they can move in place. Right shifts go from the last row to
//! the first: every row to the right that shifts right has moved already, and a row there that
//! shifts left starts and ends to the right of this one's new place. Left shifts mirror this.
//!
//! In both ways stamps, enable bits and versions of lines follow their rows as on the way to
//! another archetype, and a new kind of attachment needs no code for it. Values of chunks stay with
//! the number of their chunk. Rows that follow each other in both orders are copied by one `memcpy`
//! a column.

use crate::entity::{ArchetypeId, Directory, Entity, Location, RowIndex};
use crate::storage::{
    Attachments, ChunkList, ChunkRow, DistinctColumns, Pool, RowMove, RowRun, RowSpan, Stamps,
};
use crate::version::Version;

use super::archetype::Archetype;
use super::move_chunks::MoveContext;
use super::row_shift::{RowShift, ShiftedRows};

/// The chunks from which the rows of one chunk came.
pub(super) struct RowSources<'o> {
    /// The stamps that all chunks had.
    pub(super) stamps: &'o Stamps,
    /// The attachments that all chunks had.
    pub(super) attachments: Option<&'o Attachments>,
    /// The chunks from which rows came, each once.
    pub(super) chunks: &'o [u32],
    /// The rows and the chunk from which they came, sorted by these. Empty without attachments.
    pub(super) spans: &'o [(u32, RowSpan)],
    /// Whether all rows have the places that they had before.
    pub(super) is_same: bool,
}

/// The stamps and attachments of an archetype before its rows get their new places.
struct OldMeta {
    stamps: Stamps,
    attachments: Option<Attachments>,
    /// The chunk that last got a row from each chunk.
    last_to: Vec<u32>,
    /// The lists of [`RowSources`].
    chunks: Vec<u32>,
    spans: Vec<(u32, RowSpan)>,
}

/// Chunks with other rows than before have a new version of the order; no value counts as changed.
/// A row or a place that is not live panics; both ways must get each row once, and each place.
impl Archetype {
    /// Puts the rows in the order of `order`, which has the old position of each row, and sets the
    /// locations of their entities. `id` is the number of this archetype.
    ///
    /// O(bytes), and O(columns) for each pair of chunks between which a row moves.
    pub(crate) fn gather_rows(
        &mut self,
        id: ArchetypeId,
        order: &[RowIndex],
        context: &mut MoveContext<'_>,
    ) {
        assert!(order.len() == self.len(), "the order has another number of rows");
        // The list has no row for a moment, so its reserved blocks go as well.
        let reserved = self.list.spare_rows();
        let (mut old, mut meta) = (self.list.take_rows(), self.take_meta());
        let capacity = self.entities.capacity();
        let entities = core::mem::replace(&mut self.entities, Vec::with_capacity(capacity));
        let cells = RowMove::new((&old, &self.list), all_columns(&old), (none(), none()));
        // A run also ends with its chunk, before or after.
        let runs_max = runs_of(order) + 2 * old.chunk_len() as usize;
        let (mut left, mut free, mut from) = (order, Vec::new(), Vec::with_capacity(runs_max));
        while !left.is_empty() {
            let done = order.len() - left.len();
            let run = self.list.open_run(done, left.len(), context.pool).at_most(left.len());
            assert!(run.rows.start == 0, "a chunk has rows before the others are moved");
            let (rows, start) = (left.split_off(..run.rows.len()).unwrap_or(&[]), from.len());
            from.push(RowRun { at: old.split(rows[0]), len: 1 });
            rows[1..].iter().for_each(|&row| RowRun::add(&mut from, old.split(row)));
            free.push((run, start..from.len()));
        }
        let runs: Vec<_> = free.iter().map(|(run, part)| (run, &from[part.clone()])).collect();
        // Pass by pass: a row of a random order is in another page than the row before, and the
        // pages of one column or list are few enough for the processor to keep their addresses.
        let written = cells.write_by_column(&old, (&mut self.list, &runs));
        self.entities.extend(order.iter().map(|&row| entities[old.index_of(old.split(row))]));
        for (run, from) in &runs {
            self.move_stamps(run.chunk, &mut meta, from, context.now);
        }
        for (run, from) in &runs {
            self.locate_rows(id, run.chunk, from, context.entities);
        }
        self.list.commit(&written);
        old.clear(context.pool);
        self.reserve(reserved, context.pool);
    }

    /// Moves rows to the places of others, and sets the locations of their entities. `shifts` have
    /// the rows that get another place, in the order of these. `id` is the number of this
    /// archetype.
    ///
    /// O(bytes that move), and O(columns) for each pair of chunks between which a row moves.
    pub(crate) fn shift_rows(
        &mut self,
        id: ArchetypeId,
        shifts: &[RowShift],
        context: &mut MoveContext<'_>,
    ) {
        let mut meta = self.take_meta();
        let jumping = shifts.iter().filter(|shift| shift.jumps);
        let (mut aside, entities) = self.copy_aside(jumping.clone(), context.pool);
        let mut shift = |shift: &RowShift| {
            self.list.copy_rows(shift.from, shift.to);
            let [from, to] = [shift.from.at, shift.to].map(|at| self.list.index_of(at));
            self.entities.copy_within(from..from + shift.from.len as usize, to);
        };
        let shifting = || shifts.iter().filter(|shift| !shift.jumps);
        shifting().filter(|one| one.to < one.from.at).for_each(&mut shift);
        shifting().rev().filter(|one| one.to > one.from.at).for_each(&mut shift);
        self.copy_back((&aside, &entities), jumping);
        aside.clear(context.pool);

        let (mut order, mut from) = (ShiftedRows::new(shifts), Vec::new());
        for chunk in 0..self.list.chunk_len() {
            order.take(&self.list, self.list.rows(chunk) as usize, &mut from);
            self.move_stamps(chunk, &mut meta, &from, context.now);
            self.locate_rows(id, chunk, &from, context.entities);
        }
    }

    /// Copies the rows of some shifts, and their entities.
    fn copy_aside<'s>(
        &self,
        shifts: impl Iterator<Item = &'s RowShift> + Clone,
        pool: &mut Pool,
    ) -> (ChunkList, Vec<Entity>) {
        let mut entities = Vec::new();
        for rows in shifts.clone().map(|shift| shift.from) {
            let first = self.list.index_of(rows.at);
            entities.extend_from_slice(&self.entities[first..first + rows.len as usize]);
        }
        let mut aside = ChunkList::new(self.list.layouts().clone());
        let (mut written, mut from) = (aside.no_written_rows(), Vec::new());
        let cells = RowMove::new((&self.list, &aside), all_columns(&aside), (none(), none()));
        let mut shifts = shifts.map(|shift| shift.from);
        let mut next = RowRun { at: ChunkRow { chunk: 0, row: 0 }, len: 0 };
        while written.len() < entities.len() {
            let left = entities.len() - written.len();
            let run = aside.open_run(written.len(), left, pool).at_most(left);
            let mut room = run.rows.end - run.rows.start;
            from.clear();
            while room > 0 {
                if next.len == 0 {
                    next = shifts.next().expect("there are fewer rows than entities");
                }
                from.push(next.take_first(room));
                room -= from.last().map_or(0, |rows| rows.len);
            }
            cells.write_rows((&self.list, &from), (&mut aside, &run), &mut written, |_, _| &[]);
        }
        aside.commit(&written);
        (aside, entities)
    }

    /// Copies rows to the places of the shifts for which they were copied aside.
    fn copy_back<'s>(
        &mut self,
        (aside, entities): (&ChunkList, &[Entity]),
        shifts: impl Iterator<Item = &'s RowShift>,
    ) {
        let cells = RowMove::new((aside, &self.list), all_columns(aside), (none(), none()));
        let (mut order, mut from, mut rest) = (ShiftedRows::new(&[]), Vec::new(), entities);
        for &RowShift { from: RowRun { len, .. }, to, .. } in shifts {
            order.take(aside, len as usize, &mut from);
            cells.overwrite_rows((aside, &from), (&mut self.list, RowRun { at: to, len }));
            let (first, entities);
            (entities, rest) = rest.split_at(len as usize);
            first = self.list.index_of(to);
            self.entities[first..first + entities.len()].copy_from_slice(entities);
        }
    }

    fn take_meta(&mut self) -> OldMeta {
        let stamps = self.stamps.take();
        let attachments = self.extras.as_mut().map(|extras| extras.attachments.take_rows());
        let last_to = vec![u32::MAX; stamps.chunk_len()];
        OldMeta { stamps, attachments, last_to, chunks: Vec::new(), spans: Vec::new() }
    }

    /// Stamps chunk `to` for its new rows, which lay in `rows`, and tells the attachments about
    /// them.
    fn move_stamps(&mut self, to: u32, old: &mut OldMeta, rows: &[RowRun], now: Version) {
        let OldMeta { stamps, attachments, last_to, chunks, spans } = old;
        // Each chunk is written, and the next one over it if it was there before: in a random order
        // a jump would be guessed.
        chunks.clear();
        chunks.resize(rows.len(), 0);
        let mut found = 0;
        for RowRun { at: ChunkRow { chunk, .. }, .. } in rows {
            chunks[found] = *chunk;
            let last = core::mem::replace(&mut last_to[*chunk as usize], to);
            found += usize::from(last != to);
        }
        chunks.truncate(found);
        spans.clear();
        if attachments.is_some() {
            let mut to = 0;
            for &RowRun { at, len } in rows {
                spans.push((at.chunk, RowSpan { from: at.row, to, len }));
                to += len;
            }
            spans.sort_by_key(|&(chunk, _)| chunk);
        }
        let (attachments, is_same) = (attachments.as_ref(), stay(to, rows));
        let from = RowSources { stamps, attachments, chunks, spans, is_same };
        self.rows_reordered(to, &from, now);
    }

    /// Sets the locations of the entities in chunk `to`, whose rows lay in `rows`.
    fn locate_rows(&self, id: ArchetypeId, to: u32, rows: &[RowRun], entities: &mut Directory) {
        if stay(to, rows) {
            return;
        }
        let first = ChunkRow { chunk: to, row: 0 };
        let (index, location) = (self.list.index_of(first), self.list.position(first));
        let len: usize = rows.iter().map(|run| run.len as usize).sum();
        entities.set_locations(&self.entities[index..index + len], Location::new(id, location));
    }
}

/// Whether the rows of chunk `to` lay in `rows` before, in the same places.
fn stay(to: u32, rows: &[RowRun]) -> bool {
    matches!(rows, [run] if run.at == ChunkRow { chunk: to, row: 0 })
}

/// The number of rows that do not follow the one before.
fn runs_of(order: &[RowIndex]) -> usize {
    order.windows(2).filter(|pair| pair[0].0.wrapping_add(1) != pair[1].0).count() + 1
}

/// All columns of a list, for a list with the same columns.
fn all_columns(list: &ChunkList) -> Vec<(u16, u16)> {
    (0..).take(list.columns().len()).map(|column| (column, column)).collect()
}

/// No columns.
fn none() -> DistinctColumns {
    DistinctColumns::new(Vec::new())
}
