//! A copy of an archetype's rows, for restoring them.
//!
//! ```text
//!  chunks   │ Position │ Velocity │   │ Position │ Velocity │   │ Position │ … │
//!               │                          │                        │
//!  image    │ Position  Position  Position … │   │ Velocity  Velocity … │
//! ```
//!
//! An image has one array per column, for any extents of the chunks, so copies are long and the
//! image has no gaps. It also has the data beside the chunks: entities, stamps, attachments.
//!
//! # Copying only differences
//!
//! The clock of a world never goes back, so no version is used twice (a state that was read gets
//! new versions when it is restored). So a stamp identifies the contents of a column of a chunk: if
//! the archetype has the same list of chunks as before, the same stamp of the order and the same
//! stamp of the column, it has the same bytes. Both directions use this. An update of an image and
//! the restore of an archetype copy only data that was written in between, and read the stamps of
//! the rest.
//!
//! The entities of a chunk are copied by the stamp of its order alone. If a row of a restored
//! archetype gets another entity than before, the entity gets its place in the directory, so the
//! directory needs no stamps of its own.
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

use std::sync::Arc;

use aligned_vec::{AVec, ConstAlign};

use crate::component::{ComponentSet, HeldValue, Registry};
use crate::entity::{ArchetypeId, Directory, Entity, Location};
use crate::storage::{Attachments, ChunkRow, Pool, StampKind, Stamps, WordsLayout};
use crate::version::Version;

use super::archetype::Archetype;
use super::shared_tags::KeptValue;

/// The bytes of a column, on a cache line.
pub(super) type ColumnBytes = AVec<u8, ConstAlign<64>>;

/// The rows of an archetype at some version, and the data of its chunks.
#[derive(Clone, Debug)]
pub(crate) struct ArchetypeImage {
    pub(super) set: ComponentSet,
    /// The key of the list, which no other list has. `NO_LIST` for an image that was read.
    pub(super) list_key: u64,
    pub(super) in_first_block: bool,
    /// Rows of a full chunk.
    pub(super) capacity: usize,
    /// The cells of each column, row after row.
    pub(super) columns: Box<[ColumnBytes]>,
    pub(super) entities: Vec<Entity>,
    /// The words that [`Stamps::save`] writes.
    pub(super) stamps: Vec<u64>,
    /// The words that [`Attachments::save`] writes.
    pub(super) attachments: Vec<u64>,
    pub(super) words: WordsLayout,
    /// The shared values of the rows, which live at least until the image is dropped.
    pub(super) shared: Vec<KeptValue>,
}

impl ArchetypeImage {
    /// The image of an archetype of this set without rows.
    pub(crate) fn new(archetype: &Archetype) -> Self {
        let columns = archetype.list().columns().iter();
        Self {
            set: archetype.set().clone(),
            list_key: archetype.list().key(),
            in_first_block: false,
            capacity: archetype.list().capacity() as usize,
            columns: columns.map(|_| ColumnBytes::new(0)).collect(),
            entities: Vec::new(),
            stamps: Vec::new(),
            attachments: Vec::new(),
            words: words_layout(archetype),
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
            + size_of_val(&self.stamps[..])
            + size_of_val(&self.attachments[..])
    }

    /// Makes this the image of an archetype of the same set. Copies only changes if it was an image
    /// of the same archetype before.
    ///
    /// # Panics
    ///
    /// If the archetype is of another set.
    pub(crate) fn follow(&mut self, archetype: &Archetype) {
        assert!(self.set == *archetype.set(), "the image is that of other components");
        let same = Unchanged {
            saved: self.is_of_list(archetype).then_some(&self.stamps),
            chunk_len: self.chunk_len(),
        };
        let (list, capacity) = (archetype.list(), archetype.list().capacity() as usize);
        for (number, bytes) in self.columns.iter_mut().enumerate() {
            let size = list.columns()[number].size;
            // Exact: an image with twice the capacity of its rows would take twice the memory.
            bytes.reserve_exact((list.len() * size).saturating_sub(bytes.len()));
            for chunk in 0..list.chunk_len() {
                if size == 0 || same.column(archetype.stamps(), number, chunk) {
                    continue;
                }
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
        follow_entities(&mut self.entities, archetype, &same);
        self.stamps.clear();
        archetype.stamps().save(&mut self.stamps);
        self.attachments.clear();
        self.shared.clear();
        if let Some(extras) = &archetype.extras {
            extras.attachments.save(&mut self.attachments);
            self.shared.extend(extras.shared.kept_values());
        }
        self.list_key = list.key();
        self.in_first_block = list.in_first_block();
        self.capacity = capacity;
    }

    /// Gives the tags of the shared values their values back. The caller owns the values until the
    /// archetypes own them.
    pub(crate) fn own_shared(&self, registry: &Registry) -> impl Iterator<Item = Arc<HeldValue>> {
        self.shared.iter().map(|kept| kept.own(registry))
    }

    /// The shared values of the rows. Empty without rows.
    pub(crate) fn kept_values(&self) -> &[KeptValue] {
        &self.shared
    }

    /// The number of chunks.
    pub(super) fn chunk_len(&self) -> usize {
        self.len().div_ceil(self.capacity)
    }

    /// Whether the archetype still has the list of chunks of the image, with chunks of the same
    /// size.
    fn is_of_list(&self, archetype: &Archetype) -> bool {
        let list = archetype.list();
        self.list_key == list.key() && self.in_first_block == list.in_first_block()
    }
}

/// Copies the entities of the chunks whose rows may differ.
fn follow_entities(to: &mut Vec<Entity>, archetype: &Archetype, same: &Unchanged<'_>) {
    let (list, all) = (archetype.list(), archetype.entities());
    to.reserve_exact(all.len().saturating_sub(to.len()));
    for chunk in 0..list.chunk_len() {
        let start = chunk as usize * list.capacity() as usize;
        let rows = start..start + list.rows(chunk) as usize;
        if rows.end <= to.len() && same.order(archetype.stamps(), chunk) {
            continue;
        }
        match to.get_mut(rows.clone()) {
            Some(old) => old.copy_from_slice(&all[rows]),
            None => {
                to.truncate(start);
                to.extend_from_slice(&all[rows]);
            }
        }
    }
    to.truncate(all.len());
}

/// The places of the words of an archetype's attachments.
pub(super) fn words_layout(archetype: &Archetype) -> WordsLayout {
    WordsLayout::new(archetype.attachments(), archetype.components().len())
}

/// The columns of chunks that are equal in an image and an archetype.
struct Unchanged<'i> {
    /// The stamps of the image, if it is an image of the same list of chunks.
    saved: Option<&'i [u64]>,
    /// The number of chunks in the image.
    chunk_len: usize,
}

impl Unchanged<'_> {
    fn is_same(&self, stamps: &Stamps, kind: StampKind, chunk: usize) -> bool {
        let Some(saved) = self.saved else { return false };
        chunk < self.chunk_len.min(stamps.chunk_len())
            && saved[kind.index() * self.chunk_len + chunk] == stamps.saved(kind, chunk)
    }

    /// Whether a column of a chunk has the same bytes.
    fn column(&self, stamps: &Stamps, column: usize, chunk: u32) -> bool {
        let column = u16::try_from(column).expect("an archetype has 2^16 columns or more");
        self.order(stamps, chunk) && self.is_same(stamps, StampKind::column(column), chunk as usize)
    }

    /// Whether a chunk has the same rows, or lost some of its last rows.
    fn order(&self, stamps: &Stamps, chunk: u32) -> bool {
        self.is_same(stamps, StampKind::ORDER, chunk as usize)
    }
}

/// The data that restoring an archetype needs.
#[derive(Debug)]
pub(crate) struct RestoreContext<'s> {
    pub(crate) pool: &'s mut Pool,
    pub(crate) entities: &'s mut Directory,
    /// Whether entities in unchanged rows have their places already.
    pub(crate) keeps_places: bool,
    /// The version that stands for version 0 of the image: [`Version::NEVER`], or one that differs
    /// from all versions of the archetype.
    pub(crate) first: Version,
}

impl Archetype {
    /// Gives the archetype, which has number `id`, the rows of an image and the data of their
    /// chunks, and gives the entities their places. Copies only differences. Before the call, the
    /// caller gives tags their shared values; it also restores the rest of the directory.
    ///
    /// # Panics
    ///
    /// If the image is of another set.
    pub(crate) fn restore(
        &mut self,
        id: ArchetypeId,
        image: &ArchetypeImage,
        context: &mut RestoreContext<'_>,
    ) {
        assert!(image.set == *self.set(), "the image is that of other components");
        let same = Unchanged {
            saved: image.is_of_list(self).then_some(&image.stamps),
            chunk_len: image.chunk_len(),
        };
        if self.list.in_first_block() != image.in_first_block {
            self.clear(context.pool);
        }
        self.restore_entities(id, image, &same, context);
        let RestoreContext { pool, first, .. } = context;
        self.list.truncate(self.len().min(image.len()), pool);
        self.drop_chunks(self.list.chunk_len() as usize);
        self.restore_live(image, &same);
        self.restore_missing(image, pool);
        // The caller has given the tags of shared values their values.
        self.grow_to_all(Version::NEVER);
        self.stamps.load(&image.stamps, *first);
        if let Some(extras) = &mut self.extras {
            extras.attachments.load(&image.attachments, *first);
            if self.list.chunk_len() > 0 {
                extras.shared.own_again();
            }
        }
    }

    /// Gives the rows the entities of an image, and sets the places of entities in changed rows.
    fn restore_entities(
        &mut self,
        id: ArchetypeId,
        image: &ArchetypeImage,
        same: &Unchanged<'_>,
        context: &mut RestoreContext<'_>,
    ) {
        let RestoreContext { entities, keeps_places, .. } = context;
        self.entities.reserve(image.len().saturating_sub(self.entities.len()));
        let all = image.entities.chunks(image.capacity);
        for (chunk, new) in (0u32..).zip(all) {
            let start = chunk as usize * image.capacity;
            let known = (self.entities.len() - start).min(new.len());
            if *keeps_places && known == new.len() && same.order(&self.stamps, chunk) {
                continue;
            }
            let place = |row| Location::new(id, self.list.position(ChunkRow { chunk, row }));
            let (old, added) = new.split_at(known);
            let own = self.entities[start..start + known].iter_mut();
            for ((row, own), &entity) in (0u32..).zip(own).zip(old) {
                if !*keeps_places || *own != entity {
                    *own = entity;
                    entities.put(entity, place(row));
                }
            }
            self.entities.extend_from_slice(added);
            if !added.is_empty() {
                let row = u32::try_from(known).expect("a chunk has 2^32 rows or more");
                entities.put_all(added, place(row));
            }
        }
        self.entities.truncate(image.len());
    }

    /// Releases the shared values, before [`Archetype::restore`].
    pub(crate) fn release_shared(&mut self) {
        self.extras.iter_mut().for_each(|extras| extras.shared.release());
    }

    /// All versions of the archetype's chunks, also those in attachments.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Version> {
        let kinds = (0..self.stamps.kinds()).map(StampKind::nth);
        let attached = self.attachments().into_iter().flat_map(Attachments::versions);
        kinds.flat_map(|kind| self.stamps.versions(kind)).chain(attached)
    }

    /// Overwrites the existing rows.
    fn restore_live(&mut self, image: &ArchetypeImage, same: &Unchanged<'_>) {
        for (number, bytes) in image.columns.iter().enumerate() {
            let size = self.list.columns()[number].size;
            for chunk in 0..self.list.chunk_len() {
                if size == 0 || same.column(&self.stamps, number, chunk) {
                    continue;
                }
                let start = chunk as usize * image.capacity;
                let rows = start..start + self.list.rows(chunk) as usize;
                let cells = &bytes[rows.start * size..rows.end * size];
                self.list.overwrite_cells(number, chunk, cells);
            }
        }
    }

    /// Adds the missing rows.
    fn restore_missing(&mut self, image: &ArchetypeImage, pool: &mut Pool) {
        let (live, missing) = (self.len(), image.len() - self.len());
        if missing == 0 {
            return;
        }
        if !image.in_first_block {
            self.list.reserve(missing, pool);
        }
        let mut written = self.begin_rows();
        while written.len() < missing {
            let left = missing - written.len();
            let run = self.room(&written, left, pool).at_most(left);
            let first = live + written.len();
            written.write_columns(&mut self.list, &run, |column, size| {
                &image.columns[column][first * size..(first + run.rows.len()) * size]
            });
        }
        self.list.commit(&written);
    }
}
