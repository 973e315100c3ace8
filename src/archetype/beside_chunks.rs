//! What an archetype stores outside of its chunks, handed out together.

use core::ops::Range;

use crate::entity::Entity;
use crate::storage::{
    ChunkLines, ChunkValues, EnableBits, LineStamps, StampKind, Stamps, ValueCell,
};
use crate::version::Version;

/// What an archetype has for its chunks and rows besides the columns.
#[derive(Clone, Copy, Debug)]
pub struct BesideChunks<'w> {
    pub(crate) stamps: &'w Stamps,
    pub(crate) entities: &'w [Entity],
    pub(crate) bits: Option<&'w EnableBits>,
    pub(crate) values: Option<&'w ChunkValues>,
    pub(crate) lines: Option<&'w LineStamps>,
}

impl<'w> BesideChunks<'w> {
    /// The same for a query that ignores enable bits, if `ignores_enabled`.
    #[inline]
    pub(crate) const fn ignoring_enabled(self, ignores_enabled: bool) -> Self {
        let bits = if ignores_enabled { None } else { self.bits };
        Self { bits, ..self }
    }

    /// The line stamps of a column in a chunk, if it has any.
    #[inline]
    pub(crate) fn chunk_lines(self, column: u16, chunk: u32) -> Option<ChunkLines<'w>> {
        self.lines?.chunk(self.stamps, column, chunk)
    }

    /// Stamps a column in a chunk of which some rows are written, at least one: their lines, where
    /// it has line stamps, or the whole.
    #[inline]
    pub(crate) fn touch_rows(self, column: u16, chunk: u32, rows: Range<u32>, now: Version) {
        match self.chunk_lines(column, chunk) {
            Some(lines) => lines.touch(rows, now),
            None => self.stamps.touch(StampKind::column(column), chunk as usize, now),
        }
    }

    /// The value of a chunk in a column.
    ///
    /// # Panics
    ///
    /// If the column has no values, or there is no such chunk.
    #[inline]
    pub(crate) fn value(self, column: u16, chunk: u32) -> ValueCell<'w> {
        self.values.expect("no column has a value per chunk").cell(column, chunk)
    }
}
