//! The data beside the chunks of an archetype, as words.
//!
//! ```text
//!  │ order: a word a chunk │ arrival │ column 0 │ column 1 │ …                  stamps
//!  │ first kind: columns 0, 1, … │ second kind: columns 0, 1, … │ …        attachments
//! ```

use crate::storage::{WordsLayout, WordsPart};
use crate::version::Version;

use super::archetype::Archetype;
use super::unchanged_chunks::{ChunkVersions, StampWords};

/// The stamps and attachments of an archetype at some version.
#[derive(Clone, Debug)]
pub(crate) struct MetaImage {
    /// The key of the list, and whether its chunk is a first block.
    list: (u64, bool),
    /// Rows of a full chunk.
    pub(super) capacity: usize,
    pub(super) chunk_len: usize,
    words: Vec<u64>,
    layout: WordsLayout,
}

impl MetaImage {
    /// A key that no list has.
    const NO_LIST: u64 = u64::MAX;

    /// The words of an archetype of this set without chunks.
    pub(super) fn new(archetype: &Archetype) -> Self {
        let layout = WordsLayout::new(archetype.stamps().kinds(), archetype.attachments());
        let capacity = archetype.list().capacity() as usize;
        Self { list: (Self::NO_LIST, false), capacity, chunk_len: 0, words: Vec::new(), layout }
    }

    /// The words of an archetype.
    pub(super) fn of(archetype: &Archetype) -> Self {
        let mut words = Self::new(archetype);
        words.save(archetype);
        words
    }

    /// The words of new chunks in an archetype of this set. They belong to no list.
    pub(super) fn of_new_chunks(
        archetype: &Archetype,
        chunk_len: usize,
        (capacity, in_first_block): (usize, bool),
    ) -> Self {
        let mut words = vec![0; archetype.stamps().kinds() * chunk_len];
        words
            .extend(archetype.attachments().into_iter().flat_map(|all| all.fresh_words(chunk_len)));
        let list = (Self::NO_LIST, in_first_block);
        Self { list, capacity, chunk_len, words, ..Self::new(archetype) }
    }

    /// Sets the words to those of an archetype of the same set.
    pub(super) fn save(&mut self, archetype: &Archetype) {
        let list = archetype.list();
        (self.list, self.chunk_len) =
            ((list.key(), list.in_first_block()), list.chunk_len() as usize);
        self.capacity = list.capacity() as usize;
        self.words.clear();
        self.words.reserve_exact(self.layout.len(self.chunk_len));
        archetype.stamps().save(&mut self.words);
        archetype.attachments().into_iter().for_each(|all| all.save(&mut self.words));
    }

    /// Whether the only chunk is a first block.
    pub(super) const fn in_first_block(&self) -> bool {
        self.list.1
    }

    /// Bytes of the words.
    pub(super) const fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    pub(super) fn versions(&self) -> ChunkVersions<'_> {
        ChunkVersions {
            list: self.list,
            chunk_len: self.chunk_len,
            stamps: StampWords::Saved(&self.words),
        }
    }

    /// The words of a part, chunk after chunk.
    pub(super) fn part(&self, part: WordsPart) -> &[u64] {
        &self.words[self.layout.range(self.chunk_len, part)]
    }

    /// All stamps, for writing.
    pub(super) fn stamps_mut(&mut self) -> &mut [u64] {
        &mut self.words[self.layout.stamps(self.chunk_len)]
    }

    /// The words of a part, for writing.
    pub(super) fn part_mut(&mut self, part: WordsPart) -> &mut [u64] {
        &mut self.words[self.layout.range(self.chunk_len, part)]
    }

    /// The same words, with ages in place of versions. O(chunks × columns).
    pub(super) fn with_ages(&self, age: impl Fn(u64) -> u64) -> Self {
        let mut aged = self.clone();
        // An age is a search in the history, and chunks that were written in one pass have one.
        let mut last = (0, age(0));
        for stamp in self.layout.versions(self.chunk_len).flatten() {
            let stamp = &mut aged.words[stamp];
            if *stamp != last.0 {
                last = (*stamp, age(*stamp));
            }
            *stamp = last.1;
        }
        aged
    }
}

impl Archetype {
    /// Sets the stamps and attachments to words of the same number of chunks. Versions begin with
    /// `first`.
    pub(super) fn load_meta(&mut self, from: &MetaImage, first: Version) {
        let stamps = from.layout.stamps(from.chunk_len);
        let (stamps, attachments) = from.words.split_at(stamps.end);
        self.stamps.load(stamps, first);
        if let Some(extras) = &mut self.extras {
            extras.attachments.load(attachments, first);
        }
    }
}
