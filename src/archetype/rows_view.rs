//! A view of the rows of an archetype or of an image, with one interface for both.
//!
//! The data beside the chunks is words, in two arrays:
//!
//! ```text
//!  stamps        │ order: a word a chunk │ arrival │ column 0 │ column 1 │ …
//!  attachments   │ first kind: columns 0, 1, … │ second kind: columns 0, 1, … │ …
//! ```

use std::borrow::Cow;
use std::ops::Range;

use crate::component::ComponentSet;
use crate::entity::Entity;
use crate::storage::{AttachmentKind, ChunkList, StampKind, WordsLayout};

use super::archetype::Archetype;
use super::archetype_image::{ArchetypeImage, ColumnBytes, words_layout};

/// The rows of an archetype or of an image.
#[derive(Debug)]
pub(crate) struct RowsView<'a> {
    set: &'a ComponentSet,
    /// Equal only in views of the same list of chunks.
    list: (u64, bool),
    /// Rows of a full chunk.
    capacity: usize,
    chunk_len: usize,
    entities: &'a [Entity],
    cells: Cells<'a>,
    stamps: Cow<'a, [u64]>,
    /// The stamps with ages in place of versions, if they differ.
    ages: Option<Vec<u64>>,
    attachments: Cow<'a, [u64]>,
    words: Cow<'a, WordsLayout>,
}

#[derive(Debug)]
enum Cells<'a> {
    Chunks(&'a ChunkList),
    Columns(&'a [ColumnBytes]),
}

impl<'a> RowsView<'a> {
    pub(crate) fn of_image(image: &'a ArchetypeImage) -> Self {
        Self {
            set: &image.set,
            list: (image.list_key, image.in_first_block),
            capacity: image.capacity,
            chunk_len: image.chunk_len(),
            entities: &image.entities,
            cells: Cells::Columns(&image.columns),
            stamps: Cow::Borrowed(&image.stamps),
            ages: None,
            attachments: Cow::Borrowed(&image.attachments),
            words: Cow::Borrowed(&image.words),
        }
    }

    /// O(chunks × columns): copies the data beside the chunks.
    pub(crate) fn of_archetype(archetype: &'a Archetype) -> Self {
        let (mut stamps, mut attachments) = (Vec::new(), Vec::new());
        archetype.stamps().save(&mut stamps);
        archetype.attachments().into_iter().for_each(|own| own.save(&mut attachments));
        let list = archetype.list();
        Self {
            set: archetype.set(),
            list: (list.key(), list.in_first_block()),
            capacity: list.capacity() as usize,
            chunk_len: list.chunk_len() as usize,
            entities: archetype.entities(),
            cells: Cells::Chunks(list),
            stamps: Cow::Owned(stamps),
            ages: None,
            attachments: Cow::Owned(attachments),
            words: Cow::Owned(words_layout(archetype)),
        }
    }

    /// The same rows, with ages in place of versions in their stamps. O(chunks × columns).
    pub(crate) fn with_ages(mut self, age: impl Fn(u64) -> u64) -> Self {
        // An age is a search in the history, and chunks that were written in one pass have one.
        let mut last = (0, age(0));
        let ages = self.stamps.iter().map(|&stamp| {
            if stamp != last.0 {
                last = (stamp, age(stamp));
            }
            last.1
        });
        self.ages = Some(ages.collect());
        self
    }

    pub(crate) const fn set(&self) -> &'a ComponentSet {
        self.set
    }

    /// The number of rows.
    pub(crate) const fn len(&self) -> usize {
        self.entities.len()
    }

    pub(crate) const fn entities(&self) -> &'a [Entity] {
        self.entities
    }

    /// Rows of a full chunk.
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether the rows lie in a first block.
    pub(crate) const fn in_first_block(&self) -> bool {
        self.list.1
    }

    /// The rows of a chunk, counted over all chunks.
    pub(crate) fn rows_of(&self, chunk: usize) -> Range<usize> {
        chunk * self.capacity..((chunk + 1) * self.capacity).min(self.len())
    }

    /// The ages of one kind, chunk after chunk.
    pub(crate) fn ages(&self, kind: StampKind) -> &[u64] {
        self.of_kind(self.ages.as_deref().unwrap_or(&self.stamps), kind)
    }

    fn of_kind<'s>(&self, stamps: &'s [u64], kind: StampKind) -> &'s [u64] {
        &stamps[kind.index() * self.chunk_len..][..self.chunk_len]
    }

    /// The words of an attachment of a column, chunk after chunk.
    pub(crate) fn attached(&self, kind: AttachmentKind, column: usize) -> &[u64] {
        &self.attachments[self.words.range(self.chunk_len, kind, column)]
    }

    /// The chunks whose contents may differ from an older view, and the chunks that it does not
    /// have. `kind` is the order or a column. The stamps decide.
    pub(crate) fn written<'v>(
        &'v self,
        older: &'v Self,
        kind: StampKind,
    ) -> impl Iterator<Item = usize> {
        let stamps = |view: &'v Self| {
            let order = view.of_kind(&view.stamps, StampKind::ORDER);
            order.iter().zip(view.of_kind(&view.stamps, kind))
        };
        // Stamps of another list are not comparable.
        let known = if self.list == older.list { older.chunk_len } else { 0 };
        let mut before = stamps(older).take(known);
        let written = stamps(self).enumerate().filter(move |&(_, now)| before.next() != Some(now));
        written.map(|(chunk, _)| chunk)
    }

    /// The cells of a column in some rows of one chunk.
    pub(crate) fn cells(&self, column: usize, size: usize, rows: Range<usize>) -> &'a [u8] {
        match self.cells {
            Cells::Columns(columns) => &columns[column][rows.start * size..rows.end * size],
            Cells::Chunks(list) => {
                let chunk = rows.start / self.capacity;
                let first = chunk * self.capacity;
                let number = u32::try_from(chunk).expect("a list has 2^32 chunks or more");
                let bytes = list.column_bytes(column, number);
                &bytes[(rows.start - first) * size..(rows.end - first) * size]
            }
        }
    }
}

impl ArchetypeImage {
    /// The bits of a column, set in disabled rows, chunk after chunk, and the number of words of a
    /// chunk. Empty if the component cannot be disabled.
    pub(crate) fn enable_words(&self, column: usize) -> (&[u64], usize) {
        let kind = AttachmentKind::ENABLE_BITS;
        let words = self.words.range(self.chunk_len(), kind, column);
        (&self.attachments[words], self.words.stride(kind, column))
    }
}
