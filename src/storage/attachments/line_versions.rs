//! Line versions: versions of sixteen rows each, of components that ask for it.
//!
//! A chunk's stamp saturates. Where 1 % of 100,000 rows of 4 bytes are written at random, 99 of 100
//! chunks have a row that changed, but only 15 of 100 lines. So a component may ask for a stamp a
//! line (`#[component(lines)]`), 8 bytes for 16 rows, which a filter reads in chunks that changed.
//!
//! ```text
//!  chunk stamps of column 2   │ chunk 0 │ chunk 1 │ …      (stamps.rs)
//!
//!  line stamps of column 2    │ whole │ line 0 │ line 1 │ … │ whole │ line 0 │ …
//!                             └─ chunk 0                    └─ chunk 1
//! ```
//!
//! A writer of whole slices stamps the chunk as everywhere, without knowing lines. The chunk's
//! stamp says by a bit which of the two wrote last:
//!
//! * It is *whole*: all lines are as new as the stamp.
//! * It is *by lines*: a line is as new as its own stamp, or as the stamp `whole`, which keeps the
//!   version that the chunk's stamp had before lines were written.
//!
//! So a write that does not know lines can report too many changes and never too few, and
//! components that do not ask for lines cost no time.

use core::ops::Range;
use core::sync::atomic::AtomicU64;

use bytemuck::TransparentWrapper as _;

use crate::component::ComponentInfo;
use crate::entity::Entity;
use crate::line::VECTOR_ROWS;
use crate::storage::stamps::{Stamp, StampPair, Stamps};
use crate::version::Version;

use super::attachment::{
    Attached, Attachment, AttachmentFigure, AttachmentKind, Content, copy_words,
};
#[cfg(test)]
use super::attachments::AttachmentArray;
use super::attachments::Attachments;
use super::enable_bits::WORD;
use super::set_blocks::SetBlocks;

/// Rows of a line: [`VECTOR_ROWS`].
const LINE_ROWS: u32 = 16;

const _: () = assert!(LINE_ROWS as usize == VECTOR_ROWS, "a line is a vector of rows");

/// The kind of the versions of lines: `whole`, and a stamp a line.
#[derive(Debug)]
pub(super) struct LineVersions;

impl LineVersions {
    fn fresh_stamps(capacity: u32) -> Box<[u64]> {
        vec![Stamp::default().bits(); 1 + capacity.div_ceil(LINE_ROWS) as usize].into()
    }
}

impl AttachmentKind {
    /// Versions of lines.
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
        Self::fresh_stamps(capacity)
    }

    fn has_versions(&self) -> bool {
        true
    }

    fn begin_change(&self, own: Attached<'_>) {
        ChunkLines::of(own).keep_whole();
    }

    /// The lines of the rows get the versions that the rows had before, or the version `now`. All
    /// others keep theirs, although the chunk is stamped.
    fn rows_arrived(
        &self,
        own: Attached<'_>,
        rows: Range<u32>,
        from: Option<(Attached<'_>, u32)>,
        now: Version,
    ) {
        let lines = ChunkLines::of(own);
        lines.pair.chunk.mark_by_lines();
        let Some((from, first)) = from else { return lines.raise(rows, now) };
        let from = ChunkLines::of(from);
        for (row, before) in rows.zip(first..) {
            lines.raise(row..row + 1, from.version_of(before));
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
        lines.raise(row..row + 1, ChunkLines::of(from).version_of(last));
    }

    fn contents(&self, own: Attached<'_>, each: &mut dyn FnMut(Content)) {
        ChunkLines::of(own).versions().for_each(|version| each(Content::Version(version)));
    }

    fn figure(&self, words: &[AtomicU64], _: &ComponentInfo) -> Option<AttachmentFigure> {
        let text = ["has a version for 16 rows each: ", ""];
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
        if [lines.whole].into_iter().chain(lines.lines).any(|stamp| stamp.get() > clock) {
            return Some("a version of a line after that of the world");
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
}

/// The stamps of the lines of one column in one chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkLines<'s> {
    pair: StampPair<'s>,
    whole: &'s Stamp,
    lines: &'s [Stamp],
}

impl<'s> ChunkLines<'s> {
    #[inline]
    fn of(own: Attached<'s>) -> Self {
        let stamps = Stamp::wrap_slice(own.words);
        Self { pair: own.pair(), whole: &stamps[0], lines: &stamps[1..] }
    }

    /// The version that all lines have at least.
    #[inline]
    fn whole(self) -> Version {
        let stamp = if self.pair.chunk.is_by_lines() { self.whole } else { self.pair.chunk };
        stamp.get()
    }

    /// The version of a row's line.
    #[inline]
    pub(crate) fn version_of(self, row: u32) -> Version {
        self.whole().max(self.lines[(row / LINE_ROWS) as usize].get())
    }

    /// The version that all lines have at least, and the version of each line.
    pub(crate) fn versions(self) -> impl Iterator<Item = Version> + 's {
        let whole = self.whole();
        [whole].into_iter().chain(self.lines.iter().map(move |line| line.get().max(whole)))
    }

    /// The lines that are newer than a version.
    #[inline]
    pub(crate) fn newer_than(self, since: Version) -> NewerLines<'s> {
        let by = match self.whole() > since || self.lines.is_empty() {
            true => RowVersions::None,
            false => RowVersions::Lines(self.lines),
        };
        NewerLines { by, since }
    }

    /// Stamps the lines of some rows, at least one, and their chunk, but no other line.
    #[inline]
    pub(crate) fn touch(self, rows: Range<u32>, now: Version) {
        self.raise(rows, now);
    }

    /// Raises the lines of some rows, at least one, to a version, unless they are newer.
    ///
    /// Several threads may do so at a time, for different rows and with one version. The stamp of
    /// the chunk is read once: the threads that see the stamp of the whole keep the same version,
    /// and one of them replaces it.
    #[inline]
    fn raise(self, rows: Range<u32>, version: Version) {
        if let Some(whole) = self.pair.chunk.whole() {
            if whole >= version {
                return;
            }
            self.whole.set(whole);
            self.pair.chunk.leave_whole(whole);
        }
        let lines = (rows.start / LINE_ROWS) as usize..rows.end.div_ceil(LINE_ROWS) as usize;
        for line in &self.lines[lines] {
            line.raise(version);
        }
        self.pair.raise_by_lines(version);
    }

    /// Keeps the version of the chunk for all lines, before some of them get a newer one. Changes
    /// no version.
    #[inline]
    fn keep_whole(self) {
        if let Some(whole) = self.pair.chunk.whole() {
            self.whole.set(whole);
            self.pair.chunk.leave_whole(whole);
        }
    }

    fn are_no_newer_than_the_chunk(self) -> bool {
        let chunk = self.pair.chunk.get();
        !self.pair.chunk.is_by_lines()
            || (self.whole.get() <= chunk && self.lines.iter().all(|line| line.get() <= chunk))
    }
}

/// The rows of a chunk that are newer than a version: by their lines, or by the blocks of a sparse
/// set.
#[derive(Clone, Copy, Debug)]
pub struct NewerLines<'s> {
    by: RowVersions<'s>,
    since: Version,
}

/// The versions of the rows of a chunk.
#[derive(Clone, Copy, Debug)]
enum RowVersions<'s> {
    /// All are newer.
    None,
    Lines(&'s [Stamp]),
    /// Of the values that the entities have in a sparse set.
    Blocks(&'s SetBlocks, &'s [Entity]),
}

impl<'s> NewerLines<'s> {
    /// All rows are.
    pub(crate) const ALL: Self = Self { by: RowVersions::None, since: Version::NEVER };

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

    /// The first run of rows in newer lines, of the rows `rows` of the chunk.
    #[inline]
    pub(crate) fn next_run(self, rows: Range<u32>) -> Option<Range<u32>> {
        let all = match self.by {
            RowVersions::Lines(lines) if !rows.is_empty() => lines,
            RowVersions::Blocks(..) => return self.next_run_in_set(rows),
            _ => return Some(rows).filter(|rows| !rows.is_empty()),
        };
        let is_newer = |stamp: &Stamp| stamp.get() > self.since;
        let narrow = |line: usize| u32::try_from(line).expect("a chunk has 2^32 lines or more");
        let at = rows.start / LINE_ROWS;
        let lines = all.get(at as usize..rows.end.div_ceil(LINE_ROWS) as usize)?;
        // (Eight at a time with one branch gained 17 % where few lines are newer, and lost 36 %
        // where every seventh is.)
        let skipped = lines.iter().position(is_newer)?;
        let run = lines[skipped..].iter().position(|stamp| !is_newer(stamp));
        let first = at + narrow(skipped);
        let end = first + narrow(run.unwrap_or(lines.len() - skipped));
        Some(rows.start.max(first * LINE_ROWS)..rows.end.min(end * LINE_ROWS))
    }

    /// [`NewerLines::next_run`] of a sparse set.
    #[cold]
    fn next_run_in_set(self, rows: Range<u32>) -> Option<Range<u32>> {
        let is_newer = |row: &u32| self.word((row / WORD) as usize, 1 << (row % WORD)) != 0;
        let start = rows.clone().find(is_newer)?;
        let end = (start..rows.end).find(|row| !is_newer(row)).unwrap_or(rows.end);
        Some(start..end)
    }

    /// Those of 64 rows of a word of the chunk, a bit each, that are newer. Rows that do not exist
    /// have any value.
    #[inline]
    pub(crate) fn word(self, word: usize, rows: u64) -> u64 {
        const WORD_LINES: usize = (u64::BITS / LINE_ROWS) as usize;
        let lines = match self.by {
            RowVersions::None => return rows,
            RowVersions::Lines(lines) => lines,
            RowVersions::Blocks(blocks, entities) => {
                if entities.is_empty() {
                    return 0;
                }
                let from = &entities[(word * WORD as usize).min(entities.len())..];
                return blocks.newer_rows(from, rows, self.since);
            }
        };
        let from = &lines[(word * WORD_LINES).min(lines.len())..];
        match from.first_chunk::<WORD_LINES>() {
            Some(lines) => rows & self.rows_of(lines),
            None => rows & self.rows_of(from),
        }
    }

    /// The rows of up to four lines.
    #[inline(always)]
    fn rows_of(self, lines: &[Stamp]) -> u64 {
        const LINE: u64 = (1 << LINE_ROWS) - 1;
        // All ones or zero, without a branch, because the changed lines are not predictable.
        let rows = |stamp: &Stamp| 0_u64.wrapping_sub(u64::from(stamp.get() > self.since)) & LINE;
        (0..).zip(lines).fold(0, |all, (i, stamp)| all | rows(stamp) << (i * LINE_ROWS))
    }
}

/// Versions of the lines of column 0, without chunks.
#[cfg(test)]
pub(super) fn lines_for_test(capacity: u32) -> Attachments {
    let fresh = LineVersions::fresh_stamps(capacity);
    Attachments::of_columns(vec![AttachmentArray::new(&LineVersions, 0, fresh)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::stamps::{SharedLines, StampKind};

    fn version(n: u64) -> Version {
        Version::from_bits(n)
    }

    /// One column of 64 rows in each of two chunks.
    fn two_chunks() -> (Stamps, Attachments) {
        let mut stamps = Stamps::new(1, &mut SharedLines::default());
        let mut lines = lines_for_test(64);
        for _ in 0..2 {
            stamps.push_chunk();
            lines.push_chunk();
        }
        (stamps, lines)
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
        let (stamps, lines) = two_chunks();
        stamps.touch(COLUMN, 0, version(1));
        lines.lines(&stamps, 0, 0).unwrap().touch(17..18, version(3));
        lines.lines(&stamps, 0, 0).unwrap().touch(31..33, version(4));
        assert_eq!(versions(&stamps, &lines, 0), [1, 4, 4, 1]);
        assert_eq!([stamps.get(COLUMN, 0), stamps.newest(COLUMN)], [version(4); 2]);
        assert_eq!(versions(&stamps, &lines, 1), [0; 4]);
        assert_eq!(defect(&stamps, &lines), None);
    }

    #[test]
    fn a_whole_write_of_the_same_version_is_not_lost() {
        let (stamps, lines) = two_chunks();
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
        let (stamps, lines) = two_chunks();
        stamps.touch(COLUMN, 0, version(2));
        lines.begin_change(&stamps, 0);
        assert_eq!(versions(&stamps, &lines, 0), [2; 4]);
        stamps.touch(COLUMN, 0, version(7));
        lines.rows_added((&stamps, 0), 48..49, version(7));
        assert_eq!(versions(&stamps, &lines, 0), [2, 2, 2, 7]);
    }

    #[test]
    fn growth_and_moves_keep_lines() {
        let (mut stamps, mut lines) = two_chunks();
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
        assert_eq!(newer.word(0, u64::MAX), 0xffff << 32);
        assert!(of_chunk.newer_than(Version::NEVER).word(0, u64::MAX) == 0xffff << 32);
    }
}
