//! Stamps of rows that get other places in their archetype.

use crate::version::Version;

use super::stamps::Stamps;

impl Stamps {
    /// Raises the stamps of a chunk to those of chunks of `source`, which has the same columns.
    /// Rows came from there. The order is no property of rows.
    pub(crate) fn record_reorder(&self, chunk: usize, source: &Self, chunks: &[u32]) {
        let (own, first) = (self.first_offset() + chunk, source.first_offset());
        for (array, source) in self.arrays().zip(source.arrays()).skip(1) {
            for &from in chunks {
                let from = &source[first + from as usize];
                if array[own].raise_to(from) {
                    array[0].raise_to(from);
                }
            }
        }
    }

    /// Copies the stamps of a chunk that keeps its rows, and their places.
    pub(crate) fn copy_chunk(&self, chunk: usize, source: &Self) {
        let (own, theirs) = (self.first_offset() + chunk, source.first_offset() + chunk);
        for (array, source) in self.arrays().zip(source.arrays()) {
            array[own].copy(&source[theirs]);
            array[0].raise(source[theirs].get());
        }
    }

    /// Moves all stamps to others. The chunks have the stamps of chunks that were never changed.
    pub(crate) fn take(&mut self) -> Self {
        let taken = self.copied(self.chunk_len());
        let first = self.first_offset();
        for array in self.arrays() {
            let chunks = &array[first..first + self.chunk_len()];
            array[..1].iter().chain(chunks).for_each(|stamp| stamp.set(Version::NEVER));
        }
        taken
    }
}
