//! The stamps of a run of chunks, column by column.

use core::ops::Range;
use core::slice;

use crate::storage::{ColumnRef, StampKind, StampRun, Stamps};
use crate::version::Version;

/// The stamps of a run of chunks, from which each term takes those of its column.
#[derive(Debug)]
pub struct RunStamps<'w, 'p> {
    pub(super) columns: slice::Iter<'p, ColumnRef>,
    pub(super) stamps: &'w Stamps,
    /// The numbers of the run's chunks.
    pub(super) chunks: Range<usize>,
    pub(super) now: Version,
}

impl<'w> RunStamps<'w, '_> {
    /// The stamps of the next column. None if the archetype lacks it.
    #[inline]
    pub(super) fn next_column(&mut self) -> StampRun<'w> {
        let written = self.columns.next().and_then(ColumnRef::written);
        written.map_or_else(StampRun::default, |column| {
            self.stamps.begin_run(StampKind::column(column), self.chunks.clone(), self.now)
        })
    }

    /// Skips a column that is not written.
    #[inline]
    pub(super) fn skip_column(&mut self) {
        self.columns.next();
    }
}
