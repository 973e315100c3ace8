//! A view of the rows of an archetype or of an image, with one interface for both.

use std::borrow::Cow;
use std::ops::Range;

use crate::component::ComponentSet;
use crate::entity::Entity;
use crate::storage::{ChunkList, StampKind, WordsPart};

use super::archetype::Archetype;
use super::archetype_image::{ArchetypeImage, ColumnBytes};
use super::meta_image::MetaImage;

/// The rows of an archetype or of an image.
#[derive(Debug)]
pub(crate) struct RowsView<'a> {
    set: &'a ComponentSet,
    entities: &'a [Entity],
    cells: Cells<'a>,
    meta: Cow<'a, MetaImage>,
    /// The same with ages in place of versions, if they differ.
    aged: Option<MetaImage>,
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
            entities: &image.entities,
            cells: Cells::Columns(&image.columns),
            meta: Cow::Borrowed(&image.meta),
            aged: None,
        }
    }

    /// O(chunks × columns): copies the data beside the chunks.
    pub(crate) fn of_archetype(archetype: &'a Archetype) -> Self {
        Self {
            set: archetype.set(),
            entities: archetype.entities(),
            cells: Cells::Chunks(archetype.list()),
            meta: Cow::Owned(MetaImage::of(archetype)),
            aged: None,
        }
    }

    /// The same rows, with ages in place of versions in their words. O(chunks × columns).
    pub(crate) fn with_ages(self, age: impl Fn(u64) -> u64) -> Self {
        Self { aged: Some(self.meta.with_ages(age)), ..self }
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
    pub(crate) fn capacity(&self) -> usize {
        self.meta.capacity
    }

    /// Whether the rows lie in a first block.
    pub(crate) fn in_first_block(&self) -> bool {
        self.meta.in_first_block()
    }

    /// The rows of a chunk, counted over all chunks.
    pub(crate) fn rows_of(&self, chunk: usize) -> Range<usize> {
        chunk * self.capacity()..((chunk + 1) * self.capacity()).min(self.len())
    }

    /// The words of a part, chunk after chunk, with ages in place of versions.
    pub(crate) fn words(&self, part: WordsPart) -> &[u64] {
        self.aged.as_ref().unwrap_or(&self.meta).part(part)
    }

    /// The chunks whose contents may differ from an older view, and the chunks that it does not
    /// have. `kind` is the order or a column.
    pub(crate) fn written(&self, older: &Self, kind: StampKind) -> impl Iterator<Item = usize> {
        let (now, before) = (self.meta.versions(), older.meta.versions());
        (0..self.meta.chunk_len).filter(move |&chunk| !now.is_unchanged(before, kind, chunk))
    }

    /// The cells of a column in some rows of one chunk.
    pub(crate) fn cells(&self, column: u16, size: usize, rows: Range<usize>) -> &'a [u8] {
        let column = usize::from(column);
        match self.cells {
            Cells::Columns(columns) => &columns[column][rows.start * size..rows.end * size],
            Cells::Chunks(list) => {
                let chunk = rows.start / self.capacity();
                let first = chunk * self.capacity();
                let number = u32::try_from(chunk).expect("a list has 2^32 chunks or more");
                let bytes = list.column_bytes(column, number);
                &bytes[(rows.start - first) * size..(rows.end - first) * size]
            }
        }
    }
}
