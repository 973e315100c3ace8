//! Change versions of one archetype: an array of stamps per column, dense, and on lines of its own
//! as soon as there are several chunks.
//!
//! ```text
//!  order     │ newest │ chunk 0 │ chunk 1 │ …                 rows were added or removed
//!  arrival   │ newest │ chunk 0 │ chunk 1 │ …                 rows were added
//!  column 0  │ newest │ chunk 0 │ chunk 1 │ …                 handed out as `&mut`
//!  …
//! ```
//!
//! A change filter first tests an array's first stamp, the newest of all. If it is new enough, the
//! filter scans the others: 1,000,000 rows of 24 bytes are 1,489 chunks, 12 KB of stamps. (In chunk
//! headers the same scan took 6 to 68 times as long.)
//!
//! With a single chunk, its stamp is the newest one, and no other is needed. In a world of
//! thousands of archetypes most have one chunk. Eight of them with the same number of components
//! share lines ([`shared_lines`](super::shared_lines)) until they have a second chunk.
//!
//! Seven places stamp with a new version:
//!
//! ```text
//!  archetype/row_changes        rows come, go, move, are sorted, or a bundle overwrites them
//!  archetype/chunk_meta         `touch_rows`: single rows are written by id
//!  storage/access/column_views  a lookup writes a row
//!  query/run_stamps             a pass hands out a run of chunks, one by one: `touch_next`
//!  query/lines_mut              a kernel writes lines, which have versions of their own
//!  world/enable                 all rows of a query are switched
//!  store/swap                   two columns are exchanged
//! ```
//!
//! Stamps are atomic because systems that run at the same time write different columns of one
//! archetype, or one column of different archetypes, with stamps in one allocation. Each array has
//! one writer at a time and readers are synchronised elsewhere. So all accesses are relaxed, and
//! cost the same as plain ones.

use core::iter;
use core::ops::Range;
use core::ptr::NonNull;

use crate::version::Version;

use super::shared_lines::{Page, SharedLines};
use super::stamp::StampRun;
use super::stamp::{LINE_STAMPS, Stamp};
use super::stamp_kind::StampKind;
use super::stamp_pair::StampPair;

/// The stamps of all chunks of an archetype.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// Arrays that start `stride` stamps apart: the summary, followed by one stamp per chunk. In a
    /// shared page each archetype has one stamp of each kind.
    page: Page,
    /// The index of the first array's summary. With fewer than two chunks it may be too old and is
    /// not read.
    pub(super) summary: usize,
    /// The index of the first chunk's stamp in the first array. In a shared page it is the summary
    /// as well.
    pub(super) first: usize,
    pub(super) stride: usize,
    /// Chunks that an array has room for: one in a shared page.
    room: usize,
    chunk_len: usize,
    kinds: usize,
}

impl Stamps {
    /// The stamps of an archetype without chunks.
    pub(crate) fn new(columns: usize, shared: &mut SharedLines) -> Self {
        let kinds = columns + StampKind::COLUMNS_START as usize;
        let (page, first) = shared.allocate(kinds);
        Self { page, summary: first, first, stride: LINE_STAMPS, room: 1, chunk_len: 0, kinds }
    }

    /// Number of chunks that have stamps.
    #[inline]
    pub(crate) const fn chunk_len(&self) -> usize {
        self.chunk_len
    }

    /// The stamp of a chunk.
    #[inline]
    pub(crate) fn get(&self, kind: StampKind, chunk: usize) -> Version {
        debug_assert!(chunk < self.chunk_len, "the chunk does not exist");
        self.all()[self.index(kind, chunk)].get()
    }

    /// The newest stamp of a kind: no chunk's stamp is newer. It can be newer than all of them if
    /// the chunk that had it no longer exists.
    #[inline]
    pub(crate) fn newest(&self, kind: StampKind) -> Version {
        let newest =
            if self.chunk_len < 2 { self.index(kind, 0) } else { self.summary_index(kind) };
        self.all()[newest].get()
    }

    /// Stamps a chunk with the current version, which is the newest. If the archetype is shared
    /// between threads, only the writer of the column may call this.
    #[inline]
    pub(crate) fn touch(&self, kind: StampKind, chunk: usize, now: Version) {
        self.pair(kind, chunk).set(now);
    }

    /// The stamps that [`Stamps::touch`] sets, for callers that touch a chunk many times.
    #[inline]
    pub(in crate::storage) fn pair(&self, kind: StampKind, chunk: usize) -> StampPair<'_> {
        debug_assert!(chunk < self.chunk_len, "the chunk does not exist");
        let stamps = self.all();
        StampPair {
            chunk: &stamps[self.index(kind, chunk)],
            newest: &stamps[self.summary_index(kind)],
        }
    }

    /// The stamps of one kind of the chunks `chunks`. The caller must touch at least one of them.
    ///
    /// # Panics
    ///
    /// If `chunks` is empty, or one of them or the column does not exist.
    #[inline]
    pub(crate) fn begin_run(
        &self,
        kind: StampKind,
        chunks: Range<usize>,
        now: Version,
    ) -> StampRun<'_> {
        let exist = !chunks.is_empty() && chunks.end <= self.chunk_len && kind.index() < self.kinds;
        assert!(exist, "a chunk or a column does not exist");
        let stamps = self.all();
        stamps[self.summary_index(kind)].set(now);
        StampRun(stamps[self.index(kind, chunks.start)..][..chunks.len()].iter())
    }

    /// Stamps a chunk with the current version in every kind.
    #[inline]
    pub(crate) fn touch_all(&mut self, chunk: usize, now: Version) {
        debug_assert!(chunk < self.chunk_len, "the chunk does not exist");
        let own = self.first_offset() + chunk;
        for array in self.arrays() {
            array[0].set(now);
            array[own].set(now);
        }
    }

    /// The stamps of one kind, chunk after chunk.
    #[inline]
    pub(crate) fn versions(&self, kind: StampKind) -> impl ExactSizeIterator<Item = Version> {
        let start = self.index(kind, 0);
        self.all()[start..start + self.chunk_len].iter().map(Stamp::get)
    }

    /// Whether stamps of a kind are those of some lines only.
    pub(crate) fn has_lines(&self, kind: StampKind) -> bool {
        let start = self.index(kind, 0);
        self.all()[start..start + self.chunk_len].iter().any(Stamp::is_by_lines)
    }

    /// The number of kinds: two, and one a column.
    #[inline]
    pub(crate) const fn kinds(&self) -> usize {
        self.kinds
    }

    /// All kinds.
    pub(crate) fn all_kinds(&self) -> impl Iterator<Item = StampKind> + use<> {
        (0..self.kinds).map(StampKind::nth)
    }

    /// The word that [`Stamps::save`] writes for a chunk. Different contents have different stamps.
    #[inline]
    pub(crate) fn saved(&self, kind: StampKind, chunk: usize) -> u64 {
        self.all()[self.index(kind, chunk)].bits()
    }

    /// Appends the stamps of all chunks, kind after kind.
    pub(crate) fn save(&self, to: &mut Vec<u64>) {
        for array in self.arrays() {
            let stamps = &array[self.first_offset()..][..self.chunk_len];
            to.extend(stamps.iter().map(Stamp::bits));
        }
    }

    /// Sets the stamps of all chunks from stamps that [`Stamps::save`] has written for the same
    /// number of chunks, with versions that begin with `first`.
    ///
    /// # Panics
    ///
    /// If their number differs.
    pub(crate) fn load(&mut self, saved: &[u64], first: Version) {
        assert!(saved.len() == self.kinds * self.chunk_len, "the stamps are those of other chunks");
        if self.chunk_len == 0 {
            return;
        }
        for (array, saved) in self.arrays().zip(saved.chunks_exact(self.chunk_len)) {
            for (stamp, &bits) in array[self.first_offset()..].iter().zip(saved) {
                stamp.put_bits(bits, first);
            }
            if self.first_offset() > 0 {
                let newest = saved.iter().max().expect("there is a chunk");
                array[0].put_bits(*newest, first);
            }
        }
    }

    /// Adds a chunk. It has the stamps of a chunk that was never changed.
    pub(crate) fn push_chunk(&mut self) {
        self.reserve(self.chunk_len + 1);
        let (chunk, offset) = (self.chunk_len, self.first_offset());
        self.chunk_len += 1;
        if chunk == 1 {
            // While there was one chunk, its stamp may have been set without the summary.
            self.arrays().for_each(|array| array[0].copy(&array[offset]));
        }
        self.arrays().for_each(|array| array[offset + chunk].set(Version::NEVER));
    }

    /// Removes all chunks from number `chunk_len` on.
    pub(crate) fn truncate(&mut self, chunk_len: usize) {
        self.chunk_len = self.chunk_len.min(chunk_len);
    }

    /// Makes room for `chunk_len` chunks in all.
    pub(crate) fn reserve(&mut self, chunk_len: usize) {
        if chunk_len > self.room {
            self.grow(chunk_len);
        }
    }

    /// The address of the only chunk's stamp. As long as there is one chunk, setting it is
    /// equivalent to [`Stamps::touch`].
    pub(in crate::storage) fn single_stamp(&self, kind: StampKind) -> NonNull<Stamp> {
        assert!(
            self.chunk_len == 1 && kind.index() < self.kinds,
            "there is no single chunk, or no such column"
        );
        NonNull::from(&self.all()[self.index(kind, 0)])
    }

    /// Bytes of the page. The bytes of a shared page are divided equally.
    pub(crate) fn bytes(&self) -> usize {
        self.page.bytes_each()
    }

    /// All stamps of the page, which other archetypes may share.
    #[inline(always)]
    pub(super) fn all(&self) -> &[Stamp] {
        self.page.stamps()
    }

    /// The index of a chunk's stamp.
    #[inline(always)]
    const fn index(&self, kind: StampKind, chunk: usize) -> usize {
        self.first + kind.index() * self.stride + chunk
    }

    /// The index of a kind's summary.
    #[inline(always)]
    const fn summary_index(&self, kind: StampKind) -> usize {
        self.summary + kind.index() * self.stride
    }

    /// Distance from the summary to the first chunk's stamp.
    #[inline(always)]
    pub(super) const fn first_offset(&self) -> usize {
        self.first - self.summary
    }

    /// The array of each kind, from its summary on. In a shared page it ends in the next line.
    #[inline(always)]
    pub(super) fn arrays(&self) -> impl Iterator<Item = &[Stamp]> {
        let stride = self.stride;
        let mut rest = &self.all()[self.summary..][..self.kinds * stride];
        // `chunks_exact` divides first.
        iter::from_fn(move || {
            let array;
            (array, rest) = rest.split_at_checked(stride)?;
            Some(array)
        })
    }

    /// Moves the arrays to a page of their own, in whole lines, with room for `chunk_len` chunks.
    /// Room doubles.
    #[cold]
    fn grow(&mut self, chunk_len: usize) {
        *self = self.copied(chunk_len.max(2 * (1 + self.room) - 1));
    }

    /// A copy in a page of its own, with room for at least `room` chunks.
    pub(super) fn copied(&self, room: usize) -> Self {
        let stride = (1 + room).next_multiple_of(LINE_STAMPS);
        let (page, summary) = Page::new(self.kinds * stride / LINE_STAMPS);
        for (array, target) in self.arrays().zip(page.stamps()[summary..].chunks_exact(stride)) {
            let stamps = &array[self.first_offset()..self.first_offset() + self.chunk_len];
            for (stamp, target) in array[..1].iter().chain(stamps).zip(target) {
                target.copy(stamp);
            }
        }
        Self { page, summary, first: summary + 1, stride, room: stride - 1, ..*self }
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
        assert_eq!(stamps.versions(C0).len(), 100);
    }

    #[test]
    fn a_chunk_that_is_added_again_has_no_history() {
        let mut stamps = stamps(1);
        stamps.push_chunk();
        stamps.push_chunk();
        for chunk in [0, 1] {
            stamps.touch(C0, chunk, version(8 + chunk as u64));
        }
        stamps.truncate(stamps.chunk_len() - 1);
        stamps.push_chunk();
        assert_eq!(stamps.get(C0, 1), Version::NEVER);
        assert!(stamps.newest(C0) >= version(8), "the summary is older than a stamp was");
        stamps.truncate(0);
        stamps.push_chunk();
        assert_eq!([stamps.get(C0, 0), stamps.newest(C0)], [Version::NEVER; 2]);
    }

    /// Chunks of a [`ChunkCache`](crate::storage::ChunkCache) set the stamp and no summary.
    #[test]
    fn the_stamp_of_a_single_chunk_is_the_newest() {
        let mut stamps = stamps(1);
        let set_single = |stamps: &Stamps, n| {
            let stamp = &stamps.all()[stamps.index(C0, 0)];
            assert_eq!(stamps.single_stamp(C0).as_ptr().cast_const(), core::ptr::from_ref(stamp));
            stamp.set(version(n));
        };
        stamps.push_chunk();
        set_single(&stamps, 5);
        assert_eq!([stamps.get(C0, 0), stamps.newest(C0)], [version(5); 2]);
        stamps.push_chunk();
        assert_eq!(stamps.newest(C0), version(5), "the summary was not set on growth");
        stamps.touch(C0, 1, version(6));
        stamps.truncate(stamps.chunk_len() - 1);
        set_single(&stamps, 7);
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
        // Seven of eight archetypes keep the page when the first is dropped.
        drop(all.drain(..1));
        assert_eq!(all[0].get(C1, 0), version(11));
    }
}
