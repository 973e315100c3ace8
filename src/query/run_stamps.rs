//! The stamps of a run of chunks, column by column.

use core::ops::Range;
use core::slice;

use crate::archetype::BesideChunks;
use crate::component::Component;
use crate::storage::{ColumnRef, RowMask, StampKind, StampRun};
use crate::version::Version;

/// The stamps of a run of chunks, from which each term takes those of its column.
#[derive(Debug)]
pub struct RunStamps<'w, 'p> {
    pub(super) columns: slice::Iter<'p, ColumnRef>,
    pub(super) beside: BesideChunks<'w>,
    /// The numbers of the run's chunks.
    pub(super) chunks: Range<usize>,
    /// The rows of the only chunk that are handed out, if they are not all.
    pub(super) rows: Option<RowMask<'w>>,
    pub(super) now: Version,
}

impl<'w> RunStamps<'w, '_> {
    /// The stamps of the next column. None if the archetype lacks it, or if only some rows of a
    /// component that tracks lines are handed out: their lines are stamped at once.
    #[inline]
    pub(super) fn next_column<C: Component>(&mut self) -> StampRun<'w> {
        let Some(column) = self.columns.next().and_then(ColumnRef::written) else {
            return StampRun::default();
        };
        if C::TRACKS_LINES
            && let Some(rows) = self.rows
        {
            let lines = self.beside.chunk_lines(column, rows.chunk());
            let lines = lines.expect("a component that tracks lines has none");
            rows.runs_in_chunk().for_each(|run| lines.touch(run, self.now));
            return StampRun::default();
        }
        let kind = StampKind::column(column);
        self.beside.stamps.begin_run(kind, self.chunks.clone(), self.now)
    }

    /// Skips a column that is not written.
    #[inline]
    pub(super) fn skip_column(&mut self) {
        self.columns.next();
    }
}
