//! Changes of rows in an archetype: one row that is added, moved, overwritten or removed, with its
//! stamps and attachments; and the stamps and attachments of many.
//!
//! ```text
//!  cells ──► entities ──► begin_change ──► stamps of the chunk ──► attachments
//! ```
//!
//! This is the only file that knows this order. Cells and entities of many rows, and locations, are
//! moved by its callers, before or after.

use core::iter;
use core::ops::Range;

use crate::entity::{Entity, RowIndex};
use crate::storage::{
    BundleCells, ChunkRow, Pool, RowReader, RowSource, RowSpan, RowWriter, StampKind, Stamps,
};
use crate::version::Version;

use super::archetype::Archetype;
use super::extras::Extras;
use super::graph::Edge;
use super::reorder::RowSources;

/// The result of a row's move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedRow<T> {
    /// The row's new chunk and number.
    pub(crate) to: ChunkRow,
    /// The entity whose row took the old place.
    pub(crate) swapped: Option<Entity>,
    /// The result of the exchange of values.
    pub(crate) exchanged: T,
}

/// Copies the kept columns of an entity's row to a new row of `target`, which becomes live, and
/// removes the row from `source`. `exchange` may read the removed bundle and must write the added
/// one.
///
/// Kept columns keep their stamps: a chunk's stamp is raised to the stamp of the row's old chunk,
/// so a move alone does not count as a change. The added columns are stamped. Moves one row:
/// O(columns).
#[inline(always)]
pub(crate) fn move_row<T>(
    (source, target): (&mut Archetype, &mut Archetype),
    (entity, at): (Entity, ChunkRow),
    edge: &Edge,
    (pool, now): (&mut Pool, Version),
    exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
) -> MovedRow<T> {
    let removed = source.list.begin_removal(at);
    let last = removed.last();
    let next = target.list.next_row(pool);
    let to = next.at();
    let exchanged = edge.cells.move_cells(&removed, next, exchange);
    removed.remove(pool);
    target.entities.push(entity);
    target.grow_to(to.chunk, now);
    target.row_arrived((source, at), to, edge, now);
    let swapped = source.finish_removal(at, last, now);
    MovedRow { to, swapped, exchanged }
}

/// Single rows.
impl Archetype {
    /// Appends a row for the entity that `alloc` gives for its position. Calls `put` to write every
    /// cell of the row, in the order of `cells`, makes the row live, and stamps all its columns.
    ///
    /// # Errors
    ///
    /// If `alloc` fails. The archetype is unchanged.
    ///
    /// # Panics
    ///
    /// If `cells` are not all cells of a row, or `put` leaves one unwritten.
    #[inline(always)]
    pub(crate) fn push_row<E>(
        &mut self,
        cells: &BundleCells,
        (pool, now): (&mut Pool, Version),
        alloc: impl FnOnce(RowIndex) -> Result<Entity, E>,
        put: impl FnOnce(&mut RowWriter<'_>),
    ) -> Result<Entity, E> {
        let row = self.list.next_row(pool);
        let at = row.at();
        let entity = match alloc(row.position()) {
            Ok(entity) => entity,
            Err(error) => {
                row.abandon(pool);
                return Err(error);
            }
        };
        cells.write(row, put);
        self.entities.push(entity);
        self.grow_to(at.chunk, now);
        self.row_added(at, now);
        Ok(entity)
    }

    /// Overwrites, enables and stamps cells of a live row. The row stays in place.
    ///
    /// # Panics
    ///
    /// If the edge belongs to another archetype, or the row is not live.
    #[inline]
    pub(crate) fn overwrite_row<T>(
        &mut self,
        edge: &Edge,
        at: RowIndex,
        now: Version,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        let at = self.list.split(at);
        let exchanged = edge.cells.exchange(&mut self.list, at, exchange);
        self.rows_written(edge.added(), (at.chunk, at.row..at.row + 1), now);
        exchanged
    }

    /// Removes a row. If the list's last row took its place, returns the entity of that row.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: ChunkRow, pool: &mut Pool, now: Version) -> Option<Entity> {
        let removed = self.list.begin_removal(at);
        let last = removed.last();
        removed.remove(pool);
        self.finish_removal(at, last, now)
    }

    /// [`Archetype::remove`] of the last rows, from the last one on. Returns `false`, without a
    /// change, if the archetype has extras, which follow rows one by one.
    pub(super) fn remove_last(&mut self, mut rows: usize, pool: &mut Pool, now: Version) -> bool {
        if self.extras.is_some() {
            return false;
        }
        self.entities.truncate(self.entities.len() - rows);
        while rows > 0 {
            let (chunk, tail) = (self.list.chunk_len() as usize - 1, self.list.tail());
            let removed = u32::try_from(rows).map_or(tail, |rows| rows.min(tail));
            self.list.remove_last(removed, pool);
            self.stamps.record_removal(chunk, chunk, now);
            if removed == tail {
                self.drop_chunks(chunk);
            }
            rows -= removed as usize;
        }
        true
    }

    /// Removes the rest of a row after its cells: the `last` row takes its place. Returns the
    /// entity of the last row if it has moved.
    #[inline(always)]
    fn finish_removal(&mut self, at: ChunkRow, last: ChunkRow, now: Version) -> Option<Entity> {
        self.row_removed(at, last, now);
        if last.row == 0 {
            self.drop_chunks(last.chunk as usize);
        }
        let moved = self.entities.pop()?;
        if at == last {
            return None;
        }
        self.entities[self.list.index_of(at)] = moved;
        Some(moved)
    }
}

/// Stamps and attachments.
impl Archetype {
    /// A row with new values came to a chunk.
    #[inline(always)]
    fn row_added(&mut self, at: ChunkRow, now: Version) {
        match &self.extras {
            Some(extras) if extras.attachments.has_columns() => {
                self.attached_rows_added(at, 1, now);
            }
            // No new row is a member.
            _ => self.stamps.touch_all(at.chunk as usize, now),
        }
    }

    /// Rows with new values came to a chunk, from row `at` on.
    pub(super) fn rows_added(&mut self, at: ChunkRow, rows: u32, now: Version) {
        match &self.extras {
            None => self.stamps.touch_all(at.chunk as usize, now),
            Some(_) => self.attached_rows_added(at, rows, now),
        }
    }

    #[inline(never)]
    fn attached_rows_added(&mut self, ChunkRow { chunk, row }: ChunkRow, rows: u32, now: Version) {
        let Self { stamps, extras: Some(extras), .. } = self else { return };
        extras.attachments.begin_change(stamps, chunk);
        stamps.touch_all(chunk as usize, now);
        extras.attachments.rows_added((stamps, chunk), row..row + rows, now);
    }

    /// [`Archetype::rows_arrived`] of one row.
    #[inline(always)]
    fn row_arrived(
        &mut self,
        (source, from): (&Self, ChunkRow),
        to: ChunkRow,
        edge: &Edge,
        now: Version,
    ) {
        let columns = (edge.cells.columns(), edge.added());
        let stamps = (&source.stamps, from.chunk as usize);
        // Most archetypes have no attachments, and are tested only once.
        match &self.extras {
            None => self.stamps.record_arrival(to.chunk as usize, stamps, columns, now),
            Some(_) => self.attached_row_arrived(source, from, to, edge, now),
        }
    }

    #[inline(never)]
    fn attached_row_arrived(
        &mut self,
        source: &Self,
        from: ChunkRow,
        to: ChunkRow,
        edge: &Edge,
        now: Version,
    ) {
        let span = iter::once(RowSpan { from: from.row, to: to.row, len: 1 });
        self.rows_arrived((source, from.chunk), to.chunk, span, edge, now);
    }

    /// Rows came to a chunk from a chunk of `source` along an edge. In kept columns they have the
    /// versions that they had there, in all others the version `now`.
    #[inline(always)]
    pub(super) fn rows_arrived(
        &mut self,
        (source, from): (&Self, u32),
        to: u32,
        spans: impl Iterator<Item = RowSpan> + Clone,
        edge: &Edge,
        now: Version,
    ) {
        let columns = (edge.cells.columns(), edge.added());
        let stamps = (&source.stamps, from as usize);
        // Most archetypes have no attachments, and are tested only once.
        match &self.extras {
            None => self.stamps.record_arrival(to as usize, stamps, columns, now),
            Some(_) => self.attached_rows_arrived((source, from), to, spans, edge, now),
        }
    }

    #[inline(never)]
    fn attached_rows_arrived(
        &mut self,
        (source, from): (&Self, u32),
        to: u32,
        spans: impl Iterator<Item = RowSpan> + Clone,
        edge: &Edge,
        now: Version,
    ) {
        let Self { stamps, extras: Some(extras), .. } = self else { return };
        extras.attachments.begin_change(stamps, to);
        let columns = (edge.cells.columns(), edge.added());
        stamps.record_arrival(to as usize, (&source.stamps, from as usize), columns, now);
        let (own, kept) = ((&*stamps, to), edge.cells.columns());
        extras.attachments.rows_arrived(own, source.as_source(from), spans, kept, now);
    }

    /// A chunk of `source` with `rows` rows came along an edge as a whole.
    pub(super) fn chunk_arrived(
        &mut self,
        (source, from): (&Self, u32),
        (to, rows): (u32, u32),
        edge: &Edge,
        now: Version,
    ) {
        let chunk = to as usize;
        for &(kept, column) in edge.cells.columns() {
            let stamp = source.stamps.get(StampKind::column(kept), from as usize);
            self.stamps.put(StampKind::column(column), chunk, stamp);
        }
        let added = edge.added().iter().map(|&column| StampKind::column(column));
        for kind in added.chain([StampKind::ORDER, StampKind::ARRIVAL]) {
            self.stamps.touch(kind, chunk, now);
        }
        let Some(attachments) = self.attachments() else { return };
        let kept = |column| edge.cells.columns().iter().find(|&&(_, ours)| ours == column);
        let pair = |column: u16, is_of_chunk: bool| match kept(column) {
            Some(&(theirs, _)) => Some(theirs),
            // A bundle may insert a component that the entities already have.
            None if is_of_chunk => source.column(self.components()[usize::from(column)]),
            None => None,
        };
        attachments.chunk_arrived((&self.stamps, to, rows), source.as_source(from), pair);
    }

    /// Rows of a chunk are copies of a row of `source`, with new versions. `column` has the column
    /// of the source for a column here.
    pub(super) fn rows_copied(
        &self,
        (chunk, rows): (u32, Range<u32>),
        (source, at): (&Self, ChunkRow),
        column: impl Fn(u16) -> Option<u16>,
    ) {
        if let (Some(attachments), Some(from)) = (self.attachments(), source.as_source(at.chunk)) {
            attachments.rows_copied((&self.stamps, chunk), rows, (from, at.row), column);
        }
    }

    /// Columns of live rows of one chunk were overwritten.
    #[inline]
    pub(super) fn rows_written(
        &self,
        columns: &[u16],
        (chunk, rows): (u32, Range<u32>),
        now: Version,
    ) {
        for &column in columns {
            self.beside().touch_rows(column, chunk, rows.clone(), now);
            if let Some(attachments) = self.attachments() {
                attachments.rows_written((&self.stamps, chunk), column, rows.clone());
            }
        }
    }

    /// Columns of all rows of a chunk were overwritten.
    pub(super) fn chunk_written(&self, columns: &[u16], chunk: u32, now: Version) {
        for &column in columns {
            self.stamps.touch(StampKind::column(column), chunk as usize, now);
            if let Some(attachments) = self.attachments() {
                let rows = 0..self.list.rows(chunk);
                attachments.rows_written((&self.stamps, chunk), column, rows);
            }
        }
    }

    /// The rows of a chunk came from other places in the archetype. In all columns they have the
    /// versions that they had there.
    pub(super) fn rows_reordered(&mut self, to: u32, from: &RowSources<'_>, now: Version) {
        let Self { stamps, extras, .. } = self;
        let (old, chunk) = (from.stamps, to as usize);
        if from.is_same {
            // Word by word: the versions tell that nothing is different.
            stamps.copy_chunk(chunk, old);
            if let Some((extras, attachments)) = extras.as_ref().zip(from.attachments) {
                extras.attachments.copy_chunk(to, attachments);
            }
            return;
        }
        stamps.touch(StampKind::ORDER, chunk, now);
        let Some(extras) = extras else { return stamps.record_reorder(chunk, old, from.chunks) };
        let attachments = &extras.attachments;
        attachments.begin_change(stamps, to);
        stamps.record_reorder(chunk, old, from.chunks);
        for column in attachments.columns_of_chunks().map(StampKind::column) {
            stamps.put(column, chunk, old.get(column, chunk));
        }
        let kept: Vec<_> = (0..).take(self.list.columns().len()).map(|at| (at, at)).collect();
        for spans in from.spans.chunk_by(|a, b| a.0 == b.0) {
            let source = from.attachments.map(|attachments| RowSource {
                attachments,
                stamps: old,
                chunk: spans[0].0,
            });
            let spans = spans.iter().map(|&(_, span)| span);
            attachments.rows_arrived((stamps, to), source, spans, &kept, now);
        }
    }

    /// The `last` row takes the place of a row.
    #[inline(always)]
    fn row_removed(&mut self, at: ChunkRow, last: ChunkRow, now: Version) {
        match &self.extras {
            None => self.stamps.record_removal(at.chunk as usize, last.chunk as usize, now),
            Some(_) => self.attached_row_removed(at, last, now),
        }
    }

    #[inline(never)]
    fn attached_row_removed(&mut self, at: ChunkRow, last: ChunkRow, now: Version) {
        let Self { stamps, extras, .. } = self;
        extras.iter().for_each(|extras| extras.attachments.begin_change(stamps, at.chunk));
        stamps.record_removal(at.chunk as usize, last.chunk as usize, now);
        extras.iter().for_each(|extras| extras.attachments.row_removed(stamps, at, last));
    }

    /// Moves the data of a chunk that fills the gap of another.
    pub(super) fn chunk_moved(&mut self, source: u32, target: u32, now: Version) {
        let [from, to] = [source, target].map(|chunk| chunk as usize);
        self.stamps.move_chunk(from, to);
        self.extras.iter_mut().for_each(|extras| extras.attachments.move_chunk(from, to));
        self.stamps.touch(StampKind::ORDER, to, now);
    }

    /// Gives all data of all rows one version.
    pub(crate) fn stamp_all(&mut self, now: Version) {
        (0..self.stamps.chunk_len()).for_each(|chunk| self.stamps.touch_all(chunk, now));
        self.extras.iter_mut().for_each(|extras| extras.attachments.forget_versions());
    }

    /// Adds stamps and [extras](Extras::push_chunk) for a chunk if it has none yet. It must be an
    /// existing chunk or the next one.
    #[inline(always)]
    pub(super) fn grow_to(&mut self, chunk: u32, now: Version) {
        if chunk as usize == self.stamps.chunk_len() {
            push_chunk(&mut self.stamps, &mut self.extras, now);
        }
    }

    /// Calls [`Archetype::grow_to`] for all chunks of the list.
    pub(super) fn grow_to_all(&mut self, now: Version) {
        while self.stamps.chunk_len() < self.list.chunk_len() as usize {
            push_chunk(&mut self.stamps, &mut self.extras, now);
        }
    }

    /// Removes the stamps and extras of all chunks from number `chunk_len` on.
    pub(super) fn drop_chunks(&mut self, chunk_len: usize) {
        self.stamps.truncate(chunk_len);
        self.extras.iter_mut().for_each(|extras| extras.truncate(chunk_len));
    }

    fn as_source(&self, chunk: u32) -> Option<RowSource<'_>> {
        let (attachments, stamps) = (self.attachments()?, &self.stamps);
        Some(RowSource { attachments, stamps, chunk })
    }
}

/// Adds stamps and extras for the next chunk. The words that belong to the new chunk count as
/// changed at `now`.
#[cold]
pub(super) fn push_chunk(stamps: &mut Stamps, extras: &mut Option<Box<Extras>>, now: Version) {
    let chunk = stamps.chunk_len();
    stamps.push_chunk();
    if let Some(extras) = extras {
        extras.push_chunk();
        let columns = extras.attachments.columns_of_chunks();
        columns.for_each(|column| stamps.touch(StampKind::column(column), chunk, now));
    }
}
