//! Enable bits: a bit a row of enableable components.
//!
//! ```text
//!  rows of a chunk    0 … 63    64 … 127   …            a chunk begins with its own word
//!  column of Awake  │ word 0  │ word 1   │ … │ word 0 of the next chunk │ …
//!  column of Aimed  │ word 0  │ word 1   │ … │ …
//! ```
//!
//! A disabled component stays in place, with its value: switching it moves no data, which is the
//! purpose. Queries take it for absent.
//!
//! A bit is *set* where the component is disabled. So new rows, which are enabled, are zeros, and
//! adding them writes no bit: bits past the last live row of a chunk are always zero.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::ComponentInfo;
use crate::version::Version;

use super::attachment::{Attached, Attachment, AttachmentFigure, AttachmentKind};
use super::attachments::{AttachmentArray, Attachments};

/// Rows of a word.
pub(super) const WORD: u32 = u64::BITS;

/// The kind of the enable bits of enableable components.
#[derive(Debug)]
pub(super) struct EnableBits;

/// A word whose lowest `rows` bits are set.
#[inline]
pub(super) const fn low_bits(rows: u32) -> u64 {
    if rows >= WORD { u64::MAX } else { (1 << rows) - 1 }
}

/// The index of a row's word, and its bit there.
#[inline]
pub(super) const fn split(row: u32) -> (usize, u32) {
    ((row / WORD) as usize, row % WORD)
}

impl AttachmentKind {
    /// Enable bits.
    pub(crate) const ENABLE_BITS: Self = Self::new(0);
}

impl Attachment for EnableBits {
    fn kind(&self) -> AttachmentKind {
        AttachmentKind::ENABLE_BITS
    }

    fn name(&self) -> &'static str {
        "enable bits"
    }

    fn applies(&self, info: &ComponentInfo) -> bool {
        info.is_enableable()
    }

    fn has_row_bits(&self) -> bool {
        true
    }

    fn fresh(&self, _: &ComponentInfo, capacity: u32) -> Box<[u64]> {
        vec![0; capacity.div_ceil(WORD) as usize].into()
    }

    fn rows_arrived(
        &self,
        own: Attached<'_>,
        rows: Range<u32>,
        from: Option<(Attached<'_>, u32)>,
        _: Version,
    ) {
        if let Some((from, first)) = from {
            or_bits((own.words, rows.start), (from.words, first), rows.end - rows.start);
        }
    }

    fn chunk_arrived(&self, own: Attached<'_>, from: Attached<'_>, rows: u32) {
        or_bits((own.words, 0), (from.words, 0), rows);
    }

    fn row_removed(&self, own: Attached<'_>, row: u32, (from, last): (Attached<'_>, u32)) {
        let from = ChunkBits { words: from.words };
        ChunkBits { words: own.words }.set_alone(row, from.is_enabled(last));
        from.set_alone(last, true);
    }

    fn rows_written(&self, own: Attached<'_>, rows: Range<u32>) {
        ChunkBits { words: own.words }.fill(rows, true);
    }

    fn rows_copied(&self, own: Attached<'_>, rows: Range<u32>, (from, row): (Attached<'_>, u32)) {
        if !(ChunkBits { words: from.words }).is_enabled(row) {
            ChunkBits { words: own.words }.fill(rows, false);
        }
    }

    fn figure(&self, words: &[AtomicU64], _: &ComponentInfo) -> Option<AttachmentFigure> {
        let disabled = words.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize);
        let amount @ 1.. = disabled.sum::<usize>() else { return None };
        Some(AttachmentFigure { amount, unit: "row", text: ["is disabled in ", ""] })
    }

    fn row_state(&self, own: Attached<'_>, row: u32) -> Option<&'static str> {
        let is_enabled = ChunkBits { words: own.words }.is_enabled(row);
        Some(if is_enabled { "enabled" } else { "disabled" })
    }

    fn find_defect(
        &self,
        own: Attached<'_>,
        rows: u32,
        _: &ComponentInfo,
        _: Version,
    ) -> Option<&'static str> {
        let is_live = |(word, i): (&AtomicU64, u32)| {
            let live = low_bits(rows.saturating_sub(i * WORD));
            word.load(Ordering::Relaxed) & !live == 0
        };
        let are_live = own.words.iter().zip(0..).all(is_live);
        (!are_live).then_some("an enable bit of a row that there is not")
    }
}

impl Attachments {
    /// The enable bits of a column, if its component is enableable.
    #[inline]
    pub(crate) fn bits(&self, column: u16) -> Option<ColumnBits<'_>> {
        self.find(AttachmentKind::ENABLE_BITS, column).map(ColumnBits)
    }

    /// The number of a column's enable bits for [`Attachments::bits_of`].
    pub(crate) fn bits_number(&self, column: u16) -> Option<usize> {
        self.number(AttachmentKind::ENABLE_BITS, column)
    }

    /// The enable bits of a chunk, by their number.
    ///
    /// # Panics
    ///
    /// If the number or the chunk does not exist.
    #[inline]
    pub(crate) fn bits_of(&self, number: usize, chunk: u32) -> ChunkBits<'_> {
        ColumnBits(&self.arrays[number]).chunk(chunk)
    }
}

/// The enable bits of one column in all chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnBits<'w>(&'w AttachmentArray);

impl<'w> ColumnBits<'w> {
    /// The bits of a chunk.
    ///
    /// # Panics
    ///
    /// If the chunk does not exist.
    #[inline]
    pub(crate) fn chunk(self, chunk: u32) -> ChunkBits<'w> {
        ChunkBits { words: self.0.chunk(chunk) }
    }
}

/// The 64 bits from a row on. Those past the last word are zero.
fn bits_from(words: &[AtomicU64], row: u32) -> u64 {
    let (index, bit) = split(row);
    let word = |i: usize| words.get(i).map_or(0, |word| word.load(Ordering::Relaxed));
    if bit == 0 { word(index) } else { word(index) >> bit | word(index + 1) << (WORD - bit) }
}

/// Sets in the rows from `to` on, all of which are zero, the bits of `rows` rows from `from` on.
fn or_bits((ours, to): (&[AtomicU64], u32), (theirs, from): (&[AtomicU64], u32), rows: u32) {
    let mut done = 0;
    while done < rows {
        let (index, bit) = split(to + done);
        let some = (WORD - bit).min(rows - done);
        let old = ours[index].load(Ordering::Relaxed);
        let new = old | (bits_from(theirs, from + done) & low_bits(some)) << bit;
        ours[index].store(new, Ordering::Relaxed);
        done += some;
    }
}

/// The enable bits of one column in one chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkBits<'w> {
    pub(super) words: &'w [AtomicU64],
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

/// Enable bits of columns, without chunks.
#[cfg(test)]
pub(super) fn bits_for_test(columns: &[u16], capacity: u32) -> Attachments {
    let fresh = vec![0; capacity.div_ceil(WORD) as usize];
    let array = |&column: &u16| AttachmentArray::new(&EnableBits, column, fresh.clone().into());
    Attachments::of_columns(columns.iter().map(array).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::attachments::attachment::RowSpan;
    use crate::storage::attachments::attachments::RowSource;
    use crate::storage::row::ChunkRow;
    use crate::storage::stamps::{SharedLines, Stamps};

    const fn at(chunk: u32, row: u32) -> ChunkRow {
        ChunkRow { chunk, row }
    }

    /// Columns 1 and 4 of some chunks of 144 rows, and their stamps.
    fn bits(chunks: usize) -> (Attachments, Stamps) {
        let mut bits = bits_for_test(&[1, 4], 144);
        let mut stamps = Stamps::new(5, &mut SharedLines::default());
        (0..chunks).for_each(|_| {
            bits.push_chunk();
            stamps.push_chunk();
        });
        (bits, stamps)
    }

    /// The rows of a chunk that are disabled in an array.
    fn off(bits: &Attachments, array: usize, chunk: u32) -> Vec<u32> {
        (0..144).filter(|&row| !bits.bits_of(array, chunk).is_enabled(row)).collect()
    }

    #[test]
    fn columns_without_bits_have_none() {
        let (bits, _) = bits(0);
        assert_eq!([4, 0].map(|column| bits.bits_number(column)), [Some(1), None]);
        assert!(bits.bits(4).is_some() && bits.bits(0).is_none());
    }

    #[test]
    fn new_rows_are_enabled_and_the_last_row_takes_the_place_of_one() {
        let (bits, stamps) = bits(2);
        assert!(off(&bits, 0, 0).is_empty() && off(&bits, 1, 1).is_empty());
        for (chunk, row) in [(0, 3), (0, 70), (1, 2)] {
            assert!(bits.bits_of(0, chunk).set_alone(row, false), "row {row} was enabled");
        }
        bits.row_removed(&stamps, at(0, 5), at(1, 2));
        assert_eq!((off(&bits, 0, 0), off(&bits, 0, 1)), (vec![3, 5, 70], vec![]));
        bits.row_removed(&stamps, at(0, 70), at(1, 1));
        assert_eq!(off(&bits, 0, 0), [3, 5]);
        bits.row_removed(&stamps, at(0, 5), at(0, 5));
        assert_eq!(off(&bits, 0, 0), [3]);
        let defect = |rows| {
            let own = bits.find(AttachmentKind::ENABLE_BITS, 4).expect("it has bits");
            let info = ComponentInfo::of::<crate::component::Disabled>();
            EnableBits.find_defect(own.at(&stamps, 1), rows, &info, Version::NEVER)
        };
        bits.bits_of(1, 1).fill(10..11, false);
        assert_eq!(defect(11), None);
        assert!(defect(10).is_some(), "a bit past the live rows");
    }

    #[test]
    fn runs_follow_rows_to_any_other_place() {
        for (from, to, len) in [(0, 0, 144), (3, 70, 74), (65, 1, 64), (60, 7, 9), (0, 143, 1)] {
            let (source, source_stamps) = bits(2);
            let (target, stamps) = bits(1);
            let each = |row: u32| row.is_multiple_of(3) || row.is_multiple_of(7);
            for row in (0..144).filter(|&row| each(row)) {
                source.bits_of(1, 1).fill(row..row + 1, false);
            }
            let span = core::iter::once(RowSpan { from, to, len });
            let source = RowSource { attachments: &source, stamps: &source_stamps, chunk: 1 };
            let kept = [(4, 1), (0, 4)];
            target.rows_arrived((&stamps, 0), Some(source), span, &kept, Version::NEVER);
            let wanted: Vec<_> = (0..len).filter(|i| each(from + i)).map(|i| to + i).collect();
            assert_eq!(off(&target, 0, 0), wanted, "{len} rows from {from} to {to}");
            assert!(off(&target, 1, 0).is_empty(), "its column has no bits in the source");
        }
    }

    #[test]
    fn chunks_move_and_leave_zeros() {
        let (mut bits, _) = bits(3);
        bits.bits_of(0, 2).fill(1..130, false);
        bits.bits_of(0, 0).fill(0..144, false);
        bits.move_chunk(2, 0);
        assert_eq!(off(&bits, 0, 0), (1..130).collect::<Vec<_>>());
        assert!(off(&bits, 0, 2).is_empty());
        bits.truncate(1);
        assert_eq!([0, 1].map(|number| off(&bits, number, 0).len()), [129, 0]);
    }

    #[test]
    fn words_are_set_at_any_row() {
        let (bits, _) = bits(1);
        let chunk = bits.bits_of(0, 0);
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
