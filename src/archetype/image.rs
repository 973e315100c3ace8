//! A copy of an archetype's rows, from which they can be put back.
//!
//! ```text
//!  chunks   │ Position │ Velocity │   │ Position │ Velocity │   │ Position │ … │
//!               │                          │                        │
//!  image    │ Position  Position  Position … │   │ Velocity  Velocity … │
//! ```
//!
//! An image has one array a column, whatever extents the chunks lie in: so copies are long, and the
//! image has no gaps. Beside the columns it has what lies beside the chunks: entities, stamps,
//! enable bits, values of chunks.
//!
//! # Only what differs is copied
//!
//! The clock of a world never goes back, so a version is never given twice (those of a state that
//! was read are given anew when it is restored). So a stamp says what a column of a chunk has: if
//! the archetype has the same list of chunks as then, the same stamp of the order and the same
//! stamp of the column, then it has the same bytes. Both directions use this. An image that is
//! brought up to date, or an archetype that is put back, copies what was written in between, and
//! reads the stamps of the rest.
//!
//! The entities of a chunk are copied by the stamp of its order alone. Where a row of an archetype
//! that is put back has another entity than before, that entity gets its place in the directory, so
//! the directory has no stamps of its own.
//!
//! # Why extents are not shared until they are written
//!
//! A state could share the memory of extents with the world, which would copy an extent before it
//! is written. A model of both, on plain memory: 1,536 chunks in extents of 64, some of which are
//! written in each frame before a state is taken. Microseconds a frame for writes and copies
//! together, with one state and with the last eight, and the memory of eight:
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
//! Scattered writes touch nearly every extent: there a copy of chunks is up to twenty times as
//! fast. Sharing is ahead by a third where all is written, and takes less memory where little is.
//! But each way to write would have to ask first whether its extent is shared, in loops that have
//! nothing else to ask, and the copy would come in the middle of a kernel. (Zen 5, two cores.)

use std::sync::Arc;

use aligned_vec::{AVec, ConstAlign};

use crate::component::{ComponentSet, HeldValue, Registry};
use crate::entity::{ArchetypeId, Directory, Entity, Location};
use crate::storage::{ChunkRow, ChunkValues, KeptValue, LineStamps, Pool, StampKind, Stamps};
use crate::version::Version;

use super::archetype::Archetype;
use super::marks::Marks;

/// The bytes of a column, on a cache line.
pub(super) type ColumnBytes = AVec<u8, ConstAlign<64>>;

/// The rows of an archetype at some version, and what belongs to its chunks.
#[derive(Clone, Debug)]
pub(crate) struct ArchetypeImage {
    pub(super) set: ComponentSet,
    /// The key of the list, which no other list has, or none that any list has.
    pub(super) list_key: u64,
    pub(super) in_first_block: bool,
    /// Rows of a full chunk.
    pub(super) capacity: usize,
    /// The cells of each column, row after row.
    pub(super) columns: Box<[ColumnBytes]>,
    pub(super) entities: Vec<Entity>,
    /// What [`Stamps::save`] writes.
    pub(super) stamps: Vec<u64>,
    /// What [`Marks::save`] writes.
    pub(super) marks: Vec<u64>,
    /// Words of a chunk in the marks, by column: the essay of `rows_view`.
    pub(super) chunk_words: Box<[[usize; 3]]>,
    /// Shared values live as long as an image of their rows.
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
            marks: Vec::new(),
            chunk_words: chunk_words(archetype),
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

    /// Bytes of all arrays, without those that are not in use.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.len()).sum::<usize>()
            + size_of_val(&self.entities[..])
            + size_of_val(&self.stamps[..])
            + size_of_val(&self.marks[..])
    }

    /// Makes this the image of an archetype of the same set. Copies what has changed since it was
    /// that of the same archetype, or all.
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
            // Exact: an image that grew twice as large as its rows would take twice the memory.
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
        self.marks.clear();
        self.shared.clear();
        if let Some(marks) = &archetype.marks {
            marks.save(&mut self.marks);
            self.shared.extend(marks.values.iter().flat_map(ChunkValues::kept_values));
        }
        self.list_key = list.key();
        self.in_first_block = list.in_first_block();
        self.capacity = capacity;
    }

    /// Gives the tags of the shared values theirs back. The caller owns them until the archetypes
    /// do.
    pub(crate) fn own_shared(&self, registry: &Registry) -> impl Iterator<Item = Arc<HeldValue>> {
        self.shared.iter().map(|kept| kept.own(registry))
    }

    /// The shared values of the rows, if there are rows.
    pub(crate) fn kept_values(&self) -> &[KeptValue] {
        &self.shared
    }

    /// The number of chunks.
    pub(super) fn chunk_len(&self) -> usize {
        self.len().div_ceil(self.capacity)
    }

    /// Whether the archetype has the list of chunks that it had, with chunks of the same size.
    fn is_of_list(&self, archetype: &Archetype) -> bool {
        let list = archetype.list();
        self.list_key == list.key() && self.in_first_block == list.in_first_block()
    }
}

/// Copies the entities of the chunks whose rows may be others.
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

/// Words of a chunk in the marks, by column.
pub(super) fn chunk_words(archetype: &Archetype) -> Box<[[usize; 3]]> {
    let marks = archetype.marks.as_deref();
    let words = |column| marks.map_or([0; 3], |marks| marks.chunk_words(column));
    archetype.components().iter().zip(0..).map(|(_, column)| words(column)).collect()
}

/// Which columns of chunks an image and an archetype have in common.
struct Unchanged<'i> {
    /// The stamps of the image, if it is one of the same list of chunks.
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

    /// Whether a chunk has the same rows, or lost some of its last.
    fn order(&self, stamps: &Stamps, chunk: u32) -> bool {
        self.is_same(stamps, StampKind::ORDER, chunk as usize)
    }
}

/// What an archetype needs to be put back.
#[derive(Debug)]
pub(crate) struct RestoreContext<'s> {
    pub(crate) pool: &'s mut Pool,
    pub(crate) entities: &'s mut Directory,
    /// Whether entities whose rows are the same have their places.
    pub(crate) keeps_places: bool,
    /// The version that stands for version 0 of the image: [`Version::NEVER`], or one that no
    /// version of the archetype is equal to.
    pub(crate) first: Version,
}

impl Archetype {
    /// Gives the archetype, of this number, the rows of an image, and what belonged to their
    /// chunks, and gives the entities their places. Copies what has changed since then. The caller
    /// gives shared values their tags before, and puts the rest of the directory back.
    ///
    /// # Panics
    ///
    /// If the image is that of another set.
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
        // The tags of shared values have theirs, by the caller.
        self.grow_to_all(Version::NEVER);
        self.stamps.load(&image.stamps, *first);
        if let Some(marks) = &mut self.marks {
            Marks::load(marks, &image.marks, *first);
            if self.list.chunk_len() > 0 {
                marks.values.iter_mut().for_each(ChunkValues::own_shared);
            }
        }
    }

    /// Gives the rows the entities of an image, and those of rows that had others their places.
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
        let values = self.marks.iter_mut().flat_map(|marks| &mut marks.values);
        values.for_each(ChunkValues::release_shared);
    }

    /// All versions that the archetype has, of chunks and of lines.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Version> {
        let kinds = (0..self.stamps.kinds()).map(StampKind::nth);
        let of_lines = self.lines().into_iter().flat_map(LineStamps::versions);
        kinds.flat_map(|kind| self.stamps.versions(kind)).chain(of_lines)
    }

    /// Overwrites the rows that the archetype has.
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

    /// Adds the rows that the archetype lacks.
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
