//! Chunks that a view has, by the places of their rows.

use crate::storage::chunk_numbers::ChunkNumbers;
use crate::storage::row_place::RowPlace;

/// Finds the chunks of places in a [`CellFinder`](super::cell_finder::CellFinder).
#[derive(Debug)]
pub(crate) struct PlaceTable<'w> {
    first: RowPlace,
    row_bits: u32,
    /// The numbers of the chunks of all lists.
    numbers: &'w ChunkNumbers,
    /// The number in the finder of each chunk of the world; [`PlaceTable::ABSENT`] if the finder
    /// does not have it.
    chunks: Vec<u32>,
}

impl<'w> PlaceTable<'w> {
    /// The number of a chunk that no finder has.
    const ABSENT: u32 = u32::MAX;

    /// A table for places from `first` on, with the first chunk in the finder of each list that the
    /// finder has.
    pub(super) fn new(
        first: RowPlace,
        numbers: &'w ChunkNumbers,
        lists: impl Iterator<Item = Option<u32>>,
    ) -> Self {
        let mut chunks = Vec::with_capacity(numbers.len() as usize);
        for (list, found) in lists.enumerate() {
            let len = numbers.end(list) - numbers.first(list);
            match found {
                Some(found) => chunks.extend(found..found + len),
                None => chunks.resize(chunks.len() + len as usize, Self::ABSENT),
            }
        }
        debug_assert_eq!(chunks.len(), numbers.len() as usize, "the numbers are of other lists");
        Self { first, row_bits: numbers.row_bits(), numbers, chunks }
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

    /// The place of a row of a chunk of a list.
    pub(super) fn place(&self, (list, chunk): (usize, u32), row: u32) -> RowPlace {
        let chunk = self.numbers.first(list) + chunk;
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
