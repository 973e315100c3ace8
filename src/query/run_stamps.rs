//! The stamps of a run of chunks, column by column.

use core::ops::Range;
use core::slice;

use crate::archetype::ChunkMeta;
use crate::component::Component;
use crate::storage::{ChunkBits, ColumnRef, EnabledRows, RowMask, StampKind, StampRun};
use crate::version::Version;

/// The stamps of a run of chunks. Each term takes the stamps of its column.
#[derive(Debug)]
pub struct RunStamps<'w, 'p> {
    columns: slice::Iter<'p, ColumnRef>,
    beside: ChunkMeta<'w>,
    /// The numbers of the run's chunks.
    chunks: Range<usize>,
    /// The rows of the only chunk that are handed out, if they are not all.
    pub(super) rows: Option<RowMask<'w>>,
    /// The rows of the only chunk.
    live: u32,
    now: Version,
    /// Whether the next term hands out only the rows in which its component is enabled.
    pub(super) enabled_only: bool,
}

impl<'w, 'p> RunStamps<'w, 'p> {
    /// The stamps of chunks, for a pass that hands out all rows, or some of the only chunk, which
    /// has `live` rows.
    #[inline(always)]
    pub(super) fn new(
        (columns, beside): (&'p [ColumnRef], ChunkMeta<'w>),
        chunks: Range<usize>,
        (rows, live): (Option<RowMask<'w>>, u32),
        now: Version,
    ) -> Self {
        Self { columns: columns.iter(), beside, chunks, rows, live, now, enabled_only: false }
    }

    /// The stamps of the next column. `None` if the archetype lacks it, or if only some rows of a
    /// component that tracks lines are handed out: their lines are stamped at once.
    #[inline(always)]
    pub(super) fn next_column<C: Component>(&mut self) -> StampRun<'w> {
        let Some(column) = self.columns.next().and_then(ColumnRef::written) else {
            return StampRun::default();
        };
        if C::TRACKS_LINES
            && let Some(rows) = self.rows
        {
            let lines = self.beside.chunk_lines(column, rows.chunk());
            let lines = lines.expect("a component that tracks lines has none");
            let words = rows.words_to_stamp(lines, self.enabled_of(column));
            lines.touch_words(words, self.now);
            return StampRun::default();
        }
        let kind = StampKind::column(column);
        self.beside.stamps.begin_run(kind, self.chunks.clone(), self.now)
    }

    /// The bits of a column in the only chunk, if its term hands out enabled rows only.
    #[inline]
    fn enabled_of(&self, column: u16) -> Option<ChunkBits<'w>> {
        if self.enabled_only { self.bits_of(Some(column)) } else { None }
    }

    /// The enable bits of a column in the only chunk. `None` if it has none, or if the query
    /// ignores them.
    fn bits_of(&self, column: Option<u16>) -> Option<ChunkBits<'w>> {
        let bits = self.beside.bits().zip(column).and_then(|(all, column)| all.bits(column))?;
        u32::try_from(self.chunks.start).ok().map(|chunk| bits.chunk(chunk))
    }

    /// Whether the component of the next column is disabled in all rows of the only chunk that are
    /// handed out. Never if the query ignores enable bits.
    #[cold]
    pub(super) fn hands_out_none(&self) -> bool {
        let column = self.columns.as_slice().first().and_then(ColumnRef::column);
        let Some(bits) = self.bits_of(column) else { return false };
        let is_off = |run: Range<u32>| {
            EnabledRows::from_row(bits, run.start, run.end - run.start).count() == 0
        };
        match self.rows {
            Some(rows) => rows.runs_in_chunk().all(is_off),
            None => is_off(0..self.live),
        }
    }

    /// Skips a column that is not written.
    #[inline(always)]
    pub(super) fn skip_column(&mut self) {
        self.columns.next();
    }
}
