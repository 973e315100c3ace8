//! The stamps of a run of chunks, column by column.

use core::ops::Range;
use core::slice;

use crate::archetype::ChunkMeta;
use crate::component::Component;
use crate::storage::{ColumnRef, EnabledRows, RowMask, StampKind, StampRun};
use crate::version::Version;

/// The stamps of a run of chunks. Each term takes the stamps of its column.
#[derive(Debug)]
pub struct RunStamps<'w, 'p> {
    pub(super) columns: slice::Iter<'p, ColumnRef>,
    pub(super) beside: ChunkMeta<'w>,
    /// The numbers of the run's chunks.
    pub(super) chunks: Range<usize>,
    /// The rows of the only chunk that are handed out, if they are not all.
    pub(super) rows: Option<RowMask<'w>>,
    /// The rows of the only chunk.
    pub(super) live: u32,
    pub(super) now: Version,
}

impl<'w> RunStamps<'w, '_> {
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
            match rows.told_words() {
                Some(words) => lines.touch_words(words, self.now),
                None => rows.runs_in_chunk().for_each(|run| lines.touch(run, self.now)),
            }
            return StampRun::default();
        }
        let kind = StampKind::column(column);
        self.beside.stamps.begin_run(kind, self.chunks.clone(), self.now)
    }

    /// Whether the component of the next column is disabled in all rows of the only chunk that are
    /// handed out. Never if the query ignores enable bits.
    #[cold]
    pub(super) fn hands_out_none(&self) -> bool {
        let column = self.columns.as_slice().first().and_then(ColumnRef::column);
        let bits = self.beside.bits().zip(column).and_then(|(all, column)| all.bits(column));
        let (Some(bits), Ok(chunk)) = (bits, u32::try_from(self.chunks.start)) else {
            return false;
        };
        let enabled = |run: Range<u32>| {
            let mut rows = EnabledRows::new(bits.chunk(chunk), run.end);
            let _ = rows.split_off(run.start as usize);
            rows.count() > 0
        };
        match self.rows {
            Some(rows) => !rows.runs_in_chunk().any(enabled),
            None => !enabled(0..self.live),
        }
    }

    /// Skips a column that is not written.
    #[inline(always)]
    pub(super) fn skip_column(&mut self) {
        self.columns.next();
    }
}
