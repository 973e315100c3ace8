//! Chunks that a view has, by the places of their rows.

use crate::storage::chunk_numbers::ChunkNumbers;
use crate::storage::row_place::RowPlace;

/// Finds the chunks of places, and what a view has of them: the cells, for reading; for writing
/// their numbers in its [`CellFinder`](super::cell_finder::CellFinder).
#[derive(Debug)]
pub(crate) struct PlaceTable<'w, T> {
    first: RowPlace,
    row_bits: u32,
    /// The numbers of the chunks of all lists.
    numbers: &'w ChunkNumbers,
    /// Each chunk of the world.
    chunks: Vec<T>,
}

impl<'w, T: Copy> PlaceTable<'w, T> {
    /// A table for places from `first` on, with the first chunk in the finder of each list that the
    /// finder has. `chunk` is called with the number of a chunk in the finder; `absent` stands for
    /// those that it does not have.
    pub(super) fn new(
        first: RowPlace,
        numbers: &'w ChunkNumbers,
        lists: impl Iterator<Item = Option<u32>>,
        (chunk, absent): (impl Fn(u32) -> T, T),
    ) -> Self {
        let mut chunks = Vec::with_capacity(numbers.len() as usize);
        for (list, found) in lists.enumerate() {
            let len = numbers.end(list) - numbers.first(list);
            match found {
                Some(found) => chunks.extend((found..found + len).map(&chunk)),
                None => chunks.resize(chunks.len() + len as usize, absent),
            }
        }
        debug_assert_eq!(chunks.len(), numbers.len() as usize, "the numbers are of other lists");
        Self { first, row_bits: numbers.row_bits(), numbers, chunks }
    }

    /// The chunk of a place, and the row in it. `None` if the place is of another numbering. The
    /// chunk may have fewer rows.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits")]
    pub(super) fn row(&self, place: RowPlace) -> Option<(T, u32)> {
        let distance = place.distance(self.first);
        let chunk = usize::try_from(distance.wrapping_shr(self.row_bits)).ok()?;
        let row = (distance & ((1 << self.row_bits) - 1)) as u32;
        Some((*self.chunks.get(chunk)?, row))
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

impl<'c, C> PlaceTable<'_, &'c [C]> {
    /// The cell of a place. `None` if the place is of another numbering, or its row lacks the
    /// component.
    #[inline(always)]
    pub(crate) fn cell(&self, place: RowPlace) -> Option<&'c C> {
        let (cells, row) = self.row(place)?;
        cells.get(row as usize)
    }
}
