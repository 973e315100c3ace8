//! The rows of a chunk that are newer than a version.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::entity::Entity;
use crate::storage::stamps::Stamp;
use crate::version::Version;

use super::enable_bits::{WORD, low_bits};
use super::set_blocks::SetBlocks;

/// The rows of a chunk that changed after a version, by line versions or by set blocks.
#[derive(Clone, Copy, Debug)]
pub struct NewerRows<'s> {
    by: RowVersions<'s>,
    since: Version,
}

/// The versions of the rows of a chunk.
#[derive(Clone, Copy, Debug)]
enum RowVersions<'s> {
    /// All are newer.
    None,
    /// Of each 64 rows the newest version and the one before it, and the rows that have the newest.
    Words(&'s [[Stamp; 2]], &'s [AtomicU64]),
    /// Of the values that the entities have in a sparse set.
    Blocks(&'s SetBlocks, &'s [Entity]),
}

impl<'s> NewerRows<'s> {
    /// All rows are.
    pub(crate) const ALL: Self = Self { by: RowVersions::None, since: Version::NEVER };

    /// The rows that are newer by the words of their chunk.
    #[inline]
    pub(super) const fn in_words(
        stamps: &'s [[Stamp; 2]],
        bits: &'s [AtomicU64],
        since: Version,
    ) -> Self {
        Self { by: RowVersions::Words(stamps, bits), since }
    }

    /// The rows of a chunk with values in blocks of a sparse set that are newer than a version. A
    /// mask must leave out the rows without a value.
    #[inline]
    pub(crate) fn in_set(blocks: &'s SetBlocks, entities: &'s [Entity], since: Version) -> Self {
        // Without entities no row is newer.
        let entities = match blocks.may_be_newer(since, entities.len()) {
            true => entities,
            false => &[],
        };
        Self { by: RowVersions::Blocks(blocks, entities), since }
    }

    #[inline]
    pub(crate) const fn are_all(self) -> bool {
        matches!(self.by, RowVersions::None)
    }

    /// Whether words of bits tell the rows.
    #[inline]
    pub(super) const fn are_by_word(self) -> bool {
        matches!(self.by, RowVersions::Words(..))
    }

    /// Whether these versions of words tell the rows.
    #[inline]
    pub(super) fn are_by_stamps(self, words: &[[Stamp; 2]]) -> bool {
        matches!(self.by, RowVersions::Words(stamps, _) if core::ptr::eq(stamps, words))
    }

    /// The first run of newer rows, of the rows `rows` of the chunk.
    #[inline]
    pub(crate) fn next_run(self, rows: Range<u32>) -> Option<Range<u32>> {
        match self.by {
            RowVersions::None => Some(rows).filter(|rows| !rows.is_empty()),
            _ => self.next_run_of_words(rows),
        }
    }

    /// [`NewerRows::next_run`] of rows that are chosen, word by word.
    #[inline(never)]
    fn next_run_of_words(self, rows: Range<u32>) -> Option<Range<u32>> {
        let words = |from: u32| {
            (from / WORD..rows.end.div_ceil(WORD)).map(move |word| {
                let before = low_bits(from.saturating_sub(word * WORD));
                (word, self.word(word as usize, !before), before)
            })
        };
        let (word, bits, _) = words(rows.start).find(|(_, bits, _)| *bits != 0)?;
        let start = word * WORD + bits.trailing_zeros();
        let older = |(word, bits, before): (u32, u64, u64)| {
            let older = !(bits | before);
            (older != 0).then(|| word * WORD + older.trailing_zeros())
        };
        let end = words(start).find_map(older).unwrap_or(rows.end).min(rows.end);
        (start < end).then_some(start..end)
    }

    /// Those of 64 rows of a word of the chunk, a bit each, that are newer. Rows that do not exist
    /// have any value.
    #[inline]
    pub(crate) fn word(self, word: usize, rows: u64) -> u64 {
        match self.by {
            RowVersions::None => rows,
            RowVersions::Words(stamps, bits) => match stamps.get(word).zip(bits.get(word)) {
                Some((stamps, bits)) => rows & newer_rows(stamps, bits, self.since),
                None => 0,
            },
            RowVersions::Blocks(blocks, entities) => {
                if entities.is_empty() {
                    return 0;
                }
                let from = &entities[(word * WORD as usize).min(entities.len())..];
                blocks.newer_rows(from, rows, self.since)
            }
        }
    }

    /// The rows of the words from `first` up to `end`, if they are told by bits.
    #[inline(always)]
    pub(super) fn words(self, first: u32, end: u32) -> impl Iterator<Item = u64> + 's {
        let (stamps, bits) = match self.by {
            RowVersions::Words(stamps, bits) => (stamps, bits),
            _ => (&[][..], &[][..]),
        };
        let stamps = stamps.get(first as usize..end as usize).unwrap_or_default();
        let bits = bits.get(first as usize..end as usize).unwrap_or_default();
        stamps.iter().zip(bits).map(move |(stamps, bits)| newer_rows(stamps, bits, self.since))
    }
}

/// The newer rows of a word. A reader that has not seen the version before the newest is told all.
///
/// Without branches, because the changed words are not predictable.
#[inline(always)]
fn newer_rows([newest, before]: &[Stamp; 2], bits: &AtomicU64, since: Version) -> u64 {
    let all_if = |yes: bool| 0_u64.wrapping_sub(u64::from(yes));
    let told = bits.load(Ordering::Relaxed) | all_if(before.get() > since);
    told & all_if(newest.get() > since)
}

#[cfg(test)]
mod tests {
    use core::iter;

    use super::super::attachment::RowSpan;
    use super::super::attachments::{Attachments, RowSource};
    use super::super::line_versions::two_chunks_for_test;
    use super::*;
    use crate::storage::stamps::Stamps;

    fn touch((stamps, lines): (&Stamps, &Attachments), chunk: u32, row: u32, version: u64) {
        let lines = lines.lines(stamps, 0, chunk).expect("the column");
        lines.touch(row..row + 1, Version::from_bits(version));
    }

    /// The newer rows of the first word of chunk 0.
    fn newer((stamps, lines): (&Stamps, &Attachments), since: u64) -> u64 {
        let lines = lines.lines(stamps, 0, 0).expect("the column");
        lines.newer_than(Version::from_bits(since)).word(0, u64::MAX)
    }

    #[test]
    fn a_row_that_comes_is_found_by_those_that_have_not_seen_its_version() {
        for (version, [since_1, since_3, since_4, since_5]) in [
            (2, [u64::MAX, 0b1000, 0b1000, 0]),
            (4, [u64::MAX, u64::MAX, 0b1000, 0]),
            (5, [0b10_0000_1000, 0b10_0000_1000, 0b10_0000_1000, 0]),
            (6, [u64::MAX, u64::MAX, u64::MAX, 0b10_0000_0000]),
        ] {
            let (stamps, lines) = two_chunks_for_test(128);
            let both = (&stamps, &lines);
            touch(both, 0, 9, 1);
            touch(both, 0, 3, 5);
            touch(both, 1, 7, version);
            let source = Some(RowSource { attachments: &lines, stamps: &stamps, chunk: 1 });
            let span = iter::once(RowSpan { from: 7, to: 9, len: 1 });
            lines.begin_change(&stamps, 0);
            let now = Version::from_bits(8);
            lines.rows_arrived((&stamps, 0), source, span, &[(0, 0)], now);
            let found = [1, 3, 4, 5].map(|since| newer(both, since));
            assert_eq!(found, [since_1, since_3, since_4, since_5], "version {version}");
        }
    }

    #[test]
    fn threads_that_write_rows_of_one_word_lose_none() {
        let (stamps, lines) = two_chunks_for_test(128);
        let both = (&stamps, &lines);
        for number in 1_u32..if cfg!(miri) { 4 } else { 400 } {
            let version = u64::from(number);
            std::thread::scope(|scope| {
                for row in [number % 64, 13, 60] {
                    scope.spawn(move || touch(both, 0, row, version));
                }
            });
            let rows = 1 << (version % 64) | 1 << 13 | 1 << 60;
            assert_eq!(newer(both, version - 1), rows, "version {version}");
            assert_eq!(newer(both, version), 0);
        }
    }
}
