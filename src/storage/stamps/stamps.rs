//! Change versions of one archetype: a run of stamps per column, dense and on lines of its own as
//! soon as there are several chunks.
//!
//! ```text
//!  order     │ newest │ chunk 0 │ chunk 1 │ …                 rows came or went
//!  arrival   │ newest │ chunk 0 │ chunk 1 │ …                 rows came
//!  column 0  │ newest │ chunk 0 │ chunk 1 │ …                 handed out as `&mut`
//!  …
//! ```
//!
//! A change filter tests a run's first stamp, the newest of all, and then scans the others:
//! 1,000,000 rows of 24 bytes are 1,489 chunks, 12 KB of stamps. (In chunk headers the same scan
//! took 6 to 68 times as long.)
//!
//! Of a single chunk its stamp is the newest, and there is no other: most archetypes of a world of
//! thousands have one chunk, and eight of equally many components share lines ([`page`]) until they
//! have a second.
//!
//! A stamp is an atomic, because systems that run at the same time write different columns of one
//! archetype, or one column of different archetypes, whose stamps are one allocation. Each run has
//! one writer at a time, and whoever waits for it waits for it by other means; so all accesses are
//! relaxed, and cost what plain ones do.

use core::ptr::NonNull;

use crate::version::Version;

use super::shared_lines::{Page, SharedLines};
use super::stamp::{LINE_STAMPS, Stamp};

/// Which run of stamps: the two of the rows themselves, or a column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StampKind(u32);

impl StampKind {
    /// Rows came or went.
    pub(crate) const ORDER: Self = Self(0);
    /// Rows came: spawned here or moved here from another archetype.
    pub(crate) const ARRIVAL: Self = Self(1);
    const COLUMNS_START: u32 = 2;

    /// The run of a column.
    #[inline]
    pub(crate) const fn column(column: u16) -> Self {
        Self(column as u32 + Self::COLUMNS_START)
    }

    #[inline]
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The stamps of one run that belong to a chunk: its own and the summary.
#[derive(Clone, Copy, Debug)]
pub(in crate::storage) struct StampPair<'s> {
    chunk: &'s Stamp,
    newest: &'s Stamp,
}

impl StampPair<'_> {
    /// Sets both to the current version, as [`Stamps::touch`] does.
    #[inline]
    pub(in crate::storage) fn set(self, now: Version) {
        self.chunk.set(now);
        self.newest.set(now);
    }
}

/// The stamps of all chunks of an archetype.
#[derive(Debug)]
pub struct Stamps {
    /// Runs that start `stride` stamps apart: the summary, then one a chunk. A shared page has one
    /// stamp a run of each archetype.
    page: Page,
    /// The summary of the first run. With fewer than two chunks it may be too old, and decides nothing.
    summary: usize,
    /// The first chunk's stamp in the first run. In a shared page it is the summary as well.
    first: usize,
    stride: usize,
    /// Chunks that a run has room for: one in a shared page.
    room: usize,
    chunks: usize,
    runs: usize,
}

impl Stamps {
    /// Of an archetype without chunks.
    pub(crate) fn new(columns: usize, shared: &mut SharedLines) -> Self {
        let runs = columns + StampKind::COLUMNS_START as usize;
        let (page, first) = shared.take(runs);
        Self { page, summary: first, first, stride: LINE_STAMPS, room: 1, chunks: 0, runs }
    }

    /// Chunks that have stamps.
    pub(crate) const fn chunks(&self) -> usize {
        self.chunks
    }

    /// The stamp of a chunk.
    #[inline]
    pub(crate) fn get(&self, run: StampKind, chunk: usize) -> Version {
        debug_assert!(chunk < self.chunks, "a live chunk");
        self.all()[self.index(run, chunk)].get()
    }

    /// The newest stamp of all chunks: nothing in the run is newer. It can be newer than all of
    /// them, when the chunk that had it is gone.
    #[inline]
    pub(crate) fn newest(&self, run: StampKind) -> Version {
        let newest = if self.chunks < 2 { self.index(run, 0) } else { self.summary_index(run) };
        self.all()[newest].get()
    }

    /// Stamps a chunk with the current version, the newest there is. Of a shared archetype only who
    /// writes the run's column does this.
    #[inline]
    pub(crate) fn touch(&self, run: StampKind, chunk: usize, now: Version) {
        self.mark(run, chunk).set(now);
    }

    /// What [`Stamps::touch`] sets, for who touches a chunk many times.
    #[inline]
    pub(in crate::storage) fn mark(&self, run: StampKind, chunk: usize) -> StampPair<'_> {
        debug_assert!(chunk < self.chunks, "a live chunk");
        let stamps = self.all();
        StampPair {
            chunk: &stamps[self.index(run, chunk)],
            newest: &stamps[self.summary_index(run)],
        }
    }

    /// Stamps every run of a chunk with the current version.
    #[inline]
    pub(crate) fn touch_all(&mut self, chunk: usize, now: Version) {
        debug_assert!(chunk < self.chunks, "a live chunk");
        for run in self.runs() {
            run[0].set(now);
            run[self.lead() + chunk].set(now);
        }
    }

    /// Stamps a chunk that a row came to from a chunk of `source`: order, arrival and the `added`
    /// columns with the current version; the `kept` ones, each given by its column there and its
    /// column here, are raised to the row's.
    #[inline(always)]
    pub(crate) fn take_row(
        &mut self,
        chunk: usize,
        (source, source_chunk): (&Self, usize),
        (kept, added): (&[(u16, u16)], &[u16]),
        now: Version,
    ) {
        debug_assert!(chunk < self.chunks && source_chunk < source.chunks, "live chunks");
        // In locals, since the compiler takes every store of a stamp for one of the table itself.
        let (stamps, stride) = (self.all(), self.stride);
        let (summary, first) = (self.summary, self.first + chunk);
        let (theirs, their_stride) = (source.all(), source.stride);
        let their_first = source.first + source_chunk;
        let touch = |run: StampKind| {
            let at = run.index() * stride;
            stamps[first + at].set(now);
            stamps[summary + at].set(now);
        };
        touch(StampKind::ORDER);
        touch(StampKind::ARRIVAL);
        for &column in added {
            touch(StampKind::column(column));
        }
        for &(from, to) in kept {
            let stamp = theirs[their_first + StampKind::column(from).index() * their_stride].get();
            let at = StampKind::column(to).index() * stride;
            // With several chunks the summary is no older than this one: if that is new enough, so is
            // the summary.
            if stamps[first + at].raise(stamp) {
                stamps[summary + at].raise(stamp);
            }
        }
    }

    /// Raises a chunk's stamp to that of rows which came from elsewhere.
    #[inline]
    pub(crate) fn raise(&mut self, run: StampKind, chunk: usize, version: Version) {
        let StampPair { chunk, newest } = self.mark(run, chunk);
        if chunk.raise(version) {
            newest.raise(version);
        }
    }

    /// Sets the stamp of a chunk that came as a whole to the one it had elsewhere.
    pub(crate) fn put(&mut self, run: StampKind, chunk: usize, version: Version) {
        let StampPair { chunk, newest } = self.mark(run, chunk);
        chunk.set(version);
        newest.raise(version);
    }

    /// Stamps of one run, chunk after chunk.
    #[inline]
    pub(crate) fn run(&self, run: StampKind) -> impl ExactSizeIterator<Item = Version> {
        let start = self.index(run, 0);
        self.all()[start..start + self.chunks].iter().map(Stamp::get)
    }

    /// Makes room for a chunk; its stamps are those of a chunk that nobody ever touched.
    pub(crate) fn push_chunk(&mut self) {
        self.reserve(self.chunks + 1);
        let chunk = self.chunks;
        self.chunks += 1;
        for run in self.runs() {
            if chunk == 1 {
                // Who stamped the only chunk may have left the summary behind.
                run[0].set(run[self.lead()].get());
            }
            run[self.lead() + chunk].set(Version::NEVER);
        }
    }

    /// Forgets the last chunk.
    pub(crate) fn pop_chunk(&mut self) {
        self.chunks -= 1;
    }

    /// Forgets all chunks from this one on.
    pub(crate) fn truncate(&mut self, chunks: usize) {
        self.chunks = self.chunks.min(chunks);
    }

    /// Room for this many chunks in all.
    pub(crate) fn reserve(&mut self, chunks: usize) {
        if chunks > self.room {
            self.grow(chunks);
        }
    }

    /// Stamps the order of a chunk that lost a row to which the `last` chunk's last row was moved. What
    /// came with that row is no older here than it was there.
    #[inline(always)]
    pub(crate) fn lose_row(&mut self, chunk: usize, last: usize, now: Version) {
        debug_assert!(chunk < self.chunks && last < self.chunks, "live chunks");
        let (stamps, stride) = (self.all(), self.stride);
        let (mut chunk, mut last) = (self.first + chunk, self.first + last);
        // The first run is order.
        stamps[self.summary].set(now);
        stamps[chunk].set(now);
        if last != chunk {
            stamps[last].set(now);
            // Order is no property of rows, and was stamped on both sides.
            for _ in 1..self.runs {
                (chunk, last) = (chunk + stride, last + stride);
                // The summary is no older than the last chunk already.
                stamps[chunk].raise(stamps[last].get());
            }
        }
    }

    /// The stamps of a whole chunk that takes another's number.
    pub(crate) fn relocate(&mut self, source: usize, target: usize) {
        for run in self.runs() {
            run[self.lead() + target].set(run[self.lead() + source].get());
        }
    }

    /// Where the stamp of a list's only chunk is, for as long as there is one: setting it is as good as
    /// [`Stamps::touch`].
    pub(in crate::storage) fn only(&self, run: StampKind) -> NonNull<Stamp> {
        assert!(self.chunks == 1 && run.index() < self.runs, "the stamp of an only chunk");
        NonNull::from(&self.all()[self.index(run, 0)])
    }

    /// Bytes of the table; of a shared page, an equal part.
    pub(crate) fn bytes(&self) -> usize {
        self.page.bytes_each()
    }

    /// All stamps of the page, of which others may have some.
    #[inline(always)]
    fn all(&self) -> &[Stamp] {
        self.page.stamps()
    }

    /// Where the stamp of a chunk is.
    #[inline(always)]
    const fn index(&self, run: StampKind, chunk: usize) -> usize {
        self.first + run.index() * self.stride + chunk
    }

    /// Where the summary of a run is.
    #[inline(always)]
    const fn summary_index(&self, run: StampKind) -> usize {
        self.summary + run.index() * self.stride
    }

    /// How far the first chunk's stamp is behind the summary.
    #[inline(always)]
    const fn lead(&self) -> usize {
        self.first - self.summary
    }

    /// All runs, each with what lies behind it.
    #[inline(always)]
    fn runs(&self) -> impl Iterator<Item = &[Stamp]> {
        let (stamps, stride) = (&self.all()[self.summary..], self.stride);
        (0..self.runs).map(move |run| &stamps[run * stride..])
    }

    /// Lays the runs out for more chunks, in a page of their own: in whole lines, doubling.
    #[cold]
    fn grow(&mut self, chunks: usize) {
        let stride = (1 + chunks).max(2 * (1 + self.room)).next_multiple_of(LINE_STAMPS);
        let (page, summary) = Page::new(self.runs * stride / LINE_STAMPS);
        for (run, target) in self.runs().zip(page.stamps()[summary..].chunks_exact(stride)) {
            let stamps = &run[self.lead()..self.lead() + self.chunks];
            for (stamp, target) in run[..1].iter().chain(stamps).zip(target) {
                target.set(stamp.get());
            }
        }
        *self = Self { page, summary, first: summary + 1, stride, room: stride - 1, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use crate::line::LINE_BYTES;

    use super::*;

    const C0: StampKind = StampKind::column(0);
    const C1: StampKind = StampKind::column(1);

    fn version(n: u64) -> Version {
        Version::from_bits(n)
    }

    fn stamps(columns: usize) -> Stamps {
        Stamps::new(columns, &mut SharedLines::default())
    }

    #[test]
    fn stamps_survive_growth() {
        let mut stamps = stamps(2);
        for chunk in 0..100 {
            stamps.push_chunk();
            stamps.touch(C0, chunk, version(chunk as u64 + 1));
            stamps.touch(C1, chunk, version(1000 + chunk as u64));
        }
        for chunk in 0..100 {
            assert_eq!(stamps.get(C0, chunk), version(chunk as u64 + 1));
            assert_eq!(stamps.get(C1, chunk), version(1000 + chunk as u64));
            assert_eq!(stamps.get(StampKind::ORDER, chunk), Version::NEVER);
        }
        assert_eq!(stamps.newest(C1), version(1099));
        assert_eq!(stamps.run(C0).len(), 100);
    }

    #[test]
    fn a_chunk_that_comes_back_has_no_history() {
        let mut stamps = stamps(1);
        stamps.push_chunk();
        stamps.push_chunk();
        for chunk in [0, 1] {
            stamps.touch(C0, chunk, version(8 + chunk as u64));
        }
        stamps.pop_chunk();
        stamps.push_chunk();
        assert_eq!(stamps.get(C0, 1), Version::NEVER);
        assert!(stamps.newest(C0) >= version(8), "the summary may be newer, never older");
        stamps.truncate(0);
        stamps.push_chunk();
        assert_eq!([stamps.get(C0, 0), stamps.newest(C0)], [Version::NEVER; 2]);
    }

    /// Whoever cuts an only chunk ahead of time sets its stamp and no summary.
    #[test]
    fn the_stamp_of_an_only_chunk_is_the_newest() {
        let mut stamps = stamps(1);
        let set_only = |stamps: &Stamps, n| {
            let stamp = &stamps.all()[stamps.index(C0, 0)];
            assert_eq!(stamps.only(C0).as_ptr().cast_const(), core::ptr::from_ref(stamp));
            stamp.set(version(n));
        };
        stamps.push_chunk();
        set_only(&stamps, 5);
        assert_eq!([stamps.get(C0, 0), stamps.newest(C0)], [version(5); 2]);
        stamps.push_chunk();
        assert_eq!(stamps.newest(C0), version(5), "in a shared page, and then in one of its own");
        stamps.touch(C0, 1, version(6));
        stamps.pop_chunk();
        set_only(&stamps, 7);
        assert_eq!([stamps.get(C0, 0), stamps.newest(C0)], [version(7); 2]);
        stamps.push_chunk();
        assert_eq!([stamps.get(C0, 0), stamps.newest(C0)], [version(7); 2]);
        assert_eq!(stamps.get(C0, 1), Version::NEVER);
    }

    #[test]
    fn every_byte_of_a_page_is_counted_once() {
        let mut pages = SharedLines::default();
        let all: Vec<_> = (0..3).map(|_| Stamps::new(1, &mut pages)).collect();
        let parts: Vec<_> = all.iter().map(Stamps::bytes).chain([pages.bytes()]).collect();
        assert!(parts.iter().all(|&part| part == parts[0]), "equal parts: {parts:?}");
        let stamps = size_of_val(all[0].all());
        let sum: usize = parts.iter().sum();
        assert!((stamps..stamps + LINE_BYTES).contains(&sum), "{sum} of {stamps} bytes");
    }

    #[test]
    fn archetypes_that_share_a_page_share_no_stamp() {
        let mut pages = SharedLines::default();
        let mut all: Vec<_> = (0..20).map(|_| Stamps::new(2, &mut pages)).collect();
        for (n, stamps) in (0..).zip(&mut all) {
            stamps.push_chunk();
            stamps.touch_all(0, version(10 * n));
            stamps.touch(C1, 0, version(10 * n + 1));
        }
        all[3].push_chunk();
        for (n, stamps) in (0..).zip(&all) {
            assert_eq!(stamps.get(StampKind::ORDER, 0), version(10 * n));
            assert_eq!(stamps.get(C1, 0), version(10 * n + 1));
        }
        // Seven of eight live on when the first is gone.
        drop(all.drain(..1));
        assert_eq!(all[0].get(C1, 0), version(11));
    }

    #[test]
    fn a_row_that_fills_a_hole_brings_its_newer_stamps() {
        let mut stamps = stamps(2);
        stamps.push_chunk();
        stamps.push_chunk();
        stamps.touch(C0, 0, version(5));
        stamps.touch(C0, 1, version(3));
        stamps.touch(C1, 1, version(7));
        stamps.lose_row(0, 1, version(8));
        assert_eq!(stamps.get(C0, 0), version(5), "older stays behind");
        assert_eq!(stamps.get(C1, 0), version(7), "newer comes along");
        assert_eq!([0, 1].map(|chunk| stamps.get(StampKind::ORDER, chunk)), [version(8); 2]);
        assert_eq!(stamps.get(StampKind::ARRIVAL, 0), Version::NEVER, "nobody came");
    }
}
