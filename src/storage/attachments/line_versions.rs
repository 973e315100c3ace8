//! Row versions of components that ask for them, by words of 64 rows.
//!
//! A chunk's stamp saturates. Where 1 % of 100,000 rows of 4 bytes are written at random, 99 of 100
//! chunks have a row that changed. So a component may ask for finer versions
//! (`#[component(lines)]`), which a filter reads in chunks that changed: three words for 64 rows.
//!
//! ```text
//!  stamps of column 2  │ chunk 0 │ chunk 1 │ …                        (stamps.rs)
//!
//!  words of column 2   │ whole │ newest │ before │ … │ bits │ … │ whole │ …
//!                      └─ chunk 0                             └─ chunk 1
//! ```
//!
//! * `newest` is the version of the newest row of these 64 rows, and rows with a set bit have it.
//! * No other row of them is newer than `before`.
//!
//! So a reader that has seen `before` finds exactly the rows that changed. For another one all 64
//! rows are new, if `newest` is. A row that gets another version than `newest` raises `before`, so
//! that no change is ever missed.
//!
//! A writer of whole slices stamps the chunk as everywhere, without knowing rows. The chunk's
//! stamp says by a bit which of the two wrote last:
//!
//! * It is *whole*: all rows are as new as the stamp.
//! * It is *by lines*: a row is as new as its word says, or as the stamp `whole`, which keeps the
//!   version that the chunk's stamp had before rows were written.
//!
//! So a write that does not know rows can report too many changes and never too few, and
//! components that do not ask for row versions cost no time.
//!
//! # Threads
//!
//! Threads may write different rows of one word, with one version. The first of them locks `newest`
//! for three stores; the others wait for it, and add their bits. A view that is the only writer of
//! its column needs no lock.
//!
//! # Other forms
//!
//! A million rows of 12 bytes, of which every hundredth is written by its entity and then visited,
//! took in a program without the library (nanoseconds a written row: write, visit; Zen 4, medians):
//!
//! | form | bytes a row | write | visit |
//! | --- | --- | --- | --- |
//! | a stamp for 16 rows, and a comparison with values of the last visit | 12.5 | 22.5 | 165 |
//! | a stamp for 16 rows, all of which are visited | 0.5 | 18.0 | 19.2 |
//! | a stamp a row of 8 bytes, read in 16 rows that changed | 8.5 | 23.5 | 32.8 |
//! | this one | 0.4 | 20.3 | 4.5 |
//! | a log of written rows, gathered in a bit set | 0.1 | 19.4 | 8.0 |
//!
//! In the library a stamp a row doubled the time of writes in random order.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::ComponentInfo;
use crate::storage::stamps::{Stamp, Stamps};
use crate::version::Version;

use super::attachment::{
    Attached, Attachment, AttachmentFigure, AttachmentKind, Content, copy_words,
};
#[cfg(test)]
use super::attachments::AttachmentArray;
use super::attachments::Attachments;
use super::chunk_lines::ChunkLines;
use super::enable_bits::WORD;

/// The kind of the versions of rows: `whole`, two stamps for 64 rows, and their bits.
#[derive(Debug)]
pub(super) struct LineVersions;

impl LineVersions {
    fn fresh_words(capacity: u32) -> Box<[u64]> {
        let words = capacity.div_ceil(WORD) as usize;
        let mut fresh = vec![Stamp::default().bits(); 1 + 2 * words];
        fresh.resize(1 + 3 * words, 0);
        fresh.into()
    }
}

impl AttachmentKind {
    /// Versions of rows.
    const LINE_VERSIONS: Self = Self::new(1);
}

impl Attachment for LineVersions {
    fn kind(&self) -> AttachmentKind {
        AttachmentKind::LINE_VERSIONS
    }

    fn name(&self) -> &'static str {
        "versions of lines"
    }

    fn applies(&self, info: &ComponentInfo) -> bool {
        info.tracks_lines()
    }

    fn fresh(&self, _: &ComponentInfo, capacity: u32) -> Box<[u64]> {
        Self::fresh_words(capacity)
    }

    fn stamps_len(&self, words: usize) -> usize {
        1 + (words - 1) / 3 * 2
    }

    fn begin_change(&self, own: Attached<'_>) {
        ChunkLines::of(own).keep_whole();
    }

    /// The rows get the versions that they had before, or the version `now`. All others keep
    /// theirs, although the chunk is stamped.
    fn rows_arrived(
        &self,
        own: Attached<'_>,
        rows: Range<u32>,
        from: Option<(Attached<'_>, u32)>,
        now: Version,
    ) {
        let lines = ChunkLines::of(own);
        lines.pair.chunk.mark_by_lines();
        let Some((from, first)) = from else { return lines.replace(rows, now) };
        let from = ChunkLines::of(from);
        for (row, before) in rows.zip(first..) {
            lines.replace(row..row + 1, from.version_of(before));
        }
    }

    fn chunk_arrived(&self, own: Attached<'_>, from: Attached<'_>, _: u32) {
        copy_words(own, from);
        if from.pair().chunk.is_by_lines() {
            own.pair().chunk.mark_by_lines();
        }
    }

    fn row_removed(&self, own: Attached<'_>, row: u32, (from, last): (Attached<'_>, u32)) {
        let lines = ChunkLines::of(own);
        lines.pair.chunk.mark_by_lines();
        lines.replace(row..row + 1, ChunkLines::of(from).version_of(last));
    }

    fn contents(&self, own: Attached<'_>, each: &mut dyn FnMut(Content)) {
        let lines = ChunkLines::of(own);
        let whole = lines.whole();
        each(Content::Version(whole));
        for ([newest, before], bits) in lines.stamps.iter().zip(lines.bits) {
            let (newest, before) = (newest.get().max(whole), before.get().max(whole));
            each(Content::Version(newest));
            each(Content::Version(before));
            let bits = if newest > before { bits.load(Ordering::Relaxed) } else { 0 };
            each(Content::Word(bits));
        }
    }

    fn figure(&self, words: &[AtomicU64], _: &ComponentInfo) -> Option<AttachmentFigure> {
        let text = ["has versions of rows: ", ""];
        Some(AttachmentFigure { amount: size_of_val(words), unit: "byte", text })
    }

    fn find_defect(
        &self,
        own: Attached<'_>,
        _: u32,
        _: &ComponentInfo,
        clock: Version,
    ) -> Option<&'static str> {
        let lines = ChunkLines::of(own);
        let mut all = [lines.whole].into_iter().chain(lines.stamps.as_flattened());
        if all.any(|stamp| stamp.get() > clock) {
            return Some("a version of a line after that of the world");
        }
        if lines.stamps.iter().any(|[newest, before]| before.get() > newest.get()) {
            return Some("a version of a line that is older than the one before it");
        }
        let are_older = lines.are_no_newer_than_the_chunk();
        (!are_older).then_some("a version of a line after that of its chunk")
    }
}

impl Attachments {
    /// The lines of a column in a chunk, and the stamps of that chunk. `None` if the column has
    /// none.
    ///
    /// # Panics
    ///
    /// If the chunk does not exist.
    #[inline]
    pub(crate) fn lines<'s>(
        &'s self,
        stamps: &'s Stamps,
        column: u16,
        chunk: u32,
    ) -> Option<ChunkLines<'s>> {
        let array = self.find(AttachmentKind::LINE_VERSIONS, column)?;
        Some(ChunkLines::of(array.at(stamps, chunk)))
    }

    /// The lines of a column in all chunks. `None` if the column has none.
    pub(crate) fn lines_of_chunks<'s>(
        &'s self,
        stamps: &'s Stamps,
        column: u16,
    ) -> Option<impl Iterator<Item = ChunkLines<'s>>> {
        let array = self.find(AttachmentKind::LINE_VERSIONS, column)?;
        let chunks = (0..).zip(array.words.chunks_exact(array.stride()));
        Some(
            chunks.map(move |(chunk, words)| {
                ChunkLines::of(Attached { words, stamps, column, chunk })
            }),
        )
    }
}

/// Versions of the lines of column 0, without chunks.
#[cfg(test)]
pub(super) fn lines_for_test(capacity: u32) -> Attachments {
    let fresh = LineVersions::fresh_words(capacity);
    Attachments::of_columns(vec![AttachmentArray::new(&LineVersions, 0, fresh)])
}

/// One column of `rows` rows in each of two chunks.
#[cfg(test)]
pub(super) fn two_chunks_for_test(rows: u32) -> (Stamps, Attachments) {
    let (mut stamps, mut lines) = (Stamps::new(1, &mut <_>::default()), lines_for_test(rows));
    for _ in 0..2 {
        stamps.push_chunk();
        lines.push_chunk();
    }
    (stamps, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::stamps::{SharedLines, StampKind};

    fn version(n: u64) -> Version {
        Version::from_bits(n)
    }

    /// The versions of the four lines of a chunk.
    fn versions(stamps: &Stamps, lines: &Attachments, chunk: u32) -> [u64; 4] {
        let of_chunk = lines.lines(stamps, 0, chunk).unwrap();
        [0, 16, 32, 48].map(|row| of_chunk.version_of(row).to_bits())
    }

    fn defect(stamps: &Stamps, lines: &Attachments) -> Option<&'static str> {
        let info = ComponentInfo::of::<crate::component::Disabled>();
        let clock = Version::from_bits(1 << 40);
        lines.find_defect(stamps, clock, |_| 64, |_| &info)
    }

    const COLUMN: StampKind = StampKind::column(0);

    #[test]
    fn a_write_of_rows_stamps_their_lines_and_their_chunk() {
        let (stamps, lines) = two_chunks_for_test(64);
        stamps.touch(COLUMN, 0, version(1));
        let of_chunk = lines.lines(&stamps, 0, 0).unwrap();
        let newer = |since| of_chunk.newer_than(version(since)).word(0, u64::MAX);
        of_chunk.touch_alone(17, version(3));
        of_chunk.touch(20..21, version(3));
        of_chunk.touch_alone(3, version(3));
        assert_eq!(
            [0, 1, 2, 3].map(newer),
            [u64::MAX, 1 << 3 | 1 << 17 | 1 << 20, 1 << 3 | 1 << 17 | 1 << 20, 0]
        );
        assert_eq!([3, 16, 17, 20].map(|row| of_chunk.version_of(row).to_bits()), [3, 1, 3, 3]);
        of_chunk.touch(31..33, version(4));
        assert_eq!([2, 3, 4].map(newer), [u64::MAX, 0b11 << 31, 0], "a reader that saw 3 sees two");
        assert_eq!(versions(&stamps, &lines, 0), [3, 3, 4, 3], "at least as new as they are");
        assert_eq!([stamps.get(COLUMN, 0), stamps.newest(COLUMN)], [version(4); 2]);
        assert_eq!(versions(&stamps, &lines, 1), [0; 4]);
        assert_eq!(defect(&stamps, &lines), None);
    }

    #[test]
    fn a_whole_write_of_the_same_version_is_not_lost() {
        let (stamps, lines) = two_chunks_for_test(64);
        lines.lines(&stamps, 0, 1).unwrap().touch(0..1, version(5));
        stamps.touch(COLUMN, 1, version(5));
        assert_eq!(versions(&stamps, &lines, 1), [5; 4]);
        lines.lines(&stamps, 0, 1).unwrap().touch(0..1, version(5));
        assert_eq!(versions(&stamps, &lines, 1), [5; 4], "a row was written after the whole");
        lines.lines(&stamps, 0, 1).unwrap().touch(0..1, version(6));
        assert_eq!(versions(&stamps, &lines, 1), [6, 5, 5, 5]);
    }

    #[test]
    fn a_change_of_some_rows_that_stamps_the_chunk_leaves_the_other_lines() {
        let (stamps, lines) = two_chunks_for_test(64);
        stamps.touch(COLUMN, 0, version(2));
        lines.begin_change(&stamps, 0);
        assert_eq!(versions(&stamps, &lines, 0), [2; 4]);
        stamps.touch(COLUMN, 0, version(7));
        lines.rows_added((&stamps, 0), 48..49, version(7));
        assert_eq!(versions(&stamps, &lines, 0), [2, 2, 2, 7]);
    }

    #[test]
    fn growth_and_moves_keep_lines() {
        let (mut stamps, mut lines) = two_chunks_for_test(64);
        lines.lines(&stamps, 0, 1).unwrap().touch(16..17, version(5));
        for _ in 2..40 {
            stamps.push_chunk();
            lines.push_chunk();
        }
        assert_eq!(versions(&stamps, &lines, 1), [0, 5, 0, 0]);
        stamps.move_chunk(1, 30);
        lines.move_chunk(1, 30);
        assert_eq!(versions(&stamps, &lines, 30), [0, 5, 0, 0]);
        stamps.truncate(1);
        lines.truncate(1);
        stamps.push_chunk();
        lines.push_chunk();
        assert_eq!(versions(&stamps, &lines, 1), [0; 4]);
        assert_eq!(defect(&stamps, &lines), None);
    }

    #[test]
    fn the_only_chunk_of_an_archetype_has_lines() {
        let mut stamps = Stamps::new(1, &mut SharedLines::default());
        let mut lines = lines_for_test(40);
        stamps.push_chunk();
        lines.push_chunk();
        let of_chunk = lines.lines(&stamps, 0, 0).unwrap();
        of_chunk.touch(39..40, version(3));
        assert_eq!([0, 16, 39].map(|row| of_chunk.version_of(row).to_bits()), [0, 0, 3]);
        assert_eq!(stamps.newest(COLUMN), version(3));
        let newer = of_chunk.newer_than(version(2));
        assert_eq!(newer.word(0, u64::MAX), 1 << 39);
        assert!(of_chunk.newer_than(Version::NEVER).word(0, u64::MAX) == 1 << 39);
    }
}
