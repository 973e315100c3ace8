//! Chunk values: values that an archetype has once per chunk.
//!
//! ```text
//!  chunk              0          1          2
//!  column of Bounds │ 2 words  │ 2 words  │ 2 words  │    a word for 8 bytes of a value
//!  column of Dirty  │ 1 word   │ 1 word   │ 1 word   │
//! ```
//!
//! They lie outside of the chunks, like versions and enable bits: a pass reads the value of a chunk
//! before it touches a line of it. They belong to chunks and not to rows, so rows that arrive or
//! leave do not change them. A chunk that moves as a whole takes its values along, if the two
//! archetypes differ in tags only.

use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{bytes_of, cast_slice, cast_slice_mut};

use crate::component::{ChunkShape, ChunkValue, ChunkWords, ComponentInfo, References};
use crate::entity::Entity;
use crate::version::Version;

use super::attachment::{Attached, Attachment, AttachmentFigure, AttachmentKind};
use super::attachments::Attachments;

/// The kind of the values of chunks.
#[derive(Debug)]
pub(super) struct ChunkValues;

impl AttachmentKind {
    /// Values of chunks.
    const CHUNK_VALUES: Self = Self::new(2);
}

impl Attachment for ChunkValues {
    fn kind(&self) -> AttachmentKind {
        AttachmentKind::CHUNK_VALUES
    }

    fn name(&self) -> &'static str {
        "values of chunks"
    }

    fn applies(&self, info: &ComponentInfo) -> bool {
        info.chunk_value().is_some()
    }

    fn fresh(&self, info: &ComponentInfo, _: u32) -> Box<[u64]> {
        info.chunk_value().expect("the component has no value per chunk").default_words().into()
    }

    fn is_of_chunk(&self) -> bool {
        true
    }

    fn figure(&self, _: &[AtomicU64], info: &ComponentInfo) -> Option<AttachmentFigure> {
        let amount = info.chunk_value()?.bytes;
        Some(AttachmentFigure {
            amount,
            unit: "byte",
            text: ["has a value of ", " for each chunk"],
        })
    }

    fn find_defect(
        &self,
        own: Attached<'_>,
        _: u32,
        info: &ComponentInfo,
        _: Version,
    ) -> Option<&'static str> {
        let mut words: ChunkWords = [0; _];
        let words = &mut words[..own.words.len()];
        for (word, value) in words.iter_mut().zip(own.words) {
            *word = value.load(Ordering::Relaxed);
        }
        let is_valid = info.chunk_value().is_some_and(|shape| shape.accept(words));
        (!is_valid).then_some("a value of a chunk that its type does not have")
    }
}

impl Attachments {
    /// The value of a chunk in a column.
    ///
    /// # Panics
    ///
    /// If the column has no values, or the chunk does not exist.
    #[inline]
    pub(crate) fn value(&self, column: u16, chunk: u32) -> ValueCell<'_> {
        let array = self.find(AttachmentKind::CHUNK_VALUES, column);
        ValueCell { words: array.expect("a column has no value per chunk").chunk(chunk) }
    }

    /// Replaces the ids of entities in all values of a column, which have `bytes` bytes.
    pub(crate) fn map_entities(
        &mut self,
        column: u16,
        (bytes, references): (usize, References),
        map: &mut dyn FnMut(Entity) -> Entity,
    ) {
        let Some(array) = self.number(AttachmentKind::CHUNK_VALUES, column) else { return };
        let array = &mut self.arrays[array];
        let stride = array.stride();
        for value in array.words.chunks_exact_mut(stride) {
            let mut words: ChunkWords = [0; _];
            words.iter_mut().zip(&mut *value).for_each(|(word, from)| *word = *from.get_mut());
            references.map(&mut cast_slice_mut(&mut words)[..bytes], map);
            value.iter_mut().zip(&words).for_each(|(to, word)| *to.get_mut() = *word);
        }
    }
}

/// The value of one chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueCell<'w> {
    words: &'w [AtomicU64],
}

impl ValueCell<'_> {
    /// A cell without a chunk, which must not be read. Writing it has no effect.
    pub(crate) const NONE: Self = Self { words: &[] };

    /// # Panics
    ///
    /// If the cell is of another type.
    #[inline]
    pub(crate) fn read<V: ChunkValue>(self) -> V {
        let mut words: ChunkWords = [0; _];
        let words = &mut words[..ChunkShape::words_for::<V>()];
        assert!(self.words.len() == words.len(), "the value of a chunk is read as another type");
        for (word, value) in words.iter_mut().zip(self.words) {
            *word = value.load(Ordering::Relaxed);
        }
        bytemuck::checked::pod_read_unaligned(&cast_slice(words)[..size_of::<V>()])
    }

    #[inline]
    pub(crate) fn write<V: ChunkValue>(self, value: &V) {
        let mut words: ChunkWords = [0; _];
        let words = &mut words[..ChunkShape::words_for::<V>()];
        cast_slice_mut(words)[..size_of::<V>()].copy_from_slice(bytes_of(value));
        for (word, &value) in self.words.iter().zip(&*words) {
            word.store(value, Ordering::Relaxed);
        }
    }
}
