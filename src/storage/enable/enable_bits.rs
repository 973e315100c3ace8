//! The enable bits of one archetype.
//!
//! ```text
//!  rows of a chunk    0 … 63    64 … 127   …            a chunk begins with a word of its own
//!  column of Awake  │ word 0  │ word 1   │ … │ word 0 of the next chunk │ …
//!  column of Aimed  │ word 0  │ word 1   │ … │ …
//! ```
//!
//! A bit is *set* where the component is disabled. So new rows, which are enabled, are zeros, and
//! adding them writes no bit: bits past the last live row of a chunk are always zero.
//!
//! Words are atomic because parts of one chunk may be switched by several threads, and because
//! systems that run at the same time switch different components. All accesses are relaxed:
//! readers and writers of one component are synchronised elsewhere.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::storage::row::ChunkRow;
use crate::storage::words;

/// Rows of a word.
pub(super) const WORD: u32 = u64::BITS;

/// The enable bits of the rows of an archetype that has enableable components.
#[derive(Debug)]
pub(crate) struct EnableBits {
    /// Words of a chunk in each array.
    chunk_words: usize,
    arrays: Box<[BitArray]>,
}

/// The bits of one column, chunk after chunk.
#[derive(Debug)]
struct BitArray {
    column: u16,
    words: Vec<AtomicU64>,
}

/// A word whose lowest `rows` bits are set.
#[inline]
pub(super) const fn low_bits(rows: u32) -> u64 {
    if rows >= WORD { u64::MAX } else { (1 << rows) - 1 }
}

/// The index of a row's word, and its bit there.
#[inline]
const fn split(row: u32) -> (usize, u32) {
    ((row / WORD) as usize, row % WORD)
}

impl EnableBits {
    /// The bits of an archetype without chunks. `None` if it has no enableable columns.
    pub(crate) fn new(columns: impl Iterator<Item = u16>, capacity: u32) -> Option<Self> {
        let arrays: Box<_> = columns.map(|column| BitArray { column, words: Vec::new() }).collect();
        let chunk_words = capacity.div_ceil(WORD) as usize;
        (!arrays.is_empty()).then_some(Self { chunk_words, arrays })
    }

    /// The number of the array of an enableable column.
    pub(crate) fn array_of(&self, column: u16) -> Option<usize> {
        self.arrays.iter().position(|array| array.column == column)
    }

    /// The bits of a chunk in an array.
    ///
    /// # Panics
    ///
    /// If the array or the chunk does not exist.
    #[inline]
    pub(crate) fn chunk(&self, array: usize, chunk: u32) -> ChunkBits<'_> {
        let words = &self.arrays[array].words[chunk as usize * self.chunk_words..];
        ChunkBits { words: &words[..self.chunk_words] }
    }

    /// Enables a column in some rows of a chunk, if it has bits.
    pub(crate) fn enable(&self, column: u16, chunk: u32, rows: Range<u32>) {
        if let Some(array) = self.array_of(column) {
            self.chunk(array, chunk).fill(rows, true);
        }
    }

    /// Words of a chunk in the array of a column: none if it has no bits.
    pub(crate) fn chunk_words(&self, column: u16) -> usize {
        self.array_of(column).map_or(0, |_| self.chunk_words)
    }

    /// Appends the words of all chunks.
    pub(crate) fn save(&self, to: &mut Vec<u64>) {
        self.arrays.iter().for_each(|array| words::save(&array.words, to));
    }

    /// Sets the words of all chunks from words that [`EnableBits::save`] has written for the same
    /// number of chunks, and removes them from the front.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub(crate) fn load(&mut self, saved: &mut &[u64]) {
        self.arrays.iter_mut().for_each(|array| words::load(&mut array.words, saved));
    }

    /// Adds a chunk. Its rows will be enabled.
    pub(crate) fn push_chunk(&mut self) {
        for array in &mut self.arrays {
            let len = array.words.len() + self.chunk_words;
            array.words.resize_with(len, AtomicU64::default);
        }
    }

    /// Makes room for `chunk_len` chunks in all.
    pub(crate) fn reserve(&mut self, chunk_len: usize) {
        for BitArray { words, .. } in &mut self.arrays {
            words.reserve((chunk_len * self.chunk_words).saturating_sub(words.len()));
        }
    }

    /// Removes all chunks from number `chunk_len` on.
    pub(crate) fn truncate(&mut self, chunk_len: usize) {
        for array in &mut self.arrays {
            array.words.truncate(chunk_len * self.chunk_words);
        }
    }

    /// Moves the bits of a chunk that fills the gap of another.
    pub(crate) fn move_chunk(&mut self, source: usize, target: usize) {
        for array in &mut self.arrays {
            for i in 0..self.chunk_words {
                let word = core::mem::take(array.words[source * self.chunk_words + i].get_mut());
                *array.words[target * self.chunk_words + i].get_mut() = word;
            }
        }
    }

    /// Removes a row. The `last` row takes its place.
    pub(crate) fn remove_row(&mut self, at: ChunkRow, last: ChunkRow) {
        for array in 0..self.arrays.len() {
            let was_off = self.take_bit(array, last);
            if at != last {
                self.put_bit(array, at, was_off);
            }
        }
    }

    /// Disables in a new row the components that are disabled in a row of `source`. `kept` has
    /// pairs of a column there and a column here.
    pub(crate) fn follow_row(
        &mut self,
        to: ChunkRow,
        (source, at): (&Self, ChunkRow),
        kept: &[(u16, u16)],
    ) {
        self.follow_rows(to, (source, at, 1), kept);
    }

    /// [`EnableBits::follow_row`] for neighbours: the rows of `source` from one on, which have come
    /// to the rows from `to` on. All are in one chunk.
    pub(crate) fn follow_rows(
        &mut self,
        to: ChunkRow,
        (source, at, rows): (&Self, ChunkRow, u32),
        kept: &[(u16, u16)],
    ) {
        let from = at.chunk as usize * source.chunk_words;
        let base = to.chunk as usize * self.chunk_words;
        for array in &mut self.arrays {
            let Some(&(column, _)) = kept.iter().find(|&&(_, target)| target == array.column)
            else {
                continue;
            };
            let Some(theirs) = source.array_of(column) else { continue };
            let theirs = &source.arrays[theirs].words[from..][..source.chunk_words];
            let ours = &mut array.words[base..][..self.chunk_words];
            or_bits((ours, to.row), (theirs, at.row), rows);
        }
    }

    /// Disables in new rows of one chunk the components that are disabled in a row of the same
    /// archetype.
    pub(crate) fn replicate(&mut self, from: ChunkRow, chunk: u32, rows: Range<u32>) {
        for array in 0..self.arrays.len() {
            if !self.chunk(array, from.chunk).is_enabled(from.row) {
                self.chunk(array, chunk).fill(rows.clone(), false);
            }
        }
    }

    /// Rows that are disabled in a column.
    pub(crate) fn disabled(&self, array: usize) -> usize {
        let words = self.arrays[array].words.iter();
        words.map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    /// Whether each chunk has words, and no bit is set past its live rows.
    pub(crate) fn is_consistent(&self, chunk_len: u32, rows: impl Fn(u32) -> u32) -> bool {
        self.arrays.iter().enumerate().all(|(number, array)| {
            array.words.len() == chunk_len as usize * self.chunk_words
                && (0..chunk_len).all(|chunk| {
                    let words = self.chunk(number, chunk).words.iter().zip(0u32..);
                    let live = |i: u32| low_bits(rows(chunk).saturating_sub(i * WORD));
                    words.into_iter().all(|(word, i)| word.load(Ordering::Relaxed) & !live(i) == 0)
                })
        })
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.arrays.iter().map(|array| array.words.capacity() * size_of::<u64>()).sum()
    }

    fn word_mut(&mut self, array: usize, at: ChunkRow) -> (&mut u64, u64) {
        let (word, bit) = split(at.row);
        let word = at.chunk as usize * self.chunk_words + word;
        (self.arrays[array].words[word].get_mut(), 1 << bit)
    }

    fn take_bit(&mut self, array: usize, at: ChunkRow) -> bool {
        let (word, bit) = self.word_mut(array, at);
        let was = *word & bit != 0;
        *word &= !bit;
        was
    }

    fn put_bit(&mut self, array: usize, at: ChunkRow, on: bool) {
        let (word, bit) = self.word_mut(array, at);
        if on {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }
}

/// The 64 bits from a row on. Those past the last word are zero.
fn bits_from(words: &[AtomicU64], row: u32) -> u64 {
    let (index, bit) = split(row);
    let word = |i: usize| words.get(i).map_or(0, |word| word.load(Ordering::Relaxed));
    if bit == 0 { word(index) } else { word(index) >> bit | word(index + 1) << (WORD - bit) }
}

/// Sets in the rows from `to` on, all of which are zero, the bits of `rows` rows from `from` on.
fn or_bits((ours, to): (&mut [AtomicU64], u32), (theirs, from): (&[AtomicU64], u32), rows: u32) {
    let mut done = 0;
    while done < rows {
        let (index, bit) = split(to + done);
        let some = (WORD - bit).min(rows - done);
        *ours[index].get_mut() |= (bits_from(theirs, from + done) & low_bits(some)) << bit;
        done += some;
    }
}

/// The enable bits of one column in one chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkBits<'w> {
    words: &'w [AtomicU64],
}

impl<'w> ChunkBits<'w> {
    /// The words, a bit a row: set where the row is disabled.
    #[inline]
    pub(super) const fn words(self) -> &'w [AtomicU64] {
        self.words
    }

    /// Whether a row is enabled.
    #[inline]
    pub(crate) fn is_enabled(self, row: u32) -> bool {
        let (word, bit) = split(row);
        self.words[word].load(Ordering::Relaxed) & 1 << bit == 0
    }

    /// The rows of a word, a bit each: set where the row is enabled. Rows that do not exist are.
    #[inline]
    pub(super) fn enabled(self, word: usize) -> u64 {
        !self.words[word].load(Ordering::Relaxed)
    }

    /// The 64 rows from a row on, as [`ChunkBits::enabled`].
    #[inline]
    pub(super) fn enabled_from(self, row: u32) -> u64 {
        !bits_from(self.words, row)
    }

    /// Switches a row, while nothing else switches rows of its word. Returns whether it was the
    /// other way before.
    #[inline]
    pub(crate) fn set_alone(self, row: u32, enabled: bool) -> bool {
        let (word, bit) = split(row);
        let word = &self.words[word];
        let (old, bit) = (word.load(Ordering::Relaxed), 1 << bit);
        let new = if enabled { old & !bit } else { old | bit };
        word.store(new, Ordering::Relaxed);
        new != old
    }

    /// Switches a row, while other threads may switch others of its word.
    #[inline]
    pub(super) fn set(self, row: u32, enabled: bool) {
        if self.is_enabled(row) != enabled {
            let (word, bit) = split(row);
            self.change(word, 1 << bit, enabled);
        }
    }

    /// Switches the rows whose bits are set in `rows`.
    #[inline]
    pub(super) fn change(self, word: usize, rows: u64, enabled: bool) {
        let word = &self.words[word];
        match (rows, enabled) {
            (u64::MAX, true) => word.store(0, Ordering::Relaxed),
            (u64::MAX, false) => word.store(u64::MAX, Ordering::Relaxed),
            (rows, true) => drop(word.fetch_and(!rows, Ordering::Relaxed)),
            (rows, false) => drop(word.fetch_or(rows, Ordering::Relaxed)),
        }
    }

    /// Switches rows: those that are set in `enabled` on, and the others off. Bit 0 is that of the
    /// first row.
    #[inline]
    pub(super) fn set_word(self, rows: Range<u32>, enabled: u64) {
        let (mut at, mut enabled) = (rows.start, enabled);
        while at < rows.end {
            let (word, bit) = split(at);
            let some = (WORD - bit).min(rows.end - at);
            let (on, all) = ((enabled & low_bits(some)) << bit, low_bits(some) << bit);
            if all == u64::MAX {
                self.words[word].store(!on, Ordering::Relaxed);
            } else {
                self.change(word, on, true);
                self.change(word, all & !on, false);
            }
            at += some;
            enabled = enabled.checked_shr(some).unwrap_or(0);
        }
    }

    /// Switches all rows of a range.
    pub(crate) fn fill(self, rows: Range<u32>, enabled: bool) {
        let mut at = rows.start;
        while at < rows.end {
            let (word, bit) = split(at);
            let some = (WORD - bit).min(rows.end - at);
            self.change(word, low_bits(some) << bit, enabled);
            at += some;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(chunk: u32, row: u32) -> ChunkRow {
        ChunkRow { chunk, row }
    }

    fn bits(chunks: usize) -> EnableBits {
        let mut bits = EnableBits::new([1, 4].into_iter(), 144).expect("two columns");
        (0..chunks).for_each(|_| bits.push_chunk());
        bits
    }

    /// The rows of a chunk that are disabled in an array.
    fn off(bits: &EnableBits, array: usize, chunk: u32) -> Vec<u32> {
        (0..144).filter(|&row| !bits.chunk(array, chunk).is_enabled(row)).collect()
    }

    #[test]
    fn an_archetype_without_enableable_columns_has_no_bits() {
        assert!(EnableBits::new(core::iter::empty(), 16).is_none());
        assert_eq!((bits(0).array_of(4), bits(0).array_of(0)), (Some(1), None));
    }

    #[test]
    fn new_rows_are_enabled_and_the_last_row_takes_the_place_of_one() {
        let mut bits = bits(2);
        assert!(off(&bits, 0, 0).is_empty() && off(&bits, 1, 1).is_empty());
        for (chunk, row) in [(0, 3), (0, 70), (1, 2)] {
            assert!(bits.chunk(0, chunk).set_alone(row, false), "row {row} was enabled");
        }
        bits.remove_row(at(0, 5), at(1, 2));
        assert_eq!((off(&bits, 0, 0), off(&bits, 0, 1)), (vec![3, 5, 70], vec![]));
        bits.remove_row(at(0, 70), at(1, 1));
        assert_eq!(off(&bits, 0, 0), [3, 5]);
        bits.remove_row(at(0, 5), at(0, 5));
        assert_eq!(off(&bits, 0, 0), [3]);
        assert!(bits.is_consistent(2, |_| 144));
        bits.chunk(1, 1).fill(10..11, false);
        assert!(!bits.is_consistent(2, |_| 10), "a bit past the live rows");
    }

    #[test]
    fn runs_follow_rows_to_any_other_place() {
        for (from, to, rows) in [(0, 0, 144), (3, 70, 74), (65, 1, 64), (60, 7, 9), (0, 143, 1)] {
            let (source, mut target) = (bits(2), bits(1));
            let each = |row: u32| row.is_multiple_of(3) || row.is_multiple_of(7);
            for row in (0..144).filter(|&row| each(row)) {
                source.chunk(1, 1).fill(row..row + 1, false);
            }
            target.follow_rows(at(0, to), (&source, at(1, from), rows), &[(4, 1), (0, 4)]);
            let wanted: Vec<_> = (0..rows).filter(|i| each(from + i)).map(|i| to + i).collect();
            assert_eq!(off(&target, 0, 0), wanted, "{rows} rows from {from} to {to}");
            assert!(off(&target, 1, 0).is_empty(), "its column has no bits in the source");
        }
    }

    #[test]
    fn chunks_move_and_leave_zeros() {
        let mut bits = bits(3);
        bits.chunk(0, 2).fill(1..130, false);
        bits.chunk(0, 0).fill(0..144, false);
        bits.move_chunk(2, 0);
        assert_eq!(off(&bits, 0, 0), (1..130).collect::<Vec<_>>());
        assert!(off(&bits, 0, 2).is_empty());
        bits.truncate(1);
        assert_eq!((bits.disabled(0), bits.disabled(1)), (129, 0));
    }

    #[test]
    fn words_are_set_at_any_row() {
        let bits = bits(1);
        let chunk = bits.chunk(0, 0);
        for (rows, word) in [(0..64, 0xF0F0), (5..69, u64::MAX), (60..72, 0b10), (80..144, 0)] {
            let before = off(&bits, 0, 0);
            chunk.set_word(rows.clone(), word);
            let wanted = (0..144u32).filter(|row| match rows.contains(row) {
                true => word >> (row - rows.start) & 1 == 0,
                false => before.contains(row),
            });
            assert_eq!(off(&bits, 0, 0), wanted.collect::<Vec<_>>(), "{rows:?}");
        }
    }
}
