//! Stamps of rows that get other places: in another archetype, in a gap, or in another order.

use crate::version::Version;

use super::stamp_kind::StampKind;
use super::stamp_pair::StampPair;
use super::stamps::Stamps;

impl Stamps {
    /// Stamps a chunk to which a row was moved from a chunk of `source`. Order, arrival and the
    /// `added` columns get the current version. The `kept` columns, given as pairs of a column
    /// there and a column here, are raised to the version of the row's old chunk.
    #[inline(always)]
    pub(crate) fn record_arrival(
        &mut self,
        chunk: usize,
        (source, source_chunk): (&Self, usize),
        (kept, added): (&[(u16, u16)], &[u16]),
        now: Version,
    ) {
        debug_assert!(
            chunk < self.chunk_len() && source_chunk < source.chunk_len(),
            "a chunk does not exist"
        );
        // Copied to locals, because the compiler assumes that a store to a stamp may change `self`.
        let (stamps, stride) = (self.all(), self.stride);
        let (summary, first) = (self.summary, self.first + chunk);
        let (theirs, their_stride) = (source.all(), source.stride);
        let their_first = source.first + source_chunk;
        let touch = |kind: StampKind| {
            let at = kind.index() * stride;
            stamps[first + at].set(now);
            stamps[summary + at].set(now);
        };
        touch(StampKind::ORDER);
        touch(StampKind::ARRIVAL);
        for &column in added {
            touch(StampKind::column(column));
        }
        for &(from, to) in kept {
            let stamp = &theirs[their_first + StampKind::column(from).index() * their_stride];
            let at = StampKind::column(to).index() * stride;
            // With several chunks the summary is no older than this stamp. If the stamp is new
            // enough, so is the summary.
            if stamps[first + at].raise_to(stamp) {
                stamps[summary + at].raise_to(stamp);
            }
        }
    }

    /// Stamps a chunk that lost a row. The last row of chunk `last` was moved to the row's place,
    /// so the chunk's stamps are raised to the stamps of the last chunk.
    #[inline(always)]
    pub(crate) fn record_removal(&mut self, chunk: usize, last: usize, now: Version) {
        debug_assert!(
            chunk < self.chunk_len() && last < self.chunk_len(),
            "a chunk does not exist"
        );
        // The first array has the stamps of the order.
        let stamps = self.all();
        stamps[self.summary].set(now);
        stamps[self.first + chunk].set(now);
        if last != chunk {
            stamps[self.first + last].set(now);
            // The order, which is the first kind, is not a property of rows, and was stamped in
            // both chunks.
            let (stride, mut first) = (self.stride, self.first);
            for _ in 1..self.kinds() {
                first += stride;
                // The summary is already no older than the last chunk's stamp.
                stamps[first + chunk].raise_to(&stamps[first + last]);
            }
        }
    }

    /// Sets the stamp of a chunk that was attached as a whole to the version it had elsewhere.
    pub(crate) fn put(&mut self, kind: StampKind, chunk: usize, version: Version) {
        let StampPair { chunk, newest } = self.pair(kind, chunk);
        chunk.set(version);
        newest.raise(version);
    }

    /// Copies the stamps of a chunk that moves into another's place.
    pub(crate) fn move_chunk(&mut self, source: usize, target: usize) {
        for array in self.arrays() {
            array[self.first_offset() + target].copy(&array[self.first_offset() + source]);
        }
    }

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

#[cfg(test)]
mod tests {
    use super::super::shared_lines::SharedLines;
    use super::*;

    #[test]
    fn a_row_that_fills_a_gap_brings_its_newer_stamps() {
        let [c0, c1] = [0, 1].map(StampKind::column);
        let version = Version::from_bits;
        let mut stamps = Stamps::new(2, &mut SharedLines::default());
        stamps.push_chunk();
        stamps.push_chunk();
        stamps.touch(c0, 0, version(5));
        stamps.touch(c0, 1, version(3));
        stamps.touch(c1, 1, version(7));
        stamps.record_removal(0, 1, version(8));
        assert_eq!(stamps.get(c0, 0), version(5), "an older stamp replaced a newer one");
        assert_eq!(stamps.get(c1, 0), version(7), "a newer stamp did not move with the row");
        assert_eq!([0, 1].map(|chunk| stamps.get(StampKind::ORDER, chunk)), [version(8); 2]);
        assert_eq!(stamps.get(StampKind::ARRIVAL, 0), Version::NEVER, "no row was added");
    }
}
