//! Numbers of chunks by which places of rows are found.

use super::chunk_list::ChunkList;
use super::row::ChunkRow;

/// The chunks of all lists, numbered list after list: the same in every view of a world until rows
/// move.
#[derive(Debug)]
pub(crate) struct ChunkNumbers {
    /// The number of chunks before each list.
    firsts: Vec<u32>,
    len: u32,
    /// Bits for the number of a row, in any chunk.
    row_bits: u32,
}

impl ChunkNumbers {
    pub(crate) fn new(lists: usize) -> Self {
        Self { firsts: Vec::with_capacity(lists), len: 0, row_bits: 0 }
    }

    /// One list with one chunk.
    #[cfg(test)]
    pub(crate) fn of_chunk(rows: u32) -> Self {
        Self { firsts: vec![0], len: 1, row_bits: u32::BITS - rows.leading_zeros() }
    }

    /// Adds the next list.
    #[inline]
    pub(crate) fn push(&mut self, list: &ChunkList) {
        self.firsts.push(self.len);
        if list.chunk_len() > 0 {
            let len = self.len.checked_add(list.chunk_len());
            self.len = len.expect("there are more chunks than entities");
            // The rows of a list of one chunk are numbers enough. Most lists of tags are one chunk,
            // which has room for as many rows as it has bytes.
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
    pub(crate) const fn places(&self) -> u64 {
        (self.len as u64) << self.row_bits
    }

    /// The number of chunks.
    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    pub(super) const fn row_bits(&self) -> u32 {
        self.row_bits
    }

    /// The number of a list's first chunk.
    pub(super) fn first(&self, list: usize) -> u32 {
        self.firsts[list]
    }

    pub(super) fn end(&self, list: usize) -> u32 {
        self.firsts.get(list + 1).copied().unwrap_or(self.len)
    }

    /// The list of the row at a distance from the first place, and the row in it. `None` if no
    /// chunk has the distance. O(log lists).
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lower bits, and the number of an archetype"
    )]
    pub(crate) fn row(&self, distance: u64) -> Option<(u32, ChunkRow)> {
        let number = u32::try_from(distance.checked_shr(self.row_bits)?).ok()?;
        if number >= self.len {
            return None;
        }
        // Lists without chunks have the number of the next chunk.
        let list = self.firsts.partition_point(|&first| first <= number) - 1;
        let row = (distance & ((1 << self.row_bits) - 1)) as u32;
        Some((list as u32, ChunkRow { chunk: number - self.firsts[list], row }))
    }
}
