//! Versions of the lines of a chunk: sixteen rows each, of components that ask for it.
//!
//! A chunk's stamp saturates. Where 1 % of 100,000 rows of 4 bytes are written at random, 99 of 100
//! chunks have a row that changed, but only 15 of 100 lines. So a component may ask for a stamp a
//! line (`#[track_lines]`), 8 bytes for 16 rows, which a filter reads in chunks that changed.
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

use crate::line::VECTOR_ROWS;
use crate::storage::row::ChunkRow;
use crate::version::Version;

use super::stamp::Stamp;
use super::stamp_kind::StampKind;
use super::stamps::{StampPair, Stamps};

/// Rows of a line: [`VECTOR_ROWS`].
const LINE_ROWS: u32 = 16;

const _: () = assert!(LINE_ROWS as usize == VECTOR_ROWS, "a line is a vector of rows");

/// The line stamps of an archetype with components that ask for them.
#[derive(Debug)]
pub(crate) struct LineStamps {
    /// Stamps of a chunk in each array: `whole`, and one a line.
    chunk_stamps: usize,
    arrays: Box<[LineArray]>,
}

/// The line stamps of one column, chunk after chunk.
#[derive(Debug)]
struct LineArray {
    column: u16,
    stamps: Vec<Stamp>,
}

impl LineStamps {
    /// The stamps of an archetype without chunks. `None` if no column asks for them.
    pub(crate) fn new(columns: impl Iterator<Item = u16>, capacity: u32) -> Option<Self> {
        let arrays: Box<_> =
            columns.map(|column| LineArray { column, stamps: Vec::new() }).collect();
        let chunk_stamps = 1 + capacity.div_ceil(LINE_ROWS) as usize;
        (!arrays.is_empty()).then_some(Self { chunk_stamps, arrays })
    }

    /// The lines of a column in a chunk, and the stamps of that chunk. `None` if the column has
    /// none.
    ///
    /// # Panics
    ///
    /// If the chunk does not exist.
    #[inline]
    pub(crate) fn chunk<'s>(
        &'s self,
        stamps: &'s Stamps,
        column: u16,
        chunk: u32,
    ) -> Option<ChunkLines<'s>> {
        let array = self.arrays.iter().find(|array| array.column == column)?;
        Some(self.of_array(stamps, array, chunk))
    }

    #[inline]
    fn of_array<'s>(&self, stamps: &'s Stamps, array: &'s LineArray, chunk: u32) -> ChunkLines<'s> {
        let own = &array.stamps[chunk as usize * self.chunk_stamps..][..self.chunk_stamps];
        let pair = stamps.pair(StampKind::column(array.column), chunk as usize);
        ChunkLines { pair, whole: &own[0], lines: &own[1..] }
    }

    /// All columns that have lines, in a chunk.
    fn all<'s>(
        &'s self,
        stamps: &'s Stamps,
        chunk: u32,
    ) -> impl Iterator<Item = (u16, ChunkLines<'s>)> {
        self.arrays.iter().map(move |array| (array.column, self.of_array(stamps, array, chunk)))
    }

    /// Begins a change of some rows of a chunk that stamps the chunk as a whole. Changes no
    /// version. [`LineStamps::close`] ends it.
    pub(crate) fn open(&self, stamps: &Stamps, chunk: u32) {
        self.all(stamps, chunk).for_each(|(_, lines)| lines.keep_whole());
    }

    /// Ends a change of some rows that [`LineStamps::open`] began: the lines of these rows get the
    /// version of their column, and other lines keep theirs. A column without a version was not
    /// stamped.
    pub(crate) fn close(
        &self,
        stamps: &Stamps,
        (chunk, rows): (u32, Range<u32>),
        version: impl Fn(u16) -> Option<Version>,
    ) {
        for (column, lines) in self.all(stamps, chunk) {
            lines.pair.chunk.mark_by_lines();
            if let Some(version) = version(column) {
                lines.raise(rows.clone(), version);
            }
        }
    }

    /// Ends a change that [`LineStamps::open`] began and in which neighbours came from another
    /// archetype. `kept` has pairs of a column there and a column here: in these columns the lines
    /// of the rows get the versions that they had there, in all others the version `now`.
    pub(crate) fn close_arrival(
        &self,
        (stamps, to): (&Stamps, ChunkRow),
        (theirs, their_stamps, from): (Option<&Self>, &Stamps, ChunkRow),
        (rows, kept): (u32, &[(u16, u16)]),
        now: Version,
    ) {
        for (column, lines) in self.all(stamps, to.chunk) {
            lines.pair.chunk.mark_by_lines();
            let Some(&(kept, _)) = kept.iter().find(|&&(_, target)| target == column) else {
                lines.raise(to.row..to.row + rows, now);
                continue;
            };
            let source = theirs.and_then(|theirs| theirs.chunk(their_stamps, kept, from.chunk));
            let source = source.expect("a column has lines in one of two archetypes");
            for i in 0..rows {
                let row = to.row + i;
                lines.raise(row..row + 1, source.version_of(from.row + i));
            }
        }
    }

    /// Takes over the lines of a chunk that came from another archetype, where its stamps were put
    /// before. `kept` has pairs of a column there and a column here.
    pub(crate) fn follow_chunk(
        &self,
        (stamps, to): (&Stamps, u32),
        (theirs, their_stamps, from): (&Self, &Stamps, u32),
        kept: &[(u16, u16)],
    ) {
        for (column, lines) in self.all(stamps, to) {
            let kept = kept.iter().find(|&&(_, target)| target == column);
            let source = kept.and_then(|&(column, _)| theirs.chunk(their_stamps, column, from));
            let Some(source) = source else { continue };
            lines.whole.copy(source.whole);
            // Chunks of two archetypes that exchange blocks have the same capacity.
            assert!(lines.lines.len() == source.lines.len(), "the chunks have different lines");
            lines.lines.iter().zip(source.lines).for_each(|(own, theirs)| own.copy(theirs));
            if source.pair.chunk.is_by_lines() {
                lines.pair.chunk.mark_by_lines();
            }
        }
    }

    /// The versions of all lines.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Version> {
        self.arrays.iter().flat_map(|array| array.stamps.iter().map(Stamp::get))
    }

    /// Appends the stamps of all chunks.
    pub(crate) fn save(&self, to: &mut Vec<u64>) {
        for array in &self.arrays {
            to.extend(array.stamps.iter().map(Stamp::bits));
        }
    }

    /// Sets the stamps of all chunks from stamps that [`LineStamps::save`] has written for the same
    /// number of chunks, with versions that begin with `first`, and removes them from the front.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub(crate) fn load(&mut self, saved: &mut &[u64], first: Version) {
        for array in &self.arrays {
            let own = saved.split_off(..array.stamps.len()).expect("there are stamps of each line");
            array.stamps.iter().zip(own).for_each(|(stamp, &bits)| stamp.put_bits(bits, first));
        }
    }

    /// Adds a chunk.
    pub(crate) fn push_chunk(&mut self) {
        for array in &mut self.arrays {
            let len = array.stamps.len() + self.chunk_stamps;
            array.stamps.resize_with(len, Stamp::default);
        }
    }

    /// Makes room for `chunk_len` chunks in all.
    pub(crate) fn reserve(&mut self, chunk_len: usize) {
        for LineArray { stamps, .. } in &mut self.arrays {
            stamps.reserve((chunk_len * self.chunk_stamps).saturating_sub(stamps.len()));
        }
    }

    /// Removes all chunks from number `chunk_len` on.
    pub(crate) fn truncate(&mut self, chunk_len: usize) {
        for array in &mut self.arrays {
            array.stamps.truncate(chunk_len * self.chunk_stamps);
        }
    }

    /// Moves the lines of a chunk that fills the gap of another. Its old place is reset: it has the
    /// lines of a chunk without rows.
    pub(crate) fn move_chunk(&mut self, source: usize, target: usize) {
        for array in &mut self.arrays {
            for i in 0..self.chunk_stamps {
                let stamp = core::mem::take(&mut array.stamps[source * self.chunk_stamps + i]);
                array.stamps[target * self.chunk_stamps + i] = stamp;
            }
        }
    }

    /// Whether each chunk has lines, and none is newer than its chunk.
    pub(crate) fn is_consistent(&self, stamps: &Stamps) -> bool {
        let chunk_len = stamps.chunk_len();
        let mut arrays = self.arrays.iter();
        arrays.all(|array| array.stamps.len() == chunk_len * self.chunk_stamps)
            && (0..chunk_len).zip(0..).all(|(_, chunk)| {
                self.all(stamps, chunk).all(|(_, lines)| lines.are_no_newer_than_the_chunk())
            })
    }

    /// Words of a chunk that [`LineStamps::save`] writes for a column: none if it has no lines.
    pub(crate) fn chunk_words(&self, column: u16) -> usize {
        let has_lines = self.arrays.iter().any(|array| array.column == column);
        if has_lines { self.chunk_stamps } else { 0 }
    }

    /// Bytes of the lines of a column in all chunks. `None` if it has none.
    pub(crate) fn bytes_of(&self, column: u16) -> Option<usize> {
        let array = self.arrays.iter().find(|array| array.column == column)?;
        Some(array.stamps.len() * size_of::<Stamp>())
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.arrays.iter().map(|array| array.stamps.capacity() * size_of::<Stamp>()).sum()
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
        let lines: &[_] = if self.whole() > since { &[] } else { self.lines };
        NewerLines { lines, since }
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

/// The lines of a chunk that are newer than a version.
#[derive(Clone, Copy, Debug)]
pub struct NewerLines<'s> {
    /// Empty if all are.
    lines: &'s [Stamp],
    since: Version,
}

impl NewerLines<'_> {
    /// All lines are.
    pub(crate) const ALL: Self = Self { lines: &[], since: Version::NEVER };

    #[inline]
    pub(crate) const fn are_all(self) -> bool {
        self.lines.is_empty()
    }

    /// The first run of rows in newer lines, of the rows `rows` of the chunk.
    #[inline]
    pub(crate) fn next_run(self, rows: Range<u32>) -> Option<Range<u32>> {
        if self.are_all() || rows.is_empty() {
            return Some(rows).filter(|rows| !rows.is_empty());
        }
        let is_newer = |stamp: &Stamp| stamp.get() > self.since;
        let narrow = |line: usize| u32::try_from(line).expect("a chunk has 2^32 lines or more");
        let at = rows.start / LINE_ROWS;
        let lines = self.lines.get(at as usize..rows.end.div_ceil(LINE_ROWS) as usize)?;
        // (Eight at a time with one branch gained 17 % where few lines are newer, and lost 36 %
        // where every seventh is.)
        let skipped = lines.iter().position(is_newer)?;
        let run = lines[skipped..].iter().position(|stamp| !is_newer(stamp));
        let first = at + narrow(skipped);
        let end = first + narrow(run.unwrap_or(lines.len() - skipped));
        Some(rows.start.max(first * LINE_ROWS)..rows.end.min(end * LINE_ROWS))
    }

    /// The 64 rows of a word of the chunk, a bit each: set in lines that are newer. Lines that do
    /// not exist have any value.
    #[inline]
    pub(crate) fn word(self, word: usize) -> u64 {
        const WORD_LINES: usize = (u64::BITS / LINE_ROWS) as usize;
        if self.are_all() {
            return u64::MAX;
        }
        let from = &self.lines[(word * WORD_LINES).min(self.lines.len())..];
        match from.first_chunk::<WORD_LINES>() {
            Some(lines) => self.rows_of(lines),
            None => self.rows_of(from),
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

#[cfg(test)]
mod tests {
    use super::super::SharedLines;
    use super::*;

    fn version(n: u64) -> Version {
        Version::from_bits(n)
    }

    /// One column of 64 rows in each of two chunks.
    fn two_chunks() -> (Stamps, LineStamps) {
        let mut stamps = Stamps::new(1, &mut SharedLines::default());
        let mut lines = LineStamps::new([0].into_iter(), 64).unwrap();
        for _ in 0..2 {
            stamps.push_chunk();
            lines.push_chunk();
        }
        (stamps, lines)
    }

    /// The versions of the four lines of a chunk.
    fn versions(stamps: &Stamps, lines: &LineStamps, chunk: u32) -> [u64; 4] {
        let of_chunk = lines.chunk(stamps, 0, chunk).unwrap();
        [0, 16, 32, 48].map(|row| of_chunk.version_of(row).to_bits())
    }

    const COLUMN: StampKind = StampKind::column(0);

    #[test]
    fn a_write_of_rows_stamps_their_lines_and_their_chunk() {
        let (stamps, lines) = two_chunks();
        stamps.touch(COLUMN, 0, version(1));
        lines.chunk(&stamps, 0, 0).unwrap().touch(17..18, version(3));
        lines.chunk(&stamps, 0, 0).unwrap().touch(31..33, version(4));
        assert_eq!(versions(&stamps, &lines, 0), [1, 4, 4, 1]);
        assert_eq!([stamps.get(COLUMN, 0), stamps.newest(COLUMN)], [version(4); 2]);
        assert_eq!(versions(&stamps, &lines, 1), [0; 4]);
        assert!(lines.is_consistent(&stamps));
    }

    #[test]
    fn a_whole_write_of_the_same_version_is_not_lost() {
        let (stamps, lines) = two_chunks();
        lines.chunk(&stamps, 0, 1).unwrap().touch(0..1, version(5));
        stamps.touch(COLUMN, 1, version(5));
        assert_eq!(versions(&stamps, &lines, 1), [5; 4]);
        lines.chunk(&stamps, 0, 1).unwrap().touch(0..1, version(5));
        assert_eq!(versions(&stamps, &lines, 1), [5; 4], "a row was written after the whole");
        lines.chunk(&stamps, 0, 1).unwrap().touch(0..1, version(6));
        assert_eq!(versions(&stamps, &lines, 1), [6, 5, 5, 5]);
    }

    #[test]
    fn a_change_of_some_rows_that_stamps_the_chunk_leaves_the_other_lines() {
        let (stamps, lines) = two_chunks();
        stamps.touch(COLUMN, 0, version(2));
        lines.open(&stamps, 0);
        assert_eq!(versions(&stamps, &lines, 0), [2; 4]);
        stamps.touch(COLUMN, 0, version(7));
        lines.close(&stamps, (0, 48..49), |_| Some(version(7)));
        assert_eq!(versions(&stamps, &lines, 0), [2, 2, 2, 7]);
    }

    #[test]
    fn growth_and_moves_keep_lines() {
        let (mut stamps, mut lines) = two_chunks();
        lines.chunk(&stamps, 0, 1).unwrap().touch(16..17, version(5));
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
        assert!(lines.is_consistent(&stamps));
    }

    #[test]
    fn the_only_chunk_of_an_archetype_has_lines() {
        let mut stamps = Stamps::new(1, &mut SharedLines::default());
        let mut lines = LineStamps::new([0].into_iter(), 40).unwrap();
        stamps.push_chunk();
        lines.push_chunk();
        let of_chunk = lines.chunk(&stamps, 0, 0).unwrap();
        of_chunk.touch(39..40, version(3));
        assert_eq!([0, 16, 39].map(|row| of_chunk.version_of(row).to_bits()), [0, 0, 3]);
        assert_eq!(stamps.newest(COLUMN), version(3));
        let newer = of_chunk.newer_than(version(2));
        assert_eq!(newer.word(0), 0xffff << 32);
        assert!(of_chunk.newer_than(Version::NEVER).word(0) == 0xffff << 32);
    }
}
