//! A copy of an archetype's rows, for restoring them.
//!
//! ```text
//!  chunks   │ Position │ Velocity │   │ Position │ Velocity │   │ Position │ …
//!               │                          │                        │
//!  image    │ Position  Position  Position … │   │ Velocity  Velocity … │
//! ```
//!
//! An image has one array per column, for any extents of the chunks, so copies are long and the
//! image has no gaps. It also has the data beside the chunks: entities, stamps, attachments.
//!
//! # Copying only differences
//!
//! An update of an image and the [restore](super::restore_rows) of an archetype copy only data that
//! was written in between, by the rule of [`unchanged_chunks`](super::unchanged_chunks), and read
//! the stamps of the rest. The entities of a chunk are copied by the stamp of its order alone.
//!
//! # Copies instead of shared extents
//!
//! A state could share the memory of extents with the world, which would copy an extent before
//! writing it. The table is from a model of both on plain memory: 1,536 chunks in extents of 64,
//! some of which are written in each frame before a state is taken. Microseconds per frame for
//! writes and copies together, with one state and with the last eight, and the memory of eight:
//!
//! ```text
//!  chunks written      copied: one   eight    MiB     shared: one   eight    MiB
//!  15, one by one               27     134    192              27      88     10
//!  15, scattered                76     380    192           1,700   1,900    120
//!  154, one by one             155     455    192             155     405     28
//!  154, scattered              745   3,180    192           2,900   2,860    181
//!  all                       5,550   4,680    192           3,570   3,470    192
//! ```
//!
//! Scattered writes touch nearly every extent: with them a copy of chunks is up to twenty times as
//! fast. Sharing is faster by a third if all chunks are written, and takes less memory if few are.
//! But each function that writes would have to test first whether its extent is shared, in loops
//! without any other test, and the copy would come in the middle of a kernel. (Zen 5, two cores.)

use aligned_vec::{AVec, ConstAlign};

use crate::component::ComponentSet;
use crate::entity::Entity;
use crate::storage::{AttachmentKind, StampKind, WordsPart};

use super::archetype::Archetype;
use super::meta_image::MetaImage;
use super::shared_tags::{OwnedSharedValue, SharedTags};
use super::unchanged_chunks::ChunkVersions;

/// The bytes of a column, on a cache line.
pub(super) type ColumnBytes = AVec<u8, ConstAlign<64>>;

/// The rows of an archetype at some version, and the data of its chunks.
#[derive(Clone, Debug)]
pub(crate) struct ArchetypeImage {
    pub(super) set: ComponentSet,
    /// The cells of each column, row after row.
    pub(super) columns: Box<[ColumnBytes]>,
    pub(super) entities: Vec<Entity>,
    pub(super) meta: MetaImage,
    /// The shared values of the rows, which live at least until the image is dropped.
    pub(super) shared: Vec<OwnedSharedValue>,
}

impl ArchetypeImage {
    /// The image of an archetype of this set without rows.
    pub(crate) fn new(archetype: &Archetype) -> Self {
        let columns = archetype.list().columns().iter();
        Self {
            set: archetype.set().clone(),
            columns: columns.map(|_| ColumnBytes::new(0)).collect(),
            entities: Vec::new(),
            meta: MetaImage::new(archetype),
            shared: Vec::new(),
        }
    }

    pub(crate) const fn set(&self) -> &ComponentSet {
        &self.set
    }

    pub(crate) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// The number of rows.
    pub(crate) const fn len(&self) -> usize {
        self.entities.len()
    }

    /// Bytes of all arrays, without unused arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.len()).sum::<usize>()
            + size_of_val(&self.entities[..])
            + self.meta.bytes()
    }

    /// Makes this the image of an archetype of the same set. Copies only changes if it was an image
    /// of the same archetype before.
    ///
    /// # Panics
    ///
    /// If the archetype is of another set.
    pub(crate) fn follow(&mut self, archetype: &Archetype) {
        assert!(self.set == *archetype.set(), "the image is that of other components");
        let (list, capacity) = (archetype.list(), archetype.list().capacity() as usize);
        let now = ChunkVersions::live(list, archetype.stamps());
        let before = self.meta.versions();
        let is_same = |kind, chunk: u32| now.is_unchanged(before, kind, chunk as usize);
        for (column, bytes) in (0u16..).zip(&mut self.columns) {
            let number = usize::from(column);
            let (size, kind) = (list.columns()[number].size, StampKind::column(column));
            // Exact: an image with twice the capacity of its rows would take twice the memory.
            bytes.reserve_exact((list.len() * size).saturating_sub(bytes.len()));
            for chunk in (0..list.chunk_len()).filter(|&chunk| size > 0 && !is_same(kind, chunk)) {
                let cells = list.column_bytes(number, chunk);
                let start = chunk as usize * capacity * size;
                match bytes.get_mut(start..start + cells.len()) {
                    Some(old) => old.copy_from_slice(cells),
                    None => {
                        bytes.truncate(start);
                        bytes.extend_from_slice(cells);
                    }
                }
            }
            bytes.truncate(list.len() * size);
        }
        let entities = &mut self.entities;
        entities.reserve_exact(list.len().saturating_sub(entities.len()));
        for chunk in (0..list.chunk_len()).filter(|&chunk| !is_same(StampKind::ORDER, chunk)) {
            let (start, rows) = (chunk as usize * capacity, archetype.entities_of_chunk(chunk));
            match entities.get_mut(start..start + rows.len()) {
                Some(old) => old.copy_from_slice(rows),
                None => {
                    entities.truncate(start);
                    entities.extend_from_slice(rows);
                }
            }
        }
        entities.truncate(list.len());
        self.meta.save(archetype);
        self.shared.clear();
        self.shared.extend(archetype.shared().into_iter().flat_map(SharedTags::owned_values));
    }

    /// The bits of a column, set in disabled rows, chunk after chunk, and the number of words of a
    /// chunk. Empty if the component cannot be disabled.
    pub(crate) fn enable_words(&self, column: u16) -> (&[u64], usize) {
        let words = self.meta.part(WordsPart::Attached(AttachmentKind::ENABLE_BITS, column));
        (words, words.len().checked_div(self.meta.chunk_len).unwrap_or(0))
    }

    /// The shared values of the rows. Empty without rows.
    pub(crate) fn owned_values(&self) -> &[OwnedSharedValue] {
        &self.shared
    }
}
