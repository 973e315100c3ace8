//! The data of an archetype outside of its chunks.

use core::ops::Range;

use crate::entity::Entity;
use crate::storage::{Attachments, ChunkLines, StampKind, Stamps, ValueCell};
use crate::version::Version;

use super::shared_tags::SharedTags;

/// The data of an archetype for its chunks and rows, besides the columns.
#[derive(Clone, Copy, Debug)]
pub struct ChunkMeta<'w> {
    pub(crate) stamps: &'w Stamps,
    pub(crate) entities: &'w [Entity],
    pub(crate) attachments: Option<&'w Attachments>,
    /// Whether the query ignores enable bits.
    pub(super) ignores_enabled: bool,
    pub(crate) shared: Option<&'w SharedTags>,
}

impl<'w> ChunkMeta<'w> {
    /// The same data without enable bits, if `ignores_enabled`.
    #[inline]
    pub(crate) const fn ignoring_enabled(self, ignores_enabled: bool) -> Self {
        Self { ignores_enabled: self.ignores_enabled || ignores_enabled, ..self }
    }

    /// The attachments, if the query looks at enable bits.
    #[inline]
    pub(crate) const fn bits(self) -> Option<&'w Attachments> {
        if self.ignores_enabled { None } else { self.attachments }
    }

    /// The line stamps of a column in a chunk, if it has any.
    #[inline]
    pub(crate) fn chunk_lines(self, column: u16, chunk: u32) -> Option<ChunkLines<'w>> {
        self.attachments?.lines(self.stamps, column, chunk)
    }

    /// Stamps a column in a chunk for a write to some of its rows, at least one: the lines of the
    /// rows, if the column has line stamps, or the whole chunk.
    #[inline(always)]
    pub(crate) fn touch_rows(self, column: u16, chunk: u32, rows: Range<u32>, now: Version) {
        match self.attachments {
            Some(all) => touch_attached_rows((self.stamps, all), column, (chunk, rows), now),
            None => self.stamps.touch(StampKind::column(column), chunk as usize, now),
        }
    }

    /// The value of a chunk in a column.
    ///
    /// # Panics
    ///
    /// If the column has no values, or the chunk does not exist.
    #[inline]
    pub(crate) fn value(self, column: u16, chunk: u32) -> ValueCell<'w> {
        self.attachments.expect("no column has a value per chunk").value(column, chunk)
    }
}

/// [`ChunkMeta::touch_rows`] of an archetype with attachments. Not a method, because that would
/// have every caller write the data to the stack.
#[inline(never)]
fn touch_attached_rows(
    (stamps, attachments): (&Stamps, &Attachments),
    column: u16,
    (chunk, rows): (u32, Range<u32>),
    now: Version,
) {
    match attachments.lines(stamps, column, chunk) {
        Some(lines) => lines.touch(rows, now),
        None => stamps.touch(StampKind::column(column), chunk as usize, now),
    }
}
