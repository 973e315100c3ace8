//! Numbers of chunks by which places of rows are found.

use crate::storage::chunk_list::ChunkList;
use crate::storage::row_place::RowPlace;

/// The chunks of all lists, numbered list after list: the same in every view of a world until rows
/// move.
#[derive(Debug)]
pub(super) struct ChunkNumbers {
    /// The number of chunks before each list.
    firsts: Vec<u32>,
    len: u32,
    /// Bits for the number of a row, in any chunk.
    row_bits: u32,
}

impl ChunkNumbers {
    pub(super) fn new(lists: usize) -> Self {
        Self { firsts: Vec::with_capacity(lists), len: 0, row_bits: 0 }
    }

    /// Adds the next list.
    #[inline]
    pub(super) fn push(&mut self, list: &ChunkList) {
        self.firsts.push(self.len);
        if list.chunk_len() > 0 {
            let len = self.len.checked_add(list.chunk_len());
            self.len = len.expect("there are more chunks than entities");
            // A list of tags is one chunk with room for all rows that a world may have. Numbers for
            // them all in each chunk, anew after each change, would be used up within days.
            let bits = match list.chunk_len() {
                1 => u32::BITS - list.tail().leading_zeros(),
                _ => u32::from(list.shift()),
            };
            self.row_bits = self.row_bits.max(bits);
        }
    }

    /// The number of places in all chunks: rows, and room for rows. A million rows in chunks of 256
    /// have some 2²⁴, so that 2⁶⁴ are enough for 500 years of 60 numberings a second, or for
    /// two years if another million rows have a tag alone.
    pub(super) const fn places(&self) -> u64 {
        (self.len as u64) << self.row_bits
    }

    /// The number of a list's first chunk.
    pub(super) fn first(&self, list: usize) -> u32 {
        self.firsts[list]
    }

    pub(super) fn end(&self, list: usize) -> u32 {
        self.firsts.get(list + 1).copied().unwrap_or(self.len)
    }
}

/// Finds the chunks of places in a [`CellFinder`](super::cell_finder::CellFinder).
#[derive(Debug)]
pub(crate) struct PlaceTable {
    first: RowPlace,
    row_bits: u32,
    /// The number in the finder of each chunk of the world; [`PlaceTable::ABSENT`] if the finder
    /// does not have it.
    chunks: Vec<u32>,
}

impl PlaceTable {
    /// The number of a chunk that no finder has.
    const ABSENT: u32 = u32::MAX;

    /// A table for places from `first` on, with the first chunk in the finder of each list that the
    /// finder has.
    pub(super) fn new(
        first: RowPlace,
        numbers: &ChunkNumbers,
        lists: impl Iterator<Item = Option<u32>>,
    ) -> Self {
        let mut chunks = Vec::with_capacity(numbers.len as usize);
        for (list, found) in lists.enumerate() {
            let len = numbers.end(list) - numbers.first(list);
            match found {
                Some(found) => chunks.extend(found..found + len),
                None => chunks.resize(chunks.len() + len as usize, Self::ABSENT),
            }
        }
        Self { first, row_bits: numbers.row_bits, chunks }
    }

    /// The chunk of a place in the finder, and the row in it. `None` if the place is of another
    /// numbering. The finder tells whether it has them.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits")]
    pub(super) fn row(&self, place: RowPlace) -> Option<(usize, u32)> {
        let distance = place.distance(self.first);
        let chunk = usize::try_from(distance.wrapping_shr(self.row_bits)).ok()?;
        let row = (distance & ((1 << self.row_bits) - 1)) as u32;
        Some((*self.chunks.get(chunk)? as usize, row))
    }

    /// The place of a row of a chunk of the world.
    pub(super) fn place(&self, chunk: u32, row: u32) -> RowPlace {
        self.first.after(u64::from(chunk) << self.row_bits | u64::from(row))
    }

    /// Whether a place is of this numbering.
    pub(crate) fn knows(&self, place: RowPlace) -> bool {
        self.row(place).is_some()
    }

    /// Whether both places are of this numbering, in one chunk.
    pub(crate) fn are_in_one_chunk(&self, a: RowPlace, b: RowPlace) -> bool {
        let chunk = |place: RowPlace| place.distance(self.first).wrapping_shr(self.row_bits);
        self.knows(a) && chunk(a) == chunk(b)
    }
}
