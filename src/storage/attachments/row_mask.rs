//! The rows of a chunk that a query sees.

use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use super::attachments::Attachments;
use super::enable_bits::{ChunkBits, WORD, low_bits};
use super::newer_rows::NewerRows;

/// The rules of a query for the enable bits of each row of an archetype. A row must comply with
/// all.
pub(crate) type EnableRules = [EnableRule];

/// A row is seen if one of these arrays of bits says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnableRule(Box<[(usize, bool)]>);

impl EnableRule {
    /// Rows that are enabled in one of these arrays, or disabled for `false`.
    pub(crate) fn any_of(arrays: impl IntoIterator<Item = (usize, bool)>) -> Self {
        Self(arrays.into_iter().collect())
    }
}

/// The rows of a chunk that a query sees: rows with enabled components that, for a query of
/// [changed lines](crate::lines::ChangedLines), lie in lines that have changed.
///
/// Yielded beside whole slices by [`Query::masked`](crate::Query::masked). Row `i` is element `i`
/// of the slices. If a loop switches the component by which the query chooses rows, or writes lines
/// by whose versions it chooses them, the mask of that chunk may show it or not. After a write by
/// [`LinesMut`](crate::lines::LinesMut) it may also show the other rows of that line: copy
/// [`words`](RowMask::words) before such writes.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Height(f32);
/// # #[component(enableable)] struct Awake;
/// # let mut world = World::new();
/// let ids = world.spawn_batch((0..100).map(|i| (Height(i as f32), Awake))).to_vec();
/// world.set_enabled::<Awake>(ids[3], false)?;
/// for (mask, heights) in world.query::<&Height>().with::<Awake>().masked() {
///     assert_eq!((mask.len(), heights.len(), mask.count()), (100, 100, 99));
///     assert!(mask.get(2) && !mask.get(3));
///     assert_eq!(mask.runs().collect::<Vec<_>>(), [0..3, 4..100]);
///     assert_eq!(mask.words().next(), Some(!0b1000));
/// }
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Clone, Copy)]
pub struct RowMask<'w> {
    /// The words of the first array of the first rule. None if all rows are seen.
    pub(super) words: &'w [AtomicU64],
    /// Xor mask from stored bits to visible rows: all ones if the query wants enabled rows, since a
    /// set bit means disabled.
    pub(super) flip: u64,
    /// All rules, if a word of that array does not tell enough.
    pub(super) rules: &'w EnableRules,
    pub(super) bits: Option<&'w Attachments>,
    /// The lines of which rows are seen.
    pub(super) newer: NewerRows<'w>,
    pub(super) chunk: u32,
    /// The first row in its chunk.
    pub(super) origin: u32,
    pub(super) rows: u32,
}

impl fmt::Debug for RowMask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (self.rows, self.count());
        f.debug_struct("RowMask").field("rows", &counts.0).field("seen", &counts.1).finish()
    }
}

/// The part of a chunk's rows that a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    None,
    Partial,
    All,
}

impl<'w> RowMask<'w> {
    /// The rows of a chunk that comply with all rules.
    #[inline]
    pub(crate) fn new(
        rules: &'w EnableRules,
        bits: Option<&'w Attachments>,
        chunk: u32,
        rows: u32,
    ) -> Self {
        let all = Self::all_of(chunk, rows);
        let Some(EnableRule(first)) = rules.first() else { return all };
        // A rule without arrays is a rule of components that the archetype lacks: no row complies.
        let Some(&(array, enabled)) = first.first() else { return Self { rows: 0, ..all } };
        let Some(bits) = bits else { return all };
        let words = bits.bits_of(array, chunk).words();
        let flip = if enabled { u64::MAX } else { 0 };
        let is_simple = rules.len() == 1 && first.len() == 1;
        let rules = if is_simple { &[] } else { rules };
        Self { words, flip, rules, bits: Some(bits), ..all }
    }

    /// All of the rows of a chunk.
    #[inline]
    pub(crate) const fn all_of(chunk: u32, rows: u32) -> Self {
        let newer = NewerRows::ALL;
        Self { words: &[], flip: 0, rules: &[], bits: None, newer, chunk, origin: 0, rows }
    }

    /// Neighbours in a chunk, all of which are seen.
    #[inline]
    pub(crate) const fn run(chunk: u32, rows: Range<u32>) -> Self {
        Self { origin: rows.start, ..Self::all_of(chunk, rows.end - rows.start) }
    }

    /// [`RowMask::run`] in a chunk of which the number is a `usize`.
    #[inline]
    pub(crate) fn run_in(chunk: usize, rows: Range<u32>) -> Self {
        Self::run(u32::try_from(chunk).expect("an archetype has 2^32 chunks or more"), rows)
    }

    /// Those of the rows whose lines are newer than a version.
    #[inline]
    pub(crate) const fn in_lines(self, newer: NewerRows<'w>) -> Self {
        Self { newer, ..self }
    }

    /// Cuts the first rows off, at most as many as there are.
    #[inline]
    pub(crate) fn split_off(&mut self, rows: u32) -> Self {
        let rows = rows.min(self.rows);
        let first = Self { rows, ..*self };
        self.origin += rows;
        self.rows -= rows;
        first
    }

    /// The number of the chunk.
    #[inline]
    pub(crate) const fn chunk(&self) -> u32 {
        self.chunk
    }

    #[inline]
    pub(crate) const fn rows(&self) -> u32 {
        self.rows
    }

    /// Whether all rows are seen, some, or none. A word costs a load.
    #[inline]
    pub(crate) fn visibility(&self) -> Visibility {
        if self.words.is_empty() {
            return self.visibility_of_lines();
        }
        let (mut any, mut all) = (0, u64::MAX);
        if self.rules.is_empty() && self.origin == 0 && self.newer.are_all() {
            let (whole, last) = (self.rows / WORD, self.rows % WORD);
            // Most chunks that have some rows are known by their first words.
            for words in self.words[..whole as usize].chunks(4) {
                for word in words {
                    let word = word.load(Ordering::Relaxed);
                    any |= word;
                    all &= word;
                }
                if any != 0 && all != u64::MAX {
                    return Visibility::Partial;
                }
            }
            if last > 0 {
                let word = self.words[whole as usize].load(Ordering::Relaxed);
                any |= word & low_bits(last);
                all &= word | !low_bits(last);
            }
            (any, all) = if self.flip == 0 { (any, all) } else { (!all, !any) };
        } else {
            for (word, valid) in self.valid_words() {
                any |= word & valid;
                all &= word | !valid;
                if any != 0 && all != u64::MAX {
                    return Visibility::Partial;
                }
            }
        }
        match (any, all) {
            (0, _) => Visibility::None,
            (_, u64::MAX) => Visibility::All,
            _ => Visibility::Partial,
        }
    }

    /// The rows of a word of the chunk, also of those outside.
    #[inline]
    pub(super) fn word_of_chunk(&self, word: u32) -> u64 {
        self.simple_word(word).unwrap_or_else(|| self.word_by_all(word as usize))
    }

    /// [`RowMask::word_of_chunk`] of several arrays, or of lines as well.
    ///
    /// Takes the mask by value, so that a loop over words keeps its own in registers.
    #[inline(never)]
    pub(super) fn word_by_all(self, word: usize) -> u64 {
        let enabled = match self.words.get(word) {
            None => u64::MAX,
            Some(first) if self.rules.is_empty() => first.load(Ordering::Relaxed) ^ self.flip,
            Some(_) => self.word_by_rules(word),
        };
        self.newer.word(word, enabled)
    }

    /// [`RowMask::word_of_chunk`] of several arrays.
    fn word_by_rules(&self, word: usize) -> u64 {
        let Some(bits) = self.bits else { return u64::MAX };
        let mut seen = u64::MAX;
        for EnableRule(arrays) in self.rules {
            let mut any = 0;
            for &(array, enabled) in arrays {
                let word = bits.bits_of(array, self.chunk).enabled(word);
                any |= if enabled { word } else { !word };
            }
            seen &= any;
        }
        seen
    }

    /// The rows from `row` on that are in one word of the chunk, and their number.
    #[inline]
    fn rest_of_word(&self, row: u32) -> (u64, u32) {
        let at = self.origin + row;
        (self.word_of_chunk(at / WORD) >> (at % WORD), WORD - at % WORD)
    }

    /// The 64 rows from `row` on. Bits past the last row have no meaning.
    #[inline]
    pub(crate) fn seen_from(&self, row: u32) -> u64 {
        let (word, have) = self.rest_of_word(row);
        match have < WORD && row + have < self.rows {
            true => word | self.rest_of_word(row + have).0 << have,
            false => word,
        }
    }

    /// Sixty-four rows a word, and which bits are those of rows.
    #[inline]
    fn valid_words(self) -> impl ExactSizeIterator<Item = (u64, u64)> + 'w {
        (0..self.rows.div_ceil(WORD)).map(move |i| {
            let row = i * WORD;
            (self.seen_from(row), low_bits(self.rows - row))
        })
    }

    /// Switches the rows that are seen in another array of their chunk. Returns how many were the
    /// other way.
    pub(crate) fn switch(self, bits: ChunkBits<'_>, enabled: bool) -> usize {
        if self.origin == 0 && self.visibility() == Visibility::All {
            return switch_first(bits, self.rows, enabled);
        }
        let mut switched = 0;
        for start in (0..self.rows).step_by(WORD as usize) {
            let some = WORD.min(self.rows - start);
            let seen = self.seen_from(start) & low_bits(some);
            let at = self.origin + start;
            let was = bits.enabled_from(at);
            let other = seen & if enabled { !was } else { was };
            switched += other.count_ones() as usize;
            if other != 0 {
                let now = if enabled { was | seen } else { was & !seen };
                bits.set_word(at..at + some, now);
            }
        }
        switched
    }

    /// The number of rows, seen or not.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows as usize
    }

    /// Whether there are no rows at all.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether row `row` is seen.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> bool {
        let number = u32::try_from(row).ok().filter(|&row| row < self.rows);
        self.contains(number.unwrap_or_else(|| panic!("row {row} of {} rows", self.rows)))
    }

    #[inline]
    pub(crate) fn contains(&self, row: u32) -> bool {
        row < self.rows && self.rest_of_word(row).0 & 1 == 1
    }

    /// The number of rows that are seen. O(rows / 64).
    #[must_use]
    pub fn count(&self) -> usize {
        match (self.words.is_empty(), self.newer.are_by_word()) {
            (true, true) => self.words_of_lines().map(|(_, word)| word.count_ones() as usize).sum(),
            (true, false) => self.runs().map(|run| run.len()).sum(),
            (false, _) => self.words().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Whether all rows are seen. O(rows / 64).
    #[must_use]
    pub fn all(&self) -> bool {
        self.is_empty() || self.visibility() == Visibility::All
    }

    /// Whether no row is seen. O(rows / 64).
    #[must_use]
    pub fn none(&self) -> bool {
        self.visibility() == Visibility::None
    }

    /// Sixty-four rows a word, row 0 in the lowest bit: set where the row is seen. Bits past the
    /// last row are not.
    pub fn words(self) -> impl ExactSizeIterator<Item = u64> + 'w {
        self.valid_words().map(|(word, valid)| word & valid)
    }

    /// Sixteen rows a number, row 0 in the lowest bit: for
    /// [`Mask16::from_bits`](crate::simd::vectors::Mask16::from_bits), one for each vector that
    /// [`lanes`](crate::simd::lanes()) shows of a padded column. Bits past the last row are not
    /// set.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::simd::vectors::{F32x16, Mask16};
    ///
    /// # #[component(enableable)] struct Height(f32);
    /// #[kernel]
    /// fn double(heights: &mut [F32x16], seen: &[u16]) {
    ///     for (height, &seen) in heights.iter_mut().zip(seen) {
    ///         *height = Mask16::from_bits(seen).select(*height + *height, *height);
    ///     }
    /// }
    ///
    /// # let mut world = World::new();
    /// let entities = world.spawn_batch([Height(1.0); 20]).to_vec();
    /// world.set_enabled::<Height>(entities[17], false)?;
    /// for (mask, heights) in world.query_mut::<&mut Height>().masked().padded() {
    ///     double(lanes_mut(heights), &mask.words16().collect::<Vec<_>>());
    /// }
    /// let heights = world.query::<&Height>().filter::<IgnoreEnabled>();
    /// assert_eq!(heights.rows().map(|height| height.0).sum::<f32>(), 39.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "a quarter of the word")]
    pub fn words16(self) -> impl Iterator<Item = u16> + 'w {
        let quarters = |word: u64| [0, 16, 32, 48].map(|bit| (word >> bit) as u16);
        self.words().flat_map(quarters).take(self.rows.div_ceil(u16::BITS) as usize)
    }
}

/// Switches the first rows of a chunk. Returns how many were the other way.
fn switch_first(bits: ChunkBits<'_>, rows: u32, enabled: bool) -> usize {
    let (whole, last) = ((rows / WORD) as usize, rows % WORD);
    let (now, flip) = if enabled { (0, 0) } else { (u64::MAX, u64::MAX) };
    let mut switched = 0;
    for word in &bits.words()[..whole] {
        switched += (word.load(Ordering::Relaxed) ^ flip).count_ones();
        word.store(now, Ordering::Relaxed);
    }
    if last > 0 {
        let word = bits.words()[whole].load(Ordering::Relaxed) ^ flip;
        switched += (word & low_bits(last)).count_ones();
        bits.change(whole, low_bits(last), enabled);
    }
    switched as usize
}

#[cfg(test)]
mod tests {
    use super::super::enable_bits::bits_for_test;
    use super::super::line_versions::lines_for_test;
    use super::*;
    use crate::storage::stamps::{SharedLines, Stamps};
    use crate::version::Version;

    /// Two arrays of one chunk of 200 rows.
    fn bits(off: [&[Range<u32>]; 2]) -> Attachments {
        let mut bits = bits_for_test(&[0, 1], 200);
        bits.push_chunk();
        for (array, runs) in off.into_iter().enumerate() {
            runs.iter().for_each(|run| bits.bits_of(array, 0).fill(run.clone(), false));
        }
        bits
    }

    /// Under Miri the first.
    const fn few(all: &[u32]) -> &[u32] {
        if cfg!(miri) { all.split_at(1).0 } else { all }
    }

    fn assert_sees(mask: RowMask<'_>, sees: impl Fn(u32) -> bool) {
        let wanted: Vec<_> = (0..mask.rows).filter(|&row| sees(row)).collect();
        let rows = |words: Vec<u64>| {
            let word = |(i, word): (u32, u64)| {
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| i * 64 + bit)
            };
            (0u32..).zip(words).flat_map(word).collect::<Vec<_>>()
        };
        assert_eq!(rows(mask.words().collect()), wanted, "words");
        let mut runs = mask.runs();
        let by_run: Vec<_> = core::iter::from_fn(|| runs.next_run()).flatten().collect();
        assert_eq!(by_run, wanted, "runs");
        assert!(mask.runs().is_sorted_by_key(|run| run.start), "runs ascend");
        let by_row: Vec<_> = (0..mask.rows).filter(|&row| mask.get(row as usize)).collect();
        assert_eq!(by_row, wanted, "rows");
        assert_eq!(mask.count(), wanted.len());
        assert_eq!(mask.all(), wanted.len() == mask.len());
        assert_eq!(mask.none(), wanted.is_empty());
    }

    #[test]
    fn words_runs_and_rows_agree() {
        let first: &[Range<u32>] = &[0..1, 3..60, 63..65, 128..192];
        let second: &[Range<u32>] = &[2..4, 64..128, 199..200];
        let bits = bits([first, second]);
        let is_off = |runs: &[Range<u32>], row: u32| runs.iter().any(|run| run.contains(&row));
        let rule = |arrays: &[(usize, bool)]| EnableRule::any_of(arrays.iter().copied());
        let one = [rule(&[(0, true)])];
        let other = [rule(&[(1, false)])];
        let both = [rule(&[(0, true)]), rule(&[(1, true)])];
        let either = [rule(&[(0, true), (1, true)])];
        let sees = |name: usize, row: u32| match name {
            0 => !is_off(first, row),
            1 => is_off(second, row),
            2 => !is_off(first, row) && !is_off(second, row),
            3 => !is_off(first, row) || !is_off(second, row),
            _ => true,
        };
        for (name, rules) in [&one[..], &other, &both, &either, &[]].into_iter().enumerate() {
            for &rows in few(&[65, 0, 1, 64, 199, 200]) {
                let mask = RowMask::new(rules, Some(&bits), 0, rows);
                assert_sees(mask, |row| sees(name, row));
                for &cut in few(&[1, 0, 63, 64, 100]).iter().filter(|&&cut| cut <= rows) {
                    let mut rest = mask;
                    assert_sees(rest.split_off(cut), |row| sees(name, row));
                    assert_sees(rest, |row| sees(name, row + cut));
                }
            }
        }
        assert_sees(RowMask::all_of(0, 77), |_| true);
        assert_sees(RowMask::empty(), |_| false);
    }

    #[test]
    fn lines_and_bits_choose_rows_together() {
        let bits = bits([&[0..1, 3..60, 63..65, 128..192], &[]]);
        let rule = [EnableRule::any_of([(0, true)])];
        let is_off = |row: u32| bits.bits_of(0, 0).enabled_from(row) & 1 == 0;
        let version = Version::from_bits;
        for written in [&[][..], &[0], &[12], &[0, 1, 2, 5, 9], &[3, 4, 7, 8, 11, 12]] {
            let mut stamps = Stamps::new(1, &mut SharedLines::default());
            let mut lines = lines_for_test(200);
            stamps.push_chunk();
            lines.push_chunk();
            let lines = lines.lines(&stamps, 0, 0).expect("the column");
            written.iter().for_each(|line| lines.touch(line * 16..line * 16 + 1, version(5)));
            for (rules, since) in [(&rule[..], 4), (&[], 4), (&rule, 5), (&[], 5)] {
                let sees = |row: u32| {
                    let is_newer =
                        since < 5 && row.is_multiple_of(16) && written.contains(&(row / 16));
                    is_newer && (rules.is_empty() || !is_off(row))
                };
                for &rows in few(&[65, 0, 1, 16, 17, 20, 64, 199, 200]) {
                    let mask = RowMask::new(rules, Some(&bits), 0, rows);
                    let mask = mask.in_lines(lines.newer_than(version(since)));
                    assert_sees(mask, sees);
                    for &cut in few(&[17, 0, 1, 15, 16, 100]).iter().filter(|&&cut| cut <= rows) {
                        let mut rest = mask;
                        assert_sees(rest.split_off(cut), sees);
                        assert_sees(rest, |row| sees(row + cut));
                    }
                }
            }
        }
    }
}
