//! The versions of the rows of one column in one chunk, by words: see
//! [`line_versions`](super::line_versions).

use core::hint::select_unpredictable;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::TransparentWrapper as _;

use crate::storage::stamps::{Stamp, StampPair};
use crate::version::Version;

use super::attachment::Attached;
use super::enable_bits::{WORD, low_bits, split};
use super::newer_rows::NewerRows;

/// The versions of the rows of one column in one chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkLines<'s> {
    pub(super) pair: StampPair<'s>,
    pub(super) whole: &'s Stamp,
    /// The newest version of each 64 rows, and the one before it.
    pub(super) stamps: &'s [[Stamp; 2]],
    /// The rows that have the newest version, a bit each.
    pub(super) bits: &'s [AtomicU64],
}

impl<'s> ChunkLines<'s> {
    #[inline]
    pub(super) fn of(own: Attached<'s>) -> Self {
        let (stamps, bits) = own.words.split_at(1 + (own.words.len() - 1) / 3 * 2);
        let stamps = Stamp::wrap_slice(stamps);
        Self { pair: own.pair(), whole: &stamps[0], stamps: stamps[1..].as_chunks().0, bits }
    }

    /// The version that all rows have at least.
    #[inline]
    pub(super) fn whole(self) -> Version {
        let stamp = if self.pair.chunk.is_by_lines() { self.whole } else { self.pair.chunk };
        stamp.get()
    }

    /// The version of a row, or, if its word tells no more, a later one.
    #[inline]
    pub(crate) fn version_of(self, row: u32) -> Version {
        let (word, bit) = split(row);
        let [newest, before] = &self.stamps[word];
        let is_newest = self.bits[word].load(Ordering::Relaxed) >> bit & 1 != 0;
        self.whole().max(if is_newest { newest.get() } else { before.get() })
    }

    /// The rows that are newer than a version.
    #[inline]
    pub(crate) fn newer_than(self, since: Version) -> NewerRows<'s> {
        match self.whole() > since {
            true => NewerRows::ALL,
            false => NewerRows::in_words(self.stamps, self.bits, since),
        }
    }

    /// Stamps some rows, at least one, and their chunk, but no other row.
    ///
    /// Several threads may do so at a time, for different rows and with one version. The stamp of
    /// the chunk is read once: the threads that see the stamp of the whole keep the same version,
    /// and one of them replaces it.
    #[inline]
    pub(crate) fn touch(self, rows: Range<u32>, now: Version) {
        self.touch_words(words_of(rows), now);
    }

    /// [`ChunkLines::touch`] of rows, a bit each, in words of the chunk. If all rows of a word that
    /// have the last version get the new one, no row has it, and the word keeps the one before.
    #[inline]
    pub(crate) fn touch_words(self, words: impl Iterator<Item = (usize, u64)>, now: Version) {
        self.touch_each(words, now, |rows, marked| marked & !rows != 0);
    }

    /// [`ChunkLines::touch`] of rows of a part. Other parts may write rows of the same words,
    /// before or after it: the version before does not depend on them.
    #[inline]
    pub(crate) fn touch_part(self, rows: Range<u32>, now: Version) {
        self.touch_each(words_of(rows), now, |_, _| true);
    }

    /// Stamps rows of words. `is_replaced` tells from the rows that get the version, and the rows
    /// that have the last one, whether this becomes the version before.
    #[inline]
    fn touch_each(
        self,
        words: impl Iterator<Item = (usize, u64)>,
        now: Version,
        is_replaced: impl Fn(u64, u64) -> bool,
    ) {
        if !self.begin(now) {
            return;
        }
        for (word, rows) in words {
            let ([newest, before], bits) = (&self.stamps[word], &self.bits[word]);
            match newest.lock(now) {
                Some(old) => {
                    if is_replaced(rows, bits.load(Ordering::Relaxed)) {
                        before.set(old);
                    }
                    bits.store(rows, Ordering::Relaxed);
                    newest.unlock(now);
                }
                None => _ = bits.fetch_or(rows, Ordering::Relaxed),
            }
        }
        self.pair.raise_by_lines(now);
    }

    /// [`ChunkLines::touch`] of one row, where no other thread writes the column.
    ///
    /// Without branches: a wrong guess would wait for the words, and the next write for the guess.
    #[inline]
    pub(crate) fn touch_alone(self, row: u32, now: Version) {
        if !self.begin(now) {
            return;
        }
        let (word, bit) = split(row);
        let ([newest, before], bits) = (&self.stamps[word], &self.bits[word]);
        let (old, marked) = (newest.get(), bits.load(Ordering::Relaxed));
        let is_first = old < now;
        before.set(select_unpredictable(is_first, old, before.get()));
        // No version is after that of a writer which is alone.
        newest.set(now);
        bits.store(select_unpredictable(is_first, 0, marked) | 1 << bit, Ordering::Relaxed);
        self.pair.set_by_lines(now);
    }

    /// Gives rows that came, at least one, their version, which may be older than that of the rows
    /// that were there before.
    pub(super) fn replace(self, rows: Range<u32>, version: Version) {
        if !self.begin(version) {
            return;
        }
        for (word, rows) in words_of(rows) {
            let ([newest, before], bits) = (&self.stamps[word], &self.bits[word]);
            let (old, marked) = (newest.get(), bits.load(Ordering::Relaxed));
            let marked = if old < version {
                before.set(old);
                newest.set(version);
                rows
            } else if old == version {
                marked | rows
            } else {
                before.raise(version);
                marked & !rows
            };
            bits.store(marked, Ordering::Relaxed);
        }
        self.pair.raise_by_lines(version);
    }

    /// Begins a write of rows with a version: the chunk is by lines. False if the chunk as a whole
    /// is as new.
    #[inline]
    fn begin(self, version: Version) -> bool {
        if let Some(whole) = self.pair.chunk.whole() {
            if whole >= version {
                return false;
            }
            self.whole.set(whole);
            self.pair.chunk.leave_whole(whole);
        }
        true
    }

    /// Keeps the version of the chunk for all rows, before some of them get a newer one. Changes
    /// no version.
    #[inline]
    pub(super) fn keep_whole(self) {
        if let Some(whole) = self.pair.chunk.whole() {
            self.whole.set(whole);
            self.pair.chunk.leave_whole(whole);
        }
    }

    pub(super) fn are_no_newer_than_the_chunk(self) -> bool {
        let chunk = self.pair.chunk.get();
        !self.pair.chunk.is_by_lines()
            || (self.whole.get() <= chunk
                && self.stamps.iter().all(|[newest, _]| newest.get() <= chunk))
    }
}

/// The words of some rows, and the rows in each, a bit each.
#[inline]
fn words_of(rows: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    (rows.start / WORD..rows.end.div_ceil(WORD)).map(move |word| {
        let [start, end] =
            [rows.start, rows.end].map(|row| low_bits(row.saturating_sub(word * WORD)));
        (word as usize, end & !start)
    })
}
