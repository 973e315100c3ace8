//! Rows of a chunk that lie far apart, by their numbers.
//!
//! A pass that takes such rows word by word mispredicts a branch or two for each: whether a word
//! has a row, and whether it has another one. [`FewRows::add_words`] copies words and counts those
//! with rows, and [`FewRows::add`] writes two numbers for each and counts those that are valid, so
//! the processor takes the next words, and loads the rows, before it knows how many there are.
//!
//! ```text
//!  1 % of 1,000,000 rows, at random (Zen 4)        word by word   listed
//!  columns only                                       15.8 ns      9.7 ns a row
//!  with a sparse value, set in random order         34 to 66        20
//! ```
//!
//! Tried as well: the same list in the iterator of [words](super::row_runs), with a branch for each
//! row (14 % slower where all rows are seen), and a hint for the row of each column (it gained
//! nothing: these loads wait for no other load).

use core::sync::atomic::{AtomicU64, Ordering};

use super::enable_bits::WORD;

/// Words that are tested for rows together, before the first row is added.
const BATCH: usize = 16;
/// The capacity of the list. A power of two, so that `% ROWS_MAX` needs no bounds check.
const ROWS_MAX: usize = 32;
/// A word with more rows than this is not listed.
const WORD_ROWS_MAX: usize = 4;

/// Some rows of a chunk, ascending.
#[derive(Clone, Debug)]
pub(crate) struct FewRows {
    rows: [u32; ROWS_MAX],
    len: usize,
    /// The number of rows that were taken.
    taken: usize,
    /// The row after the last one that was taken.
    next: u32,
}

/// A row of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedRow {
    /// Its place in the list.
    pub(crate) place: usize,
    /// The number of rows between the one before it and itself.
    pub(crate) skip: usize,
}

/// A word without its lowest bit.
#[inline(always)]
const fn without_lowest(word: u64) -> u64 {
    word & word.wrapping_sub(1)
}

/// The number of the lowest bit. Of a word without bits it is any number.
#[inline(always)]
const fn lowest(word: u64) -> u32 {
    // The word is never zero: a processor of the baseline needs no branch.
    (word | 1 << 63).trailing_zeros()
}

impl FewRows {
    /// Rows of a list, at most.
    pub(crate) const ROWS_MAX: usize = ROWS_MAX;

    /// No rows.
    pub(crate) const NONE: Self = Self { rows: [0; ROWS_MAX], len: 0, taken: 0, next: 0 };

    /// Whether a word has few rows.
    #[inline(always)]
    pub(super) const fn are_few(word: u64) -> bool {
        without_lowest(without_lowest(without_lowest(without_lowest(word)))) == 0
    }

    /// Adds a row, if there is room, which is counted if `is_valid`.
    #[inline(always)]
    fn put(&mut self, row: u32, is_valid: bool) {
        self.rows[self.len % ROWS_MAX] = row;
        self.len += usize::from(is_valid);
    }

    /// Adds the rows of a word that has any and begins at row `start`, if they are few and there is
    /// room.
    #[inline(always)]
    pub(super) fn add(&mut self, start: u32, word: u64) -> bool {
        let second = without_lowest(word);
        let mut rest = without_lowest(second);
        if self.len > ROWS_MAX - WORD_ROWS_MAX || rest != 0 && !Self::are_few(word) {
            return false;
        }
        self.put(start + lowest(word), true);
        self.put(start + lowest(second), second != 0);
        while rest != 0 {
            self.put(start + lowest(rest), true);
            rest = without_lowest(rest);
        }
        true
    }

    /// The number of rows.
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Fills an empty list: `fill` writes the rows, and returns their number.
    ///
    /// The rows are written in place. A `for` loop over 1,000 of 1,000,000 rows takes 31 ns a
    /// member, and took about 50 with a list that is a value and is moved.
    #[inline(always)]
    pub(crate) fn fill(&mut self, fill: impl FnOnce(&mut [u32; ROWS_MAX]) -> usize) {
        self.len = fill(&mut self.rows);
    }

    /// Adds the rows of words, the first of which begins at row `start`: all words, or those before
    /// one of many rows, or without room. Returns that word and its first row.
    #[inline(always)]
    pub(super) fn add_words(
        &mut self,
        start: u32,
        words: &[AtomicU64],
        flip: u64,
    ) -> Result<(), (u32, u64)> {
        let mut at = start;
        for words in words.chunks(BATCH) {
            let (mut some, mut len) = ([(0, 0); BATCH], 0);
            for word in words {
                let word = word.load(Ordering::Relaxed) ^ flip;
                some[len % BATCH] = (at, word);
                len += usize::from(word != 0);
                at += WORD;
            }
            for &(at, word) in &some[..len.min(BATCH)] {
                if !self.add(at, word) {
                    return Err((at, word));
                }
            }
        }
        Ok(())
    }

    /// The rows, counted from the first. None was taken.
    #[inline(always)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + Clone {
        let first = self.rows[0];
        self.rows[..self.len.min(ROWS_MAX)].iter().map(move |row| (row - first) as usize)
    }

    /// The rows that were not taken.
    #[inline(always)]
    pub(crate) fn rest(&self) -> impl Iterator<Item = ListedRow> {
        let (len, mut next) = (self.len.min(ROWS_MAX), self.next);
        let rest = self.rows[..len].get(self.taken..).unwrap_or_default();
        (self.taken..).zip(rest).map(move |(place, &row)| {
            let skip = (row - next) as usize;
            next = row + 1;
            ListedRow { place, skip }
        })
    }

    /// Ends the list, which is not empty. Returns the first and the last row.
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> (u32, u32) {
        self.next = self.rows[0];
        (self.rows[0], self.rows[(self.len - 1) % ROWS_MAX])
    }
}

impl Iterator for FewRows {
    type Item = ListedRow;

    #[inline(always)]
    fn next(&mut self) -> Option<ListedRow> {
        let place = self.taken;
        if place >= self.len {
            return None;
        }
        let row = self.rows[place % ROWS_MAX];
        let skip = (row - self.next) as usize;
        (self.taken, self.next) = (place + 1, row + 1);
        Some(ListedRow { place, skip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of words, the number of words that were added, and whether a word was refused.
    fn list(words: &[u64]) -> (Vec<u32>, usize) {
        let (mut list, mut added) = (FewRows::NONE, 0);
        for (start, &word) in (0..).step_by(64).zip(words) {
            if word != 0 && !list.add(start, word) {
                break;
            }
            added += 1;
        }
        let (mut together, words) = (FewRows::NONE, words.iter().copied().map(AtomicU64::new));
        let words: Vec<_> = words.collect();
        let end =
            together.add_words(0, &words, 0).map_or_else(|(at, _)| at as usize / 64, |()| added);
        assert_eq!((end, &together.rows[..together.len]), (added, &list.rows[..list.len]));
        let (first, last) = list.begin();
        let narrow = |row| u32::try_from(row).expect("a word has few rows");
        let rows: Vec<_> = list.rows().map(|row| first + narrow(row)).collect();
        let mut next = first;
        assert_eq!(rows.last(), Some(&last));
        let all: Vec<_> = list.rest().map(|one| (one.place, one.skip)).collect();
        for (place, &row) in rows.iter().enumerate() {
            let taken = list.next().map(|one| (one.place, one.skip));
            assert_eq!(taken, Some((place, (row - next) as usize)), "{rows:?}");
            assert_eq!(taken, all.get(place).copied(), "{rows:?}");
            let rest = list.rest().map(|one| (one.place, one.skip));
            assert!(rest.eq(all[place + 1..].iter().copied()), "{rows:?}");
            next = row + 1;
        }
        assert!(list.next().is_none() && list.next().is_none(), "the end is not final");
        (rows, added)
    }

    #[test]
    fn words_of_up_to_four_rows_are_listed() {
        for word in [1, 1 << 63, 0x8000_0001, 0b1011, 0xF, 0xF << 60, 1 << 63 | 0b111] {
            let wanted: Vec<_> = (0..64).filter(|row| word >> row & 1 == 1).collect();
            assert_eq!(list(&[word]), (wanted, 1), "{word:#x}");
            assert!(FewRows::are_few(word));
        }
        let sum = list(&[1 << 5, 0, 0, 0b101, 0, 1 << 63, 0]);
        assert_eq!(sum, (vec![5, 192, 194, 383], 7));
    }

    #[test]
    fn a_word_of_many_rows_and_one_without_room_are_refused() {
        for many in [0x1F, u64::MAX, 0x8001_0001_0001_0001] {
            assert_eq!(list(&[2, many, 1]), (vec![1], 1), "{many:#x}");
            assert!(!FewRows::are_few(many));
        }
        // Four rows each: eight words fill the list.
        let full = list(&[0xF; 20]);
        assert_eq!((full.0.len(), full.1), (ROWS_MAX, ROWS_MAX / WORD_ROWS_MAX));
        // One row each: a word with four would have no room.
        assert_eq!(list(&[1; 64]).1, ROWS_MAX - WORD_ROWS_MAX + 1);
    }
}
