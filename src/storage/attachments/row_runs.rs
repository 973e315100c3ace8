//! The runs of rows of a chunk that a query sees.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use super::chunk_lines::ChunkLines;
use super::enable_bits::{ChunkBits, WORD, low_bits};
use super::few_rows::FewRows;
use super::row_mask::{RowMask, Visibility};

impl<'w> RowMask<'w> {
    /// The runs of rows that are seen, as ranges of indices. O(rows / 64 + runs).
    #[inline]
    pub const fn runs(self) -> RowRuns<'w> {
        let at = match self.has_words() {
            false => self.origin,
            // The word before the first one.
            true => (self.origin / WORD * WORD).wrapping_sub(WORD),
        };
        RowRuns { mask: self, word: 0, at }
    }

    /// The runs of rows that are seen, by their numbers in the chunk.
    #[inline]
    pub(crate) fn runs_in_chunk(self) -> impl Iterator<Item = Range<u32>> {
        let mut runs = self.runs();
        core::iter::from_fn(move || {
            runs.next_run().map(|run| self.origin + run.start..self.origin + run.end)
        })
    }

    /// Whether words of bits choose the rows.
    #[inline]
    pub(super) const fn has_words(&self) -> bool {
        !self.words.is_empty() || self.newer.are_by_word()
    }

    /// [`RowMask::word_of_chunk`], if one array alone chooses the rows.
    #[inline(always)]
    pub(super) fn simple_word(&self, word: u32) -> Option<u64> {
        match self.words.get(word as usize) {
            Some(first) if self.rules.is_empty() && self.newer.are_all() => {
                Some(first.load(Ordering::Relaxed) ^ self.flip)
            }
            _ => None,
        }
    }

    /// The first word of the chunk from row `at` on, of those that begin before row `end`, in which
    /// a row is seen, or the last one: its first row, and its rows, also those outside.
    #[inline(never)]
    pub(super) fn some_word_by_all(self, mut at: u32, end: u32) -> (u32, u64) {
        loop {
            let word = match self.words.is_empty() {
                true => self.newer.word((at / WORD) as usize, u64::MAX),
                false => self.word_by_all((at / WORD) as usize),
            };
            if word != 0 || at + WORD >= end {
                return (at, word);
            }
            at += WORD;
        }
    }

    /// The rows that are seen, if lines alone choose them: 64 rows a word of the chunk, and the
    /// number of the first one.
    #[inline(always)]
    pub(super) fn words_of_lines(self) -> impl Iterator<Item = (u32, u64)> {
        let end = self.origin + self.rows;
        let words = self.origin / WORD..end.div_ceil(WORD);
        words.clone().zip(self.newer.words(words.start, words.end)).map(move |(word, rows)| {
            let first = word * WORD;
            let before = u64::MAX << self.origin.saturating_sub(first);
            (first, rows & before & low_bits(end - first))
        })
    }

    /// [`RowMask::visibility`] of rows that are chosen by lines, or of all.
    #[inline]
    pub(super) fn visibility_of_lines(&self) -> Visibility {
        if !self.newer.are_by_word() {
            let all = self.origin..self.origin + self.rows;
            return match self.newer.next_run(all.clone()) {
                None => Visibility::None,
                Some(run) if run == all => Visibility::All,
                Some(_) => Visibility::Partial,
            };
        }
        let (mut seen, mut rows) = (0, 0);
        for (first, word) in self.words_of_lines() {
            rows = first + WORD - self.origin;
            seen += word.count_ones();
            if seen > 0 && seen < rows.min(self.rows) {
                return Visibility::Partial;
            }
        }
        match seen {
            0 => Visibility::None,
            _ if seen == rows.min(self.rows) => Visibility::All,
            _ => Visibility::Partial,
        }
    }

    /// Calls `f` with the first row of each run in a word, by its number in the chunk, if lines
    /// choose the rows.
    #[inline(always)]
    pub(crate) fn for_each_start(self, mut f: impl FnMut(u32)) {
        for (first, rows) in self.words_of_lines() {
            let mut starts = rows & !(rows << 1);
            while starts != 0 {
                f(first + starts.trailing_zeros());
                starts &= starts - 1;
            }
        }
    }

    /// The words of the chunk from a word on that have rows of this mask only, if they alone choose
    /// the rows.
    #[inline(always)]
    fn whole_words(&self, first: u32) -> &'w [AtomicU64] {
        let end = (self.origin + self.rows) / WORD;
        let is_simple = self.rules.is_empty() && self.newer.are_all();
        let words = self.words.get(first as usize..end as usize);
        words.filter(|_| is_simple).unwrap_or_default()
    }

    /// The words of the chunk up to the last row, with the rows that are seen.
    pub(crate) fn copied_words(self) -> Vec<AtomicU64> {
        let words = 0..(self.origin + self.rows).div_ceil(WORD);
        words.map(|word| AtomicU64::new(self.word_of_chunk(word))).collect()
    }

    /// The same mask by a copy of its [words](RowMask::copied_words).
    pub(crate) const fn by_words<'c>(self, words: &'c [AtomicU64]) -> RowMask<'c> {
        let Self { chunk, origin, rows, .. } = self;
        RowMask { words, flip: 0, origin, ..RowMask::all_of(chunk, rows) }
    }

    /// The rows to stamp in lines of the chunk by a pass over this mask: for each word, the rows
    /// that are seen, and enabled in `bits`. If some are, and versions of the same lines choose the
    /// rows, all rows that these choose in the word: a stamp of them leaves the words of this mask
    /// as they are.
    #[inline]
    pub(crate) fn words_to_stamp(
        self,
        lines: ChunkLines<'_>,
        bits: Option<ChunkBits<'_>>,
    ) -> impl Iterator<Item = (usize, u64)> {
        let (end, is_own) = (self.origin + self.rows, self.newer.are_by_stamps(lines.stamps));
        (self.origin / WORD..end.div_ceil(WORD)).filter_map(move |word| {
            let before = u64::MAX << self.origin.saturating_sub(word * WORD);
            let enabled = bits.map_or(u64::MAX, |bits| bits.enabled(word as usize));
            let seen = self.word_of_chunk(word) & before & low_bits(end - word * WORD) & enabled;
            let told = if is_own { self.newer.word(word as usize, u64::MAX) } else { seen };
            (seen != 0).then_some((word as usize, told))
        })
    }

    /// No rows.
    #[inline]
    pub(crate) const fn empty() -> Self {
        Self::all_of(0, 0)
    }
}

/// The runs of rows that a query sees in a chunk: made by [`RowMask::runs`].
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct RowRuns<'w> {
    mask: RowMask<'w>,
    /// The rows of a word of the chunk that are seen and were not returned yet.
    word: u64,
    /// The row of the chunk that is bit 0 of the word, or, without words, follows the last run.
    at: u32,
}

/// Rows of a chunk, all of which are seen, or some.
#[derive(Clone, Debug)]
pub(crate) struct SeenPart {
    /// From the first one that is seen to the last one.
    pub(crate) rows: Range<u32>,
    /// The rows that are seen, a bit each. None if all are, or if a list has them.
    pub(crate) word: u64,
}

/// Rows of a run from which on it is taken by itself. A turn of a loop over runs costs as much as
/// ten rows that are found bit by bit.
const RUN_ROWS_MIN: u32 = 16;

/// Whether the runs of a word have fewer rows on the average.
#[inline]
const fn are_runs_short(word: u64) -> bool {
    let starts = word & !(word << 1);
    // More than three cannot be long. It is asked first: numbers of bits cost fifteen instructions
    // each on a processor of the baseline.
    let mut others = starts;
    others &= others.wrapping_sub(1);
    others &= others.wrapping_sub(1);
    others &= others.wrapping_sub(1);
    others != 0 || word.count_ones() < RUN_ROWS_MIN * starts.count_ones()
}

impl RowRuns<'_> {
    /// The next run, or, where runs are short, the rows of a word of which some are seen. Where
    /// words have few rows, `list` has the rows of several words; elsewhere it is none.
    #[inline(always)]
    pub(crate) fn next_part(&mut self, list: &mut Option<FewRows>) -> Option<SeenPart> {
        if self.mask.has_words() {
            let word = self.some_word()?;
            if FewRows::are_few(word) {
                let list = list.insert(FewRows::NONE);
                let rows = self.list_rows(list);
                return Some(SeenPart { rows, word: 0 });
            }
            *list = None;
            if are_runs_short(word) {
                self.word = 0;
                let (first, origin) = (word.trailing_zeros(), self.mask.origin);
                let end = self.at + WORD - word.leading_zeros();
                let rows = self.at + first - origin..end - origin;
                return Some(SeenPart { rows, word: word >> first });
            }
        }
        *list = None;
        self.next_run().map(|rows| SeenPart { rows, word: 0 })
    }

    /// Lists the rows of this word and of those that follow it, as long as they have few. Returns
    /// the rows from the first to the last.
    #[inline(always)]
    fn list_rows(&mut self, list: &mut FewRows) -> Range<u32> {
        list.add(self.at, self.word);
        self.word = 0;
        let (first, end) = (self.at / WORD + 1, (self.mask.origin + self.mask.rows) / WORD);
        if self.mask.words.is_empty() {
            self.list_words(list, self.mask.newer.words(first, end));
        } else {
            let words = self.mask.whole_words(first);
            match list.add_words(self.at + WORD, words, self.mask.flip) {
                Err((at, word)) => (self.at, self.word) = (at, word),
                Ok(()) => {
                    let words = u32::try_from(words.len());
                    self.at += WORD * words.expect("a chunk has 2^32 words or more");
                }
            }
        }
        while self.word == 0 && self.load() {
            if self.word != 0 && !list.add(self.at, self.word) {
                break;
            }
            self.word = 0;
        }
        let (first, last) = list.begin();
        first - self.mask.origin..last + 1 - self.mask.origin
    }

    /// Lists the rows of these words, which follow this one, until one has many.
    #[inline(always)]
    fn list_words(&mut self, list: &mut FewRows, words: impl Iterator<Item = u64>) {
        let mut at = self.at;
        for word in words {
            at += WORD;
            if word != 0 && !list.add(at, word) {
                self.word = word;
                break;
            }
        }
        self.at = at;
    }

    /// The next run.
    #[inline]
    pub(crate) fn next_run(&mut self) -> Option<Range<u32>> {
        if !self.mask.has_words() {
            return self.next_of_lines();
        }
        let word = self.some_word()?;
        let start = self.at + word.trailing_zeros();
        // The lowest run gives way to the bit above it.
        let above = word.wrapping_add(word & word.wrapping_neg());
        self.word = word & above;
        let end = if above == 0 { self.end_of_run() } else { self.at + above.trailing_zeros() };
        Some(start - self.mask.origin..end - self.mask.origin)
    }

    /// The rest of the word of the next row that is seen.
    #[inline]
    fn some_word(&mut self) -> Option<u64> {
        while self.word == 0 {
            if !self.load() {
                return None;
            }
        }
        Some(self.word)
    }

    /// Goes to the next word, if there is one. Where more than one array chooses the rows, words
    /// without rows are left out.
    #[inline]
    fn load(&mut self) -> bool {
        let (origin, at) = (self.mask.origin, self.at.wrapping_add(WORD));
        let end = origin + self.mask.rows;
        if at >= end {
            return false;
        }
        let (at, word) = match self.mask.simple_word(at / WORD) {
            Some(word) => (at, word),
            None => self.mask.some_word_by_all(at, end),
        };
        let before = u64::MAX << origin.saturating_sub(at);
        self.word = word & before & low_bits(end - at);
        self.at = at;
        true
    }

    /// The end of a run that reaches the end of its word.
    fn end_of_run(&mut self) -> u32 {
        let mut end = self.at + WORD;
        while self.load() {
            if self.at != end {
                break;
            }
            let rows = self.word.trailing_ones();
            end = self.at + rows;
            self.word &= self.word.wrapping_add(1);
            if rows < WORD {
                break;
            }
        }
        end
    }

    /// [`RowRuns::next_run`] of rows that are chosen by lines, or of all.
    #[inline(never)]
    fn next_of_lines(&mut self) -> Option<Range<u32>> {
        let RowMask { origin, rows, newer, .. } = self.mask;
        let run = newer.next_run(self.at..origin + rows);
        self.at = run.as_ref().map_or(origin + rows, |run| run.end);
        run.map(|run| run.start - origin..run.end - origin)
    }
}

impl Iterator for RowRuns<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        self.next_run().map(|run| run.start as usize..run.end as usize)
    }
}

impl core::iter::FusedIterator for RowRuns<'_> {}

#[cfg(test)]
mod tests {
    use super::super::attachments::Attachments;
    use super::super::enable_bits::bits_for_test;
    use super::super::row_mask::EnableRule;
    use super::*;

    /// A chunk of 320 rows, of which those are enabled for which `on` returns `true`.
    fn bits(on: impl Fn(u32) -> bool) -> Attachments {
        let mut bits = bits_for_test(&[0], 320);
        bits.push_chunk();
        (0..320)
            .filter(|&row| !on(row))
            .for_each(|row| bits.bits_of(0, 0).fill(row..row + 1, false));
        bits
    }

    fn hash(row: u32) -> u32 {
        row.wrapping_add(1).wrapping_mul(0x9E37_79B9).rotate_left(15).wrapping_mul(0x85EB_CA6B) >> 8
    }

    /// All rows of parts, each of which begins and ends with one that is seen.
    fn rows_of_parts(mask: RowMask<'_>) -> Vec<u32> {
        let (mut runs, mut list) = (mask.runs(), None);
        let mut all = Vec::new();
        while let Some(SeenPart { rows, word }) = runs.next_part(&mut list) {
            assert!(!rows.is_empty() && rows.end <= mask.rows, "{rows:?} of {}", mask.rows);
            if let Some(list) = &mut list {
                let (first, from_first) = (rows.start, list.rows().collect::<Vec<_>>());
                let taken = list.map(|one| one.skip + 1).scan(0, |end, rows| {
                    *end += rows;
                    Some(*end - 1)
                });
                assert!(taken.eq(from_first.iter().copied()), "{from_first:?}");
                assert_eq!(from_first.last(), Some(&(rows.len() - 1)), "{rows:?}");
                all.extend(rows.filter(|row| from_first.contains(&((row - first) as usize))));
                continue;
            }
            if word == 0 {
                all.extend(rows);
                continue;
            }
            let len = u64::BITS - word.leading_zeros();
            assert_eq!((rows.len(), word & 1), (len as usize, 1), "ends of {word:b}");
            let first = rows.start;
            all.extend(rows.filter(|row| word >> (row - first) & 1 == 1));
        }
        assert!(runs.next_part(&mut list).is_none(), "the end is not final");
        all
    }

    #[test]
    fn parts_and_runs_have_the_rows_that_are_seen_at_every_cut() {
        let patterns: [fn(u32) -> bool; 12] = [
            |_| true,
            |_| false,
            |row| row.is_multiple_of(2),
            |row| hash(row).is_multiple_of(2),
            |row| hash(row).is_multiple_of(10),
            |row| hash(row / 40).is_multiple_of(2),
            |row| row % 64 != 17,
            |row| row % 32 < 16,
            |row| [0, 63, 64, 65, 127, 191, 192, 318, 319].contains(&row),
            |row| hash(row).is_multiple_of(50),
            |row| row % 64 < 4,
            |row| if row < 192 { row % 64 == 9 } else { row != 200 },
        ];
        let cuts: &[u32] = if cfg!(miri) { &[0, 65] } else { &[0, 1, 17, 63, 64, 65, 128, 200] };
        let lens: &[u32] = if cfg!(miri) { &[65] } else { &[0, 1, 2, 63, 64, 65, 100, 120] };
        let rules = [EnableRule::any_of([(0, true)])];
        for (number, on) in patterns.into_iter().enumerate() {
            let bits = bits(on);
            for &cut in cuts {
                for &len in lens {
                    let mut mask = RowMask::new(&rules, Some(&bits), 0, cut + len);
                    let _ = mask.split_off(cut);
                    let wanted: Vec<_> = (0..len).filter(|&row| on(cut + row)).collect();
                    assert_eq!(rows_of_parts(mask), wanted, "{number}: parts at {cut} of {len}");
                    let mut runs = mask.runs();
                    let all = core::iter::from_fn(|| runs.next_run()).flatten();
                    assert_eq!(all.collect::<Vec<_>>(), wanted, "{number}: runs at {cut} of {len}");
                }
            }
        }
    }

    #[test]
    fn runs_end_where_the_next_row_is_not_seen() {
        let bits = bits(|row| !matches!(row, 3 | 64 | 130 | 191 | 256));
        let rules = [EnableRule::any_of([(0, true)])];
        let mask = RowMask::new(&rules, Some(&bits), 0, 320);
        let runs: Vec<_> = mask.runs().collect();
        assert_eq!(runs, [0..3, 4..64, 65..130, 131..191, 192..256, 257..320]);
        assert!(RowMask::run(0, 70..90).runs().eq(core::iter::once(0..20)));
    }

    #[test]
    fn words_are_short_if_their_runs_have_fewer_than_sixteen_rows() {
        let words = (0..64).map(|row| u64::from(hash(row)) << 40 | u64::from(hash(row + 64)) << 8);
        let runs = [1, 1 << 63, 0xFFFF, 0x7FFF, 0xFFFF_0000_FFFF, 0xFFFF_0000_7FFF, u64::MAX, 5];
        for word in words.chain(runs) {
            let mut starts = word & 1;
            (1..64).for_each(|bit| starts += u64::from(word >> (bit - 1) & 3 == 2));
            let is_short = u64::from(word.count_ones()) < 16 * starts;
            assert_eq!(are_runs_short(word), is_short, "{word:#x}");
        }
    }

    #[test]
    fn short_runs_of_a_word_are_one_part() {
        let bits = bits(|row| row.is_multiple_of(2) || row >= 128);
        let rules = [EnableRule::any_of([(0, true)])];
        let mut runs = RowMask::new(&rules, Some(&bits), 0, 320).runs();
        let mut list = None;
        let parts: Vec<_> = core::iter::from_fn(|| runs.next_part(&mut list)).collect();
        assert!(list.is_none(), "many rows are listed");
        let every_second = u64::MAX / 3;
        let wanted = [(0..63, every_second), (64..127, every_second), (128..320, 0)];
        assert!(parts.iter().map(|part| (part.rows.clone(), part.word)).eq(wanted), "{parts:?}");
    }
}
