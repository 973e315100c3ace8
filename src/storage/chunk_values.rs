//! The values that an archetype has once per chunk.
//!
//! ```text
//!  chunk              0          1          2
//!  column of Bounds │ 2 words  │ 2 words  │ 2 words  │    as many words as a value has bytes / 8
//!  column of Dirty  │ 1 word   │ 1 word   │ 1 word   │
//! ```
//!
//! They lie outside of the chunks, like versions and enable bits: a pass reads the value of a chunk
//! before it touches a line of it. They belong to chunks and not to rows, so rows that arrive or
//! leave do not change them. A chunk that moves as a whole takes its values along, if the two
//! archetypes differ in tags only.
//!
//! Words are atomic because threads that share a query write the values of different chunks, which
//! share an allocation. All accesses are relaxed: readers and writers of one type are synchronised
//! elsewhere, so a value is never read in halves.

use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{bytes_of, cast_slice, cast_slice_mut};

use crate::component::{ChunkShape, ChunkValue, ChunkWords, References};
use crate::entity::Entity;

use super::words;

/// The values of all chunks of an archetype that has components with a value per chunk.
#[derive(Debug)]
pub(crate) struct ChunkValues {
    arrays: Box<[ValueArray]>,
}

/// The values of one column, chunk after chunk.
#[derive(Debug)]
struct ValueArray {
    column: u16,
    shape: ChunkShape,
    words: Vec<AtomicU64>,
}

impl ChunkValues {
    /// The values of an archetype without chunks. `None` if no column has values.
    pub(crate) fn new(columns: impl Iterator<Item = (u16, ChunkShape)>) -> Option<Self> {
        let array = |(column, shape)| ValueArray { column, shape, words: Vec::new() };
        let arrays: Box<_> = columns.map(array).collect();
        (!arrays.is_empty()).then_some(Self { arrays })
    }

    /// The columns that have values.
    pub(crate) fn columns(&self) -> impl Iterator<Item = u16> {
        self.arrays.iter().map(|array| array.column)
    }

    /// The value of a chunk in a column.
    ///
    /// # Panics
    ///
    /// If the column has no values, or the chunk does not exist.
    #[inline]
    pub(crate) fn cell(&self, column: u16, chunk: u32) -> ValueCell<'_> {
        let array = self.arrays.iter().find(|array| array.column == column);
        let array = array.expect("a column has no value per chunk");
        ValueCell { words: &array.words[array.shape.words_of(chunk as usize)] }
    }

    /// Words of a chunk in the array of a column: none if it has no values.
    pub(crate) fn chunk_words(&self, column: u16) -> usize {
        let array = self.arrays.iter().find(|array| array.column == column);
        array.map_or(0, |array| array.shape.words)
    }

    /// Whether the words of each chunk are a value.
    pub(crate) fn are_valid(&self) -> bool {
        self.arrays.iter().all(|ValueArray { shape, words, .. }| {
            let words = words.iter().map(|word| word.load(Ordering::Relaxed));
            shape.accept(&words.collect::<Vec<_>>())
        })
    }

    /// Appends the words of all chunks.
    pub(crate) fn save(&self, to: &mut Vec<u64>) {
        self.arrays.iter().for_each(|array| words::save(&array.words, to));
    }

    /// Sets the words of all chunks from words that [`ChunkValues::save`] has written for the same
    /// number of chunks, and removes them from the front.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub(crate) fn load(&mut self, saved: &mut &[u64]) {
        self.arrays.iter_mut().for_each(|array| words::load(&mut array.words, saved));
    }

    /// Adds a chunk, which has the default values.
    pub(crate) fn push_chunk(&mut self) {
        for ValueArray { shape, words, .. } in &mut self.arrays {
            words.extend(shape.default_words().iter().map(|&word| AtomicU64::new(word)));
        }
    }

    /// Makes room for `chunk_len` chunks in all.
    pub(crate) fn reserve(&mut self, chunk_len: usize) {
        for ValueArray { shape, words, .. } in &mut self.arrays {
            words.reserve((chunk_len * shape.words).saturating_sub(words.len()));
        }
    }

    /// Removes all chunks from number `chunk_len` on.
    pub(crate) fn truncate(&mut self, chunk_len: usize) {
        for ValueArray { shape, words, .. } in &mut self.arrays {
            words.truncate(chunk_len * shape.words);
        }
    }

    /// Copies the values of a chunk that fills the gap of another.
    pub(crate) fn move_chunk(&mut self, source: usize, target: usize) {
        for ValueArray { shape, words, .. } in &mut self.arrays {
            let [source, target] = [source, target].map(|chunk| shape.words_of(chunk));
            for (from, to) in source.zip(target) {
                *words[to].get_mut() = *words[from].get_mut();
            }
        }
    }

    /// Gives a chunk the default values.
    pub(crate) fn reset_chunk(&mut self, chunk: u32) {
        for ValueArray { shape, words, .. } in &mut self.arrays {
            let words = words[shape.words_of(chunk as usize)].iter_mut();
            words.zip(shape.default_words()).for_each(|(word, &value)| *word.get_mut() = value);
        }
    }

    /// Gives a chunk the values of a chunk of `source`, which has come here as a whole. `kept` has
    /// pairs of a column there and a column here.
    pub(crate) fn follow_chunk(
        &mut self,
        to: u32,
        (source, from): (&Self, u32),
        kept: &[(u16, u16)],
    ) {
        for &(theirs, ours) in kept {
            let Some(array) = self.arrays.iter_mut().find(|array| array.column == ours) else {
                continue;
            };
            let words = array.shape.words_of(to as usize);
            for (word, value) in array.words[words].iter_mut().zip(source.cell(theirs, from).words)
            {
                *word.get_mut() = value.load(Ordering::Relaxed);
            }
        }
    }

    /// Replaces the ids of entities in all values of a column, if it has any.
    pub(crate) fn map_entities(
        &mut self,
        column: u16,
        references: References,
        map: &mut dyn FnMut(Entity) -> Entity,
    ) {
        let Some(array) = self.arrays.iter_mut().find(|array| array.column == column) else {
            return;
        };
        for value in array.words.chunks_exact_mut(array.shape.words) {
            let mut words: ChunkWords = [0; _];
            words.iter_mut().zip(&mut *value).for_each(|(word, from)| *word = *from.get_mut());
            references.map(&mut cast_slice_mut(&mut words)[..array.shape.bytes], map);
            value.iter_mut().zip(&words).for_each(|(to, word)| *to.get_mut() = *word);
        }
    }

    /// The words of all values of a column, chunk after chunk, if it has any.
    pub(crate) fn words(&self, column: u16) -> impl Iterator<Item = u64> {
        let arrays = self.arrays.iter().filter(move |array| array.column == column);
        arrays.flat_map(|array| array.words.iter().map(|word| word.load(Ordering::Relaxed)))
    }

    /// Whether each chunk has values.
    pub(crate) fn is_consistent(&self, chunk_len: u32) -> bool {
        let mut arrays = self.arrays.iter();
        arrays.all(|array| array.words.len() == chunk_len as usize * array.shape.words)
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.arrays.iter().map(|array| array.words.capacity() * size_of::<u64>()).sum()
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
