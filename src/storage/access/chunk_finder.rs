//! Finds the chunk of an entity's row in many lists.
//!
//! A list is one word, and the rows of a chunk another: the loads that wait for the slot of the
//! directory are the cost of a random read, as [`cell_finder`](super::cell_finder) measures.

use core::ops::Range;

use crate::entity::{DirectoryView, Entity};
use crate::storage::chunk_list::ChunkList;

use super::list_view::{CHUNKS_MAX, ListView};
use super::span::Span;

/// The chunks of several lists, numbered list after list. A list is identified by its archetype's
/// number in the directory.
#[derive(Debug)]
pub(super) struct ChunkFinder<'w> {
    directory: DirectoryView<'w>,
    /// If only one list has chunks here, other lists need not be looked up.
    only: OnlyList,
    lists: Vec<ListView>,
    /// The positions of the rows of each chunk.
    spans: Vec<Span>,
}

/// The list that alone has rows. If several have rows, or if directory slots are far, a list is
/// found by its number.
///
/// The shift tells whether it is absent, because the compiler then makes two loops of a loop with
/// this test, one for each case. With an `Option` both cases shared a loop and its registers: 4.6
/// ns a write instead of 3.0. A read with an enum took 3 instructions more if several lists have
/// rows, and 3 % longer in a system of 90,000 reads.
#[derive(Clone, Copy, Debug)]
struct OnlyList {
    number: u32,
    /// The shift of its positions, or 32.
    shift: u32,
}

impl OnlyList {
    /// No list has rows, several have, or slots are far.
    const ABSENT: Self = Self { number: u32::MAX, shift: u32::BITS };

    #[inline(always)]
    const fn is_present(self) -> bool {
        self.shift < Self::ABSENT.shift
    }
}

/// The number of a chunk, and the position of a row in its list.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundRow {
    pub(super) chunk: usize,
    pub(super) at: u32,
}

impl<'w> ChunkFinder<'w> {
    /// A finder with room for `lists` lists.
    pub(super) fn new(directory: DirectoryView<'w>, lists: usize) -> Self {
        let (only, lists) = (OnlyList::ABSENT, Vec::with_capacity(lists));
        Self { directory, only, lists, spans: Vec::new() }
    }

    /// Adds the next list without its chunks.
    pub(super) fn push_none(&mut self, is_gone: bool) {
        self.lists.push(if is_gone { ListView::GONE } else { ListView::NONE });
    }

    /// Adds the next list and its chunks, and returns the number of the first.
    pub(super) fn push(&mut self, list: &ChunkList) -> u32 {
        let narrow = |n| u32::try_from(n).expect("the lists have 2^32 chunks or more");
        let (number, shift) = (narrow(self.lists.len()), u32::from(list.shift()));
        let is_only = self.spans.is_empty() && self.directory.are_near();
        self.only = if is_only { OnlyList { number, shift } } else { OnlyList::ABSENT };
        let first = narrow(self.spans.len());
        let fits = u64::from(first) + u64::from(list.chunk_len()) < u64::from(CHUNKS_MAX);
        assert!(fits, "the lists have two billion chunks or more");
        self.spans.extend(spans(list));
        self.lists.push(ListView::new(first, shift));
        first
    }

    /// Number of chunks.
    pub(super) const fn chunk_len(&self) -> usize {
        self.spans.len()
    }

    /// The rows of each chunk.
    #[inline(always)]
    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    #[inline(always)]
    pub(super) fn lists(&self) -> &[ListView] {
        &self.lists
    }

    #[inline(always)]
    pub(super) const fn directory(&self) -> &DirectoryView<'w> {
        &self.directory
    }

    /// The row of an entity, and the number of its list. `spans` are the spans of the finder, or of
    /// some chunks, and the others end at 0. `None` if the entity does not exist, or its list has
    /// no chunks here.
    ///
    /// For a location without a live row the result is `None` or some live row.
    #[inline(always)]
    pub(super) fn find(&self, spans: &[Span], entity: Entity) -> Option<(u32, FoundRow)> {
        if self.only.is_present() {
            let row = self.row_of_only(entity)?;
            // The position is not before the first of its chunk, whose number the list's own shift
            // made of it.
            return (!spans.get(row.chunk)?.ends_before(row.at)).then_some((self.only.number, row));
        }
        // The location of a free slot is in no archetype, and so in no list.
        let location = self.directory.get(entity)?;
        let (list, at) = (location.archetype(), location.row().0);
        let chunk = self.lists.get(list.index())?.chunk(at);
        let span = *spans.get(chunk)?;
        // A position past the end of its list would be in the next list.
        let is_row = !span.starts_after(at) && !span.ends_before(at);
        is_row.then_some((list.0, FoundRow { chunk, at }))
    }

    /// The row that an entity may have at or after the first of its chunk, by the first positions
    /// of `spans`. `copy` is a copy of the finder's directory: see [`DirectoryView::get_by`].
    #[inline(always)]
    pub(super) fn find_start(
        &self,
        spans: &[Span],
        entity: Entity,
        copy: &DirectoryView<'_>,
    ) -> Option<FoundRow> {
        if self.only.is_present() {
            return self.row_of_only(entity);
        }
        let location = self.directory.get_by(entity, copy)?;
        let (list, at) = (location.archetype(), location.row().0);
        let chunk = self.lists.get(list.index())?.chunk(at);
        // A position past the end of its list would be in the next list.
        (!spans.get(chunk)?.starts_after(at)).then_some(FoundRow { chunk, at })
    }

    /// The position of an entity in the only list, and the number that its chunk has, if it exists.
    #[inline(always)]
    fn row_of_only(&self, entity: Entity) -> Option<FoundRow> {
        let at = self.directory.position_in(entity, self.only.number)?;
        let chunk = at.wrapping_shr(self.only.shift) as usize;
        Some(FoundRow { chunk, at })
    }
}

/// The rows of each chunk of a list.
fn spans(list: &ChunkList) -> impl Iterator<Item = Span> {
    (0..list.chunk_len()).map(|chunk| {
        let Range { start, end } = positions(list, chunk);
        Span::new(start, end)
    })
}

/// The positions of a chunk's rows in its list.
///
/// The number of a chunk fits in the bits above the shift, as `ChunkList::assert_numbered` checks.
/// So the end overflows only in a list of 2³² rows, and there are fewer ids.
pub(super) fn positions(list: &ChunkList, chunk: u32) -> Range<u32> {
    let begin = chunk.wrapping_shl(u32::from(list.shift()));
    begin..begin + list.rows(chunk)
}
