//! The words that an archetype's columns have for each chunk, moved and saved without their
//! meaning.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::ComponentInfo;
use crate::storage::row::ChunkRow;
use crate::storage::stamps::Stamps;
use crate::version::Version;

use super::attachment::{Attached, Attachment, AttachmentFigure, AttachmentKind, Content, RowSpan};

/// The attachments of an archetype: an array for each kind and column that has it, sorted by both,
/// and one for each [sparse component](super::members) that an entity has.
#[derive(Debug)]
pub(crate) struct Attachments {
    pub(super) arrays: Vec<AttachmentArray>,
    /// The number of arrays of columns, which come first.
    columns_len: usize,
}

/// The words of one kind and column, or of one sparse component, chunk after chunk.
#[derive(Debug)]
pub(super) struct AttachmentArray {
    operations: &'static dyn Attachment,
    /// The kind of the operations.
    pub(super) kind: AttachmentKind,
    /// The column, or the number of the sparse component.
    pub(super) column: u16,
    /// The number of stamps, which come first among the words of a chunk.
    stamps_len: usize,
    /// The words of a new chunk.
    fresh: Box<[u64]>,
    pub(super) words: Vec<AtomicU64>,
}

impl AttachmentArray {
    /// The words of a new archetype, which has no chunks.
    pub(super) fn new(operations: &'static dyn Attachment, column: u16, fresh: Box<[u64]>) -> Self {
        let (kind, stamps_len) = (operations.kind(), operations.stamps_len(fresh.len()));
        Self { operations, kind, column, stamps_len, fresh, words: Vec::new() }
    }

    #[inline]
    const fn has_versions(&self) -> bool {
        self.stamps_len > 0
    }

    /// Words of a chunk.
    #[inline]
    pub(super) const fn stride(&self) -> usize {
        self.fresh.len()
    }

    /// The words of a chunk.
    ///
    /// # Panics
    ///
    /// If the chunk does not exist.
    #[inline]
    pub(super) fn chunk(&self, chunk: u32) -> &[AtomicU64] {
        &self.words[chunk as usize * self.stride()..][..self.stride()]
    }

    #[inline]
    pub(super) fn at<'w>(&'w self, stamps: &'w Stamps, chunk: u32) -> Attached<'w> {
        Attached { words: self.chunk(chunk), stamps, column: self.column, chunk }
    }

    /// The key of the words of rows in the archetype from which they came: a sparse component has
    /// the same number everywhere, and a column has the one of its component.
    fn key_there(&self, column_there: impl FnOnce(u16) -> Option<u16>) -> Option<u16> {
        match self.kind {
            AttachmentKind::MEMBERS => Some(self.column),
            _ => column_there(self.column),
        }
    }

    fn reset_chunk(&self, chunk: u32) {
        for (word, &fresh) in self.chunk(chunk).iter().zip(&self.fresh) {
            word.store(fresh, Ordering::Relaxed);
        }
    }
}

/// The archetype from which rows came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSource<'w> {
    pub(crate) attachments: &'w Attachments,
    pub(crate) stamps: &'w Stamps,
    pub(crate) chunk: u32,
}

impl<'w> RowSource<'w> {
    fn find(self, kind: AttachmentKind, column: u16) -> Option<Attached<'w>> {
        Some(self.attachments.find(kind, column)?.at(self.stamps, self.chunk))
    }
}

/// Making, growing, moving and saving.
impl Attachments {
    /// No arrays.
    pub(crate) const NONE: Self = Self::of_columns(Vec::new());

    /// The arrays of columns, which are all until a member is added.
    pub(super) const fn of_columns(arrays: Vec<AttachmentArray>) -> Self {
        let columns_len = arrays.len();
        Self { arrays, columns_len }
    }

    /// The arrays of columns.
    #[inline]
    pub(super) fn columns(&self) -> &[AttachmentArray] {
        &self.arrays[..self.columns_len]
    }

    /// Whether there are arrays of columns.
    #[inline]
    pub(crate) const fn has_columns(&self) -> bool {
        self.columns_len > 0
    }

    fn columns_mut(&mut self) -> &mut [AttachmentArray] {
        &mut self.arrays[..self.columns_len]
    }

    /// The arrays of sparse components.
    #[inline]
    pub(super) fn members(&self) -> &[AttachmentArray] {
        &self.arrays[self.columns_len..]
    }

    pub(super) fn members_mut(&mut self) -> &mut [AttachmentArray] {
        &mut self.arrays[self.columns_len..]
    }

    /// The array of a kind and column.
    #[inline]
    pub(super) fn find(&self, kind: AttachmentKind, column: u16) -> Option<&AttachmentArray> {
        self.arrays.iter().find(|array| array.column == column && array.kind == kind)
    }

    /// The number of the array of a kind and column.
    pub(super) fn number(&self, kind: AttachmentKind, column: u16) -> Option<usize> {
        self.arrays.iter().position(|array| array.column == column && array.kind == kind)
    }

    /// The columns with words that belong to chunks.
    pub(crate) fn columns_of_chunks(&self) -> impl Iterator<Item = u16> {
        let arrays = self.columns().iter().filter(|array| array.operations.is_of_chunk());
        arrays.map(|array| array.column)
    }

    /// Adds a chunk.
    pub(crate) fn push_chunk(&mut self) {
        for AttachmentArray { words, fresh, .. } in &mut self.arrays {
            words.extend(fresh.iter().map(|&word| AtomicU64::new(word)));
        }
    }

    /// Moves the words that follow rows to other attachments, which have no others. Here the chunks
    /// have the words of new chunks instead.
    pub(crate) fn take_rows(&mut self) -> Self {
        let take = |array: &mut AttachmentArray| {
            let mut taken =
                AttachmentArray::new(array.operations, array.column, array.fresh.clone());
            let fresh = array.fresh.iter().cycle().take(array.words.len());
            let fresh = fresh.map(|&word| AtomicU64::new(word)).collect();
            taken.words = core::mem::replace(&mut array.words, fresh);
            taken
        };
        let (columns, members) = self.arrays.split_at_mut(self.columns_len);
        let of_rows = columns.iter_mut().filter(|array| !array.operations.is_of_chunk());
        let mut taken = Self::of_columns(of_rows.map(take).collect());
        taken.arrays.extend(members.iter_mut().map(take));
        taken
    }

    /// Copies the words of a chunk that keeps its rows, and their places, from attachments that
    /// [`Attachments::take_rows`] has made.
    pub(crate) fn copy_chunk(&self, chunk: u32, taken: &Self) {
        for taken in &taken.arrays {
            let own = self.find(taken.kind, taken.column);
            let own = own.expect("the words were taken from other attachments").chunk(chunk);
            for (own, word) in own.iter().zip(taken.chunk(chunk)) {
                own.store(word.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }

    /// Makes room for `chunk_len` chunks in all.
    pub(crate) fn reserve(&mut self, chunk_len: usize) {
        for AttachmentArray { words, fresh, .. } in &mut self.arrays {
            words.reserve((chunk_len * fresh.len()).saturating_sub(words.len()));
        }
    }

    /// Removes all chunks from number `chunk_len` on.
    pub(crate) fn truncate(&mut self, chunk_len: usize) {
        for AttachmentArray { words, fresh, .. } in &mut self.arrays {
            words.truncate(chunk_len * fresh.len());
        }
    }

    /// Moves the words of a chunk that fills the gap of another. Its old place has the words of a
    /// new chunk.
    pub(crate) fn move_chunk(&mut self, source: usize, target: usize) {
        for AttachmentArray { words, fresh, .. } in &mut self.arrays {
            let [source, target] = [source, target].map(|chunk| chunk * fresh.len());
            for (i, &fresh) in fresh.iter().enumerate() {
                let word = core::mem::replace(words[source + i].get_mut(), fresh);
                *words[target + i].get_mut() = word;
            }
        }
    }

    /// Appends the words of all chunks, array after array. Members are not saved: the sets of their
    /// sparse components tell them.
    pub(crate) fn save(&self, to: &mut Vec<u64>) {
        for array in self.columns() {
            to.extend(array.words.iter().map(|word| word.load(Ordering::Relaxed)));
        }
    }

    /// The words that [`Attachments::save`] writes for new chunks.
    pub(crate) fn fresh_words(&self, chunk_len: usize) -> Vec<u64> {
        self.columns().iter().flat_map(|array| array.fresh.repeat(chunk_len)).collect()
    }

    /// Sets the words of all chunks to the words that [`Attachments::save`] has written for the
    /// same number of chunks. Versions begin with `first`.
    ///
    /// # Panics
    ///
    /// If the words are from another number of chunks.
    pub(crate) fn load(&mut self, mut saved: &[u64], first: Version) {
        for array in self.columns_mut() {
            let own = saved.split_off(..array.words.len()).expect("there are words of each chunk");
            array.words.iter_mut().zip(own).for_each(|(word, &own)| *word.get_mut() = own);
            if array.has_versions() {
                for chunk in array.words.chunks_exact_mut(array.fresh.len()) {
                    let stamps = &mut chunk[..array.stamps_len];
                    stamps.iter_mut().for_each(|stamp| *stamp.get_mut() += first.to_bits() << 1);
                }
            }
        }
        assert!(saved.is_empty(), "the words are those of more chunks");
    }

    /// Removes all versions, so that stamps of whole chunks are the only ones.
    pub(crate) fn forget_versions(&mut self) {
        for array in self.columns_mut().iter_mut().filter(|array| array.has_versions()) {
            for chunk in array.words.chunks_exact_mut(array.fresh.len()) {
                chunk.iter_mut().zip(&array.fresh).for_each(|(word, &own)| *word.get_mut() = own);
            }
        }
    }

    /// Whether a column has words with versions.
    pub(crate) fn have_versions(&self, column: u16) -> bool {
        self.columns().iter().any(|array| array.column == column && array.has_versions())
    }

    /// All versions.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Version> {
        let arrays = self.columns().iter().filter(|array| array.has_versions());
        let chunks = arrays.flat_map(|array| {
            array.words.chunks_exact(array.stride()).map(|chunk| &chunk[..array.stamps_len])
        });
        chunks.flatten().map(|word| Version::from_bits(word.load(Ordering::Relaxed) >> 1))
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.arrays.iter().map(|array| array.words.capacity() * size_of::<u64>()).sum()
    }

    /// Calls `each` with the state of a column in a chunk: of the kinds with versions, which change
    /// with the stamps of the column, or of all others.
    pub(crate) fn contents(
        &self,
        (stamps, column, chunk): (&Stamps, u16, u32),
        has_versions: bool,
        each: &mut dyn FnMut(Content),
    ) {
        let arrays = self.columns().iter().filter(|array| array.column == column);
        for array in arrays.filter(|array| array.has_versions() == has_versions) {
            array.operations.contents(array.at(stamps, chunk), each);
        }
    }

    /// Figures about a column, for an explanation.
    pub(crate) fn figures(
        &self,
        column: u16,
        info: &ComponentInfo,
    ) -> impl Iterator<Item = AttachmentFigure> {
        let arrays = self.columns().iter().filter(move |array| array.column == column);
        arrays.filter_map(|array| array.operations.figure(&array.words, info))
    }

    /// The states of a column's rows, with the number of the row. `rows` are the live rows of a
    /// chunk.
    pub(crate) fn row_states(
        &self,
        stamps: &Stamps,
        column: u16,
        rows: impl Fn(u32) -> u32 + Copy,
    ) -> impl Iterator<Item = (usize, &'static str)> {
        let arrays = self.columns().iter().filter(move |array| array.column == column);
        arrays.flat_map(move |array| {
            let chunks = (0u32..).take(stamps.chunk_len());
            let places =
                chunks.flat_map(move |chunk| (0..rows(chunk)).map(move |row| (chunk, row)));
            places.enumerate().filter_map(move |(number, (chunk, row))| {
                Some((number, array.operations.row_state(array.at(stamps, chunk), row)?))
            })
        })
    }

    /// The reason why an array cannot be that of an archetype with these stamps, in a world with
    /// this clock. `rows` are the live rows of a chunk, `info` the component of a column.
    pub(crate) fn find_defect<'i>(
        &self,
        stamps: &Stamps,
        clock: Version,
        rows: impl Fn(u32) -> u32,
        info: impl Fn(u16) -> &'i ComponentInfo,
    ) -> Option<&'static str> {
        self.columns().iter().find_map(|array| {
            if array.words.len() != stamps.chunk_len() * array.stride() {
                return Some("words of another number of chunks");
            }
            let info = info(array.column);
            let mut chunks = (0u32..).take(stamps.chunk_len());
            chunks.find_map(|chunk| {
                array.operations.find_defect(array.at(stamps, chunk), rows(chunk), info, clock)
            })
        })
    }
}

/// Following rows. `archetype/row_changes.rs` has the order of these calls and of those of
/// [`Stamps`].
impl Attachments {
    /// Begins a change of some rows of a chunk that stamps the chunk as a whole.
    pub(crate) fn begin_change(&self, stamps: &Stamps, chunk: u32) {
        for array in self.columns().iter().filter(|array| array.has_versions()) {
            array.operations.begin_change(array.at(stamps, chunk));
        }
    }

    /// Rows with new values came to a chunk, after [`Attachments::begin_change`] and its stamps.
    pub(crate) fn rows_added(
        &self,
        (stamps, chunk): (&Stamps, u32),
        rows: Range<u32>,
        now: Version,
    ) {
        for array in self.columns() {
            let own = array.at(stamps, chunk);
            array.operations.rows_arrived(own, rows.clone(), None, now);
        }
    }

    /// Rows came to a chunk, after [`Attachments::begin_change`] and its stamps. `kept` has pairs
    /// of a column there and a column here.
    pub(crate) fn rows_arrived(
        &self,
        (stamps, chunk): (&Stamps, u32),
        source: Option<RowSource<'_>>,
        spans: impl Iterator<Item = RowSpan> + Clone,
        kept: &[(u16, u16)],
        now: Version,
    ) {
        let kept = |column| kept.iter().find(|&&(_, target)| target == column).map(|pair| pair.0);
        for array in &self.arrays {
            let own = array.at(stamps, chunk);
            let there = array.key_there(kept);
            let from = source.zip(there).and_then(|(source, key)| source.find(array.kind, key));
            for RowSpan { from: first, to, len } in spans.clone() {
                let from = from.map(|from| (from, first));
                array.operations.rows_arrived(own, to..to + len, from, now);
            }
        }
    }

    /// A chunk with `rows` rows came as a whole, after its stamps. `pair` has the column of the
    /// source for a column here; its second argument is whether the words belong to the chunk.
    pub(crate) fn chunk_arrived(
        &self,
        (stamps, chunk, rows): (&Stamps, u32, u32),
        source: Option<RowSource<'_>>,
        pair: impl Fn(u16, bool) -> Option<u16>,
    ) {
        for array in &self.arrays {
            let operations = array.operations;
            array.reset_chunk(chunk);
            let there = array.key_there(|column| pair(column, operations.is_of_chunk()));
            let from = source.zip(there).and_then(|(source, key)| source.find(array.kind, key));
            if let Some(from) = from {
                operations.chunk_arrived(array.at(stamps, chunk), from, rows);
            }
        }
    }

    /// The last row took the place of a row, after [`Attachments::begin_change`] and its stamps.
    pub(crate) fn row_removed(&self, stamps: &Stamps, at: ChunkRow, last: ChunkRow) {
        for array in &self.arrays {
            let [own, from] = [at, last].map(|row| array.at(stamps, row.chunk));
            array.operations.row_removed(own, at.row, (from, last.row));
        }
    }

    /// A column was overwritten in rows of a chunk.
    pub(crate) fn rows_written(
        &self,
        (stamps, chunk): (&Stamps, u32),
        column: u16,
        rows: Range<u32>,
    ) {
        for array in self.columns().iter().filter(|array| array.column == column) {
            array.operations.rows_written(array.at(stamps, chunk), rows.clone());
        }
    }

    /// New rows of a chunk are copies of a row. `column` has the column of the source for a column
    /// here. Copies get their sparse components later.
    pub(crate) fn rows_copied(
        &self,
        (stamps, chunk): (&Stamps, u32),
        rows: Range<u32>,
        (source, row): (RowSource<'_>, u32),
        column: impl Fn(u16) -> Option<u16>,
    ) {
        for array in self.columns() {
            let from = column(array.column).and_then(|column| source.find(array.kind, column));
            if let Some(from) = from {
                let own = array.at(stamps, chunk);
                array.operations.rows_copied(own, rows.clone(), (from, row));
            }
        }
    }
}
